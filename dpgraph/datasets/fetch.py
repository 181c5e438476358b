"""Fetching a public graph once: download cache, checksums recorded on first use, interrupted downloads resumed."""

import hashlib
import os
from pathlib import Path

from dpgraph.atomic_write import write_atomically
from dpgraph.exceptions import DatasetError

_CHUNK = 1 << 16
_TIMEOUT = 30.0
_BY_HAND = (
    "Download it elsewhere, put the file into a folder, and set the environment variable DPGRAPH_DATA to that folder "
    "(or pass data_dir=)"
)


def fetch(name: str, file: str, url: str, *, download: bool = True, progress: bool = False) -> Path:
    """Path of a graph in the download cache (``DPGRAPH_CACHE``, or the user's), fetched if it is not there yet.

    The SHA-256 of a file is recorded beside it when it is fetched first, and verified from then on; DatasetError if it
    disagrees, or if the file cannot be fetched. What an interrupted download left (``.part``) is continued by the next.
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
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch_rest(url, part, progress)
    except OSError as error:
        # The network's own errors are OSErrors too (requests.RequestException).
        kept = f" {part.name} keeps what has arrived; the next attempt continues there." if part.is_file() else ""
        raise DatasetError(f"cannot fetch {name} from {url} ({type(error).__name__}).{kept} {_BY_HAND}") from None
    if known and _sha256(part) != known:
        part.unlink()
        raise DatasetError(
            f"{url} no longer has the checksum recorded for {name}; if its publisher replaced it, delete "
            f"{path}.sha256 to accept the new file"
        )
    part.replace(path)


def _fetch_rest(url: str, part: Path, progress: bool) -> None:
    """Append to `part` what is missing of the file at `url`; a server that cannot continue sends all of it."""
    import requests
    from tqdm import tqdm

    have = part.stat().st_size if part.is_file() else 0
    tag = part.with_name(f"{part.name}.tag")
    headers = {"Accept-Encoding": "identity"}
    if have and tag.is_file():
        # If-Range: the rest only if the file is still the same one.
        headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text()}
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as answer:
        answer.raise_for_status()
        continued = answer.status_code == requests.codes.partial_content
        identity = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        if identity:
            write_atomically(tag, identity)
        rest = int(answer.headers.get("Content-Length") or 0)
        start = have if continued else 0
        bar = tqdm(desc=part.stem, total=start + rest, initial=start, unit="B", unit_scale=True, disable=not progress)
        with part.open("ab" if continued else "wb") as stream, bar:
            for chunk in answer.iter_content(_CHUNK):
                stream.write(chunk)
                bar.update(len(chunk))
    if rest and part.stat().st_size < start + rest:
        raise OSError("the connection ended early")
    tag.unlink(missing_ok=True)
