"""Max-cut and max-bisection: relaxation, conditioning, rounding, local search."""
