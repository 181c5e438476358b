"""Deliberate faults: each must be caught by a check that passes on the real package.

mutants.md beside this file lists which check catches which fault; the last test keeps that table true.
"""

import dataclasses
import functools
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dpgraph.bounds import sensitivity, spectra
from dpgraph.bounds.neighbours import MatrixNeighbours
from dpgraph.exceptions import BudgetExceededError, InvalidGraphError
from dpgraph.graph import WeightGrid
from dpgraph.interfaces.report import sections
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.privacy import PrivacyAccountant, exact_sampling
from dpgraph.privacy import accountant as accountant_module
from dpgraph.privacy.call import Call, Released
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.matrix_noise import MatrixLaw
from dpgraph.privacy.noise import NoiseSource
from dpgraph.privacy.row_norm import NUMBER
from dpgraph.problems import labels as label_problems
from dpgraph.problems.counts import degrees as degree_problem
from dpgraph.problems.matrices import diagnostics
from dpgraph.problems.records import encodings
from dpgraph.releases import all_cuts
from dpgraph.releases import answers as randomized_response
from dpgraph.releases import densest as peeling
from dpgraph.releases import normalized as normalized_adjacency
from dpgraph.releases import totals as weights
from dpgraph.releases.constraints import RelatedEdges
from dpgraph.releases.eigenspaces import krylov, spectrum
from dpgraph.releases.records import histogram as histogram_release
from dpgraph.releases.records import moments as covariance_noise
from dpgraph.releases.sweeps import communities as community_sweeps
from dpgraph.releases.sweeps import core as degree_core
from dpgraph.releases.sweeps.iteration import Core, RowSensitivity, query_law
from tests.privacy.registry import ENTRIES
from tests.privacy.replay import (  # noqa: F401
    RecordingSource,
    doors,
    replay,
    replayed_communities,
    replayed_residuals,
)
from tests.privacy.statistical import audit
from tests.privacy.test_choices import choices, rounding_of_scores_not_charged

pytestmark = pytest.mark.usefixtures("doors")

DOCS = Path(__file__).with_name("mutants.md")


def entry_of(function, **options):
    return next(e for e in ENTRIES if e.function == function and options.items() <= e.options.items())


DEGREES = entry_of("private_degrees", mechanism="gaussian")
CUT = entry_of("private_max_cut", mechanism="bounded-iterates")
VECTOR = entry_of("private_normalized_adjacency", mechanism="noisy-power", rank=1)
TOGETHER = CUT
LABELS = entry_of("private_max_k_cut", mechanism="bounded-iterates", delta=0.0, k=3)
ADJACENCY = entry_of("private_normalized_adjacency", mechanism="gaussian")
SPECTRAL = entry_of("private_normalized_adjacency", mechanism="coherence", rank=2)
SPECTRUM = entry_of("private_spectrum", k=3)
SINGULAR = entry_of("private_singular_subspace", rank=1, mechanism="coherence")
PRODUCTS = entry_of("private_low_rank", mechanism="noisy-power")
SINGULAR_PRODUCTS = entry_of("private_singular_subspace", mechanism="noisy-power")
ANSWERS = entry_of("private_max_cut", mechanism="randomized-response")
POWER = entry_of("private_normalized_adjacency", mechanism="noisy-power")
BEST_CUT = entry_of("private_max_cut", mechanism="permute-and-flip")
COMMUNITIES = entry_of("private_communities", mechanism="bounded-iterates")
K_CUT = entry_of("private_max_k_cut", k=3)
REPORT = entry_of("report")
STATISTIC = entry_of("private_statistic", statistic="matching")
DENSEST = entry_of("private_densest_subgraph")
ASSORTATIVITY = entry_of("degree_assortativity_coefficient")
COVARIANCE = entry_of("private_covariance", adjacency="replace", mechanism="wishart-difference")
SWEPT = entry_of("private_communities", mechanism="auto")
DECIDED = entry_of("private_normalized_adjacency", mechanism="auto", rank=2)
COHERENCE = entry_of("private_coherence", rank=2)
TABLES = entry_of("private_max_2csp", adjacency="constraint")
QUERIES = entry_of("private_linear_queries", adjacency="replace", mechanism="gaussian")
PURE_QUERIES = entry_of("private_linear_queries", mechanism="laplace")
HULL = entry_of("private_linear_queries", mechanism="k-norm")
ELLIPSOID = entry_of("private_linear_queries", mechanism="k-norm", sparse=False)
FACTORS = entry_of("private_linear_queries", mechanism="factorization")


