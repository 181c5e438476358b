"""Doors: what users hand in becomes a private graph or a private table."""
