"""Mechanisms: the only rooms that see the private graph. Each adds noise; everything after them is public."""
