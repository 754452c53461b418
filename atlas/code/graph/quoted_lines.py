"""The source of the lines that call or make something, where a question asks what they pass. Reads the texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.rank.bodies import BRANCH
from atlas.code.reader import Reader
from atlas.core.invisible import escaped
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Label

MOST_QUOTED = 24
"""Symbols whose lines are quoted."""
MOST_OF_SYMBOL = 4
MOST_PLACES = 12
"""Places outside of tests whose source answers what is asked of each of them; of more, none is shown."""
FEW_PLACES = 4
"""Places, with those in tests, of which all are shown."""
MOST_CONDITIONED = 6
"""Lines of a symbol of which the conditions are shown."""
MOST_STEPS = 6
"""Steps of a way that come with their source."""
MOST_OF_STEP = 240
"""Characters of a step, whose arguments say what is passed on."""
MAX_MEMBERS = 20_000
MOST_OF_BODY = 3
"""Rows of a function that is quoted whole."""
MOST_ROWS = 4
"""Rows of a call that goes on behind its first one."""
MOST_CHARACTERS = 120
MOST_OF_IMPORT = 20
"""Names that one statement imports, each on a line of its own."""
_FILES = frozenset((Label.MODULE, Label.PACKAGE, Label.FILE))
_QUOTED_KINDS = frozenset((Kind.CALLERS, Kind.INSTANTIATIONS, Kind.USAGES, Kind.IMPORTERS, Kind.DEPENDENTS))
_ASKS = lazy_regex(
    r"\b(?:with|passing|handing) (?:what|which)\b|\beach (?:one |call |caller |of (?:them|these|those) )?"
    r"(?:passes|gives|hands|sends|uses)\b"
    r"|\b(?:what|which \w+) (?:do|does) (?:they|each|it|every (?:one|caller)) (?:\w+ )?(?:pass|give|hand|send)\b"
    r"|\b(?:what|which \w+) (?:is|are|gets|get) (?:passed|handed|given)\b"
    r"|\bwhat (?:runs|is run|happens|goes on) in each\b"
    r"|\bwith (?:the|their|its) (?:\w+ ){0,2}(?:arguments?|parameters?|values?|reasons?)\b"
    r"|\b(?:for|with|on|in|at) (?:which|what) (?:\w+ ){0,3}each\b"
    r"|\bwith the (?:[\w-]+ ){1,3}(?:used|passed|given|handed|taken|chosen) (?:there|in each|by each|each time)\b"
    r"|\bfor (?:what|which) (?:purposes?|reasons?)\b|\b(?:to what end|what for)$"
    r"|\b(?:what|which(?: of (?:its|their|the) \w+| \w+))(?: exactly)? (?:do|does) (?:they|each|it)(?: of them| one)?"
    r" (?:\w+ )?(?:take|import|pull in)\b|\beach (?:one |of (?:them|these|those) )?(?:takes|imports|pulls in)\b",
    re.IGNORECASE,
)


_ASKS_WHEN = lazy_regex(
    r"\b(?:in|under|on) (?:which|what) (?:exact )?(?:situations?|conditions?|circumstances?|cases?)\b"
    r"|\b(?:conditions?|circumstances?|situations?|checks?) (?:under|in|on|behind|above) which\b"
    r"|\bguarded by (?:which|what)\b|(?:,| and) when(?: exactly)?$",
    re.IGNORECASE,
)
"""Asks what calls stand under."""
CONDITIONS = 2
_ASKS_CATCHING = lazy_regex(
    r"\b(?:catch|catches|catching|caught|rescues?|rescued|rescuing|handles?|handled|handling)\b", re.IGNORECASE
)
_CATCHES = lazy_regex(r"\b(?:catch|rescue|except|on|case)\b")
"""What handles an exception that it names."""


_ASKS_RAISING = lazy_regex(r"\b(?:rais|throw|emit)\w*\b", re.IGNORECASE)
MOST_RAISERS = 3
MAX_CALLERS = 200
MOST_CALLERS = 8


async def only_catching(reader: Reader, found: EdgeAnswer, text: str) -> EdgeAnswer:
    """Return an answer about usages limited to lines that catch, where that is asked for. Raises store errors."""
    if found.intent.kind != Kind.USAGES or found.counts or not found.related or not _ASKS_CATCHING.search(text):
        return found
    kept = await with_lines(reader, found.related, _CATCHES)
    if not kept or len(kept) == len(found.related):
        return found
    scope = " ".join(filter(None, (found.scope, "in lines that catch it")))
    lines = tuple(each for each in found.text.lines if _CATCHES.search(each.text)) if found.text is not None else ()
    left = replace(found.text, lines=lines) if found.text is not None else None
    return replace(found, related=tuple(kept), scope=scope, unscoped=found.unscoped or len(found.related), text=left)


async def with_callers_of_raisers(reader: Reader, found: EdgeAnswer, text: str) -> EdgeAnswer:
    """Return an answer about what raises an exception with the callers of the few functions that do.

    A helper that only raises says nothing of where that may happen. Raises store errors.
    """
    raisers = [each.node for each in found.related if not each.node.row.is_test]
    is_asked = found.intent.kind == Kind.INSTANTIATIONS and _ASKS_RAISING.search(text) is not None
    if not is_asked or found.scope or not 0 < len(raisers) <= MOST_RAISERS:
        return found
    uids = {node.row.uid: node.row.name for node in raisers if node.row.label in (Label.FUNCTION, Label.METHOD)}
    edges = await reader.store.edges(list(uids), Direction.IN, (EdgeType.CALLS,), MAX_CALLERS) if uids else []
    places: dict[str, list[str]] = {}
    for edge in edges:
        row = edge.node.row
        if not row.is_test and edge.row.lines and row.uid not in uids:
            places.setdefault(uids[edge.row.target], []).append(f"{row.qualified_name} {row.path}:{edge.row.lines[0]}")
    notes = (
        f"`{name}`, which raises it, is called by {', '.join(at[:MOST_CALLERS])}"
        + (f" and {len(at) - MOST_CALLERS} more" if len(at) > MOST_CALLERS else "")
        for name, at in places.items()
    )
    return replace(found, notes=(*found.notes, *notes))


def asks_when(text: str) -> bool:
    """Return whether a question asks what calls stand under: `and in which situations`."""
    return _ASKS_WHEN.search(text.rstrip(" ?.!")) is not None


def asks_what_is_passed(text: str) -> bool:
    """Return whether a question asks what calls pass: `with what arguments`, `the reason each passes`."""
    return _ASKS.search(text.rstrip(" ?.!")) is not None


async def quote_lines(reader: Reader, found: EdgeAnswer, *, conditions: bool = False) -> EdgeAnswer:
    """Return an answer about calls with the source of their lines, and with the conditions above them.

    Raises store errors.
    """
    if found.intent.kind not in _QUOTED_KINDS or found.counts or not found.targets.targets:
        return found
    most = MOST_OF_IMPORT if found.intent.kind == Kind.IMPORTERS else MOST_OF_SYMBOL
    quoted = await _with_source(reader, found.related[:MOST_QUOTED], most, conditions=conditions)
    return replace(found, related=(*quoted, *found.related[MOST_QUOTED:]))


async def _with_source(
    reader: Reader, related: Sequence[RelatedSymbol], most: int, *, conditions: bool
) -> Sequence[RelatedSymbol]:
    """Return symbols with the source of their first lines, with or without the conditions above them."""
    rows = await _rows(reader, related)
    return [
        replace(
            each,
            quoted=tuple(_call(rows.get(each.path, ()), line) for line in each.lines[:most])
            if not conditions
            else tuple(
                _conditions(rows.get(each.path, ()), each.node.row.line, line) for line in each.lines[:MOST_CONDITIONED]
            ),
        )
        for each in related
    ]


async def _rows(reader: Reader, related: Sequence[RelatedSymbol]) -> dict[str, list[str]]:
    """Return the rows of the files of symbols by path."""
    paths = list(dict.fromkeys(each.path for each in related if each.path and each.lines))
    contents = await reader.store.content(related[0].node.project, paths) if paths else {}
    return {path: content.decode("utf-8", "replace").split("\n") for path, content in contents.items()}


async def quote_steps(reader: Reader, found: EdgeAnswer) -> EdgeAnswer:
    """Return a short way with the source of its steps. Raises store errors."""
    if found.intent.kind != Kind.PATH or not 0 < len(found.related) <= MOST_STEPS:
        return found
    rows = await _rows(reader, found.related)
    quoted = (
        replace(each, quoted=(_call(rows.get(each.path, ()), each.lines[0], MOST_OF_STEP),)) if each.lines else each
        for each in found.related
    )
    return replace(found, related=tuple(quoted))


async def made_together(reader: Reader, found: EdgeAnswer) -> EdgeAnswer | None:
    """Return the functions that make several of the classes of an answer, with the conditions; None for no such.

    What makes several of them chooses among them. Raises store errors.
    """
    classes = [each.node for each in found.related if each.node.row.label == Label.CLASS]
    owners = {node.row.uid: node.row.uid for node in classes}
    held = await reader.store.edges(list(owners), Direction.OUT, (EdgeType.DEFINES_METHOD,), MAX_MEMBERS)
    names = reader.languages.constructors
    for edge in held:
        if edge.node.row.kind == "constructor" or edge.node.row.name in names:
            owners[edge.node.row.uid] = edge.row.source
    edges = await reader.store.edges(list(owners), Direction.IN, (EdgeType.CALLS,), MAX_MEMBERS) if classes else []
    made: dict[str, dict[str, set[int]]] = {}
    nodes = {edge.node.row.uid: edge.node for edge in edges if not edge.node.row.is_test}
    for edge in edges:
        made.setdefault(edge.node.row.uid, {}).setdefault(owners[edge.row.target], set()).update(edge.row.lines)
    chosen = [
        RelatedSymbol(nodes[uid], nodes[uid].row.path, tuple(sorted(set[int]().union(*lines.values()))))
        for uid, lines in made.items()
        if len(lines) > 1 and uid in nodes and nodes[uid].row.label not in _FILES
    ][:MOST_PLACES]
    if not chosen:
        return None
    quoted = await _with_source(reader, chosen, MOST_CONDITIONED, conditions=True)
    intent = RelationIntent(Kind.INSTANTIATIONS, found.intent.name)
    title = f"functions that make several of these: {len(quoted)}"
    return EdgeAnswer(intent, Targets(found.intent.name, ()), related=tuple(quoted), title=title)


async def quote_places(reader: Reader, found: EdgeAnswer) -> EdgeAnswer | None:
    """Return an answer with the source of its places outside of imports and, where they are more than a few, of tests.

    None where they are none or many. Raises store errors.
    """
    places = [each for each in found.related if each.node.row.label not in _FILES]
    if len(places) > FEW_PLACES:
        places = [each for each in places if not each.node.row.is_test]
    if not 0 < len(places) <= MOST_PLACES or found.counts:
        return None
    if found.intent.kind == Kind.OVERRIDES:
        quoted = await _with_bodies(reader, places)
    else:
        quoted = (await quote_lines(reader, replace(found, related=tuple(places)))).related
    told = {(each.node.row.uid, each.path, each.lines): each for each in quoted}
    kept = (told.get((each.node.row.uid, each.path, each.lines), each) for each in found.related)
    return replace(found, related=tuple(kept)) if any(each.quoted for each in quoted) else None


async def _with_bodies(reader: Reader, related: Sequence[RelatedSymbol]) -> Sequence[RelatedSymbol]:
    """Return functions with their source where it is short, else with what they return."""
    rows = await _rows(reader, related)
    return [replace(each, quoted=tuple(_body(rows.get(each.path, ()), each))) for each in related]


def _body(rows: Sequence[str], related: RelatedSymbol) -> Iterator[str]:
    row = related.node.row
    lines = [text for each in rows[(row.line or row.start_line) - 1 : row.end_line] if (text := each.strip())]
    if len(lines) > MOST_OF_BODY:
        lines = [each for each in lines if each.startswith(("return", "yield"))][:MOST_OF_SYMBOL]
    if lines:
        text = escaped(" ".join(lines))
        yield text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."


async def with_lines(reader: Reader, related: Sequence[RelatedSymbol], pattern: re.Pattern[str]) -> list[RelatedSymbol]:
    """Return the symbols of which lines match, each with these lines; what a line above opens belongs to it.

    Raises store errors.
    """
    if not related:
        return []
    rows = await _rows(reader, related)
    kept: list[RelatedSymbol] = []
    for each in related:
        text = rows.get(each.path, [])
        lines = tuple(line for line in each.lines if line <= len(text) and pattern.search(_with_opening(text, line)))
        if lines:
            kept.append(replace(each, lines=lines))
    return kept


def _with_opening(rows: Sequence[str], line: int) -> str:
    """Return a line behind the one above it that only opens it: `rescue`, `except (`."""
    above = rows[line - 2].strip() if line > 1 else ""
    return f"{above} {rows[line - 1]}" if above.isalpha() or above.endswith(("(", "[")) else rows[line - 1]


def _conditions(rows: Sequence[str], first: int, line: int) -> str:
    """Return the conditions that a line stands under, from the outermost of `CONDITIONS` on, and the call itself.

    `first` is the line of the function around it, which ends the search.
    """
    above: list[str] = []
    indent = _indent(rows[line - 1]) if line <= len(rows) else 0
    for number in range(line - 1, first, -1):
        row = rows[number - 1]
        if row.strip() in ("", "{") or _indent(row) >= indent or len(above) == CONDITIONS:
            continue
        indent = _indent(row)
        if BRANCH.search(row) is not None:
            above.insert(0, f"{number}: {_call(rows, number).removesuffix('{').rstrip()}")
    return " > ".join([*above, _call(rows, line)])


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _call(rows: Sequence[str], line: int, most: int = MOST_CHARACTERS) -> str:
    """Return the call that begins at a line, on one line."""
    taken: list[str] = []
    for row in rows[line - 1 : line - 1 + MOST_ROWS * most // MOST_CHARACTERS]:
        taken.append(row.strip())
        text = " ".join(taken)
        if text.count("(") <= text.count(")"):
            break
    text = escaped(" ".join(taken))
    return text if len(text) <= most else f"{text[: most - 3]}..."
