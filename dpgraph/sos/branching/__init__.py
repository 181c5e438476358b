"""Cutting planes, and branch and bound: proofs that a cut of exact data is the largest."""
