"""The examples of similarities and of the elliptope are run here."""

from tests.test_examples import run_example


# Private runs are at 0.99 to 1.000; exact similarities have 1.000, random ones 0.5.
def test_the_private_similarities_of_a_graph_find_vertices_of_the_same_side(capsys, monkeypatch):
    numbers = run_example("node_similarity", monkeypatch, "nothing")
    assert numbers["exact"] > 0.99
    assert numbers["private"] > 0.97
    assert numbers["error"] < 0.1 * numbers["identity"]
    assert "PrivacyReport(epsilon=2, delta=0" in capsys.readouterr().out


def test_the_elliptope_makes_a_sloppy_relaxation_feasible_and_no_worse(capsys, monkeypatch):
    numbers = run_example("max_cut_repair", monkeypatch, "nothing")
    assert numbers["sloppy eigenvalue"] < -1e-2
    assert numbers["sloppy diagonal"] > 1e-6
    assert numbers["repaired eigenvalue"] > -1e-10
    assert numbers["repaired diagonal"] == 0.0
    assert numbers["after"] <= numbers["before"] + 1e-4
    # The sloppy value is no value of the relaxation: it lies above the optimum.
    assert numbers["sloppy value"] > numbers["optimum"] + 0.1
    assert 0.98 * numbers["optimum"] < numbers["repaired value"] <= numbers["optimum"] + 1e-3
    assert 0.878 * numbers["optimum"] < numbers["cut"] <= numbers["optimum"]
    assert "distance to the optimum" in capsys.readouterr().out
