"""The problems of the privacy-utility frontier, one module each."""
