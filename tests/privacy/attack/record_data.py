"""Matrices, records, histograms, tables and constraint problems, and a neighbour of each, from genes."""

import numpy as np
from scipy import linalg

from dpgraph.projections import Box, PSDCone
from tests.privacy.attack.genes import SCALE, Choice, Gene, Genome, Log, Maybe, Seed, Share, Whole
from tests.privacy.attack.graph_data import adjacency, changed_pair
from tests.privacy.inputs import Data, instance

#: Entries in units of their sensitivity.
_SIZE = Log(((1e-2, 1e4), (1e-6, 1e13), (1e-200, 1e200)))
_PATTERNS = ("random", "signs", "mask", "hadamard mask", "constant", "low rank", "zero", "spread")
_CHANGES = ("unit", "ones", "random", "random pair", "pair")


def matrix_genes(largest: int) -> dict[str, Gene]:
    """Genes of a matrix of at most `largest` rows, of its public sensitivity, and of the change."""
    return {
        "pattern": Choice(_PATTERNS),
        "d": Whole(1, largest),
        "size": _SIZE,
        "spread": Share(),
        "sensitivity": Maybe(SCALE),
        "change": Choice(_CHANGES),
        "part": Share(),
        "sign": Choice((1.0, -1.0)),
        "data seed": Seed(),
    }


def pattern(genome: Genome, rows: int, columns: int) -> np.ndarray:
    """A matrix whose largest entries are about 1."""
    rng, kind = np.random.default_rng(genome["data seed"]), genome["pattern"]
    A = rng.normal(size=(rows, columns))
    if kind == "signs":
        return np.sign(A)
    if kind == "mask":
        return (A > 0).astype(np.float64)
    if kind == "hadamard mask":
        order = 1 << max(rows, columns).bit_length()
        return (linalg.hadamard(order)[:rows, :columns] > 0).astype(np.float64)
    if kind == "constant":
        return np.ones((rows, columns))
    if kind == "low rank":
        return np.outer(A[:, 0], A[0])
    if kind == "spread":  # entries of all orders of magnitude
        return np.sign(A) * np.exp(-20 * genome["spread"] * rng.random((rows, columns)))
    return A if kind == "random" else np.zeros((rows, columns))


def _bounded(size: float) -> float:
    """Squares and sums of entries must not overflow in the harness itself."""
    return min(size, 1e150)


def _symmetric(A: np.ndarray) -> np.ndarray:
    return np.triu(A) + np.triu(A, 1).T


def unit_vector(genome: Genome, d: int, turn: int = 0) -> np.ndarray:
    """The direction of a change."""
    rng = np.random.default_rng(genome["data seed"] + 7 + turn)
    match genome["change"]:
        case "unit":
            v = np.eye(d)[turn % d]
        case "ones":
            v = np.ones(d)
        case "pair":
            angle = np.pi / 2 * genome["part"]
            v = np.zeros(d)
            v[turn % d] += np.cos(angle)
            v[(turn + 1) % d] += np.sin(angle)
        case _:
            v = rng.normal(size=d)
    return v / max(np.linalg.norm(v), 1e-300)


def _symmetric_change(genome: Genome, d: int) -> np.ndarray:
    """A change of rank one or two and of nuclear norm 1."""
    u = unit_vector(genome, d)
    if genome["change"] != "random pair" or d == 1:
        return genome["sign"] * np.outer(u, u)
    v = unit_vector(genome, d, 1)
    E = np.outer(u, u) - np.outer(v, v)
    return E / max(np.linalg.norm(E, "nuc"), 1e-300)


def nuclear_inputs(genome: Genome) -> tuple[Data, Data]:
    """Symmetric matrices at nuclear distance `sensitivity`."""
    d, s = genome["d"], genome["sensitivity"] or 1.0
    A = _bounded(s * genome["size"]) * _symmetric(pattern(genome, d, d))
    # A little inside, so that the rounding of A + E in floating point is no larger change than was declared.
    B = A + s * _symmetric_change(genome, d)
    moved = np.linalg.norm((B - A) / s, "nuc") * s
    return Data(A, {"sensitivity": max(s, moved)}), Data(B, {"sensitivity": max(s, moved)})


