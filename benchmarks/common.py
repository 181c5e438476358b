"""What the benchmark scripts share: folders, graphs, tables that survive an interruption, intervals, Markdown."""

from __future__ import annotations

import csv
import fcntl
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse, stats

RESULTS = Path(__file__).parent / "results"
DOCS = RESULTS.parents[1] / "docs"
DATA = Path(os.environ.get("DPGRAPH_DATA", Path(__file__).resolve().parents[2] / "shared" / "graphs"))

#: Public graphs of `DATA`, small ones first: SNAP, Facebook100 and two Gset instances (all their weights are 1).
REAL = (
    "fb100-Caltech36", "G1", "fb100-Reed98", "email-Eu-core", "fb100-Haverford76", "fb100-Swarthmore42", "G22",
    "ego-Facebook", "fb100-Rice31", "ca-GrQc", "wiki-Vote", "lastfm-asia", "ca-HepTh", "fb100-Stanford3",
    "fb100-Harvard1", "ca-AstroPh", "musae-facebook", "fb100-Berkeley13", "ca-CondMat", "email-Enron",
)  # fmt: skip

Key = tuple[str, ...]
Row = dict[str, str]


@lru_cache
def real_graph(name: str) -> sparse.csr_array:
    """A graph of the folder `DATA`, as an unweighted adjacency matrix."""
    from dpgraph.datasets import load_sparse

    return load_sparse(name, data_dir=DATA, download=False)[0]


class ResumableTable:
    """A CSV file to which rows are appended as they come; rows that are present are not computed again.

    Parameters
    ----------
    path : Path
        The file; created with its header when the first row is added.
    key, columns : sequence of str
        Columns that name a row, and all columns.
    """

    def __init__(self, path: Path, key: Sequence[str], columns: Sequence[str]) -> None:
        self.path, self._key, self._columns = path, tuple(key), tuple(columns)
        self.rows: dict[Key, Row] = {}
        self._read()

    def _read(self) -> None:
        self.rows = {self.key_of(row): row for row in read_csv(self.path)}

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other processes out, and read what they have added; an error when one of them is writing now."""
        name = f"{self.path.stem}.lock"
        with (Path(tempfile.gettempdir()) / name).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SystemExit(f"another process is writing {self.path}") from None
            self._read()
            yield

    def key_of(self, row: Row) -> Key:
        """The columns that name `row`."""
        return tuple(str(row[column]) for column in self._key)

    def add(self, row: dict[str, object]) -> None:
        """Append one row and hand it to the operating system at once."""
        text = {column: str(row[column]) for column in self._columns}
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self._columns)
            if new:
                writer.writeheader()
            writer.writerow(text)
        self.rows[self.key_of(text)] = text

    def drop(self, unwanted: Callable[[Row], bool]) -> int:
        """Forget rows; the number of rows forgotten."""
        before = len(self.rows)
        if any(map(unwanted, self.rows.values())):
            self.replace(unwanted, [])
        return before - len(self.rows)

    def replace(self, unwanted: Callable[[Row], bool], rows: Iterable[dict[str, object]]) -> None:
        """Forget rows and add others, in one step."""
        texts = [{column: str(row[column]) for column in self._columns} for row in rows]
        kept = [row for row in self.rows.values() if not unwanted(row)]
        self.rows = {self.key_of(row): row for row in (*kept, *texts)}
        write_csv(self.path, list(self.rows.values()), self._columns)


def read_csv(path: Path) -> list[Row]:
    """The rows of a table; none when the file does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, rows: Sequence[dict[str, object]] | Sequence[Row], columns: Sequence[str]) -> None:
    """Write a whole table; missing cells stay empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")  # a whole table takes the place of the old one, or none does
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)


def with_processor_time(run: Callable[[], None]) -> None:
    """Run with a clock that stands still while other processes have the processor."""
    usual, time.monotonic = time.monotonic, time.process_time
    try:
        run()
    finally:
        time.monotonic = usual


def interval(sample: Iterable[float]) -> tuple[float, float]:
    """Mean, and half the width of its 95 % interval (Student's t; NaN for a single run)."""
    values = np.array(list(sample), dtype=np.float64)
    if len(values) < 2:
        return float(values.mean()), math.nan
    quantile = float(stats.t.ppf(0.975, len(values) - 1))
    return float(values.mean()), quantile * float(values.std(ddof=1)) / math.sqrt(len(values))


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A Markdown table, with a newline at its end."""
    body = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in body)


def quote(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks of `name` on a page of the documentation."""
    opening, closing = f"<!-- {name}: made by benchmarks -->", "<!-- end -->"
    whole = page.read_text() if page.exists() else ""
    if opening in whole:
        before, rest = whole.split(opening)
        page.write_text(f"{before}{opening}\n\n{text.strip()}\n\n{closing}{rest.split(closing, 1)[1]}")


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Exponent of a power law through the points (least squares of the logarithms)."""
    return float(np.polyfit(np.log(np.asarray(x)), np.log(np.asarray(y)), 1)[0])
