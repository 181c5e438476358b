"""Everything that any library logs, as a test hears it."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any


class Listener(logging.Handler):
    """Keeps what is logged, but for libraries whose names begin so: they speak of code and of public arguments."""

    def __init__(self, *unheard: str) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[Any] = []
        self._unheard = unheard

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(self._unheard):
            self.lines.append((record.name, record.levelname, record.getMessage()))


@contextlib.contextmanager
def listening(*unheard: str) -> Iterator[Listener]:
    """Everything that is logged, from the root logger down."""
    root, listener = logging.getLogger(), Listener(*unheard)
    level = root.level
    root.addHandler(listener)
    root.setLevel(logging.DEBUG)
    try:
        yield listener
    finally:
        root.removeHandler(listener)
        root.setLevel(level)
