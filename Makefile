# dumbbell: every verb there is. `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help run test lint format bench build clean

help: ## list the verbs
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

run: build ## set everything up, reproduce the first paper in the simulator, write its report
	$(BIN)/dumbbell reproduce ogino2021

test: build ## set everything up and run every test
	$(BIN)/python tests/run_all.py

lint: build ## formatters and linters, changing nothing
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check python tests
	$(BIN)/ruff check python tests
	$(BIN)/mypy

format: build ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format python tests
	$(BIN)/ruff check --fix python tests

bench: ## bottleneck packets per CPU-second and peak memory
	cargo bench --package dumbbell-sim --bench bottleneck

build: $(VENV)/.dependencies ## the Python package with its engine, in .venv
	@command -v cargo >/dev/null || { echo 'error: no `cargo`; install Rust from https://rustup.rs' >&2; exit 2; }
	@command -v cc >/dev/null || { echo 'error: no C compiler `cc`; install gcc or clang' >&2; exit 2; }
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet --skip-install
	@touch $(VENV)/.engine

$(VENV)/.dependencies: constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'error: `$(PYTHON)` is older than Python 3.11; say `make PYTHON=python3.11 …`' >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo 'error: `$(PYTHON) -m venv` failed; install python3-venv' >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement constraints.txt
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet
	@touch $@

clean: ## remove what was built
	rm -rf $(VENV) target results
