"""docs/statements.md has a row for every numbered statement of the papers, and names what exists."""

import os
import re
from pathlib import Path

import pytest

import dpgraph

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "statements.md"
KINDS = ("Theorem", "Lemma", "Corollary", "Definition", "Fact", "Remark", "Algorithm", "Conjecture")

#: Every numbered statement that the text of a paper mentions. NTZ13 is a set of slides, which number none.
NUMBERS = {
    "DN25a": {
        "Algorithm": "5.2 5.5 5.8 5.10 6.2 7.4 7.13 7.18",
        "Conjecture": "1.7 1.8",
        "Corollary": "1.6",
        "Definition": "1.1 1.2 1.4 4.1 4.2 4.3 7.1 7.2 7.3 7.9 B.1 B.3 B.6 B.8 B.13",
        "Fact": "6.3 7.14 7.15 7.16 B.9 B.14 B.15 B.16 B.19 C.1 C.2 C.3",
        "Lemma": "5.3 5.4 5.6 5.7 5.9 5.11 6.4 7.5 7.6 7.7 A.1 B.2 B.4 B.5 B.10 B.11",
        "Theorem": "1.3 1.5 1.9 2.3 5.1 5.2.7 5.12 6.1 7.8 7.10 7.11 7.12 7.17 7.19 B.7 B.12 B.17 B.18 I.5.5",
    },
    "DN25b": {
        "Algorithm": "1 2",
        "Lemma": "1.5.3 4.2 4.3 5.2 A.2",
        "Remark": "4.2",
        "Theorem": "1.1 1.2 4.1 4.4",
    },
    "CDEMZ24": {
        "Algorithm": "1 2 3 4",
        "Corollary": "5.3",
        "Definition": "A.1 A.2 A.3 B.1 B.2 B.3 B.5 B.8",
        "Fact": "B.7 B.9 B.10 B.11 B.12 B.13 B.14 B.15 B.16",
        "Lemma": "5.2 A.6 B.4 B.6",
        "Remark": "4.1 6.1",
        "Theorem": "2.1 2.2 2.3 5.1 5.4 A.4 A.5",
    },
    "NTZ13": {},
}
#: Statements without a row, and why.
EXCEPTIONS = {
    ("DN25a", "Theorem", "2.3"): "of [Ada15], in a proof",
    ("DN25a", "Theorem", "5.2.7"): "of [Ver09], in a proof",
    ("DN25a", "Theorem", "I.5.5"): "of [SS90], in a proof",
    ("DN25b", "Lemma", "1.5.3"): "of [Chi03], in a proof",
    ("DN25b", "Lemma", "5.2"): "of CDEMZ24, where it has its row",
    ("DN25b", "Lemma", "A.2"): "of [HT10], in a footnote",
    ("DN25b", "Remark", "4.2"): "of [HT10], in a proof",
    ("CDEMZ24", "Fact", "B.12"): "Cauchy and Schwarz for pseudo-distributions, in proofs only",
    ("CDEMZ24", "Fact", "B.13"): "Cauchy and Schwarz by sums of squares, in proofs only",
}
#: Words by which the texts of the papers are told apart.
TITLES = {
    "DN25a": "Tight Differentially Private PCA via Matrix Coherence",
    "DN25b": "On Purely Private Covariance Estimation",
    "CDEMZ24": "We revisit the input perturbations framework",
    "NTZ13": "The Geometry of Differential Privacy",
}


def sections():
    """Name of a paper -> rows of its table, as lists of cells."""
    parts = re.split(r"^## (\w+),.*$", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: [
            [cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:2] == "| "
        ]
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def stated(cell):
    """Kind and number of what the first cell of a row speaks of: "Theorems 2.2, A.4", "Definitions 7.1 to 7.3"."""
    number = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
    for kind, list_ in re.findall(rf"({'|'.join(KINDS)})s? ({number}(?:(?:, | to | and )(?!\d+ )(?:{number}))*)", cell):
        for first, last in re.findall(rf"({number})(?: to ({number}))?", list_):
            head, _, end = first.rpartition(".")
            for at in range(int(end), int((last or first).rpartition(".")[2]) + 1):
                yield kind, f"{head}.{at}" if head else str(at)


@pytest.mark.parametrize("paper", NUMBERS)
def test_every_numbered_statement_has_a_row_or_a_reason(paper):
    rows = {statement for cells in sections()[paper] for statement in stated(cells[0])}
    numbered = {(kind, number) for kind, numbers in NUMBERS[paper].items() for number in numbers.split()}
    excused = {(kind, number) for name, kind, number in EXCEPTIONS if name == paper}
    assert numbered - excused - rows == set(), "no row"
    assert rows - numbered == set(), "no such statement"
    assert excused <= numbered


def papers():
    """Texts of the papers, by name; the folder is beside that of the real graphs."""
    folder = Path(os.environ.get("DPGRAPH_PAPERS") or REPOSITORY.parent / "shared" / "papers")
    texts = [path.read_text(errors="replace") for path in sorted(folder.glob("*.txt"))]
    if not texts:
        pytest.skip(f"texts of the papers not found in {folder}; set DPGRAPH_PAPERS")
    return {name: [text for text in texts if title.lower() in text[:2000].lower()] for name, title in TITLES.items()}


def test_the_numbers_are_those_of_the_papers():
    for name, texts in papers().items():
        assert texts, name
        found: dict[str, set[str]] = {}
        for text in texts:
            for kind, number in re.findall(
                rf"\b({'|'.join(KINDS)})[ ˜]((?:[A-Z]\.)?\d+(?:\.\d+)+|[A-Z]\.\d+|(?<=Algorithm )\d+)\b", text
            ):
                found.setdefault(kind, set()).add(number)
        assert found == {kind: set(numbers.split()) for kind, numbers in NUMBERS[name].items()}, name


def test_what_the_page_names_exists():
    page = PAGE.read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page)
    assert len(named) >= 60
    assert page.count("::") == len(named)
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not name.startswith("test_")
        or not re.search(rf"^def {name}\w*\(", (REPOSITORY / file).read_text(), re.MULTILINE)
    ]
    assert missing == []
    functions = set(re.findall(r"`(private_\w+|max_\w+|perturb_and_project)", page))
    assert functions <= set(dpgraph.__all__)
    for module, name in re.findall(r"`(linear_queries|projections|sos|spectral)\.(\w+)", page):
        assert hasattr(getattr(dpgraph, module), name), f"{module}.{name}"
