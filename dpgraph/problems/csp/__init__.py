"""Constraint problems of two variables, exact and private."""
