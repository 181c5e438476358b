"""The networkx backend."""
