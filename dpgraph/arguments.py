"""Checks of public arguments that many functions share; each says what was needed and what arrived.

They look at arguments only, so that they may (and must) run before a budget is debited.
"""

import difflib
import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from numbers import Number
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from dpgraph.exceptions import InvalidParameterError, did_you_mean
from dpgraph.typing import FloatArray, Rank

#: Noise scales and their squares neither overflow nor underflow for epsilon in this range.
_LEAST_EPSILON, _MOST_EPSILON = 1e-100, 1e300
_AN_EPSILON = f"a positive finite number, in [{_LEAST_EPSILON:g}, {_MOST_EPSILON:g}]"
#: What other libraries call an argument.
_ALSO_CALLED = {"seed": "rng", "random_state": "rng", "eps": "epsilon", "weights": "weight", "budget": "accountant"}
#: Parts of a smaller delta underflow.
_LEAST_DELTA = 1e-300


def shown(value: Any) -> str:
    """An argument in a message: whole if it is a number or a short text; others may be private, and misplaced."""
    if not isinstance(value, (str, Number, np.generic, NoneType)):
        return type(value).__name__
    if isinstance(value, int) and abs(value) >= 10**40:  # repr refuses integers of more than 4300 digits
        return "an integer of more than 40 digits"
    return text if len(text := repr(value)) <= 80 else f"{text[:80]}..."


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raise :class:`InvalidParameterError` unless `value` is one of the `allowed` strings."""
    choices = tuple(allowed)
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(value, choices)
        raise InvalidParameterError(f"{name} must be one of {', '.join(choices)}; got {shown(value)}{hint}")


def check_keywords(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse arguments that a function does not have, and its switches that are neither True nor False."""
    for name, default in (function.__kwdefaults__ or {}).items():
        if isinstance(default, bool) and not isinstance(value := given.get(name, default), (bool, np.bool_)):
            raise InvalidParameterError(f"{name} must be True or False; got {shown(value)}. No budget was spent")
    code = function.__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in given:
        if name not in known:
            close = [_ALSO_CALLED[name]] if name in _ALSO_CALLED else difflib.get_close_matches(name, known, n=1)
            meant = f". Did you mean {close[0]}=" if close and close[0] in known else ""
            message = f"{function.__name__}() got an unexpected keyword argument {name!r}{meant}. No budget was spent"
            raise TypeError(message)


def check_integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return `value` as an int, or raise :class:`InvalidParameterError` unless `least` <= value <= `most`."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < least or (most is not None and value > most):
        needed = f", at least {least}" if most is None else f" from {least} to {most}"
        raise InvalidParameterError(f"{name} must be an integer{needed}; got {shown(value)}")
    return int(value)


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a float, or raise :class:`InvalidParameterError` unless 0 < value < inf."""
    return _inside(name, value, 0 < as_number(value) < math.inf, "a positive finite number")


def check_nonnegative(name: str, value: Any) -> float:
    """Return `value` as a float, or raise :class:`InvalidParameterError` unless 0 <= value < inf."""
    return _inside(name, value, 0 <= as_number(value) < math.inf, "a nonnegative finite number")


def _inside(name: str, value: Any, inside: bool, needed: str) -> float:
    if not inside:
        kind = "" if isinstance(value, (int, float, np.number)) else f", a {type(value).__name__} and no int or float"
        raise InvalidParameterError(f"{name} must be {needed}; got {shown(value)}{kind}")
    return float(value)


def as_number(value: Any) -> float:
    """Return a Python or numpy number as a float: NaN for anything else, infinity where it is too large."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # a Python integer
        return math.inf if value > 0 else -math.inf


def as_reals(values: Any) -> FloatArray:
    """An array of float64; TypeError for dates, and for complex numbers, of which numpy would keep the real part."""
    array = np.asarray(values)
    odd = array.dtype.kind == "O" and any(isinstance(value, (complex, np.complexfloating)) for value in array.flat)
    if odd or array.dtype.kind not in "biufOSU":
        raise TypeError
    return array.astype(np.float64, copy=False)


