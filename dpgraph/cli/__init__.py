"""Command line ``dpgraph``."""

from dpgraph.cli.app import main

__all__ = ["main"]
