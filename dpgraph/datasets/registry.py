"""Graphs by name: bundled with the package, in a local folder, or fetched once from their publisher."""

from __future__ import annotations

import csv
import difflib
import hashlib
import os
import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy import sparse

from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.files import AnyPath, read_bytes, read_text
from dpgraph.datasets.readers import read_edgelist, read_sparse
from dpgraph.exceptions import DatasetError

if TYPE_CHECKING:
    import networkx as nx

_DATA = Path(__file__).resolve().parent.parent / "data"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
#: A copy may lack vertices that have no edge, or none but a loop: at most this part of the published number.
_LOST = 0.01
_ENDINGS = ("", ".gz", ".txt", ".txt.gz", ".csv", ".csv.gz", ".gml", ".gml.gz")


@dataclass(frozen=True)
class DatasetInfo:
    """One entry of the registry.

    Parameters
    ----------
    name, collection, file : str
        What :func:`load` takes; ``"bundled"``, ``"snap"``, ``"facebook100"``, ``"gset"`` or ``"local"``; its file.
    nodes, edges : int or None
        As the publisher states them (edges may count self-loops and both directions); None when unknown.
    directed : bool
        The publisher lists arcs. :func:`load` joins the two directions.
    url : str
        Where it is fetched; empty for a graph that only a local folder can supply.
    pairs : int or None
        Edges of what :func:`load` returns: pairs of different vertices, once. None when unknown.
    bytes, sha256 : int or None, str
        Length and checksum of the text, unpacked and with line ends of one byte; None and empty when unknown. Another
        form of the same graph may have others: :func:`load` then goes by the numbers of vertices and edges.
    """

    name: str
    collection: str
    file: str
    nodes: int | None
    edges: int | None
    directed: bool
    url: str
    pairs: int | None = field(default=None, repr=False)
    bytes: int | None = field(default=None, repr=False)
    sha256: str = field(default="", repr=False)

    @property
    def fewest_pairs(self) -> int:
        """At least so many edges are left of those that the publisher states, without loops and second directions."""
        if self.pairs is not None or self.edges is None or self.nodes is None:
            return self.pairs or 0
        return max(self.edges - self.nodes, 0) // (2 if self.directed else 1)


def available(data_dir: AnyPath | None = None) -> dict[str, DatasetInfo]:
    """All graphs that :func:`load` knows by name.

    Parameters
    ----------
    data_dir : path-like, optional
        Folder of local graphs; default the environment variable ``DPGRAPH_DATA``.

    Returns
    -------
    dict of str to DatasetInfo
        The registry, then what the ``MANIFEST.tsv`` of the local folder adds.

    Examples
    --------
    >>> available()["wiki-Vote"].nodes
    7115
    """
    infos = dict(_registry())
    folder = _local_folder(data_dir)
    for name, (file, _) in (_manifest(folder) if folder else {}).items():
        infos.setdefault(name, DatasetInfo(name, "local", file, None, None, False, ""))
    return infos


def load(name: str, *, data_dir: AnyPath | None = None, download: bool = True, progress: bool = False) -> nx.Graph:
    """Load a graph by name.

    Searched in this order: graphs bundled with the package; the folder `data_dir`, or the one that the environment
    variable ``DPGRAPH_DATA`` names (by its ``MANIFEST.tsv``, or by file name); the download cache; the publisher.

    Parameters
    ----------
    name : str
        A key of :func:`available`, or the name of a graph file in the local folder, with or without its ending.
    data_dir : path-like, optional
        Folder of local graphs.
    download, progress : bool
        Fetch a graph that is on this machine nowhere (the default), and show a progress bar of that on stderr. Files
        are kept in the cache (the environment variable ``DPGRAPH_CACHE``, by default the user's cache folder); their
        checksum is recorded the first time and verified from then on.

    Returns
    -------
    networkx.Graph
        Undirected, without self-loops; a list of arcs is symmetrised (see :func:`dpgraph.datasets.read_edgelist`).
        Gset graphs carry their weights in ``"weight"``.

    Raises
    ------
    DatasetError
        Unknown name, no network, a damaged file, a checksum that does not agree, or a file that holds another graph
        than the registry knows by this name (it may be packed, have comments, and list edges in any order).

    Examples
    --------
    >>> load("planted-cut").number_of_nodes()
    600
    """
    path = _locate(name, data_dir, download, progress)
    graph = read_edgelist(path)
    _refuse_another(name, path, graph.number_of_nodes(), graph.number_of_edges())
    return graph


