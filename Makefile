# `make run` starts a server, `make test` checks everything, `make help` lists the rest.

CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR
ROOKERY := $(CARGO_TARGET_DIR)/release/rookery

# `make run` and `make test` install missing tools (scripts/setup); INSTALL=0: they only name them.
INSTALL ?= 1
export INSTALL
# Where scripts/setup installs Node.js 20 and Rust.
export PATH := $(CARGO_TARGET_DIR)/tools/bin:$(HOME)/.cargo/bin:$(PATH)

# Where `make run` listens, and the folder of its databases.
URL ?= http://127.0.0.1:8080
DATA ?= data

# Images of disks are copied all the time; taking their memory from the system anew each time is most of the work.
KEEP_MEMORY := MALLOC_MMAP_THRESHOLD_=1000000000 MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_TOP_PAD_=67108864

.DEFAULT_GOAL := help
.PHONY: help run build dist deb docs studio screenshots test nightly fmt lint bench torture schedules fuzz miri

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Install missing tools, build, start a server with sample data (URL=http://127.0.0.1:8080 DATA=data INSTALL=0)
	@scripts/setup cc cargo $(if $(filter 0,$(STUDIO)),,--optional npm node)
	@if [ "$(STUDIO)" = 0 ] || scripts/need npm node >/dev/null 2>&1; then $(MAKE) --no-print-directory build; \
		else $(MAKE) --no-print-directory build STUDIO=0; fi
	@scripts/run "$(ROOKERY)" "$(URL)" "$(DATA)"

# Without Node.js: `make run STUDIO=0` builds a server that has no studio.
STUDIO ?= 1

build: $(if $(filter 0,$(STUDIO)),,studio) ## Build the release binary with the studio in it (STUDIO=0: without, needs no Node.js)
	@scripts/need cc cargo
	cargo build --release --locked --package rookery-cli $(if $(filter 0,$(STUDIO)),,--features studio)
	@echo "built $(ROOKERY)"

dist: studio ## Build the release as users get it into target/dist: static, stripped, debug information apart
	@scripts/need cc cargo
	@scripts/dist

deb: dist ## Build the Debian package of the release into target/dist, with a service for systemd
	@scripts/deb "$(CARGO_TARGET_DIR)/dist/rookery" "$(CARGO_TARGET_DIR)/dist"

docs: ## Build the documentation as a book into target/book (with mdBook, which is compiled once if it is missing)
	@scripts/need python3
	@command -v mdbook >/dev/null || scripts/need cc cargo
	@scripts/docs build

studio: ## Build the web studio into studio/dist
	@scripts/need node npm || { echo "or build the server without the studio: make build STUDIO=0"; exit 1; }
	@scripts/studio build

screenshots: build ## Write a picture of every screen of the studio, in light and dark, to studio/screenshots
	@scripts/need node npm chromium
	@scripts/studio screenshots "$(ROOKERY)"

test: ## Install missing tools, run every quick check and test: format, lints, Rust tests, clients, studio (INSTALL=0)
	@scripts/setup cc cargo rustfmt clippy python3 --optional git venv npm node chromium mkfs.xfs helm versitygw azurite \
		|| { echo "0 passed, 1 failed"; exit 1; }
	@scripts/test

# What `make test` leaves out, or runs at a small size. It takes many hours; each part writes to target/nightly.
nightly: ## Run everything at full size: lints, the release with the clients, torture, fuzzing (TIME=600 each), Miri, bars at a small size
	@scripts/need cc cargo rustfmt clippy nightly cargo-fuzz miri python3 venv node npm chromium
	@scripts/nightly

fmt: ## Format the Rust code
	@scripts/need cargo rustfmt
	cargo fmt --all

lint: ## Check format, lints and the links in the documentation of the code only
	@scripts/need cc cargo rustfmt clippy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --package rookery-storage --features planted-bugs,counters --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked

bench: ## Measure, one row for each bar with its verdict (BARS=d1,http-put REPS=5 REFERENCE='command with {port} and {data}')
	@scripts/need cc cargo python3
	@bench/run

torture: ## Run the Rust tests at full size as root: crashes, kills, power cuts, full disks, damage, abuse, planted bugs
	@scripts/need cc cargo python3
	SLOW=1 PROPTEST_RNG_SEED=$$(date +%s) $(KEEP_MEMORY) cargo test --profile torture --workspace --locked --no-fail-fast -- --show-output
	SLOW=1 cargo test --profile torture --locked --package rookery-storage --features planted-bugs --test planted
	SLOW=1 $(MAKE) schedules

schedules: ## Run the core of concurrency in every schedule (loom) and in some thousand (shuttle; SLOW=1: a million)
	@scripts/need cc cargo
	@scripts/schedules

# Seconds for each target of `make fuzz`, and where what it finds is kept.
TIME ?= 600
FUZZ := $(CARGO_TARGET_DIR)/fuzz

fuzz: ## Fuzz each target for a while (TIME=600 seconds each, ONLY="json http" some of them)
	@scripts/need cc cargo nightly cargo-fuzz
	@scripts/fuzz "$(FUZZ)" "$(TIME)" $(ONLY)

miri: ## Run the unit tests of the unsafe code in an interpreter that sees undefined behaviour
	@scripts/need cargo nightly miri
	MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-tree-borrows -Zmiri-disable-isolation" \
		cargo +nightly miri test --package rookery-json --lib
	MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-tree-borrows -Zmiri-disable-isolation" \
		cargo +nightly miri test --package rookery-storage --lib -- pager:: environment:: heap::tables:: space:: checkpoint::header::
