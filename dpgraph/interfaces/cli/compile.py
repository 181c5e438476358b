"""``dpgraph compile``: all inner loops are compiled now, and kept for later processes.

A loop is compiled when it is first called, for the types of that call. So small calls, nearly all of public functions,
call all of them; their answers are not used. ``tests/test_compile.py`` fails while a kernel is not reached.
"""

import contextlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import networkx as nx
import numpy as np

import dpgraph
from dpgraph import compiled, datasets
from dpgraph.compiled import KERNELS, no_python
from dpgraph.distributed.blocks import Block, Rows
from dpgraph.distributed.triangles import counted
from dpgraph.exceptions import MechanismHalted
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.outputs import say
from dpgraph.linalg.subgraphs import PATTERNS
from dpgraph.progress import tqdm
from dpgraph.sos.csp.rounding import solve_factored_csp
from dpgraph.sos.cut.multilevel import multilevel_cut
from dpgraph.sos.definiteness import sparse_semidefinite
from dpgraph.threads import within
from dpgraph.typing import IntArray


@dataclass(frozen=True, kw_only=True)
class Compile:
    """Compile all inner loops now, rather than each when it is first used: it takes about a minute, once.

    They are kept beside the modules of the package, or in the folder that the variable NUMBA_CACHE_DIR names.

    Example: `dpgraph compile --progress`
    """

    progress: bool = options.progress()

    def run(self) -> None:
        """Make all calls, and say how much there was to do."""
        for call in tqdm(calls(), desc="calls", disable=None if not self.progress else False):
            with warnings.catch_warnings(), contextlib.suppress(MechanismHalted), no_python():
                warnings.simplefilter("ignore")
                call()
        compiled = sum(sum(kernel.dispatcher.stats.cache_misses.values()) for kernel in KERNELS)
        kept = sum(sum(kernel.dispatcher.stats.cache_hits.values()) for kernel in KERNELS)
        say(f"{compiled} inner loops were compiled, {kept} had been kept")


def calls() -> list[Callable[[], object]]:
    """Calls that reach every kernel."""
    sparse, large = (datasets.planted_cut(n, 6.0, -0.5, rng=0) for n in (60, 400))
    dense, cubic = nx.gnp_random_graph(120, 0.5, seed=1), nx.random_regular_graph(3, 40, seed=1)
    colours = dpgraph.TwoCSP.from_networkx(nx.gnm_random_graph(30, 200, seed=0), "coloring", 3)
    coloured = partial(dpgraph.max_2csp, colours, seeds=2, rounds=1, sweeps=2, tol=0.1)
    return [
        _ask_a_block,
        _cut_at_once,
        lambda: dpgraph.private_synthetic_graph(nx.ring_of_cliques(64, 7), epsilon=20.0, rng=0).sample(0),
        partial(dpgraph.private_subgraph_counts, sparse, PATTERNS, epsilon=4.0),
        *(partial(dpgraph.private_statistic, sparse, name, epsilon=4.0) for name in ("matching", "edge-connectivity")),
        partial(dpgraph.private_communities, sparse, epsilon=4.0, mechanism="bounded-iterates"),
        partial(dpgraph.private_max_cut, sparse, epsilon=4.0, mechanism="bounded-iterates"),
        partial(dpgraph.private_max_cut, large, epsilon=4.0, delta=1e-6, mechanism="noisy-power"),
        partial(dpgraph.max_cut, cubic, search="optimal"),
        partial(dpgraph.max_cut, dense, time_limit=1.0),
        partial(dpgraph.max_bisection, large, sweeps=10),
        coloured,
        partial(coloured, search="optimal"),
        partial(sparse_semidefinite, nx.to_scipy_sparse_array(nx.path_graph(1001), dtype=float), np.ones(1001)),
        partial(solve_factored_csp, np.ones((6, 1)), np.eye(1), 3, starts=1, rng=np.random.default_rng(0)),
    ]


def _cut_at_once() -> None:
    """A cut in no time: vertices are dealt out."""
    path = compiled.Rows.of(nx.to_scipy_sparse_array(nx.path_graph(5), dtype=float, format="csr"))
    with within(0.0):
        multilevel_cut(path, 1, np.random.default_rng(0), np.ones((5, 1)))


def _ask_a_block() -> None:
    """The triangle 0, 1, 2 on the only worker of a cluster: its rows are copied, and it is counted."""
    rank: IntArray = np.arange(3, dtype=np.int32)
    columns: IntArray = np.array([1, 2, 0, 2, 0, 1], dtype=np.int32)
    block = Block(Rows(np.full(3, 2), columns, 1.0))
    block.copy(rank, np.arange(0, 6, 2), np.empty(6, dtype=np.int32), np.ones(1))
    counted(block, False, 0, 1, rank, (0, 3, np.arange(0, 7, 2, dtype=np.int32), columns), 0)
