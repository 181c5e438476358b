"""``dpgraph convert``: private data in, private data out."""

import gzip
from pathlib import Path
from typing import Annotated

import typer

from dpgraph.datasets.writers import WRITERS
from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.cli.bundles import spelled_out
from dpgraph.interfaces.cli.graph_input import GraphFile
from dpgraph.interfaces.cli.output import require_writable, write_atomically

__all__ = ["convert"]

Output = Annotated[
    Path,
    typer.Argument(
        metavar="OUTPUT",
        help="Its ending says the format: .txt (tab-separated edge list), .csv, .gml or .gset, each also with .gz.",
        show_default=False,
    ),
]


@spelled_out
def convert(request: GraphFile, output: Output) -> None:
    """Convert a graph from one file format to another. **NOT PRIVATE: the output holds the same edges.**

    A vertex without edges is written to an edge list as a self-loop, which dpgraph and most other readers drop while
    they keep the vertex. A .gset file numbers the vertices 1..n in the order of their labels.
    """
    ending = output.name.removesuffix(".gz").rpartition(".")[2]
    if ending not in WRITERS:
        known = ", ".join(f".{name}" for name in WRITERS)
        raise InvalidParameterError(f"OUTPUT must end in {known}, or one of these with .gz; got {output.name!r}")
    require_writable(output)
    source = request.read()
    text = WRITERS[ending](source.adjacency, source.nodes, request.weight).encode()
    # No time stamp in the gzip header: equal input gives equal bytes.
    write_atomically(output, gzip.compress(text, mtime=0) if output.name.endswith(".gz") else text)
    typer.echo(f"wrote {output}: the private graph itself, in another format", err=True)