def array_inputs(genome: Genome) -> tuple[Data, Data]:
    """Arrays at Frobenius distance `sensitivity`, and the sets of a projection."""
    d, s = genome["d"], genome["sensitivity"] or 1.0
    A = _bounded(s * genome["size"]) * _symmetric(pattern(genome, d, d))
    B = A + s * _symmetric_change(genome, d) / max(np.linalg.norm(_symmetric_change(genome, d)), 1e-300)
    s = max(s, float(np.linalg.norm((B - A) / s)) * s)
    public = {"sensitivity": s, "sets": [PSDCone(), Box(-2 * s, 2 * s)], "symmetric": True, "max_iter": 3}
    return Data(A, public), Data(B, public)


def spectral_genes(largest: int) -> dict[str, Gene]:
    """Genes of a matrix with a leading eigenspace."""
    return {
        "d": Whole(2, largest),
        "true rank": Whole(1, 4),
        "gap": Log(((3.0, 1e4), (1e-2, 1e7))),
        "decay": Share(),
        "bulk": Share(),
        "spikes": Choice((0, 0, 1, 2)),
        "sensitivity": Maybe(SCALE),
        "change": Choice(("entry", "diagonal", "row", "random")),
        "data seed": Seed(),
    }


def spectral_inputs(genome: Genome, *, rectangular: bool = False) -> tuple[Data, Data]:
    """A few large eigenvalues of either sign and a bulk; the change has row-l1 norm exactly the sensitivity."""
    n, s, rng = genome["d"], genome["sensitivity"] or 1.0, np.random.default_rng(genome["data seed"])
    m, r = (n + 3 if rectangular else n), min(genome["true rank"], n)
    U, V = (np.linalg.qr(np.hstack([np.eye(k)[:, : genome["spikes"]], rng.normal(size=(k, r))]))[0] for k in (n, m))
    r = min(U.shape[1], V.shape[1], r)
    values = genome["gap"] * np.exp(-genome["decay"] * np.arange(r)) * (1 if rectangular else rng.choice([-1, 1], r))
    A = (U[:, :r] * values) @ (V if rectangular else U)[:, :r].T
    bulk = genome["bulk"] * rng.normal(size=(n, m)) * genome["gap"] / (10 * np.sqrt(n))
    A += bulk if rectangular else (bulk + bulk.T) / 2
    E = np.zeros((n, m))
    i, j = rng.integers(n), rng.integers(m)
    match genome["change"]:
        case "diagonal":
            E[i, min(i, m - 1)] = 1.0
        case "row":
            E[i] = 1.0
        case "random":
            E = rng.normal(size=(n, m))
        case _:
            E[i, j] = 1.0
    if not rectangular:
        E = E + E.T
    E /= max(np.sqrt(np.sum(np.abs(E).sum(axis=side) ** 2)) for side in (0, 1)) * (1 + 1e-12)
    return Data(s * A, {"sensitivity": s}), Data(s * (A + E), {"sensitivity": s})


def record_genes(largest: int) -> dict[str, Gene]:
    """Genes of records in a ball: repeated rows, columns of different sizes, and the record that changes."""
    return {
        "d": Whole(1, 6),
        "n": Whole(1, 40),
        "repeats": Whole(1, largest),
        "anisotropy": Share(),
        "length": Share(),
        "change": Choice(_CHANGES),
        "part": Share(),
        "opposite": Choice(("zero", "orthogonal", "random", "same length")),
        "max_norm": Maybe(SCALE),
        "n_records": Maybe(Whole(1, 10**9)),
        "data seed": Seed(),
    }


def record_inputs(genome: Genome, *, remove: bool) -> tuple[Data, Data]:
    """Records; one is replaced, or one comes."""
    rng, d, norm = np.random.default_rng(genome["data seed"]), genome["d"], genome["max_norm"] or 1.0
    X = rng.normal(size=(genome["n"], d)) * np.exp(-15 * genome["anisotropy"] * np.arange(d))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    X = np.repeat(X * genome["length"] ** 0.1, genome["repeats"], axis=0)
    new = unit_vector(genome, d)
    old = {
        "zero": np.zeros(d),
        "orthogonal": np.roll(new, 1) * (d > 1),
        "random": X[0],
        "same length": unit_vector(genome | {"change": "random"}, d, 3),
    }[genome["opposite"]]
    if remove:
        public = {"n_records": genome["n_records"] or len(X) + 1}
        return Data(X * norm, public), Data(np.vstack([X, new[None]]) * norm, public)
    return Data(np.vstack([X, old[None]]) * norm), Data(np.vstack([X, new[None]]) * norm)


