"""Spectra, coherence and what one edge can change."""

from dpgraph.spectral.coherence import basic_coherence, coherence, degree_corrected_coherence, threshold_rank

__all__ = ["basic_coherence", "coherence", "degree_corrected_coherence", "threshold_rank"]
