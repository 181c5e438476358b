"""Streams of seeded noise, and which have been used: with the same noise, two releases differ by private values."""

import hashlib
import os
import secrets
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from dpgraph.exceptions import InvalidParameterError

#: Names of the generators of this process, by their locks: generators themselves take no weak references.
_NAMES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


class Stream(NamedTuple):
    """Where the noise of a seeded call comes from, as hashes. They do not hide a seed that is easily guessed."""

    #: Of the kind and the seed of the bit generator: of equal origin, two generators draw the same numbers.
    origin: str
    #: Of its state when the call began.
    state: str
    #: The one generator that may go on with this stream. A generator that was made for one call has a name of its own.
    owner: str


def stream_of(generator: np.random.Generator, *, lasting: bool) -> Stream:
    """The stream of a generator; a `lasting` one belongs to the caller, who may use it again."""
    source = generator.bit_generator
    state = _digest(source.state)
    return Stream(_origin(source) or state, state, _name(source) if lasting else secrets.token_hex(8))


def _origin(source: Any) -> str | None:
    """None for a bit generator that does not tell its seed; its state alone is then compared."""
    try:
        return _digest({"kind": type(source).__name__, "seed": source.seed_seq.generate_state(4, np.uint64)})
    except (AttributeError, NotImplementedError):
        return None


def _name(source: Any) -> str:
    """Distinguishes a generator from its copies, also from those of forked processes."""
    try:
        return f"{os.getpid()}-{_NAMES.setdefault(source.lock, secrets.token_hex(8))}"
    except (AttributeError, TypeError):
        return secrets.token_hex(8)  # it cannot be recognised, and is treated as made for one call


def _digest(value: Any) -> str:
    """Hash what describes a bit generator: nested dictionaries of numbers, texts and arrays."""
    return hashlib.sha256(_plain(value).encode()).hexdigest()[:32]


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key}:{_plain(value[key])}' for key in sorted(value))}}}"
    return repr(np.asarray(value).tolist())


class UsedStreams:
    """Streams that calls have used under one budget, or in this process."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._states: set[str] = set()

    def have(self, stream: Stream) -> bool:
        """Whether a call has used this stream: one of the same state, or of another generator of the same seed."""
        return stream.state in self._states or self._owners.get(stream.origin, stream.owner) != stream.owner

    def add(self, stream: Stream) -> None:
        """Enter the stream of a call that is debited."""
        self._owners[stream.origin] = stream.owner
        self._states.add(stream.state)


def refuse_used_stream() -> None:
    """Raise for a call whose noise an earlier call of the same accountant has had."""
    raise InvalidParameterError(
        "this seed, or a copy of this generator, has made the noise of an earlier call under this accountant. With the "
        "same noise, the difference of two releases shows private values exactly. Use rng=None, or one "
        "numpy.random.Generator for all calls, or a new seed for each; an estimator that is cloned and fitted several "
        "times, as in a cross-validation, needs random_state=None. Nothing was released and nothing was spent"
    )


#: All calls of this process, until it has been warned.
_PROCESS = UsedStreams()
_warned = False


def warn_of_used_stream(stream: Stream) -> None:
    """Warn, once a process, that an earlier call of it had the same noise. Before the debit: warnings may be errors."""
    global _warned
    if not _warned and _PROCESS.have(stream):
        _warned = True
        warnings.warn(
            "a seed, or a copy of a generator, makes the noise of two private calls. With the same noise, the "
            "difference of two releases of the same data shows private values exactly: publish one of them at most. "
            "Leave rng out for real data. This is said once a process",
            UserWarning,
            stacklevel=2,
        )


def remember(stream: Stream) -> None:
    """Enter the stream of a call of this process that is debited."""
    if not _warned:
        _PROCESS.add(stream)
