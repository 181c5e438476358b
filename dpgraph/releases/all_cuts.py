"""The noisily best of all cuts of a few vertices: report-noisy-max, sampled exactly."""

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.graph import WEIGHT_BITS, Graph
from dpgraph.privacy.call import Call
from dpgraph.typing import IntArray

#: Vertices whose 2**(n - 1) cuts are all weighed.
LARGEST = 20


def release_best_cut(graph: Graph, call: Call, *, balanced: bool = False) -> NDArray[np.int8]:
    """Release the 0/1 side of each of at most 20 vertices, one cut out of all (balanced) ones, purely.

    Notes
    -----
    *Mechanism.* Permute and flip: every cut is accepted with probability exp(eps (weight - largest
    weight)/w), and one of the accepted cuts is drawn uniformly. That is report-noisy-max with exponential noise of mean
    w/eps: cuts whose noisy weight reaches the largest exact weight are those accepted, at least one does, and their
    excess is again exponential, hence the largest of them uniform.

    *Guarantee.* A neighbour changes one pair, by at most w: either no cut loses weight, or none gains, and none changes
    by more than w. :func:`~dpgraph.bounds.sensitivity.label_scores` has the proof for scores that change in one
    direction. (For scores that may change in both twice w would be needed.)

    References
    ----------
    R. McKenna, D. Sheldon, "Permute-and-Flip", NeurIPS 2020: never worse than the exponential mechanism of F. McSherry,
    K. Talwar, FOCS 2007; Z. Ding et al., arXiv:2105.07260: its equivalence with exponential noise.
    """
    n, w = graph.n_vertices, graph.max_weight
    bound = sensitivity.partition_weight(w)
    call.scale("best of all cuts", bound, law="permute and flip")
    weights = np.rint(graph.multiply(np.eye(n)) / w * 2.0**WEIGHT_BITS).astype(np.int64)
    codes = np.arange(1 << (n - 1))
    if balanced:
        ones = np.bitwise_count(codes)
        codes = codes[(ones == n // 2) | (ones == n - n // 2)]
    best = codes[call.noise.noisy_best(_cut_weights(weights)[codes], call.epsilon)]
    return np.asarray(best >> np.arange(n) & 1, dtype=np.int8)


def _cut_weights(A: IntArray) -> IntArray:
    """Weights of all cuts; bit k of a position is the side of vertex k, and the last vertex is on side 0."""
    weights = np.zeros(1, dtype=np.int64)
    for k in range(len(A)):
        across = np.zeros(1, dtype=np.int64)  # from vertex k on side 0 to those before it
        for a in A[k, :k]:
            across = np.concatenate([across, across + a])
        if k == len(A) - 1:
            return weights + across
        weights = np.concatenate([weights + across, weights + A[k, :k].sum() - across])
    return weights
