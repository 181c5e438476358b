"""The pages and examples on networkx and files are run here."""

import re
from pathlib import Path

import networkx as nx
import pytest

from tests import programs

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def clean_configuration():
    yield
    settings = nx.config.backends.dpgraph
    settings.epsilon = settings.delta = settings.max_weight = None


def test_the_python_blocks_of_the_page_run_in_order():
    blocks = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs" / "networkx.md").read_text(), flags=re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, "networkx.md", "exec"), names)
    assert len(names["budget"].report().entries) == 2


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        ("networkx_backend.py", ["edges across", "adjacency spectrum", "volume"]),
        ("embedding_file.py", ["PrivateNormalizedAdjacency", "right community: 100.0%"]),
    ],
)
def test_an_example_runs(script, shown):
    done = programs.python(REPOSITORY / "examples" / script, check=True)
    assert all(text in done.stdout for text in shown), done.stdout
