# `make run` and `make test` set everything up; they need Python >= 3.11, a C compiler, cargo and make.

PYTHON ?= python3
BIN := .venv/bin
RUST := $(shell find rust-parser -path rust-parser/target -prune -o '(' -name '*.rs' -o -name Cargo.toml ')' -print) rust-parser/Cargo.lock
DEMO := .demo

.PHONY: run test test-rust test-python quick coverage docs check pyright clippy lint licences constraints audit dist format bench fuzz clean
.DELETE_ON_ERROR:

# The demonstration indexes the interpreter's standard library, a real tree that every machine has. What the build prints
# is in .demo/run.log.
run:
	@$(PYTHON) rust-parser/build_backend.py
	@$(PYTHON) benchmarks/demonstration.py

test: test-rust test-python

test-rust: .venv/built
	cd rust-parser && cargo test --release --quiet

# Distributed by file over three processes, which often wait for servers. tests/conftest.py orders the files; xdist would
# put those with the fewest tests last.
test-python: .venv/extras .venv/built
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

# The fast loop: unit, language and link tests without the slow ones. Takes about 30 seconds.
quick: .venv/built .venv/extras
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" tests/unit tests/languages tests/link

# Coverage of the tests that run the code in their own process, without a threshold. COVERAGE_REPORT=html writes HTML.
COVERAGE_REPORT ?= term
coverage: .venv/built .venv/extras
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov=atlas --cov=benchmarks --cov-branch --cov-report="$(COVERAGE_REPORT)" \
	  tests/unit tests/conformance tests/languages tests/link tests/embedders

# The documentation site in dist/site: pages of docs/ and adr/, and a reference made of the code; every link is checked.
docs: .venv/extras .venv/built
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs 2 --conf-dir docs/site . dist/site
	$(BIN)/python -m tests.dist.check_site dist/site

# `make -j2 check` compiles the grammars for clippy, which the extension needs as well, while pip fetches tools and extras:
# the extension, which waits for clippy's lock, is the last prerequisite of the others.
check: clippy lint pyright licences docs

# The extras hold types of what is imported only where it is installed.
pyright: .venv/extras .venv/built
	$(BIN)/pyright

clippy:
	@$(PYTHON) rust-parser/build_backend.py
	cd rust-parser && cargo clippy --release --all-targets --quiet -- -D warnings

# Checks that need no compiled code; takes seconds.
lint: .venv/tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	cd rust-parser && cargo fmt --check

# Every dependency, with all extras, has a permissive licence or is a named exception.
licences: .venv/extras .venv/built
	$(BIN)/python -m tests.dist.check_licences

# Write constraints.txt with the newest versions that exist as wheels on every Python and platform.
constraints: .venv/tools
	$(BIN)/python -m pip install --quiet "uv>=0.9"
	$(BIN)/python -m tests.dist.constraints

# Known vulnerabilities of what constraints.txt and Cargo.lock name. Says so when their lists cannot be reached;
# AUDIT=--required makes that a failure. Rust needs cargo-audit (cargo install --locked cargo-audit).
audit: .venv/tools
	$(BIN)/python -m pip install --quiet "pip-audit>=2.9"
	$(BIN)/python -m tests.dist.audit $(AUDIT)

# Build wheel and sdist in dist/, and check that the wheel works without cargo and a C compiler.
dist: .venv/built
	rm -f dist/*.whl dist/*.tar.gz
	$(BIN)/maturin build --release --locked --quiet --out dist
	$(BIN)/maturin sdist --manifest-path rust-parser/py/Cargo.toml --out dist
	$(BIN)/python -m tests.dist.check_wheel dist
	$(BIN)/python -m tests.dist.check_sdist dist

format: .venv/built
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cd rust-parser && cargo fmt

# Measure the README's numbers on any tree: make bench TREE=path
bench: .venv/built
	$(BIN)/atlas bench index "$(TREE)"
	$(BIN)/atlas bench query "$(TREE)"

# Fuzz the parser, the query language, the fact cache, imports, packs and MCP: make fuzz FUZZ_SECONDS=300
FUZZ_SECONDS ?= 300
fuzz: .venv/built
	$(BIN)/python -m tests.fuzz.run $(FUZZ_SECONDS)

.venv/tools: pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Code Atlas needs Python 3.11 or newer: make PYTHON=python3.12')"
	@$(PYTHON) rust-parser/build_backend.py
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

# Optional for users, required by tests: 38 packages, 227 MB. They are compiled on import, and few are imported.
.venv/extras: .venv/tools
	$(BIN)/python -m pip install --quiet --no-compile --group extras
	touch $@

.venv/built: .venv/tools $(RUST) benchmarks/pyproject.toml
	@$(PYTHON) rust-parser/build_backend.py
	$(BIN)/maturin develop --release --quiet
	$(BIN)/python -m pip install --quiet --no-deps --editable benchmarks
	touch $@

clean:
	rm -rf .venv $(DEMO) rust-parser/target dist atlas/_parser*.so
