"""Reads Markdown cases: files in fenced blocks, then what the linker must and must not find.

A case begins with a `##` heading. A block whose info string is `<language> <path>` is a file. In an `expect` block a line is
`source -TYPE-> target  [strategy]  [@line,line]`, the same after `absent ` for an edge that must not be there (`*` matches anything), or
`unresolved <path> <count>`, or `open source name shape reason lines` for calls that no rule resolves. An `expect routes` block lists all routes, `METHOD /path handler`, an `expect events`
block all handlers and emitters, `kind name handled|emitted symbol`, an `expect clients` block all calls of routes, `METHOD /path caller strategy`, an
`expect variables` block all reads and definitions of environment variables, `NAME read|set symbol lines`. A `subprojects` block has one `folder kind name` a line.
A `depends` block has all dependencies: `project | name | kind | group | range | locked | path:line`.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from pathlib import Path

_EDGE = re.compile(r"^(absent )?(\S+) -([A-Z_]+)-> (\S+)(?:\s+([^@\s]\S*))?(?:\s+@([\d,]+))?$")


@dataclass
class Expected:
    """An edge that must (or must not) be found; `strategy` "" and `lines` () mean any."""

    source: str
    type: str
    target: str
    strategy: str
    absent: bool
    lines: tuple[int, ...] = ()

    def matches(self, edge: tuple[str, str, str, str, tuple[int, ...]]) -> bool:
        source, kind, target, strategy, lines = edge
        return (
            kind == self.type
            and fnmatch.fnmatchcase(source, self.source)
            and fnmatch.fnmatchcase(target, self.target)
            and (not self.strategy or strategy == self.strategy)
            and (not self.lines or lines == self.lines)
        )


@dataclass
class Case:
    """One heading's files and expectations."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    expected: list[Expected] = field(default_factory=list)
    unresolved: dict[str, int] = field(default_factory=dict)
    subprojects: list[tuple[str, str, str]] = field(default_factory=list)
    open: list[tuple[str, str, list[object]]] = field(default_factory=list)
    """Source, name, and shape, reason and lines of unresolved calls."""
    depends: list[str] = field(default_factory=list)
    routes: list[str] | None = None
    events: list[str] | None = None
    clients: list[str] | None = None
    variables: list[str] | None = None


def read_cases(path: Path) -> list[Case]:
    """Return the cases of one Markdown file in order."""
    cases: list[Case] = []
    lines = iter(path.read_text("utf-8").splitlines())
    for line in lines:
        if line.startswith("## "):
            cases.append(Case(f"{path.stem}: {line[3:].strip()}"))
        elif line.startswith("```") and cases:
            body: list[str] = []
            for inner in lines:
                if inner.strip() == "```":
                    break
                body.append(inner)
            _add_block(cases[-1], line[3:].split(), body)
    return cases


def _add_block(case: Case, info: list[str], body: list[str]) -> None:
    if info[0] == "expect" and info[-1] in ("routes", "events", "clients", "variables"):
        setattr(case, info[-1], sorted(" ".join(line.split()) for line in body if line.strip()))
    elif info[0] == "expect":
        for line in body:
            _add_expectation(case, line.strip())
    elif info[0] == "depends":
        case.depends += [" ".join(line.split()) for line in body if line.strip()]
    elif info[0] == "subprojects":
        for line in body:
            folder, kind, name = line.split()
            case.subprojects.append(("" if folder == "." else folder, kind, name))
    else:
        case.files[info[1]] = ("\n".join(body) + "\n").encode()


def _add_expectation(case: Case, line: str) -> None:
    if not line:
        return
    if line.startswith("unresolved "):
        _, path, count = line.split()
        case.unresolved[path] = int(count)
        return
    if line.startswith("open "):
        _, source, name, shape, reason, at = line.split()
        case.open.append((source, name, [shape, reason, *map(int, at.split(","))]))
        return
    match = _EDGE.match(line)
    assert match, f"{case.name}: cannot read {line!r}"
    absent, source, kind, target, strategy, lines = match.groups()
    numbers = tuple(map(int, lines.split(","))) if lines else ()
    case.expected.append(Expected(source, kind, target, strategy or "", bool(absent), numbers))
