"""How long the first answer takes, import included: every public function and command in a fresh process.

``python benchmarks/first_call.py [--vertices 34 300] [--before CHECKOUT] [name ...]`` writes processor seconds with an
empty cache of compiled code, and with a cache that has all that is needed, to ``results/first_call.md``. Other rows
stay. ``--before`` measures another checkout, and fills the columns that say what it took.
"""

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).parent / "results" / "first_call.md"
HEADER = "| call | vertices | empty cache before | empty cache | warm before | warm |\n" + "| --- " * 6 + "|\n"
SIZES = (34, 300, 1000, 15000)
_BOTH = "epsilon=4.0, delta=1e-6"
#: The call of each function. G is a graph, A its matrix, C a 2-CSP on as many variables, X a table with as many rows.
FUNCTIONS = {
    "gaussian_scale": f"(1.0, {_BOTH})",
    "save_result": "(dpgraph.private_degrees(G, epsilon=1.0), FILE + '.json')",
    "load_result": "(FILE + '.json')",
    "edge_frame": "(T, nodes='frame')",
    "with_public_nodes": "(G)",
    "report": "(G, epsilon=4.0)",
    "private_communities": "(G, epsilon=2.0)",
    "private_degree_distribution": "(G, epsilon=1.0)",
    "private_degrees": "(G, epsilon=1.0)",
    "private_statistic": "(G, 'matching', epsilon=1.0)",
    "private_subgraph_counts": "(G, epsilon=1.0)",
    "private_transitivity": "(G, epsilon=1.0)",
    "private_max_2csp": "(C, epsilon=1.0)",
    "private_max_k_cut": "(G, 3, epsilon=1.0)",
    "max_2csp": "(C, rng=0)",
    "private_max_bisection": "(G, epsilon=4.0)",
    "private_max_cut": "(G, epsilon=4.0)",
    "max_bisection": "(G, rng=0)",
    "max_cut": "(G, rng=0)",
    "private_densest_subgraph": "(G, epsilon=1.0)",
    "private_normalized_adjacency": "(G, rank=1, epsilon=1.0)",
    "private_node_similarities": "(G, rank=1, epsilon=1.0)",
    "private_synthetic_graph": "(G, epsilon=2.0).sample()",
    "private_coherence": f"(A, 1, sensitivity=1.0, {_BOTH})",
    "private_spectrum": f"(G, 2, {_BOTH})",
    "perturb_and_project": f"(X, [dpgraph.projections.Box(-1, 1)], sensitivity=1.0, {_BOTH})",
    "private_eigenspace": f"(A, 1, sensitivity=1.0, {_BOTH})",
    "private_low_rank": f"(A, 1, sensitivity=1.0, {_BOTH})",
    "private_projector": f"(A, 1, sensitivity=1.0, {_BOTH})",
    "private_singular_subspace": f"(X, 1, sensitivity=1.0, {_BOTH})",
    "private_cosine_similarities": f"(X, sensitivity=0.1, {_BOTH})",
    "private_covariance": "(X, epsilon=1.0)",
    "private_linear_queries": "(X[:7] > 0, (X > 0).sum(0), epsilon=1.0)",
    "private_marginals": "(X > 0, k=2, epsilon=1.0)",
    "project_nonnegative_spectral_ball": "(X.T @ X, 1.0)",
    "private_symmetric_matrix": "(X.T @ X, sensitivity=1.0, epsilon=1.0)",
}
#: The arguments of each command.
COMMANDS = {
    "max-cut": "FILE --epsilon 4",
    "max-bisection": "FILE --epsilon 4",
    "communities": "FILE --epsilon 2",
    "csp": "FILE --colours 3 --adjacency edge --epsilon 2",
    "degrees": "FILE --epsilon 1",
    "degree-distribution": "FILE --epsilon 1",
    "count": "FILE triangle --epsilon 1",
    "statistic": "FILE components --epsilon 1",
    "densest": "FILE --epsilon 1",
    "synthesize": "FILE --epsilon 2 --output FILE.synthetic.txt",
    "report": "FILE --epsilon 4 --output FILE.html",
    "spectrum": "FILE --k 2 --epsilon 1 --delta 1e-6",
    "embed": "FILE --rank 1 --epsilon 4 --output FILE.points.csv",
    "covariance": "FILE.table.csv --epsilon 1",
    "marginals": "FILE.bits.csv --k 2 --epsilon 1 --output FILE.tables.csv",
    "budget": "FILE.db --epsilon 1",
    "benchmark": "FILE --runs 1",
    "check": "FILE",
    "convert": "FILE FILE.gml",
    "datasets": "list",
}
#: A command that prints tables is measured up to the end of the first, and so with its runs for output in whole, too.
_ALL_OF_IT = {"benchmark --output -": COMMANDS["benchmark"]}
CALLS = FUNCTIONS | {f"dpgraph {command}": arguments for command, arguments in (COMMANDS | _ALL_OF_IT).items()}
#: What stands before the call in its process.
_INPUTS = {
    "G": "import networkx as nx; G = nx.read_edgelist(FILE, nodetype=int)",
    "A": "from scipy.io import mmread; A = mmread(FILE + '.mtx').tocsr()",
    "C": "from dpgraph import datasets; C = datasets.planted_csp(N, 6, 3, 0.9, rng=0)",
    "X": "import numpy as np; X = np.load(FILE + '.npy')",
    "T": "import pandas as pd; T = pd.read_csv(FILE, sep=' ', names=['source', 'target'])",
}


