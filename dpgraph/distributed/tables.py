"""Tables of edges that are larger than memory: Dask dataframes, and folders of Parquet or CSV files."""

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from operator import getitem
from pathlib import Path
from typing import Any

from dpgraph.distributed.blocks import DIGITS, Edges, faulty
from dpgraph.distributed.graph import Blocks, DistributedGraph, placed
from dpgraph.distributed.waiting import waiting
from dpgraph.exceptions import DPGraphError, InvalidGraphError, InvalidParameterError
from dpgraph.extras import require
from dpgraph.graph import WeightGrid
from dpgraph.inputs.edge_tables import PLAIN, EdgeSummary, NameRules
from dpgraph.inputs.text_formats import other_text
from dpgraph.progress import BAR, tqdm

#: Endings of files that are read.
_ENDINGS = (".parquet", ".csv")
#: Bytes of a file that tell whether it is another format.
_BEGINNING = 2**16


def edge_table(
    frame: Any,
    nodes: tuple[Hashable, ...],
    ends: tuple[str, str],
    *,
    numbered: bool,
    rules: NameRules,
    weight: str | None,
) -> "EdgeTable":
    """A table of edges with these public vertices, looked at once; `numbered` says that they are 0, ..., n - 1."""
    require("distributed")
    table = EdgeTable(_files(Path(frame)) if isinstance(frame, (str, Path)) else frame, nodes, numbered, *ends, rules)
    table.check_columns(weight)
    if rules.unknown == "raise" and table.is_faulty(weight) and (found := table.find_fault(weight)) is not None:
        raise InvalidGraphError(
            f"expected two declared vertices{' and a finite nonnegative weight' if weight else ''} in every row; "
            f'{found}, lack that. Correct the table or nodes=; or unknown="drop" leaves rows of other names out. These '
            "numbers are exact, for the owner of the table only. No budget was spent"
        )
    if rules.unknown == "drop" and (told := table.summary()).rows > told.kept == 0:
        raise InvalidGraphError(
            f"none of {told.rows} rows has two declared vertices: no row is left. No budget was spent"
        )
    return table


