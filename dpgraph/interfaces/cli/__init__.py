"""Command line ``dpgraph``."""

from dpgraph.interfaces.cli.app import main

__all__ = ["main"]
