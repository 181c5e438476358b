"""How much memory a part of a test takes."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def less_than(limit: float) -> Iterator[None]:
    """Python and numpy hold less than so many bytes at one time, beside those that they held before."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()