@dataclass(frozen=True, eq=False, repr=False)
class EdgeTable:
    """A table of edges and its public vertices (:func:`dpgraph.edge_frame`); private functions take it as a graph.

    `frame` is a Dask dataframe, or a list of files.
    """

    frame: Any
    nodes: tuple[Hashable, ...]
    numbered: bool
    source: str
    target: str
    rules: NameRules = PLAIN
    #: The blocks that were built last, and of what: the next call with the same arguments takes them.
    _kept: dict[tuple[Any, ...], Blocks] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        return f"EdgeTable({len(self.nodes)} vertices)"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_kept": {}}  # blocks belong to the client of this process

    def check_columns(self, weight: str | None) -> None:
        """Refuse a table that lacks a column, or a cluster; which columns and workers there are is public."""
        _client()
        wanted = [self.source, self.target, *([] if weight is None else [weight])]
        for columns in map(_columns, self.frame) if isinstance(self.frame, list) else [list(self.frame.columns)]:
            for column in wanted:
                if columns.count(column) != 1 or wanted.count(column) != 1:
                    raise InvalidParameterError(
                        f"the table needs one column {column!r} beside {wanted}; it has {columns.count(column)}. Name "
                        "the ends of an edge with source= and target=, and its weight with weight="
                    )

    def read(self, weight: str | None, grid: WeightGrid, max_weight: float, *, directed: bool) -> DistributedGraph:
        """Read the edges into blocks on the workers of the client of now."""
        blocks = self._blocks(weight, grid, directed)
        if any(blocks.of_each(faulty)):
            raise InvalidGraphError(
                "expected two declared vertices and a finite nonnegative weight in every row; at least one row lacks "
                "that. The method find_fault of the table tells its owner which"
            )
        return DistributedGraph(blocks, self.nodes, max_weight, grid.unit)

    def is_faulty(self, weight: str | None) -> bool:
        """Whether any row is malformed, for the owner of the table; without weights, what most calls read is read."""
        return weight is not None or any(self._blocks(None, WeightGrid(1.0, 1.0), False).of_each(faulty))

    def _blocks(self, weight: str | None, grid: WeightGrid, directed: bool) -> Blocks:
        """Sorted edges: those that were sorted last, if they are the same and still there."""
        key = weight, grid, directed
        kept = self._kept.get(key)
        if kept is None or kept.client is not _client() or any(future.status != "finished" for future in kept.futures):
            self._kept.clear()  # room for the next ones
            self._kept[key] = kept = self._sorted(*key)
        return kept

    def _sorted(self, weight: str | None, grid: WeightGrid, directed: bool) -> Blocks:
        client, n, delayed, labels = _client(), len(self.nodes), require("dask").delayed, self._labels()
        pieces = [piece for _, piece in self._pieces(weight, labels)]
        threads = client.nthreads()
        least = min(2 * sum(threads.values()), n)  # public, as the number of blocks may not be
        blocks = min(max(2, len(pieces), least), n)
        edges = Edges(n, self.source, self.target, weight, directed, blocks, min(len(threads), blocks))
        arcs = [delayed(edges.arcs, pure=False, nout=edges.groups)(piece, labels) for piece in pieces]
        built: list[Any] = [None] * blocks
        for group, home in zip(range(edges.groups), threads, strict=False):
            with require("dask").annotate(**placed([home]) if len(threads) > 1 else {}):
                found = delayed(edges.build, pure=False)([parts[group] for parts in arcs], group, grid)
                for k, number in enumerate(range(group, blocks, edges.groups)):
                    built[number] = delayed(getitem, pure=False)(found, k)
        futures = client.compute(built)
        _wait(client, futures, "edges are sorted", least)
        return Blocks(client, futures, n)

    def find_fault(self, weight: str | None = None) -> str | None:
        """Where the first malformed row is, or None: for the owner of the table, as this is exact and costs no budget.

        A row needs two declared vertices and, in the column `weight` if it is given, a finite nonnegative number.
        """
        self.check_columns(weight)
        names, found = self._faults(weight)
        total = sum(faults for _, faults, _ in found)
        if not total:
            return None
        first = next(k for k, (_, faults, _) in enumerate(found) if faults)
        before = sum(found[k][0] for k in range(first) if names[k] == names[first])
        return f"{total} rows, the first of them row {before + found[first][2] + 1} of {names[first]}"

    def summary(self) -> EdgeSummary:
        """Rows, kept and dropped ones: **exact, for the owner of the table only**."""
        _, found = self._faults(None, cleaned=False)
        rows, dropped = (sum(counts[k] for counts in found) for k in (0, 1))
        return EdgeSummary(vertices=len(self.nodes), rows=rows, kept=rows - dropped, dropped=dropped)

    def _faults(self, weight: str | None, *, cleaned: bool = True) -> tuple[list[str], Any]:
        """The names of the pieces, and numbers of rows and of malformed ones, and the first of these, in each."""
        delayed, client, labels = require("dask").delayed, _client(), self._labels()
        edges = Edges(len(self.nodes), self.source, self.target, weight, directed=False)
        pieces = self._pieces(weight, labels, cleaned=cleaned)
        tasks = client.compute([delayed(edges.faults, pure=False)(piece, labels) for _, piece in pieces])
        names = [name for name, _ in pieces]
        return names, _wait(client, tasks, "rows are checked", len(set(names)), gather=True)

    def _labels(self) -> Any:
        """The vertices as an index of pandas on the workers; None for numbers."""
        return None if self.numbered else require("dask").delayed(self._names(), pure=False)

    def _names(self) -> Any:
        names = require("pandas").Index([self.rules(node) for node in self.nodes])
        if names.has_duplicates:
            raise InvalidParameterError("two vertices in nodes= are the same name by normalize=; normalize less")
        large = names.dtype.kind in "iu" and max(-int(names.min()), int(names.max())) >= 2**53
        return names.astype(str).rename(DIGITS) if large else names  # doubles do not tell them apart

    def _pieces(self, weight: str | None, labels: Any, *, cleaned: bool = True) -> list[tuple[str, Any]]:
        """Tasks that read a piece each, and what an error calls it; `cleaned` without rows that are to be dropped."""
        pieces = self._read_pieces([self.source, self.target, *([] if weight is None else [weight])])
        if self.rules == PLAIN:
            return pieces
        edges = Edges(len(self.nodes), self.source, self.target, None, directed=False)
        clean, drop = require("dask").delayed(_cleaned, pure=False), cleaned and self.rules.unknown == "drop"
        return [(name, clean(piece, edges, labels, self.rules, drop)) for name, piece in pieces]

    def _read_pieces(self, columns: list[str]) -> list[tuple[str, Any]]:
        if not isinstance(self.frame, list):
            return [("the table", piece) for piece in self.frame[columns].to_delayed()]
        pieces: list[tuple[str, Any]] = []
        for file in self.frame:
            if file.suffix == ".csv":
                form = {"usecols": columns, "dtype": str, "encoding_errors": "replace"}  # which makes a name no vertex
                form |= {"keep_default_na": False, "na_values": [""]}  # NA and None are names
                read: list[Any] = require("dask.dataframe").read_csv(file, **form).to_delayed()
            else:
                group = require("dask").delayed(_row_group, pure=False)
                read = [group(file, k, columns) for k in range(_parquet(file).num_row_groups or 1)]
            pieces += [(file.name, piece) for piece in read]
        return pieces


