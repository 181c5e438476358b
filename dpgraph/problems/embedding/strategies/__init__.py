"""Strategies for a private normalized adjacency: one module each, which defines ``STRATEGY``."""
