"""`atlas status`, `search`, `node`, `context`, `impact`, `cypher` and `index` without the option parser.

Its import takes longer than an answer of the daemon, and as long as one of this process.

Agents and scripts run these commands often. Only plain forms are read here: known options, each once, with values that
the parser would take as they are. Help, mistakes, completion and all other forms are left to the parser.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # `typing` takes as long as the rest
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FLAG, TEXT, LIST = "flag", "text", "list"
LIMIT, ROWS, DEPTH, BUDGET = range(51), range(1001), range(9), range(1_000_000_000)
"""Values of numbers, as the parser takes them."""
MODES = ("hybrid", "text", "vector", "exact", "regex")

Kind = str | range | tuple[str, ...]


class _Command:
    """What a command line may have: at most and at least so many positional arguments, and options.

    `options` gives parameter and kind of each; a flag `--no-X` sets X to False.
    """

    __slots__ = ("arguments", "options", "required")

    def __init__(self, arguments: int, required: int, options: Mapping[str, tuple[str, Kind]]) -> None:
        self.arguments, self.required, self.options = arguments, required, options


_OPTIONS: Mapping[str, tuple[str, Kind]] = {
    "--project": ("project", TEXT),
    "--data-dir": ("data_dir", TEXT),
    "--json": ("json", FLAG),
    "--token-budget": ("token_budget", BUDGET),
}
_COMMANDS: Mapping[str, _Command] = {
    "index": _Command(1, 0, {name: _OPTIONS[name] for name in ("--project", "--data-dir", "--json")}),
    "status": _Command(
        0, 0, {**_OPTIONS, "--skipped": ("skipped", FLAG), "--only": ("only", TEXT), "--all": ("every", FLAG)}
    ),
    "node": _Command(1, 1, {**_OPTIONS, "--path": ("path", TEXT), "--label": ("label", TEXT)}),
    "context": _Command(1, 1, {**_OPTIONS, "--path": ("path", TEXT), "--label": ("label", TEXT)}),
    "impact": _Command(
        1,
        0,
        {
            **_OPTIONS,
            "--diff": ("diff", TEXT),
            "--staged": ("staged", FLAG),
            "--depth": ("depth", DEPTH),
            **{name: ("limit", ROWS) for name in ("--limit", "-n")},
        },
    ),
    "cypher": _Command(1, 1, {**_OPTIONS, **{name: ("limit", ROWS) for name in ("--limit", "-n")}}),
    "search": _Command(
        1,
        0,
        {
            **_OPTIONS,
            **{f"--{name}": (name, TEXT) for name in ("relation", "of", "to", "scope", "path", "cursor")},
            **{f"--{name}": (name, LIST) for name in ("label", "language")},
            **{f"--{name}": (name, FLAG) for name in ("tests", "no-tests", "brief", "snippets")},
            **{name: ("limit", LIMIT) for name in ("--limit", "-n")},
            "--mode": ("mode", MODES),
        },
    ),
}


def run_directly(words: Sequence[str]) -> int | None:
    """Run a command and return its exit code; None if the option parser has to read it. Raises AtlasError."""
    if list(words[:1]) == ["hook"] and len(words) == 2 and words[1] in ("session", "grep"):
        from atlas.cli.clients.hook_command import run_hook

        return run_hook(words[1])
    if list(words) in (["--version"], ["--version", "--json"]) and "_ATLAS_COMPLETE" not in os.environ:
        from atlas.cli.doctor import print_version

        print_version(as_json="--json" in words)
        return 0
    read = None if "_ATLAS_COMPLETE" in os.environ else read_words(words)
    if read is None:
        return None
    positional, given = read
    project, data_dir, as_json = given.pop("project", ""), given.pop("data_dir", ""), bool(given.pop("json", False))
    if words[0] == "index":
        return _index(positional, project, data_dir, as_json=as_json)
    from atlas.cli.code.by_daemon import answer_by_daemon
    from atlas.cli.requests import cypher_request, impact_request, search_request, status_request, symbol_request

    match words[0]:
        case "status":
            request = status_request(**given)
        case "node" | "context" as command:
            request = symbol_request(f"get_{command}", positional[0], **given)
        case "impact":
            request = impact_request(*positional, **given)
        case "cypher":
            request = cypher_request(positional[0], **given)
        case _:
            request = search_request(*positional, **given)
    if (code := answer_by_daemon(project, data_dir, request, as_json=as_json)) is not None:
        return code
    gc.disable()  # the process ends before its garbage matters, and imports create much that is none
    from atlas.cli.run import ask_and_print
    from atlas.cli.settings import settings_of

    return ask_and_print(settings_of(project, data_dir), request, as_json=as_json)


def _index(positional: Sequence[str], project: str, data_dir: str, *, as_json: bool) -> int | None:
    """Make a pass, or have the running daemon make it; None on a terminal, which shows progress."""
    if os.name != "posix" or sys.stderr.isatty() or (positional and project and positional[0] != project):
        return None
    from atlas.cli.code.by_daemon import index_by_daemon

    project = "".join(positional) or project
    try:
        code = index_by_daemon(project, data_dir, as_json=as_json)
    except KeyboardInterrupt:
        # a pass of the daemon goes on
        print("Interrupted: nothing was done here", file=sys.stderr, flush=True)
        raise
    if code is not None:
        return code
    from atlas.cli.code.index_pass import make_index
    from atlas.cli.settings import settings_of

    return make_index(settings_of(project, data_dir), as_json=as_json)


def read_words(words: Sequence[str]) -> tuple[list[str], dict[str, Any]] | None:
    """Return positional arguments and options by parameter of a command line; None for a form that is not plain."""
    command = _COMMANDS.get(words[0]) if words else None
    if command is None:
        return None
    positional: list[str] = []
    given: dict[str, Any] = {}
    left = list(reversed(words[1:]))
    while left:
        word = left.pop()
        if not word.startswith("-"):
            positional.append(word)
            continue
        option, equals, text = word.partition("=")
        name, kind = command.options.get(option, ("", ""))
        if kind == FLAG and not equals:
            wanted, name = not name.startswith("no-"), name.removeprefix("no-")
            if name in given:
                return None
            given[name] = wanted
            continue
        if not name or kind == FLAG or (equals and not option.startswith("--")) or (not equals and not left):
            return None
        text = text if equals else left.pop()
        value = _value(kind, text) if equals or not text.startswith("-") else None
        if value is None or (name in given and kind != LIST):
            return None
        given[name] = [*given.get(name, []), text] if kind == LIST else value
    return (positional, given) if command.required <= len(positional) <= command.arguments else None


def _value(kind: Kind, text: str) -> str | int | None:
    """Return the value of an option; None for one that the parser may refuse or read otherwise."""
    if isinstance(kind, range):
        is_plain = text.isascii() and text.isdecimal() and len(text) < 10 and str(int(text)) == text
        return int(text) if is_plain and int(text) in kind else None
    return text if isinstance(kind, str) or text in kind else None