# --- the checks ------------------------------------------------------------------------------------------------


def replays(entry, stride=3):
    """Replays of some neighbours of an entry, each of which raises AssertionError where the guarantee is broken."""
    for _, data, neighbour in entry.pairs[::stride]:
        for epsilon in (1.0, 8.0, 1e4):  # one look at every row; a core; all rows in the core
            call = functools.partial(entry.call, epsilon=epsilon)
            yield functools.partial(
                replay, *(lambda rng, d=d, call=call: call(d, rng=rng) for d in (data, neighbour)), seed=0
            )


def replay_check(entry):
    for again in replays(entry):
        again()


def first_rows_check(_):
    for _ in replayed_communities():
        pass


def residual_check(_):
    for _ in replayed_residuals():
        pass


def choices_check(entry):
    for _ in choices(entry, "noisy maximum"):
        pass


def audit_check(entry):
    finding = audit(entry, 400)
    assert finding.found <= finding.promised, f"the audit found {finding.found:.2f} of {finding.promised:.2f}"


def order_check(entry):
    """A call that does not fit is refused before the data is read."""
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    try:
        entry.call(entry.poisoned, rng=0, epsilon=2.0, accountant=accountant)
    except BudgetExceededError:
        return
    except InvalidGraphError:
        raise AssertionError("the data was read before the budget was debited") from None


def refund_check(entry):
    """A call that fails on the data stays charged."""
    accountant = PrivacyAccountant(epsilon=3.0, delta=1e-6)
    try:
        entry.call(entry.poisoned, rng=0, epsilon=2.0, accountant=accountant)
    except InvalidGraphError:
        assert accountant.spent.epsilon > 1.99, "the budget was refunded"


# --- the faults ------------------------------------------------------------------------------------------------


def noise_halved(monkeypatch):
    draw = NoiseSource.gaussian
    monkeypatch.setattr(NoiseSource, "gaussian", lambda self, shape, scale: draw(self, shape, scale / 2))


def scale_halved_after_the_ledger(monkeypatch):
    scale = Ledger.gaussian
    monkeypatch.setattr(Ledger, "gaussian", lambda self, *a, **k: scale(self, *a, **k) / 2)


def one_endpoint_of_the_degrees_forgotten(monkeypatch):
    monkeypatch.setattr(sensitivity, "degrees_l2", lambda w, pairs=1: w)


def one_endpoint_of_the_fields_forgotten(monkeypatch):
    monkeypatch.setattr(sensitivity, "row_release", lambda w, row_norm=1.0: w * row_norm)


def spectrum_charged_as_one_eigenvalue(monkeypatch):
    monkeypatch.setattr(spectra, "frobenius", lambda w, m: 0.5 * w / m)


def right_projector_forgotten(monkeypatch):
    monkeypatch.setattr(spectra, "singular_projectors", spectra.general_projector)


def longest_row_of_products_halved(monkeypatch):
    exact = MatrixNeighbours.product
    monkeypatch.setattr(MatrixNeighbours, "product", lambda self, Q: exact(self, Q) / 2)


def rows_of_products_taken_for_alike(monkeypatch):
    monkeypatch.setattr(
        MatrixNeighbours, "product", lambda self, Q: self.norm * math.sqrt(float(np.mean(np.sum(Q**2, axis=1))))
    )


def basis_of_products_not_orthonormal(monkeypatch):
    flattened, bound = krylov._flattened, MatrixNeighbours.product
    monkeypatch.setattr(krylov, "_flattened", lambda Q, share: 3 * flattened(Q, share))
    monkeypatch.setattr(MatrixNeighbours, "product", lambda self, Q: bound(self, Q / np.linalg.norm(Q, axis=0)))


