"""Differentially private spectral graph algorithms.

Names are loaded when they are first used, so that ``import dpgraph`` stays light. Where each of them lives stands in
``__init__.pyi`` alone, for editors and type checkers, and for this module.
"""

import importlib
from typing import Any

__version__ = "0.2.0"


def _homes() -> dict[str, tuple[str, str]]:
    """Public name -> the module that has it, and what it is called there."""
    with open(f"{__file__.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:  # pathlib takes longer than all of this
        lines = [line.split() for line in stub]
    return {line[5]: (line[1], line[3]) for line in lines if line[:1] == ["from"] and len(line) == 6}


_HOME = _homes()
__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise importlib.import_module("dpgraph.exceptions").no_attribute(__name__, name, __all__)
    module, own = _HOME[name]
    value = vars(importlib.import_module(module)).get(own)
    value = importlib.import_module(f"{module}.{own}") if value is None else value  # a module that is public itself
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
