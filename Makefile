# A fresh machine needs python3 (>= 3.11), make and a package index: every target builds its own environment.
PYTHON ?= python3
VENV := .venv
# Where an environment keeps its programs: Scripts on Windows.
SCRIPTS ?= bin
BIN := $(VENV)/$(SCRIPTS)
STAMP := $(VENV)/.installed
DEMO := $(VENV)/.demo
# An environment that holds the built package and nothing else.
CLEAN := .venv-release
# The lowest versions that pyproject.toml allows, all extras, and the tests.
LOWEST := .venv-lowest
# What installs into all environments, and beside it what builds the package. uv takes a quarter of the time of pip, but
# reads no settings of pip: where it does not reach its index, pip may. A third of the installed modules is ever imported, and
# compiled then; pip would compile all, on one core.
UV := $(VENV)/.uv
PIP := PYTHONWARNINGS='ignore:Compat editable installs' $(BIN)/python -m pip --quiet --disable-pip-version-check
into = $(BIN)/uv pip install --quiet --native-tls --python $(1) $(2) || $(PIP) --python $(1) install --no-compile $(2)
# By names: a comma ends an argument of call.
EXTRAS := plot,pandas,docs,test
LOWEST_EXTRAS := plot,pandas,sklearn
# By a path: beside a folder called dpgraph, as a clone is, Python would take the folder for the package.
EDITABLE := --config-settings editable_mode=compat --editable

# One BLAS thread per test process: two xdist workers share two cores.
export OMP_NUM_THREADS ?= 2
export OPENBLAS_NUM_THREADS ?= 2
# Test processes, and the programs that they start, read compiled modules: reading them anew takes a fifth of their time.
unexport PYTHONDONTWRITEBYTECODE
# mkdocs-material announces the plans of mkdocs at every build.
export NO_MKDOCS_2_WARNING := 1

.PHONY: demo test pytest compile coverage walk test-slow test-lowest test-networkx lint docs release pictures notebooks bench-utility bench-utility-full bench-speed \
  bench-speed-full bench-science bench-everyday bench-load clean

$(UV):
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "dpgraph needs Python 3.11 or newer, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --no-compile build 'setuptools>=77'
	-$(PIP) install --no-compile uv
	touch $(UV)

$(STAMP): pyproject.toml | $(UV)
	$(call into,$(VENV),--no-build-isolation $(EDITABLE) '.[$(EXTRAS)]')
	touch $(STAMP)

# The demo needs the package and matplotlib only.
$(DEMO): pyproject.toml | $(UV)
	test -f $(STAMP) || $(call into,$(VENV),--no-build-isolation $(EDITABLE) '.[plot]')
	touch $(DEMO)

demo: $(DEMO)
	mkdir -p demo
	$(BIN)/dpgraph report us-flights --epsilon 4 --cut --title "Flights in the United States, 2008" \
	  --output demo/report.html --plot demo/report.png

# Contracts on imports: .importlinter.
lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Inner loops, which test processes and the programs that they start would all compile, each for itself.
compile: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m dpgraph compile

# Each of the first four uses one core, as do the installations before them; the tests use both.
test:
	$(MAKE) --no-print-directory --jobs=2 release compile docs lint
	$(MAKE) --no-print-directory pytest

# Both processes would rewrite every assert, to show what it compared: only what has failed runs again with that, and fails still.
pytest: export OMP_NUM_THREADS := 1
pytest: export OPENBLAS_NUM_THREADS := 1
pytest: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal -q --assert=plain \
	  || { $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures=none; exit 1; }

# Long statistical runs and large graphs: about an hour on two cores.
test-slow: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q -m slow

# Lines that the quick tests reach, by module; the report in full: htmlcov/index.html.
coverage: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q --cov --cov-report=term:skip-covered --cov-report=html

# Modules in the order in which five calls enter them.
walk: $(STAMP)
	$(BIN)/python -m tests.walk

# The pages of docs/, the notebooks and the reference as a site in site/; a broken link or a bad docstring is an error.
docs: $(STAMP)
	$(BIN)/mkdocs build --strict