def products_steer_without_noise(monkeypatch):
    product, released = krylov._Symmetric.product, krylov._Gram._released

    def exact(self, basis, call):
        return np.asarray(self._matrix @ basis), product(self, basis, call)[1]

    def exact_side(self, name, matrix, basis, call):
        return np.asarray(matrix @ basis) / self.unit, released(self, name, matrix, basis, call)[1]

    monkeypatch.setattr(krylov._Symmetric, "product", exact)
    monkeypatch.setattr(krylov._Gram, "_released", exact_side)


def degrees_published_without_noise(monkeypatch):
    release = weights.release_degrees

    def exact(graph, call):
        return release(graph, call)._replace(value=graph.degrees())

    monkeypatch.setattr(normalized_adjacency, "release_degrees", exact)


def degrees_reused_without_noise(monkeypatch):
    """The noisy degrees are published, but the exact ones steer the iteration."""
    release = weights.release_degrees

    def exact(graph, call):
        return release(graph, call)._replace(value=graph.degrees())

    monkeypatch.setattr(degree_core, "release_degrees", exact)


def core_sees_the_other_rows(monkeypatch):
    """The sweeps of the core take a guess for the rows outside it, whose look spends the budget again all the same."""
    release = degree_core.release_repeated_sweeps

    def guessed(iteration, variances, core, *arguments, **options):
        def fields(block, X):
            guess = X.copy()
            if block[0] in core.rows:
                guess[core.others] = 1.0
            return iteration.oracle.fields(block, guess)

        oracle = dataclasses.replace(iteration.oracle, fields=fields)
        return release(dataclasses.replace(iteration, oracle=oracle), variances, core, *arguments, **options)

    monkeypatch.setattr(degree_core, "release_repeated_sweeps", guessed)


def core_is_looked_at_again(monkeypatch):
    """The last look reads every row."""
    monkeypatch.setattr(Core, "others", property(lambda core: core.order))


def rows_read_ahead(monkeypatch):
    """Rows that have not moved in a sweep are read too, as if they kept the first label: both ends read an edge."""
    release = degree_core.release_one_sided_sweep

    def guessed(iteration, *arguments, **options):
        known = iteration.oracle.scores

        def counts(block, seen):
            guess = seen.copy()
            guess[~seen.any(axis=1), 0] = 1.0
            return known.counts(block, guess)

        oracle = dataclasses.replace(iteration.oracle, scores=dataclasses.replace(known, counts=counts))
        return release(dataclasses.replace(iteration, oracle=oracle), *arguments, **options)

    monkeypatch.setattr(degree_core, "release_one_sided_sweep", guessed)


def rows_without_a_label_are_counted(monkeypatch):
    """Communities: rows that have not been set in a sweep count as of the first label: both ends read an edge."""
    choose = community_sweeps._Run._choose

    def guessed(run, block, seen, *arguments):
        return choose(run, block, np.where(seen < 0, 0, seen), *arguments)

    monkeypatch.setattr(community_sweeps._Run, "_choose", guessed)


def queries_of_one_end_forgotten(monkeypatch):
    queries_at_half_their_price(monkeypatch, of_numbers=True)


def rows_of_labels_at_half_their_price(monkeypatch):
    queries_at_half_their_price(monkeypatch, of_numbers=False)


def queries_at_half_their_price(monkeypatch, *, of_numbers):
    def too_low(oracle, queries, epsilon):
        law = query_law(oracle, queries, epsilon)
        return dataclasses.replace(
            law, sensitivity=law.sensitivity / (2 if (law.norm.ball == NUMBER) == of_numbers else 1)
        )

    monkeypatch.setattr(degree_core, "query_law", too_low)


def labels_by_themselves_at_the_price_of_one(monkeypatch):
    """Independent noise for each label, as if the sum over labels of the largest change were at most an edge."""

    def law(oracle, queries, epsilon):
        alone = RowSensitivity(NUMBER, oracle.sensitivity.size)
        return query_law(dataclasses.replace(oracle, sensitivity=alone), queries, epsilon)

    monkeypatch.setattr(degree_core, "query_law", law)


