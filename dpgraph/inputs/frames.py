"""pandas tables of edges: columns ``source`` and ``target``, perhaps one of weights.

A list of edges does not say which vertices exist, and that must be known without looking at the edges. Here the two
columns are categorical and their categories are the public vertex set: :func:`edge_frame` declares it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.extras import require
from dpgraph.inputs.public_nodes import public_labels

if TYPE_CHECKING:
    import pandas as pd
from dpgraph.typing import IntArray

__all__ = ["edge_frame", "edges_of", "vertices_of"]

_ENDS = ("source", "target")


def edge_frame(
    frame: pd.DataFrame,
    *,
    nodes: Iterable[Hashable] | int | Literal["frame"],
    source: str = "source",
    target: str = "target",
) -> pd.DataFrame:
    """Declare the public vertex set of a table of edges, so that every function of dpgraph accepts it as a graph.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each edge. It is not changed.
    nodes : iterable of hashable, int or "frame"
        The public vertices in their order; a number n for 0, ..., n-1; or ``"frame"``, by which you state that the
        vertices that occur in the table are no secret; they are then sorted.
    source, target : str
        Columns of the ends of an edge.

    Returns
    -------
    pandas.DataFrame
        With categorical columns ``source`` and ``target`` and the other columns of `frame`.

    Raises
    ------
    InvalidParameterError
        A column is missing, or the vertices repeat.
    DPGraphError
        pandas is not installed.

    Examples
    --------
    >>> import dpgraph, pandas as pd
    >>> calls = pd.DataFrame({"caller": ["ann", "bob"], "callee": ["bob", "cem"]})
    >>> G = edge_frame(calls, nodes=["ann", "bob", "cem", "dan"], source="caller", target="callee")
    >>> dpgraph.private_degrees(G, epsilon=1.0, delta=1e-6).nodes
    ('ann', 'bob', 'cem', 'dan')
    """
    pd = require("pandas")
    missing = [column for column in (source, target) if column not in frame.columns]
    if missing:
        raise InvalidParameterError(
            f"the table has no column {missing[0]!r}; name the columns with source= and target="
        )
    ends = pd.concat([frame[source], frame[target]], ignore_index=True) if isinstance(nodes, str) else pd.Series()
    labels = public_labels(nodes, "frame", pd.unique(ends.dropna()).tolist())
    kind = pd.CategoricalDtype(labels)
    columns = {"source": frame[source].astype(kind), "target": frame[target].astype(kind)}
    return frame.drop(columns=list({source, target, *_ENDS} & set(frame.columns))).assign(**columns)


def vertices_of(frame: Any) -> tuple[Hashable, ...]:
    """Public vertex set of a table: the common categories of its columns ``source`` and ``target``.

    InvalidGraphError if the table does not declare them.
    """
    if not set(_ENDS) <= set(frame.columns):
        raise InvalidGraphError("a table of edges needs the columns 'source' and 'target'; see dpgraph.edge_frame")
    first, second = (getattr(frame[end].dtype, "categories", None) for end in _ENDS)
    if first is None or second is None or not first.equals(second):
        raise InvalidGraphError(
            "a table of edges must declare its public vertices: both columns categorical with the same categories. "
            "Use dpgraph.edge_frame(frame, nodes=...)"
        )
    return tuple(first.tolist())


def edges_of(frame: Any, weight: str | None) -> tuple[IntArray, list[Any] | None]:
    """Vertex numbers of the two ends of each row, shape (m, 2), and the column of weights.

    InvalidGraphError if an end of an edge is missing or is no declared vertex.
    """
    pairs = np.stack([frame[end].cat.codes.to_numpy(dtype=np.int64) for end in _ENDS], axis=1)
    if np.any(pairs < 0):
        raise InvalidGraphError("expected two declared vertices in every row; at least one row lacks one")
    return pairs, None if weight is None else frame[weight].tolist()
