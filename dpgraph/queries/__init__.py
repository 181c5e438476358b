"""Private queries: similarities, covariance, marginals, linear queries."""