def residual_told_without_noise(monkeypatch):
    """The quotient of the degrees decides where the residual is cut off: exactly known, it tells of edges."""

    release = Call.release

    def exactly(call, measurement):
        noisy = release(call, measurement)
        return Released(measurement.value, noisy.std) if measurement.name.endswith("of degrees") else noisy

    monkeypatch.setattr(Call, "release", exactly)


def noise_of_queries_halved(monkeypatch):
    draw = NoiseSource.queries
    monkeypatch.setattr(NoiseSource, "queries", lambda self, *a: draw(self, *a[:-1], a[-1] / 2))


def sweeps_steer_without_noise(monkeypatch):
    """What is published of the fields is noisy, but rows are set by exact ones."""
    release = degree_core.release_repeated_sweeps

    def exactly(iteration, *arguments, **options):
        seen, response = {}, iteration.response

        def fields(block, X):
            seen["fields"] = iteration.oracle.fields(block, X)
            return seen["fields"]

        oracle = dataclasses.replace(iteration.oracle, fields=fields)
        steered = SimpleNamespace(start=response.start, answer=lambda _: -np.sign(seen["fields"]))
        return release(dataclasses.replace(iteration, oracle=oracle, response=steered), *arguments, **options)

    monkeypatch.setattr(degree_core, "release_repeated_sweeps", exactly)


def too_few_answers_are_false(monkeypatch):
    flip = exact_sampling.flip_exponent
    monkeypatch.setattr(randomized_response, "flip_exponent", lambda epsilon: flip(2 * epsilon))


def exact_graph_is_cut_in_place_of_the_answers(monkeypatch):
    def exact(graph, call):
        released = randomized_response.release_flipped_graph(graph, call)
        return dataclasses.replace(released, adjacency=graph.adjacency)

    monkeypatch.setattr(label_problems, "release_flipped_graph", exact)


def best_cut_is_drawn_at_twice_epsilon(monkeypatch):
    """Scores are counted in units of half their sensitivity."""
    monkeypatch.setattr(all_cuts, "WEIGHT_BITS", all_cuts.WEIGHT_BITS + 1)


def exact_value_in_a_result_field(monkeypatch):
    release = label_problems.release_value

    def exact(edges, labels, call):
        estimate = release(edges, labels, call)
        return estimate._replace(std=estimate.std + 1e-9 * edges.value(labels))

    monkeypatch.setattr(label_problems, "release_value", exact)


def scale_that_depends_on_the_data(monkeypatch):
    bound = normalized_adjacency.release_lower_bound

    def exact(graph, *arguments):
        found = bound(graph, *arguments)
        return found._replace(lower=max(found.lower, float(graph.degrees().min()) + found.tau))

    monkeypatch.setattr(normalized_adjacency, "release_lower_bound", exact)


def shape_that_depends_on_the_data(monkeypatch):
    """As many values as are large: a truncation that looks harmless."""
    release = spectrum.release_spectrum

    def truncated(*arguments, **options):
        pairs, found = release(*arguments, **options)
        keep = 1 + int(np.sum(np.abs(pairs.values) > 400.5))
        return pairs, dataclasses.replace(found, values=found.values[:keep])

    monkeypatch.setattr(diagnostics, "release_spectrum", truncated)


def number_of_releases_depends_on_the_data(monkeypatch):
    release = weights.release_degrees

    def twice(graph, call):
        if graph.degrees().sum() % 4 == 0:
            release(graph, call.part(1 / 4))
        return release(graph, call.part(1 / 4))

    monkeypatch.setattr(degree_problem, "release_degrees", twice)


def budget_charged_after_the_fact(monkeypatch):
    source = degree_problem.open_graph

    def eager(*arguments, **options):
        opened = source(*arguments, **options)
        opened.read()
        return opened

    monkeypatch.setattr(degree_problem, "open_graph", eager)


