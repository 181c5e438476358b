"""Constraint satisfaction on pairs of variables: instances of max-2-CSP and their label-extended graphs.

Variables and alphabet are public, constraints are the data.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpgraph.arguments import as_number, as_reals, check_choice, check_integer, check_memory
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.inputs.arrays import refuse_masked
from dpgraph.inputs.graphs import as_graph
from dpgraph.typing import FloatArray, IntArray


class TwoCSP:
    """A weighted 2-CSP: maximise the total entry of the constraint tables that an assignment earns.

    A constraint is a pair of variables {u, v} with a q x q table of nonnegative numbers: entry (a, b) is earned when u
    has label a and v has label b. Constraints on the same pair are summed.

    Parameters
    ----------
    n_or_variables : int or iterable of hashable
        Number of variables (then they are 0..n-1), or the variables in the order of all arrays.
    alphabet : int or iterable of hashable
        Likewise the labels; at least two.

    Raises
    ------
    InvalidParameterError
        No variables, fewer than two labels, repeated or unhashable names.

    Examples
    --------
    >>> instance = TwoCSP(["x", "y", "z"], ["red", "green"])
    >>> differ = [[0, 1], [1, 0]]
    >>> for u, v in ["xy", "yz", "zx"]:
    ...     instance.add_constraint(u, v, differ)
    >>> instance.value({"x": "red", "y": "green", "z": "red"})
    2.0
    """

    def __init__(self, n_or_variables: int | Iterable[Hashable], alphabet: int | Iterable[Hashable]) -> None:
        #: Names in the caller's order.
        self.variables = _names(n_or_variables, "variables", 1)
        self.alphabet = _names(alphabet, "labels of the alphabet", 2)
        self._pairs: list[IntArray] = []
        self._tables: list[FloatArray] = []

    def __repr__(self) -> str:
        # The constraints may be private, so not even their number is shown.
        return f"TwoCSP(n_variables={self.n_variables}, alphabet_size={self.alphabet_size})"

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def alphabet_size(self) -> int:
        """Number of labels q."""
        return len(self.alphabet)

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """Position of each variable in :attr:`variables`."""
        return {variable: i for i, variable in enumerate(self.variables)}

    @cached_property
    def _label_index(self) -> dict[Hashable, int]:
        return {label: a for a, label in enumerate(self.alphabet)}

    def position(self, variable: Hashable) -> int:
        """Position of a variable in :attr:`variables`."""
        return _position(self.index, variable, "a variable")

    def label_position(self, label: Hashable) -> int:
        """Position of a label in :attr:`alphabet`."""
        return _position(self._label_index, label, "a label")

    def add_constraint(self, u: Hashable, v: Hashable, relation: ArrayLike, weight: float = 1.0) -> None:
        """Add a constraint on the pair (u, v).

        Parameters
        ----------
        u, v : hashable
            Two different variables.
        relation, weight : array_like of shape (q, q), float
            What it earns is their product; both finite and nonnegative (0/1 for a relation in the narrow sense).

        Raises
        ------
        InvalidParameterError
            An unknown variable, u = v, or entries or a weight of the wrong shape or out of range.
        """
        ends = np.array([[self.position(u), self.position(v)]])
        if not 0 <= (factor := as_number(weight)) < math.inf:  # which is private, and not shown
            raise InvalidParameterError("the weight of a constraint must be a nonnegative finite number")
        table = _numbers(relation) * factor
        self.add_constraints(ends, table[None])

    def add_unary(self, u: Hashable, values: ArrayLike, weight: float = 1.0) -> None:
        """Add a constraint on one of two or more variables: `values` (shape (q,)) of its labels, times `weight`.

        It is stored as an :meth:`add_constraint` on u and the next variable (cyclically) that ignores the latter.
        """
        if self.n_variables < 2:
            raise InvalidParameterError("a constraint on one variable needs a second variable to be stored with")
        partner = self.variables[(self.position(u) + 1) % self.n_variables]
        q, earned = self.alphabet_size, _numbers(values)
        if earned.shape != (q,):
            raise InvalidParameterError(f"the values of a unary constraint need shape ({q},); got {earned.shape}")
        self.add_constraint(u, partner, np.repeat(earned[:, None], q, axis=1), weight)

    def add_constraints(self, pairs: ArrayLike, tables: ArrayLike) -> None:
        """Add many constraints at once, by positions.

        Parameters
        ----------
        pairs : array_like of int, shape (m, 2)
            Positions in :attr:`variables`.
        tables : array_like, shape (m, q, q) or (q, q)
            Weighted relations, or one for all pairs, as for :meth:`add_constraint`.
        """
        ends, entries, q = np.asarray(pairs), _numbers(tables), self.alphabet_size
        if ends.size == 0:
            return
        if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
            raise InvalidParameterError(f"pairs must be an (m, 2) array of integers; got {_kind(ends)}")
        if entries.shape not in ((q, q), (len(ends), q, q)):
            raise InvalidParameterError(
                f"a relation must have shape ({q}, {q}), one for each pair or one for all; got {entries.shape}"
            )
        if ends.min() < 0 or ends.max() >= self.n_variables:
            raise InvalidParameterError(f"positions of variables must lie in 0..{self.n_variables - 1}")
        if np.any(ends[:, 0] == ends[:, 1]):
            raise InvalidParameterError("a constraint needs two different variables; see add_unary for a single one")
        if not np.all((entries >= 0.0) & (entries < np.inf)):
            raise InvalidParameterError("the entries of a relation must be finite and nonnegative")
        swapped = ends[:, 0] > ends[:, 1]
        entries = np.array(np.broadcast_to(entries, (len(ends), q, q)))
        entries[swapped] = entries[swapped].transpose(0, 2, 1)
        self._pairs.append(np.sort(ends.astype(np.int64), axis=1))
        self._tables.append(entries)
        self.__dict__.pop("_merged", None)

    @cached_property
    def _merged(self) -> tuple[IntArray, FloatArray]:
        """Pairs and tables, constraints on the same pair summed."""
        pairs, tables = self.constraints()
        numbers = pairs @ np.array([self.n_variables, 1])
        if np.any(numbers[1:] <= numbers[:-1]):
            order = np.argsort(numbers, kind="stable")
            starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
            pairs, tables = pairs[order[starts]], np.add.reduceat(tables[order], starts, axis=0)
        for array in (tables, pairs):
            array.setflags(write=False)
        return pairs, tables

    @property
    def pairs(self) -> IntArray:
        """Pairs of positions with a constraint, shape (m, 2), u < v, sorted, each once. Read-only."""
        return self._merged[0]

    @property
    def tables(self) -> FloatArray:
        """Weighted relation of each of :attr:`pairs`, shape (m, q, q). Read-only."""
        return self._merged[1]

    @property
    def total_weight(self) -> float:
        """Sum over the constraints of their largest entry: no assignment earns more."""
        return math.fsum(self.constraints()[1].max(axis=(1, 2), initial=0.0))

    def constraints(self) -> tuple[IntArray, FloatArray]:
        """Pairs of positions (m, 2), u < v, and tables (m, q, q) of the constraints as they were added, not summed."""
        none = np.empty((0, 2), dtype=np.int64), np.empty((0, self.alphabet_size, self.alphabet_size))
        return np.concatenate([none[0], *self._pairs]), np.concatenate([none[1], *self._tables])

    def label_extended_graph(self) -> sparse.csr_array:
        """The label-extended graph, shape (n q, n q): vertex ``i * q + a`` is variable i with label a.

        Entry ((u, a), (v, b)) is what the constraint on {u, v} earns with these labels; the matrix is symmetric, and
        zero where u = v. The indicator x of an assignment has value x'Mx/2.
        """
        size, q = self.n_variables * self.alphabet_size, self.alphabet_size
        rows = self.pairs[:, :1] * q + np.repeat(np.arange(q), q)
        columns = self.pairs[:, 1:] * q + np.tile(np.arange(q), q)
        upper = sparse.coo_array((self.tables.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size)).tocsr()
        M = (upper + upper.T).tocsr()
        M.eliminate_zeros()
        M.sort_indices()
        return M

    def encode(self, assignment: Any) -> IntArray:
        """Positions of the labels of an assignment, shape (n,): of a mapping variable -> label, or given themselves."""
        n, q = self.n_variables, self.alphabet_size
        if isinstance(assignment, Mapping):
            if len(assignment) != n:
                raise InvalidParameterError(f"an assignment needs a label for each of {n} variables")
            labels = {self.position(variable): self.label_position(label) for variable, label in assignment.items()}
            return np.array([labels[i] for i in range(n)])
        given = assignment if isinstance(assignment, np.ndarray) else np.empty(0)
        if given.shape != (n,) or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= q:
            raise InvalidParameterError(
                f"an assignment is a mapping variable -> label, or an array of {n} integers in 0..{q - 1} (positions "
                f"of labels); got {_kind(assignment)}"
            )
        return given.astype(np.int64)

    def decode(self, positions: IntArray) -> dict[Hashable, Hashable]:
        """The assignment {variable: label} with the given positions of labels."""
        return {v: self.alphabet[a] for v, a in zip(self.variables, positions.tolist(), strict=True)}

    def value(self, assignment: Any) -> float:
        """Total that an assignment (as for :meth:`encode`) earns."""
        labels = self.encode(assignment)
        u, v = self.pairs.T
        return math.fsum(self.tables[np.arange(len(u)), labels[u], labels[v]])

    @classmethod
    def from_networkx(cls, G: Any, kind: str = "max-k-cut", alphabet: Any = 2, *, weight: str | None = None) -> Self:
        """2-CSP whose variables are the vertices of a graph and whose constraints are its edges.

        Parameters
        ----------
        G : networkx graph; for "max-k-cut" and "coloring" also igraph.Graph, scipy sparse or numpy matrix
            The graph. Its vertices in their order are the variables, which private functions take to be public: see
            :func:`dpgraph.with_public_nodes`. Parallel edges are separate constraints (for "max-k-cut" and "coloring"
            they are merged).
        kind : {"max-k-cut", "coloring", "unique-games", "max-2-sat", "relations"}
            - "max-k-cut": the ends of an edge must differ. "coloring" is the same without weights: a proper colouring
              with the given colours exists exactly if the optimum is the number of edges.
            - "unique-games": an edge u -> v with attribute ``permutation``, a sequence of q positions, is satisfied
              when the position of v's label is ``permutation[a]``, a the position of u's.
            - "max-2-sat": an edge with attribute ``clause``, a mapping of its ends to bool, is satisfied when one of
              them has the stated truth value. A loop is a unit clause.
            - "relations": attribute ``relation``, a q x q array, rows for u and columns for v of an edge u -> v.

            A permutation or a relation that treats the ends differently needs a directed graph.
        alphabet : int or iterable of hashable
            The labels; for "max-2-sat" always (False, True).
        weight : str, optional
            Edge attribute that holds the weight (nonnegative); None counts every edge as 1.

        Raises
        ------
        InvalidGraphError
            An edge without a needed attribute, a negative weight, or a direction that is missing.
        InvalidParameterError
            An unknown kind or an attribute that does not fit the alphabet.

        Examples
        --------
        >>> import networkx as nx
        >>> instance = TwoCSP.from_networkx(nx.cycle_graph(5), "coloring", ["r", "g", "b"])
        >>> instance.value({0: "r", 1: "g", 2: "r", 3: "g", 4: "b"})
        5.0
        >>> game = nx.DiGraph()
        >>> game.add_edge("u", "v", permutation=[1, 2, 0])
        >>> TwoCSP.from_networkx(game, "unique-games", 3).value({"u": 2, "v": 0})
        1.0
        >>> formula = nx.MultiGraph()
        >>> _ = formula.add_edge("p", "q", clause={"p": True, "q": False})
        >>> TwoCSP.from_networkx(formula, "max-2-sat").value({"p": False, "q": True})
        0.0
        """
        check_choice("kind", kind, ("max-k-cut", "coloring", *_EDGE_ATTRIBUTES))
        if kind in _EDGE_ATTRIBUTES:
            return cls._from_attributes(G, kind, alphabet, weight)
        if kind == "coloring" and weight is not None:
            raise InvalidParameterError("kind='coloring' has no weights; use kind='max-k-cut'")
        graph = as_graph(G, weight=weight, signed=False)
        instance = cls(graph.nodes, alphabet)
        instance._check_tables()
        upper = sparse.triu(graph.adjacency, 1).tocoo()
        differ = 1.0 - np.eye(instance.alphabet_size)
        instance.add_constraints(np.stack(upper.coords, axis=1), upper.data[:, None, None] * differ)
        return instance

    def _check_tables(self) -> None:
        """Refuse labels whose tables do not fit into memory, with an edge for each vertex: their number is private."""
        n, q = self.n_variables, self.alphabet_size
        check_memory(f"constraints on {n} variables with {q} labels", tables=(_COPIES, n, q, q))

    @classmethod
    def _from_attributes(cls, G: Any, kind: str, alphabet: Any, weight: str | None) -> Self:
        """A constraint for each edge, as one of its attributes says."""
        clauses = kind == "max-2-sat"
        if clauses and alphabet != 2 and tuple(alphabet) != (False, True):
            raise InvalidParameterError("kind='max-2-sat' has the alphabet (False, True)")
        instance = cls(G.nodes, (False, True) if clauses else alphabet)
        instance._check_tables()
        attribute = _EDGE_ATTRIBUTES[kind]
        for u, v, data in G.edges(data=True):
            for name in (attribute, weight):
                if name is not None and name not in data:
                    raise InvalidGraphError(f"every edge needs the attribute {name!r}; at least one has none")
            stated, w = data[attribute], 1.0 if weight is None else data[weight]
            if clauses:
                table = _clause_table(stated, u, v)
            elif kind == "unique-games":
                table = _permutation_table(stated, instance.alphabet_size)
            else:
                table = _numbers(stated)
            if clauses and u == v:
                instance.add_unary(u, table.diagonal(), w)
                continue
            if not clauses and not G.is_directed() and not np.array_equal(table, table.T):
                raise InvalidGraphError(
                    "a constraint that treats its two ends differently needs a directed graph "
                    "(nx.DiGraph or nx.MultiDiGraph)"
                )
            instance.add_constraint(u, v, table, w)
        return instance


#: A table of a constraint is made, weighted, kept, sorted and summed.
_COPIES = 4
#: Kind of an instance: the attribute of an edge that says what its ends earn.
_EDGE_ATTRIBUTES = {"unique-games": "permutation", "max-2-sat": "clause", "relations": "relation"}


def _permutation_table(permutation: Any, q: int) -> FloatArray:
    image = np.asarray(permutation)
    if image.shape != (q,) or sorted(image.tolist()) != list(range(q)):
        raise InvalidParameterError(f"a permutation must hold each of 0..{q - 1} once")
    return np.asarray(np.eye(q)[image])


def _clause_table(clause: Any, u: Hashable, v: Hashable) -> FloatArray:
    if not isinstance(clause, Mapping) or set(clause) != {u, v}:
        raise InvalidParameterError("a clause must map each end of its edge to True or False")
    true_at_u, true_at_v = ((np.arange(2) == bool(clause[end])).astype(float) for end in (u, v))
    return np.asarray(np.maximum.outer(true_at_u, true_at_v))


def _names(given: Any, what: str, least: int) -> tuple[Hashable, ...]:
    """A count or an iterable of distinct hashables as a tuple."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        count = check_integer(f"the number of {what}", given, least)
        check_memory(f"an instance of {count} {what}", names=(5, count))
        return tuple(range(count))
    try:
        names = tuple(given)
        distinct = len(set(names))
    except TypeError:
        raise InvalidParameterError(f"{what}: need a number or distinct hashables; got {_kind(given)}") from None
    if len(names) < least or distinct != len(names):
        raise InvalidParameterError(
            f"need distinct {what}, at least {least}; got {len(names)} names, {distinct} of them distinct"
        )
    return names


def _kind(given: Any) -> str:
    return f"shape {given.shape} of type {given.dtype}" if isinstance(given, np.ndarray) else type(given).__name__


def _numbers(given: ArrayLike) -> FloatArray:
    refuse_masked(given)
    try:
        return as_reals(given)
    except (ArithmeticError, TypeError, ValueError):
        raise InvalidParameterError("a relation must be an array of numbers, q x q") from None


def _position(index: dict[Hashable, int], name: Hashable, what: str) -> int:
    try:
        return index[name]
    except (KeyError, TypeError):
        raise InvalidParameterError(f"{name!r} is not {what} of the instance") from None
