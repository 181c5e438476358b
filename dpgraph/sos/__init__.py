"""Sum-of-squares solvers: relaxations, certificates, global correlation rounding. Nothing here sees private data.

References
----------
The modules cite these by name and year.

B. Barak, P. Raghavendra, D. Steurer, Rounding semidefinite programming hierarchies via global correlation, FOCS 2011.
N. Boumal, V. Voroninski, A. Bandeira, The non-convex Burer-Monteiro approach works on smooth semidefinite programs,
NIPS 2016, Theorem 2.
S. Burer, R. D. C. Monteiro, A nonlinear programming algorithm for solving semidefinite programs via low-rank
factorization, Mathematical Programming 95 (2003).
J. Charfreitag, M. Juenger, S. Mallach, P. Mutzel, McSparse: exact solutions of sparse maximum cut and sparse
unconstrained binary quadratic optimization problems, ALENEX 2022: data reduction for sparse weighted graphs.
M. E. Fisher, Transformations of Ising models, Physical Review 113 (1959): the star-triangle transformation.
A. Frieze, M. Jerrum, Improved approximation algorithms for MAX k-CUT and MAX BISECTION, Algorithmica 18 (1997).
K. Gatermann, P. A. Parrilo, Symmetry groups, semidefinite programs, and sums of squares, J. Pure Appl. Algebra 192
(2004).
A. George, J. W. H. Liu, The evolution of the minimum degree ordering algorithm, SIAM Review 31 (1989).
M. X. Goemans, D. P. Williamson, Improved approximation algorithms for maximum cut and satisfiability problems using
semidefinite programming, J. ACM 42 (1995).
V. Guruswami, A. K. Sinop, Lasserre hierarchy, higher eigenvalues, and approximation schemes for graph partitioning and
quadratic integer programming with PSD objectives, FOCS 2011.
N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002.
J. Houdayer, O. C. Martin, Renormalization for discrete optimization, Physical Review Letters 83 (1999).
D. S. Johnson, C. R. Aragon, L. A. McGeoch, C. Schevon, Optimization by simulated annealing: an experimental
evaluation; part I, graph partitioning, Operations Research 37 (1989).
B. W. Kernighan, S. Lin, An efficient heuristic procedure for partitioning graphs, Bell System Technical J. 49 (1970).
S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, Science 220 (1983).
J. B. Lasserre, Global optimization with polynomials and the problem of moments, SIAM J. Optim. 11 (2001).
T. G. J. Myklebust, Solving maximum cut problems by simulated annealing, arXiv:1505.03068, 2015.
P. A. Parrilo, Semidefinite programming relaxations for semialgebraic problems, Mathematical Programming 96 (2003).
P. Raghavendra, Optimal algorithms and inapproximability results for every CSP?, STOC 2008.
P. Raghavendra, N. Tan, Approximating CSPs with global cardinality constraints using SDP hierarchies, SODA 2012.
S. M. Rump, Verification of positive definiteness, BIT Numerical Mathematics 46 (2006), section 2.
P.-W. Wang, W.-C. Chang, J. Z. Kolter, The mixing method: low-rank coordinate descent for semidefinite programming
with diagonal constraints, arXiv:1706.00476, 2017.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpgraph.instance import TwoCSP
    from dpgraph.sos.moments.pseudo_distribution import (
        PseudoDistribution,
        global_correlation,
        independent_rounding,
        local_correlation,
    )
    from dpgraph.sos.moments.relaxation import lasserre

__all__ = [
    "PseudoDistribution",
    "TwoCSP",
    "global_correlation",
    "independent_rounding",
    "lasserre",
    "local_correlation",
]

# Imported on first use: some of them load numba.
_ELSEWHERE = {"TwoCSP": "dpgraph.instance", "lasserre": "dpgraph.sos.moments.relaxation"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _ELSEWHERE.get(name, "dpgraph.sos.moments.pseudo_distribution")
    return getattr(importlib.import_module(module), name)
