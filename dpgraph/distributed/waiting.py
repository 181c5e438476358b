"""Waiting for tasks of Dask."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from dpgraph.exceptions import DPGraphError

#: Seconds between two looks at what workers do, and after how many idle ones nothing is expected of them.
_SECONDS, _LOOKS = 15.0, 12


@contextmanager
def waiting(client: Any, tasks: Sequence[Any]) -> Iterator[None]:
    """Tasks that are waited for are taken back if that is given up, or if nobody has anything to do for three minutes.

    Dask waits for ever then: tasks that were to be run near their data are not given to the successors of workers that
    were all lost at once.
    """
    over, lost = threading.Event(), []

    def watch() -> None:
        idle = 0
        while idle < _LOOKS and not over.wait(_SECONDS):
            busy = False
            with suppress(Exception):  # no scheduler either
                fetched = all(task.status == "finished" for task in tasks)
                busy = fetched or any(client.processing().values())
            idle = 0 if busy else idle + 1
        if not over.is_set():
            lost.append(True)
            client.cancel(tasks)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except BaseException:
        client.cancel(tasks)
        if not lost:
            raise
    finally:
        over.set()
    if lost:
        raise DPGraphError(
            "no worker of the cluster goes on: those that held the table were lost. Start workers, and make it again"
        )
