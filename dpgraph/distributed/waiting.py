"""Waiting for tasks of Dask."""

import errno
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from dpgraph.exceptions import DPGraphError
from dpgraph.extras import require

#: Seconds between two looks at what workers do, and after how many idle ones nothing is expected of them.
_SECONDS, _LOOKS = 15.0, 12
_NO_WORKER = "no worker of the cluster goes on: those that held the table were lost. Start workers, and make it again"
_NO_SCHEDULER = "the scheduler of the cluster was lost. Start a cluster and a Client, and make the table again"
_KILLED = "workers of the cluster were killed one after another. Start them with more memory, and make the table again"
_FULL = "the disk of a worker is full. Start workers whose local_directory= has more room, and make the table again"


@contextmanager
def waiting(client: Any, tasks: Sequence[Any]) -> Iterator[None]:
    """Tasks that are waited for are taken back if that is given up, or if nobody has anything to do for three minutes.

    Dask waits for ever then: tasks that were to be run near their data are not given to the successors of workers that
    were all lost at once. A lost scheduler, a full disk, and tasks that end every worker that gets them, are told in a
    sentence.
    """
    over, lost = threading.Event(), list[str]()

    def watch() -> None:
        idle = 0
        while idle < _LOOKS and not over.wait(_SECONDS):
            busy = False
            with suppress(Exception):  # no scheduler either
                fetched = all(task.status == "finished" for task in tasks)
                busy = fetched or any(client.processing().values())
            idle = 0 if busy else idle + 1
        if not over.is_set():
            lost.append(_NO_WORKER)
            client.cancel(tasks)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except BaseException as error:
        if client.status == "running":
            client.cancel(tasks)
        if isinstance(error, Exception) and (reason := _reason(client, error)):
            lost.append(reason)
        if not lost:
            raise
    finally:
        over.set()
    if lost:
        raise DPGraphError(lost[0])


def _reason(client: Any, error: Exception) -> str | None:
    """What a cluster lacked, if an error says so."""
    if client.status != "running":
        return _NO_SCHEDULER
    if isinstance(error, require("distributed").KilledWorker):
        return _KILLED
    full = isinstance(error, OSError) and (error.errno == errno.ENOSPC or "requested" in str(error))  # of numpy
    return _FULL if full else None
