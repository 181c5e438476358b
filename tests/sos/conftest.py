"""Small graphs stand for large ones here: what would list their cuts is off, unless a test asks for it."""

import pytest

from dpgraph.sos import enumeration


@pytest.fixture(autouse=True)
def relaxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs of any size are relaxed, bounded and searched."""
    monkeypatch.setattr(enumeration, "MOST_VERTICES", 0)
