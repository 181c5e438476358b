"""What has been changed on purpose since the outputs were frozen: label -> why.

A case whose label one of these patterns matches may differ. Every entry says what changed, so that this file is the list
of all changes that users can see in seeded outputs.
"""

# ruff: noqa: E501
from __future__ import annotations

import re

__all__ = ["reason"]

#: Scales of noise that are the same number by another order of operations: they differ in the last bit.
LAST_BIT = "shares of a budget are multiplied in another order; a scale differs in its last bit"
LAPLACE = "pure Laplace noise where its expected error is smaller"
READING = "the variance of a reading is that of a row of one number, by the same formula: it differs in its last bit"
STABILITY = "a stability test is planned along one predicted path, so that it takes another share of the budget, or another curve"
RULE = "auto of an embedding: the residual decides for one vector; for more, answers up to twice the noise of products, else a bit says if degrees are uneven or fewer than 10 sqrt(2 r)/mu"
SUBSPACES = "auto takes products for a given rank: on no table is another strategy better"
KRYLOV = "a general matrix is multiplied by a noisy block Krylov space: other products, and no release for the core"
QUALITY = "the repr of a subspace says how good it is: estimated_sine and converged"
VECTOR = "a single vector: products are of a matrix nearer to the adjacency matrix above epsilon = 0.5, questions before them cost no more from epsilon = 2 on, whether degrees are far from the vector is asked more precisely"
POSTERIOR = "posterior means of rows are summed in another order: last digits, and 2e-6 in one case where message passing magnifies them (clique 150)"

#: Their partitions are the same.
DRAWS = "the exact solver, on what is released, draws another count of random numbers, so that the noise of the estimate, drawn after it, is another"

#: So the budget of what a mechanism releases is a fortieth smaller, and some calls halt.
CHANCE = "coherence releases the advantage of its answer over chance, and halts where there is none; paper's set (7.2) has no zero diagonal"

#: The law is the same.
STREAM = "exact coins and geometric numbers take one random word each, so that the same seed draws other noise"

#: One law decides how often rows are read, for cuts, labels and tables; one filter, one sharpness, no first rows.
SWEEPS = "sweeps have nine fitted numbers in place of thirty-one: other numbers of readings, other shares for the degrees; `noise=` is gone"

