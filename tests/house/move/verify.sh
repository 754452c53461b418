#!/usr/bin/env bash
# verify.sh ROOT: what must be green after run.sh
cd "$1"
.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/lint-imports | tail -4
nice -n 5 .venv/bin/pyright | tail -3
nice -n 5 .venv/bin/python -m pytest tests/architecture -q 2>&1 | tail -4
