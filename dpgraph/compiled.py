"""The one way in which functions are compiled, when they are first called and not sooner.

Most calls on small graphs compile nothing, so they do not import numba either, which takes half a second.
"""

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Function = TypeVar("Function", bound=Callable[..., Any])

#: All kernels of the modules that have been imported.
KERNELS: list["Kernel"] = []
#: Steps of inner loops that Python takes in the time in which a kernel is compiled, or read where it has been kept.
_COMPILED_IN, _READ_IN = 1_000_000, 10_000
#: Those that it takes while numba is imported.
_IMPORTED_IN = 500_000
#: The part of such a step that numpy takes for one.
OF_NUMPY = 1 / 8
#: Steps that each kernel has taken as Python.
_taken: dict[Any, float] = {}
#: Seconds of compiling after which it is said, once.
_LONG = 1.0
_NOTICE = "dpgraph: compiling inner loops, once; `dpgraph compile` does it for all of them"
#: Bytes of a function that is compiled sooner when it is written out where it is called.
_SHORT = 400
_one_at_a_time = threading.RLock()


class Rows(NamedTuple):
    """Compressed sparse rows of a matrix, as a kernel takes them."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]

    @classmethod
    def of(cls, A: sparse.csr_array) -> "Rows":
        """Those of a matrix. Numbers have one type wherever it comes from: a kernel is compiled once, not for each."""
        index = np.int32 if A.nnz < 2**31 else np.int64
        return cls(A.indptr.astype(index, copy=False), A.indices.astype(index, copy=False), np.asarray(A.data, float))


class Kernel:
    """A function that numba compiles, for the types of a call, when it is first called."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self.options = cast(FunctionType, function), options
        KERNELS.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """The result for these arguments."""
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """What numba makes of it, without a cache where there is no folder to keep it in."""
        with _one_at_a_time:
            function, numba = _calling(self, lambda kernel: kernel.inner), _numba()
            try:
                return numba.njit(cache=True, no_cfunc_wrapper=True, **self.options)(function)
            except RuntimeError as error:
                if "cannot cache" not in str(error):
                    raise
                return numba.njit(no_cfunc_wrapper=True, **self.options)(function)

    @cached_property
    def inner(self) -> Any:
        """What it is inside another kernel: part of its machine code, so that it needs no way in and no cache."""
        function, numba = _calling(self, lambda kernel: kernel.inner), _numba()
        inline = "always" if len(self.py_func.__code__.co_code) < _SHORT else "never"
        made = numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=True, inline=inline, **self.options)(function)
        template, unliteral = made.get_call_template, numba.core.types.unliteral

        def once(arguments: Any, named: Any) -> Any:
            """Compiled once for all numbers of a type, where numba would do it again for each constant."""
            return template(tuple(map(unliteral, arguments)), {name: unliteral(named[name]) for name in named})

        made.get_call_template = once
        return made

    @property
    def compiled(self) -> bool:
        """Whether this process has compiled or read it."""
        return "dispatcher" in vars(self) and bool(self.dispatcher.overloads)


def njit(**options: Any) -> Callable[[Function], Function]:
    """``numba.njit(cache=True, **options)``, once the function is called."""

    def lazy(function: Function) -> Function:
        return cast(Function, Kernel(function, options))

    return lazy


def at_once(kernel: Function, steps: float) -> Function:
    """`kernel`, or the Python function that it is made of, where compiling it takes longer than running that.

    `steps` is about how often its innermost loop is passed, by public numbers. The result is the same to the bit, so a
    kernel that may reorder sums is none to ask for, and neither is one whose Python would overflow. A kernel that has
    taken many steps as Python is compiled, so that many small calls are not slow.
    """
    return kernel if worth_compiling(kernel, steps) else cast(Function, _plain(cast(Kernel, kernel)))


def worth_compiling(kernel: Callable[..., Any], steps: float) -> bool:
    """Whether a kernel is compiled, or has less to wait for that than without it, where it would take so many steps."""
    asked = cast(Kernel, kernel)
    if asked.compiled or _all:
        return True
    taken = _taken[asked] = _taken.get(asked, 0.0) + steps
    if "numba" not in sys.modules:
        taken -= _IMPORTED_IN
    return taken > _READ_IN and taken > (_READ_IN if _kept(asked) else _COMPILED_IN)


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


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection meanwhile, which would look at all of much that is new, and stays, again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def _numba() -> Any:
    """Numba with all that it imports before it compiles or loads anything.

    That is about ninety modules. An interrupt would leave them half loaded, so they are imported on a thread of their
    own: signals reach the main thread only.
    """
    importing = threading.Thread(target=_import_numba)
    importing.start()
    importing.join()
    return import_module("numba")


def _import_numba() -> None:
    with uncollected():  # a quarter of the time
        for name in ("numba", "numba.core.boxing", "numba.core.runtime.context"):
            import_module(name)
        target = import_module("numba.core.registry").cpu_target
        target.typing_context.refresh()
        target.target_context.refresh()
    _say_why_it_takes_long()


def _say_why_it_takes_long() -> None:
    """On a terminal, when a call has compiled for a second."""
    event = import_module("numba.core.event")
    began: list[float] = []
    spent = 0.0

    class Notice(event.Listener):  # type: ignore[misc, name-defined]
        def on_start(self, event: Any) -> None:  # noqa: ARG002
            began.append(time.monotonic())

        def on_end(self, event: Any) -> None:  # noqa: ARG002
            nonlocal spent
            before, since = spent, began.pop()
            spent += 0.0 if began else time.monotonic() - since
            if before <= _LONG < spent and not _all and sys.stderr is not None and sys.stderr.isatty():
                print(_NOTICE, file=sys.stderr)

    event.register("numba:compile", Notice())


@cache
def _kept(kernel: Kernel) -> bool:
    """Whether an earlier process has compiled it, for whatever types."""
    file = getattr(getattr(kernel.dispatcher._cache, "_cache_file", None), "_index_path", None)  # noqa: SLF001
    return file is not None and Path(file).exists()


@cache
def _plain(kernel: Kernel) -> FunctionType:
    """The Python function of a kernel, which calls those of other kernels."""
    return _calling(kernel, _plain)


def _calling(kernel: Kernel, made: Callable[[Kernel], Any]) -> FunctionType:
    """The function of a kernel with what is made of the kernels that it calls in their place."""
    code, names = kernel.py_func.__code__, kernel.py_func.__globals__
    called = {name: made(names[name]) for name in code.co_names if isinstance(names.get(name), Kernel)}
    return FunctionType(code, names | called)
