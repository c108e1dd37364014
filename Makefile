# Quipu for people: `make demo` shows it, `make test` proves it, `make lint` keeps it.

.DEFAULT_GOAL := help
.PHONY: help demo build test test-fast sdk lint format hooks

CARGO ?= cargo
# nextest where it is installed, the built-in runner where it is not.
RUN_TESTS := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo "nextest run" || echo test)
# The crates that the inner loop builds: all but the two that link LanceDB, and the tool that fetches protoc.
FAST := --workspace --exclude index --exclude quipu --exclude protoc

help: ## shows this
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# LanceDB's build needs the Protocol Buffers compiler; it comes from the package registry, pinned by Cargo.lock.
.tools/bin/protoc: Cargo.lock
	$(CARGO) run --quiet --locked --package protoc -- .tools
	@touch $@

build: .tools/bin/protoc ## builds the release binary, target/release/quipu
	$(CARGO) build --locked --release --package quipu

demo: build ## remembers a conversation, searches it, edits it by hand, rebuilds its index
	@target/release/quipu demo

test: .tools/bin/protoc ## runs every test
	$(CARGO) $(RUN_TESTS) --locked --workspace

test-fast: ## runs the tests that do not need LanceDB
	$(CARGO) $(RUN_TESTS) --locked $(FAST)

# The clients as their registries give them, beside the other tools; what they are checked with is in scripts/sdk.
.tools/sdk/ready: scripts/sdk/install.sh scripts/sdk/requirements.txt scripts/sdk/aider.txt scripts/sdk/package.json
	@$< || { echo "the clients could not be installed: are the registries of pip and npm reached?" >&2; exit 1; }

QUIPU ?= target/debug/quipu

sdk: .tools/sdk/ready ## runs the official SDKs and nine clients through a Quipu that `make test` has built
	@scripts/sdk/run.sh $(QUIPU)

lint: ## formatting, clippy, tidy (layers, caps, map, clocks), OpenAPI drift
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked $(FAST) --all-targets -- --deny warnings
	$(CARGO) xtask tidy
	$(CARGO) $(RUN_TESTS) --locked --package gateway openapi

format: ## formats the code
	$(CARGO) fmt --all

hooks: ## installs the git hooks: commit messages, formatting, tidy
	git config core.hooksPath scripts/hooks
