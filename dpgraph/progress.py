"""The bar on stderr of a private call that was asked for one.

It counts lines of the ledger: each has been spent, and its noise is drawn next. Loops whose number of steps is public
have bars of their own beside it. They appear where the call is made, and how fast they move is seen there only.
"""

from contextvars import ContextVar
from typing import Any

#: The bar of the call that runs, if it has one.
BAR: ContextVar[Any] = ContextVar("progress", default=None)
