"""Errors travel between processes, and can be copied, with their message and all their fields."""

import copy
import inspect
import pickle

import pytest

from dpgraph import exceptions
from dpgraph.privacy.report import LedgerEntry, PrivacyReport

REPORT = PrivacyReport(1.0, 1e-6, 0.3, "one edge", (LedgerEntry("degrees", "Gaussian", 1.0, 3.0, mu=0.3),), seeded=True)
#: A value for each field that an error may require.
FIELDS = {"message": "raise epsilon", "stage": "gap", "privacy": REPORT}

CLASSES = [getattr(exceptions, name) for name in exceptions.__all__]


def example(kind):
    """An error with every field of its constructor, and a note."""
    parameters = inspect.signature(kind.__init__).parameters.values()
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    error = kind(FIELDS["message"], **{name: FIELDS[name] for name in named})
    error.__dict__["__notes__"] = ["while reading"]
    return error


@pytest.mark.parametrize("kind", CLASSES)
def test_errors_pickle_and_copy_with_all_their_fields(kind):
    error = example(kind)
    again = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for one in (*again, copy.copy(error), copy.deepcopy(error)):
        assert (type(one), one.args, str(one), vars(one)) == (kind, error.args, str(error), vars(error))


def test_a_subclass_with_fields_of_its_own_pickles_too():
    error = pickle.loads(pickle.dumps(WithFields("message", code=7)))
    assert (str(error), error.code) == ("message", 7)


class WithFields(exceptions.DPGraphError):
    def __init__(self, message, *, code):
        super().__init__(message)
        self.code = code
