"""docs/statements.md names what exists."""

import re
from pathlib import Path

import dpgraph

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "statements.md"


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
