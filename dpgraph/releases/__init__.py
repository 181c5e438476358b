"""The only code that sees private data and noise."""
