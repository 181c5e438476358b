"""Graphs beyond one machine: the rows of a private matrix lie in blocks on the workers of a Dask cluster."""
