"""Strategies for subspaces of a private matrix: one module each, which defines ``STRATEGY``."""
