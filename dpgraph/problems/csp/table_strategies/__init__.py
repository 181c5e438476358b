"""Strategies for private tables, one module each."""
