"""``dpgraph datasets``: public graphs by name."""

from typing import Annotated

import typer

from dpgraph import datasets
from dpgraph.interfaces.cli import options

__all__ = ["datasets_app"]

datasets_app = typer.Typer(no_args_is_help=True, help="List and fetch public graphs.")


@datasets_app.command("list")
def list_datasets(data_dir: options.DataDir = None) -> None:
    """List the graphs that can be used by name.

    Vertices and edges are those that the publisher states (edges may count self-loops and both directions).
    """
    typer.echo(f"{'name':<20} {'collection':<12} {'vertices':>10} {'edges':>12}  {'listed as':<10} from")
    for info in datasets.available(data_dir).values():
        n, m = ("?" if size is None else str(size) for size in (info.nodes, info.edges))
        kind = "arcs" if info.directed else "edges"
        origin = info.url or ("this package" if info.collection == "bundled" else "a local folder")
        typer.echo(f"{info.name:<20} {info.collection:<12} {n:>10} {m:>12}  {kind:<10} {origin}")


@datasets_app.command("fetch")
def fetch_dataset(
    name: Annotated[str, typer.Argument(help="A name of `dpgraph datasets list`.", show_default=False)],
    data_dir: options.DataDir = None,
    progress: options.Progress = False,
) -> None:
    """Fetch a public graph once, check it and keep it.

    Files go to the download cache ($DPGRAPH_CACHE, by default the user's cache folder), unless the folder of local
    graphs has them. Their checksum is recorded the first time and verified ever after; an interrupted download is
    continued. Without a network: put the file into a folder by hand and name the folder in $DPGRAPH_DATA.

    Example: `dpgraph datasets fetch wiki-Vote --progress`
    """
    A, nodes = datasets.load_sparse(name, data_dir=data_dir, progress=progress)
    typer.echo(f"{name}: {len(nodes)} vertices, {A.nnz // 2} undirected edges without self-loops")
