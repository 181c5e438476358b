"""Commands whose parameters are bundles: dataclasses of options that several commands share."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

__all__ = ["spelled_out"]


def spelled_out(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a dataclass replaced by an option for each of its fields.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Budget:
    ...     epsilon: float
    ...     delta: float = 0.0
    >>> def degrees(budget: Budget, mechanism: str = "auto") -> None:
    ...     print(budget, mechanism)
    >>> str(inspect.signature(spelled_out(degrees)))
    "(*, epsilon: float, delta: float = 0.0, mechanism: str = 'auto') -> None"
    >>> spelled_out(degrees)(epsilon=1.0, delta=0.0, mechanism="laplace")
    Budget(epsilon=1.0, delta=0.0) laplace
    """
    hints = get_type_hints(command, include_extras=True)
    bundles = {name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for own in inspect.signature(command).parameters.values():
        if own.name in bundles:
            parameters += _options(bundles[own.name])
        else:
            parameters.append(own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[own.name]))

    def run(**given: Any) -> None:
        for name, kind in bundles.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__signature__ = inspect.Signature(parameters, return_annotation=None)  # type: ignore[attr-defined]
    return run


def _options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
