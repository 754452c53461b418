#!/usr/bin/env bash
# full.sh CHECKOUT OUT.jsonl   (the checkout's own .venv)
exec nice -n 5 python3 "$(dirname "$0")"/record.py run --python "$1/.venv/bin/python" --root "$1" --out "$2"
