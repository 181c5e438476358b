"""Private mean field in the simplex."""

from dpgraph.arguments import check_choice
from dpgraph.privacy.call import Call
from dpgraph.problems.csp.strategy import CSPTask
from dpgraph.problems.options import ITERATE_NOISES, BoundedIterates
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.constraints import PrivateTables
from dpgraph.releases.sweeps.tables import release_table_iterates
from dpgraph.typing import IntArray


def _run(options: BoundedIterates, private: PrivateTables, call: Call, task: CSPTask, mean_degree: float) -> IntArray:
    return release_table_iterates(
        private,
        call,
        mean_degree=mean_degree,
        whole_table=task.whole_table,
        together=options.noise == "auto",
    )


STRATEGY = Strategy(
    "bounded-iterates",
    BoundedIterates,
    pure=lambda _: True,
    run=_run,
    check=lambda options, _: check_choice("noise", options.noise, ITERATE_NOISES),
)
