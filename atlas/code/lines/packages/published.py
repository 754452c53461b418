"""What a published package asks for, by target framework, as its specification (`.nuspec`) says.

A specification stands beside the project files that it packs, and may ask for other packages than they do. Lines of
texts only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.lines.line_report import LineReport, TextLine
from atlas.code.lines.scan_texts import IndexedText, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_ASKS = lazy_regex(
    r"\b(?:pulls? in|brings? in|needs?|requires?|depends? on|dependenc(?:y|ies)|references?|installs?|comes? with)\b",
    re.IGNORECASE,
)
_SAID = lazy_regex(
    r"<id>\s{0,9}(?P<id>[\w.-]{1,100})\s{0,9}</id>|<group(?:\s{1,9}targetFramework=\"(?P<group>[^\"\n]{1,80})\")?\s{0,9}/?>"
    r"|<dependency\s(?P<dependency>[^<>]{1,400})>"
)
_ATTRIBUTE = lazy_regex(r"(id|version)=\"([^\"\n]{1,100})\"")
_ANY_FRAMEWORK = "any framework"


async def answer_published(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Return what the package that a question names asks for by target framework; None for other questions.

    Raises store errors.
    """
    if query.states or query.reports or _ASKS.search(query.text) is None or not _names_package(query.text):
        return None
    scan = await scan_texts(reader, where, _SAID, (b"<id>", b"<group", b"<dependency"), _is_specification)
    files = {each.file.path: each.file for each in scan.found}
    ids = {each.file.path: each.match["id"] for each in scan.found if each.match["id"]}
    for path, name in ids.items():
        if name.lower() in _words(query.text):
            return _report(name, files[path], query.text, scan.notes)
    return None


def _words(text: str) -> set[str]:
    return {word.strip("`'\",?!:;().").lower() for word in text.split()}


def _names_package(text: str) -> bool:
    return re.search(r"\b(?:package|nuspec|published)\b", text, re.IGNORECASE) is not None


def _is_specification(path: str) -> bool:
    return path.endswith(".nuspec")


def _report(name: str, file: IndexedText, text: str, notes: Sequence[str]) -> LineReport:
    groups: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    group = _ANY_FRAMEWORK
    for match in _SAID.finditer(file.text):
        line = file.line_at(match.start())
        if match["dependency"]:
            said = dict(_ATTRIBUTE.findall(match["dependency"]))
            groups.setdefault(group, []).append(f"{said.get('id', '?')} {said.get('version', '')} :{line}")
            lines.setdefault(group, line)
        elif not match["id"]:
            group = match["group"] or _ANY_FRAMEWORK
            groups.setdefault(group, [])
            lines.setdefault(group, line)
    words = _words(text)
    asked = [each for each in groups if each.lower() in words]
    shown = [
        TextLine("dependencies", each, "; ".join(groups[each]) or f"none :{lines[each]}") for each in asked or groups
    ]
    count = counted(len({line.split(" ")[0] for each in groups.values() for line in each}), "dependency")
    by = f" by {counted(len(groups), 'target framework')}" if groups else ""
    return LineReport("dependencies", f"package {name} ({file.path}): {count}{by}", tuple(shown), tuple(notes))
