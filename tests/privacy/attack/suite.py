"""All targets in turn: by trials (the same in every run) or by processor time."""

import math
from collections.abc import Iterator, Sequence

from tests.privacy.attack.mutants import DRAWN, STABILITY, named_target, planned_target
from tests.privacy.attack.registry_attack import REGISTRY
from tests.privacy.attack.search import Attack, attack
from tests.privacy.attack.targets import targets

HEADER = "| function | line | worst ratio | knobs | trials |\n| --- | --- | --- | --- | --- |"
#: How much longer than others a target is searched: those with many steps, mechanisms and knobs.
_WEIGHTS = {
    "private_normalized_adjacency, coherence": 5.0,
    "private_normalized_adjacency": 3.0,
    "private_max_2csp": 3.0,
    "private_max_cut": 2.0,
    "private_max_bisection": 2.0,
    "private_degrees, large": 1.0,
    "private_max_k_cut": 2.0,
    STABILITY: 8.0,
    DRAWN: 8.0,
    REGISTRY: 12.0,
}
#: Trials of the quick version are a sixth of these: about as many as run in a tenth of a second.
_QUICK = {
    "private_normalized_adjacency, coherence": 40,
    "private_covariance": 150,
    "private_normalized_adjacency": 35,
    "private_max_cut": 14,
    "private_max_cut, pure": 30,
    "private_max_bisection": 20,
    "private_max_bisection, pure": 25,
    "private_degrees, large": 1,
    "private_max_2csp": 20,
    "private_max_k_cut": 16,
    "private_subgraph_counts": 40,
    "private_synthetic_graph": 25,
    "private_communities": 40,
    "private_projector": 40,
    "private_low_rank": 40,
    "private_eigenspace": 50,
    "private_singular_subspace": 120,
    "private_marginals": 10,
    "private_transitivity": 30,
    "private_symmetric_matrix": 40,
    "private_node_similarities": 40,
    "private_linear_queries": 80,
    "report": 12,
    "one_exchange": 16,
    "transitivity": 50,
    "degree_assortativity_coefficient": 30,
    "kernighan_lin_bisection": 60,
    "edge_connectivity": 60,
    "spectral_bisection": 40,
    "adjacency_spectrum": 100,
    "laplacian_spectrum": 100,
    "private_spectrum, certified": 3,
    STABILITY: 4,
    DRAWN: 4,
    REGISTRY: 40,
}
_QUICK_OTHERS = 120
#: One function answers these calls of networkx, with the same knobs:
#: six searches of a few trials, each with its own seed.
_COMMUNITIES = (
    "asyn_lpa_communities",
    "fast_label_propagation_communities",
    "greedy_modularity_communities",
    "label_propagation_communities",
    "leiden_communities",
    "louvain_communities",
)
_QUICK |= dict.fromkeys(_COMMUNITIES, _QUICK_OTHERS // len(_COMMUNITIES))


def names() -> list[str]:
    """Names of all targets."""
    return [*(t.name for t in targets()), STABILITY, DRAWN, REGISTRY]


def attack_quickly(name: str) -> Attack:
    """A fixed number of trials: the same search on every machine."""
    trials = (_QUICK.get(name, _QUICK_OTHERS) + 5) // 6
    seed = _COMMUNITIES.index(name) if name in _COMMUNITIES else 0
    if name == STABILITY:
        return attack(planned_target(seed, plans=3), seed=seed, trials=trials)
    return attack(named_target(name), seed=seed, trials=trials)


def share_of(name: str, chosen: Sequence[str]) -> float:
    """Share of the processor time."""
    return _WEIGHTS.get(name, 1.0) / math.fsum(_WEIGHTS.get(other, 1.0) for other in chosen)


def attack_all(chosen: Sequence[str], *, seconds: float, seed: int = 0) -> Iterator[Attack]:
    """Each target for its share of the processor time."""
    for name in chosen:
        share = seconds * share_of(name, chosen)
        if name == STABILITY:
            yield attack(planned_target(seed, seconds=share / 4), seed=seed, seconds=share * 3 / 4)
        else:
            yield attack(named_target(name), seed=seed, seconds=share)
