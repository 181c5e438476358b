"""One module a strategy for private cuts."""