# Source distribution and wheel in dist/, from a copy of the source: other targets may run beside this one, and a list of files
# that an earlier build left in dpgraph.egg-info hides what MANIFEST.in forgets. The wheel is built from the source distribution, so that one clean environment,
# into which the wheel is installed, tries both. It gets the lowest versions that pyproject.toml allows, where this Python is
# the lowest too: all other targets have the newest ones.
release: | $(UV)
	rm -rf dist $(CLEAN)
	$(PYTHON) -m venv --without-pip $(CLEAN)
	mkdir $(CLEAN)/source $(CLEAN)/work
	tar -cf - --exclude='./.*' --exclude=__pycache__ --exclude='*.egg-info' --exclude=./build --exclude=./dist --exclude=./site . \
	  | tar -xf - -C $(CLEAN)/source
	$(BIN)/python -m build --no-isolation --outdir dist $(CLEAN)/source > /dev/null
	$(PYTHON) .ci/lowest.py > $(CLEAN)/lowest.txt
	$(call into,$(CLEAN),--constraint $(CLEAN)/lowest.txt dist/*.whl)
	cd $(CLEAN)/work && ../bin/python ../../.ci/check_installed.py

# Tests of what rests on other packages, with the lowest versions of these: three minutes, not part of test, whose release
# tries the same versions on less.
test-lowest: | $(UV)
	$(PYTHON) -m venv --without-pip --clear $(LOWEST)
	$(PYTHON) .ci/lowest.py > $(LOWEST)/lowest.txt
	$(call into,$(LOWEST),--constraint $(LOWEST)/lowest.txt $(EDITABLE) '.[$(LOWEST_EXTRAS)]' pytest pytest-xdist hypothesis pyyaml polars)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n 2 --dist worksteal -q tests/projections \
	  tests/queries tests/spectral tests/sos/test_lasserre.py tests/problems/test_exact_max_cut.py $(addprefix tests/test_, \
	  cli.py cli_commands.py datasets.py graph.py igraph_pandas.py networkx_backend.py persistence.py plot.py results.py sklearn.py)

# The backend under networkx 3.4 to 3.7, and networkx's own tests with it: ten minutes a version, not part of test.
test-networkx: $(STAMP)
	$(BIN)/python tests/networkx_versions.py

# Pictures of docs/ that need a run, tables of others, and the outputs of the notebooks: rarely, they are committed.
pictures: $(STAMP)
	$(BIN)/python docs/make_pictures.py

notebooks: $(STAMP)
	$(BIN)/python examples/run_notebooks.py

# Tables and plots in benchmarks/results; never part of the tests. The full versions take hours; they may be killed
# and continued, and rewrite the tables of docs/frontier.md. Are they still true? benchmarks/frontier.py --check. PEERS: interpreters of environments with other packages.
PEERS ?=
bench-utility: $(STAMP)
	$(BIN)/python benchmarks/frontier.py --quick --fresh all

bench-utility-full: $(STAMP)
	$(BIN)/python benchmarks/frontier.py --full

bench-speed: $(STAMP)
	$(BIN)/python benchmarks/speed.py --quick $(addprefix --python ,$(PEERS))

bench-speed-full: $(STAMP)
	$(BIN)/python benchmarks/speed.py --full $(addprefix --python ,$(PEERS))

bench-science: $(STAMP)
	$(BIN)/python benchmarks/science.py

# Communities, degree distributions, subgraph counts and synthetic graphs beside those of others: hours, but rows of
# the CSV files stay.
bench-everyday: $(STAMP)
	$(BIN)/python benchmarks/communities.py
	$(BIN)/python benchmarks/communities_beside_peers.py
	$(BIN)/python benchmarks/degree_distribution.py
	$(BIN)/python -m benchmarks.subgraph_counts
	$(BIN)/python benchmarks/synthetic_graphs.py
	$(BIN)/python benchmarks/synthetic_beside_peers.py

bench-load: $(STAMP)
	$(BIN)/python benchmarks/load.py

clean:
	rm -rf $(VENV) $(CLEAN) $(LOWEST) .venv-networkx build dist site .pytest_cache .mypy_cache .ruff_cache htmlcov .coverage*