def cosine_inputs(genome: Genome) -> tuple[Data, Data]:
    """Rows of unit length; one is replaced."""
    rng, n = np.random.default_rng(genome["data seed"]), genome["n"] + 1
    V = rng.normal(size=(n, genome["d"] + 1)) * np.exp(-8 * genome["anisotropy"] * np.arange(genome["d"] + 1))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    W = V.copy()
    W[0] = -V[0] if genome["opposite"] == "zero" else unit_vector(genome, genome["d"] + 1)
    moved = float(np.linalg.norm(V @ V.T - W @ W.T)) * (1 + 1e-12)
    return Data(V, {"sensitivity": moved or 1.0}), Data(W, {"sensitivity": moved or 1.0})


def bit_genes() -> dict[str, Gene]:
    """Genes of a table of bits."""
    return {"n": Whole(1, 200), "d": Whole(3, 6), "density": Share(), "flips": Whole(1, 6), "data seed": Seed()}


def bit_inputs(genome: Genome, *, remove: bool) -> tuple[Data, Data]:
    """0/1 records; bits of one are flipped, or it goes."""
    rng = np.random.default_rng(genome["data seed"])
    X = (rng.random((genome["n"], genome["d"])) < genome["density"]).astype(int)
    first = X[:1].copy()
    first[0, : genome["flips"]] = 1 - first[0, : genome["flips"]]
    return Data(np.vstack([X[:1], X])), Data(X if remove else np.vstack([first, X]))


def histogram_genes() -> dict[str, Gene]:
    """Genes of a histogram and of queries about it."""
    return {
        "queries": Choice(("prefix", "identity", "random", "signs", "scales")),
        "d": Whole(1, 12),
        "bins": Whole(2, 24),
        "count": Log(((1.0, 1e3), (1.0, 1e14))),
        "records given": Choice((False, True)),
        "data seed": Seed(),
    }


def histogram_inputs(genome: Genome, *, replace: bool) -> tuple[Data, Data]:
    """Histograms that differ in one record."""
    rng, d, N = np.random.default_rng(genome["data seed"]), genome["d"], genome["bins"]
    A = rng.normal(size=(d, N))
    match genome["queries"]:
        case "prefix":
            A = np.tril(np.ones((N, N)))
        case "identity":
            A = np.eye(N)
        case "signs":
            A = np.sign(A)
        case "scales":
            A *= np.exp(8 * rng.normal(size=(1, N)))
    x = np.floor(genome["count"] * rng.random(N)) + 1
    y = x.copy()
    i, j = rng.choice(N, 2, replace=False)
    y[i] -= 1
    y[j] += int(replace)
    public = {"A": A} | ({"records": float(x.sum() + 1)} if genome["records given"] else {})
    return Data(x, public), Data(y, public)


def csp_inputs(genome: Genome, *, kind: str) -> tuple[Data, Data]:
    """Constraint problems on the pairs of a graph; one entry, one table or one weight changes."""
    A, q, w = adjacency(genome), genome["labels"], genome["max_weight"] or 1.0
    rng, n = np.random.default_rng(genome["data seed"] + 3), len(A)
    i, j = sorted(changed_pair(genome, A))
    A[i, j] = A[j, i] = 0.0
    pairs = np.vstack([np.argwhere(np.triu(A, 1)).reshape(-1, 2), [[i, j]]])
    share = 1.0 if genome["weights"] == "all" else rng.random((len(pairs), 1, 1))
    if kind == "edge":
        relation = (1.0 - np.eye(q)) if genome["weights"] == "all" else _symmetric(rng.random((q, q)))
        if genome["weights"] == "fractions":  # half a weight lies between two points of a grid of weights
            relation = np.rint(2 * relation) / 2
            relation[0, q - 1] = relation[q - 1, 0] = 1.0
        relation /= max(relation.max(), 1e-300)
        tables = np.broadcast_to(relation, (len(pairs), q, q)) * share * w
        last, public = relation * w, {"relation": relation, "max_weight": w}
    else:
        tables = rng.integers(0, 2, (len(pairs), q, q)) * share * w
        last, public = np.full((q, q), w), {"max_weight": w}
    here, there = np.array(tables, dtype=np.float64), np.array(tables, dtype=np.float64)
    here[-1] = 0.0
    there[-1] = last
    if kind == "label-edge":
        here[-1] = tables[-1]
        here[-1, 0, 0], there[-1] = 0.0, tables[-1]
        there[-1, 0, 0] = w
    return instance(n, pairs, here, public), instance(n, pairs, there, public)
