"""Private normalized adjacency."""
