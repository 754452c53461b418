"""Tests -> command lines that run them, for the runners that languages commonly use. Pure; nothing is executed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial

from atlas.core.model import NodeRow

MAX_FILES = 20
"""Files or names in one command."""
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_RUNNERS = ((b"vitest", "npx vitest run"), (b"node:test", "node --test"), (b"jest", "npx jest"))
"""Word in a test file, and the runner that it tells."""


def test_commands(tests: Sequence[NodeRow], read: Callable[[str], bytes]) -> tuple[str, ...]:
    """Return one command per language, in the order of the tests. `read` returns the text of an indexed file."""
    by_runner: dict[str, list[NodeRow]] = {}
    for row in tests:
        ending = "." + row.path.rpartition(".")[2]
        by_runner.setdefault(".js" if ending in _SCRIPTS else ending, []).append(row)
    makers = {".py": _pytest, ".go": _go, ".rs": _cargo, ".js": partial(_script, read=read)}
    return tuple(makers[ending](rows) for ending, rows in by_runner.items() if ending in makers)


def _pytest(rows: Sequence[NodeRow]) -> str:
    return "python -m pytest " + _paths(rows)


def _go(rows: Sequence[NodeRow]) -> str:
    folders = list(dict.fromkeys("./" + row.path.rpartition("/")[0] for row in rows))[:MAX_FILES]
    names = list(dict.fromkeys(row.name for row in rows if row.name.startswith(("Test", "Fuzz", "Example"))))
    run = f" -run {shlex.quote('^(' + '|'.join(names) + ')$')}" if 0 < len(names) <= MAX_FILES else ""
    return "go test " + " ".join(map(shlex.quote, folders)) + run


def _cargo(rows: Sequence[NodeRow]) -> str:
    names = list(dict.fromkeys(row.name for row in rows if row.label in ("Function", "Method")))
    if not names or len(names) > MAX_FILES:
        return "cargo test"
    return "cargo test -- " + " ".join(map(shlex.quote, names))


def _script(rows: Sequence[NodeRow], read: Callable[[str], bytes]) -> str:
    text = read(rows[0].path)
    runner = next((runner for word, runner in _RUNNERS if word in text), "npx jest")
    return f"{runner} {_paths(rows)}"


def _paths(rows: Sequence[NodeRow]) -> str:
    """Return the files as arguments; none can pass for an option."""
    paths = list(dict.fromkeys(row.path for row in rows))[:MAX_FILES]
    return " ".join(shlex.quote(f"./{path}" if path.startswith("-") else path) for path in paths)
