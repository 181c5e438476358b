"""The one way in which functions are compiled, or not yet, and everything that numba needs for it, imported at once.

numba imports about ninety modules of its own when the first function is compiled or loaded. That could happen after a
budget was debited, and an interrupt would leave them half loaded; so it happens when this module is imported.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numba.core.boxing
import numba.core.runtime.context
import numpy as np
from numba.core import event
from numba.core.registry import cpu_target
from numpy.typing import NDArray
from scipy import sparse

Function = TypeVar("Function", bound=Callable[..., Any])

#: All kernels of the modules that have been imported.
KERNELS: list[Any] = []
#: Steps of inner loops that Python takes in the time in which a kernel is compiled, or read where it has been kept.
_COMPILED_IN, _READ_IN = 1_000_000, 10_000
#: Steps that each kernel has taken as Python.
_taken: dict[Any, float] = {}
#: Seconds of compiling after which it is said, once.
_LONG = 1.0


class Rows(NamedTuple):
    """Compressed sparse rows of a matrix, as a kernel takes them."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]

    @classmethod
    def of(cls, A: sparse.csr_array) -> "Rows":
        """Those of a matrix. Indices have one type wherever it comes from: a kernel is compiled once, not for each."""
        index = np.int32 if A.nnz < 2**31 else np.int64
        return cls(A.indptr.astype(index, copy=False), A.indices.astype(index, copy=False), A.data)


# What numba calls before it compiles or loads anything.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()


def njit(**options: Any) -> Callable[[Function], Function]:
    """``numba.njit(cache=True, **options)``, without the cache where there is no folder to keep it in.

    Then, as where both the installation and the home are read-only, every process compiles afresh, for some seconds.
    """

    def compiled(function: Function) -> Function:
        try:
            kernel = numba.njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            kernel = numba.njit(**options)(function)
        KERNELS.append(kernel)
        return cast(Function, kernel)

    return compiled


def at_once(kernel: Function, steps: float) -> Function:
    """`kernel`, or the Python function that it is made of, where compiling it takes longer than running that.

    `steps` is about how often its innermost loop is passed, by public numbers. The result is the same to the bit, so a
    kernel that may reorder sums is none to ask for, and neither is one whose Python would overflow. A kernel that has
    taken many steps as Python is compiled, so that many small calls are not slow.
    """
    dispatcher = cast(Any, kernel)
    if dispatcher.signatures or _all:
        return kernel
    _taken[dispatcher] = _taken.get(dispatcher, 0.0) + steps
    return kernel if _taken[dispatcher] > (_READ_IN if _kept(dispatcher) else _COMPILED_IN) else _plain(dispatcher)


#: What holds while all is to be compiled.
_all: list[bool] = []


@contextmanager
def no_python() -> Iterator[None]:
    """Compile every kernel that is called."""
    _all.append(True)
    try:
        yield
    finally:
        _all.pop()


class _Notice(event.Listener):
    """Says on a terminal why a first call takes long."""

    def __init__(self) -> None:
        self.began: list[float] = []
        self.spent, self.said = 0.0, False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        self.began.append(time.monotonic())

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        began = self.began.pop()
        self.spent += 0.0 if self.began else time.monotonic() - began
        if self.spent > _LONG and not self.said and not _all and sys.stderr is not None and sys.stderr.isatty():
            self.said = True
            print("dpgraph: compiling inner loops, once; `dpgraph compile` does it for all of them", file=sys.stderr)


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]


@cache
def _kept(kernel: Any) -> bool:
    """Whether an earlier process has compiled it, for whatever types."""
    file = getattr(getattr(kernel._cache, "_cache_file", None), "_index_path", None)  # noqa: SLF001
    return file is not None and Path(file).exists()


@cache
def _plain(kernel: Any) -> Any:
    """The Python function of a kernel, which calls those of other kernels."""
    code, names = kernel.py_func.__code__, kernel.py_func.__globals__
    called = {name: _plain(names[name]) for name in code.co_names if names.get(name) in KERNELS}
    return FunctionType(code, names | called)
