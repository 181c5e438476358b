"""Theorems: what one edge or record changes. Sees no data."""
