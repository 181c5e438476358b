"""Packages that are not installed with dpgraph, and the one error that says how to install them."""

from importlib import import_module
from typing import Any

from dpgraph.exceptions import DPGraphError

__all__ = ["require"]

#: Package -> what needs it, and the extra of dpgraph that installs it.
_EXTRAS = {
    "matplotlib": ("pictures", "plot"),
    "pandas": ("tables of edges", "pandas"),
}


def require(package: str) -> Any:
    """The imported package; DPGraphError says how to install one that is not."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        purpose, extra = _EXTRAS[package]
        raise DPGraphError(f"{purpose} need {package}; install it with: pip install 'dpgraph[{extra}]'") from None
