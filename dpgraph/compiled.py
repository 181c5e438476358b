"""The one way in which functions are compiled, and everything that numba needs for it, imported at once.

numba imports about ninety modules of its own when the first function is compiled or loaded. That could happen after a
budget was debited, and an interrupt would leave them half loaded; so it happens when this module is imported.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numba.core.boxing
import numba.core.runtime.context
import numpy as np
from numba.core.registry import cpu_target
from numpy.typing import NDArray
from scipy import sparse

Function = TypeVar("Function", bound=Callable[..., Any])

#: All kernels of the modules that have been imported.
KERNELS: list[Any] = []


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
