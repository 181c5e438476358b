"""Run the notebooks and keep what they show.

    python examples/run_notebooks.py [NAME ...]

With the real graphs at hand (DPGRAPH_DATA, or ../shared/graphs) the committed notebooks come out; see real_graphs.py.
The tests run the same function and throw the results away.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parent


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs; an error in a cell is an error here."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)  # times of day would change at every run
    return book


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in EXAMPLES.glob("*.ipynb")):
        print(name)
        path = EXAMPLES / f"{name}.ipynb"
        nbformat.write(run(path), path)
