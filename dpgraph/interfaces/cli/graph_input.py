"""The GRAPH argument: a file, or the name of a dataset."""

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from dpgraph import datasets
from dpgraph.datasets.files import read_text
from dpgraph.exceptions import DatasetError, InvalidParameterError
from dpgraph.interfaces.cli import options

__all__ = ["GraphFile", "GraphInput", "GraphRequest"]


@dataclass(frozen=True)
class GraphInput:
    """A graph as the commands use it: matrix, labels, and what the user called it."""

    adjacency: sparse.csr_array
    nodes: tuple[Hashable, ...]
    source: str

    def description(self) -> dict[str, dict[str, Any]]:
        """What a report says about it (public)."""
        return {"graph": {"source": self.source, "n_vertices": len(self.nodes)}}


@dataclass(frozen=True)
class GraphFile:
    """What the command line says about its graph."""

    graph: options.GraphArgument
    weight: options.WeightName = None
    nodes: options.Nodes = "file"
    labels: options.Labels = "int"
    format: options.FileFormat = "auto"
    symmetrize: options.Symmetrize = False
    data_dir: options.DataDir = None
    download: options.Download = True

    def read(self) -> GraphInput:
        """Read the file if there is one of this name, else the dataset."""
        if self.labels not in ("int", "str"):
            raise InvalidParameterError(f"--labels must be int or str; got {self.labels!r}")
        path = Path(self.graph)
        if path.is_dir():
            raise DatasetError(f"{self.graph} is a folder; expected a graph file or a dataset name")
        if path.exists():
            adjacency, nodes = self._read_file(path)
        elif _looks_like_path(self.graph):
            raise DatasetError(f"no such file: {self.graph}")
        else:
            adjacency, nodes = self._read_dataset()
        if self.weight is None:
            # Gset files always carry weights; without --weight every edge counts 1.
            adjacency.data = np.ones_like(adjacency.data)
        return GraphInput(adjacency, nodes, self.graph)

    def public_vertices(self) -> int | None:
        """Number of vertices, if the options state the public vertex set; the graph is not opened."""
        if self.nodes == "file":
            return None
        vertices = _vertex_set(self.nodes, str if self.labels == "str" else int)
        return vertices if isinstance(vertices, int) else len(vertices)

    def _read_file(self, path: Path) -> tuple[sparse.csr_array, tuple[Hashable, ...]]:
        kind = str if self.labels == "str" else int
        return datasets.read_sparse(
            path,
            format=self.format,  # type: ignore[arg-type]  # checked by the reader, which says what it takes
            nodes=_vertex_set(self.nodes, kind),
            labels=kind,
            weight=self.weight,
            symmetrize=self.symmetrize,
        )

    def _read_dataset(self) -> tuple[sparse.csr_array, tuple[Hashable, ...]]:
        if (self.nodes, self.format, self.labels, self.symmetrize) != ("file", "auto", "int", False):
            raise InvalidParameterError(
                f"--nodes, --format, --labels and --symmetrize describe a file; there is no file {self.graph!r}, "
                "and a dataset needs none of them"
            )
        known = datasets.available(self.data_dir)
        if self.weight is not None and self.graph in known and known[self.graph].collection != "gset":
            raise InvalidParameterError(f"--weight: the edges of dataset {self.graph} have no weights")
        try:
            return datasets.load_sparse(self.graph, data_dir=self.data_dir, download=self.download)
        except DatasetError as error:
            raise error if self.graph in known else DatasetError(f"no such file, and {error}") from None


@dataclass(frozen=True)
class GraphRequest(GraphFile):
    """A graph that is to be released from, with the public bound on its weights."""

    max_weight: options.MaxWeight = None

    def weights(self) -> dict[str, Any]:
        """``weight=`` and ``max_weight=`` for the matrix of a file, of which the weights are the one attribute.

        Raises
        ------
        InvalidParameterError
            One of the two options is given without the other.
        """
        if self.weight is not None and self.max_weight is None:
            raise InvalidParameterError(
                "--weight needs --max-weight, a public upper bound on a weight (it sets the noise)"
            )
        if self.weight is None and self.max_weight is not None:
            raise InvalidParameterError("--max-weight needs --weight; without it every edge counts 1")
        return {"weight": None if self.weight is None else "weight", "max_weight": self.max_weight}


def _looks_like_path(graph: str) -> bool:
    return "/" in graph or "\\" in graph or graph.removesuffix(".gz").endswith((".txt", ".csv", ".tsv", ".gml"))


def _vertex_set(nodes: str, kind: type[int] | type[str]) -> Literal["file"] | int | list[Hashable]:
    if nodes == "file":
        return "file"
    if nodes.startswith("@"):
        lines = [line.strip() for line in read_text(nodes[1:]).splitlines()]
        try:
            return [kind(line) for line in lines if line]
        except ValueError:
            raise DatasetError(
                f"{nodes[1:]}: expected one integer label a line (for names, pass --labels str)"
            ) from None
    try:
        return int(nodes)
    except ValueError:
        raise InvalidParameterError(f"--nodes must be file, a number, or @FILE; got {nodes!r}") from None
