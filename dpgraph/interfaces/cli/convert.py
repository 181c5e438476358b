"""``dpgraph convert``: private data in, private data out."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated

import typer

from dpgraph.datasets.writers import WRITERS
from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.graph_input import GraphRequest
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


def convert(
    graph: options.GraphArgument,
    output: Output,
    weight: options.WeightName = None,
    nodes: options.Nodes = "file",
    labels: options.Labels = "int",
    format: options.FileFormat = "auto",
    symmetrize: options.Symmetrize = False,
    data_dir: options.DataDir = None,
    download: options.Download = True,
) -> None:
    """Convert a graph from one file format to another. **NOT PRIVATE: the output holds the same edges.**

    A vertex without edges is written to an edge list as a self-loop, which dpgraph and most other readers drop while
    they keep the vertex. A .gset file numbers the vertices 1..n in the order of their labels.
    """
    ending = output.name.removesuffix(".gz").rpartition(".")[2]
    if ending not in WRITERS:
        known = ", ".join(f".{name}" for name in WRITERS)
        raise InvalidParameterError(f"OUTPUT must end in {known}, or one of these with .gz; got {output.name!r}")
    require_writable(output)
    source = GraphRequest(graph, format, nodes, labels, weight, symmetrize, data_dir, download).read()
    text = WRITERS[ending](source.adjacency, source.nodes, weight).encode()
    # No time stamp in the gzip header: equal input gives equal bytes.
    write_atomically(output, gzip.compress(text, mtime=0) if output.name.endswith(".gz") else text)
    typer.echo(f"wrote {output}: the private graph itself, in another format", err=True)
