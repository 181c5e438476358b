"""A search over graphs, neighbours and all public knobs finds no line of any ledger that moves by more than it says.

How the search works: :mod:`tests.privacy.attack`. Results: docs/audit.md.
"""

import os
import re

import pytest

from tests.privacy import test_mutants
from tests.privacy.attack import planted
from tests.privacy.attack.bound_attack import bound_targets
from tests.privacy.attack.hooks import open_taps
from tests.privacy.attack.mutants import DRAWN, attack_under
from tests.privacy.attack.search import SLACK, attack
from tests.privacy.attack.suite import attack_all, attack_quickly, names, share_of

#: Processor time of the long version, all targets together.
SECONDS = float(os.environ.get("DPGRAPH_ATTACK_SECONDS", "360"))


@pytest.fixture
def taps(monkeypatch):
    open_taps(monkeypatch)


def check(found):
    lines = [
        f"{line}: {best.ratio:.9g} {best.remark} at {found.target.describe(best.genome)} (trial {best.trial})"
        for line, best in found.broken().items()
    ]
    assert not lines, f"{found.target.name}\n" + "\n".join(lines)
    answered = found.statuses["answered"] + found.statuses["halted"]
    assert answered > found.trials / 3, f"most calls had no answer, so the search tests little: {found.statuses}"


@pytest.mark.usefixtures("taps")
@pytest.mark.parametrize("name", names())
def test_no_line_of_a_ledger_moves_by_more_than_its_sensitivity(name):
    check(attack_quickly(name))


@pytest.mark.slow
@pytest.mark.usefixtures("taps")
@pytest.mark.parametrize("name", names())
def test_nor_does_a_long_search_find_one(name):
    for found in attack_all([name], seconds=SECONDS * share_of(name, names()), seed=1):
        check(found)


