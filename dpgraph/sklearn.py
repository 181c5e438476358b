"""Private estimators for scikit-learn, to stand in its pipelines: ``pip install 'dpgraph[sklearn]'``.

`epsilon` has no default. Every `fit` is a release of its own, and spends epsilon and delta once more; an `accountant`
(or an enclosing ``with PrivacyAccountant(...)``) adds them up and refuses what does not fit. Clones share it, since two
copies of a budget would be twice the budget. ``random_state=None`` is cryptographic noise; an int, a numpy Generator or
a RandomState is for experiments, and the report says so.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_choice, check_integer
from dpgraph.exceptions import InvalidParameterError
from dpgraph.extras import require
from dpgraph.inputs.arrays import read_array, table_shape
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.open_blocks import inside_a_block
from dpgraph.privacy.relation import RECORDS
from dpgraph.problems.communities import private_communities
from dpgraph.problems.embedding.normalized_adjacency import private_normalized_adjacency
from dpgraph.problems.records.covariance import leading_components, private_covariance
from dpgraph.typing import FloatArray, GraphLike

require("sklearn")  # one line of error where it is missing

from sklearn.base import (  # noqa: E402
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils._set_output import _get_output_config  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

__all__ = ["PrivateCommunities", "PrivatePCA", "PrivateSpectralEmbedding"]

if TYPE_CHECKING:
    from dpgraph.strategies import EmbeddingMechanism

RandomState = int | np.random.Generator | np.random.RandomState | None


@dataclass(eq=False, repr=False, kw_only=True)
class _PrivateEstimator(BaseEstimator):
    """What the estimators share: the budget of a fit. Fields are parameters."""

    epsilon: float
    accountant: PrivacyAccountant | None = None
    random_state: RandomState = None
    progress: bool = False

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Another process does not know of a block here: what is fitted there would be charged to nobody."""
        if self.accountant is None and inside_a_block():
            raise TypeError(
                f"a {type(self).__name__} without accountant= cannot be pickled, nor sent to another process, inside a "
                "`with PrivacyAccountant` block, which is not charged for what happens there. Give it accountant="
                "dpgraph.FileAccountant(...), which serves several processes; or keep n_jobs=1; or pickle it after the "
                "block"
            )
        return super().__reduce_ex__(protocol)

    def __copy__(self) -> Self:
        """A copy in this process is charged as the original is."""
        return self._with_fields(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._with_fields(copy.deepcopy(self.__dict__, memo))

    def _with_fields(self, fields: dict[str, Any]) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update(fields)
        return made

    def _shared_arguments(self) -> dict[str, Any]:
        """Arguments of every private function."""
        state = self.random_state
        if isinstance(state, np.random.RandomState):
            state = np.random.default_rng(state.randint(2**31, size=4))
        return {"epsilon": self.epsilon, "accountant": self.accountant, "rng": state, "progress": self.progress}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class _GraphEstimator(_PrivateEstimator):
    """An estimator that is fitted to a graph, whose vertices and their order are public."""

    weight: str | None = None
    max_weight: float | None = None
    symmetrize: bool = False

    def _read_by(self) -> dict[str, Any]:
        """How the graph is read."""
        return {"weight": self.weight, "max_weight": self.max_weight, "symmetrize": self.symmetrize}

    def _keep_nodes(self, nodes: tuple[Hashable, ...]) -> None:
        self.nodes_, self.n_features_in_ = nodes, len(nodes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags


@dataclass(eq=False, repr=False)
class PrivateSpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _GraphEstimator):
    """Points for the vertices of a private graph: leading eigenvectors of its normalized adjacency.

    Parameters
    ----------
    n_components : int or "auto", default 2
        Dimension of the points; "auto" for as many as that function chooses.
    epsilon, delta : float
        Budget of a fit, as for :func:`~dpgraph.private_normalized_adjacency`; delta is 0 by default.
    mechanism, weight, max_weight, symmetrize, accountant
        As there.
    random_state : int, numpy Generator, RandomState or None
        None for cryptographic noise; anything else for experiments.
    progress : bool, default False
        Show a bar on stderr while fitting.

    Attributes
    ----------
    embedding_ : ndarray, shape (n, n_components)
        The points, in the order of `nodes_`.
    adjacency_ : PrivateNormalizedAdjacency
        Everything that was released.
    nodes_, n_features_in_ : tuple, int
        The vertices, and their number.
    privacy_ : PrivacyReport
        The guarantee.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in one vertex pair, as
    :func:`~dpgraph.private_normalized_adjacency` says. `transform` reads the (public) vertices of its argument
    only, and costs nothing.

    Examples
    --------
    The friends of a karate club, split as they did:

    >>> import networkx as nx
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.pipeline import make_pipeline
    >>> from dpgraph.sklearn import PrivateSpectralEmbedding
    >>> club = nx.karate_club_graph()
    >>> embedding = PrivateSpectralEmbedding(2, epsilon=6.0, random_state=0)
    >>> pipeline = make_pipeline(embedding, KMeans(2, n_init=10, random_state=0))
    >>> labels = pipeline.fit_predict(club)
    >>> officer = np.array([club.nodes[node]["club"] == "Officer" for node in club])
    >>> agreement = np.mean(labels == officer)
    >>> bool(max(agreement, 1 - agreement) > 0.9), embedding.privacy_.epsilon
    (True, 6.0)
    """

    n_components: Literal["auto"] | int = 2
    _: KW_ONLY
    delta: float = 0.0
    mechanism: EmbeddingMechanism = "auto"

    @private_function
    def fit(self, X: GraphLike, y: Any = None) -> Self:
        """Release an embedding of a graph: networkx, igraph, or an adjacency matrix, dense or sparse."""
        asked: dict[str, Any] = {"delta": self.delta, "rank": self.n_components, "mechanism": self.mechanism}
        self.adjacency_ = private_normalized_adjacency(X, **asked, **self._read_by(), **self._shared_arguments())
        self._keep_nodes(self.adjacency_.nodes)
        self.embedding_ = self.adjacency_.embedding()
        self.privacy_ = self.adjacency_.privacy
        return self

    def transform(self, X: Any) -> Any:
        """Return the points of the vertices of X, which must be among those that were fitted. No edge is read.

        After ``set_output(transform="pandas")`` they are a DataFrame whose index are the vertices.
        """
        check_is_fitted(self)
        place = {node: i for i, node in enumerate(self.nodes_)}
        nodes = open_graph(X, **self._read_by()).nodes
        unknown = [node for node in nodes if node not in place]
        if unknown:
            raise InvalidParameterError(
                f"an embedding has points for the {len(place)} vertices of the graph it was fitted to; "
                f"got {len(unknown)} others. Fit the larger graph"
            )
        points = self.embedding_[[place[node] for node in nodes]]
        if _get_output_config("transform", self)["dense"] != "pandas":
            return points
        return require("pandas").DataFrame(points, index=require("pandas").Index(nodes, tupleize_cols=False))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


@dataclass(eq=False, repr=False)
class PrivateCommunities(ClusterMixin, _GraphEstimator):
    """Communities of high modularity in a private graph.

    Parameters
    ----------
    communities : "auto" or int
        How many to find; "auto" by default.
    resolution : float, default 1.0
        Above 1 for smaller communities, below 1 for larger ones.
    epsilon : float
        Budget of a fit, which is pure.
    weight, max_weight, symmetrize, accountant
        As for :func:`~dpgraph.private_communities`.
    random_state, progress
        As for :class:`PrivateSpectralEmbedding`.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n,)
        Community of each vertex, in the order of `nodes_`; 0 is the largest.
    communities_ : dpgraph.PrivateCommunities
        Everything that was released: sets, estimated modularity, block weights, degrees.
    nodes_, n_features_in_ : tuple, int
        The vertices, and their number.
    privacy_ : PrivacyReport
        The guarantee.

    Notes
    -----
    *Guarantee.* epsilon-DP for graphs that differ in one vertex pair, as :func:`~dpgraph.private_communities` says.

    Examples
    --------
    >>> import networkx as nx
    >>> from dpgraph.sklearn import PrivateCommunities
    >>> graph = nx.planted_partition_graph(3, 100, 0.4, 0.02, seed=1)
    >>> np.bincount(PrivateCommunities(epsilon=2.0, random_state=0).fit_predict(graph))
    array([100, 100, 100])
    """

    communities: Literal["auto"] | int = "auto"
    _: KW_ONLY
    resolution: float = 1.0

    @private_function
    def fit(self, X: GraphLike, y: Any = None) -> Self:
        """Release communities of a graph: networkx, igraph, or an adjacency matrix, dense or sparse."""
        self.communities_ = private_communities(
            X, communities=self.communities, resolution=self.resolution, **self._read_by(), **self._shared_arguments()
        )
        self._keep_nodes(self.communities_.nodes)
        self.labels_, self.privacy_ = self.communities_.labels, self.communities_.privacy
        return self


@dataclass(eq=False, repr=False)
class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _PrivateEstimator):
    """Principal components of private records, from a private covariance matrix.

    Parameters
    ----------
    n_components : int or None, default None
        How many to keep; None keeps all.
    epsilon, delta, max_norm, adjacency, n_records
        As for :func:`~dpgraph.private_covariance`: neighbours differ in one record, and records longer than the public
        `max_norm`, 1 by default, are scaled down to it in `fit`. With delta = 0, the default, the release is pure.
    centered : bool, default True
        Whether the mean, which is released too, is taken off.
    accountant
        Debited before the records are read.
    random_state, progress
        As for :class:`PrivateSpectralEmbedding`.

    Attributes
    ----------
    components_ : ndarray, shape (n_components, d)
        Unit vectors, the largest variance first; the largest entry of each is positive.
    explained_variance_, explained_variance_ratio_ : ndarray, shape (n_components,)
        Private variances along them (none is negative), and their shares of the private total.
    estimated_sine_ : float
        Estimate of the sine of the largest angle between the components and the exact ones, from what was released.
    mean_, n_features_in_ : ndarray of shape (d,), int
        The private mean, zero if not `centered`; d.
    covariance_ : PrivateCovariance
        Everything that was released.
    privacy_ : PrivacyReport
        The guarantee.

    Notes
    -----
    *Guarantee.* What `fit` keeps is (epsilon, delta)-DP, as :func:`~dpgraph.private_covariance` says. `transform`
    applies it to the records that it is given, as they are: **scores of private records are private data.**

    Examples
    --------
    >>> from dpgraph.sklearn import PrivatePCA
    >>> X = np.random.default_rng(0).normal(size=(20_000, 3)) * [0.1, 0.4, 0.2] + [0.0, 0.3, 0.0]
    >>> pca = PrivatePCA(2, epsilon=1.0, max_norm=1.0, random_state=0).fit(X)
    >>> np.abs(pca.components_).round(1)
    array([[0., 1., 0.], [0., 0., 1.]])
    """

    n_components: int | None = None
    _: KW_ONLY
    delta: float = 0.0
    max_norm: float = 1.0
    centered: bool = True
    adjacency: Literal["replace", "add-remove"] = "replace"
    n_records: int | None = None

    @private_function
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Release the covariance matrix of the rows of X, and keep its eigenvectors."""
        # No check of scikit-learn that looks at entries: it would do so before the debit, and show them.
        check_choice("adjacency", self.adjacency, RECORDS)
        _, dimension = table_shape(X, self.adjacency, numbers=True)
        validate_data(self, X, skip_check_array=True)  # names and number of columns
        kept = dimension
        if self.n_components is not None:
            kept = check_integer("n_components", self.n_components, 1, dimension)
        self.covariance_ = private_covariance(
            X,
            delta=self.delta,
            centered=self.centered,
            max_norm=self.max_norm,
            adjacency=self.adjacency,
            n_records=self.n_records,
            **self._shared_arguments(),
        )
        found = leading_components(self.covariance_, range(kept, kept + 1))
        total = max(float(np.trace(self.covariance_.matrix)), 0.0)
        self.components_, self.estimated_sine_ = found.basis.T, found.estimated_sine
        self.explained_variance_ = np.maximum(found.values, 0.0)
        self.explained_variance_ratio_ = self.explained_variance_ / total if total > 0 else np.zeros(kept)
        self.mean_ = np.zeros(dimension) if self.covariance_.mean is None else self.covariance_.mean
        self.privacy_ = self.covariance_.privacy
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Scores of the rows of X, which are as private as X."""
        check_is_fitted(self)
        shape = table_shape(X, "replace", numbers=True)
        validate_data(self, X, reset=False, skip_check_array=True)
        return np.asarray((read_array(X, shape) - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: ArrayLike) -> FloatArray:
        """Records that have these scores, and nothing beside the components."""
        check_is_fitted(self)
        shape, kept = table_shape(X, "replace", numbers=True), len(self.components_)
        if shape[1] != kept:
            raise InvalidParameterError(f"expected scores for {kept} components; got {shape[1]} columns")
        return np.asarray(read_array(X, shape) @ self.components_ + self.mean_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
