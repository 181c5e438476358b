"""The pages about the guarantee speak of what exists."""

import re
from pathlib import Path

import pytest

from tests.privacy.enumeration import graph_bounds
from tests.privacy.registry import public_private_functions

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("guarantee.md", "proofs.md", "sensitivity.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_exists(page):
    text = (ROOT / "docs" / page).read_text()
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)
    for file, test in named:
        code = next((ROOT / "tests").rglob(file)).read_text()
        assert f"def {test}(" in code, f"{file}::{test}"
    assert page != "proofs.md" or len(named) >= 15


def test_every_claim_of_the_guarantee_names_a_test_that_exists():
    text = (ROOT / "docs" / "guarantee.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text[text.index("| claim | test |") :], flags=re.MULTILINE)
    claims = [row for row in rows if row[0] not in ("claim", "---")]
    assert len(claims) >= 10
    for claim, tests in claims:
        assert re.findall(r"`test_\w+\.py`", tests), claim


def test_the_proofs_cover_every_private_function_and_every_bound():
    text = (ROOT / "docs" / "proofs.md").read_text()
    assert {name for name in public_private_functions() if f"`{name}`" not in text} == set()
    table = (ROOT / "benchmarks" / "results" / "sensitivity.md").read_text()
    own = {"alpha", "degrees_l1", "degrees_l2", "minimum_degree", "partition_weight", "basis_product", "spectral_norm"}
    mentioned = set(re.findall(r"`(\w+)`", text)) | own | set(re.findall(r"^\| `(\w+)", table, flags=re.MULTILINE))
    assert set(graph_bounds()) - mentioned == set()


def test_proofs_that_docstrings_name_by_page_and_heading_are_there():
    sources = " ".join(" ".join(path.read_text().split()) for path in sorted((ROOT / "dpgraph").rglob("*.py")))
    named = set(re.findall(r'(docs/[\w-]+\.md), "([^"]+)"', sources))
    assert len(named) >= 9
    pages = {page: (ROOT / page).read_text() for page, _ in named}
    assert [pair for pair in named if not re.search(rf"^#+ {re.escape(pair[1])}$", pages[pair[0]], re.MULTILINE)] == []
