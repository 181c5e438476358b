"""What a call will allocate by its public sizes, and a limit beyond which it is refused before its budget is debited.

Private sizes, such as the number of edges, never enter: a refusal would tell them. Shapes list how many numbers of a
kind exist at once, as measured: a first length that is no length of the data counts copies.
"""

import math
import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

from dpgraph.exceptions import InvalidParameterError

#: Share of the memory of the machine that a call may fill, unless the variable DPGRAPH_MEMORY says how much.
_SHARE = 0.75
#: What a machine is taken to have if it does not say.
_UNKNOWN = 8 * 2**30
_UNITS = {"": 1.0} | {
    f"{letter}{i}B": float(base) ** power
    for power, letter in enumerate("KMGT", 1)
    for i, base in (("", 1000), ("i", 1024))
}


def check_memory(what: str, **arrays: tuple[float, ...]) -> None:
    """Refuse a call whose arrays, given by their shapes, would hold more doubles than :func:`memory_limit` allows."""
    sizes = {name: 8.0 * math.prod(map(_as_float, shape)) for name, shape in arrays.items()}
    needed, limit = sum(sizes.values()), memory_limit()
    if needed > limit:
        listed = ", ".join(f"{name} {_in_words(size)}" for name, size in sizes.items())
        raise InvalidParameterError(
            f"{what} would take about {_in_words(needed)} of memory ({listed}), and the limit is {_in_words(limit)}. "
            "Ask for less, or set the environment variable DPGRAPH_MEMORY (DPGRAPH_MEMORY=64GiB, say) if there is more"
        )


def memory_limit() -> float:
    """Bytes that the arrays of a call may take: DPGRAPH_MEMORY, or 3/4 of what the machine, or its container, has."""
    wanted = os.environ.get("DPGRAPH_MEMORY")
    if not wanted:
        return _SHARE * _machine()
    found = re.fullmatch(r"\s*(\d+|\d*\.\d+)\s*(\w*)\s*", wanted, re.ASCII)
    if found is None or found[2] not in _UNITS:
        raise InvalidParameterError(
            "the environment variable DPGRAPH_MEMORY must be a number of bytes, or one with a unit, such as 8GiB or "
            "500MB"
        )
    return float(found[1]) * _UNITS[found[2]]


@cache
def _machine() -> float:
    """Bytes of memory, from the system and from a container's limit: both are public, and never what is free now."""
    sizes = [float(_UNKNOWN)]
    if hasattr(os, "sysconf"):
        sizes = [float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError):  # there is none, or it says "max"
        sizes.append(float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(sizes)


def _as_float(length: float) -> float:
    try:
        return float(length)
    except OverflowError:
        return math.inf


def _in_words(size: float) -> str:
    return f"{size / 2**30:.3g} GiB" if size >= 2**30 else f"{size / 2**20:.3g} MiB"
