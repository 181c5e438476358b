"""The one way in which functions are compiled, and everything that numba needs for it, imported at once.

numba imports about ninety modules of its own when the first function is compiled or loaded. That could happen after a
budget was debited, and an interrupt would leave them half loaded; so it happens when this module is imported.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numba.core.boxing
import numba.core.runtime.context
from numba.core.registry import cpu_target

Function = TypeVar("Function", bound=Callable[..., Any])

# What numba calls before it compiles or loads anything.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()


def njit(**options: Any) -> Callable[[Function], Function]:
    """``numba.njit(cache=True, **options)``, without the cache where there is no folder to keep it in.

    Then, as where both the installation and the home are read-only, every process compiles afresh, for some seconds.
    """

    def compiled(function: Function) -> Function:
        try:
            return cast(Function, numba.njit(cache=True, **options)(function))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            return cast(Function, numba.njit(**options)(function))

    return compiled
