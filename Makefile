# dumbbell: every verb there is. `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Where maturin installs, and where crates/cc looks for ziglang if there is no clang.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# Without bytecode of its packages every command compiles 440 modules, which takes longer than a short run.
unexport PYTHONDONTWRITEBYTECODE

# Assertions and overflow checks in our crates; what they depend on is the release build's.
CHECKED := --release --config tests/checked.toml
# Files whose modules a macro declares, which cargo fmt does not find.
DECLARED := $(wildcard crates/net/src/queue/*.rs crates/net/src/impair/*.rs crates/net/src/medium/*.rs \
	crates/app/src/traffic/*.rs crates/app/src/distribution/*.rs)
PIP      = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# uv takes a sixth of pip's CPU time. Neither compiles bytecode: what is imported is compiled once, then.
install  = $(BIN)/uv pip install --quiet $(1) 2>/dev/null || $(PIP) $(1)

.PHONY: help setup prepare programs run test test-fast test-all lint lint-rust lint-python lint-docs format docs bench bench-kernel bench-explore bench-peers fuzz build core engine wheel kernel-wheel test-wheel clean

help: ## list the verbs
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

setup: ## install the system packages that are missing (as root, with apt; otherwise name them)
	@PYTHON=$(PYTHON) .ci/setup $(purpose)

# A compiler comes first; programs that only tests start are fetched while it works.
prepare: purpose = build
prepare: setup
	@$(MAKE) --no-print-directory --jobs=3 programs $(VENV)/.development engine

programs:
	@PYTHON=$(PYTHON) .ci/setup

run: purpose = build
run: setup ## set up what it needs, reproduce the first paper in the simulator, write its report
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.runtime core
	$(BIN)/dumbbell reproduce ogino2021

test: prepare ## set everything up and run the tests that guard what dumbbell promises
	$(BIN)/python tests/run_all.py

test-all: prepare ## also the tests that take long, and random tests from seeds of their own
	$(BIN)/python tests/run_all.py --all

test-fast: build ## unit tests and one run of everything, without the kernel engine and the browser
	$(BIN)/python tests/run_all.py --fast

lint: build ## formatters and linters, changing nothing
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync=target lint-rust lint-python lint-docs

lint-rust:
	cargo fmt --all -- --check
	rustfmt --edition 2024 --check $(DECLARED)
	cargo clippy $(CHECKED) --workspace --all-targets --quiet -- -D warnings

lint-python:
	$(BIN)/ruff format --check python tests benches tools course
	$(BIN)/ruff check python tests benches tools course
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/wording.py

lint-docs:
	$(BIN)/sphinx-build -W --keep-going -q -b dummy docs docs/_build/lint

format: build ## format Rust and Python
	cargo fmt --all
	rustfmt --edition 2024 $(DECLARED)
	$(BIN)/ruff format python tests benches tools course
	$(BIN)/ruff check --fix python tests benches tools course

docs: build ## the user guide as HTML, in docs/_build/html
	$(BIN)/python tools/element_figures.py
	$(BIN)/python tools/explore_pages.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(if $(AGAINST),build) ## the simulator's speed and memory, the analysis's speed; AGAINST=REV: compared with a commit
ifdef AGAINST
	$(BIN)/python benches/revisions/compare.py $(AGAINST)
else
	cargo bench --package dumbbell-sim --bench bottleneck
	cargo bench --package dumbbell-capture --bench analysis
endif

bench-kernel: ## the kernel engine's capacity and punctuality on this machine, as root
	cargo bench --package dumbbell-emu --bench capacity

bench-explore: $(VENV)/.development ## how fast the page of explore answers in Chromium: opening, and 200 drags; on a machine that does nothing else
	$(BIN)/python benches/explore/drags.py

# ns-3's wheel has headers and libraries for x86_64; they are used from C++, so the version of Python is only its name.
NS3 := target/peers

bench-peers: $(VENV)/.tools ## dumbbell and ns-3 alternately, packets per CPU-second; HTSIM=DIR: a checkout of htsim too
	@command -v c++ >/dev/null || { echo 'error: no C++ compiler `c++`; install g++' >&2; exit 2; }
	@[ -e $(NS3)/ns3 ] || $(PIP) --target $(NS3) --no-deps --require-hashes --only-binary :all: \
		--platform manylinux_2_28_x86_64 --python-version 3.11 --requirement benches/peers/requirements.txt
	@$(BIN)/python benches/peers/compare.py --ns3 $(NS3) $(if $(HTSIM),--htsim $(HTSIM))

FUZZ_TARGETS = reader headers analyser datagrams
FUZZ_SECONDS ?= 60

fuzz: ## hostile captures, FUZZ_SECONDS=60 for each target; needs nightly Rust and cargo-fuzz
	@command -v cargo-fuzz >/dev/null || { echo 'error: no `cargo-fuzz`; run `cargo install cargo-fuzz`' >&2; exit 2; }
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/target/corpus/$$target; \
		cargo +nightly fuzz run $$target fuzz/target/corpus/$$target fuzz/corpus/$$target -- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=30 -malloc_limit_mb=200 -rss_limit_mb=1500 \
			|| exit 1; \
	done

build: ## the Python package with its engine and all that the tests and linters need, in .venv
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.development engine
	@$(BIN)/python tools/record_rows.py # the types of what this engine reports

# Runs next to the installation of packages: pip leaves a core to the compiler.
core: $(VENV)/.tools
	@command -v cargo >/dev/null || { echo 'error: no `cargo`; install Rust from https://rustup.rs' >&2; exit 2; }
	@command -v cc >/dev/null || { echo 'error: no C compiler `cc`; install gcc or clang' >&2; exit 2; }
	@echo 'building the engine'
	@PIP_NO_DEPS=1 $(BIN)/maturin develop --release --quiet $$([ ! -e $(VENV)/.engine ] || echo --skip-install) \
		>$(VENV)/engine.log 2>&1 || { cat $(VENV)/engine.log >&2; exit 1; }
	@touch $(VENV)/.engine
	@# Where Python may not write bytecode by itself, every command would compile the package: a second each.
	@$(BIN)/python -m compileall -q python

# What the kernels of the UML engine load. Named with the Python module and compiled as maturin does, both have the same
# crates beneath them, which are compiled once.
GUEST = python/dumbbell/kernels/driver/libdumbbell_guest.so
engine: core
	@PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE=$$(ls -t $(CURDIR)/target/maturin/pyo3-config-*.txt | head -n 1) \
		cargo build --release --quiet --lib -p dumbbell-py -p dumbbell-guest
	@install target/release/libdumbbell_guest.so $(GUEST)

# What builds the engine: maturin, and a compiler of BPF where there is no clang.
$(VENV)/.tools: constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'error: `$(PYTHON)` is older than Python 3.11; use `make PYTHON=python3.11 …`' >&2; exit 2; }
	@echo 'setting up $(VENV)'
	@$(PYTHON) -m venv $(VENV) \
		|| { echo 'error: `$(PYTHON) -m venv` failed; install python3-venv' >&2; exit 2; }
	@rm -f $(VENV)/.engine
	@$(PIP) --constraint constraints.txt uv || true
	@$(call install,--constraint constraints.txt maturin $$(command -v clang >/dev/null || echo ziglang))
	@touch $@

$(VENV)/.runtime: $(VENV)/.tools
	@needed=$$($(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*p["dependencies"], *p["optional-dependencies"]["plot"])'); \
		$(call install,--constraint constraints.txt $$needed)
	@touch $@

$(VENV)/.development: $(VENV)/.tools
	@$(call install,--requirement constraints.txt)
	@touch $@ $(VENV)/.runtime

# A target is left out, with a note, if Rust's standard library for it is not installed.
WHEEL_TARGETS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu

KERNEL ?= 6.12

wheel: build ## wheels of the release in dist/, for every Linux with glibc 2.28 or newer
	@command -v rustc >/dev/null || { echo 'error: no `rustc`; install Rust from https://rustup.rs' >&2; exit 2; }
	@$(call install,--constraint constraints.txt ziglang cargo-zigbuild)
	@$(BIN)/python tools/ship_guide.py
	@for target in $(WHEEL_TARGETS); do \
		[ -d "$$(rustc --print target-libdir --target $$target)" ] \
			|| { echo "note: no wheel for $$target; run \`rustup target add $$target\`" >&2; continue; }; \
		export PATH="$(CURDIR)/$(BIN):$$PATH"; rm -f $(GUEST); \
		case $$target in x86_64-*) \
			cargo-zigbuild zigbuild --release --quiet --target $$target.2.28 -p dumbbell-guest \
			&& install target/$$target/release/libdumbbell_guest.so $(GUEST) || exit 1;; \
		esac; \
		maturin build --release --quiet --zig --compatibility manylinux_2_28 \
			--target $$target --out dist || exit 1; \
	done
	@install target/release/libdumbbell_guest.so $(GUEST)
	@ls -l dist/*.whl

kernel-wheel: build ## a wheel in dist/ of the kernel for virtual time that `dumbbell kernel build KERNEL` makes
	@$(call install,--constraint constraints.txt wheel)
	@$(BIN)/dumbbell kernel build $(KERNEL)
	@$(BIN)/python tools/kernel_wheel.py $(KERNEL) dist

test-wheel: build ## dist/'s wheel in bare Debian 12 and 13, as root with debootstrap
	tests/clean_root.sh bookworm trixie

clean: ## remove what was built
	rm -rf $(VENV) target dist results docs/_build docs/_generated