def program(name: str, n: int, file: str) -> str:
    """What a fresh process runs."""
    if name not in FUNCTIONS:
        arguments = f"{name.removeprefix('dpgraph ')} {CALLS[name].replace('FILE', file)}".split()
        return f"from dpgraph.__main__ import main\nassert main({arguments!r}) in (0, 3)"
    call = f"dpgraph.{name}{FUNCTIONS[name]}"
    inputs = _INPUTS.get("G" if name == "save_result" else FUNCTIONS[name][1], "")
    start = f"import warnings\nwarnings.simplefilter('ignore')\nimport dpgraph\nN, FILE = {n}, {file!r}\n{inputs}\n"
    return f"{start}try:\n    {call}\nexcept dpgraph.MechanismHalted:\n    pass"


def seconds(code: str, cache: str, checkout: Path) -> float:
    """Processor seconds of a fresh process, up to the end of the first table that it prints if it prints tables."""
    before = os.times()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", code]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, cwd=cache) as process,
    ):
        answered = any(b"| without privacy |" in line for line in process.stdout or ())
        if answered:
            process.kill()
        process.wait()
        errors.seek(0)
        said = errors.read()
    if b"would take about" in said:  # similarities of many rows are refused before they are computed
        return float("nan")
    if process.returncode and not answered:
        raise SystemExit(f"{code}\n{said.decode()}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def cold_and_warm(code: str, checkout: Path) -> tuple[float, float]:
    """Seconds with an empty cache, and of a call that finds all that it needs. Noise may choose what is compiled.

    So the call is repeated until it has compiled nothing; cold is the longest before.
    """
    with tempfile.TemporaryDirectory() as cache:
        times, kept = list[float](), [-1]
        while len(times) < 2 or kept[-1] > kept[-2]:
            times.append(seconds(code, cache, checkout))
            kept.append(sum(1 for _ in Path(cache).rglob("*.nbc")))
        return max(times[:-1]), times[-1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--vertices", type=int, nargs="+", default=SIZES)
    parser.add_argument("--before", type=Path)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(CALLS))
    asked = parser.parse_args()
    checkout = asked.before or Path(__file__).resolve().parent.parent
    compileall.compile_dir(checkout / "dpgraph", quiet=2)
    about, _, lines = TABLE.read_text().partition(HEADER)
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines.splitlines()]
    rows = {(name, n): times for name, n, *times in cells}
    for n in asked.vertices:
        with tempfile.TemporaryDirectory() as folder:
            file = write_inputs(n, os.path.join(folder, "graph.txt"))
            for name in asked.names or CALLS:
                code = program(name, n, file)
                cold, warm = (f"{time:.2g}" for time in cold_and_warm(code, checkout))
                row = rows.setdefault((name, f"{n:,}"), ["", "", "", ""])
                row[0 if asked.before else 1], row[2 if asked.before else 3] = cold, warm
                order = {key: place for place, key in enumerate((c, f"{s:,}") for s in SIZES for c in CALLS)}
                kept = sorted(rows, key=lambda key: order.get(key, len(order)))
                TABLE.write_text(
                    about + HEADER + "".join(f"| {' | '.join([*key, *rows[key]])} |\n" for key in kept if key in order)
                )


def write_inputs(n: int, file: str) -> str:
    """Zachary's karate club, or a planted bisection of mean degree 10, its matrix, and tables of n records."""
    import networkx as nx
    import numpy as np
    from scipy.io import mmwrite

    import dpgraph

    G = nx.karate_club_graph() if n == 34 else dpgraph.datasets.planted_cut(n, 10.0, -0.5, rng=0)
    nx.write_edgelist(nx.convert_node_labels_to_integers(G), file, data=False)
    mmwrite(file + ".mtx", nx.to_scipy_sparse_array(G, weight=None, dtype=float))
    X = np.random.default_rng(0).normal(size=(n, 5)) / 3
    np.save(file + ".npy", X)
    np.savetxt(file + ".table.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
    np.savetxt(file + ".bits.csv", X > 0, fmt="%d", delimiter=",", header="a,b,c,d,e", comments="")
    dpgraph.save_result(dpgraph.private_degrees(G, epsilon=1.0), file + ".json")
    return file


if __name__ == "__main__":
    main()
