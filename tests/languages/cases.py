"""Language cases written in Markdown.

A case is a section (`## title`) with fenced blocks. A block whose info string is `<language> <path>` is a file:

    ```python pkg/a.py
    def f(): ...
    ```

A block whose info string is `expect <view>[ <path>]` says what the facts of that file are (default: the last file above), one line
per fact, in the order of the facts. Views and their lines:

    definitions   Kind path start-end[@name_line] [flags]   top-level scope left out; flags without `exported`: `async,test`;
                                                            a definition that is not exported ends with `private`
    signatures    path: signature
    docs          path: docstring                           `<module>` for the top-level scope; line breaks as `\\n`
    params        path(name: annotation = default, ...)     `*x` variadic, `**x` keywords, `^x` receiver; ` -> type` if declared
    types         path: declared type
    bases         path: base, base
    decorators    path: decorator, decorator
    imports       [scope: ]Kind module[ level][ . member][ as alias][ type-only] :line
    references    [scope: ]Kind expr :line
    calls reads   like references, one kind, without the kind
    bindings      [scope: ]Kind target[: annotation][ = value] :line
    problems      line code
    module        the dotted module
    document      Kind name of the top-level scope

Expressions are written as in `ParsedFile.to_json`: `<this>.f(x, key=<str>)`, `new T()`, `<one of a or b>`, `List<int>`, `?`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atlas._parser import Languages, parse_bytes

FENCE = re.compile(r"^(`{3,})(.*)$")
LANGUAGES = Path(__file__).parents[2] / "atlas" / "languages"


@dataclass(frozen=True, slots=True)
class Expectation:
    view: str
    path: str
    lines: tuple[str, ...]
    line: int


@dataclass(slots=True)
class Case:
    title: str
    files: dict[str, str] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a Markdown file."""
    cases = [Case(path.stem)]
    for kind, info, number, lines in _blocks(path.read_text(encoding="utf-8")):
        if kind == "title":
            cases.append(Case(f"{path.stem}: {info}"))
            continue
        case = cases[-1]
        words = info.split()
        if words[:1] == ["expect"]:
            target = words[2] if len(words) > 2 else next(reversed(case.files))
            case.expectations.append(Expectation(words[1], target, tuple(line for line in lines if line), number))
        elif len(words) == 2:
            case.files[words[1]] = "\n".join(lines) + "\n"
    return [case for case in cases if case.expectations]


def _blocks(text: str) -> Iterator[tuple[str, str, int, list[str]]]:
    fence, info, start, lines = "", "", 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if fence:
            if line.strip() == fence:
                yield "block", info, start, lines
                fence = ""
            else:
                lines.append(line)
        elif match:
            fence, info, start, lines = match[1], match[2].strip(), number, []
        elif line.startswith("## "):
            yield "title", line[3:], number, []


def facts_of(languages: Languages, path: str, source: str | bytes) -> dict[str, Any]:
    """Return the facts of a file as plain values."""
    data = source.encode() if isinstance(source, str) else source
    return json.loads(parse_bytes(languages, path, data).to_json())


def render(facts: dict[str, Any], view: str) -> list[str]:
    """Return one view of a file's facts, one line per fact."""
    named = [item for item in facts["definitions"] if item["path"]]
    match view:
        case "module":
            return [facts["module"]]
        case "document":
            return [f"{facts['definitions'][0]['kind']} {facts['definitions'][0]['name']}"]
        case "definitions":
            return [_definition(item) for item in named]
        case "signatures":
            return [f"{item['path']}: {item['signature']}" for item in named]
        case "docs":
            return [
                f"{item['path'] or '<module>'}: {item['docstring']}".replace("\n", "\\n")
                for item in facts["definitions"]
                if item["docstring"]
            ]
        case "params":
            return [_params(item) for item in named if item["params"] or "Function" in item["kind"]]
        case "types":
            return [f"{item['path']}: {item['declared_type']}" for item in named if item["declared_type"]]
        case "bases" | "decorators":
            return [f"{item['path']}: {', '.join(item[view])}" for item in named if item[view]]
        case "imports":
            return [_import(item) for item in facts["imports"]]
        case "references":
            return [f"{_scope(item)}{item['kind']} {item['expr']} :{item['line']}" for item in facts["references"]]
        case "calls" | "reads":
            kind = {"calls": "Call", "reads": "Read"}[view]
            wanted = [item for item in facts["references"] if item["kind"] == kind]
            return [f"{_scope(item)}{item['expr']} :{item['line']}" for item in wanted]
        case "bindings":
            return [_binding(item) for item in facts["bindings"]]
        case "problems":
            return [f"{item['line']} {item['code']}" for item in facts["problems"]]
        case _:
            raise ValueError(f"unknown view {view}")


def _scope(item: dict[str, Any]) -> str:
    return f"{item['scope']}: " if item["scope"] else ""


def _definition(item: dict[str, Any]) -> str:
    name_line = "" if item["name_line"] == item["start_line"] else f"@{item['name_line']}"
    flags = [flag for flag in item["flags"] if flag != "exported"]
    if "exported" not in item["flags"] and item["kind"] != "Lambda":
        flags.append("private")
    text = f"{item['kind']} {item['path']} {item['start_line']}-{item['end_line']}{name_line}"
    return f"{text} {','.join(flags)}".rstrip()


def _params(item: dict[str, Any]) -> str:
    marks = {"normal": "", "receiver": "^", "variadic": "*", "keywords": "**"}
    parts: list[str] = []
    for param in item["params"]:
        text = marks[param["kind"]] + param["name"]
        text += f": {param['annotation']}" if param["annotation"] else ""
        text += f" = {param['default']}" if param["default"] else ""
        parts.append(text)
    declared = f" -> {item['declared_type']}" if item["declared_type"] else ""
    return f"{item['path']}({', '.join(parts)}){declared}"


def _import(item: dict[str, Any]) -> str:
    text = f"{_scope(item)}{item['kind']} {item['module']}"
    text += f" {item['level']}" if item["level"] else ""
    text += f" . {item['member']}" if item["member"] is not None else ""
    text += f" as {item['alias']}" if item["alias"] is not None else ""
    return text + (" type-only" if item["type_only"] else "") + f" :{item['line']}"


def _binding(item: dict[str, Any]) -> str:
    text = f"{_scope(item)}{item['kind']} {item['target']}"
    text += f": {item['annotation']}" if item["annotation"] is not None else ""
    text += f" = {item['value']}" if item["value"] is not None else ""
    return text + f" :{item['line']}"
