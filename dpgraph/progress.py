"""Bars on stderr: of a private call that was asked for one, and of loops whose number of steps is public.

That of a call counts lines of the ledger: each has been spent, and its noise is drawn next. Bars appear where the call
is made, and how fast they move is seen there only. What stderr does not take is not shown, and in a private call
nothing after it: nothing that was paid for is lost to a broken pipe.
"""

import sys
from contextvars import ContextVar
from typing import Any

from tqdm import tqdm as _tqdm

#: The bar of the call that runs, if it has one.
BAR: ContextVar[Any] = ContextVar("progress", default=None)


class _Stderr:
    """Stderr as it is at the moment, of which no write or flush raises."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    def write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except Exception:
            BAR.set(None)

    def flush(self) -> None:
        """Done with every write."""


class tqdm(_tqdm):  # type: ignore[misc]
    """A bar of tqdm that loses nothing."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, file=_Stderr(), dynamic_ncols=True, **options)
