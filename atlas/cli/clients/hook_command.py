"""`atlas hook`: what the hooks of a client run. Not for people, and never in the way of the client.

A hook that fails, is late or has nothing to say prints nothing and exits with 0. What it prints is made of the names
that the agent itself has given, of counts, and of the name of the project's folder: text of the repository would speak
to the model in the voice of the user's own configuration.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from atlas.core.lazy_regex import lazy_regex

if TYPE_CHECKING:
    import typer

    from atlas.runtime.config.load import Settings

KINDS = ("session", "grep")

MAX_SECONDS = 2
MAX_INPUT = 1 << 20
MAX_NAMES = 3
"""Names of one search that are looked up."""
MAX_SYMBOLS = 50
_SYMBOLS = ("Class", "Function", "Method", "Value")
SHORTEST_NAME = 4
"""A shorter word is seldom what a search is about."""

_SEARCH_TOOLS = frozenset({"Grep", "grep_search", "search_file_content"})
_PROGRAMS = frozenset({"grep", "egrep", "rg", "ag", "ack"})
_NAME = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]{0,199}(?:(?:\.|::)[A-Za-z_][A-Za-z0-9_]{0,199}){0,7}")
_DEFINITION_WORDS = frozenset({"class", "def", "func", "function", "interface", "struct", "type", "const", "async"})


def register(app: typer.Typer) -> None:
    """Add the command, which help does not list."""
    import typer

    def hook(kind: str = typer.Argument(metavar="session|grep")) -> None:
        """Answer a hook of an agent client: its event on stdin, what the model is told on stdout."""
        run_hook(kind)

    app.command("hook", hidden=True)(hook)


def run_hook(kind: str) -> int:
    """Read an event from stdin and print what the model is told about it, if anything; return 0."""
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _give_up)
        signal.setitimer(signal.ITIMER_REAL, MAX_SECONDS)
    try:
        event = _table(json.loads(sys.stdin.buffer.read(MAX_INPUT) or b"{}"))
        told = _told(kind, event)
        if told:
            name = str(event.get("hook_event_name") or "SessionStart")
            print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": told}}))
            sys.stdout.flush()
    except Exception:
        if os.environ.get("ATLAS_DEBUG", "0") not in ("", "0"):
            raise
    return 0


def _give_up(_signal: int, _frame: object) -> None:
    os._exit(0)  # not an exception: a library may be at work


def _table(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _told(kind: str, event: Mapping[str, Any]) -> str:
    names = searched_names(event) if kind == "grep" else []
    if kind not in KINDS or (kind == "grep" and not names):
        return ""
    from atlas.runtime.config.load import load_settings

    folder = event.get("cwd")
    is_folder = isinstance(folder, str) and Path(folder).is_dir()
    settings = load_settings(start=Path(cast("str", folder)) if is_folder else None)
    if settings.store.url:  # a server may be far away
        return ""
    return _card(settings) if kind == "session" else _hint(settings, names)


def searched_names(event: Mapping[str, Any]) -> list[str]:
    """Return the names of symbols that a search for a text asks for: that of its tool, or of `grep` in a shell."""
    arguments = _table(event.get("tool_input"))
    if event.get("tool_name") in _SEARCH_TOOLS:
        pattern = arguments.get("pattern")
    else:
        command = arguments.get("command")
        pattern = _pattern_in(command) if isinstance(command, str) else None
    return names_in(pattern) if isinstance(pattern, str) else []


def names_in(pattern: str) -> list[str]:
    """Return the names in a pattern that is one name or several alternatives, with or without `def` or `(`."""
    names: list[str] = []
    for part in re.split(r"\\?\|", pattern[:1000])[:MAX_NAMES]:
        bare = re.sub(r"\\[bsw<>][+*]?|\\|[\^$()]|\s+", " ", part).split()
        words = [word for word in bare if word not in _DEFINITION_WORDS]
        if len(words) != 1 or not _NAME.fullmatch(words[0]) or len(words[0]) < SHORTEST_NAME:
            return []
        names.append(words[0])
    return list(dict.fromkeys(names))


def _pattern_in(command: str) -> str | None:
    """Return the pattern of the first `grep` of a shell command."""
    try:
        words = shlex.split(command[:2000], posix=True)
    except ValueError:
        return None
    at = next((place for place, word in enumerate(words) if Path(word).name in _PROGRAMS), -1)
    if at < 0 or (at > 0 and words[at - 1] in ("|", "|&")):  # it filters the output of a program
        return None
    rest = iter(words[at + 1 :])
    for word in rest:
        if word in ("-e", "--regexp"):
            return next(rest, None)
        if word in ("-A", "-B", "-C", "-m", "-g", "-t", "-T", "--glob", "--type", "--max-count", "-f"):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def _card(settings: Settings) -> str:
    """Return what a session should know at its start, in at most 120 tokens."""
    if not (settings.data_dir / "atlas.db").is_file():
        return ""
    name = re.sub(r"[^\w.-]+", "-", settings.root.name)[:40]
    return (
        f"Code Atlas has a graph of {name} (MCP server code-atlas; in a shell: atlas search). Ask it before grep: "
        'hybrid_search "callers of X", "tests for X", "where are sessions expired"; get_context X = source, callers, '
        "callees, tests; impact {diff: HEAD} = what a change breaks. Answers have path:line and say what is unknown. "
        "Use grep for literal text."
    )


def _hint(settings: Settings, names: list[str]) -> str:
    """Return which of the names the index knows and what it can say of them, "" for none."""
    import asyncio

    counts = asyncio.run(_counts(settings, names))
    found = [f"`{name}` {count} definition{'s' * (count > 1)}" for name, count in counts.items() if count]
    if not found:
        return ""
    first = next(name for name, count in counts.items() if count)
    return (
        f"Code Atlas has indexed {', '.join(found)}. Its graph also knows calls that text does not show (imports under "
        f'another name, overrides): hybrid_search "callers of {first}", get_context {first}.'
    )


async def _counts(settings: Settings, names: list[str]) -> dict[str, int]:
    """Return how many symbols have each name. Raises AtlasError without an index."""
    from atlas.app.store import open_store
    from atlas.core.model import Filter, Match

    store = await open_store(settings)
    try:
        counts: dict[str, int] = {}
        for name in names:
            nodes = await store.find(name.replace("::", "."), Match.SUFFIX, Filter(labels=_SYMBOLS), MAX_SYMBOLS)
            counts[name] = len(nodes)
        return counts
    finally:
        await store.aclose()
