"""Tests that share a function name every case that fails, and keep their cases apart."""

import pytest

from tests.about import each

seen = []


@each("case", range(7), parts=3)
def test_every_case_runs_in_a_folder_of_its_own(case, tmp_path, monkeypatch):
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    seen.append(case)
    assert seen.count(case) == 1


def test_all_cases_that_fail_are_named():
    @each("left, right", [(1, 1), (1, 2), (3, 3), (5, 4)], parts=1)
    def compare(left, right):
        if left > right:
            pytest.fail("larger")
        assert left == right

    with pytest.raises(BaseExceptionGroup) as caught:
        compare(0)
    assert [error.__notes__[-1] for error in caught.value.exceptions] == ["in the case (1, 2)", "in the case (5, 4)"]
    assert [mark.args[:2] for mark in compare.pytestmark] == [("part", range(1))]