def budget_refunded_on_failure(monkeypatch):
    opened = degree_problem.open_graph
    charge = accountant_module.PrivacyAccountant.charge
    last = []

    def remember(self, ledger):
        charge(self, ledger)
        last[:] = [self]

    def refunding(*arguments, **options):
        source = opened(*arguments, **options)

        def read():
            try:
                return source.read()
            except InvalidGraphError:
                last[0]._charged = accountant_module.Spent()
                raise

        return dataclasses.replace(source, read=read)

    monkeypatch.setattr(accountant_module.PrivacyAccountant, "charge", remember)
    monkeypatch.setattr(degree_problem, "open_graph", refunding)


def noise_of_a_replaced_record_halved(monkeypatch):
    draw = MatrixLaw.difference
    monkeypatch.setattr(MatrixLaw, "difference", lambda laws, noise, d, scale: draw(laws, noise, d, scale / 2))


def nuclear_noise_at_the_scale_of_the_larger_trace(monkeypatch):
    release = covariance_noise.release_symmetric
    monkeypatch.setattr(
        covariance_noise, "release_symmetric", lambda *arguments, **_: release(*arguments, norm="nuclear")
    )


def noise_of_the_hull_halved(monkeypatch):
    draw = histogram_release.k_norm_noise
    monkeypatch.setattr(histogram_release, "k_norm_noise", lambda noise, hull, scale: draw(noise, hull, scale / 2))


def columns_charged_in_l2_for_laplace_noise(monkeypatch):
    monkeypatch.setattr(encodings, "encoded_sensitivity", lambda matrix, *_, **__: matrix.longest)


def differences_charged_from_the_mean(monkeypatch):
    monkeypatch.setattr(
        encodings, "encoded_sensitivity", lambda matrix, *_, **__: matrix.distances(matrix.dense.mean(axis=1)).max()
    )


def questions_about_degrees_at_half_their_price(monkeypatch):
    price = sensitivity.clipped_degrees
    monkeypatch.setattr(sensitivity, "clipped_degrees", lambda w, cap: tuple(b / 2 for b in price(w, cap)))


def first_rows_at_half_their_price(monkeypatch):
    """Communities: what the first rows count of each other has half the noise that the ledger says."""
    opened = community_sweeps._Run._open

    def halved(run, sweep, *, core=False):
        law = opened(run, sweep, core=core)
        return dataclasses.replace(law, scale=law.scale / 2) if core else law

    monkeypatch.setattr(community_sweeps._Run, "_open", halved)


def degrees_decide_at_half_their_price(monkeypatch):
    price = sensitivity.degree_excess
    monkeypatch.setattr(sensitivity, "degree_excess", lambda *arguments: price(*arguments) / 2)


def log_coherence_at_half_its_bound(monkeypatch):
    bound = spectra.general_log_coherence
    monkeypatch.setattr(spectra, "general_log_coherence", lambda *a: None if bound(*a) is None else bound(*a) / 2)


def edges_of_a_cut_counted_at_both_ends(monkeypatch):
    value = RelatedEdges.value
    monkeypatch.setattr(RelatedEdges, "value", lambda edges, labels: 2 * value(edges, labels))


def tables_at_the_price_of_edges(monkeypatch):
    monkeypatch.setattr(sensitivity, "split_table", lambda w: (w, w))


def ends_of_a_new_edge_forgotten(monkeypatch):
    def widths(subgraphs):
        most = int(subgraphs._degrees.max())
        return most**2 // 4, most + 1

    monkeypatch.setattr(Subgraphs, "_edge_degree_widths", widths)


def parts_of_a_report_have_the_whole_budget_each(monkeypatch):
    monkeypatch.setattr(sections, "shares", lambda cut: dict.fromkeys((*sections.SHARES, "cut"), 1.0))
    monkeypatch.setattr(Ledger, "adopt", lambda self, stage, name="": None)


def an_edge_moves_a_statistic_by_half(monkeypatch):
    monkeypatch.setattr(sensitivity, "one_edge_statistic", lambda: 0.5)


def rounds_of_peeling_count_both_ends(monkeypatch):
    monkeypatch.setattr(peeling, "to_earlier", lambda graph, order: graph.degrees())


