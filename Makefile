# What is done here, in one word each. `make` alone lists them; each does its own set-up.
# GNU make, Linux.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Behind what is there: a Rust that was just installed is found, one that is preferred stays so.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

TARGET := $(or $(CARGO_TARGET_DIR),target)
WIREGAUGE = $(TARGET)/release/wiregauge
# Cargo's own progress is for people; a log gets the result only.
QUIET := $(shell [ -t 2 ] || echo --quiet)
FUZZ_SECONDS ?= 10
SCENARIOS ?= 100000
DISKS ?= $(SCENARIOS)
SEED ?= 0
FUZZ_TARGETS = $(sort $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs))))

.PHONY: help demo build install install-lib setup test test-all test-browser simulations simulate mutations mutations-wire \
  fuzz fuzz-build ahead ahead-fuzz ahead-test-windows bench lab test-lab test-lab-short docs clean \
  verify firmware test-firmware test-windows check-windows wheel-windows check-macos test-python test-octave bench-languages bench-targets lint lint-format lint-rust lint-documentation lint-scripts

help: ## List these targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
	  || sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

demo: ## Build, then measure a modelled device and a TCP responder. No hardware needed; half a minute.
	@scripts/setup demo
	@scripts/fetch-uplot
	@echo "building wiregauge (profile demo; a few minutes the first time)"
	@cargo build --profile demo --locked -p wiregauge-cli --no-default-features $(QUIET)
	@$(TARGET)/demo/wiregauge demo

build: ## Build target/release/wiregauge.
	@scripts/fetch-uplot
	@echo "building wiregauge (some minutes the first time)"
	@cargo build --release --locked -p wiregauge-cli $(QUIET)

install: build ## Install wiregauge, its man pages and bash completion under PREFIX (default: ~/.local).
	@PREFIX="$(or $(PREFIX),$(HOME)/.local)"; \
	  install -D $(WIREGAUGE) "$$PREFIX/bin/wiregauge"; \
	  $(WIREGAUGE) man "$$PREFIX/share/man/man1" --force; \
	  mkdir -p "$$PREFIX/share/bash-completion/completions"; \
	  $(WIREGAUGE) completions bash > "$$PREFIX/share/bash-completion/completions/wiregauge"; \
	  echo "installed $$PREFIX/bin/wiregauge"

install-lib: ## Install the C library (header, shared, static, pkg-config) under PREFIX (default: ~/.local).
	@scripts/setup demo
	@echo "building the C library (release)"
	@cargo build --release --locked -p wiregauge-capi $(QUIET)
	@PREFIX="$(or $(PREFIX),$(HOME)/.local)"; \
	  scripts/install-lib "$$PREFIX" "$(TARGET)/release"; \
	  echo "installed $$PREFIX/lib/libwiregauge.so and libwiregauge.a"

setup: ## Install what the tests need.
	@scripts/setup test

# Under `nohup` as well: the tests send SIGHUP to programs that must heed it.
HEEDS_HUP := $(shell env --default-signal=HUP true 2>/dev/null && echo env --default-signal=HUP)

# Most tests of the program wait for devices and timeouts, so more of them run at once than there are processors.
test: export RUST_TEST_THREADS ?= $(shell echo $$((3 * $$(nproc))))
test: ## Run the tests, after what set-up they need.
	@scripts/setup test
	@echo "building the tests"
	@cargo test --workspace --locked --no-run $(QUIET)
	@echo "running the tests"
	@$(HEEDS_HUP) cargo test --workspace --locked --quiet --no-fail-fast
	@echo "comparing the test vectors with what makes them"
	@python3 docs/vectors/make.py --check
	@echo "holding the responder written from docs/protocol.md to them"
	@python3 -B docs/vectors/responder/check.py
	@echo "looking for circles of crates and files"
	@scripts/check-cycles

