"""Laws of the noise of a private covariance: one module each."""
