"""2-CSP: relaxation, conditioning, rounding, local search."""
