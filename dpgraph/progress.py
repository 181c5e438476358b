"""Progress bars on stderr, for a private call that was asked for them.

They count what has been released, and steps whose number is public. They appear where the call is made, and how fast
they move is seen there only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tqdm import tqdm

#: The bar of the call that runs, if it has one.
_LINES: ContextVar[Any] = ContextVar("progress", default=None)


@contextmanager
def ended() -> Iterator[None]:
    """A private call, which ends the bars that it asks for (:func:`show`); one inside another goes on with those."""
    outer = _LINES.get()
    token = _LINES.set(outer)
    try:
        yield
    finally:
        lines = _LINES.get()
        _LINES.reset(token)
        if lines is not outer:
            lines.close()


def show(progress: bool) -> None:
    """Show bars in what follows of this call, if so wanted."""
    if progress:
        _LINES.set(tqdm(desc="released", unit=" lines"))


def released(name: str) -> None:
    """A line of the ledger has been spent, and its noise is drawn next."""
    lines = _LINES.get()
    if lines is not None:
        lines.set_postfix_str(name, refresh=False)
        lines.update()


def steps(number: int, title: str) -> "tqdm[int]":
    """The numbers below `number`, with a bar."""
    return tqdm(range(number), desc=title, disable=_LINES.get() is None)


def bar(total: int, title: str) -> Any:
    """A bar that is moved by hand."""
    return tqdm(total=total, desc=title, disable=_LINES.get() is None)
