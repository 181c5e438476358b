"""Many cases in one test, which names those that fail: a test for each costs more than most of the cases do."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

#: So many tests share the cases of :func:`each`: enough for two processes to divide them.
PARTS = 8


@contextmanager
def about(*case: object) -> Iterator[None]:
    """Errors say in which case they were raised."""
    try:
        yield
    except Exception as error:
        error.add_note("in the case " + ", ".join(map(str, case)))
        raise


def each(names: str, cases: Iterable[Any], parts: int = PARTS) -> Callable[[Any], Any]:
    """Like ``pytest.mark.parametrize(names, cases)``, in a few tests that run all their cases and name those that fail.

    What a case changes by `monkeypatch` is put back before the next one, and each has a `tmp_path` of its own.
    """
    split = [name.strip() for name in names.split(",")]
    labelled = [(_label(case), case) for case in cases]
    parts = min(parts, len(labelled))

    def decorate(test: Any) -> Any:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def in_turn(part: int, **fixtures: Any) -> None:
            failed = []
            for number, (label, case) in enumerate(labelled[part::parts]):
                values = dict(zip(split, case if len(split) > 1 else (case,), strict=True))
                try:
                    with _fresh(fixtures, number) as own:
                        test(**values, **own)
                except (Exception, pytest.fail.Exception) as error:
                    note = f"in the case {label}"
                    error.add_note(note)
                    failed.append(error)
            if len(failed) == 1:
                raise failed[0]
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} cases", failed)

        rest = [parameter for name, parameter in signature.parameters.items() if name not in split]
        first = inspect.Parameter("part", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        in_turn.__signature__ = signature.replace(parameters=[first, *rest])  # type: ignore[attr-defined]
        return pytest.mark.parametrize("part", range(parts))(in_turn)

    return decorate


def _label(case: Any) -> str:
    return getattr(case, "label", None) or repr(case)[:200]


@contextmanager
def _fresh(fixtures: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Fixtures as a test of its own would have them."""
    own = dict(fixtures)
    with ExitStack() as stack:
        if "tmp_path" in own:
            own["tmp_path"] = own["tmp_path"] / str(number)
            own["tmp_path"].mkdir()
        if "monkeypatch" in own:
            own["monkeypatch"] = stack.enter_context(own["monkeypatch"].context())
        if "caplog" in own:
            own["caplog"].clear()
        if "capsys" in own:
            own["capsys"].readouterr()
        yield own
