"""The one way in which functions are compiled, and everything that numba needs for it, imported at once.

Compiled code is kept beside the package, or where that cannot be written in numba's folder for the user
(``~/.cache/numba``, or the one that ``NUMBA_CACHE_DIR`` names). Where no folder can be written, as in an installation
and a home that are both read-only, numba refuses to define the function; here it is then compiled afresh in every
process, which costs some seconds on first use.

numba imports about ninety modules of its own when the first function is compiled or loaded. That could happen after a
budget was debited, and an interrupt would leave them half loaded; so it happens when this module is imported.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numba.core.boxing
import numba.core.runtime.context
from numba.core.registry import cpu_target

__all__ = ["njit"]

Function = TypeVar("Function", bound=Callable[..., Any])

# What numba calls before it compiles or loads anything.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()


def njit(**options: Any) -> Callable[[Function], Function]:
    """``numba.njit(cache=True, **options)``, without the cache where there is no folder to keep it in."""

    def compiled(function: Function) -> Function:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            return numba.njit(**options)(function)

    return compiled
