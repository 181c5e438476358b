"""Pseudo-distributions of higher degree: the Lasserre hierarchy."""
