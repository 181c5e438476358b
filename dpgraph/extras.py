"""Packages that are not installed with dpgraph, and the one error that says how to install them."""

from importlib import import_module
from typing import Any

from dpgraph.exceptions import DPGraphError

#: Package -> what needs it, the name under which it is installed, and the extra of dpgraph that does so.
_EXTRAS = {
    "dask": ("tables on a cluster", "dask", "distributed"),
    "dask.dataframe": ("tables on a cluster", "dask[dataframe]", "distributed"),
    "distributed": ("tables on a cluster", "distributed", "distributed"),
    "matplotlib": ("pictures", "matplotlib", "plot"),
    "pandas": ("tables", "pandas", "pandas"),
    "sklearn": ("estimators", "scikit-learn", "sklearn"),
}


def require(package: str) -> Any:
    """The imported package; DPGraphError says how to install one that is not."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        purpose, name, extra = _EXTRAS[package]
        raise DPGraphError(f"{purpose} need {name}; install it with: pip install 'dpgraph[{extra}]'") from None
