"""Max-cut and max-bisection, exact and private."""