def check_rank(rank: Rank, n: int, max_rank: int, *, least: int = 1) -> range:
    """Return the candidate ranks, "auto" being `least` to `max_rank`, or raise :class:`InvalidParameterError`."""
    max_rank = check_integer("max_rank", max_rank, 1)
    if isinstance(rank, str) and rank == "auto":
        largest = max(1, min(max_rank, n - 1))
        return range(min(least, largest), largest + 1)
    if not isinstance(rank, (int, np.integer)) or isinstance(rank, bool) or not 1 <= rank <= n:
        raise InvalidParameterError(f"rank must be 'auto' or an integer in [1, n = {n}]; got {shown(rank)}")
    return range(int(rank), int(rank) + 1)


def check_scale(name: str, value: Any) -> float:
    """Return a bound that noise is scaled by as a float; its range keeps grids, and squares of sums, from underflow."""
    return _inside(name, value, 1e-100 <= as_number(value) <= 1e100, "a positive number in [1e-100, 1e100]")


def as_generator(rng: Any) -> np.random.Generator:
    """Return the generator that an argument ``rng`` stands for; ``None`` takes entropy of the operating system."""
    if isinstance(rng, np.random.Generator):
        return rng
    is_seed = isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0
    if rng is None or is_seed:
        return np.random.default_rng(rng if rng is None else int(rng))
    raise InvalidParameterError(
        f"rng must be None, a nonnegative int or a numpy.random.Generator; got {type(rng).__name__}"
    )


def check_epsilon(epsilon: float) -> float:
    """Return `epsilon` as a float, or raise :class:`InvalidParameterError` unless it is in [1e-100, 1e300]."""
    return _inside("epsilon", epsilon, _LEAST_EPSILON <= as_number(epsilon) <= _MOST_EPSILON, _AN_EPSILON)


def check_delta(delta: float) -> float:
    """Return `delta` as a float, or raise :class:`InvalidParameterError` unless 0 < delta < 1."""
    return _inside("delta", delta, 0 < as_number(delta) < 1, "a number strictly between 0 and 1")


def check_optional_delta(delta: float) -> float:
    """Return `delta` as a float, 0 for pure differential privacy, or raise :class:`InvalidParameterError`."""
    value = as_number(delta)
    if value < _LEAST_DELTA and delta > 0:  # a long double may be positive and its float 0
        raise InvalidParameterError(f"delta must be 0, or at least {_LEAST_DELTA:g}; got {delta!r}")
    return 0.0 if value == 0 and delta == 0 else check_delta(delta)


def check_level(level: float) -> float:
    """Return the probability of an interval as a float, or raise :class:`InvalidParameterError`."""
    return _inside("level", level, 0 < as_number(level) < 1, "in (0, 1), such as 0.95")


def require_delta(delta: float, what: str, pure: str) -> float:
    """Return `delta` > 0, or raise :class:`InvalidParameterError` that says what needs it and what is pure."""
    delta = check_optional_delta(delta)
    if delta == 0:
        raise InvalidParameterError(
            f"{what} needs 0 < delta < 1; got delta=0. Pass delta=1e-6, say (well below 1/number of edges), or use "
            f"{pure}, which is pure"
        )
    return delta


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
    """Refuse a call whose arrays, given by their shapes, would hold more doubles than :func:`memory_limit` allows.

    Shapes say how many numbers of a kind exist at once, as measured, copies among them. Private sizes, such as the
    number of edges, never enter: a refusal would tell them.
    """
    sizes = {name: 8.0 * math.prod(map(as_number, shape)) for name, shape in arrays.items()}
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


def _in_words(size: float) -> str:
    return f"{size / 2**30:.3g} GiB" if size >= 2**30 else f"{size / 2**20:.3g} MiB"
