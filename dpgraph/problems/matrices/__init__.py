"""Private spectra, subspaces and matrices."""