CHANGED = {
    r"private_max_(cut|bisection|k_cut|2csp)\((?!.*mechanism=(coherence|gaussian|noisy-power|randomized-response|permute-and-flip))": SWEEPS,
    r"(networkx one_exchange\(|save_result\(.* function=private_max_|plot\(\) kind=plot_cut|command line\(\) line=(max-cut|max-bisection|csp) )": SWEEPS,
    r"(private_degree_distribution\(|networkx degree_histogram|synthetic graph\()": "windows of the expected numbers of vertices of a degree are an eighth of it on either side",
    r"(private_transitivity|private_subgraph_counts)\(": "half of epsilon for triangles and half for wedges; half for the bounds of local sensitivity",
    r"private_max_(k_cut|2csp)\(.* mechanism=core-response ": "the strategy is gone: auto never took it, and it earned no more on any fresh input",
    r".*mechanism=(randomized-response|permute-and-flip)": STREAM,
    r"(private_subgraph_counts|private_node_similarities)\(": STREAM,
    r"private_max_(cut|bisection)\(five-cycle\) epsilon=": STREAM,
    r"private_transitivity\(.* mechanism=ladder ": STREAM,
    r"networkx spectral_bisection\(": STREAM,
    r"(private_communities\(|sklearn\(.* estimator=PrivateCommunities )": STREAM,
    r"embedding\(planted 45\) mechanism=auto rank=2 epsilon=4 ": STREAM,
    r"private_max_(cut|bisection|2csp)\(.* mechanism=coherence ": CHANCE,
    r"(private_marginals\(|tables\(bits 400\)|plot\(\) kind=plot_marginal|command line\(\) line=marginals )": "tables move towards those of a forest as far as noisy parities agree with it",
    r"(private_degree_distribution\(|plot\(\) kind=plot_degree_distribution|command line\(\) line=degree-distribution |networkx degree_histogram)": "numbers of vertices of each degree are near a rate: their mean given the readings, in place of isotonic regression",
    r"private_max_(cut|bisection)\(.*\) (mechanism=(gaussian|noisy-power|randomized-response|coherence|auto noise=laplace)|epsilon=(4|6.5|8|10|16) )": DRAWS,
    r"(networkx one_exchange\(.*\) epsilon=(4|16) |save_result\(planted 45\) function=private_max_cut epsilon=4 |plot\(\) kind=plot_cut)": DRAWS,
    r"(datasets.available\(\)|command line\(\) line=datasets list)": "a real network is bundled: us-flights",
    r"(private_covariance\(|sklearn\(records 40\) estimator=PrivatePCA)": "max_norm is shown",
    r"max_(cut|bisection|2csp)\(": "upper bounds are floored to what a solution can be worth: multiples of the common divisor; cutting planes tighten those of small and sparse graphs; the local search of cuts takes more steps",
    r"sos.lasserre\(unary\) degree=4": "up to 80 rows are solved by interior points, which are more accurate",
    r"(synthetic graph\(|command line\(\) line=synthesize )": "two sweeps are not equal, rows of large degree read each other twice and learn their degrees so, more is spent on degrees, the degree distribution is the mean given the readings",
    r"(private_communities\(weighted 80\) epsilon=8 |sklearn\(heavy 800\) estimator=PrivateCommunities |command line\(\) line=communities planted-bisection --output labels.csv --epsilon 2 )": "communities of answers of a core are divided again, where a part stands out of the noise inside",
    r"private_normalized_adjacency\(.*mechanism=auto rank=1 epsilon=(1|2|3|4) ": VECTOR,
    r"private_normalized_adjacency\(.*mechanism=noisy-power rank=1 regularization=3.0 epsilon=(4|16) ": VECTOR,
    r"private_normalized_adjacency\((few|uneven|regular) 400\) mechanism=auto rank=2 epsilon=(2|3) ": RULE,
    r"private_normalized_adjacency\((clique 150|random 120)\) mechanism=auto rank=2 epsilon=(0.3|1) ": RULE,
    r"private_normalized_adjacency\((hubs 500|heavy 800)\) mechanism=auto rank=2 epsilon=(3|4) ": RULE,
    r"command line\(\) line=embed planted-cut ": RULE,
    r"command line\(\) line=.*--report ": "a report says that there was a seed, and not which",
    r"private_degrees\(planted 24\) mechanism=gaussian epsilon=1 seed=0": "the error that delta is needed names the pure mechanism",
    r"networkx degree_centrality\(.*\) epsilon=\S+ delta=1e-06": "degrees get the law of smaller standard deviation",
    r"save_result\(planted 45\) function=private_degrees": "private_degrees: delta is 0 by default, and the law of smaller standard deviation is taken",
    r"accounting\(\)": "private_degrees: delta is 0 by default, and the law of smaller standard deviation is taken; an accountant takes a seed once, so that the second call has another",
    r"plan\(\) ": "a plan is of cuts or communities only: the noise of degrees and spectra is what those functions print in a dry run",
    r"command line\(\) line=max-(cut|bisection) ": "--option in place of --rank, which a report no longer holds; --delta is 0 by default; disjoint lines are called so",
    r"command line\(\) line=(degrees|max-cut .*--dry-run)": "--delta is 0 by default, and the law of smaller standard deviation is taken",
    r"private_max_(cut|bisection)\((middle 400|weighted 300|planted-bisection|planted 45)\)( mechanism=(auto|bounded-iterates))?( noise=auto)? epsilon=(1|2|4) ": "signs are read once in sparse graphs, else min(epsilon sqrt(d), d)/2 times, 4 to 24: other numbers of readings",
    r"private_max_cut\((even 2600|heavy 1500)\) epsilon=1 ": "signs are read once in sparse graphs, else min(epsilon sqrt(d), d)/2 times",
    r"private_max_(cut|bisection)\(planted-bisection\) mechanism=auto noise=laplace epsilon=1 ": "auto without delta may take any pure strategy, so also repeated sweeps",
    r"private_normalized_adjacency\((planted 45|planted-cut)\) mechanism=noisy-power rank=1 regularization=3.0 epsilon=(0.3|4) ": READING,
    r"private_normalized_adjacency\((few|uneven|regular|clique|hubs|heavy|random|weighted) \d+\) mechanism=auto rank=1 epsilon=(0.3|4) ": READING,
    r"formulas\(\)": "the bound on cosines of neighbourhoods for one edge is gone: entry by entry they lose to private_node_similarities in every cell",
    r"projections\(symmetric": "bounds on a diagonal are a box, of which dykstra carries the bounded entries only: other last digits",
    r"(tables\(bits 60\)|plot\(\) kind=plot_marginal)": LAPLACE,
    r"private_cosine_similarities\(": "the matrix is the field `entries`, beside the labels of its rows; its numbers are the same",
    r"private_max_2csp\(.* adjacency=constraint noise=auto ": "readings of whole tables get noise for the range of their rows, less than for each number by itself",
    r"private_max_2csp\(": LAST_BIT,
    r"(private_max_(cut|bisection|2csp|k_cut)|networkx one_exchange|command line)\(.*(noise=gaussian|noise gaussian)": "bounded iterates have no Gaussian noise: the pure ones cut as much or more on every input of the tables",
    r"private_max_(2csp|k_cut)\(.*delta=1e-06 ": "bounded iterates are pure also with a delta, and labels are read again as often as the degree at the end of a typical edge pays for",
    r"(datasets\.read_csp\(\)|command line\(\) line=csp .*\.(col|cnf) )": "instances are read from JSON only, and no longer written: any JSON writer does it",
    r"private_normalized_adjacency\(.* core_noise=wishart-difference ": "the core has Gaussian noise only: pure noise, which did not make the call pure, was 1.25 sqrt(r + 1) times larger",
    r"private_normalized_adjacency\((few|regular) 400\) mechanism=auto rank=1 epsilon=4 ": LAST_BIT,
    r"private_normalized_adjacency\(weighted 80\) mechanism=auto rank=1 epsilon=3 ": LAST_BIT,
    r"private_marginals\(bits 60\) k=2 adjacency=replace epsilon=4 ": LAPLACE,
    r"private_marginals\(bits \d+\) k=2 sparsity=2 (adjacency=add-remove )?epsilon=4 ": LAPLACE,
    r"private_marginals\(bits 400\) k=2 sparsity=2 (adjacency=add-remove )?epsilon=0.3 ": LAPLACE,
    r"command line\(\) line=marginals ": LAPLACE,
    r"command line\(\) line=covariance ": "a pure report says delta: 0.0 where it said null",
    r"(private_linear_queries\(.*mechanism=auto|linear_queries\()": "auto takes pure Laplace noise where its expected error is smaller; delta is 0 by default",
    r"private_marginals\(.*(solver=|geometry=)": "one solver and one distribution of the noise: the others were peers, which are in benchmarks/",
    r"(private_)?linear_queries\(": "C x is an exact product: answers move by less than 1e-10 of the largest, scales lose a term that grew with the number of records",
    r"l1_hulls\(": "the nearest point of an l1 hull is found by nonnegative least squares: other last bits",
    r"(private_(normalized_adjacency|max_cut|max_bisection)|embedding)\(.*mechanism=coherence (?!.*gap-and-coherence)": STABILITY,
    r"private_normalized_adjacency\((planted 45|planted-cut)\) epsilon=": STABILITY,
    r"private_projector\(.*certificate=stability ": STABILITY,
    r"private_projector\(.*mechanism=noisy-power ": KRYLOV,
    r"private_low_rank\(.* rank=2 mechanism=noisy-power ": KRYLOV,
    r"private_projector\(low rank 200\) rank=auto epsilon=0.3 ": "a projector halts where its noise would leave nothing of it",
    r"private_projector\(.* rank=auto (max_rank=2 )?epsilon": QUALITY,
    r"private_low_rank\(low rank \d+\) epsilon": QUALITY,
    r"private_eigenspace\(low rank \d+\) epsilon": QUALITY,
    r"private_projector\(.* rank=3 ": SUBSPACES,
    r"private_low_rank\(.* rank=2 epsilon": SUBSPACES,
    r"private_eigenspace\(.* rank=1 ": SUBSPACES,
    r"private_singular_subspace\(": "noise on both projectors, not on the blocks beside them; products for a given rank",
    r"private_spectrum\(wide ": "singular values of a rectangular matrix move by Delta, not by sqrt(2) Delta",
    r"max_cut\((sparse 500|no edges)\) seed=": "vertices of up to two neighbours are eliminated before the relaxation: the bound of sparse 500 falls from 397.22 to 394.55",
    r"max_2csp\(differ (24|90)\) seed=": "the vertex that stands for label 0 has no edge, and is eliminated: another of the optimal assignments",
    r"private_normalized_adjacency\(.*mechanism=(noisy-power|randomized-response|auto|coherence .*gap-and-coherence) ": POSTERIOR,
    r"(private_node_similarities\(.*mechanism=noisy-power|embedding\(weighted 80\)|sklearn\(.*PrivateSpectralEmbedding) ": POSTERIOR,
    r"perturb_and_project\(": "a private projection is itself the result, not a field of it; its numbers are the same",
    r"plot\(\) kind=plot_(correlation_trace|privacy_utility)": "names stand at the ends of lines in place of a legend",
    r"private_(subgraph_counts|transitivity)\(.*mechanism=local-sensitivity ": "bounds on widths take the quantile of the noise that is drawn: a slack is up to scale ln(1/delta)/1000 smaller or larger",
    r"private_transitivity\(.*mechanism=smooth ": "intervals of Cauchy noise are those of its integers",
    r"max_(cut|2csp)\(.*relaxation=(lasserre|admm) ": "exact moments are searched as the other relaxations are, by a beam, not by a label drawn in each round",
}


def reason(label: str) -> str | None:
    """Why this case may differ, or None if it must not."""
    return next((why for pattern, why in CHANGED.items() if re.match(pattern, label)), None)
