"""The list of cases of :mod:`tests.frozen`, of every public function with its mechanisms and options."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from tests.frozen_cases import FILES, Case

DELTA = 1e-6
EPSILONS = (0.3, 1.0, 4.0, 16.0)

#: Inputs of the quick test, with seed 0 and epsilon 4.
_QUICK = {
    "five-cycle",
    "planted 24",
    "planted 45",
    "low rank 24",
    "wide 24",
    "csp 8",
    "records 40",
    "bits 60",
    "prefix 10",
}
_QUICK |= {"symmetric 3", "unit rows 8", "share 9"}


def all_cases() -> list[Case]:
    """Every case, each label once."""
    parts = (degrees, adjacency, cuts, labels, constraints, matrices, arrays, tables, backend, command_lines, public)
    parts += (everyday,)
    found = {case.label: case for part in parts for case in part()}
    return list(found.values())


def private(
    function: str,
    inputs: Sequence[str],
    *,
    epsilons: Sequence[float] = EPSILONS,
    seeds: Sequence[int] = (0,),
    delta: float | None = DELTA,
    **options: Any,
) -> Iterator[Case]:
    """One case for each input, epsilon and seed; the first input runs with a second seed too."""
    for name, epsilon in itertools.product(inputs, epsilons):
        for seed in seeds if name != inputs[0] else (*seeds, 1):
            quick = name in _QUICK and seed == 0 and epsilon in (4.0, epsilons[0]) and len(inputs) > 0
            yield Case(function, name, options, epsilon, delta, seed, quick and epsilon >= 4.0)


def degrees() -> Iterator[Case]:
    inputs = ("planted 24", "planted-cut", "star 30", "labelled 30", "weighted 80", "weights array 40", "igraph 45")
    yield from private("private_degrees", inputs, mechanism="gaussian")
    yield from private("private_degrees", inputs, mechanism="laplace", delta=None)
    yield Case("private_degrees", "planted 24", {"mechanism": "gaussian"}, 1.0, None, 0)
    yield from private("private_spectrum", ("planted 45", "planted-cut", "weighted 80", "five-cycle"), k=3)
    yield from private("private_spectrum", ("planted 45", "planted-cut"), k=1)
    yield from private("private_spectrum", ["planted-bisection"], k=2, regularization=5.0)


def adjacency() -> Iterator[Case]:
    f = "private_normalized_adjacency"
    both = ("planted 45", "planted-cut")
    for options in (
        {},
        {"mechanism": "coherence"},
        {"mechanism": "coherence", "rank": 2, "coherence": "rank"},
        {"mechanism": "coherence", "rank": 2, "certificate": "gap-and-coherence"},
        {"mechanism": "coherence", "rank": 1, "regularization": 5.0},
        {"mechanism": "coherence", "rank": 2, "core_noise": "wishart-difference"},
        {"mechanism": "gaussian", "regularization": 3.0},
        {"mechanism": "gaussian", "denoise": False},
        {"mechanism": "noisy-power"},
        {"mechanism": "noisy-power", "rank": 1, "regularization": 3.0},
        {"mechanism": "randomized-response"},
        {"mechanism": "randomized-response", "rank": 3, "denoise": False},
        {"mechanism": "randomized-response", "rank": 1},
    ):
        yield from private(f, both, **options)
    yield from private(f, ("planted 45", "random 120"), mechanism="coherence", rank=2, epsilons=(32.0, 64.0))
    yield from private(f, ("planted 45", "planted-cut"), mechanism="coherence", epsilons=(32.0, 64.0, 200.0))
    more = ("few 400", "uneven 400", "regular 400", "clique 150", "hubs 500", "heavy 800", "random 120", "weighted 80")
    for rank in (1, 2):
        yield from private(f, more, mechanism="auto", rank=rank, epsilons=(0.3, 1.0, 2.0, 3.0, 4.0, 16.0))
    yield from private(f, ["heavy 1500"], mechanism="auto", rank=2, epsilons=(0.5, 1.0))  # answers only if uneven
    yield from private(f, ["labelled 30"], mechanism="auto", rank=3)
    yield from private("embedding", ("planted 45", "weighted 80"), mechanism="auto", rank=2, epsilons=(4.0,))
    yield from private("embedding", ["planted 45"], mechanism="coherence", epsilons=(64.0,))


KINDS = ("five-cycle", "planted 24", "planted-cut", "planted-bisection", "sparse 600", "sparse 500", "middle 400")
KINDS += ("hubs 60", "hubs 500", "heavy 800", "star 30", "random 120", "no edges", "labelled 30")


def cuts() -> Iterator[Case]:
    for f in ("private_max_cut", "private_max_bisection"):
        yield from private(f, KINDS)
        yield from private(f, ("middle 400", "sparse 600", "hubs 500"), epsilons=(2.0, 6.5, 8.0, 10.0))
        yield from private(f, ("weighted 80", "weighted 300", "weights array 40", "weights sparse 80", "igraph 45"))
        both = ("planted 45", "planted-bisection")
        for options in (
            {"mechanism": "bounded-iterates", "noise": "gaussian"},
            {"mechanism": "bounded-iterates", "noise": "laplace"},
            {"mechanism": "bounded-iterates", "noise": "auto"},
            {"mechanism": "auto", "noise": "gaussian"},
            {"mechanism": "auto", "noise": "laplace"},
            {"mechanism": "coherence", "on_halt": "fallback"},
            {"mechanism": "coherence"},
            {"mechanism": "coherence", "rank": 1, "regularization": 20.0},
            {"mechanism": "gaussian"},
            {"mechanism": "noisy-power"},
            {"mechanism": "noisy-power", "rank": 4},
            {"mechanism": "randomized-response"},
        ):
            yield from private(f, both, **options)
        yield from private(f, ("hubs 60", "hubs 500", "heavy 800"), mechanism="bounded-iterates")
        yield from private(f, ("five-cycle", "planted 16"), mechanism="permute-and-flip")
        yield from private(f, ["planted 24"], mechanism="permute-and-flip", seeds=(), epsilons=(1.0,))
        yield from private(f, both, mechanism="coherence", rank=2, epsilons=(32.0, 64.0, 200.0))
        for kind in ("spectral", "frobenius", "none"):
            yield from private(f, ["planted 45"], mechanism="gaussian", projection=kind, epsilons=(4.0, 16.0))
            yield from private(f, ["planted 45"], mechanism="coherence", projection=kind, epsilons=(64.0, 200.0))
        yield from private(
            f, ["planted 45"], mechanism="coherence", rank=3, regularization=20.0, coherence="rank", epsilons=(200.0,)
        )
        yield from private(f, ["planted 45"], mechanism="noisy-power", seeds=(0, 2), rounds=8, epsilons=(4.0,))
    options = {"mechanism": "coherence", "projection": "spectral"}
    yield Case("private_max_cut", "sparse 5200", options, 1.0, DELTA, 0)  # too large for a dense matrix
    yield from private("private_max_cut", ("even 2600", "heavy 1500"), epsilons=(0.3, 1.0, 2.0))


def labels() -> Iterator[Case]:
    f = "private_max_k_cut"
    for k in (2, 3, 5):
        yield from private(f, ("planted 24", "planted-bisection", "sparse 600", "hubs 500"), k=k)
    yield from private(f, ("middle 400", "heavy 800", "random 120", "labelled 30"), k=3)
    yield from private(f, ("middle 400", "heavy 800", "random 120"), k=4, epsilons=(2.0, 3.0, 6.5, 8.0))
    yield from private(f, ["planted-bisection"], k=60, epsilons=(3.0,))
    yield from private(f, ("weighted 80", "weighted 300", "five-cycle", "no edges"), k=3)
    for options in (
        {"noise": "laplace"},
        {"noise": "gaussian"},
        {"mechanism": "bounded-iterates"},
        {"mechanism": "bounded-iterates", "noise": "laplace"},
        {"mechanism": "core-response"},
        {"mechanism": "randomized-response"},
    ):
        yield from private(f, ("planted 45", "planted-bisection", "hubs 60"), k=3, **options)
    yield from private(f, ["even 2600"], k=3, epsilons=(0.3, 1.0, 2.0))


def constraints() -> Iterator[Case]:
    f = "private_max_2csp"
    general = ("csp 8", "csp 40", "unique games 60", "differ 24", "differ 200")
    for kind, options in (
        ("label-edge", {"mechanism": "auto"}),
        ("label-edge", {"noise": "gaussian"}),
        ("label-edge", {"noise": "laplace"}),
        ("constraint", {"noise": "auto"}),
        ("constraint", {"noise": "gaussian"}),
        ("constraint", {"noise": "laplace"}),
    ):
        yield from private(f, general, adjacency=kind, **options)
    yield from private(f, ("differ 24", "csp 8"), mechanism="coherence", on_halt="fallback")
    yield from private(f, ("differ 24", "differ 90"), mechanism="coherence", epsilons=(1.0, 32.0, 64.0, 200.0))
    yield from private(f, ["differ 90"], mechanism="coherence", rank=2, coherence="rank", epsilons=(64.0,))
    yield from private(f, ["csp 8"], max_weight=2.0)
    for kind in ("label-edge", "constraint"):  # where another rank of the labels is better than the first
        yield from private(f, ["unique games 200"], adjacency=kind, epsilons=(6.0, 10.0, 24.0))
    for mechanism in ("auto", "bounded-iterates", "randomized-response", "core-response"):
        yield from private(
            f,
            ("share 9", "colours 9", "share 200", "share 200 unweighted", "colours 300"),
            adjacency="edge",
            mechanism=mechanism,
        )
    yield from private(f, ["colours 300"], adjacency="edge", epsilons=(2.0, 3.0, 6.0, 8.0))
    yield from private(f, ["share 200"], adjacency="edge", noise="laplace")


def matrices() -> Iterator[Case]:
    both, wide = ("low rank 24", "low rank 200", "flat 30"), ("wide 24", "wide 60")
    yield from private("private_spectrum", (*both, *wide), k=3)
    yield from private("private_coherence", both, rank=2)
    for options in ({"rank": "auto"}, {"rank": 3}, {"rank": 2, "certificate": "stability"}):
        yield from private("private_projector", both, **options)
    yield from private("private_projector", both, rank="auto", mechanism="noisy-power")
    yield from private("private_projector", ["low rank 24"], rank="auto", max_rank=2)
    for options in ({"rank": 2}, {}, {"rank": 2, "mechanism": "noisy-power"}):
        yield from private("private_low_rank", both, **options)
    yield from private("private_eigenspace", both, rank=1)
    yield from private("private_eigenspace", both, rank=1, which="smallest")
    yield from private("private_eigenspace", both)
    yield from private("private_singular_subspace", wide, rank=2)
    yield from private("private_singular_subspace", wide)


def arrays() -> Iterator[Case]:
    from dpgraph.projections import Box, PSDCone

    for method in ("dykstra", "averaged"):
        options = {"sensitivity": 1.0, "sets": [PSDCone(), Box(-2, 2)], "symmetric": True, "method": method}
        yield from private("perturb_and_project", ("symmetric 3", "symmetric 40"), **options)
    yield from private("perturb_and_project", ["rectangle"], sensitivity=1.0, sets=Box(-2, 2))
    for mechanism in ("wishart-difference", "nuclear-laplace"):
        options = {"sensitivity": 1.0, "mechanism": mechanism}
        yield from private("private_symmetric_matrix", ("symmetric 3", "symmetric 40"), delta=None, **options)
    for method in ("shrinkage", "practical", "elliptope"):
        yield from private("private_cosine_similarities", ("unit rows 8", "unit rows 60"), method=method)
    yield from private("private_cosine_similarities", ["unit rows 8"], method="practical", iterations=5)


def tables() -> Iterator[Case]:
    both = ("records 40", "records 500")
    for options in (
        {"adjacency": "replace"},
        {"adjacency": "add-remove", "project": False},
        {"adjacency": "replace", "mechanism": "nuclear-laplace", "project": False},
        {"adjacency": "replace", "mechanism": "wishart-difference", "project": False},
        {"adjacency": "add-remove", "mechanism": "wishart-difference", "project": False},
        {"centered": True},
        {"centered": True, "max_norm": 2.0},
    ):
        more = {"n_records": 40} if options.get("adjacency") == "add-remove" else {}
        yield from private("private_covariance", both, delta=None, **options, **more)
    for options in ({"adjacency": "replace"}, {"adjacency": "add-remove", "project": False, "n_records": 40}):
        yield from private("private_covariance", both, mechanism="gaussian", **options)
    yield from private("private_covariance", both, centered=True, epsilons=(1.0,))
    for options in (
        {"k": 2, "adjacency": "replace"},
        {"k": 2, "adjacency": "add-remove"},
        {"k": 3, "degree": 4},
        {"k": 2, "sparsity": 2},
        {"k": 2, "sparsity": 2, "adjacency": "add-remove"},
    ):
        yield from private("private_marginals", ("bits 60", "bits 400"), epsilons=(0.3, 4.0), **options)
    yield from private("private_marginals", ["mixed table"], k=2, categories={0: [0, 1, 2]})
    for geometry, solver in (("parities", "auto"), ("tensor", "auto"), ("tables", "dykstra"), ("tables", "scs")):
        yield from private("private_marginals", ["bits 60"], k=2, geometry=geometry, solver=solver, epsilons=(1.0,))
    yield from private("tables", ("bits 60", "bits 400"), epsilons=(1.0,))
    queries = ("prefix 10", "prefix 64", "queries 6x20", "queries 40x30")
    for options in (
        {"mechanism": "auto"},
        {"mechanism": "ellipsoid"},
        {"mechanism": "gaussian"},
        {"mechanism": "factorization"},
        {"mechanism": "factorization", "adjacency": "replace"},
        {"mechanism": "gaussian", "adjacency": "replace"},
        {"mechanism": "ellipsoid", "adjacency": "replace"},
        {"mechanism": "auto", "sparse": True, "records": 200},
        {"mechanism": "auto", "sparse": False},
    ):
        yield from private("private_linear_queries", queries, epsilons=(0.3, 4.0), **options)


def backend() -> Iterator[Case]:
    yield from private("networkx one_exchange", ("planted 45", "planted-cut", "hubs 60"))
    yield from private("networkx spectral_bisection", ("halves 60", "random 120"), weight=None, normalized=True)
    yield from private("networkx randomized_partitioning", ("planted 45", "weighted 80"))
    yield from private("networkx randomized_partitioning", ["planted 45"], delta=0.0)
    for delta in (DELTA, 0.0):  # networkx offers these no seed: the ledger only
        sides = {"S": list(range(20))}
        for function, options in (("cut_size", sides), ("volume", sides), ("degree_centrality", {})):
            yield Case(f"networkx {function}", "planted 45", options, 1.0, delta)
        yield Case("networkx bipartite.density", "planted 45", {}, 1.0, delta)
    for function in ("adjacency_spectrum", "laplacian_spectrum"):
        yield Case(f"networkx {function}", "planted 45", {"weight": None}, 1.0, DELTA)


def command_lines() -> Iterator[Case]:
    budget = "--epsilon 4 --delta 1e-6 --seed 0"
    report = "--report report.json"
    of_weights = "--weight strength --max-weight 2 --labels str --nodes file"
    for line in (
        f"max-cut planted-cut {budget} --output cut.csv {report} --evaluate",
        f"max-cut edges.csv {budget} {of_weights} --output cut.csv {report}",
        f"max-cut cut.gset {budget} --format gset",
        f"max-cut planted-bisection {budget} --mechanism coherence {report}",
        f"max-cut planted-bisection {budget} --mechanism coherence --on-halt fallback {report}",
        f"max-bisection planted-bisection {budget} --output cut.csv {report}",
        f"max-cut hidden.txt --nodes 300 --average-degree 20 --dry-run {budget}",
        f"csp unknown.col {budget}",  # no such file
        f"csp colours.col {budget} {report}",
        f"csp formula.cnf {budget} {report}",
        f"degrees planted-cut {budget} --output degrees.csv {report}",
        f"degrees five-cycle --epsilon 1 --seed 1 --mechanism laplace --output degrees.csv {report}",
        f"spectrum planted-cut {budget} --k 4 --output values.csv {report}",
        f"embed planted-cut {budget} --rank 2 --output points.csv {report}",
        f"embed planted-cut {budget} --rank 2 --mechanism noisy-power --output points.csv",
        f"covariance numbers.csv --epsilon 1 --seed 0 --max-norm 1.5 --centered --output covariance.csv {report}",
        f"covariance numbers.csv {budget} --mechanism gaussian --output covariance.csv",
        f"marginals table.csv {budget} --k 2 --output tables.csv {report}",
        "convert edges.txt out.gml",
        "convert cut.gset out.csv --format gset",
        "datasets list",
        "max-cut five-cycle --epsilon -1 --delta 1e-6",
        "max-cut five-cycle --epsilon 1",
        "max-cut nowhere.txt --epsilon 1 --delta 1e-6",
    ):
        yield Case("command line", options={"line": line})


def everyday() -> Iterator[Case]:
    """Communities, counts, synthetic graphs, similarities, estimators of scikit-learn: frozen when they were new."""
    graphs, both = ("planted 45", "planted-bisection", "heavy 800", "weighted 80", "star 30", "no edges"), (1.0, 8.0)
    few = graphs[:3]
    for options in ({}, {"communities": 3}, {"resolution": 2.0}):
        for function in ("private_communities", "synthetic graph"):
            yield from private(function, few if options else graphs, delta=None, epsilons=both, **options)
    yield from private("private_degree_distribution", graphs, delta=None, epsilons=both)
    patterns = ("edge", "wedge", "triangle", "3-star", "4-cycle", "4-clique")
    for mechanism in ("ladder", "smooth", "local-sensitivity"):
        options = {"mechanism": mechanism, "delta": DELTA if mechanism == "local-sensitivity" else None}
        yield from private("private_subgraph_counts", graphs, epsilons=both, patterns=patterns, **options)
        yield from private("private_transitivity", few, epsilons=both, **options)
    for mechanism in ("auto", "noisy-power", "randomized-response"):
        yield from private("private_node_similarities", few, epsilons=both, mechanism=mechanism)
    for name, inputs, delta in (
        ("PrivateSpectralEmbedding", few, DELTA),
        ("PrivateCommunities", few, None),
        ("PrivatePCA", ("records 40", "records 500"), None),
        ("PrivatePCA", ["records 500"], DELTA),
    ):
        yield from private("sklearn", inputs, delta=delta, epsilons=(4.0,), estimator=name)
    scenario = {"problem": "communities", "n": 300, "average_degree": 20, "epsilon": 2.0, "repeats": 1}
    yield Case("plan", options=scenario | {"blocks": 4})
    for line in (
        "communities planted-bisection --output labels.csv",
        "degree-distribution planted-bisection --output degrees.csv",
        "count planted-bisection triangle wedge --output counts.csv",
        "synthesize planted-bisection --output twin.csv",
    ):
        yield Case("command line", options={"line": f"{line} --epsilon 2 --seed 0 --report report.json"})


def public() -> Iterator[Case]:
    """What spends no budget."""
    yield Case("formulas", quick=True)
    yield Case("accounting", seed=0, quick=True)
    for rng in (0, 1):
        for relaxation in ("auto", "lowrank"):
            yield Case("max_cut", "planted 45", {"relaxation": relaxation}, seed=rng, quick=rng == 0)
        for name in ("planted-bisection", "sparse 500", "weighted 80", "signed 12", "no edges"):
            yield Case("max_cut", name, {}, seed=rng)
        for name in ("planted 24", "planted 45", "weighted 80", "sparse 500"):
            yield Case("max_bisection", name, {}, seed=rng)
        for name in ("csp 8", "csp 40", "unique games 60", "differ 24", "unary", "differ 90"):
            yield Case("max_2csp", name, {}, seed=rng)
    for relaxation in ("lasserre", "admm"):
        yield Case("max_cut", "signed 12", {"relaxation": relaxation}, seed=0)
    yield Case("max_cut", "planted 45", {"seeds": 0, "rounds": 5, "local_search": False}, seed=0)
    yield Case("max_cut", "planted 45", {"seeds": 2, "search": "sampled"}, seed=0)
    yield Case("max_cut", "five-cycle", {"relaxation": "lasserre", "degree": 4}, seed=0)
    yield Case("max_bisection", "planted 45", {"imbalance": 5}, seed=0)
    yield Case("max_2csp", "unary", {"relaxation": "lasserre"}, seed=0)
    yield Case("max_2csp", "csp 8", {"relaxation": "lowrank", "seeds": 2}, seed=0)
    for name, degree in (("unary", 2), ("unary", 4), ("csp 8", 2), ("unique games 12", 2)):
        yield Case("sos.lasserre", name, {"degree": degree})
    yield Case("sos.lasserre", "unary", {"degree": 2, "nonnegative": True, "symmetry": False})
    for name in ("five-cycle", "planted 45", "weighted 80", "planted-bisection"):
        yield Case("exact quantities", name)
    for name in ("csp 8", "unary", "unique games 60", "share 9"):
        yield Case("TwoCSP", name)
    for name, options in (("five-cycle", {"kind": "max-k-cut", "alphabet": 3}), ("planted 24", {})):
        yield Case("TwoCSP.from_networkx", name, options)
    for name in ("symmetric 3", "symmetric 10", "symmetric 40", "rectangle"):
        yield Case("projections", name, quick=name == "symmetric 3")
        yield Case("l1_hulls", name, quick=name == "symmetric 3")
    for norm in ("spectral", "frobenius"):
        yield Case("project_nonnegative_spectral_ball", "symmetric 40", {"norm": norm})
    for name in ("prefix 10", "queries 6x20", "queries 40x30"):
        yield Case("linear_queries", name)
    yield from plans()
    yield from files()


def plans() -> Iterator[Case]:
    for n, degree, epsilon in ((15, 4, 1.0), (300, 20, 1.0), (300, 20, 4.0), (500, 3, 8.0), (3000, 40, 0.3)):
        yield Case("plan", options={"n": n, "average_degree": degree, "epsilon": epsilon, "delta": DELTA, "repeats": 1})
    more = {"n": 200, "average_degree": 20, "epsilon": 2.0, "delta": DELTA, "repeats": 1}
    yield Case("plan", options=more | {"problem": "max-bisection"})
    yield Case("plan", options=more | {"max_weight": 3.0, "correlation": -0.9})
    yield Case("plan", options=more | {"mechanisms": ["gaussian", "randomized-response"]})


def files() -> Iterator[Case]:
    for name in ("five-cycle", "planted-cut", "planted-bisection"):
        yield Case("datasets.load", options={"name": name})
    yield Case("datasets.available")
    for seed in (0, 1):
        for kind in ("planted_cut", "planted_bisection", "planted_cut_sparse"):
            yield Case("datasets", options={"kind": kind, "n": 200, "degree": 10, "correlation": -0.5}, seed=seed)
        yield Case(
            "datasets", options={"kind": "planted_cut_sparse", "n": 9000, "degree": 4, "correlation": 0.2}, seed=seed
        )
        more = {"kind": "planted_csp", "n": 50, "degree": 6, "alphabet": 4, "satisfiable": 0.8}
        yield Case("datasets", options=more, seed=seed)
    for file, options in (
        ("edges.txt", {}),
        ("edges.txt", {"nodes": 8}),
        ("edges.csv", {"labels": str, "weight": "strength"}),
        ("cut.gset", {"format": "gset"}),
        ("graph.gml", {}),
    ):
        yield Case("datasets.read", options={"file": file} | options)
    for file in sorted(FILES):
        if file.endswith((".col", ".cnf", ".wcnf")):
            yield Case("datasets.read_csp", options={"file": file})
    for function in ("private_max_cut", "private_degrees", "private_normalized_adjacency"):
        options: dict[str, Any] = {"function": function}
        options |= {"mechanism": "noisy-power"} if function.endswith("adjacency") else {}
        yield Case("save_result", "planted 45", options, 4.0, DELTA, 0)
    yield Case("frames")
    for kind in ("cut", "spectrum", "marginal", "adjacency", "correlation_trace", "privacy_utility"):
        yield Case("plot", options={"kind": f"plot_{kind}"})
