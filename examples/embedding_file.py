"""A private spectral embedding: released once, saved with its ledger, used by anyone without the graph.

python examples/embedding_file.py [FILE.npz]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.sparse.linalg import eigsh

import dpgraph


def main(arguments: list[str]) -> None:
    path = Path(arguments[0]) if arguments else Path(tempfile.mkdtemp()) / "private.npz"
    G = dpgraph.datasets.planted_bisection(1000, 150, 0.8, rng=0)
    dpgraph.save_result(dpgraph.private_normalized_adjacency(G, epsilon=4.0, delta=1e-6, rank=2), path)

    # From here on nobody needs the graph.
    private = dpgraph.load_result(path)
    print(private)
    print(f"eigenvalues, by scipy: {np.round(eigsh(private.linear_operator(), k=2, return_eigenvectors=False), 3)}")
    community = private.embedding()[:, 1] > 0
    truth = np.array([G.nodes[v]["side"] for v in private.nodes], dtype=bool)
    print(f"vertices in the right community: {max(np.mean(community == truth), np.mean(community != truth)):.1%}")


if __name__ == "__main__":
    main(sys.argv[1:])