def second_order_of_exact_queries(monkeypatch):
    """The second round is in an order that nobody has paid for."""
    count, inside, exact = peeling.to_earlier, peeling._edges_inside, []

    def remembering(graph, order):
        exact.append(count(graph, order))
        return exact[-1]

    monkeypatch.setattr(peeling, "to_earlier", remembering)
    monkeypatch.setattr(
        peeling, "_edges_inside", lambda order, read, found: inside(order, read._replace(value=exact[-1]), found)
    )


def weights_of_constraints_not_capped(monkeypatch):
    monkeypatch.setattr(WeightGrid, "round", lambda grid, weights: np.rint(weights / grid.unit) * grid.unit)


#: Fault -> (check that catches it, entry on which it is caught).
MUTANTS = {
    noise_halved: (audit_check, DEGREES),
    scale_halved_after_the_ledger: (replay_check, DEGREES),
    one_endpoint_of_the_degrees_forgotten: (replay_check, DEGREES),
    one_endpoint_of_the_fields_forgotten: (replay_check, POWER),
    spectrum_charged_as_one_eigenvalue: (replay_check, SPECTRAL),
    right_projector_forgotten: (replay_check, SINGULAR),
    longest_row_of_products_halved: (replay_check, SINGULAR_PRODUCTS),
    rows_of_products_taken_for_alike: (replay_check, PRODUCTS),
    basis_of_products_not_orthonormal: (replay_check, PRODUCTS),
    products_steer_without_noise: (replay_check, PRODUCTS),
    degrees_published_without_noise: (replay_check, ADJACENCY),
    degrees_reused_without_noise: (replay_check, CUT),
    core_sees_the_other_rows: (replay_check, CUT),
    core_is_looked_at_again: (replay_check, CUT),
    rows_read_ahead: (replay_check, K_CUT),
    rows_without_a_label_are_counted: (replay_check, COMMUNITIES),
    queries_of_one_end_forgotten: (replay_check, TOGETHER),
    residual_told_without_noise: (replay_check, VECTOR),
    noise_of_queries_halved: (audit_check, TOGETHER),
    rows_of_labels_at_half_their_price: (replay_check, LABELS),
    labels_by_themselves_at_the_price_of_one: (replay_check, LABELS),
    sweeps_steer_without_noise: (replay_check, TOGETHER),
    too_few_answers_are_false: (replay_check, ANSWERS),
    exact_graph_is_cut_in_place_of_the_answers: (replay_check, ANSWERS),
    best_cut_is_drawn_at_twice_epsilon: (replay_check, BEST_CUT),
    exact_value_in_a_result_field: (replay_check, CUT),
    scale_that_depends_on_the_data: (replay_check, ADJACENCY),
    shape_that_depends_on_the_data: (replay_check, SPECTRUM),
    number_of_releases_depends_on_the_data: (replay_check, DEGREES),
    noise_of_a_replaced_record_halved: (audit_check, COVARIANCE),
    nuclear_noise_at_the_scale_of_the_larger_trace: (replay_check, COVARIANCE),
    differences_charged_from_the_mean: (replay_check, QUERIES),
    noise_of_the_hull_halved: (audit_check, HULL),
    columns_charged_in_l2_for_laplace_noise: (replay_check, PURE_QUERIES),
    rounding_of_scores_not_charged: (choices_check, COMMUNITIES),
    questions_about_degrees_at_half_their_price: (residual_check, VECTOR),
    first_rows_at_half_their_price: (first_rows_check, SWEPT),
    degrees_decide_at_half_their_price: (replay_check, DECIDED),
    log_coherence_at_half_its_bound: (replay_check, COHERENCE),
    weights_of_constraints_not_capped: (replay_check, TABLES),
    edges_of_a_cut_counted_at_both_ends: (replay_check, CUT),
    tables_at_the_price_of_edges: (replay_check, TABLES),
    ends_of_a_new_edge_forgotten: (replay_check, ASSORTATIVITY),
    parts_of_a_report_have_the_whole_budget_each: (replay_check, REPORT),
    an_edge_moves_a_statistic_by_half: (replay_check, STATISTIC),
    rounds_of_peeling_count_both_ends: (replay_check, DENSEST),
    second_order_of_exact_queries: (replay_check, DENSEST),
    budget_charged_after_the_fact: (order_check, DEGREES),
    budget_refunded_on_failure: (refund_check, DEGREES),
}
#: Caught in test_good_events.py, where bounds are counted, and in tests/spectral/test_stability.py. Also in
#: tests/spectral/test_exit_time.py, test_eigenvalue_certificates.py, tests/security/test_norms.py,
#: tests/cluster/test_distributed.py, test_persons.py and test_node_privacy.py.
ELSEWHERE = {
    "slack_dropped": "good events",
    "every_width_fails_with_all_of_delta": "good events",
    "steps_beyond_the_ball": "norms",
    "weights_kept_on_the_workers": "one machine",
    "speeds_of_one_endpoint": "enumeration",
    "exit_on_65_points": "one edge",
    "certificate_not_charged": "shares of delta",
    "edges_of_a_person_not_divided": "replay",
    "hub_of_a_person_forgotten": "replay",
    "delta_of_an_edge_is_that_of_its_person": "shares of delta",
    "flow_moves_by_half_its_limit": "enumeration",
    "tails_move_by_their_limit": "enumeration",
}


