"""What a user sees after ``pip install dpgraph``: run by `make release` with the Python of a clean environment.

The environment has the lowest versions that the package allows, so that every one of its dependencies is used here.

No extra (pictures, pandas, tests) is installed there, and the working directory is not the repository.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

#: Imported only by the functions that need them.
HEAVY = ("clarabel", "matplotlib", "igraph", "numba", "scipy", "pandas")
IMPORT = f"""
import sys, time
start = time.perf_counter()
import dpgraph
seconds = time.perf_counter() - start
print(seconds, *[name for name in {HEAVY!r} if name in sys.modules])
"""


def require(condition: bool, claim: str) -> None:
    if not condition:
        sys.exit(f"NOT TRUE of the installed package: {claim}")
    print(f"  {claim}")


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_import() -> None:
    runs = [output(sys.executable, "-c", IMPORT).split() for _ in range(5)]
    require(all(len(run) == 1 for run in runs), f"import dpgraph loads none of {', '.join(HEAVY)}")
    print(f"  import dpgraph: {min(float(run[0]) for run in runs):.3f} s (best of 5 processes; the promise is 0.7 s)")


def check_package() -> None:
    import dpgraph

    require("site-packages" in dpgraph.__file__, "the package is the installed one")
    require(dpgraph.__version__ == version("dpgraph"), f"version {dpgraph.__version__} is that of the metadata")
    typed = [(files("dpgraph") / name).is_file() for name in ("py.typed", "__init__.pyi", "strategies.pyi")]
    require(all(typed), "type hints are declared (py.typed), those of names that load late in stubs")
    for name in dpgraph.__all__:
        if name != "sklearn":
            getattr(dpgraph, name)
    require(True, f"all {len(dpgraph.__all__)} public names but sklearn load without an extra")
    try:
        message = f"dpgraph.sklearn is {dpgraph.sklearn}"
    except dpgraph.DPGraphError as error:
        message = str(error)
    require("pip install 'dpgraph[sklearn]'" in message, "dpgraph.sklearn says how to install scikit-learn")
    cut = dpgraph.private_max_cut(dpgraph.datasets.load("planted-cut"), epsilon=2.0, delta=1e-6)
    require(not cut.privacy.seeded, "a bundled graph gets a private cut")


def check_dependencies() -> None:
    """A call for each dependency that the others here do not reach."""
    import networkx as nx

    import dpgraph

    for solver in ("clarabel", "scs"):
        bound = dpgraph.sos.lasserre(nx.cycle_graph(5), 4, solver=solver).upper_bound
        require(abs(bound - 4.0) < 1e-3, f"the relaxation of degree 4 by {solver} knows the five-cycle")
    tables = dpgraph.private_marginals([[0, 1, 2], [1, 0, 0]], 2, epsilon=1e9, categories={2: [0, 1, 2]})
    require(round(tables.count) == 2, "marginals of columns of different sizes")
    graph = dpgraph.private_synthetic_graph(nx.karate_club_graph(), epsilon=2.0).to_igraph()
    require(graph.vcount() == 34, "a synthetic graph becomes one of igraph")


def check_command_line() -> None:
    program = str(Path(sysconfig.get_path("scripts")) / "dpgraph")
    require(version("dpgraph") in output(program, "--version"), "dpgraph --version")
    arguments = ("planted-cut", "--epsilon", "2", "--delta", "1e-6", "--output", "cut.csv", "--report", "report.json")
    output(program, "max-cut", *arguments)
    require(len(Path("cut.csv").read_text().splitlines()) == 601, "dpgraph max-cut writes every vertex")
    require(json.loads(Path("report.json").read_text())["privacy"]["epsilon"] == 2.0, "and its ledger")


def check_networkx() -> None:
    import networkx as nx

    require("dpgraph" in nx.utils.backends.backends, "networkx finds the backend")
    require("dpgraph" in nx.utils.backends.backend_info, "and its description")
    value = nx.cut_size(nx.complete_bipartite_graph(40, 60), range(40), backend="dpgraph", epsilon=1e4, delta=1e-6)
    require(value == 2400, "and gets a private answer from it")


if __name__ == "__main__":
    check_import()
    check_package()
    check_dependencies()
    check_command_line()
    check_networkx()
