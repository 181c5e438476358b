"""Many cases in one test, which names the one that fails: a test for each costs more than most of the cases do."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def about(*case: object) -> Iterator[None]:
    """Errors say in which case they were raised."""
    try:
        yield
    except Exception as error:
        error.add_note("in the case " + ", ".join(map(str, case)))
        raise
