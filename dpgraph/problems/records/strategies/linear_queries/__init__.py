"""Shapes and laws of the noise of private answers to linear queries: one module each."""
