"""Programs that tests start, in an environment of a few variables, so that no result depends on whose machine it is."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

#: What a program may know of the machine: where programs, home and temporary files are, and, on Windows, the system.
_KEPT = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP")
#: What is the same for all tests: one thread for each process, and where compiled code is kept.
_TESTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_CACHE_DIR")

_CAUGHT: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


def environment(**more: str) -> dict[str, str]:
    """A minimal environment and `more`."""
    return {name: os.environ[name] for name in (*_KEPT, *_TESTS) if name in os.environ} | more


def python(*arguments: Any, env: dict[str, str] | None = None, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run this Python with `arguments`, and `env` beside the minimal environment; its output is kept as text."""
    return subprocess.run(_command(arguments), env=environment(**env or {}), **{"check": False} | _CAUGHT | options)


def started(*arguments: Any) -> "subprocess.Popen[str]":
    """Start this Python with `arguments`, and do not wait for it."""
    return subprocess.Popen(_command(arguments), env=environment(), **_CAUGHT)


def dpgraph(*arguments: Any, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run the command line as a program; options as for :func:`python`."""
    return python("-m", "dpgraph", *arguments, **options)


def forked(work: Callable[[], Any]) -> Any:
    """What `work` returns in a forked child, or its error."""
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_send, args=(work, there))
    child.start()
    assert here.poll(60), "the child hangs"
    found = here.recv()
    child.join()
    return found


def _send(work: Callable[[], Any], pipe: Any) -> None:
    try:
        pipe.send(work())
    except Exception as error:
        pipe.send(error)


def benchmark(name: str) -> Any:
    """A script of the benchmarks as a module; they import each other by their names alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(Path(__file__).parents[1] / "benchmarks"), *sys.path])
        return import_module(name)


def _command(arguments: tuple[Any, ...]) -> list[str]:
    return [sys.executable, *map(str, arguments)]
