"""Ways to release a count of subgraphs, one module each."""
