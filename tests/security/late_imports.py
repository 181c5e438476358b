"""Which modules a private call imports after its debit; run in a fresh process, with nothing of dpgraph imported.

    python late_imports.py calls.pickle

The file holds pickled calls, each as bytes of its own, so that reading one imports nothing for another. Every call runs
in a fork of this process. Prints a JSON object: number of the call -> modules imported after the debit, without what
comes with numba, which is imported on a thread that no interrupt reaches.
"""

import json
import os
import pickle
import sys
import traceback


def late_imports(call: bytes) -> list[str]:
    """Run one call with cryptographic noise and list what was imported between its debit and its end."""
    module, function, arguments = pickle.loads(call)
    import importlib

    from dpgraph import compiled
    from dpgraph.privacy.accountant import PrivacyAccountant

    at_debit: set[str] = set()
    with_numba: set[str] = set()

    def on_its_own_thread(imported=compiled._import_numba):
        before = set(sys.modules)
        imported()
        with_numba.update(set(sys.modules) - before)

    compiled._import_numba = on_its_own_thread

    class Recorder(PrivacyAccountant):
        def charge(self, *args, **kwargs):
            super().charge(*args, **kwargs)
            at_debit.update(at_debit or sys.modules)

    if module == "networkx":
        import networkx as nx

        code = nx.utils.backends._registered_algorithms[function]
    else:
        code = getattr(importlib.import_module(module), function)
    try:
        with Recorder(epsilon=1e9, delta=0.9):
            code(**arguments)
    except Exception as error:
        if type(error).__name__ != "MechanismHalted":
            raise
    if not at_debit:
        raise RuntimeError(f"{module}.{function} debited nothing")
    new = set(sys.modules) - at_debit - with_numba
    return sorted(name for name in new if name.partition(".")[0] not in sys.stdlib_module_names)


def in_a_fork(call: bytes) -> object:
    """The answer of :func:`late_imports`, or the traceback, from a child process."""
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            answer: object = late_imports(call)
        except BaseException:
            answer = traceback.format_exc()
        with os.fdopen(write, "w") as out:
            json.dump(answer, out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as source:
        answer = json.load(source)
    os.wait()
    return answer


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        calls = pickle.load(file)
    print(json.dumps({number: in_a_fork(call) for number, call in calls.items()}))
