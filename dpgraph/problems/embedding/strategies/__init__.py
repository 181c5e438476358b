"""Strategies for a private normalized adjacency, a file each: ``run(options, graph, call, facts, known)``."""

from dpgraph.problems.embedding.strategies import coherence, gaussian, noisy_power, randomized_response
from dpgraph.problems.strategy import Registry

EMBEDDINGS = Registry(
    "a normalized adjacency, and of similarities",
    coherence.STRATEGY,
    gaussian.STRATEGY,
    noisy_power.STRATEGY,
    randomized_response.STRATEGY,
)
