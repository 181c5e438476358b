"""Pseudo-distributions over assignments (Barak, Raghavendra, Steurer 2011; Guruswami, Sinop 2011), their correlations,
and independent rounding.

Label indicators obey x_ia^2 = x_ia, x_ia x_ib = 0 for a != b and sum_a x_ia = 1, and squares have nonnegative
expectation. Stored are moments of monomials without the last label; the others follow from x_iq = 1 - sum of the rest.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpgraph.arguments import as_generator
from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.sos.csp.rounding import draw_labels
from dpgraph.sos.moments.monomials import Monomial, monomials
from dpgraph.typing import FloatArray

_LEAST_PROBABILITY = 1e-9  # smaller ones are solver noise


class PseudoDistribution:
    """Pseudo-expectations of all monomials up to a degree.

    Parameters
    ----------
    instance : TwoCSP
        Its variables, its alphabet, and what :attr:`value` is the value of.
    degree : int
        Largest degree of the monomials in `moments`.
    moments : mapping from Monomial to float
        Moments of :func:`monomials` of the instance up to `degree`; that of the empty monomial is 1.
    upper_bound : float, optional
        A proven bound on the value of every assignment (from :func:`dpgraph.sos.lasserre`).
    status : str, optional
        How the solver ended: "optimal", or "optimal_inaccurate".

    Examples
    --------
    An actual distribution, x uniform and y different from it:

    >>> instance = TwoCSP("xy", 2)
    >>> pd = PseudoDistribution(instance, 2, {(): 1.0, ((0, 0),): 0.5, ((1, 0),): 0.5, ((0, 0), (1, 0)): 0.0})
    >>> pd.expectation([("x", 1), ("y", 0)])
    0.5
    >>> pd.condition("x", 1).marginal("y")
    array([1., 0.])
    """

    def __init__(
        self,
        instance: TwoCSP,
        degree: int,
        moments: Mapping[Monomial, float],
        *,
        upper_bound: float | None = None,
        status: str | None = None,
    ) -> None:
        self.instance = instance
        self.degree = degree
        self.upper_bound = upper_bound
        self.status = status
        self._moments = dict(moments)

    def __repr__(self) -> str:
        n, q = self.instance.n_variables, self.instance.alphabet_size
        return f"PseudoDistribution(n_variables={n}, alphabet_size={q}, degree={self.degree})"

    def expectation(self, monomial: Iterable[tuple[Hashable, Hashable]]) -> float:
        """Pseudo-expectation of a product of label indicators.

        Parameters
        ----------
        monomial : iterable of (variable, label)
            Factors; repeated ones count once, and two labels for one variable make the product 0.

        Raises
        ------
        InvalidParameterError
            Unknown names, or more different variables than the degree.
        """
        instance = self.instance
        factors = {(instance.position(v), instance.label_position(a)) for v, a in monomial}
        if len({i for i, _ in factors}) > self.degree:
            raise InvalidParameterError(
                f"a pseudo-distribution of degree {self.degree} has no moments of {len(factors)} variables"
            )
        return self._moment(tuple(sorted(factors)))

    def _moment(self, factors: Monomial) -> float:
        """Moment of sorted, distinct factors; the last label is expanded as 1 minus the others."""
        last = self.instance.alphabet_size - 1
        if len({i for i, _ in factors}) < len(factors):
            return 0.0
        for at, (i, a) in enumerate(factors):
            if a == last:
                before, after = factors[:at], factors[at + 1 :]
                others = (self._moment((*before, (i, b), *after)) for b in range(last))
                return self._moment(before + after) - sum(others)
        return self._moments[factors]

    def marginal(self, variable: Hashable) -> FloatArray:
        """Pseudo-probabilities of the labels of a variable, shape (q,), in the order of the alphabet."""
        return np.asarray(self.marginals()[self.instance.position(variable)])

    def marginals(self) -> FloatArray:
        """Pseudo-probabilities of all labels, shape (n, q)."""
        n, q = self.instance.n_variables, self.instance.alphabet_size
        p = np.array([[self._moments[((i, a),)] for a in range(q - 1)] for i in range(n)])
        return np.column_stack([p, 1.0 - p.sum(axis=1)])

    @cached_property
    def _second_moments(self) -> FloatArray:
        if self.degree < 2:
            raise InvalidParameterError(
                f"a pseudo-distribution of degree {self.degree} has no second moments; start from a higher degree"
            )
        n, q = self.instance.n_variables, self.instance.alphabet_size
        size = n * (q - 1)
        reduced = np.zeros((1 + size, 1 + size))
        for monomial in monomials(n, q, 2):
            at = [0, 0, *(1 + i * (q - 1) + a for i, a in monomial)][-2:]
            reduced[at[0], at[1]] = reduced[at[1], at[0]] = self._moments[monomial]
        np.fill_diagonal(reduced, reduced[0])  # x^2 = x
        expand = np.zeros((n, q, 1 + size))
        expand[:, :-1, 1:] = np.eye(size).reshape(n, q - 1, size)
        expand[:, -1] = np.eye(1, 1 + size) - expand[:, :-1].sum(axis=1)  # x_iq = 1 - the rest
        flat = expand.reshape(n * q, 1 + size)
        return flat @ reduced @ flat.T

    def second_moments(self) -> FloatArray:
        """Matrix of E x_ia x_jb, shape (n q, n q), rows in the order of the label-extended graph."""
        return self._second_moments.copy()

    def covariance(self) -> FloatArray:
        """Matrix of E x_ia x_jb - E x_ia E x_jb, shape (n q, n q)."""
        means = self._second_moments.diagonal()
        return self._second_moments - np.outer(means, means)

    @property
    def value(self) -> float:
        """Pseudo-expectation of the value of the instance: for degree 2 and more at least its optimum, if optimal."""
        return 0.5 * _inner(self.instance.label_extended_graph(), self._second_moments)

    def condition(self, variable: Hashable, label: Hashable) -> PseudoDistribution:
        """The pseudo-distribution E[. | variable has label] = E[. x_ia]/E x_ia, of one degree less.

        Raises
        ------
        InvalidParameterError
            The label has pseudo-probability 0, or the degree is below 2.
        """
        instance = self.instance
        i, a = instance.position(variable), instance.label_position(label)
        probability = self._moment(((i, a),))
        if self.degree < 2 or probability < _LEAST_PROBABILITY:
            raise InvalidParameterError(
                f"conditioning needs degree 2 or more and a label of positive probability; got degree {self.degree} "
                f"and probability {max(probability, 0.0):.3g}"
            )
        moments = {
            S: self._moment(tuple(sorted({*S, (i, a)}))) / probability
            for S in monomials(instance.n_variables, instance.alphabet_size, self.degree - 1)
        }
        return PseudoDistribution(instance, self.degree - 1, moments)


def global_correlation(pd: PseudoDistribution, weights: ArrayLike | None = None) -> float:
    """Global correlation sum_ij p_i p_j sum_ab Cov[(i,a), (j,b)]^2.

    Parameters
    ----------
    pd : PseudoDistribution
        Of degree at least 2.
    weights : array_like, shape (n,), optional
        Vertex weights p, nonnegative; scaled to sum 1. Uniform by default.

    Raises
    ------
    InvalidParameterError
        Weights of the wrong shape, negative or all zero, or a degree below 2.
    """
    n, q = pd.instance.n_variables, pd.instance.alphabet_size
    p = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if p.shape != (n,) or not np.all(np.isfinite(p)) or np.any(p < 0.0) or not p.sum() > 0.0:
        raise InvalidParameterError(f"weights must be {n} nonnegative numbers, not all zero; got shape {p.shape}")
    spread = np.repeat(p / p.sum(), q)
    return float(spread @ pd.covariance() ** 2 @ spread)


def local_correlation(pd: PseudoDistribution, M: Any) -> float:
    """Local correlation: what independent rounding loses.

    Parameters
    ----------
    pd : PseudoDistribution
        Of degree at least 2.
    M : TwoCSP, or scipy sparse or numpy matrix of shape (n q, n q)
        For a matrix, the inner product <M0, Cov>, M0 = M with its diagonal q x q blocks set to zero: the expected
        loss of x'M0x. For an instance, the same in units of its value, which is x'Mx/2.

    Raises
    ------
    InvalidParameterError
        A matrix of the wrong shape, or a degree below 2.
    """
    if isinstance(M, TwoCSP):
        return 0.5 * local_correlation(pd, M.label_extended_graph())
    n, q = pd.instance.n_variables, pd.instance.alphabet_size
    if not sparse.issparse(M):
        M = np.asarray(M, dtype=np.float64)
    if M.shape != (n * q, n * q):
        raise InvalidParameterError(f"M must have shape ({n * q}, {n * q}), variables times labels; got {M.shape}")
    covariance = pd.covariance()
    for i in range(n):
        covariance[i * q : (i + 1) * q, i * q : (i + 1) * q] = 0.0
    return _inner(M, covariance)


def independent_rounding(
    pd: PseudoDistribution, rng: int | np.random.Generator | None = None
) -> dict[Hashable, Hashable]:
    """Draw the label of every variable independently from its marginal.

    Parameters
    ----------
    pd : PseudoDistribution
        Marginals outside [0, 1] by solver error are clipped.
    rng : int or numpy.random.Generator, optional
        Public randomness.

    Returns
    -------
    dict
        Variable -> label. For exact marginals its expected value is ``pd.value - local_correlation(pd, instance)``.
    """
    return pd.instance.decode(draw_labels(pd.marginals(), as_generator(rng)))


def _inner(M: Any, X: FloatArray) -> float:
    """Inner product of a sparse or dense matrix with a dense one."""
    if sparse.issparse(M):
        entries = M.tocoo()
        row, col = entries.coords
        return float(entries.data @ X[row, col])
    return float(np.sum(M * X))
