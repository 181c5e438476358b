"""Noise of tests is keyed by their names: a claim that holds for nineteen draws of twenty does not fail by chance."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from itertools import count
from unittest import mock

import pytest
from hypothesis import settings

settings.register_profile("the same in each run", derandomize=True, deadline=None)
settings.load_profile("the same in each run")


@pytest.fixture(autouse=True)
def noise_of_this_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every call has a key of its own, the same in each run; processes that a test starts have keys of the system."""
    process, of_the_system, calls = os.getpid(), secrets.randbits, count()

    def randbits(bits: int) -> int:
        if os.getpid() != process:
            return of_the_system(bits)
        text = f"{request.node.nodeid} {next(calls)}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=bits // 8).digest(), "little")

    with mock.patch.object(secrets, "randbits", randbits):
        yield
