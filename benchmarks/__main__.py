"""Every committed table, and the command that makes it.

    python -m benchmarks list                   # tables of results/, their scripts, and what these measure
    python -m benchmarks run cosine             # makes results/cosine.md again
    python -m benchmarks run frontier --full --problem max-cut

What stands behind the name goes to the script. Scripts that measure for long are resumable: they may be killed and
called again. tests/test_benchmark_tables.py demands that every table in git stands here.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Table of results/ -> what Python runs, from the folder of the repository. Most have the name of their script.
MAKERS: dict[str, tuple[str, ...]] = {
    **{
        name: (f"benchmarks/{name}.py",)
        for name in (
            "ablation", "attributes", "bisection_peers", "communities", "correlation_rounding", "cosine",
            "community_limits", "covariance", "covariance_printed", "csp_peers", "csp_scale", "cut_peers",
            "cut_success", "degree_distribution", "distributed_estimate", "distributed_graphs", "eigenspace_labels",
            "false_bounds", "gset", "gset_time",
            "linear_queries", "linear_queries_peers", "load", "marginal_solvers", "marginals", "marginals_sparse",
            "marginals_structured", "marginals_weights", "optimal_cuts", "optimal_tori", "peers_published",
            "planted", "projections", "projector_gap", "random_degree", "science", "sdp_speed", "similarities",
            "synthetic_graphs", "first_call", "persons", "solver_peers",
        )
    },
    "ablations_sweeps": ("-m", "benchmarks.ablations"),
    "answer-rule": ("benchmarks/answer_rule.py",),
    "audit": ("-m", "tests.privacy.statistical"),
    "audit_attack": ("-m", "tests.privacy.attack"),
    "communities_peers": ("benchmarks/communities_beside_peers.py",),
    "count_intervals": ("-m", "benchmarks.subgraph_counts", "--intervals"),
    "covariance_shares": ("benchmarks/covariance.py", "--part", "shares"),
    "densest": ("-m", "benchmarks.densest"),
    "embedding_clusters": ("-m", "benchmarks.embedding_clusters"),
    "estimates": ("-m", "benchmarks.estimates"),
    "extension": ("-m", "benchmarks.extension"),
    "frontier": ("benchmarks/frontier.py", "--full"),
    "ledger_ratios": ("-m", "tests.privacy.ratios"),
    "node_distributions": ("benchmarks/persons.py", "--distributions"),
    "pagerank": ("-m", "benchmarks.pagerank"),
    "marginals_pgm": ("benchmarks/marginals.py",),
    "marginals_smartnoise": ("benchmarks/marginals.py",),
    "sensitivity": ("-m", "tests.privacy.enumeration"),
    "subspaces": ("-m", "benchmarks.subspaces"),
    "spectral_ball": ("benchmarks/projections.py",),
    "speed": ("benchmarks/speed.py", "--full"),
    "subgraph_counts": ("-m", "benchmarks.subgraph_counts"),
    "synthetic_peers": ("benchmarks/synthetic_beside_peers.py",),
    "timing": ("-m", "benchmarks.timing"),
}  # fmt: skip


def script(name: str) -> Path:
    """The file that makes a table."""
    first, *rest = MAKERS[name]
    path = HERE.parent / (rest[0].replace(".", "/") if first == "-m" else first)
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")


def about(name: str) -> str:
    """The first line of the docstring of its script."""
    return (ast.get_docstring(ast.parse(script(name).read_text())) or "").partition("\n")[0]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="tables, scripts, what they measure")
    run = commands.add_parser("run", help="make a table again; further arguments go to its script")
    run.add_argument("name", choices=sorted(MAKERS), metavar="NAME")
    arguments, passed = parser.parse_known_args()
    if arguments.command == "list":
        for name in sorted(MAKERS):
            print(f"{name:22} {' '.join(MAKERS[name]):42} {about(name)}")
    else:
        sys.exit(subprocess.run([sys.executable, *MAKERS[arguments.name], *passed], cwd=HERE.parent).returncode)


if __name__ == "__main__":
    main()
