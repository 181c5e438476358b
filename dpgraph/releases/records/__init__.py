"""Releases of statistics of records."""