def load_sparse(
    name: str, *, data_dir: AnyPath | None = None, download: bool = True, progress: bool = False
) -> tuple[sparse.csr_array, tuple[Hashable, ...]]:
    """Load a graph by name as a sparse matrix, several times faster for large graphs.

    Parameters
    ----------
    name, data_dir, download, progress
        As for :func:`load`, and so are errors.

    Returns
    -------
    adjacency, nodes : scipy.sparse.csr_array of shape (n, n), tuple of hashable
        Symmetric matrix with zero diagonal, and the vertex of each row.

    Examples
    --------
    >>> A, nodes = load_sparse("five-cycle")
    >>> A.sum(axis=1)
    array([2., 2., 2., 2., 2.])
    """
    path = _locate(name, data_dir, download, progress)
    adjacency, nodes = read_sparse(path)
    _refuse_another(name, path, len(nodes), adjacency.nnz // 2)
    return adjacency, nodes


def _locate(name: str, data_dir: AnyPath | None, download: bool, progress: bool) -> Path:
    """File of a named graph."""
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise DatasetError(
            f"not a dataset name: {name!r}; expected letters, digits and . _ + -, starting with a letter or digit. "
            "To read a file, use read_edgelist(path)"
        )
    info = _registry().get(name)
    if info is not None and info.collection == "bundled":
        return _DATA / info.file
    folder = _local_folder(data_dir)
    local = _find_local(name, info, folder) if folder else None
    if local is not None:
        return local
    if info is None:
        known = available(data_dir)
        close = difflib.get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
        raise DatasetError(f"unknown dataset {name!r}; {hint}")
    return fetch(info.name, info.file, info.url, download=download, progress=progress)


def _refuse_another(name: str, path: Path, vertices: int, pairs: int) -> None:
    """Raise DatasetError unless a file holds the graph that the registry knows by this name, if it knows one.

    Forms of a graph differ in packing, comments, order and loops, so its size decides; a text of the known length that
    is another text was changed. The message says what the registry knows, and nothing of what the file holds: who says
    that it is the public graph?
    """
    info = _registry().get(name)
    if info is None or info.nodes is None or info.edges is None:
        return
    least, most = info.fewest_pairs, info.pairs or info.edges
    if abs(vertices - info.nodes) > _LOST * info.nodes or not least <= pairs <= most:
        known = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        raise DatasetError(
            f"{path} is not the graph {name}, which has {info.nodes:,} vertices and {known} edges between two of them "
            f"({info.edges:,} {'arcs' if info.directed else 'edges'} as published). Put the published file there; or, "
            "if this is a graph of yours, give the file another name, or read it with read_edgelist(path)"
        )
    if info.sha256 and len(text := read_bytes(path)) == info.bytes and hashlib.sha256(text).hexdigest() != info.sha256:
        raise DatasetError(
            f"{path} is as long as the file of {name} that the registry knows, but does not have its checksum: it was "
            "changed or damaged. Fetch it again; or, if the change is meant, read it with read_edgelist(path)"
        )


def _local_folder(data_dir: AnyPath | None) -> Path | None:
    chosen = data_dir if data_dir is not None else os.environ.get("DPGRAPH_DATA") or None
    if chosen is None:
        return None
    folder = Path(chosen)
    if not folder.is_dir():
        source = "data_dir=" if data_dir is not None else "the environment variable DPGRAPH_DATA"
        raise DatasetError(f"{source} must name a folder of graph files; {folder} is none")
    return folder


def _find_local(name: str, info: DatasetInfo | None, folder: Path) -> Path | None:
    manifest = _manifest(folder)
    if name in manifest:
        file, checksum = manifest[name]
        path = folder / file
        if not path.is_file():
            raise DatasetError(f"{folder / 'MANIFEST.tsv'} lists {file} for {name}, but the file is missing")
        if checksum:
            verify(path, checksum, "its MANIFEST.tsv")
        return path
    stems = [name] if info is None else [info.file, info.file.removesuffix(".gz"), name]
    for candidate in (folder / (stem + ending) for stem in stems for ending in _ENDINGS):
        if candidate.is_file():
            return candidate
    return None


def _manifest(folder: Path) -> dict[str, tuple[str, str]]:
    """File and checksum of each graph that the ``MANIFEST.tsv`` of a folder lists, if it has one."""
    path = folder / "MANIFEST.tsv"
    if not path.is_file():
        return {}
    rows = _tab_separated(path)
    if not rows or not {"name", "file"} <= rows[0].keys():
        raise DatasetError(f"{path} needs tab-separated columns; at least 'name' and 'file' in its first line")
    # Rows without an edge count describe labels and tables, not graphs; a file elsewhere is none of ours.
    return {
        row["name"]: (row["file"], row.get("sha256") or "")
        for row in rows
        if row.get("undirected_edges") != "-" and _NAME.fullmatch(row["file"] or "")
    }


@cache
def _registry() -> dict[str, DatasetInfo]:
    infos = {}
    for row in _tab_separated(_DATA / "registry.tsv"):
        sizes = ("nodes", "edges", "pairs", "bytes")
        read: dict[str, Any] = {size: int(row[size]) if row[size] else None for size in sizes}
        infos[row["name"]] = DatasetInfo(**row | read | {"directed": row["directed"] == "yes"})
    return infos


def _tab_separated(path: Path) -> list[dict[str, str]]:
    lines = (line for line in read_text(path).splitlines() if line and not line.lstrip().startswith(("#", "%")))
    return list(csv.DictReader(lines, delimiter="\t", restval=""))


_TIMEOUT = 30.0
_BY_HAND = (
    "Download it elsewhere, put the file into a folder, and set the environment variable DPGRAPH_DATA to that folder "
    "(or pass data_dir=)"
)


def fetch(name: str, file: str, url: str, *, download: bool = True, progress: bool = False) -> Path:
    """Path of a graph in the download cache (``DPGRAPH_CACHE``, or the user's), fetched if it is not there yet.

    The SHA-256 of a file is recorded beside it when it is fetched first, and verified from then on; DatasetError if it
    disagrees, or if the file cannot be fetched.
    """
    import pooch

    path = Path(os.environ.get("DPGRAPH_CACHE") or pooch.os_cache("dpgraph")) / file
    record = path.with_name(f"{file}.sha256")
    known = record.read_text().strip() if record.is_file() else None
    if not path.is_file():
        if not url:
            raise DatasetError(f"{name} is not fetched automatically. {_BY_HAND}")
        if not download:
            raise DatasetError(f"{name} is not on this machine and download=False. {_BY_HAND}")
        _download(name, url, path, known, progress)
    if known:
        verify(path, known, f"{record.name}, written when it was fetched first")
    else:
        write_atomically(record, _sha256(path) + "\n")
    return path


def verify(path: Path, checksum: str, source: str) -> None:
    """Raise DatasetError unless the SHA-256 of a file is `checksum`."""
    if _sha256(path) != checksum:
        raise DatasetError(
            f"{path} does not have the checksum in {source}: it was changed or damaged. Delete it and fetch it again"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _download(name: str, url: str, path: Path, known: str | None, progress: bool) -> None:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=_TIMEOUT)
    try:
        pooch.retrieve(url, known, path.name, path.parent, downloader=downloader)
    except OSError as error:
        # The network's own errors are OSErrors too (requests.RequestException).
        raise DatasetError(f"cannot fetch {name} from {url} ({type(error).__name__}). {_BY_HAND}") from None
    except ValueError:
        raise DatasetError(
            f"{url} no longer has the checksum recorded for {name}; if its publisher replaced it, delete "
            f"{path}.sha256 to accept the new file"
        ) from None
