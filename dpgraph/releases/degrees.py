"""The degrees of a graph, released."""

from __future__ import annotations

from dpgraph.bounds import sensitivity
from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call, Measurement, Released

__all__ = ["release_degrees"]


def release_degrees(graph: GraphOperator, call: Call) -> Released:
    """Release all weighted degrees for this part of the budget: one edge moves two of them by at most w each."""
    w = graph.max_weight
    return call.release(
        Measurement(
            "degrees",
            graph.degrees(),
            l1=sensitivity.degrees_l1(w),
            l2=sensitivity.degrees_l2(w),
            unit=graph.weight_unit,
        )
    )
