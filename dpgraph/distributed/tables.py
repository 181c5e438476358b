"""Tables of edges that are larger than memory: Dask dataframes, and folders of Parquet or CSV files."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dpgraph.distributed.blocks import BYTES, Block, Edges, faulty
from dpgraph.distributed.graph import Blocks, DistributedGraph
from dpgraph.exceptions import DPGraphError, InvalidGraphError, InvalidParameterError
from dpgraph.extras import require
from dpgraph.graph import WeightGrid
from dpgraph.inputs.edge_tables import PLAIN, EdgeSummary, NameRules
from dpgraph.inputs.text_formats import other_text
from dpgraph.progress import BAR

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
        """Refuse a table that lacks a column; which columns there are is public."""
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
        client, n = _client(), len(self.nodes)
        columns = [self.source, self.target, *([] if weight is None else [weight])]
        parts = self._parts(columns)
        table = require("dask.dataframe").concat([part for _, part in parts]) if len(parts) > 1 else parts[0][1]
        least = min(2 * sum(client.nthreads().values()), n)  # public, as the number of blocks may not be
        edges = Edges(n, self.source, self.target, weight, directed, min(max(2, table.npartitions, least), n))
        labels = None if self.numbered else self._labels()
        meta = {"block": "int64", "faults": "int64", "arcs": BYTES} | ({} if weight is None else {"weights": BYTES})
        arcs = table.map_partitions(edges.arcs, labels, meta=meta, enforce_metadata=False)
        shuffled = arcs.set_index("block", divisions=list(range(edges.blocks + 1)))
        built = [
            require("dask").delayed(Block.build, pure=False)(part, edges, number, grid)
            for number, part in enumerate(shuffled.to_delayed())
        ]
        futures = client.compute(built)
        _wait(client, futures, "edges are sorted", least)
        return Blocks(client, futures, n)

    def find_fault(self, weight: str | None = None) -> str | None:
        """Where the first malformed row is, or None: for the owner of the table, as this is exact and costs no budget.

        A row needs two declared vertices and, in the column `weight` if it is given, a finite nonnegative number.
        """
        self.check_columns(weight)
        columns = [self.source, self.target, *([] if weight is None else [weight])]
        edges = Edges(len(self.nodes), self.source, self.target, weight, directed=False, blocks=1)
        return self._fault(_client(), edges, None if self.numbered else self._labels(), self._parts(columns))

    def summary(self) -> EdgeSummary:
        """Rows, kept and dropped ones: **exact, for the owner of the table only**."""
        edges = Edges(len(self.nodes), self.source, self.target, None, directed=False, blocks=1)
        labels, columns = None if self.numbered else self._labels(), [self.source, self.target]
        found = self._faults(_client(), edges, labels, self._parts(columns, cleaned=False))
        rows, dropped = (sum(counts[k] for counts in found) for k in (0, 1))
        return EdgeSummary(vertices=len(self.nodes), rows=rows, kept=rows - dropped, dropped=dropped)

    def _labels(self) -> Any:
        """The vertices as an index of pandas on the workers."""
        return require("dask").delayed(self._names(), pure=False)

    def _names(self) -> Any:
        names = require("pandas").Index([self.rules(node) for node in self.nodes])
        if names.has_duplicates:
            raise InvalidParameterError("two vertices in nodes= are the same name by normalize=; normalize less")
        return names

    def _parts(self, columns: list[str], *, cleaned: bool = True) -> list[tuple[str, Any]]:
        """Dask dataframes, each with what an error calls it; `cleaned` without the rows that are to be dropped."""
        parts = self._read_parts(columns)
        if self.rules == PLAIN:
            return parts
        edges = Edges(len(self.nodes), self.source, self.target, None, directed=False, blocks=1)
        labels = None if self.numbered else self._names()
        drop = cleaned and self.rules.unknown == "drop"
        form = {"enforce_metadata": False}
        return [(name, part.map_partitions(_cleaned, edges, labels, self.rules, drop, **form)) for name, part in parts]

    def _read_parts(self, columns: list[str]) -> list[tuple[str, Any]]:
        if not isinstance(self.frame, list):
            return [("the table", self.frame[columns])]
        dd = require("dask.dataframe")
        readers = {
            ".parquet": lambda file: dd.read_parquet(file, columns=columns, split_row_groups=True),
            ".csv": lambda file: dd.read_csv(file, usecols=columns, dtype=str),
        }
        return [(file.name, readers[file.suffix](file)) for file in self.frame]

    def _faults(self, client: Any, edges: Edges, labels: Any, parts: list[tuple[str, Any]]) -> Any:
        """Numbers of rows and of malformed ones, and the first of these, in each piece of the parts."""
        delayed = require("dask").delayed
        tasks = [delayed(edges.faults, pure=False)(piece, labels) for _, part in parts for piece in part.to_delayed()]
        return _wait(client, client.compute(tasks), "rows are checked", len(parts), gather=True)

    def _fault(self, client: Any, edges: Edges, labels: Any, parts: list[tuple[str, Any]]) -> str | None:
        """Where the first malformed row is, if there is one: the rule is that of one machine."""
        names = [name for name, part in parts for _ in range(part.npartitions)]
        found = self._faults(client, edges, labels, parts)
        total = sum(faults for _, faults, _ in found)
        if not total:
            return None
        first = next(k for k, (_, faults, _) in enumerate(found) if faults)
        before = sum(found[k][0] for k in range(first) if names[k] == names[first])
        return f"{total} rows, the first of them row {before + found[first][2] + 1} of {names[first]}"


def _cleaned(frame: Any, edges: Edges, labels: Any, rules: NameRules, drop: bool) -> Any:
    """A piece of a table with normalized names, and without the rows that name another vertex."""
    ends = [edges.source, edges.target]
    frame = frame.assign(**{end: frame[end].map(rules, na_action="ignore") for end in ends})
    row, col, _, _ = edges.read(frame[ends], labels)
    return frame[(row >= 0) & (col >= 0)] if drop else frame


def _files(path: Path) -> list[Path]:
    """The files of a folder, in the order of their names."""
    found = sorted(path.iterdir()) if path.is_dir() else [path]
    files = [file for file in found if file.suffix in _ENDINGS and file.is_file()]
    for file in files:
        if file.suffix == ".csv" and (refused := other_text(_beginning(file))):
            raise InvalidGraphError(f"{file}: {refused}")
    if not files:
        raise InvalidParameterError(f"{path} is no file that ends with {' or '.join(_ENDINGS)}, nor a folder with one")
    return files


def _beginning(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf")


def _columns(file: Path) -> list[str]:
    if file.suffix == ".parquet":
        return list(require("pyarrow.parquet").read_schema(file).names)
    return list(require("pandas").read_csv(file, nrows=0).columns)


def _client() -> Any:
    try:
        return require("distributed").default_client()
    except ValueError:
        raise DPGraphError(
            "a table on Dask needs a cluster: start a dask.distributed.Client first; Client() starts workers on this "
            "machine"
        ) from None


def _wait(client: Any, futures: list[Any], title: str, marks: int, *, gather: bool = False) -> Any:
    """Wait for tasks, or gather their results; they are taken back if waiting is given up.

    How many tasks there are tells how many edges. The bar passes one mark after another: public, and never more.
    """
    try:
        done = require("distributed").as_completed(futures)
        with tqdm(total=marks, desc=title, disable=BAR.get() is None) as shown:
            for k, _ in enumerate(done, 1):
                shown.update(k * marks // len(futures) - shown.n)
        return client.gather(futures) if gather else None
    except BaseException:
        client.cancel(futures)
        raise
