"""How long the first answer takes, import included: every public function in a fresh process.

``python benchmarks/first_call.py [--large] [name ...]`` writes processor seconds with an empty cache of compiled code,
and with the cache that this call has left behind, at 34 and 1,000 vertices (``--large``: 15,000 too), to
``results/first_call.md``. Rows of other functions stay.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).parent / "results" / "first_call.md"
HEADER = "| function | vertices | empty cache | warm |\n| --- | --- | --- | --- |\n"
#: The call of each function; G is a graph, C a 2-CSP on as many variables, X a table with as many rows.
CALLS = {
    "report": "dpgraph.report(G, epsilon=4.0)",
    "max_cut": "dpgraph.max_cut(G, rng=0)",
    "max_bisection": "dpgraph.max_bisection(G, rng=0)",
    "max_2csp": "dpgraph.max_2csp(C, rng=0)",
    "private_max_cut 1": "dpgraph.private_max_cut(G, epsilon=1.0)",
    "private_max_cut 4": "dpgraph.private_max_cut(G, epsilon=4.0)",
    "private_max_bisection 4": "dpgraph.private_max_bisection(G, epsilon=4.0)",
    "private_max_k_cut": "dpgraph.private_max_k_cut(G, 3, epsilon=1.0)",
    "private_max_2csp": "dpgraph.private_max_2csp(C, epsilon=1.0)",
    "private_communities": "dpgraph.private_communities(G, epsilon=2.0)",
    "private_synthetic_graph": "dpgraph.private_synthetic_graph(G, epsilon=2.0).sample()",
    "private_subgraph_counts": "dpgraph.private_subgraph_counts(G, epsilon=1.0)",
    "private_degrees": "dpgraph.private_degrees(G, epsilon=1.0)",
    "private_degree_distribution": "dpgraph.private_degree_distribution(G, epsilon=1.0)",
    "private_spectrum": "dpgraph.private_spectrum(G, k=2, epsilon=1.0, delta=1e-6)",
    "private_normalized_adjacency": "dpgraph.private_normalized_adjacency(G, rank=1, epsilon=1.0)",
    "private_node_similarities": "dpgraph.private_node_similarities(G, epsilon=1.0)",
    "private_covariance": "dpgraph.private_covariance(X, epsilon=1.0)",
    "private_marginals": "dpgraph.private_marginals(X > 0, k=2, epsilon=1.0)",
    "command line": "main(['max-cut', FILE, '--epsilon', '4', '--output', FILE + '.labels'])",
}
_PROCESS = """
import sys, warnings
warnings.simplefilter("ignore")
import dpgraph
from dpgraph.__main__ import main
n, FILE, call = int(sys.argv[1]), sys.argv[2], sys.argv[3]
if "FILE" in call:
    pass
elif "C" in call.replace("CSP", ""):
    from dpgraph import datasets
    C = datasets.planted_csp(n, 6, 3, 0.9, rng=0)
elif "X" in call:
    import numpy as np
    X = np.random.default_rng(0).normal(size=(n, 5)) / 3
else:
    import networkx as nx
    G = nx.read_edgelist(FILE, nodetype=int)
try:
    exec(call)
except dpgraph.MechanismHalted:
    pass
"""


def seconds(n: int, file: str, call: str, cache: str) -> float:
    """Processor seconds of a fresh process."""
    before = os.times()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", _PROCESS, str(n), file, call], env=environment, capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main(arguments: list[str]) -> None:
    sizes = [34, 1000] + [15000] * ("--large" in arguments)
    names = [name for name in arguments if not name.startswith("--")] or list(CALLS)
    before, _, lines = TABLE.read_text().partition(HEADER)
    rows = {line.rsplit(" | ", 2)[0]: line for line in lines.splitlines()}
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            file = write_graph(n, os.path.join(folder, "graph.txt"))
            for name in names:
                with tempfile.TemporaryDirectory() as cache:
                    cold, warm = (seconds(n, file, CALLS[name], cache) for _ in range(2))
                key = f"| {name} | {n:,}"
                rows[key] = f"{key} | {cold:.2g} | {warm:.2g} |"
                TABLE.write_text(before + HEADER + "\n".join(rows.values()) + "\n")


def write_graph(n: int, file: str) -> str:
    """Zachary's karate club, or a planted bisection of mean degree 10."""
    import networkx as nx

    from dpgraph import datasets

    G = nx.karate_club_graph() if n == 34 else datasets.planted_cut(n, 10.0, -0.5, rng=0)
    nx.write_edgelist(nx.convert_node_labels_to_integers(G), file, data=False)
    return file


if __name__ == "__main__":
    main(sys.argv[1:])
