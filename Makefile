# `make run` and `make test` do all set-up on a machine with Python >= 3.11, a C compiler, cargo and make.

PYTHON ?= python3
BIN := .venv/bin
RUST := $(shell find rust-parser -path rust-parser/target -prune -o -name '*.rs' -print) rust-parser/Cargo.toml rust-parser/Cargo.lock
DEMO := .demo
STDLIB = $(shell $(BIN)/python -c "import sysconfig; print(sysconfig.get_path('stdlib'))")

.PHONY: run test check format bench fuzz clean
.DELETE_ON_ERROR:

# The demonstration: the standard library of the interpreter at hand is a real tree that every machine has.
run: .venv/built
	$(BIN)/atlas index "$(STDLIB)" --data-dir $(DEMO)
	$(BIN)/atlas --data-dir $(DEMO) --project "$(STDLIB)" search "parse command line arguments" --limit 5
	$(BIN)/atlas --data-dir $(DEMO) --project "$(STDLIB)" search "callers of json.decoder.JSONDecoder.decode" --limit 5
	$(BIN)/atlas --data-dir $(DEMO) --project "$(STDLIB)" context json.dumps --token-budget 800
	$(BIN)/atlas --data-dir $(DEMO) --project "$(STDLIB)" cypher \
	  "MATCH (c:Class)-[:INHERITS]->(b:Class {name: 'Handler'}) RETURN c.qualified_name AS class, c.path AS path ORDER BY class LIMIT 10"
	$(BIN)/atlas --data-dir $(DEMO) --project "$(STDLIB)" status

test: .venv/built .venv/extras
	cd rust-parser && cargo test --release --quiet
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: .venv/built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	cd rust-parser && cargo fmt --check && cargo clippy --release --all-targets --quiet -- -D warnings

format: .venv/built
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cd rust-parser && cargo fmt

# Numbers of the README, for any tree: make bench TREE=path
bench: .venv/built
	$(BIN)/atlas bench index "$(TREE)"
	$(BIN)/atlas bench query "$(TREE)"

# Changed inputs for the parser, the query language, the fact cache and MCP: make fuzz FUZZ_SECONDS=300
FUZZ_SECONDS ?= 300
fuzz: .venv/built
	$(BIN)/python -m tests.fuzz.run $(FUZZ_SECONDS)

.venv/tools: pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Code Atlas needs Python 3.11 or newer: make PYTHON=python3.12')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

# What is optional for users and not for tests. 36 packages, 210 MB: compiled when they are imported, which few are.
.venv/extras: .venv/tools
	$(BIN)/python -m pip install --quiet --no-compile --group extras
	touch $@

.venv/built: .venv/tools $(RUST)
	$(BIN)/maturin develop --release --quiet
	touch $@

clean:
	rm -rf .venv $(DEMO) rust-parser/target dist atlas/_parser*.so
