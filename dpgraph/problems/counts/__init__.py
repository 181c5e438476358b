"""Degrees and counts of subgraphs."""
