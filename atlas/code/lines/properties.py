"""System properties of the Java virtual machine that code reads or sets: names in `System.getProperty("...")`."""

from __future__ import annotations

import re

from atlas.code.lines.line_report import LineReport, TextLine, several
from atlas.code.lines.scan_texts import is_document, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_ASKS = lazy_regex(r"\b(?:system|java|jvm)(?: system)? propert(?:y|ies)\b", re.IGNORECASE)
_READ = lazy_regex(
    r"\b(?:System\.(?P<access>getProperty|setProperty|clearProperty)|(?:Boolean\.getBoolean|Integer\.getInteger|Long\.getLong))"
    r"\s?\(\s{0,40}(?:\"(?P<name>[^\"\n]{1,100})\"|(?P<computed>[A-Za-z_][\w.]{0,80}))"
)
_NEEDLES = (b"property(", b"getboolean(", b"getinteger(", b"getlong(")


async def answer_properties(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer which system properties code reads; None for other questions, and without one. Raises store errors."""
    if not _ASKS.search(query.text) or query.states or query.reports:
        return None
    scan = await scan_texts(reader, where, _READ, _NEEDLES, lambda path: not is_document(path), is_constant=True)
    groups: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for each in scan.found:
        verb = "set" if each.match["access"] in ("setProperty", "clearProperty") else "read"
        group = f"{verb} in tests" if each.file.is_test else verb
        name = each.match["name"] or f"`{each.match['computed']}`"
        groups.setdefault((group, name), []).append((each.file.path, each.line))
    if not groups:
        return None
    order = ("read", "set", "read in tests", "set in tests")
    keys = sorted(groups, key=lambda key: (order.index(key[0]), key[1]))
    lines = tuple(TextLine(group, name, several(groups[group, name])) for group, name in keys)
    read = len([key for key in keys if key[0] == "read"])
    title = f"{counted(read, 'system property')} read outside tests"
    tests = len([key for key in keys if key[0].endswith("tests")])
    return LineReport(
        "properties", f"{title}, {counted(tests, 'other')} in tests" if tests else title, lines, scan.notes
    )
