"""What a budget file holds, how it is made, and what is checked whenever it is read.

Lines are only ever added. Each holds the cost of its call and the sums over all calls up to it, so that the last one is
the state. Triggers keep a hand that edits the file from taking a charge back by accident; every reader checks that they
are there, and that the sums add up. Whoever wants to can still deceive both: docs/guarantee.md, "A budget in a file".
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dpgraph.privacy.accountant import Budget, Cost, Spent
from dpgraph.privacy.relation import Relation

if TYPE_CHECKING:
    from dpgraph.privacy.ledger import Ledger
    from dpgraph.privacy.streams import Stream

#: Marks a database as a budget: "dpgb" in ASCII, in its header.
_APPLICATION = 0x64706762

_COSTS, _SUMS = ("mu_squared", "slack", "pure"), ("all_mu_squared", "all_slack", "all_pure")


def _column(name: str) -> str:
    return f"{name} REAL NOT NULL CHECK (typeof({name}) = 'real' AND {name} >= 0 AND {name} < 9e999)"


def _final(table: str) -> tuple[str, ...]:
    """Triggers that refuse to change or delete a line."""
    return tuple(
        f"CREATE TRIGGER {event.lower()}_{table} BEFORE {event} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, 'a charge is final'); END"
        for event in ("UPDATE", "DELETE")
    )


def _last(name: str, otherwise: str) -> str:
    """SQL: what the line before a new one has."""
    return f"coalesce((SELECT {name} FROM calls WHERE id = NEW.id - 1), {otherwise})"


_ADDS_UP = " AND ".join(
    [
        *(f"NEW.{total} = {_last(total, '0.0')} + NEW.{cost}" for cost, total in zip(_COSTS, _SUMS, strict=True)),
        f"NEW.relation = {_last('relation', 'NEW.relation')}",
    ]
)

_TOTAL = f"CREATE TABLE total (name TEXT NOT NULL, {_column('epsilon')}, {_column('delta')})"
#: The total of persons has a column more, so that versions that know nothing of persons refuse the file.
_TOTAL_OF_PERSONS = f"{_TOTAL[:-1]}, edges_per_person INTEGER NOT NULL CHECK (edges_per_person > 1))"
#: A new line has the next number, so that INSERT OR REPLACE, which fires no trigger of a deletion, replaces none. The
#: stream of seeded noise is empty for a call without a seed.
_SCHEMA = (
    f"""CREATE TABLE calls (
        id INTEGER PRIMARY KEY, time TEXT NOT NULL, process INTEGER NOT NULL, {_column("epsilon")}, {_column("delta")},
        {", ".join(map(_column, _COSTS + _SUMS))}, relation TEXT NOT NULL, words TEXT NOT NULL,
        origin TEXT, state TEXT, owner TEXT
    )""",
    *_final("total"),
    *_final("calls"),
    "CREATE TRIGGER one_total BEFORE INSERT ON total WHEN EXISTS (SELECT 1 FROM total) "
    "BEGIN SELECT RAISE(ABORT, 'a budget is fixed'); END",
    "CREATE TRIGGER next_line BEFORE INSERT ON calls WHEN NEW.id IS NOT (SELECT coalesce(max(id), 0) + 1 FROM calls) "
    "BEGIN SELECT RAISE(ABORT, 'a charge is a new line'); END",
    f"CREATE TRIGGER sums_add_up BEFORE INSERT ON calls WHEN ({_ADDS_UP}) IS NOT 1 "
    "BEGIN SELECT RAISE(ABORT, 'the sums do not add up'); END",
)


class Head(NamedTuple):
    """What is fixed when a file is made: a random name, which tells it from every other one, and the budget."""

    name: str
    total: Budget
    edges_per_person: int = 1


class Books(NamedTuple):
    """How far a file has been read: the number of the last line, and the state that it leaves."""

    line: int = 0
    spent: Spent = Spent()


def make_file(path: Path, total: Budget, edges_per_person: int) -> None:
    """Make a budget file for its owner only; FileExistsError if there is one. No process ever sees half of it.

    It is written under another name and then linked, which unlike a rename replaces nothing.
    """
    temporary = path.with_name(f".dpgraph-{secrets.token_hex(8)}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(temporary, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = FULL")
            database.execute("BEGIN IMMEDIATE")
            persons = () if edges_per_person == 1 else (edges_per_person,)
            for statement in (_TOTAL_OF_PERSONS if persons else _TOTAL, *_SCHEMA):
                database.execute(statement)
            line = (secrets.token_hex(16), *total, *persons)
            database.execute(f"INSERT INTO total VALUES ({', '.join('?' * len(line))})", line)
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute("COMMIT")
        os.link(temporary, path)
        _keep(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _keep(folder: Path) -> None:
    """Have the name of a new file on disk: one that a power cut takes away would be made again, unspent."""
    with suppress(OSError):  # not on Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_head(database: sqlite3.Connection) -> Head:
    """What was fixed when the file was made; DatabaseError if this is no budget file, or no longer a whole one."""
    if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise sqlite3.DatabaseError("it is not a budget file of dpgraph")
    found = sorted(row[0] for row in database.execute("SELECT sql FROM sqlite_master"))
    if not any(found == sorted((total, *_SCHEMA)) for total in (_TOTAL, _TOTAL_OF_PERSONS)):
        raise sqlite3.DatabaseError("its tables and triggers are not those of a budget file")
    lines = database.execute("SELECT * FROM total").fetchall()
    if len(lines) != 1:
        raise sqlite3.DatabaseError("it has not one total")
    name, epsilon, delta, *persons = lines[0]
    return Head(name, Budget(epsilon, delta), *persons)


def read_on(database: sqlite3.Connection, books: Books) -> Books:
    """Read the lines that were added since; DatabaseError if they do not go on where these books end.

    The last two lines that are known are read again: an old copy that was put back has another last one, or none.
    """
    first = max(books.line - 1, 1)
    line, spent = first - 1, Spent(seeded=books.spent.seeded)
    query = f"SELECT id, {', '.join(_COSTS + _SUMS)}, relation, words, origin FROM calls WHERE id >= ? ORDER BY id"
    for line, (number, *amounts, key, words, origin) in enumerate(database.execute(query, (first,)), first):
        sums = tuple(amounts[3:])
        spent = spent.after(Cost(*amounts[:3]), Relation(key, words), seeded=origin is not None)
        if line == first > 1:
            spent = spent._replace(mu_squared=sums[0], slack=sums[1], pure=sums[2])
        changed = line == books.line and sums != books.spent[:3]
        if changed or number != line or spent[:3] != sums or min(amounts) < 0:
            raise sqlite3.DatabaseError("its lines have been changed, or do not add up")
    if line < books.line:
        raise sqlite3.DatabaseError("lines that were there are gone")
    return Books(line, spent)


def add_line(database: sqlite3.Connection, books: Books, cost: Cost, ledger: Ledger) -> Books:
    """Enter the charge of a call; the books with it."""
    spent = books.spent.after(cost, ledger.relation, seeded=ledger.stream is not None)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    names = (ledger.relation.key, ledger.relation.words)
    stream = (None, None, None) if ledger.stream is None else ledger.stream
    numbers = (ledger.group.epsilon, ledger.group.delta, *cost, *spent[:3])
    line = (books.line + 1, now, os.getpid(), *numbers, *names, *stream)
    database.execute(f"INSERT INTO calls VALUES ({', '.join('?' * len(line))})", line)
    return Books(books.line + 1, spent)


def has_stream(database: sqlite3.Connection, stream: Stream) -> bool:
    """Whether a line has this stream of noise: :meth:`~dpgraph.privacy.streams.UsedStreams.have`."""
    query = "SELECT 1 FROM calls WHERE state = ? OR (origin = ? AND owner <> ?)"
    return database.execute(query, (stream.state, stream.origin, stream.owner)).fetchone() is not None
