#!/usr/bin/env bash
# run.sh ROOT: move the house in the clean worktree ROOT (its branch at the main that is to be moved); leaves all staged.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -z "$(git status --porcelain --untracked-files=no)" ] || { echo "not clean"; exit 1; }
python3 "$here"/move.py "$1"
python3 "$here"/rename.py "$1"
.venv/bin/python -m pip install -q --no-deps -e benchmarks
git add -A
.venv/bin/ruff check . --output-format concise || true
.venv/bin/ruff format --check . | tail -3 || true
.venv/bin/lint-imports | tail -14 || true
