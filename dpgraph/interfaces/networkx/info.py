"""What networkx reads about the backend ``dpgraph`` when networkx is imported: plain data, nothing heavy."""

from typing import Any

_BUDGET = {
    "epsilon : float": "Privacy parameter, > 0; required unless nx.config.backends.dpgraph.epsilon is set.",
    "delta : float, optional": (
        "In [0, 1). Default: nx.config.backends.dpgraph.delta, or else 0, which is pure differential privacy."
    ),
    "accountant : dpgraph.PrivacyAccountant, optional": (
        "Debited before the edges are read; default: the one of the enclosing `with` block."
    ),
    "progress : bool, default False": "Show a bar on stderr.",
}
_WEIGHT = {
    "max_weight : float, optional": (
        "Public upper bound on a weight, required with weight=; larger weights count as max_weight. "
        "Default: nx.config.backends.dpgraph.max_weight."
    )
}
_PARTITION = "The vertices and the sets of vertices in the arguments are public; which edges exist is private."

_GROUPS = "The attribute of the vertices is public; nodes must be None."
_COMMUNITIES = (
    "The communities of dpgraph.private_communities, of high modularity, the largest first; delta is not spent."
)
_DEFAULT_WEIGHT = "Weights count if max_weight is given or configured; otherwise every edge counts 1."

#: Function -> what it answers.
_FUNCTIONS = {
    "adjacency_spectrum": "All eigenvalues with noise, real, in increasing order, for at most 5000 vertices. "
    f"{_DEFAULT_WEIGHT}",
    "asyn_lpa_communities": _COMMUNITIES,
    "attribute_assortativity_coefficient": f"By the noisy numbers of edges between the groups, in [-1, 1]. {_GROUPS}",
    "attribute_mixing_matrix": f"Noisy numbers of edges between the groups, or their shares. {_GROUPS}",
    "conductance": f"Quotient of the noisy cut and volume, moved into [0, 1]. {_PARTITION}",
    "cut_size": f"The weight of the cut with noise. {_PARTITION}",
    "degree_assortativity_coefficient": "By noisy counts of edges, wedges, stars and products of degrees, in [-1, 1]. "
    "x and y are not used, as edges have no direction; weight and nodes must be None.",
    "degree_centrality": "Every degree with noise, divided by n - 1, in [0, 1].",
    "densest_subgraph": "Density and vertices of dpgraph.private_densest_subgraph; iterations and method are not used.",
    "edge_connectivity": "The edges of a minimum cut, with noise; s, t and cutoff must be None.",
    "density": "The number of edges with noise over the number of possible ones. "
    f"nodes=None gives the density of a graph that is not bipartite. {_PARTITION}",
    "edge_expansion": f"The noisy weight of the cut, at least 0, over the size of the smaller set. {_PARTITION}",
    "fast_label_propagation_communities": _COMMUNITIES,
    "greedy_modularity_communities": f"{_COMMUNITIES} There are at most best_n; cutoff must be 1. The sets are frozen.",
    "kernighan_lin_bisection": "Halves by the second eigenvector of a private normalized adjacency. partition must be "
    f"None; max_iter is not used. Raises dpgraph.MechanismHalted as spectral_bisection does. {_DEFAULT_WEIGHT}",
    "label_propagation_communities": _COMMUNITIES,
    "laplacian_spectrum": "All eigenvalues with noise, nonnegative and in increasing order, for at most 5000 vertices. "
    f"{_DEFAULT_WEIGHT}",
    "leiden_communities": f"{_COMMUNITIES} max_level and theta are not used; metric may be modularity or the default, "
    f"with the same answer. {_DEFAULT_WEIGHT}",
    "louvain_communities": f"{_COMMUNITIES} threshold and max_level are not used. {_DEFAULT_WEIGHT}",
    "mixing_expansion": "The noisy cut over twice the noisy number of edges, moved into [0, 1/2]. weight must be None. "
    f"{_PARTITION}",
    "modularity": f"Modularity by the noisy weights between communities and inside. {_DEFAULT_WEIGHT} {_PARTITION}",
    "normalized_cut_size": f"The noisy cut over each of the noisy volumes, moved into [0, 2]. {_PARTITION}",
    "number_connected_components": "The number of components, with noise.",
    "one_exchange": "A large cut by dpgraph.private_max_cut, and its weight with noise. initial_cut must be None.",
    "partition_quality": f"By the noisy numbers of edges inside and between the parts. {_PARTITION}",
    "randomized_partitioning": "A random cut, drawn without looking at the edges, and its weight with noise.",
    "spectral_bisection": "The signs of the second eigenvector of a private normalized adjacency. Needs "
    "normalized=True; tol and method are not used. Raises dpgraph.MechanismHalted where that eigenvector cannot be "
    f"released. {_DEFAULT_WEIGHT}",
    "triangles": "How many triangles there are in all, one number; nodes must be None. delta is not spent.",
    "transitivity": "The transitivity of dpgraph.private_transitivity, in [0, 1]; delta is not spent.",
    "volume": f"The sum of the degrees of S with noise. {_PARTITION}",
}
#: Functions that count every edge once.
_UNWEIGHTED = (
    "attribute_assortativity_coefficient", "attribute_mixing_matrix", "degree_centrality", "density",
    "densest_subgraph", "edge_connectivity", "label_propagation_communities", "number_connected_components",
    "partition_quality", "transitivity", "triangles",
)  # fmt: skip
_MECHANISM = {"mechanism : str, default 'auto'": "As in dpgraph.private_max_cut."}

#: Function that calls one of the above -> what to do instead. The backend refuses it: networkx would answer one part
#: privately and another exactly.
REFUSED: dict[str, str] = {
    "effective_graph_resistance": (
        "Its inverse has no bounded sensitivity; nx.laplacian_spectrum releases the eigenvalues with noise."
    )
}
#: What networkx asks of a private graph before it calls one of the above: public, whatever the edges are.
PUBLIC = {"is_partition": "Of the vertices, which are public: no edge is read, and nothing is spent."}
#: Functions that are answered privately.
ANSWERED = tuple(_FUNCTIONS)


def get_info() -> dict[str, Any]:
    """Metadata of the backend for the entry point ``networkx.backend_info``."""
    return {
        "backend_name": "dpgraph",
        "project": "dpgraph",
        "package": "dpgraph",
        "short_summary": "Differentially private answers (edge privacy); never falls back to exact ones.",
        "functions": {
            name: {
                "additional_docs": f"{text} (epsilon, delta)-differentially private.",
                "additional_parameters": _BUDGET
                | ({} if name in _UNWEIGHTED else _WEIGHT)
                | (_MECHANISM if name == "one_exchange" else {}),
            }
            for name, text in _FUNCTIONS.items()
        }
        | {
            name: {"additional_docs": f"Refused wherever an epsilon is given. {instead}", "additional_parameters": {}}
            for name, instead in REFUSED.items()
        }
        | {name: {"additional_docs": text, "additional_parameters": {}} for name, text in PUBLIC.items()},
        "default_config": {"epsilon": None, "delta": None, "max_weight": None},
    }
