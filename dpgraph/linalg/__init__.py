"""Eigensolvers and products that private and exact code share."""