#: Fault -> (target, line that breaks, least ratio that shows it, trials, the seed if it is not 0).
PLANTED = {
    planted.entries_clipped: ("private_covariance", "line: (augmented )?covariance", 1.05, 900),
    # two of 24 seeds find it in so many trials, half of all in 300
    planted.small_numbers_from_large_ones:
        ("private_normalized_adjacency, coherence", "line: projector", 10.0, 60, 20),
    planted.path_across_kinks: (DRAWN, r"steps to instability \(states\)", 1.02, 40),
    planted.certificate_not_charged: ("private_spectrum, certified", "delta", 2.0, 2),
    planted.fine_grid_kept: ("private_degrees", "support", 2.0, 60),
    planted.tiny_epsilon_answers: ("private_max_cut, pure", "line: adjacency bits", 10.0, 60),
    planted.unit_is_no_power_of_two: ("private_max_cut, pure", "support", 2.0, 60),
    planted.sums_in_floating_point: ("private_linear_queries", "line: linear queries", 1.0, 400),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_a_fault_that_the_package_once_had_is_found(fault):
    function, line, least, trials, *seed = PLANTED[fault]
    broken = attack_under(fault, function, trials=trials, seed=seed[0] if seed else 0).broken()
    assert max((best.ratio for name, best in broken.items() if re.fullmatch(line, name)), default=0.0) > least


@pytest.mark.slow
def test_clipping_is_found_in_a_general_matrix_too():
    found = attack_under(planted.entries_clipped, "private_symmetric_matrix", trials=300)
    assert found.broken()["line: symmetric matrix"].ratio > 1.5


#: Faults of test_mutants.py: (target, trials) after which a search has found them.
OLD = {
    test_mutants.noise_halved: ("private_degrees", 600),
    test_mutants.one_endpoint_of_the_degrees_forgotten: ("private_degrees", 60),
    test_mutants.one_endpoint_of_the_fields_forgotten: ("private_max_cut", 60),
    test_mutants.spectrum_charged_as_one_eigenvalue: ("private_normalized_adjacency, coherence", 20),
    test_mutants.degrees_published_without_noise: ("private_normalized_adjacency", 40),
    test_mutants.degrees_reused_without_noise: ("private_max_cut", 150),
    test_mutants.core_is_looked_at_again: ("private_max_cut", 80),
    test_mutants.rows_read_ahead: ("private_max_k_cut", 60),
    test_mutants.queries_of_one_end_forgotten: ("private_max_cut", 200),
    test_mutants.noise_of_queries_halved: ("private_max_cut", 250),
    test_mutants.too_few_answers_are_false: ("private_max_cut, pure", 80),
    test_mutants.residual_told_without_noise: ("private_normalized_adjacency", 250),
    test_mutants.exact_graph_is_cut_in_place_of_the_answers: ("private_max_cut, pure", 20),
    test_mutants.best_cut_is_drawn_at_twice_epsilon: ("private_max_cut, pure", 20),
    test_mutants.exact_value_in_a_result_field: ("private_max_cut", 10),
    test_mutants.scale_that_depends_on_the_data: ("private_normalized_adjacency", 250),
    test_mutants.number_of_releases_depends_on_the_data: ("private_degrees", 120),
    test_mutants.nuclear_noise_at_the_scale_of_the_larger_trace: ("private_covariance", 40),
    test_mutants.differences_charged_from_the_mean: ("private_linear_queries", 20),
    test_mutants.columns_charged_in_l2_for_laplace_noise: ("private_linear_queries", 400),
    test_mutants.noise_of_the_hull_halved: ("private_linear_queries", 5000),
    test_mutants.rounding_of_scores_not_charged: ("private_max_k_cut", 400),
    test_mutants.edges_of_a_cut_counted_at_both_ends: ("private_max_cut", 20),
    test_mutants.parts_of_a_report_have_the_whole_budget_each: ("report", 20),
    test_mutants.an_edge_moves_a_statistic_by_half: ("private_statistic", 20),
    test_mutants.rounds_of_peeling_count_both_ends: ("private_densest_subgraph", 20),
    test_mutants.second_order_of_exact_queries: ("private_densest_subgraph", 20),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", OLD, ids=lambda fault: fault.__name__)
def test_a_search_finds_what_replay_and_audit_find(fault):
    function, trials = OLD[fault]
    assert attack_under(fault, function, trials=trials).broken()


#: Faults of test_mutants.py that only the registry's inputs show: (entries, line that breaks, trials).
REGISTERED = {
    test_mutants.scale_halved_after_the_ledger: ("private_degrees, mechanism=gaussian", "outcome", 20),
    test_mutants.budget_charged_after_the_fact: ("private_degrees", "debit", 20),
    test_mutants.budget_refunded_on_failure: ("private_degrees", "debit", 20),
    test_mutants.shape_that_depends_on_the_data: ("private_spectrum", "outcome", 60),
    test_mutants.right_projector_forgotten: ("private_singular_subspace", "line: projector", 20),
    test_mutants.longest_row_of_products_halved:
        ("private_singular_subspace, rank=2, mechanism=noisy-power", "line: left product k", 30),
    test_mutants.rows_of_products_taken_for_alike: ("private_low_rank", "line: product k", 20),
    test_mutants.basis_of_products_not_orthonormal: ("private_low_rank", "line: product k", 20),
    test_mutants.products_steer_without_noise: ("private_low_rank", "outcome", 20),
    test_mutants.sweeps_steer_without_noise:
        ("private_max_cut, mechanism=bounded-iterates", "line: fields, k sweeps", 20),
    test_mutants.log_coherence_at_half_its_bound: ("private_coherence", "line: log-coherence", 100),
    test_mutants.tables_at_the_price_of_edges:
        ("private_max_2csp, adjacency=constraint, mechanism=auto", "line: assignment weight", 20),
    test_mutants.labels_by_themselves_at_the_price_of_one:
        ("private_max_k_cut, k=3, delta=0.0, mechanism=bounded-iterates", "line: fields, k sweeps", 20),
}  # fmt: skip
#: The same for faults that take longer to find.
REGISTERED_SLOW = {
    test_mutants.ends_of_a_new_edge_forgotten:
        ("networkx degree_assortativity_coefficient", "line: edge-degrees count", 1500),
    test_mutants.noise_of_a_replaced_record_halved:
        ("private_covariance, adjacency=replace, mechanism=wishart-difference",
         "noise: wishart-difference, larger trace", 700),
    # of eight seeds seven need fewer than a hundred
    test_mutants.core_sees_the_other_rows: ("private_max_cut, mechanism=bounded-iterates", "loss", 400),
    test_mutants.rows_without_a_label_are_counted:
        ("private_communities, mechanism=bounded-iterates", "loss", 40),
    test_mutants.rows_of_labels_at_half_their_price:
        ("private_max_k_cut, k=3, delta=0.0, mechanism=bounded-iterates", "line: fields, k sweeps", 20),
    test_mutants.questions_about_degrees_at_half_their_price:
        ("private_normalized_adjacency, mechanism=auto, rank=1, regularization=auto",
         "line: squared length of degrees", 400),
    test_mutants.degrees_decide_at_half_their_price:
        ("private_normalized_adjacency, mechanism=auto, rank=2", "line: choice by degrees", 60),
    test_mutants.weights_of_constraints_not_capped:
        ("private_max_2csp, adjacency=constraint, mechanism=auto", "line: degrees", 300),
    planted.noise_of_rows_halved:
        ("private_max_k_cut, k=2, delta=0.0, mechanism=bounded-iterates", "noise: K-norm", 60),
}  # fmt: skip


@pytest.mark.parametrize(
    "fault",
    [*REGISTERED, *(pytest.param(fault, marks=pytest.mark.slow) for fault in REGISTERED_SLOW)],
    ids=lambda fault: fault.__name__,
)
def test_a_search_from_the_inputs_of_the_registry_finds_what_random_inputs_do_not_show(fault):
    function, line, trials = (REGISTERED | REGISTERED_SLOW)[fault]
    found = attack_under(fault, f"registry: {function}", trials=trials)
    assert line in found.broken()
    assert not attack_under(None, f"registry: {function}", trials=found.trials).broken()


#: Counts whose noise is drawn at another scale than the ledger was told: replay sees it, a search among neighbours not.
UNSEEN = {test_mutants.first_rows_at_half_their_price}


def test_every_fault_of_the_other_checks_is_found_by_a_search():
    assert {*test_mutants.MUTANTS} - UNSEEN <= {*OLD, *REGISTERED, *REGISTERED_SLOW}


def test_a_planted_fault_is_found_and_gone_afterwards():
    name = "line: degrees"
    broken = attack_under(test_mutants.one_endpoint_of_the_degrees_forgotten, "private_degrees", trials=60, stop=False)
    assert broken.lines[name].ratio > 1.4  # sqrt(2), by the missing end
    assert attack_under(None, "private_degrees", trials=60, stop=False).lines[name].ratio <= 1 + SLACK


TARGETS = {target.name: target for target in bound_targets()}
#: Trials that take about a second.
TRIALS = {
    "weight between grid points": 3000,
    "noisy choice": 600,
    "queries of a row": 4000,
    "queries of labels": 1500,
    "good event": 60,
}


@pytest.mark.parametrize("name", TARGETS)
def test_no_bound_is_exceeded_and_each_is_nearly_attained(name):
    found = attack(TARGETS[name], seed=0, trials=TRIALS[name])
    (best,) = found.lines.values()
    assert best.ratio <= 1, TARGETS[name].describe(best.genome)  # whole steps and exact sums: no slack
    assert best.ratio > 0.99


@pytest.mark.parametrize(
    ("mutant", "name"),
    [
        (planted.half_to_even, "weight between grid points"),
        (planted.public_and_private_rounded_together, "noisy choice"),
        (planted.queries_of_one_end, "queries of a row"),
        (test_mutants.labels_by_themselves_at_the_price_of_one, "queries of labels"),
        (planted.normal_quantile, "good event"),
    ],
)
def test_a_fault_of_a_bound_is_found(mutant, name, monkeypatch):
    mutant(monkeypatch)
    assert attack(TARGETS[name], seed=0, trials=TRIALS[name], stop=True).worst > 1
