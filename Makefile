# Commands for people: `make demo` shows Quipu, `make test` proves it, `make lint` keeps it.

.DEFAULT_GOAL := help
.PHONY: help demo build link-order install packages test test-fast sdk agents guides page site compare tidy clippy openapi lint lint-all doc format hooks sim eval bench doors fuzz clean

CARGO ?= cargo
# nextest where it is installed, the built-in runner where it is not.
RUN_TESTS := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo "nextest run" || echo test)
# The crates that the inner loop builds: all but the two that link LanceDB, and the tool that fetches protoc.
FAST := --workspace --exclude index --exclude quipu --exclude protoc
# What clippy and rustdoc look at; `make lint-all` takes the whole workspace.
LINTED := $(FAST)

help: ## Show this
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# LanceDB's build needs the Protocol Buffers compiler; it comes from the package registry, pinned by Cargo.lock.
.tools/bin/protoc: Cargo.lock
	$(CARGO) run --quiet --locked --package protoc -- .tools
	@touch $@

PROFILE ?= release

build: .tools/bin/protoc ## Build the binary, target/release/quipu; PROFILE=dist, as packages have it, needs 16 GB of memory
	$(CARGO) build --locked --profile $(PROFILE) --package quipu

# The list is right for one build alone: a name holds a hash of all that its crate is built from.
link-order: .tools/bin/protoc ## Write the order of functions of this build for the next `make build`; needs valgrind, x86-64 Linux
	$(CARGO) rustc --locked --profile $(PROFILE) --package quipu --bin quipu -- -C strip=none
	python3 scripts/link-order/link_order.py target/$(PROFILE)/quipu

PREFIX ?= /usr/local
BINARY ?= target/release/quipu

install: $(BINARY) ## Install binary, manual pages and completions: make install PREFIX=~/.local
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	  $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 0755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/quipu
	$(BINARY) man $(DESTDIR)$(PREFIX)/share/man/man1
	$(BINARY) completions bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/quipu
	$(BINARY) completions zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_quipu
	$(BINARY) completions fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/quipu.fish

target/release/quipu:
	$(MAKE) build

# A debug build: everything that it compiles, `make test` uses too.
demo: .tools/bin/protoc ## Remember a conversation, search it, edit it by hand, rebuild its index
	$(CARGO) build --locked --package quipu
	@target/debug/quipu demo

test: .tools/bin/protoc ## Run every test
	$(CARGO) $(RUN_TESTS) --locked --workspace

test-fast: ## Run the tests that do not need LanceDB
	$(CARGO) $(RUN_TESTS) --locked $(FAST)

# The clients as their registries give them, beside the other tools; what they are checked with is in scripts/sdk.
.tools/sdk/ready: scripts/sdk/install.sh scripts/sdk/requirements.txt scripts/sdk/aider.txt scripts/sdk/mcp.txt scripts/sdk/memory.txt scripts/sdk/package.json
	@$< || { echo "the clients could not be installed; check the network and the settings of pip and npm" >&2; exit 1; }

QUIPU ?= target/debug/quipu

sdk: .tools/sdk/ready ## Run the official SDKs, nine clients and our own packages against the Quipu that `make test` built
	@scripts/sdk/run.sh $(QUIPU)

.tools/agents/ready: scripts/agents/install.sh scripts/agents/package.json
	@$< || { echo "the agents could not be installed; check the network and the settings of npm" >&2; exit 1; }

agents: .tools/agents/ready ## Connect four real agents by `quipu init` and by plugins, with the Quipu that `make test` built
	@python3 scripts/agents/agents.py $(QUIPU)

guides: .tools/agents/ready .tools/sdk/ready ## Run the commands of the tutorial and of docs/guides word for word, with the Quipu that `make test` built
	@python3 scripts/agents/guides.py $(QUIPU)

.tools/page/ready: scripts/page/install.sh scripts/page/package.json
	@$< || { echo "what drives the browser could not be installed; check the network and the settings of npm" >&2; exit 1; }

