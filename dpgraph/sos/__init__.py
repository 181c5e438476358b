"""Sum-of-squares solvers: relaxations, certificates, global correlation rounding. Nothing here sees private data."""
