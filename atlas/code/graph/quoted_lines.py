"""The source of the lines that call or make something, where a question asks what they pass. Reads the texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from atlas.code.graph.relation import EdgeAnswer
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.invisible import escaped

MOST_QUOTED = 24
"""Symbols whose lines are quoted."""
MOST_OF_SYMBOL = 3
MOST_ROWS = 4
"""Rows of a call that goes on behind its first one."""
MOST_CHARACTERS = 120
MOST_OF_IMPORT = 20
"""Names that one statement imports, each on a line of its own."""
_QUOTED_KINDS = frozenset((Kind.CALLERS, Kind.INSTANTIATIONS, Kind.USAGES, Kind.IMPORTERS))
_ASKS = re.compile(
    r"\b(?:with|passing|handing) (?:what|which)\b|\beach (?:one |call |caller |of (?:them|these|those) )?"
    r"(?:passes|gives|hands|sends|uses)\b"
    r"|\b(?:what|which \w+) (?:do|does) (?:they|each|it|every (?:one|caller)) (?:\w+ )?(?:pass|give|hand|send)\b"
    r"|\b(?:what|which \w+) (?:is|are|gets|get) (?:passed|handed|given)\b"
    r"|\bwhat (?:runs|is run|happens|goes on) in each\b"
    r"|\bwith (?:the|their|its) (?:\w+ ){0,2}(?:arguments?|parameters?|values?|reasons?)\b"
    r"|\b(?:what|which \w+)(?: exactly)? (?:do|does) (?:they|each|it) (?:\w+ )?(?:take|import|pull in)\b",
    re.IGNORECASE,
)


def asks_what_is_passed(text: str) -> bool:
    """Return whether a question asks what calls pass: `with what arguments`, `the reason each passes`."""
    return _ASKS.search(text) is not None


async def quote_lines(reader: Reader, found: EdgeAnswer) -> EdgeAnswer:
    """Return an answer about calls with the source of their lines. Raises store errors."""
    if found.intent.kind not in _QUOTED_KINDS or found.counts or not found.targets.targets:
        return found
    project = found.targets.targets[0].node.project
    first = found.related[:MOST_QUOTED]
    paths = list(dict.fromkeys(each.path for each in first if each.path and each.lines))
    contents = await reader.store.content(project, paths)
    rows = {path: content.decode("utf-8", "replace").split("\n") for path, content in contents.items()}
    most = MOST_OF_IMPORT if found.intent.kind == Kind.IMPORTERS else MOST_OF_SYMBOL
    quoted = [
        replace(each, quoted=tuple(_call(rows.get(each.path, ()), line) for line in each.lines[:most]))
        for each in first
    ]
    return replace(found, related=(*quoted, *found.related[MOST_QUOTED:]))


def _call(rows: Sequence[str], line: int) -> str:
    """Return the call that begins at a line, on one line."""
    taken: list[str] = []
    for row in rows[line - 1 : line - 1 + MOST_ROWS]:
        taken.append(row.strip())
        text = " ".join(taken)
        if text.count("(") <= text.count(")"):
            break
    text = escaped(" ".join(taken))
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."
