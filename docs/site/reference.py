"""The reference of the documentation site, made of the code: commands, tools, settings, graph, rules of edges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer.main

from atlas.answers.tool import Tool
from atlas.app.toolsets import TOOLSETS
from atlas.cli.app import EXIT_CODES, create_app
from atlas.code.tools.vocabulary import EDGE_TYPES, LABELS, NODE_PROPERTIES
from atlas.papers.catalogue import TOOLS as PAPER_TOOLS
from atlas.runtime.config.settings import SECTIONS

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "rust-parser" / "link" / "src" / "strategy.rs"


def pages() -> Mapping[str, str]:
    """Return the text of every page in Markdown by its name."""
    return {
        "commands": _commands(),
        "tools": _tools(),
        "settings": _settings(),
        "graph": _graph(),
        "rules": _rules(),
    }


def write(folder: Path) -> None:
    """Write the pages; one that has not changed keeps its time, so that a build does not repeat it."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        path = folder / f"{name}.md"
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)


def _commands() -> str:
    command: Any = typer.main.get_command(create_app())
    parts = [
        "# Commands",
        "What `atlas COMMAND --help` prints. Options that stand before the command hold for every command.",
        _table(("option", ""), _options(command)),
        EXIT_CODES,
    ]
    for name, inner in _visible(command):
        parts += _command(f"atlas {name}", inner, 2)
    return _joined(parts)


def _visible(group: Any) -> Iterator[tuple[str, Any]]:
    yield from sorted((name, inner) for name, inner in group.commands.items() if not inner.hidden)


def _command(path: str, command: Any, level: int) -> Iterator[str]:
    arguments = [
        param.metavar or str(param.name).upper() for param in command.params if param.param_type_name == "argument"
    ]
    yield f"{'#' * level} {path}"
    if getattr(command, "commands", None) is None:
        yield f"```\n{' '.join([path, '[OPTIONS]', *arguments])}\n```"
    yield _plain(command.help or "")
    yield _table(("option", ""), _options(command))
    if getattr(command, "commands", None) is not None:
        for name, inner in _visible(command):
            yield from _command(f"{path} {name}", inner, level + 1)


def _options(command: Any) -> Iterator[tuple[str, str]]:
    for param in command.params:
        if param.param_type_name == "option" and not param.hidden:
            value = "" if param.is_flag else f" {param.metavar or str(param.name).upper()}"
            yield ", ".join(f"`{name}{value}`" for name in (*param.opts, *param.secondary_opts)), param.help or ""


def _tools() -> str:
    parts = [
        "# Tools",
        "What the MCP server offers. `--toolsets code,claims,memory` chooses; `code` is the default, and `query` is "
        "`code` without the tools that make an index or report on it.",
    ]
    for name, toolset in TOOLSETS.items():
        parts.append(f"## {name}")
        if name == "query":
            parts.append(", ".join(f"`{tool.name}`" for tool in toolset.tools))
            continue
        parts += [part for tool in toolset.tools for part in _tool(tool)]
    parts += ["## papers", "The tools of `atlas papers mcp`."]
    parts += [part for tool in PAPER_TOOLS for part in _tool(tool)]
    return _joined(parts)


def _tool(tool: Tool) -> Iterator[str]:
    schema = tool.input_schema
    required = set(schema.get("required", ()))
    yield f"### {tool.name}"
    yield tool.description
    yield _table(
        ("argument", "type", ""),
        (
            (f"`{name}`" + (" (required)" if name in required else ""), _type(one), str(one.get("description", "")))
            for name, one in schema["properties"].items()
        ),
    )


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    given: Any = schema.get("type", "any")
    kind = given if isinstance(given, str) else " or ".join(given)
    low, high = schema.get("minimum"), schema.get("maximum")
    return kind if low is None and high is None else f"{kind}, {low} to {high}"


def _settings() -> str:
    parts = [
        "# Settings",
        "Each overrides the one before: defaults, the user's file, the project's file, `ATLAS_<SECTION>_<KEY>`, "
        "options. A project's file may set what is marked so, and a number no higher than given.",
    ]
    for name, kind in SECTIONS.items():
        parts += [f"## [{name}]", _table(("key", "default", "", "in a project's file"), _keys(kind))]
    return _joined(parts)


def _keys(kind: Any) -> Iterator[tuple[str, str, str, str]]:
    for spec in fields(kind):
        meta = spec.metadata
        bounds = f" ({meta['low']} to {meta['high']})" if meta["high"] else ""
        choices = f" One of {', '.join(f'`{one}`' for one in meta['choices'])}." if meta["choices"] else ""
        is_number = isinstance(spec.default, int) and not isinstance(spec.default, bool)
        shared = "" if not meta["shared"] else f"at most {meta['shared_high']}" if is_number else "yes"
        yield f"`{spec.name}`", f"`{_toml(spec.default)}`", f"{meta['help']}{bounds}{choices}", shared


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(value) if isinstance(value, (int, float)) else f"[{', '.join(map(_toml, value))}]"


def _graph() -> str:
    return _joined(
        [
            "# The graph",
            "What [Cypher queries](../cypher.md) and the filters of searches can name; `atlas schema` prints it with "
            "the counts of a project.",
            "## Labels",
            _table(("label", ""), ((f"`{label}`", what) for label, what in LABELS.items())),
            "## Relationship types",
            _table(("type", "from -> to"), ((f"`{kind}`", what) for kind, what in EDGE_TYPES.items())),
            "Each relationship has `strategy` ([the rule that found it](rules.md)), `confidence` and `line`.",
            "## Properties of nodes",
            _table(("property", ""), ((f"`{entry.name}`", entry.description) for entry in NODE_PROPERTIES)),
        ]
    )


def _rules() -> str:
    return _joined(
        [
            "# Rules of edges",
            "Each edge names the rule that found it. The confidence is the share of its edges that are right; how it "
            "is measured, and which are estimates, is in [measurements of edges](../measurements/edges.md).",
            _table(("rule", "confidence", ""), rules()),
        ]
    )


def rules() -> list[tuple[str, str, str]]:
    """Return (name, confidence, meaning) of each rule, the surest first, read from the linker's source."""
    text = RULES.read_text()
    described: list[tuple[str, str]] = re.findall(r"/// ([^\n]+)\n    (\w+),", text.partition("impl Strategy")[0])
    meanings = {variant: meaning for meaning, variant in described}
    names = dict(re.findall(r'Strategy::(\w+) => "([^"]+)"', text))
    confidences = {
        variant: number
        for arms, number in re.findall(r"((?:Strategy::\w+[\s|]*)+) => ([\d.]+),", text)
        for variant in re.findall(r"Strategy::(\w+)", arms)
    }
    found = [(f"`{names[variant]}`", confidences[variant], meaning) for variant, meaning in meanings.items()]
    if not len(found) == len(names) == len(confidences):
        raise ValueError(f"{RULES.name}: {len(found)} meanings, {len(names)} names, {len(confidences)} confidences")
    return sorted(found, key=lambda rule: (-float(rule[1]), rule[0]))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(_cell(one) for one in row)} |" for row in rows]
    return "\n".join((f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *lines)) if lines else ""


def _cell(text: str) -> str:
    return _plain(text).replace("|", r"\|")


def _plain(text: str) -> str:
    """Return a help text as one paragraph; `<` begins no element."""
    return re.sub(r"\s+", " ", text.replace("\b", "")).strip().replace("<", r"\<").replace("*", r"\*")


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
