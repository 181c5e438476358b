"""One module a strategy for private communities."""
