"""Functions that release nothing, estimators and the backend of networkx show a bar on stderr when they are asked."""

import io
import sys
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

from dpgraph import (
    PrivacyAccountant,
    datasets,
    evaluate,
    private_communities,
    private_max_cut,
    private_node_similarities,
    projections,
    sos,
)
from dpgraph.sklearn import PrivateCommunities, PrivatePCA, PrivateSpectralEmbedding

MATRIX = np.add.outer(np.arange(6.0), np.arange(6.0))
GRAPH = nx.to_numpy_array(nx.cycle_graph(6))
SETS = [projections.PSDCone(), projections.Box(-1.0, 1.0)]
CALLS: dict[str, Callable[..., object]] = {
    "averaged_projections": lambda **options: projections.averaged_projections(MATRIX, SETS, 20, **options),
    "dykstra": lambda **options: projections.dykstra(MATRIX, SETS, **options),
    "project_elliptope": lambda **options: projections.project_elliptope(MATRIX, **options),
    "spectral ball, Frobenius": lambda **options: projections.project_nonnegative_spectral_ball(
        MATRIX, norm="frobenius", **options
    ),
    "spectral ball, spectral": lambda **options: projections.project_nonnegative_spectral_ball(MATRIX, **options),
    "lasserre": lambda **options: sos.lasserre(nx.cycle_graph(5), 2, **options),
    "networkx": lambda **options: nx.volume(nx.cycle_graph(5), [0], backend="dpgraph", epsilon=1.0, **options),
    "PrivatePCA": lambda **options: PrivatePCA(epsilon=1.0, max_norm=1e3, **options).fit(MATRIX),
    "PrivateCommunities": lambda **options: PrivateCommunities(epsilon=1.0, **options).fit(GRAPH),
    "PrivateSpectralEmbedding": lambda **options: PrivateSpectralEmbedding(epsilon=1.0, **options).fit(GRAPH),
    "subgraph_counts": lambda **options: evaluate.subgraph_counts(nx.complete_graph(4), **options),
}


@pytest.mark.parametrize("call", list(CALLS.values()), ids=list(CALLS))
def test_a_bar_is_shown_on_request_only(call, capsys):
    call()
    assert capsys.readouterr().err == ""
    call(progress=True)
    shown = capsys.readouterr()
    assert "it/s" in shown.err or "lines" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("read", [datasets.read_edgelist, datasets.read_sparse])
def test_reading_shows_that_the_file_is_read_its_lines_are_edges_and_the_graph_is_built(read, tmp_path, capsys):
    file = tmp_path / "edges.txt"
    file.write_text("1 2\n2 3\n")
    read(file)
    assert capsys.readouterr().err == ""
    read(file, progress=True)
    assert "3/3" in capsys.readouterr().err


class Broken(io.StringIO):
    """A pipe whose reader goes after so many writes."""

    def __init__(self, writes: int) -> None:
        super().__init__()
        self.writes = writes

    def write(self, text: str) -> int:
        self.writes -= 1
        if self.writes < 0:
            raise BrokenPipeError
        return len(text)

    def flush(self) -> None:
        self.write("")


@pytest.mark.parametrize("writes", [None, 0, 3, 6])
@pytest.mark.parametrize("function", [private_max_cut, private_communities, private_node_similarities])
def test_a_bar_that_cannot_be_shown_loses_nothing_that_was_paid_for(function, writes, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None if writes is None else Broken(writes))
    budget = PrivacyAccountant(epsilon=1.0)
    function(nx.circulant_graph(60, [1, 2, 3]), epsilon=1.0, accountant=budget, progress=True)
    assert budget.spent.epsilon == 1.0
