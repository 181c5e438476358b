r"""Text that is no edge list: what it is, and what reads it.

Read as an edge list, ``[["ann","bob"]]`` would have a vertex called ``[["ann"``: an edge as the name of a vertex, which
is public. So text is refused whose beginning is that of another format, and, unless the caller names the format of the
file, text in the file name of another one, or whose lines are those of a matrix. Nothing here quotes the text.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple


class _Format(NamedTuple):
    """A format that is not read here: how its text begins below comments, its file names, and what to do with it."""

    name: str
    begins: str
    endings: tuple[str, ...]
    advice: str


_MAKE = "make a networkx.Graph of its edges and pass that"
_KEEP = "keep its edges only, two ends a line"
_NEVER = "(?!)"
_METIS = _Format("METIS", _NEVER, ("metis", "graph"), "make a scipy.sparse matrix of its rows and pass that")
_MATRIX = _Format("a matrix", _NEVER, (), "read it with numpy.loadtxt and pass the matrix")
_NAMED = _Format("a named matrix", _NEVER, (), "pass networkx.from_pandas_adjacency(read_csv(path, index_col=0))")
_MATRIX_MARKET = _Format("Matrix Market", _NEVER, ("mtx",), "read it with scipy.io.mmread and pass the matrix")
_FORMATS = (
    _Format("JSON", r"[\[{]", ("json", "jsonl"), f"read it with json.load, {_MAKE}"),
    _Format("XML", "<", ("xml", "graphml", "gexf"), "read it with networkx.read_graphml, or read_gexf"),
    _Format("YAML", r"---\s|- \[|- \{", ("yaml", "yml"), _MAKE),
    _Format("Pajek", r"\*(?:network|vertices)\b", ("net", "paj", "pajek"), "read it with networkx.read_pajek"),
    _Format("DOT", r"(?:strict\s+)?(?:di)?graph\b[^\n\[]*\{", ("dot", "gv"), "read it with networkx.nx_pydot.read_dot"),
    _Format("LEDA", r"leda\.graph\b", ("lgr", "leda"), "read it with networkx.read_leda"),
    _Format("DIMACS", r"(?:c\b.*\s+)*p\s+(?:edge|edges|col|sp|max|min)\s+\d", ("dimacs", "col", "clq"), _KEEP),
    _Format("UCINET", r"dl\s+n\s*=", ("dl",), _MAKE),
    _Format("GDF", "nodedef>", ("gdf",), _MAKE),
    _Format("graph6", r">>(?:graph|sparse)6<<", ("g6", "s6"), "read it with networkx.read_graph6, or read_sparse6"),
    _Format("adjacency lists", _NEVER, ("adjlist", "multiline_adjlist"), "read it with networkx.read_adjlist"),
    _Format("the trivial graph format", _NEVER, ("tgf",), _KEEP),
    _METIS,
    _MATRIX_MARKET,
)
#: Blank lines and comments, as readers of edge lists skip them.
_ABOVE = re.compile(rb"(?:[ \t]*(?:[#%][^\n]*)?\n)*[ \t]*")
_BANNER = re.compile(rb"^[ \t]*%%MatrixMarket\b", re.IGNORECASE | re.MULTILINE)
_GML = re.compile(rb"(?:(?:creator|version|comment)\b[^\n]*\n\s*)*graph\s*\[", re.IGNORECASE)
_BETWEEN = re.compile(rb"[\s,;]+")
#: What follows the comments is looked at up to here.
_HEAD = 2**16


def other_text(text: bytes) -> str | None:
    """What to tell whoever takes this text for an edge list, or for a table, if it begins as another format does."""
    at = data_begin(text)
    found = _MATRIX_MARKET if _BANNER.search(text, 0, at + 1) or _BANNER.match(text, at) else None
    head = text[at : at + _HEAD]
    found = found or next((one for one in _FORMATS if re.match(one.begins.encode(), head, re.IGNORECASE)), None)
    if found is None:
        return None
    return (
        f"the text begins as {found.name} does, of a kind that is not read here: {found.advice}. (A name that begins "
        "so can stand in a CSV file, in double quotes)"
    )


def other_name(path: str | os.PathLike[str]) -> str | None:
    """The same for the name of a file."""
    ending = Path(path).name.lower().removesuffix(".gz").rpartition(".")[2]
    found = next((one for one in _FORMATS if ending in one.endings), None)
    return None if found is None else _unless_stated(f"the name of the file ends as those of {found.name} do", found)


def rows_of_vertices(text: bytes) -> str | None:
    """The same for text of which line i is about vertex i: METIS, where it holds its neighbours, and square matrices.

    Where all lines are equally long, nothing tells them from edges but that all of them agree with each other: each
    edge stands in two.
    """
    at, end = data_begin(text), text[-_HEAD:]
    first = _BETWEEN.split(text[at : at + _HEAD].partition(b"\n")[0].strip())
    header = [int(field) if field.isdigit() and len(field) < 10 else -1 for field in first]
    ends = text.count(b"\n", at)
    # Lines below the first one, to the last that is not blank. Files are long, and nearly all are known by this alone.
    below = ends - end[len(end.rstrip()) :].count(b"\n") - text.count(b"\n%", at) - text.count(b"\n#", at)
    if 2 <= len(header) <= 4 and below <= header[0] <= ends and _is_metis(header, _rows(text, at)):
        return _unless_stated("the lines are those of METIS, the neighbours of a vertex on each", _METIS)
    if len(header) == below + 1 > 2 and _is_matrix(_rows(text, at)):
        return _unless_stated("the lines are those of a symmetric matrix", _MATRIX)
    if len(header) >= below > 1 and _has_names(text, text.rfind(b"\n", 0, at) + 1):
        return _unless_stated("the first line and the first column are the same names, as of a matrix", _NAMED)
    return None


def looks_like_gml(text: bytes) -> bool:
    """Whether a text is GML, by its beginning below comments."""
    return _GML.match(text, data_begin(text)) is not None


def data_begin(text: bytes) -> int:
    """Where the first line begins that is neither blank nor a comment."""
    above = _ABOVE.match(text)
    return above.end() if above else 0


def _unless_stated(because: str, found: _Format) -> str:
    stated = 'If it is an edge list all the same, say format="edgelist"'
    return f"{because}, of a kind that is not read here: {found.advice}. {stated}"


def _rows(text: bytes, at: int) -> list[list[bytes]]:
    """The fields of all lines that are no comments, blank ones too."""
    lines = (line.strip() for line in text[at:].splitlines())
    return [_BETWEEN.split(line) if line else [] for line in lines if not line.startswith((b"#", b"%"))]


def _is_metis(header: list[int], lines: list[list[bytes]]) -> bool:
    """Whether lines 1, ..., n are neighbours of vertices 1, ..., n, and each of m edges stands at both of its ends."""
    n, m, *form = header
    digits = f"{form[0]:03d}" if form else "000"
    rows = lines[1 : n + 1]
    if min(header) < 0 or len(digits) > 3 or set(digits) - {"0", "1"} or len(rows) < n or any(lines[n + 1 :]):
        return False
    if not all(field.isdigit() and len(field) < 10 for row in rows for field in row):
        return False
    skipped = (digits[0] == "1") + (digits[1] == "1") * (form[1] if len(form) > 1 else 1)
    step = 1 + (digits[2] == "1")
    ends = [(u, int(v)) for u, row in enumerate(rows, 1) for v in row[skipped::step]]
    pairs = set(ends)
    both = all(u != v and (v, u) in pairs for u, v in pairs)
    return len(ends) == len(pairs) == 2 * m > 0 and both


def _has_names(text: bytes, at: int) -> bool:
    """Whether the first line, but for its corner, holds what stands first on the lines below, as pandas writes it."""
    first, *lines = (line for line in text[at:].splitlines() if line.strip())
    separator = next((one for one in (b",", b";", b"\t") if one in first), None)
    corner, *names = first.split(separator)
    matching = names == [line.split(separator, 1)[0] for line in lines]
    return matching and len(names) > 1 and not corner.strip().isdigit()


def _is_matrix(lines: list[list[bytes]]) -> bool:
    """Whether the lines are those of a symmetric matrix of numbers without a diagonal."""
    rows = [row for row in lines if row]
    try:
        numbers = [[float(field) for field in row] for row in rows]
    except ValueError:
        return False
    hollow = all(len(row) == len(rows) and row[i] == 0 for i, row in enumerate(numbers))
    return hollow and numbers == [list(column) for column in zip(*numbers, strict=True)]
