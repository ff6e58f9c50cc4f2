# dumbbell: every verb there is. `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Where maturin installs, and where crates/cc looks for ziglang if there is no clang.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

.PHONY: help run test lint format docs bench bench-kernel fuzz build wheel test-wheel clean

help: ## list the verbs
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

run: build ## set everything up, reproduce the first paper in the simulator, write its report
	$(BIN)/dumbbell reproduce ogino2021

test: build $(VENV)/.judges ## set everything up and run every test
	$(BIN)/python tests/run_all.py

lint: build ## formatters and linters, changing nothing
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check python tests
	$(BIN)/ruff check python tests
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/sphinx-build -W --keep-going -q -b dummy docs docs/_build/lint

format: build ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format python tests
	$(BIN)/ruff check --fix python tests

docs: build ## the user guide as HTML, in docs/_build/html
	$(BIN)/python docs/field_tables.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: ## the simulator's and the analysis's packets per CPU-second and peak memory
	cargo bench --package dumbbell-sim --bench bottleneck
	cargo bench --package dumbbell-capture --bench analysis

bench-kernel: ## the kernel engine's capacity and punctuality on this machine, as root
	cargo bench --package dumbbell-emu --bench capacity

FUZZ_TARGETS = reader headers analyser
FUZZ_SECONDS ?= 60

fuzz: ## hostile captures, FUZZ_SECONDS=60 for each target; needs nightly Rust and cargo-fuzz
	@command -v cargo-fuzz >/dev/null || { echo 'error: no `cargo-fuzz`; say `cargo install cargo-fuzz`' >&2; exit 2; }
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/target/corpus/$$target; \
		cargo +nightly fuzz run $$target fuzz/target/corpus/$$target fuzz/corpus/$$target -- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=30 -malloc_limit_mb=200 -rss_limit_mb=1500 \
			|| exit 1; \
	done

build: $(VENV)/.dependencies ## the Python package with its engine, in .venv
	@command -v cargo >/dev/null || { echo 'error: no `cargo`; install Rust from https://rustup.rs' >&2; exit 2; }
	@command -v cc >/dev/null || { echo 'error: no C compiler `cc`; install gcc or clang' >&2; exit 2; }
	@$(BIN)/maturin develop --release --quiet --skip-install
	@touch $(VENV)/.engine

$(VENV)/.dependencies: constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'error: `$(PYTHON)` is older than Python 3.11; say `make PYTHON=python3.11 …`' >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo 'error: `$(PYTHON) -m venv` failed; install python3-venv' >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement constraints.txt
	$(BIN)/maturin develop --release --quiet
	@touch $@

# Tried once. What the analysis of captures is judged by; without them those tests are skipped.
$(VENV)/.judges:
	@mkdir -p $(VENV)
	@command -v tcptrace >/dev/null && command -v tshark >/dev/null && command -v tcpdump >/dev/null \
		|| [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null \
		|| { echo 'installing tcptrace tshark tcpdump, to judge the analysis of captures by' >&2; \
			{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes \
			--no-install-recommends tcptrace tshark tcpdump; } >/dev/null 2>&1 || true; }
	@touch $@

# A target needs Rust's standard library: rustup target add aarch64-unknown-linux-gnu
WHEEL_TARGETS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu

wheel: $(VENV)/.dependencies ## wheels of the release in dist/, for every Linux with glibc 2.28 or newer
	@for target in $(WHEEL_TARGETS); do \
		[ -d "$$(rustc --print target-libdir --target $$target)" ] \
			|| { echo "note: no wheel for $$target; run \`rustup target add $$target\`" >&2; continue; }; \
		$(BIN)/maturin build --release --quiet --zig --compatibility manylinux_2_28 --target $$target --out dist \
			|| exit 1; \
	done
	@ls -l dist/*.whl

test-wheel: build ## dist/'s wheel in bare Debian 12 and 13, as root with debootstrap
	tests/clean_root.sh bookworm trixie

clean: ## remove what was built
	rm -rf $(VENV) target dist results docs/_build docs/_generated
