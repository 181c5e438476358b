"""A budget that lives in a file: several processes, and several runs of the command line, share it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.accountant import PrivacyAccountant, Spent
from dpgraph.privacy.budget_schema import Books, Head, add_line, has_stream, make_file, read_head, read_on

if TYPE_CHECKING:
    from dpgraph.privacy.ledger import Ledger

_PATIENCE = 60.0  # seconds that a call waits for the lock of another process


class Charge(NamedTuple):
    """One line of a budget file."""

    time: str
    process: int
    epsilon: float
    delta: float


class FileAccountant(PrivacyAccountant):
    """A :class:`PrivacyAccountant` whose budget is a file, for several processes and for later days.

    The file is an SQLite database. A call is debited in one transaction under the lock of the file, and the debit is
    on disk before any data is read. A process that dies at any moment has debited its call whole, or not at all and
    read nothing. A file that is empty, or is no longer the one that was opened, is refused.

    Parameters
    ----------
    path : path-like
        The file. It is made (readable by its owner only) if it does not exist; then `epsilon` is needed.
    epsilon : float, optional
        Total epsilon > 0. For a file that exists it may be left out, and must be that of the file otherwise.
    delta : float, optional
        Total delta in [0, 1), as `epsilon`; 0 if a file is made without it.
    edges_per_person : int, optional
        As for :class:`PrivacyAccountant`, fixed as `epsilon` is; 1 if a file is made without it.

    Raises
    ------
    InvalidParameterError
        If the file is something else, has another budget, or cannot be read, written or locked within a minute.

    Notes
    -----
    *Guarantee.* That of :class:`PrivacyAccountant`, over all calls of all processes that use the file. A pickled
    accountant is its path: workers that receive it share the budget. Pass it as ``accountant=`` there, since a ``with``
    block does not reach other processes. The file keeps hashes of all seeds, and refuses to use one twice.

    *Limits.* A copy of the file is a second budget, and an old copy put back in its place forgets what was spent since,
    which only an accountant that is open notices: nothing in a file can prevent that (docs/guarantee.md, "A budget in a
    file"). Locks do not work on some network file systems: keep it on a local disk.
    :meth:`report` has the releases of this process; :meth:`charges` has every debit of every process.

    Examples
    --------
    >>> import networkx as nx, dpgraph, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "budget.db")
    >>> accountant = dpgraph.FileAccountant(path, epsilon=1.0)
    >>> _ = dpgraph.private_degrees(nx.karate_club_graph(), epsilon=0.75, accountant=accountant)
    >>> dpgraph.FileAccountant(path).remaining  # in another process, or tomorrow
    Budget(epsilon=0.25, delta=0.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        edges_per_person: int | None = None,
    ) -> None:
        if b"\0" in os.fsencode(path):
            raise InvalidParameterError("the path of a budget file may not hold a null character; give it another name")
        self._path, self._books = Path(os.fsdecode(path)).absolute(), Books()
        self._head: Head | None = None
        # A link that leads nowhere is no budget file either; it is not followed.
        if not os.path.lexists(self._path):
            self._make(epsilon, delta, 1 if edges_per_person is None else edges_per_person)
        with self._transaction() as (database, _):
            head = read_head(database)
        budget = head.total._asdict() | {"edges_per_person": head.edges_per_person}
        for name, asked in (("epsilon", epsilon), ("delta", delta), ("edges_per_person", edges_per_person)):
            if asked is not None and asked != budget[name]:
                raise InvalidParameterError(
                    f"the budget file {self._path} has {name}={budget[name]:g} in all, not {asked!r}; a budget is "
                    "fixed when its file is made"
                )
        super().__init__(**budget)

    def _make(self, epsilon: float | None, delta: float | None, edges: int) -> None:
        """Make the file, for its owner only, unless another process is faster."""
        if epsilon is None:
            raise InvalidParameterError(
                f"there is no budget file {self._path}; make one with dpgraph.FileAccountant(path, epsilon=...), or "
                "with 'dpgraph budget FILE --epsilon ...'"
            )
        made = PrivacyAccountant(epsilon=epsilon, delta=delta or 0.0, edges_per_person=edges)
        try:
            make_file(self._path, made.total, made.edges_per_person)
        except FileExistsError:
            pass
        except (OSError, sqlite3.Error) as error:
            raise InvalidParameterError(
                f"the budget file {self._path} cannot be made ({error}). It needs a folder that exists and may be "
                "written, on a disk that knows hard links. Nothing was released and nothing was spent"
            ) from None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _reopened, (self._path, self._head)

    def is_of(self, head: Head) -> bool:
        """Whether this is the budget of a file that was made with this head."""
        return self._head == head

    def charge(self, ledger: Ledger) -> None:
        """Debit one call in the file, all of it, or refuse and change nothing."""
        with self._transaction() as (database, books):
            used = ledger.stream is not None and has_stream(database, ledger.stream)
            books = add_line(database, books, self._cost(books.spent, ledger, used), ledger)
        self._books = books  # with its own line, which an old copy of the file lacks
        self._ledgers.append(ledger)

    def charges(self) -> list[Charge]:
        """Every debit so far, of all processes: when, of which process, epsilon and delta."""
        with self._transaction() as (database, _):
            return [Charge(*row) for row in database.execute("SELECT time, process, epsilon, delta FROM calls")]

    def _state(self) -> Spent:
        with self._transaction() as (_, books):
            return books.spent

    @contextmanager
    def _transaction(self) -> Iterator[tuple[sqlite3.Connection, Books]]:
        """A connection that holds the lock of the file, and its books; what is done is done whole, or not at all.

        Every transaction has a connection of its own, since one may not be carried into a forked process. None makes a
        file: one that has vanished would come back unspent.
        """
        try:
            uri = f"{self._path.as_uri()}?mode=rw"
            with closing(sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)) as database:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                books = self._read(database)
                yield database, books
                database.execute("COMMIT")
            self._books = books
        # A damaged text is no UTF-8, and a damaged number may be anything.
        except (sqlite3.Error, OSError, UnicodeError, TypeError) as error:
            raise InvalidParameterError(
                f"the budget file {self._path} cannot be used ({error}). Nothing was released and nothing was spent"
            ) from None

    def _read(self, database: sqlite3.Connection) -> Books:
        """Read on, in a file that is still the one that this accountant was opened with."""
        if self._path.stat().st_size == 0:
            raise sqlite3.DatabaseError(
                "it is empty: what had been charged to it is lost. If nothing ever was, delete it, and make it again"
            )
        head = read_head(database)
        if self._head is not None and head != self._head:
            raise sqlite3.DatabaseError("it is another budget than the one that this accountant was opened with")
        self._head = head
        return read_on(database, self._books)


def _reopened(path: Path, head: Head) -> FileAccountant:
    """What another process unpickles."""
    accountant = FileAccountant(path)
    if not accountant.is_of(head):
        raise InvalidParameterError(
            f"the budget file {path} is another one than that of the accountant which was pickled. Nothing was "
            "released and nothing was spent"
        )
    return accountant
