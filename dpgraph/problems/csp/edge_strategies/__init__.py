"""Strategies for private edges under a public relation, one module each."""
