"""Fixtures of the tests of the guarantee."""

import numba
import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread_for_tiny_kernels():
    """Thousands of calls on graphs of ten vertices: waking a second thread costs more than they do."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)
