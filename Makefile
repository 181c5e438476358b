# A fresh machine needs python3 (>= 3.11), make and a package index: every target builds its own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# One BLAS thread per test process: two xdist workers share two cores.
export OMP_NUM_THREADS ?= 2
export OPENBLAS_NUM_THREADS ?= 2

.PHONY: demo test test-slow lint docs bench-utility bench-million clean

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "dpgraph needs Python 3.11 or newer, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot,pandas,test]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/demo.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q

# Long statistical runs and large graphs: about an hour on two cores.
test-slow: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q -m slow

# The pages of docs/ as a site in site/.
docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/mkdocs build --quiet

# Tables and plots in benchmarks/results; never part of the tests.
bench-utility: $(STAMP)
	$(BIN)/python benchmarks/max_cut_utility.py

bench-million: $(STAMP)
	$(BIN)/python benchmarks/million_vertices.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
