"""Private covariance, similarities, marginals and linear queries."""
