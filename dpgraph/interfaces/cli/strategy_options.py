"""``--option NAME=VALUE``: options of the chosen strategy, read by the types of its options dataclass."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from dpgraph.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from dpgraph.problems.strategy import Registry

__all__ = ["Options", "described", "with_options"]

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the mechanism, such as rank=4; repeat for more. Names and meaning: the class of that "
        "mechanism in dpgraph.strategies.",
    ),
]
_WORDS = {"true": True, "false": False}


def with_options(registry: Registry, mechanism: str, given: list[str] | None) -> Any:
    """What to pass as ``mechanism=``: the name, or an options object where options were given."""
    if mechanism not in registry.names:
        raise InvalidParameterError(f"--mechanism must be one of {', '.join(registry.names)}; got {mechanism!r}")
    if not given:
        return mechanism
    strategy = registry.resolve(mechanism)[0]
    if strategy is None:
        raise InvalidParameterError("--option belongs to one mechanism; name it with --mechanism")
    hints = {name: hint for name, hint in get_type_hints(strategy.options).items() if name not in strategy.unread}
    values = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in hints:
            names = ", ".join(hints) or "none"
            raise InvalidParameterError(f"--option {name}: the options of {mechanism} are {names}")
        values[name] = _value(name, value, hints[name])
    return strategy.options(**values)


def _value(name: str, value: str, hint: Any) -> Any:
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for kind in kinds:
        if get_origin(kind) is Literal:
            if value in get_args(kind):
                return value
        elif kind is bool:
            if value in _WORDS:
                return _WORDS[value]
        else:
            try:
                return kind(value)
            except ValueError:
                continue
    raise InvalidParameterError(f"--option {name} must be {' or '.join(map(_words, kinds))}; got {value!r}")


def _words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(get_args(kind))
    return {bool: "true, false", int: "an integer", float: "a number"}[kind]


def described(mechanism: Any) -> Any:
    """``mechanism=`` for a report: a name, or an options object as text."""
    return mechanism if isinstance(mechanism, str) else repr(mechanism)
