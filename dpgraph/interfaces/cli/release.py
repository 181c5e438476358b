"""What all commands have in common that publish something: one class, whose steps come in one order.

What they write is checked before any budget is spent.
"""

from __future__ import annotations

import inspect
import json
import os
import pkgutil
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

import dpgraph
from dpgraph.atomic_write import require_room, write_atomically
from dpgraph.exceptions import InvalidParameterError
from dpgraph.extras import require
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.options import option, written
from dpgraph.interfaces.cli.outputs import STDOUT, Output, deliver, note, put, say
from dpgraph.privacy.budget_file import FileAccountant
from dpgraph.privacy.guard import private_function
from dpgraph.result import csv_text, label_texts

if TYPE_CHECKING:
    from dpgraph.problems.driver import Registry

#: Header and columns.
Table = tuple[Sequence[str], Sequence[Sequence[Any]]]


@dataclass(frozen=True)
class Source:
    """What a command has read: private data, and in public its labels, its name, and what a report says about it."""

    data: Any
    labels: Sequence[Hashable]
    name: str
    description: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Release:
    """A command that publishes the result of one private function.

    Options that are called like a parameter of the function are passed on. A command says how to :meth:`read` its
    data, and what becomes of the result.
    """

    command: ClassVar[str]
    #: Name of the private function in ``dpgraph``.
    function: ClassVar[str]
    #: Reads the private data: a method.
    read: ClassVar[Callable[..., Source]]
    #: Fields of the result that a report holds.
    reported: ClassVar[tuple[str, ...]] = ()

    epsilon: float = options.epsilon()
    delta: float = options.delta(0.0)
    seed: int | None = options.seed(None)
    budget: Path | None = options.budget()
    report: Path | None = written(
        "Write the guarantee, the ledger and the parameters as JSON; - is standard output.", ".json", ".txt", ""
    )
    progress: bool = options.progress()
    output: Path | None = written("Write the table as CSV; - is standard output.")

    def run(self) -> None:
        """Check, then read, then release, then print and write."""
        require_outputs(self)
        self._spend(self._arguments())

    @private_function  # an error says whether the budget is spent
    def _spend(self, given: dict[str, Any]) -> None:
        file = options.BUDGET.get()
        accountant = nullcontext() if file is None else FileAccountant(file)
        source = self.read()
        with accountant:
            result = self._release(source.data, self._given(source, given), self.seed)
        deliver(
            [lambda: "\n".join(self._lines(source, result)), lambda: result.privacy.table()],
            self._outputs(source, result, given),
            note if STDOUT in (self.output, self.report) else say,  # whoever reads the table reads nothing else
        )

    def _arguments(self) -> dict[str, Any]:
        """What the function is called with: those options that it reads."""
        read = inspect.signature(getattr(dpgraph, self.function)).parameters
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name in read}

    def _given(self, source: Source, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments in the terms of the data."""
        return given

    def _release(self, data: Any, given: dict[str, Any], seed: int | None) -> Any:
        """The result of the private function."""
        return getattr(dpgraph, self.function)(data, **given, rng=seed)

    def _table(self, source: Source, result: Any) -> Table:
        """Header and columns of the CSV output; vertices have the labels of the file."""
        (first, _), *rest = result.columns().items()
        return [first, *(name for name, _ in rest)], [source.labels, *(values for _, values in rest)]

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        """What a report says about the result."""
        return {name: getattr(result, name) for name in self.reported}

    def _report(self, source: Source, result: Any, given: dict[str, Any]) -> str:
        """What the file of the guarantee says, as JSON."""
        chosen = {"weight": self.weight} if hasattr(self, "weight") else {}
        # Whoever knows the seed can remove the noise: a report says that there was one, and not which.
        parameters = {name: value for name, value in (given | chosen).items() if name != "progress"}
        about: dict[str, Any] = {"program": "dpgraph", "version": version("dpgraph"), "command": self.command}
        about |= {**source.description, "parameters": parameters, "result": self._summary(source, result)}
        about["privacy"] = result.privacy.to_dict()
        # JSON has no NaN and no infinity.
        finite = json.loads(json.dumps(about, default=_plain), parse_constant=lambda _: None)
        return json.dumps(finite, indent=2, allow_nan=False) + "\n"

    def _outputs(self, source: Source, result: Any, given: dict[str, Any]) -> Iterator[Output]:
        """All that is written. Nothing is computed before it is."""
        yield self.output, lambda path: write_table(path, *self._table(source, result))
        yield self.report, lambda path: put(path, self._report(source, result, given))
        yield from self._files(source, result)

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        """What only this command writes."""
        yield from ()

    def _lines(self, source: Source, result: Any) -> list[str]:
        """What is printed about the result, above its ledger."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class StrategyRelease(Release):
    """A command whose function has strategies."""

    #: Where they are registered, unless that depends on options.
    strategies: ClassVar[str]

    mechanism: str = option("auto", "auto, which follows a public rule, or a strategy: a wrong name lists them.")
    options: list[str] | None = option(
        None,
        "An option of the mechanism, such as rank=4; repeat for more. Names and meaning: the class of that mechanism "
        "in dpgraph.strategies.",
        "--option",
        metavar="NAME=VALUE",
    )

    def _registry(self) -> Registry:
        found: Registry = pkgutil.resolve_name(self.strategies)
        return found

    def _arguments(self) -> dict[str, Any]:
        return super()._arguments() | {"mechanism": self._chosen(self.options or [])}

    def _chosen(self, given: list[str]) -> Any:
        """What to pass as ``mechanism=``: the name, or an options object where options were given."""
        registry = self._registry()
        if self.mechanism not in registry.names:
            names = ", ".join(registry.names)
            raise InvalidParameterError(f"--mechanism must be one of {names}; got {self.mechanism!r}")
        if not given:
            return self.mechanism
        strategy = registry.resolve(self.mechanism)[0]
        if strategy is None:
            raise InvalidParameterError("--option belongs to one mechanism; name it with --mechanism")
        hints = get_type_hints(strategy.options)
        values = {}
        for text in given:
            name, _, value = text.partition("=")
            if name not in hints:
                names = ", ".join(hints) or "none"
                raise InvalidParameterError(f"--option {name}: the options of {self.mechanism} are {names}")
            values[name] = _value(name, value, hints[name])
        return strategy.options(**values)


def _value(name: str, text: str, hint: Any) -> Any:
    """An option as its type says: a number, or one of the words."""
    words: dict[str, Any] = {}
    numbers = []
    for kind in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if get_origin(kind) is Literal:
            words |= {word: word for word in get_args(kind)}
        elif kind is bool:
            words |= {"true": True, "false": False}
        else:
            numbers.append(kind)
    if text in words:
        return words[text]
    for kind in numbers:
        with suppress(ValueError):
            return kind(text)
    expected = [{int: "an integer", float: "a number"}[kind] for kind in numbers] + [", ".join(words)] * bool(words)
    raise InvalidParameterError(f"--option {name} must be {' or '.join(expected)}; got {text!r}")


def require_outputs(command: Any) -> None:
    """Refuse the outputs of a command that could not be written or drawn, before any privacy budget is spent."""
    asked = [(one, getattr(command, one.name)) for one in fields(command) if "endings" in one.metadata]
    asked = [(one, path) for one, path in asked if path is not None]
    require_writable(command, *(path for _, path in asked))
    for one, path in asked:
        endings = one.metadata["endings"]
        ends = {".csv", ""} if path == STDOUT else {path.suffix.lower()}  # a text
        if endings and not ends & set(endings):
            known = " or ".join(filter(None, endings))
            raise InvalidParameterError(f"--{one.name} writes a file that ends in {known}; got {path.name!r}")
        if one.metadata["picture"]:
            require("matplotlib")
            from dpgraph.plot import require_format

            require_format(path.suffix)


def require_writable(command: Any, *paths: Path) -> None:
    """Refuse files that could not be written, or that the command reads."""
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise InvalidParameterError("two outputs have the same path; give each its own")
    reads = [getattr(command, name, None) for name in ("graph", "table_file", "categories")]
    reads += getattr(command, "graphs", [])
    kept = {os.path.realpath(path) for path in [*reads, options.BUDGET.get()] if path is not None}
    for path in (path for path in paths if path != STDOUT):
        folder = path.absolute().parent
        if os.path.realpath(path) in kept and path.is_file():
            raise InvalidParameterError(f"cannot write {path}: it is a file that this command reads")
        if not folder.is_dir():
            raise InvalidParameterError(f"cannot write {path}: the folder {folder} does not exist")
        try:
            require_room(path)
        except OSError as error:
            raise InvalidParameterError(f"cannot write {path}: {error.strerror or type(error).__name__}") from None


def write_table(path: Path, header: Sequence[str], columns: Sequence[Sequence[Any]]) -> None:
    """Header and columns as CSV."""
    put(path, csv_text(header, [label_texts(values) for values in columns]))


def picture(path: Path | None, plot: str, *of: Any, **options: Any) -> Output:
    """The picture that a function of :mod:`dpgraph.plot` draws."""

    def write(path: Path) -> None:
        from dpgraph import plot as pictures

        drawn = pictures.figure_bytes(getattr(pictures, plot)(*of, **options), path.suffix)
        write_atomically(path, drawn)

    return path, write


def _plain(value: Any) -> Any:
    """What JSON has no form for: numpy's arrays and numbers, paths, options objects."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return str(value) if isinstance(value, Path) else repr(value)
