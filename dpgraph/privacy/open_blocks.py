"""Which ``with PrivacyAccountant(...)`` blocks are open: around the running code, in this process, in those before it.

A block that is open in another process cannot be charged from here, so that a private call must at least not run for
free. A process that starts inside a block finds a variable in its environment. One that was there before, such as a
worker of a pool, finds a file: while a block is open, its process holds a lock on a file that is named after it, and
every process asks for the files of those that it descends from. A lock ends with its process, however that ends.
"""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dpgraph.exceptions import InvalidParameterError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows, where a file that a killed process left behind counts as a block
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from dpgraph.privacy.accountant import PrivacyAccountant

#: Accountants whose ``with`` block encloses the running code, outermost first. Immutable, so that threads and tasks
#: that enter the same accountant cannot disturb each other.
_ENCLOSING: ContextVar[tuple[PrivacyAccountant, ...]] = ContextVar("dpgraph_accountants", default=())


class _Block(NamedTuple):
    """An open block anywhere in the process, which a new thread does not inherit; or in the one that forked it."""

    pid: int
    accountant: PrivacyAccountant


_OPEN: list[_Block] = []

#: Environment variable that is set while a block is open. A process that is started then finds it.
_MARKER = "DPGRAPH_OPEN_ACCOUNTANT"
#: What this process found there.
_STARTED_INSIDE = os.environ.get(_MARKER)

#: The file that this process holds a lock on, by its descriptor.
_held: tuple[int, str] | None = None
_guard = threading.Lock()


def _renew_guard() -> None:
    global _guard
    _guard = threading.Lock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_guard)


def enter(accountant: PrivacyAccountant) -> None:
    """Open a block."""
    _ENCLOSING.set((*_ENCLOSING.get(), accountant))
    with _guard:
        if not _own():
            _tell()
        _OPEN.append(_Block(os.getpid(), accountant))


def leave(accountant: PrivacyAccountant) -> None:
    """Close a block. Those of two generators need not nest: each leaves its own, which need not be the innermost."""
    enclosing = list(_ENCLOSING.get())
    if accountant in enclosing:
        del enclosing[len(enclosing) - 1 - enclosing[::-1].index(accountant)]
        _ENCLOSING.set(tuple(enclosing))
    block = _Block(os.getpid(), accountant)
    with _guard:
        if block in _OPEN:  # otherwise a forked child leaves a block of its parent, which stays open there
            _OPEN.remove(block)
            if not _own():
                _untell()


def inside_a_block() -> bool:
    """Whether a private call of this process without ``accountant=`` is charged to a block, or refused."""
    return bool(_ENCLOSING.get() or _OPEN)


def ambient_accountant() -> PrivacyAccountant | None:
    """Return the accountant that a call without ``accountant=`` is charged to, or ``None``.

    That is the innermost enclosing ``with`` block. A thread started inside a block does not know that it was; it is
    charged to the block that is open in the process, because charging nobody would spend a budget twice. If several
    are open elsewhere, it is refused. So is a process that was started inside a block of another one, and one that
    descends from a process in which a block is open now.
    """
    if enclosing := _ENCLOSING.get():
        return enclosing[-1]
    candidates = {block.accountant for block in _OPEN}
    if len(candidates) > 1:
        raise InvalidParameterError(
            "this thread has no `with PrivacyAccountant` block of its own and several are open in other threads, so "
            "it is unclear which budget pays; pass accountant= to the call"
        )
    if candidates:
        return candidates.pop()
    if _STARTED_INSIDE is not None:
        raise InvalidParameterError(
            f"process {_STARTED_INSIDE} started this one inside a `with` block of its accountant, which cannot be "
            f"charged from here. {_WHAT_TO_DO}"
        )
    for pid in _ancestors(os.getpid()):
        if _is_told(pid):
            raise InvalidParameterError(
                f"process {pid}, to which this one belongs, is inside a `with` block of its accountant, which cannot "
                f"be charged from here. {_WHAT_TO_DO}"
            )
    return None


_WHAT_TO_DO = (
    "Pass accountant= to the call: a dpgraph.FileAccountant serves several processes. Or make the call in the process "
    "of the block (n_jobs=1). Nothing was released and nothing was spent"
)


def _own() -> list[_Block]:
    """Blocks that this process has opened itself."""
    return [block for block in _OPEN if block.pid == os.getpid()]


def _tell() -> None:
    """Processes that are started from now on find the variable, and those that run already the file."""
    global _held
    os.environ[_MARKER] = str(os.getpid())
    _held = None  # that of the parent, in a forked child
    # Where no file can be written, workers that run already cannot be told (docs/guarantee.md).
    with suppress(OSError):
        path = _file_of(os.getpid())
        with suppress(FileNotFoundError):
            os.unlink(path)  # of a dead process of the same number
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        _held = descriptor, path
        if fcntl is not None:
            fcntl.lockf(descriptor, fcntl.LOCK_EX)


def _untell() -> None:
    global _held
    if not _OPEN:
        os.environ.pop(_MARKER, None)
        if _STARTED_INSIDE is not None:
            os.environ[_MARKER] = _STARTED_INSIDE
    if _held is not None:
        (descriptor, path), _held = _held, None
        with suppress(OSError):
            os.close(descriptor)
            os.unlink(path)


def _is_told(pid: int) -> bool:
    """Whether a process of this user has a block open."""
    path = _file_of(pid)
    if not os.access(path, os.R_OK):  # mostly so, and faster than an error
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False  # it was killed
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return True


def _file_of(pid: int) -> str:
    user = os.getuid() if hasattr(os, "getuid") else ""
    return f"{tempfile.gettempdir()}{os.sep}dpgraph-{user}-{pid}.open"


@lru_cache(1)
def _ancestors(_own: int) -> list[int]:
    """Processes that this one descends from; where there is no /proc, its parent only."""
    found = [os.getppid()]
    with suppress(OSError):
        while found[-1] > 0:
            with open(f"/proc/{found[-1]}/stat", "rb") as file:
                # "number (name) state parent ...", and the name may hold anything
                found.append(int(file.read().rpartition(b")")[2].split()[1]))
    return [pid for pid in found if pid > 0]
