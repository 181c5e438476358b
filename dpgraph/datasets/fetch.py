"""Fetching a public graph once: download cache, checksums recorded on first use."""

import hashlib
import os
from pathlib import Path

from dpgraph.atomic_write import write_atomically
from dpgraph.exceptions import DatasetError

_TIMEOUT = 30.0
_BY_HAND = (
    "Download it elsewhere, put the file into a folder, and set the environment variable DPGRAPH_DATA to that folder "
    "(or pass data_dir=)"
)


def fetch(name: str, file: str, url: str, *, download: bool = True, progress: bool = False) -> Path:
    """Path of a graph in the download cache (``DPGRAPH_CACHE``, or the user's), fetched if it is not there yet.

    The SHA-256 of a file is recorded beside it when it is fetched first, and verified from then on; DatasetError if it
    disagrees, or if the file cannot be fetched.
    """
    import pooch

    path = Path(os.environ.get("DPGRAPH_CACHE") or pooch.os_cache("dpgraph")) / file
    record = path.with_name(f"{file}.sha256")
    known = record.read_text().strip() if record.is_file() else None
    if not path.is_file():
        if not url:
            raise DatasetError(f"{name} is not fetched automatically. {_BY_HAND}")
        if not download:
            raise DatasetError(f"{name} is not on this machine and download=False. {_BY_HAND}")
        _download(name, url, path, known, progress)
    if known:
        verify(path, known, f"{record.name}, written when it was fetched first")
    else:
        write_atomically(record, _sha256(path) + "\n")
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


def _download(name: str, url: str, path: Path, known: str | None, progress: bool) -> None:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=_TIMEOUT)
    try:
        pooch.retrieve(url, known, path.name, path.parent, downloader=downloader)
    except OSError as error:
        # The network's own errors are OSErrors too (requests.RequestException).
        raise DatasetError(f"cannot fetch {name} from {url} ({type(error).__name__}). {_BY_HAND}") from None
    except ValueError:
        raise DatasetError(
            f"{url} no longer has the checksum recorded for {name}; if its publisher replaced it, delete "
            f"{path}.sha256 to accept the new file"
        ) from None