# What `make test-all` adds to `make test`, in order.
LONG_PARTS = docs $(addprefix simulations-,$(LONG_CRATES)) simulate mutations mutations-wire verify test-python test-octave test-browser \
  test-lab test-lab-short test-firmware test-windows check-windows check-macos fuzz bench bench-languages bench-targets

test-all: ## Run what takes longer, unless it passed on the same sources (FULL=1: in any case): simulations, mutations, the checker, Python, Octave, the browser, the lab, boards, Windows, macOS, fuzzing, the benches once over, links of the pages.
	@scripts/setup all
	@MAKE="$(MAKE)" scripts/test-parts "$(LONG_PARTS)" DISKS=20000 BENCH_FLAGS=--quick VERIFY_FLAGS=--quick

# The crates with tests that are kept out for their length. Each is built beside crates/py, which has no such tests and
# depends on the program, so that what they share with the program has the features that it has there and is built once.
LONG_CRATES = $(shell grep -rl '\#\[ignore' crates/*/tests --include='*.rs' | cut -d / -f 2 | sort -u)
LONG_TESTS = $(HEEDS_HUP) cargo test --release --locked -p wiregauge-py -p wiregauge-$* --test tests
# Those of them that measure time or memory, or load the processors by themselves.
LONG_ALONE = size:: speed:: memory:: programs::
# Those that print a table of docs/ for who writes it, and can't fail; the other tests of these files hold what it shows.
LONG_PRINTED = buffers::table buffers::long_run coverage::table modes::table deadline::table

simulations: $(addprefix simulations-,$(LONG_CRATES)) ## Run the tests that are kept out of `make test` for their length.

simulations-%:
	@scripts/setup simulations
	@echo "building the long tests of $*"
	@$(LONG_TESTS) --no-run $(QUIET)
	@echo "running the long tests of $*"
	@status=0; \
	$(LONG_TESTS) --quiet --no-fail-fast -- --ignored $(addprefix --skip ,$(LONG_ALONE) $(LONG_PRINTED)) || status=1; \
	$(LONG_TESTS) --quiet --no-fail-fast -- --ignored --test-threads 1 $(LONG_ALONE) || status=1; \
	exit $$status

simulate: ## Simulate SCENARIOS (100000) random exchanges from SEED (0) on, and as many runs on failing disks (DISKS); REPEAT=NUMBER: repeat an exchange, made smaller if it fails.
	@scripts/setup demo
	@echo "building the simulator"
	@# With the program's features, so that what it shares with the program is built once.
	@cargo build --release --locked -p wiregauge-cli -p wiregauge-sim --bin simulate $(QUIET)
	@$(TARGET)/release/simulate $(if $(REPEAT),repeat $(REPEAT),$(SCENARIOS) $(SEED))
	@# DISKS=1 SEED=NUMBER repeats one.
	@$(if $(REPEAT),true,echo "simulating disks that fail, fill up and lose their power")
	@$(if $(REPEAT),true,SCENARIOS=$(DISKS) SEED=$(SEED) cargo test --release --locked -p wiregauge-run --lib $(QUIET) simulation::many_disks -- --ignored)

mutations: ## Break the engine one line at a time; the simulator must detect each.
	@scripts/setup demo
	@scripts/mutate-session

mutations-wire: ## Break the receivers of the protocol one place at a time: the test vectors must notice each.
	@scripts/setup test
	@echo "breaking crates/wire (a minute or two)"
	@scripts/mutate-wire

verify: build ## Recompute all figures with numpy; check statements, intervals, packet captures (VERIFY_FLAGS=--quick: under two minutes).
	@scripts/setup verify
	@echo "checking the program with code that it shares nothing with"
	@WIREGAUGE=$(abspath $(WIREGAUGE)) .venv/bin/python -B verify/run $(VERIFY_FLAGS)

test-browser: build ## Open reports of real runs in a headless browser and look at what is there.
	@scripts/setup browser
	@echo "opening reports in a browser"
	@WIREGAUGE=$(abspath $(WIREGAUGE)) python3 crates/report/tests/browser/test_page.py

test-python: ## Build the Python package, check its types and test it against real responders; run the notebook.
	@scripts/setup python
	@scripts/test-python

test-octave: build ## Build the MEX file and test the package for MATLAB and Octave, in Octave.
	@scripts/setup octave
	@WIREGAUGE=$(abspath $(WIREGAUGE)) scripts/test-octave

firmware: ## Build the firmware of every board, and print its size.
	@scripts/setup firmware
	@$(MAKE) -C firmware

test-firmware: build ## Build the firmware and test it on simulated boards. No hardware.
	@scripts/setup firmware
	@WIREGAUGE=$(abspath $(WIREGAUGE)) scripts/test-firmware

test-windows: build ## Build the program, the wheel and the MEX file for Windows and test them under Wine (skipped where that is not there).
	@scripts/setup hosts
	@WIREGAUGE=$(abspath $(WIREGAUGE)) scripts/test-windows

wheel-windows: ## Build the Python package for Windows, on Linux, into target/wheels.
	@scripts/setup hosts
	@echo "building the wheel for Windows (release; some minutes)"
	@scripts/wheel-windows $(TARGET)/wheels

check-macos: ## Check that the program compiles for macOS (skipped without the Rust target). It has never run there.
	@$(call check_for,macOS,aarch64-apple-darwin,-p wiregauge-cli)

check-windows: ## Check that the program, the Python package and the C library compile for Windows (part of `make test-windows`).
	@$(call check_for,Windows,x86_64-pc-windows-gnu,-p wiregauge-cli -p wiregauge-py -p wiregauge-capi)

# A system, its Rust target, and what is to compile for it.
define check_for
scripts/setup hosts; \
if [ -d "$$(rustc --print sysroot)/lib/rustlib/$(2)/lib" ]; then \
  echo "checking the program for $(1)"; \
  cargo check --locked --target $(2) $(3) $(QUIET); \
else echo "$@: skipped, for this machine has no Rust target $(2)"; fi
endef

lint: lint-format lint-rust lint-documentation lint-scripts ## Check formatting, lints, API documentation, scripts, Python and M-code.

lint-format:
	@scripts/setup lint
	@echo "checking formatting"
	@cargo fmt --all --check
	@cargo fmt --check --manifest-path fuzz/Cargo.toml
	@cargo fmt --check --manifest-path verify/tokio_modbus/Cargo.toml
	@git ls-files 'firmware/*.c' 'firmware/*.h' 'firmware/*.ino' | xargs .venv/bin/clang-format --dry-run --Werror

lint-rust:
	@scripts/setup lint
	@echo "checking lints"
	@cargo clippy --workspace --all-targets --locked $(QUIET) -- -D warnings

lint-documentation:
	@scripts/setup lint
	@echo "checking the API documentation"
	@RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked $(QUIET)
	@echo "checking the pages and the READMEs of the crates"
	@python3 scripts/check-docs

# What is run in the firmware's folders, by what its first line says; what was built and fetched left out.
firmware_with = $(shell grep -rlE --exclude-dir=build '^#!/(bin/|usr/bin/env )$(1)$$' firmware)

lint-scripts:
	@scripts/setup lint
	@echo "checking scripts"
	@shellcheck scripts/setup scripts/fetch-uplot scripts/install-lib scripts/test-python scripts/test-octave scripts/test-firmware scripts/test-windows scripts/wheel-windows windows/fetch-python \
	  scripts/kernels scripts/test-parts scripts/fuzz-target verify/tokio_modbus/build bench/gpu_loop.sh .ci/run lab/guest/* lab/plans/*.sh $(call firmware_with,bash)
	@shellcheck --shell=bash firmware/parts/*.sh
	@PATH="$$PATH:.venv/bin" ruff check --quiet --isolated --select E4,E7,E9,F,I \
	  docs/vectors scripts/check-docs scripts/check-cycles scripts/mutate-wire scripts/mutate-session scripts/unless-proved crates/report/tests/browser $(wildcard bench) lab lab/run windows
	@PATH="$$PATH:.venv/bin" ruff check --quiet --isolated --config 'src = ["verify"]' --select E4,E7,E9,F,I verify verify/run
	@PATH="$$PATH:.venv/bin" ruff check --quiet python firmware $(call firmware_with,python3)
	@PATH="$$PATH:.venv/bin" ruff format --quiet --check firmware $(call firmware_with,python3)
	@for check in mh_lint mh_style; do said=$$(.venv/bin/$$check --matlab 2019b matlab 2>&1) || { echo "$$said"; exit 1; }; done
	@scripts/mutate-session --check

fuzz: fuzz-build ## Fuzz every parser for FUZZ_SECONDS (10) seconds each.
	@echo "fuzzing, one target on each processor, for $(FUZZ_SECONDS) s"
	@printf '%s\n' $(FUZZ_TARGETS) \
	  | CARGO_TARGET_DIR=$(abspath $(TARGET))/fuzz xargs -P "$$(nproc)" -I TARGET scripts/fuzz-target TARGET $(FUZZ_SECONDS)

fuzz-build:
	@scripts/setup fuzz
	@echo "building the fuzz targets"
	@cd fuzz && CARGO_TERM_QUIET=$(if $(QUIET),true,false) CARGO_TARGET_DIR=$(abspath $(TARGET))/fuzz cargo +nightly fuzz build

# What the last parts of `make test-all` build and no other part uses.
ahead: $(AHEAD)
ahead-fuzz: fuzz-build
ahead-test-windows:
	@BUILD_ONLY=1 scripts/test-windows

bench: build ## Compare with a C floor and with other tools, interleaved (BENCH_FLAGS=--quick: once over).
	@scripts/setup bench
	@WIREGAUGE=$(abspath $(WIREGAUGE)) python3 bench/run.py $(BENCH_FLAGS)

bench-languages: build ## The same exchanges from C, the program, Python and Octave, interleaved (BENCH_FLAGS=--quick: once over).
	@scripts/setup python
	@scripts/setup octave
	@# Figures to publish need a release build; `--quick` only asks whether every row runs.
	@$(if $(findstring --quick,$(BENCH_FLAGS)),[ -x $(TARGET)/python-venv/bin/wiregauge ] ||,PROFILE=release) \
	  scripts/test-python --collect-only --quiet >/dev/null
	@library=$(abspath $(dir $(WIREGAUGE)))/libwiregauge_capi.a; \
	  $(MAKE) --silent --no-print-directory -C matlab $$([ ! -f "$$library" ] || echo "LIBRARY=$$library")
	@WIREGAUGE=$(abspath $(WIREGAUGE)) $(TARGET)/python-venv/bin/python bench/languages/run.py $(BENCH_FLAGS)

bench-targets: build ## The classes of boards side by side, simulated, interleaved (BENCH_FLAGS=--quick: once over).
	@$(MAKE) firmware $(if $(findstring --quick,$(BENCH_FLAGS)),QUICK=1)
	@WIREGAUGE=$(abspath $(WIREGAUGE)) python3 bench/targets/run.py $(BENCH_FLAGS)

lab: ## Run the real Linux USB stacks in a virtual machine; print the literature's tables. No root, no hardware.
	@scripts/setup lab
	@python3 lab/suite.py

test-lab: ## The same and more plans, and hold their results to what must be seen in them.
	@scripts/setup test-lab
	@python3 lab/suite.py --test

test-lab-short: ## The plans of it whose results the program puts into words.
	@scripts/setup test-lab
	@python3 lab/suite.py --test --short

docs: build ## Check that links and flags named in the pages exist.
	@echo "checking the pages"
	@python3 scripts/check-docs $(WIREGAUGE)

clean: ## Remove what was built.
	@cargo clean $(QUIET)
	@rm -rf fuzz/target fuzz/corpus fuzz/artifacts .venv matlab/wiregauge_mex.*
