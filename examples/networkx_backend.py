"""Private answers from functions of networkx: a cut, counts and a spectrum under one budget.

python examples/networkx_backend.py
"""

from __future__ import annotations

import networkx as nx

import dpgraph


def main() -> None:
    G = dpgraph.datasets.load("planted-cut")
    with dpgraph.PrivacyAccountant(epsilon=4.0, delta=1e-6) as budget:
        value, (left, right) = nx.approximation.one_exchange(G, backend="dpgraph", epsilon=2.0, delta=1e-6)
        inside = nx.volume(G, left, backend="dpgraph", epsilon=0.2, delta=1e-6)
        largest = nx.adjacency_spectrum(G, weight=None, backend="dpgraph", epsilon=1.0, delta=1e-6)[-1]
    print(f"private cut       {len(left)} + {len(right)} vertices, about {value} edges across")
    print(f"private volume    {inside} of one side")
    print(f"private spectrum  largest eigenvalue about {largest:.0f}")
    print(budget.report().table())


if __name__ == "__main__":
    main()
