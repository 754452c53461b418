"""Resources for MCP clients: the context of a symbol and the outline of a file, by URI, with completion.

A URI comes from a client and may be hostile: it is decoded once, and names only what is in the index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from atlas.answers.evidence import evidence_head, evidence_tail
from atlas.code.atlas import Atlas
from atlas.code.freshness import stale_files
from atlas.code.graph.absence.not_found import why_missing
from atlas.code.tools.catalogue import MAX_COMPLETIONS, TEMPLATES
from atlas.code.tools.citations import FILE_KINDS, hit_name, symbol_of
from atlas.code.tools.envelope import inside, open_envelope
from atlas.code.tools.symbol.node import get_context
from atlas.core.errors import ConfigError, NotFound
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Match, NodeRow
from atlas.core.wording import counted

TOKEN_BUDGET = 4_000
"""A client may attach a resource to every message, so it is bounded as an answer of a tool is."""
MAX_URI_CHARACTERS = 2_000
MAX_SYMBOLS = 10_000

_URI = lazy_regex(r"atlas://(node|file)/(.+)", re.DOTALL)
_BROKEN_ESCAPE = lazy_regex(r"%(?![0-9a-fA-F]{2})")


async def read_resource(atlas: Atlas, uri: str) -> str:
    """Return the text of a resource, with the evidence and stale files of a tool's answer.

    Raises ConfigError for a URI that is malformed or leads out of the project, and NotFound for an unknown symbol or
    file.
    """
    kind, name = parse_uri(uri)
    return await (_node(atlas, name) if kind == "node" else _outline(atlas, name))


def parse_uri(uri: str) -> tuple[str, str]:
    """Return kind and decoded name of a URI. Raises ConfigError if it is malformed.

    Clients that fill in a template write the slashes of a path as "%2F" (RFC 6570); where it leads is checked decoded.
    """
    known = "Resources: " + ", ".join(template.uri for template in TEMPLATES)
    match = _URI.fullmatch(uri) if len(uri) <= MAX_URI_CHARACTERS else None
    if match is None:
        raise ConfigError(f"{uri[:200]!r} is not a resource of this server", known)
    if _BROKEN_ESCAPE.search(match[2]):
        raise ConfigError(f"{uri[:200]!r} has a broken escape", "Write a percent sign as %25.")
    try:
        name = unquote(match[2], errors="strict")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{uri[:200]!r} is not UTF-8", known) from error
    if not name.isprintable():
        raise ConfigError(f"{uri[:200]!r} has control characters", known)
    return match[1], name


async def _node(atlas: Atlas, name: str) -> str:
    answer = await get_context(atlas, name, token_budget=TOKEN_BUDGET)
    if answer.lookup.outcome == "found":
        return answer.render()
    symbols = answer.lookup.candidates or answer.lookup.near
    what = "is ambiguous" if answer.lookup.candidates else "is not in the index"
    near = tuple(symbol.uid for symbol in symbols[:8])
    raise NotFound(f"symbol {name[:200]!r} {what}", "; ".join(answer.lookup.diagnosis), near)


async def _outline(atlas: Atlas, name: str) -> str:
    envelope = await open_envelope(atlas, "", TOKEN_BUDGET)
    state = envelope.state
    path = inside(name, state.root)
    where = Filter(project=state.project)
    nodes = await atlas.reader.store.find(path, Match.PATH, where, MAX_SYMBOLS) if path else []
    rows = sorted((node.row for node in nodes), key=lambda row: (row.start_line, -row.end_line, row.qualified_name))
    if not rows:
        raise NotFound(
            f"file {name[:200]!r} is not in the index", "; ".join(await why_missing(atlas.reader, path, where))
        )
    stale = await stale_files(atlas.reader, state.project, state.root, [path])
    lines = _outline_lines(rows)
    kept = _fitting(atlas, lines)
    withheld = (f"{len(lines) - kept} of {counted(len(lines), 'symbol')}; hybrid_search with this path finds them",)
    evidence = envelope.evidence(paths=[path], stale=stale, withheld=withheld if kept < len(lines) else ())
    return "\n".join((evidence_head(evidence), f"{path}:", *lines[:kept], *evidence_tail(evidence)))


def _outline_lines(rows: Sequence[NodeRow]) -> list[str]:
    """Return one line per symbol, indented by the symbols around it."""
    lines: list[str] = []
    around: list[int] = []
    for row in rows:
        symbol = symbol_of(row)
        if symbol.kind in FILE_KINDS:
            continue
        while around and around[-1] < row.end_line:
            around.pop()
        lines.append(f"{'  ' * len(around)}{row.start_line}-{row.end_line} {hit_name(symbol)}")
        around.append(row.end_line)
    return lines


def _fitting(atlas: Atlas, lines: Sequence[str]) -> int:
    left = TOKEN_BUDGET - 200  # for the evidence
    for number, line in enumerate(lines):
        left -= atlas.reader.counter.count(line) + 1
        if left < 0:
            return number
    return len(lines)


async def complete(atlas: Atlas, argument: str, value: str) -> list[str]:
    """Return uids (`uid`), qualified names (`symbol`) or paths (`path`) that a value may begin, best first."""
    if argument == "path":
        manifest = await atlas.reader.store.manifest(atlas.reader.project)
        paths = [path for path in manifest if path and value.casefold() in path.casefold()]
        return sorted(paths, key=lambda path: (not path.startswith(value), len(path), path))[:MAX_COMPLETIONS]
    text = value.removeprefix(f"{atlas.reader.project}:")
    if argument not in ("uid", "symbol") or not text.strip() or not text.isprintable():
        return []
    where = Filter(project=atlas.reader.project)
    found: dict[str, str] = {}
    for match, name in ((Match.SUFFIX, text[:200]), (Match.PREFIX, text[:200].rpartition(".")[2])):
        for node in await atlas.reader.store.find(name, match, where, MAX_COMPLETIONS) if name else ():
            if node.row.label not in EXTERNAL_LABELS and text.casefold() in node.row.qualified_name.casefold():
                found.setdefault(node.row.uid, node.row.qualified_name)
    return list(found if argument == "uid" else dict.fromkeys(found.values()))[:MAX_COMPLETIONS]
