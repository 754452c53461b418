"""What a command of the shell starts, as manifests declare it: scripts of a distribution, `bin` of a package, binaries.

A way may begin at one: `from the shop console script to X`. Reads manifests in the index and the graph only.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from posixpath import join, normpath
from types import MappingProxyType
from typing import Any, cast

from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import resolve
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node

MOST_MANIFESTS = 60
MAX_MANIFEST = 1 << 20
_KIND = (
    r"(?:console scripts?|(?:shell )?command(?:[- ]line)?(?: tools?| scripts?| program)?|cli|executable|binary"
    r"|entry ?points?)"
)
_NAMED = lazy_regex(
    rf"[`'\"]?(?P<before>[A-Za-z][\w.-]{{0,60}})[`'\"]? {_KIND}\b"
    rf"|\b{_KIND} (?:called |named )?[`'\"]?(?P<behind>[A-Za-z][\w.-]{{0,60}})",
    re.IGNORECASE,
)
_RUNS = lazy_regex(
    r"^(?:what|which (?:code|function|method|module|file|script))\b.{0,40}\b(?:runs?|executed|called|started|starts?"
    r"|executes?|calls?|invoked|invokes?|happens)\b"
    r"|^where (?:does|is|do)\b.{0,80}\b(?:starts?|begins?|defined|implemented|enters?|live)\b"
    r"|^(?:what|which|where|show|find)\b.{0,30}\bentry ?points?\b",
    re.IGNORECASE,
)
_SCRIPTS = lazy_regex(r"console_scripts['\"]?\s{0,9}[:=]\s{0,9}\[?(?P<entries>[^\]]{0,4000})")
_ENTRY = lazy_regex(r"[\s'\"]{0,40}(?P<name>[\w.-]{1,60})\s{0,9}=\s{0,9}(?P<target>[\w.]{1,200}:[\w.]{1,100})")
_MAIN_FILE = "src/main.rs"
_BINARY = lazy_regex(r"src/bin/([\w-]{1,60})\.rs")
_MAIN = lazy_regex(r"(?:^|/)cmd/(?P<name>[\w.-]{1,60})/main\.\w{1,4}$")
_CALLABLE = (Label.FUNCTION, Label.METHOD, Label.CLASS)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command and what a manifest says it starts."""

    name: str
    target: str
    """`package.module:function`, or the path of a file."""
    path: str
    line: int

    @property
    def declared(self) -> str:
        """Where it is declared, and what it starts: `setup.py:33 as shop.cli:main`."""
        return f"{self.path}:{self.line} as {self.target}" if self.path != self.target else self.path


async def find_command(reader: Reader, text: str, project: str) -> ShellCommand | None:
    """Return the declared command that a text names as such: `the shop console script`. Raises store errors."""
    names = [name for match in _NAMED.finditer(text) for name in match.groups() if name]
    if not names:
        return None
    commands = await reader.cache.get(reader.store, project, "shell commands", partial(read_commands, reader, project))
    return next((each for name in names for each in commands if each.name == name), None)


def asks_what_runs(text: str) -> bool:
    """Return whether a question asks what a command runs: `what runs when I call the shop command`."""
    return _RUNS.search(text) is not None


async def started_by(reader: Reader, command: ShellCommand, project: str) -> Node | None:
    """Return the function that a command starts; the module where it is a script. None where the index lacks it."""
    where = Filter(project=project)
    if command.target not in await reader.store.paths(project):
        found = await resolve(reader, command.target.replace(":", "."), where)
        return next((node for node in found.nodes if node.row.label in _CALLABLE), None)
    nodes = await reader.store.find(command.target, Match.PATH, where, 10_000)
    mains = (node for node in nodes if node.row.name == "main" and node.row.label == Label.FUNCTION)
    return next(mains, None) or next((node for node in nodes if node.row.label == Label.MODULE), None)


async def read_commands(reader: Reader, project: str) -> tuple[ShellCommand, ...]:
    """Return the commands that the manifests of a project declare, the outermost first. Raises store errors."""
    paths = sorted(await reader.store.paths(project), key=lambda path: (path.count("/"), path))
    manifests = [path for path in paths if path.rpartition("/")[2] in _READERS][:MOST_MANIFESTS]
    contents = await reader.store.content(project, manifests)
    found: list[ShellCommand] = []
    for path in manifests:
        folder, _, name = path.rpartition("/")
        text = contents.get(path, b"")[:MAX_MANIFEST].decode("utf-8", "replace")
        prefix = f"{folder}/" if folder else ""
        inside = [each.removeprefix(prefix) for each in paths if each.startswith(prefix)]
        for command, target in _READERS[name](text, inside):
            lines = (number for number, line in enumerate(text.splitlines(), 1) if target in line)
            file = normpath(join(folder, target))
            found.append(ShellCommand(command, file if file in paths else target, path, next(lines, 1)))
    mains = ((_MAIN.search(path), path) for path in paths)
    return (*found, *(ShellCommand(match["name"], path, path, 1) for match, path in mains if match is not None))


def _of_setup(text: str, _: Sequence[str]) -> Iterator[tuple[str, str]]:
    for match in _SCRIPTS.finditer(text):
        for part in re.split(r"[,\n]", match["entries"]):
            if (entry := _ENTRY.match(part)) is not None:
                yield entry["name"], entry["target"]


def _of_project(text: str, _: Sequence[str]) -> Iterator[tuple[str, str]]:
    document = _table(text)
    for table in (_at(document, "project"), _at(document, "tool", "poetry")):
        for key in ("scripts", "gui-scripts"):
            for name, target in _at(table, key).items():
                if isinstance(target, str):
                    yield name, target


def _of_package(text: str, _: Sequence[str]) -> Iterator[tuple[str, str]]:
    try:
        read: object = json.loads(text)
    except ValueError:
        return
    document = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
    own = document.get("bin")
    if isinstance(own, str):
        yield str(document.get("name", "")).rpartition("/")[2], own
    elif isinstance(own, dict):
        yield from ((name, target) for name, target in cast("dict[str, Any]", own).items() if isinstance(target, str))


def _of_crate(text: str, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    document = _table(text)
    named = document.get("bin")
    for each in cast("list[Any]", named) if isinstance(named, list) else []:
        table = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        name = str(table.get("name", ""))
        yield name, str(table.get("path", f"src/bin/{name}.rs" if f"src/bin/{name}.rs" in files else _MAIN_FILE))
    if _MAIN_FILE in files:
        yield str(_at(document, "package").get("name", "")), _MAIN_FILE
    yield from ((match[1], path) for path in files if (match := _BINARY.fullmatch(path)) is not None)


def _table(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _at(table: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return a table inside of a table; an empty one where there is none."""
    for key in keys:
        inner = table.get(key)
        table = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
    return table


_READERS: Mapping[str, Callable[[str, Sequence[str]], Iterator[tuple[str, str]]]] = MappingProxyType(
    {
        "setup.py": _of_setup,
        "setup.cfg": _of_setup,
        "pyproject.toml": _of_project,
        "package.json": _of_package,
        "Cargo.toml": _of_crate,
    }
)
"""What reads each manifest: the commands with what they start, given the files beside and below it."""
