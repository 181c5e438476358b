"""The decorator of private functions: what leaves a call beside its result, and the bars that show its progress.

Before its debit a call looks at public arguments only. After it, whatever it says of its own accord could tell of
private values. So from then on

- an error is one of this package, without the errors behind it, and says that the budget is spent;
- no warning of any library is shown, or turned into an error that would lose what was paid for;
- numpy neither warns nor raises where numbers overflow, underflow or are no numbers.

With the environment variable ``DPGRAPH_DEBUG`` all of it is as Python has it, for a debugger.
"""

import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import RLock
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from dpgraph.arguments import check_keywords
from dpgraph.exceptions import DPGraphError
from dpgraph.privacy.persons import at_edge_level
from dpgraph.progress import BAR, tqdm

_P = ParamSpec("_P")
_R = TypeVar("_R")
_BUDGET = ("accountant", "epsilon", "delta")


def private_function(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Mark a public function that spends a budget: beside its result nothing private leaves it.

    A traceback keeps the local variables of every function that it passed: exact degrees, exact eigenvectors. Whoever
    logs them, or shows the traceback to others, would publish them. Messages of libraries quote what they stumble over,
    and their warnings tell which numbers are large. With the argument ``progress=True`` the call has a bar on stderr.
    """

    @wraps(function)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        handled = sys.exception()  # what the caller is handling is the caller's
        guard = budget = None
        try:
            check_keywords(function, kwargs)
            with (
                _bar(bool(kwargs.get("progress"))),
                guarded() as guard,
                at_edge_level(*map(kwargs.get, _BUDGET)) as budget,
            ):
                return function(*args, **(kwargs | budget))  # type: ignore[arg-type]
        except BaseException as error:
            if debugged():
                raise
            found = leaving(error, guard, handled=handled)
        # Outside the handler, as Python would put the first error behind the other one. This frame leaves with it.
        del args, kwargs, guard, budget
        try:
            raise found
        finally:
            del found

    return called


@contextmanager
def _bar(asked: bool) -> Iterator[None]:
    """A bar for a private call that is asked for one; a call inside another goes on with the bar of that one."""
    if not asked:
        yield
        return
    with tqdm(desc="released", unit=" lines") as bar:
        token = BAR.set(bar)
        try:
            bar.refresh()
            yield
        finally:
            BAR.reset(token)


class Guard:
    """One private call that runs; others may run inside it."""

    def __init__(self, outer: "Guard | None") -> None:
        self.outer = outer
        #: What has been debited since it began: epsilon and delta of each debit.
        self.debits: list[tuple[float, float]] = []

    @property
    def paid(self) -> bool:
        """Whether a budget has been debited since it began."""
        return bool(self.debits)

    @property
    def spent(self) -> str:
        """That the budget is spent, in words."""
        epsilon, delta = map(math.fsum, zip(*self.debits, strict=True))
        return f"budget of this call is spent: epsilon = {epsilon:g}, delta = {delta:g}"


#: The private call that runs in this thread, the innermost one.
_GUARD: ContextVar[Guard | None] = ContextVar("dpgraph_guard", default=None)


def debugged() -> bool:
    """Whether errors and warnings are left as they are."""
    return bool(os.environ.get("DPGRAPH_DEBUG"))


@contextmanager
def guarded() -> Iterator[Guard]:
    """A private call, from its arguments to its result."""
    guard, floating_point = Guard(_GUARD.get()), np.geterr()

    def undo() -> None:
        _GUARD.set(guard.outer)
        np.seterr(**floating_point)
        _SILENCE.end(guard)

    try:
        try:
            _GUARD.set(guard)
            if not debugged():
                _SILENCE.begin(guard)
                np.seterr(all="ignore")
            yield guard
        finally:
            undo()
    finally:
        undo()  # an interrupt may have come in the middle of it


def debited(epsilon: float, delta: float, *, lent: bool = False) -> None:
    """Take note that the budget of the running call has been debited: to be called before any private data is read.

    The budget of a call that is a part of another one is `lent`: that one has noted it.
    """
    guard = _GUARD.get()
    while guard is not None:
        guard.debits.append((epsilon, delta))
        guard = None if lent else guard.outer
    _SILENCE.to_the_front()


def leaving(error: BaseException, guard: Guard | None, *, handled: BaseException | None) -> BaseException:
    """What leaves a private call in place of an error: without private data, and after the debit one of this package.

    The local variables of all frames that it passed are dropped, those of the errors behind it too; files and lines
    stay. What the caller was handling is the caller's. What stops a program (Ctrl-C, an exit) stays, with a note.
    """
    _clear_frames(error, [handled])
    if guard is None or not guard.paid:
        return error
    places = error.__traceback__
    found = error
    if isinstance(error, DPGraphError):
        message = str(error)
        if "spent" not in message:
            error.args = (f"{message}. The {guard.spent}", *error.args[1:])
    elif isinstance(error, Exception):  # its text may quote what it stumbled over
        found = DPGraphError(
            f"internal error ({type(error).__name__}) after the debit. Please report it. With the environment variable "
            f"DPGRAPH_DEBUG=1 another call, which spends again, shows more. The {guard.spent}"
        )
    found.__dict__.pop("__notes__", None)
    if not isinstance(found, Exception):
        found.add_note(f"the {guard.spent}")
    found.__cause__ = found.__context__ = None
    return found.with_traceback(places)


def _clear_frames(error: BaseException | None, done: list[BaseException | None]) -> None:
    """Drop the local variables in the traceback of an error, and of those from which it came."""
    if error is not None and not any(error is one for one in done):
        done.append(error)
        traceback.clear_frames(error.__traceback__)
        _clear_frames(error.__cause__, done)
        _clear_frames(error.__context__, done)


class _Silence:
    """In the place of a pattern in a filter of :mod:`warnings`: it matches what private calls say after their debit.

    Filters belong to the process. ``warnings.catch_warnings`` would silence other threads with the call, and two calls
    at a time would leave the filters of one to the other. So one filter is shared, and asks whose warning it is.
    """

    #: Copies of the filters in processes of joblib are made of patterns: this one matches nothing.
    pattern = r"(?!)"

    def __init__(self) -> None:
        self._calls: set[Guard] = set()
        self.unlock()
        self._filter = ("ignore", self, Warning, None, 0)

    def unlock(self) -> None:
        """A new lock, which a handler of signals may take again: a fork may have copied the old one locked."""
        self._lock = RLock()

    def match(self, _message: str) -> bool:
        """Whether the warning comes from a private call after its debit."""
        guard = _GUARD.get()
        return guard is not None and guard.paid and not debugged()

    def __reduce__(self) -> str:
        return "_SILENCE"

    def begin(self, guard: Guard) -> None:
        """Another private call runs."""
        with self._lock:
            self._calls.add(guard)

    def to_the_front(self) -> None:
        """Be the first filter that is asked, whatever was set since."""
        with self._lock:
            if self._calls and _filters()[:1] != [self._filter]:
                self._remove()
                _filters().insert(0, self._filter)

    def end(self, guard: Guard) -> None:
        """A private call is over: with the last one the filter goes."""
        with self._lock:
            self._calls.discard(guard)
            if not self._calls:
                self._remove()

    def _remove(self) -> None:
        while self._filter in _filters():
            _filters().remove(self._filter)


def _filters() -> list[Any]:
    """Those of now: ``catch_warnings`` sets a copy in their place."""
    return cast("list[Any]", warnings.filters)


_SILENCE = _Silence()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SILENCE.unlock)