def _parquet(file: Path) -> Any:
    return require("pyarrow.parquet").ParquetFile(file)


def _row_group(file: Path, k: int, columns: list[str]) -> Any:
    """A part of a file, which its writer has made small enough."""
    with _parquet(file) as opened:
        read = opened.read_row_group(k, columns) if opened.num_row_groups else opened.read(columns)
        return read.to_pandas()


def _cleaned(frame: Any, edges: Edges, labels: Any, rules: NameRules, drop: bool) -> Any:
    """A piece of a table with normalized names, without rows that name another vertex; as it is where that fails."""
    ends = [edges.source, edges.target]
    with suppress(Exception):
        frame = frame.assign(**{end: frame[end].map(rules, na_action="ignore") for end in ends})
        row, col, _, _ = edges.read(frame[ends], labels)
        return frame[((row >= 0) & (col >= 0)) | (row == -2)] if drop else frame
    return frame  # with names that the rule does not take, which are refused


def _files(path: Path) -> list[Path]:
    """The files of a folder, in the order of their names."""
    found = sorted(path.iterdir()) if path.is_dir() else [path]
    files = [file for file in found if file.suffix in _ENDINGS and file.is_file()]
    for file in files:
        if file.suffix == ".csv" and (refused := other_text(_beginning(file))):
            raise InvalidGraphError(f"{file}: {refused}")
    if not files:
        if not path.exists():
            raise InvalidParameterError(f"no such file or folder: {path}")
        raise InvalidParameterError(f"{path} is no file that ends with {' or '.join(_ENDINGS)}, nor a folder with one")
    return files


def _beginning(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf")


def _columns(file: Path) -> list[str]:
    try:
        if file.suffix == ".parquet":
            return list(_parquet(file).schema_arrow.names)
        return list(require("pandas").read_csv(file, nrows=0, encoding_errors="replace").columns)
    except ValueError:
        raise InvalidGraphError(f"{file}: expected a Parquet file, or CSV with a header line") from None


def _client() -> Any:
    with suppress(ValueError, OSError):  # there is no client, or it has lost its scheduler
        client = require("distributed").default_client()
        if client.status == "running" and not client.asynchronous and client.nthreads():
            return client
    raise DPGraphError(
        "a table on Dask needs a cluster with a worker: start a dask.distributed.Client first, one that is not "
        "asynchronous; Client() starts workers on this machine"
    )


def _wait(client: Any, futures: list[Any], title: str, marks: int, *, gather: bool = False) -> Any:
    """Wait for tasks, or gather their results.

    How many tasks there are tells how many edges. The bar passes one mark after another: public, and never more.
    """
    with waiting(client, futures):
        done = require("distributed").as_completed(futures)
        with tqdm(total=marks, desc=title, disable=BAR.get() is None) as shown:
            for k, _ in enumerate(done, 1):
                shown.update(k * marks // len(futures) - shown.n)
        return client.gather(futures) if gather else None