page: .tools/page/ready ## Use every view of the page in a real browser (chromium), with the Quipu that `make test` built
	@node scripts/page/check.mjs $(QUIPU)

.tools/site/ready: scripts/site/install.sh scripts/site/requirements.txt
	@$< || { echo "what builds the site could not be installed; check the network and the settings of pip" >&2; exit 1; }

site: .tools/site/ready ## Build the site of docs/ into target/site; a broken link is an error
	@scripts/site/build.sh

# The systems that docs/comparison.md compares, as PyPI gives them.
.tools/compare/ready: scripts/compare/install.sh $(wildcard scripts/compare/requirements/*.txt) scripts/compare/embedder.py
	@$< || { echo "the systems could not be installed; check the network and the settings of pip" >&2; exit 1; }

compare: .tools/compare/ready ## Compare with other memory systems: make compare DATA=locomo10.json [LONGMEMEVAL=FILE] [ARGS=...]
	@python3 scripts/compare/compare.py $(BINARY) --data $(DATA) $(if $(LONGMEMEVAL),--longmemeval $(LONGMEMEVAL)) $(ARGS)

packages: ## Make every package of the binary that `make test` built, install each into a clean place and use it
	@scripts/packages/run.sh $(QUIPU) $(PACKAGES)

# git compares every file with an empty tree; .gitattributes names the files that may hold white space.
tidy: ## Check formatting, white space, layers, limits, rule files, large files and keys
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	git diff --check $$(git hash-object -t tree /dev/null)
	$(CARGO) xtask tidy

openapi: ## Compare docs/openapi.json with the code
	$(CARGO) $(RUN_TESTS) --locked --package gateway openapi

lint: tidy clippy openapi ## Run tidy, clippy and openapi on every crate that does not need LanceDB

# The tests compare the OpenAPI document too, so whoever runs both needs it here no more.
lint-all: LINTED := --workspace
lint-all: .tools/bin/protoc tidy clippy doc ## Run tidy, clippy and rustdoc on every crate

clippy:
	$(CARGO) clippy --locked $(LINTED) --all-targets -- --deny warnings

doc: ## Build the documentation of the code; a broken link is an error
	RUSTDOCFLAGS="$(RUSTDOCFLAGS) --deny warnings" $(CARGO) doc --locked --no-deps $(LINTED)

format: ## Format the code
	$(CARGO) fmt --all
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml

hooks: ## Install the git hooks: commit messages, tidy
	git config core.hooksPath scripts/hooks

SEED ?= $(shell date +%s)
STEPS ?= 5000

sim: ## Simulate a whole Quipu from one seed: make sim SEED=7 STEPS=5000
	$(CARGO) run --locked --package sim -- --seed $(SEED) --steps $(STEPS)

EVAL ?= changed

eval: ## Measure retrieval: make eval EVAL="offline locomo --data FILE"
	$(CARGO) run --locked --profile fast --package eval -- $(EVAL)

bench: ## Run the benchmarks that do not need LanceDB
	$(CARGO) bench --locked --profile fast $(FAST) --benches

doors: $(BINARY) ## Time hooks, `quipu mcp` and searches as agents meet them, on a machine that does nothing else
	@python3 scripts/doors.py $(BINARY)

FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ_SECONDS ?= 60

# Needs a nightly compiler and `cargo install cargo-fuzz`. What is found new goes to fuzz/corpus.
fuzz: ## Fuzz every target for a minute: make fuzz FUZZ_TARGETS=pdf FUZZ_SECONDS=600
	@set -e; for target in $(FUZZ_TARGETS); do \
	  echo "fuzzing $$target for $(FUZZ_SECONDS) s"; mkdir -p fuzz/corpus/$$target; dict=fuzz/dicts/$$target.dict; \
	  $(CARGO) +nightly fuzz run $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
	    -max_total_time=$(FUZZ_SECONDS) $$(test ! -f $$dict || echo -dict=$$dict); \
	done

clean: ## Delete what the builds made
	$(CARGO) clean
	rm -rf .tools fuzz/target
