"""Where results go: the streams of the process, and the one way in which a paid result reaches its outputs."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TextIO, cast

from dpgraph.exceptions import DPGraphError

#: Exit statuses.
FAILED, BAD_INPUT, HALTED, INTERRUPTED = 1, 2, 3, 130

#: A file that was asked for or not, and what writes it there.
Output = tuple[Path | None, Callable[[Path], Any]]
#: The name of a file that stands for standard output.
STDOUT = Path("-")


class Ended(DPGraphError):
    """A command ends with this message, which is its own, and exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class NotTakenError(DPGraphError):
    """Standard output does not take what is written to it."""


def deliver(
    paragraphs: Sequence[Callable[[], str]], outputs: Iterable[Output], printed: Callable[[str], None] | None = None
) -> None:
    """Print a result, by default on standard output, then write all its files, whatever happens to some of them.

    Its budget may be spent. All that a command does with a paid result is done by these functions, which are called
    here. One that fails, with any error, keeps no other from being called. An interrupt does, but then, too, the
    command ends with what was written and what was not.
    """
    stream = "standard error" if printed is note else "standard output"
    left: list[tuple[str, Callable[[], Any]]] = [
        (stream, partial(_print, paragraph, printed or say)) for paragraph in paragraphs
    ]
    left += [
        ("standard output" if path == STDOUT else str(path), partial(write, path)) for path, write in _named(outputs)
    ]
    done: list[str] = []
    failed: dict[str, str] = {}
    status = FAILED
    try:
        while left:
            name, act = left[0]
            try:
                act()
                done.append(name)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                failed.setdefault(name, reason(error))
                if os.environ.get("DPGRAPH_DEBUG"):
                    traceback.print_exception(error)
            left.pop(0)
    except KeyboardInterrupt:
        status = INTERRUPTED
        failed |= {name: "interrupted" for name, _ in left}
    if failed:
        kept = [name for name in dict.fromkeys(done) if name not in failed]
        missing = ", ".join(f"{name} ({why})" for name, why in failed.items())
        written = f"written: {', '.join(kept)}" if kept else "nothing was written"
        raise Ended(f"not written: {missing}; {written}", status)


def _print(paragraph: Callable[[], str], printed: Callable[[str], None]) -> None:
    printed(paragraph())


def say(text: str) -> None:
    """Print a paragraph, and see that it has gone."""
    show(text + "\n")


def show(text: str) -> None:
    """Print a text as it is, and see that it has gone."""
    sys.stdout.write(text)
    sys.stdout.flush()


def put(path: Path, text: str) -> None:
    """Write a text to a file, or to standard output."""
    if path == STDOUT:
        show(text)
    else:
        from dpgraph.atomic_write import write_atomically

        write_atomically(path, text)


def note(text: str) -> None:
    """Print a line that is no result, on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def reason(error: BaseException) -> str:
    """Why something failed. The text of an unforeseen error may hold private values, so only its type is shown."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return " ".join(str(error).split()) if isinstance(error, DPGraphError) else type(error).__name__


def _named(outputs: Iterable[Output]) -> Iterator[tuple[Path, Callable[[Path], Any]]]:
    """The outputs that were asked for; one that cannot even be named fails when it is written."""
    try:
        yield from ((path, write) for path, write in outputs if path is not None)
    except Exception as error:
        yield Path("further files"), _raising(error)


def _raising(error: Exception) -> Callable[[Path], Any]:
    def fail(_: Path) -> None:
        raise error

    return fail


@contextmanager
def watched_streams() -> Iterator[tuple[Stream, Stream]]:
    """Standard output and error, with their failures noticed here and not by the interpreter at its end."""
    kept = sys.stdout, sys.stderr
    out, err = Stream(kept[0], quiet=False), Stream(kept[1], quiet=True)
    sys.stdout, sys.stderr = cast(TextIO, out), cast(TextIO, err)
    try:
        yield out, err
    finally:
        sys.stdout, sys.stderr = kept


class Stream:
    """A text stream that remembers why it did not take something, and keeps nothing that it could not write.

    A `quiet` one goes on. Another raises :class:`NotTakenError`, which is no OSError: libraries end the process without
    a word when they meet a closed pipe. Characters that its encoding lacks are written as escapes.
    """

    def __init__(self, stream: TextIO | None, *, quiet: bool) -> None:
        self._stream, self._quiet = io.StringIO() if stream is None else stream, quiet
        self._closed = stream is None
        self.lost = ""

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # what is written there would not pass here
            raise AttributeError(name)
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write to the stream."""
        return self._try(lambda: self._encoded(text))

    def flush(self) -> None:
        """Flush the stream."""
        self._try(lambda: self._stream.flush() or 0)

    def _encoded(self, text: str) -> int:
        if self._closed and text:
            raise ValueError
        try:
            return self._stream.write(text)
        except UnicodeEncodeError:
            encoding = self._stream.encoding or "ascii"
            return self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def _try(self, act: Callable[[], int]) -> int:
        try:
            return act()
        except OSError as error:
            self.lost = reason(error)
        except ValueError:
            self.lost = "it is closed"
        self._drop()
        if self._quiet:
            return 0
        raise NotTakenError(self.lost)

    def _drop(self) -> None:
        """Forget what waits to be written, which would fail again when the interpreter ends."""
        with suppress(OSError, ValueError):
            descriptor = self._stream.fileno()
            kept, nowhere = os.dup(descriptor), os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, descriptor)
                self._stream.flush()
            finally:
                os.dup2(kept, descriptor)
                os.close(kept)
                os.close(nowhere)
