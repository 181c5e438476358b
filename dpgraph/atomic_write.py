"""Files that are written whole or not at all."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    r"""Write a file (text as UTF-8, or \udcff) beside its target and rename it, so that no reader sees half of it.

    A symbolic link is followed. A file that is replaced keeps its permissions, and a new one has those that open()
    would give it. What is no regular file (a device, a pipe) is written to, and never replaced. If the folder does not
    take the file (OSError), the target is as before, and no temporary file is left.
    """
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    target, old = _target(path)
    if target is None:
        with open(path, "wb") as stream:
            stream.write(data)
        return
    # Until it has the permissions of what it replaces, nobody else may open it. A new file is made with its own: to ask
    # for the umask is to change it, for all threads.
    initial = 0o600 if old is not None else 0o666
    temporary = _beside(target)
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, initial)) as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if old is not None:
            os.chmod(temporary, old)
        os.replace(temporary, target)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        with suppress(OSError):
            temporary.unlink()  # if it is still there


def require_room(path: str | os.PathLike[str]) -> None:
    """Raise OSError where :func:`write_atomically` could not write a byte."""
    target, _ = _target(path)
    if target is not None:
        # Permissions do not tell everything: some file systems refuse a file only when asked.
        temporary = _beside(target)
        try:
            temporary.touch(exist_ok=False)
        finally:
            temporary.unlink(missing_ok=True)


def _target(path: str | os.PathLike[str]) -> tuple[Path | None, int | None]:
    """The file that is to be made or replaced, if it is one, and the permissions of what is there."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path)), None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "it is a folder", os.fspath(path))
    if not os.access(path, os.W_OK):  # a rename would not ask
        raise PermissionError(13, "it may not be written", os.fspath(path))
    return (Path(os.path.realpath(path)), stat.S_IMODE(mode)) if stat.S_ISREG(mode) else (None, None)


def _beside(target: Path) -> Path:
    return target.with_name(f".dpgraph-{secrets.token_hex(8)}")
