"""Fetching a public graph once: download cache, and checksums recorded on first use."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

from dpgraph.exceptions import DatasetError

__all__ = ["cache_folder", "fetch", "verify"]

_BY_HAND = (
    "Download it elsewhere, put the file into a folder, and set the environment variable DPGRAPH_DATA to that folder "
    "(or pass data_dir=)"
)


def cache_folder() -> Path:
    """Folder of downloaded graphs: ``DPGRAPH_CACHE``, or the user's cache folder."""
    import pooch

    return Path(os.environ.get("DPGRAPH_CACHE") or pooch.os_cache("dpgraph"))


def fetch(name: str, file: str, url: str, *, download: bool = True) -> Path:
    """Path of a graph in the download cache, fetched if it is not there yet.

    The SHA-256 of a file is recorded beside it when it is fetched first, and verified from then on.

    Raises
    ------
    DatasetError
        The file cannot be fetched, or disagrees with its recorded checksum.
    """
    path = cache_folder() / file
    record = path.with_name(f"{file}.sha256")
    known = record.read_text().strip() if record.is_file() else None
    if not path.is_file():
        if not url:
            raise DatasetError(f"{name} is not fetched automatically. {_BY_HAND}")
        if not download:
            raise DatasetError(f"{name} is not on this machine and download=False. {_BY_HAND}")
        _download(name, url, path, known)
    if known:
        verify(path, known, f"{record.name}, written when it was fetched first")
    else:
        record.write_text(_sha256(path) + "\n")
    return path


def verify(path: Path, checksum: str, source: str) -> None:
    """Raise DatasetError unless the SHA-256 of a file is `checksum`."""
    if _sha256(path) != checksum:
        raise DatasetError(
            f"{path} does not have the checksum in {source}: it was changed or damaged. Delete it and fetch it again"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _download(name: str, url: str, path: Path, known: str | None) -> None:
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    # pooch announces every download and its checksum on stderr.
    logger.setLevel(logging.WARNING)
    try:
        pooch.retrieve(url, known_hash=f"sha256:{known}" if known else None, fname=path.name, path=path.parent)
    except ValueError:
        raise DatasetError(
            f"{url} no longer has the checksum recorded for {name}; if its publisher replaced it, delete "
            f"{path}.sha256 to accept the new file"
        ) from None
    except OSError as error:
        # The network's own errors are OSErrors too (requests.RequestException).
        raise DatasetError(f"cannot fetch {name} from {url} ({type(error).__name__}). {_BY_HAND}") from None
    finally:
        logger.setLevel(level)
