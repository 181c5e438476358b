"""Releases of the fields of public iterates."""
