"""Neighbouring relations: what two neighbouring data sets differ in.

A :class:`~dpgraph.privacy.PrivacyAccountant` adds the budgets of calls on one data set D. The sum is a guarantee for a
relation R if every call is private for R, because composition compares, call by call, the laws on the *same* two data
sets. So calls may share an accountant where it is proven that each of them protects the same R. They do if their
:attr:`Relation.key` are equal; each class below says why, by one argument: let f map the data set to what a call reads
(a graph, a table, a matrix). If f maps neighbours in R to neighbours of the mechanism, or to equal inputs, then the
call is private for R, by the definition of differential privacy applied to the images.

One relation may imply another: an epsilon-DP call for records that are added or removed is 2 epsilon-DP for records
that are replaced. The accountant does not convert them; such calls need two accountants.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from dpgraph.arguments import check_choice, check_scale
from dpgraph.exceptions import InvalidParameterError


@dataclass(frozen=True)
class Relation:
    """A neighbouring relation: what two neighbouring data sets differ in."""

    #: Canonical text: relations are the same if and only if their keys are.
    key: str
    #: The relation for people; completes the sentence "neighbours differ by ...".
    words: str = field(compare=False)


class Edge(Relation):
    """All that is known about one pair of vertices: its edge, with its weight.

    The bound `max_weight` of a call is no part of the relation. Every call replaces each weight x >= 0 by
    min(x, max_weight), rounded to a grid that contains 0 and max_weight. If two graphs differ in one pair, whatever its
    weights, the capped graphs differ in that pair by at most max_weight, which is what the mechanisms protect. So every
    call is private for the relation *one pair, arbitrarily changed*, whatever its own bound: two cuts with max_weight 1
    and 2 share an accountant, and so does a call that reads a weight with one that counts every edge as 1.

    A constraint problem made of a graph by one public table (``adjacency="edge"``) has one weight for each pair of
    variables, which depends on nothing but that pair of vertices, and is capped too: it shares the accountant of a cut.

    Whoever gives this relation to a function with ``sensitivity=`` states the sensitivity for an arbitrary change of
    one pair.

    Parameters
    ----------
    words : str
        How people are told; it changes nothing else.
    """

    def __init__(self, words: str = "the weight of one vertex pair, by at most max_weight") -> None:
        super().__init__("edge", words)


class Persons(Relation):
    """Up to k pairs of vertices that share a vertex, each as :class:`Edge` says: all that a person with k edges is in.

    A call for :class:`Edge` protects it at the price of k edges (:mod:`dpgraph.privacy.persons`).
    """

    def __init__(self, edges: int) -> None:
        what = f"the weights of up to {edges} vertex pairs that share a vertex, each by at most max_weight"
        super().__init__(f"edge:{edges}", f"{what} ({protects(edges)})")


def protects(edges: int) -> str:
    """What an accountant with this many edges a person does, in words."""
    return f"protects a person with up to {edges} edges"


class Node(Relation):
    """All edges of one vertex: replaced by any others, with any weights. The set of vertices is public and stays.

    It contains :class:`Persons` for every number of edges.
    """

    def __init__(self) -> None:
        super().__init__("node", "all edges of one vertex, which may be replaced by any others")


#: Relations of graphs, by the name that ``adjacency=`` takes.
GRAPHS: dict[str, Relation] = {"edge": Edge(), "node": Node()}


def of_persons(relation: Relation, edges: int) -> Relation:
    """The relation of a call under an accountant of persons with so many edges."""
    if relation.key != Edge().key:
        raise InvalidParameterError(
            f"edges_per_person={edges} of the accountant is about the edges of a graph, and this call protects "
            f"neighbours that differ by {relation.words}. Give it an accountant without edges_per_person. Nothing was "
            "read and nothing was spent"
        )
    return Persons(edges)


class LabelEdge(Relation):
    """One entry of the constraint table of one pair of variables, which is an edge of the label-extended graph.

    Entries are capped at the `max_weight` of a call, so that it is no part of the relation: see :class:`Edge`.
    """

    def __init__(self) -> None:
        what = "one entry of the constraint table of one pair of variables"
        super().__init__("label-edge", f"{what}, by at most max_weight")


class Constraint(Relation):
    """The whole constraint table of one pair of variables.

    Entries are capped at the `max_weight` of a call, so that it is no part of the relation: see :class:`Edge`.
    """

    def __init__(self) -> None:
        what = "the whole constraint table of one pair of variables"
        super().__init__("constraint", f"{what}, every entry by at most max_weight")


class Record(Relation):
    """One record of a table: replaced by another, the number of records being public, or added or removed.

    A covariance, marginals and the answers to linear queries about the same records share an accountant: each reads
    some columns of a record (for linear queries: its cell of a histogram). Restricting all records to some columns maps
    tables that differ in one record to tables that differ in at most one. Bounds that a call puts on records one by one
    (`max_norm`, `sparsity`) are applied to each alone, so that they are no part of the relation.

    Parameters
    ----------
    change : {"replace", "add-remove"}
        How neighbours differ.
    """

    def __init__(self, change: Literal["replace", "add-remove"]) -> None:
        check_choice("change", change, ("replace", "add-remove"))
        what = "replaced by another" if change == "replace" else "added or removed"
        super().__init__(f"record:{change}", f"one record, {what}")


#: Relations of tables, by the name that ``adjacency=`` takes.
RECORDS: dict[str, Record] = {"replace": Record("replace"), "add-remove": Record("add-remove")}

#: What a stated sensitivity is about, in words.
_SHIFTS: dict[str, str] = {
    "array": "the array, by at most {} in l2 norm",
    "symmetric matrix": "the matrix, by at most {} in nuclear norm",
    "Gram matrix": "the Gram matrix of the normalised rows, by at most {} in Frobenius norm",
    "matrix": "a matrix E with ||E U||_F <= {} for every U with rows of norm at most 1",
}


class Shift(Relation):
    """A change of the private array itself by at most a stated sensitivity, in the norm of its mechanism.

    Nothing is capped here: a call with sensitivity 1 does not protect a change by 2. So norm and sensitivity are part
    of the relation. Calls with several sensitivities share an accountant if the caller names what changes in the data,
    with ``adjacency=``; then each sensitivity is a statement about that change.

    Parameters
    ----------
    what : {"array", "symmetric matrix", "Gram matrix", "matrix"}
        What changes, which also says in which norm: l2; nuclear; Frobenius; and largest ||E U||_F over U with rows of
        norm at most 1.
    sensitivity : float
        Largest change.
    """

    def __init__(self, what: str, sensitivity: float) -> None:
        check_choice("what", what, _SHIFTS)
        sensitivity = check_scale("sensitivity", sensitivity)
        short = f"{sensitivity:g}"
        digits = short if float(short) == sensitivity else repr(sensitivity)  # all that tell it from others
        super().__init__(f"shift:{what}:{sensitivity!r}", _SHIFTS[what].format(digits))


class Custom(Relation):
    """A relation that the caller describes: the same as another one if and only if the texts are equal.

    Parameters
    ----------
    text : str
        Completes the sentence "neighbours differ by ...".
    """

    def __init__(self, text: str) -> None:
        super().__init__(f"custom:{text}", text)


_NAMED: dict[str, Relation] = {
    relation.words: relation for relation in (Edge(), Edge("variables"), LabelEdge(), Constraint(), *RECORDS.values())
}


def stated_relation(adjacency: Any, default: Shift) -> Relation:
    """The relation that a caller names with ``adjacency=``, or else the `default`.

    A text that repeats a relation of this module word for word is that relation, so that an array derived from records
    can share the accountant of their covariance.
    """
    if adjacency is None:
        return default
    if isinstance(adjacency, Relation):
        return adjacency
    if not isinstance(adjacency, str):
        raise InvalidParameterError(
            f"adjacency must be a string, a relation of dpgraph.privacy or None; got {type(adjacency).__name__}"
        )
    return default if adjacency in ("", default.words) else _NAMED.get(adjacency, Custom(adjacency))
