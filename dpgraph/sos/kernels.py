"""What the compiled kernels of cuts and 2-CSPs share, and how they are run on many starts at once."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.threads import on_threads
from dpgraph.typing import FloatArray

#: Numba's fastmath: sums may be reordered (vectorised); NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract"}

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / 9007199254740992.0  # 2**-53


@njit()
def uniform(state: NDArray[np.uint64]) -> float:
    """Next uniform number in [0, 1) of the SplitMix64 generator (public randomness, not privacy noise)."""
    state[0] += _GAMMA
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * _TO_UNIT


def default_sweeps(operations: float, cost: float, most: int = 2500) -> int:
    """As many sweeps as `operations` allow at the `cost` of one for all starts, between 20 and `most`."""
    return int(np.clip(operations / cost, 20, most))


def on_columns(function: Callable[..., None], signs: FloatArray, *arguments: Iterable[Any]) -> FloatArray:
    """Copy of `signs`, shape (n,) or (n, c), whose columns a kernel has changed in place, on threads.

    The last argument of the kernel is where it looks whether to stop.
    """
    columns = np.array(signs.reshape(len(signs), -1).T, dtype=np.float64, order="C")
    on_threads(function, columns, *arguments)
    return np.ascontiguousarray(columns.T).reshape(signs.shape)
