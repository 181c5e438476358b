"""Compiled kernels on threads: how many, and how an interrupt or a time limit ends them."""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Where a kernel that takes long looks from time to time: at 1 it returns. After an interrupt its result is not used;
#: at the end of a time limit it is, as far as it got.
Stop = NDArray[np.uint8]
#: For those who do not stop.
NEVER: Stop = np.zeros(1, dtype=np.uint8)

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """What runs inside is to end after so many seconds: kernels are stopped then, and :func:`time_is_up`.

    None, and infinity, set no limit.
    """
    limit = math.inf if seconds is None else time.monotonic() + seconds
    token = _deadline.set(min(limit, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def deadline() -> float:
    """When the time limit ends, a time of ``time.monotonic``; infinite without one."""
    return _deadline.get()


def time_is_up() -> bool:
    """Whether the time limit has passed."""
    return time.monotonic() >= _deadline.get()


def thread_count() -> int:
    """Threads to use: OMP_NUM_THREADS and NUMBA_NUM_THREADS, at most the cores that this process may run on."""
    limits = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        asked = os.environ.get(variable, "").split(",")[0].strip()  # a list is one number for each nested level
        limits += [int(asked)] if asked.isdecimal() else []
    return max(1, min(limits))


def on_threads(function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
    """Results of ``function(*call, stop)`` for each tuple; this, the main thread, waits and obeys signals."""
    stop = np.zeros(1, dtype=np.uint8)
    interrupted = False
    pool = ThreadPoolExecutor(thread_count())
    try:
        calls = [
            pool.submit(partial(copy_context().run, function), *call, stop) for call in zip(*arguments, strict=True)
        ]
        if (end := deadline()) < math.inf:
            while time.monotonic() < end and wait(calls, max(end - time.monotonic(), 0.0)).not_done:
                pass  # until the clock says so: a kernel that is stopped sooner would pass for one that has ended
            stop[0] = 1
        return [call.result() for call in calls]
    except BaseException:
        stop[0] = interrupted = True
        raise
    finally:
        pool.shutdown(wait=not interrupted, cancel_futures=True)


def on_thread(kernel: Callable[..., Any], *arguments: Any) -> Any:
    """Result of ``kernel(*arguments, stop)``, as in :func:`on_threads`."""
    return on_threads(kernel, *([argument] for argument in arguments))[0]
