"""``dpgraph benchmark``: private results of public graphs beside peers. **Not private.**"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpgraph import datasets
from dpgraph.arguments import check_epsilon
from dpgraph.atomic_write import write_atomically
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.interfaces.benchmark import (
    TASKS,
    Cells,
    PublicGraph,
    Table,
    about,
    as_csv,
    as_markdown,
    carried_out,
    cells_of,
    panels_of,
    runs_of,
)
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.graph_input import GraphReading, complete_graph
from dpgraph.interfaces.cli.options import argument, option, written
from dpgraph.interfaces.cli.outputs import STDOUT, deliver, note, say, show
from dpgraph.interfaces.cli.release import picture, require_outputs
from dpgraph.progress import tqdm

_PROBLEMS = ("degree-distribution", "counts", "embedding", "communities", "cut")
_EPSILONS = ("0.5", "1", "2", "4")


@dataclass(frozen=True, kw_only=True)
class Benchmark(GraphReading):
    """Compare private results with peers and with what is found without privacy. **NOT PRIVATE: for public graphs.**

    Every problem, on every graph, by every mechanism, at every epsilon, several times. What each problem is judged by
    stands in its table: the share of the edges cut, the share of the modularity, the sine of an angle ... Peers are
    randomised response, Gaussian noise on the matrix, the noisy power method and others; what needs n x n numbers is
    left out above 2000 vertices, unless it is named. All edges count 1.

    With `--output FILE.csv` every run is written when it ends, and the runs that the file holds are not done again: a
    command that was stopped goes on where it was.

    Example: `dpgraph benchmark wiki-Vote friends.csv --problem cut --problem communities --epsilon 0.5,1,2 --runs 5
    --output runs.csv --plot curves.png`
    """

    graphs: list[str] = argument(
        "GRAPH...", "Graph files or names of datasets (see `dpgraph datasets list`).", autocompletion=complete_graph
    )
    problem: list[str] | None = option(
        None,
        f"Problems, repeated or separated by commas: all, or of {', '.join(TASKS)}. Default: {','.join(_PROBLEMS)}.",
    )
    epsilon: list[str] | None = option(
        None, f"Values of epsilon, repeated or separated by commas. Default: {','.join(_EPSILONS)}."
    )
    delta: float = options.delta(1e-6)
    mechanism: list[str] | None = option(
        None, "Only these mechanisms, repeated or separated by commas. Default: the usual ones of each problem."
    )
    runs: int = option(5, "Runs of each mechanism at each epsilon.")
    output: Path | None = written(
        "Append every run to this CSV file, and take those that it holds; - writes them on standard output."
    )
    table: Path | None = written("Write means and 95 % intervals, as Markdown or CSV.", ".md", ".csv")
    plot: Path | None = written("Write utility against epsilon as a picture (PNG, PDF, SVG).", picture=True)
    seed: int = option(0, "Seed of the first run; those after it count on.", panel="What is protected")
    progress: bool = options.progress()

    def run(self) -> None:
        """Check everything, run problem by problem, and print the tables of each when it is done; then write files."""
        mechanisms, seeds = _parts(self.mechanism or ()), range(self.seed, self.seed + self.runs)
        problems, budgets = self._checked(mechanisms)
        require_outputs(replace(self, output=None) if self.output == STDOUT else self)
        self._require_graphs()
        shown = self.output == STDOUT  # the runs have standard output
        table = Table(show if shown else lambda _: None) if shown or self.output is None else Table.read(self.output)
        graphs = [self._public(name) for name in dict.fromkeys(self.graphs)]
        note("NOT PRIVATE: exact numbers, for public graphs only")
        warnings.filterwarnings("ignore", "a seed", UserWarning)  # that noise comes twice is no danger here
        runs = {
            problem: [(graph, run) for graph in graphs for run in runs_of(graph, problem, mechanisms, budgets, seeds)]
            for problem in problems
        }
        missing = sum(run not in table.outcomes for group in runs.values() for _, run in group)
        text, cells, tell = about(self.delta), Cells(), note if shown else say
        tell(text)
        with tqdm(total=missing, desc="runs", disable=not self.progress) as bar:
            for problem, group in runs.items():
                for graph, run in group:
                    if run not in table.outcomes:
                        bar.set_postfix_str(f"{graph.name}, {problem}, {run.mechanism}")
                        table.add(run, carried_out(graph, run))
                        bar.update()
                cells |= (found := cells_of((run, table.outcomes[run]) for _, run in group))
                tell(more := f"\n{as_markdown(found)}")
                text += f"\n{more}"
        deliver(
            (),
            [
                (
                    self.table,
                    lambda path: write_atomically(path, as_csv(cells) if path.suffix == ".csv" else f"{text}\n"),
                ),
                picture(self.plot, "plot_benchmark", panels_of(cells) if self.plot else []),
            ],
        )

    def _checked(self, mechanisms: Sequence[str]) -> tuple[list[str], list[tuple[float, float]]]:
        """Problems and budgets that are asked for, or an error."""
        if self.runs < 1:
            raise InvalidParameterError(f"--runs must be at least 1; got {self.runs}")
        if self.seed < 0:
            raise InvalidParameterError(f"--seed must be at least 0; got {self.seed}")
        epsilons = sorted({check_epsilon(number) for number in _numbers(_parts(self.epsilon or _EPSILONS))})
        problems = list(dict.fromkeys(_parts(self.problem or _PROBLEMS)))
        problems = list(TASKS) if "all" in problems else problems
        if not epsilons or not problems:
            raise InvalidParameterError("--epsilon takes at least one number, and --problem at least one name")
        for name in problems:
            if name not in TASKS:
                raise InvalidParameterError(f"--problem must be all or some of {', '.join(TASKS)}; got {name!r}")
        known = dict.fromkeys(name for problem in problems for name in (*TASKS[problem].usual, *TASKS[problem].others))
        for name in mechanisms:
            if name not in known:
                raise InvalidParameterError(f"--mechanism must be some of {'; '.join(known)}; got {name!r}")
        return problems, [(epsilon, self.delta) for epsilon in epsilons]

    def _require_graphs(self) -> None:
        """Refuse bad options and names before any graph is read."""
        self.reading()
        known = datasets.available(self.data_dir)
        for name in self.graphs:
            if self.file(name) is None and name not in known:
                self.read_graph(name)  # which says what is there

    def _public(self, name: str) -> PublicGraph:
        """Read a graph."""
        graph = PublicGraph("standard input" if name == "-" else name, self.read_graph(name).data)
        if graph.adjacency.nnz == 0:
            raise InvalidGraphError(f"{graph.name} has no edges: nothing can be measured")
        return graph


def _parts(texts: Sequence[str]) -> list[str]:
    """Repeated options, or separated by commas."""
    joined = [part.strip() for text in texts for part in text.split(",")]
    return [part for part in joined if part]


def _numbers(texts: Sequence[str]) -> list[float]:
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise InvalidParameterError(f"--epsilon takes numbers separated by commas; got {', '.join(texts)!r}") from None
