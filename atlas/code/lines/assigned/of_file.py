"""What one file attaches to prototypes: `which methods does the utc plugin override`, and which of them a class has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.lines.assigned.replaced import VERB, Assigned, classes_with, find_assigned
from atlas.code.lines.line_report import LineReport, TextLine
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_ASKS = lazy_regex(
    r"\b(?:which|what)(?: \w{1,30}){0,3} (?:does|do) (?:the )?[`'\"]?(?P<name>[\w$./-]{2,200})[`'\"]?"
    rf"(?: plug-?in| module| file| extension| mixin)? (?:{VERB}|add|attach|put|install)\b",
    re.IGNORECASE,
)
MOST_MEMBERS = 60


async def answer_attached_by(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer what a file attaches to prototypes; None for other questions, and other files. Raises store errors."""
    asked = _ASKS.search(query.text) if not (query.states or query.reports) else None
    if asked is None:
        return None
    every = await reader.store.paths(where.project or reader.project)
    paths = [path for path in every if _is_named(path, asked["name"])]
    if len(paths) != 1:
        return None
    found, notes = await find_assigned(reader, "", where, path=paths[0])
    found = [each for each in found if each.is_on_prototype]
    if not found:
        return None
    lines: list[TextLine] = []
    for each in found[:MOST_MEMBERS]:
        classes = await classes_with(reader, each.member, where)
        of = ", ".join(f"{cls.row.name} {method.row.path}:{method.row.line}" for cls, method in classes[:2])
        group = "that a class has" if of else "that no class has"
        lines.append(TextLine(group, f"{each.path}:{each.line}", f"{each.text}{f' ({of})' if of else ''}"))
    lines.sort(key=lambda each: each.group == "that no class has")
    return LineReport("attached", _title(paths[0], found, lines), tuple(lines), notes, first=MOST_MEMBERS)


def _is_named(path: str, name: str) -> bool:
    """Return whether a file has a name: `utc` is `utc.js` or `utc/index.js`, and no file of declarations or tests."""
    folder, _, file = path.rpartition("/")
    stem, *endings = file.split(".")
    if path == name or path.endswith(f"/{name}"):
        return True
    own = folder.rpartition("/")[2] if stem == "index" else stem
    return own == name and len(endings) == 1


def _title(path: str, found: Sequence[Assigned], lines: Sequence[TextLine]) -> str:
    known = sum(each.group != "that no class has" for each in lines)
    return f"{path} assigns {counted(len(found), 'member')} of prototypes, {known} of which a class of the project has"
