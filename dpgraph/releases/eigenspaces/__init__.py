"""Releases of eigenvalues, eigenvectors and projectors."""
