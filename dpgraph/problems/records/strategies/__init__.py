"""Strategies of the problems about records, one folder a problem."""
