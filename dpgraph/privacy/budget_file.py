"""A budget that lives in a file: several processes, and several runs of the command line, share it."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.accountant import Budget, PrivacyAccountant, Spent
from dpgraph.privacy.relation import Relation

if TYPE_CHECKING:
    from dpgraph.privacy.ledger import Ledger

#: Marks a database as a budget: "dpgb" in ASCII, in its header.
_APPLICATION = 0x64706762
_PATIENCE = 60.0  # seconds that a call waits for the lock of another process

#: Every line of `calls` holds the sums over all calls up to it, so that the last one is the state. Lines are only
#: ever added.
_SCHEMA = (
    "CREATE TABLE total (epsilon REAL NOT NULL, delta REAL NOT NULL)",
    """CREATE TABLE calls (
        id INTEGER PRIMARY KEY, time TEXT NOT NULL, process INTEGER NOT NULL,
        epsilon REAL NOT NULL, delta REAL NOT NULL,
        mu_squared REAL NOT NULL, slack REAL NOT NULL, pure REAL NOT NULL, seeded INTEGER NOT NULL,
        relation TEXT NOT NULL, words TEXT NOT NULL
    )""",
    "CREATE TRIGGER no_change BEFORE UPDATE ON calls BEGIN SELECT RAISE(ABORT, 'a charge is final'); END",
    "CREATE TRIGGER no_refund BEFORE DELETE ON calls BEGIN SELECT RAISE(ABORT, 'a charge is final'); END",
    f"PRAGMA application_id = {_APPLICATION}",
)


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
    read nothing.

    Parameters
    ----------
    path : path-like
        The file. It is made (readable by its owner only) if it does not exist; then `epsilon` is needed.
    epsilon : float, optional
        Total epsilon > 0. For a file that exists it may be left out, and must be that of the file otherwise.
    delta : float, optional
        Total delta in [0, 1), as `epsilon`; 0 if a file is made without it.

    Raises
    ------
    InvalidParameterError
        If the file is something else, has another budget, or cannot be read, written or locked within a minute.

    Notes
    -----
    *Guarantee.* That of :class:`PrivacyAccountant`, over all calls of all processes that use the file. A pickled
    accountant is its path: workers that receive it share the budget.

    *Limits.* A copy of the file is a second budget, and an old copy put back in its place forgets what was spent since:
    nothing in a file can prevent that. Locks do not work on some network file systems: keep it on a local disk.
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
        self, path: str | os.PathLike[str], *, epsilon: float | None = None, delta: float | None = None
    ) -> None:
        if "\0" in str(path):
            raise InvalidParameterError("the path of a budget file may not hold a null character; give it another name")
        self._path = Path(path).absolute()
        if not self._path.exists() or self._path.stat().st_size == 0:
            self._make(epsilon, delta)
        with self._transaction() as database:
            if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
                raise InvalidParameterError(f"{self._path} is not a budget file of dpgraph")
            found = Budget(*database.execute("SELECT epsilon, delta FROM total").fetchone())
        for name, asked, there in (("epsilon", epsilon, found.epsilon), ("delta", delta, found.delta)):
            if asked is not None and asked != there:
                raise InvalidParameterError(
                    f"the budget file {self._path} has {name}={there:g} in all, not {asked!r}; a budget is fixed when "
                    "its file is made"
                )
        super().__init__(epsilon=found.epsilon, delta=found.delta)

    def _make(self, epsilon: float | None, delta: float | None) -> None:
        """Make the file, for its owner only, unless another process is faster."""
        if epsilon is None:
            raise InvalidParameterError(
                f"there is no budget file {self._path}; make one with dpgraph.FileAccountant(path, epsilon=...), or "
                "with 'dpgraph budget FILE --epsilon ...'"
            )
        total = PrivacyAccountant(epsilon=epsilon, delta=delta or 0.0).total
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        with self._transaction() as database:
            if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                for statement in _SCHEMA:
                    database.execute(statement)
                database.execute("INSERT INTO total VALUES (?, ?)", total)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return FileAccountant, (self._path,)

    def charge(self, ledger: Ledger) -> None:
        """Debit one call in the file, all of it, or refuse and change nothing."""
        with self._transaction() as database:
            spent = self._after(_state(database), ledger)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            call = (now, os.getpid(), ledger.epsilon, ledger.delta)
            sums = (spent.mu_squared, spent.slack, spent.pure, spent.seeded)
            line = (*call, *sums, ledger.relation.key, ledger.relation.words)
            database.execute(f"INSERT INTO calls VALUES (NULL{', ?' * len(line)})", line)
        self._ledgers.append(ledger)

    def charges(self) -> list[Charge]:
        """Every debit so far, of all processes: when, of which process, epsilon and delta."""
        with self._transaction() as database:
            return [Charge(*row) for row in database.execute("SELECT time, process, epsilon, delta FROM calls")]

    def _state(self) -> Spent:
        with self._transaction() as database:
            return _state(database)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection that holds the lock of the file; what is done there is done whole, or not at all.

        Every transaction has a connection of its own, since one may not be carried into a forked process.
        """
        try:
            with closing(sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None)) as database:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                yield database
                database.execute("COMMIT")
        # A damaged text is no UTF-8, and a damaged number may be anything.
        except (sqlite3.Error, UnicodeError, TypeError) as error:
            raise InvalidParameterError(
                f"the budget file {self._path} cannot be used ({error}). Nothing was read and nothing was spent"
            ) from None


def _state(database: sqlite3.Connection) -> Spent:
    query = "SELECT mu_squared, slack, pure, seeded, relation, words FROM calls ORDER BY id DESC LIMIT 1"
    for mu_squared, slack, pure, seeded, *relation in database.execute(query):
        if not all(isinstance(value, float) and 0 <= value < math.inf for value in (mu_squared, slack, pure)):
            raise sqlite3.DatabaseError("damaged")
        return Spent(mu_squared, slack, pure, Relation(*relation), bool(seeded))
    return Spent()