@functools.cache
def check_passes(check, label):
    """Whether a check passes on the real package: several faults share one."""
    check(next(entry for _, entry in MUTANTS.values() if entry.label == label))
    return True


#: That these pass on the real package is a test of its own, in test_replay.py, test_choices.py and test_statistical.py.
TESTED = ((residual_check, VECTOR), (first_rows_check, SWEPT), (choices_check, COMMUNITIES), (audit_check, DEGREES))
#: Those of :func:`audit_check` that take longest.
LONG = (noise_of_queries_halved, noise_of_the_hull_halved)


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(fault, marks=[pytest.mark.slow] * (fault in LONG)) for fault in MUTANTS],
    ids=lambda fault: fault.__name__,
)
def test_a_fault_is_caught(mutant, monkeypatch):
    check, entry = MUTANTS[mutant]
    if check is replay_check:
        check_replay_that_finds(mutant, entry)
        return
    assert (check, entry) in TESTED or check_passes(check, entry.label)
    mutant(monkeypatch)
    with pytest.raises(AssertionError):
        check(entry)


def check_replay_that_finds(mutant, entry):
    """One replay fails under the fault, and passes without it."""
    with pytest.MonkeyPatch.context() as patch:
        mutant(patch)
        for again in replays(entry):
            try:
                again()
            except AssertionError:
                break
        else:
            pytest.fail("no replay has found the fault")
    again()


def k_norm_draws_halved(monkeypatch):
    """Behind the replay, which compares scales with the ledger."""
    draw = RecordingSource.noise_from
    monkeypatch.setattr(
        RecordingSource, "noise_from", lambda self, kind, scale, law: draw(self, kind, scale, lambda: law() / 2)
    )


def discrete_draws_halved(monkeypatch):
    draw = NoiseSource.scalars
    monkeypatch.setattr(NoiseSource, "scalars", lambda self, values, unit, scale: draw(self, values, unit, scale / 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "entry"),
    [(k_norm_draws_halved, ELLIPSOID), (discrete_draws_halved, FACTORS)],
    ids=["ellipsoid", "factors"],
)
def test_half_the_noise_of_an_ellipsoid_and_of_factors_is_caught_by_the_audit(fault, entry, monkeypatch):
    sound = audit(entry, 600)
    assert 0.3 * sound.promised < sound.found <= sound.promised
    fault(monkeypatch)
    assert audit(entry, 600).found > sound.promised


#: Check -> how the page of the guarantee names it.
CHECKS = {
    audit_check: "statistical audit",
    replay_check: "replay",
    residual_check: "replay",
    first_rows_check: "replay",
    choices_check: "replay",
    order_check: "interface",
    refund_check: "interface",
}


def test_the_table_of_faults_in_the_docs_names_every_fault_and_the_check_that_catches_it():
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|:]+)", DOCS.read_text(), flags=re.MULTILINE)
    documented = {name: check.strip() for name, check in rows}
    expected = {mutant.__name__: CHECKS[check] for mutant, (check, _) in MUTANTS.items()}
    assert documented == expected | ELSEWHERE
