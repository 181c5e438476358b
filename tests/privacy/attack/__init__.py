"""A search that attacks every public private function: see :mod:`tests.privacy.attack.search`.

Modules, in the order in which a trial passes them:

* :mod:`genes`: public knobs on log scales, and what a search may do to them;
* :mod:`graph_data`, :mod:`record_data`: private inputs and a neighbour of each, from genes;
* :mod:`targets`: every public private function with the genes of its arguments;
* :mod:`hooks`: the only module that reaches into the package: what receives noise, as it receives it;
* :mod:`trial`: draw on G, force on G', and compare line by line and by likelihood ratios;
* :mod:`search`: random restarts and hill climbing; ``python -m tests.privacy.attack`` prints the table;
* :mod:`stability_attack`: the number of steps of the stability test, attacked directly on recorded states and plans;
* :mod:`registry_attack`: the same search from the inputs of ``tests/privacy/registry.py``, and the order of debit and
  reading;
* :mod:`mutants`: the harness under a planted fault.
"""
