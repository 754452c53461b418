"""Where the value of a command line flag goes: the lines of code that have the name it is kept under.

A declaration tells that name (`dest="limit"`, `v => Limit = v`, `&opts.Limit`), else the flag's own words do. A value
that is only handed to a function which does not name it is not read there. Lines of texts and places of functions only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.declarations import read_declarations
from atlas.code.lines.absent.words import is_no_code
from atlas.code.lines.flags import answer_flags, declarations, flag_names, help_of
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import TextMatch, is_document, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match
from atlas.core.wording import counted

MOST_LINES, MOST_DECLARED = 8, 2
MAX_LINE = 110
LINES_OF_DECLARATION = 3
LINES_OF_CALL = 12
"""Lines above an argument in which its call begins."""
_APPLIED = lazy_regex(
    r"\b(?:appl(?:y|ies|ied)|used|uses|read|reads|honou?red|honou?rs?|effects?|ignored|ignores|consulted|respect(?:s|ed)?"
    r"|reach(?:es)?|end up|arrives?|passed (?:on|to)|handed|do(?:es)? anything|what happens|taken into account"
    r"|evaluated)\b",
    re.IGNORECASE,
)
_KEPT_AS = lazy_regex(
    r"\bdest\s{0,3}=\s{0,3}[\"'](?P<dest>\w{1,60})[\"']|=>\s{0,3}\{?\s{0,3}(?:this\.|self\.)?(?P<handler>[A-Za-z_]\w{1,60})\s?=(?![=>])"
    r"|&(?:\w{1,60}\.){0,4}(?P<pointer>[A-Za-z_]\w{1,60})"
)
_ALONE = lazy_regex(r"\s*(?P<name>\w{1,60}),?\s*$")
_CALLS = lazy_regex(r"\b(?P<callee>[A-Za-z_]\w{1,80})\(\s?\{?[^()]{0,200}$")
_TAKES = lazy_regex(r"\s*(?:const|let|var)\s\{[\w,: ]{1,100}\}\s?=")
"""What a function takes out of an object that it is given."""
_LITERAL = lazy_regex(r"(?<![=!<>])=\s?[\"'\d]")


@dataclass(frozen=True, slots=True)
class FlagValue:
    """The lines that have the name of a flag's value, and what they say together."""

    lines: tuple[TextLine, ...]
    said: str
    is_told: bool
    """Whether the declaration tells the name of the value."""


async def answer_flag_use(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer whether the value of a flag is applied; None for other questions. Raises store errors."""
    names = flag_names(query.text)
    if len(names) != 1 or _APPLIED.search(query.text) is None:
        return None
    found = await answer_flags(reader, query, where)
    if found is None:
        return None
    _, every = await declarations(reader, where)
    declaring = [each for name, each in every if name == names[0]]
    value = await lines_of_value(reader, names[0], declaring, where)
    if value is None:
        return found
    declared = [TextLine("declared", each.place, shown(help_of(each)[:MAX_LINE])) for each in declaring[:MOST_DECLARED]]
    others = [each for each in found.lines if each.group in ("documented", "tests")]
    return replace(found, title=f"{found.title}; {value.said}", lines=(*declared, *value.lines, *others))


async def lines_of_value(reader: Reader, flag: str, declared: Sequence[TextMatch], where: Filter) -> FlagValue | None:
    """Return where the value of a flag is named beside its declarations; None where that is not known.

    Raises store errors.
    """
    first = next(iter(declared), None)
    if first is None:
        return None
    own = {(each.file.path, each.line + by) for each in declared for by in range(LINES_OF_DECLARATION)}
    kept = _kept_as(first)
    names = (kept,) if kept else _spelled(flag)
    folder = "" if kept else await _folder(reader, first.file.path, where)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")
    needles = [name.lower().encode() for name in names]
    scan = await scan_texts(reader, where, pattern, needles, lambda path: path.startswith(folder) and _is_code(path))
    found = {each.place: each for each in scan.found if not is_no_code(each) and (each.file.path, each.line) not in own}
    if scan.notes:
        return None
    below = f" below {folder.rstrip('/')}" if folder else ""
    listed = sorted(found.values(), key=lambda each: _LITERAL.search(each.text[:MAX_LINE]) is None)
    lines = [
        TextLine("value", each.place, f"{shown(each.text.strip()[:MAX_LINE])}{await _handed_to(reader, each, where)}")
        for each in listed[:MOST_LINES]
    ]
    named = " or ".join(f"`{name}`" for name in names)
    said = (
        f"{counted(len(found), 'other line')} of code{below} with {named}"
        if found
        else f"no other code{below} has {named}"
    )
    return FlagValue(tuple(lines), said, bool(kept))


def _is_code(path: str) -> bool:
    return not is_document(path)


def _kept_as(declared: TextMatch) -> str:
    """Return the name that the declaration of a flag keeps its value under; "" where it does not say."""
    at = declared.line - 1
    match = _KEPT_AS.search(" ".join(declared.file.lines[at : at + LINES_OF_DECLARATION])[:600])
    return next(filter(None, match.groups()), "") if match is not None else ""


def _spelled(flag: str) -> tuple[str, ...]:
    """Return the names that programs derive from a flag: `api_key`, `apiKey`, `ApiKey`."""
    first, *others = re.split(r"[-_.]", flag)
    joined = "".join(part.capitalize() for part in others)
    return tuple(dict.fromkeys(("_".join((first, *others)), f"{first}{joined}", f"{first.capitalize()}{joined}")))


async def _folder(reader: Reader, path: str, where: Filter) -> str:
    """Return the folder of the project that a file belongs to, with a stroke behind; "" for the root."""
    folders = {each.folder for each in await read_declarations(reader, where.project) if each.folder}
    around = [f"{folder}/" for folder in folders if path.startswith(f"{folder}/")]
    return max(around, key=len, default="")


async def _handed_to(reader: Reader, found: TextMatch, where: Filter) -> str:
    """Return to which function of the project a value is handed that does not name it; "" for other lines."""
    alone = _ALONE.match(found.text)
    if alone is None:
        return ""
    above = "\n".join(found.file.lines[max(0, found.line - 1 - LINES_OF_CALL) : found.line - 1])
    call = _CALLS.search(above[-600:])
    if call is None:
        return ""
    scope = Filter(project=where.project or reader.project, labels=(Label.FUNCTION, Label.METHOD, Label.CLASS))
    nodes = [node.row for node in await reader.store.find(call["callee"], Match.SUFFIX, scope, 3) if node.row.path]
    if len(nodes) != 1:
        return ""
    row = nodes[0]
    data = (await reader.store.content(scope.project, [row.path])).get(row.path, b"")
    body = data.decode("utf-8", "replace").split("\n")[row.start_line - 1 : row.end_line]
    word = re.compile(rf"(?<!\w){re.escape(alone['name'])}(?!\w)")
    reads = next((number for number, line in enumerate(body, row.start_line) if word.search(line)), 0)
    taken = next(
        (f" ({number} {line.strip()})" for number, line in enumerate(body, row.start_line) if _TAKES.match(line)), ""
    )
    tells = f"names it at {reads}" if reads else f"does not name `{alone['name']}`{taken[:MAX_LINE]}"
    return f" handed to {row.name} {row.path}:{row.start_line}, which {tells}"
