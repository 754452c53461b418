"""Find possible calls of a function that are not edges: places that pass it as a value, and lines that name it.

A callback that is registered or an entry of a table is called by whoever receives it. Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from atlas.code.graph.absence.occurrences import TextPlace
from atlas.code.graph.absence.proof import is_prose, unaccounted
from atlas.code.graph.absence.unresolved import find_unresolved
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Node
from atlas.core.wording import counted

MAX_EDGES = 1_000
MOST_READ = 60
"""Symbols with the name in their text whose lines are read, which takes 0.3 ms each."""
MOST_GROUPS, MOST_OF_ONE = 5, 8
"""Functions that a note names, and lines of each."""
DISTINCT_WORDS = 3
"""Words of a name that is not one English word: the whole name and two parts."""
_BARE_CALLS = lazy_regex(r"\.(?:rb|rake|gemspec|ex|exs|scala|sc|pl|pm|erb)$")
"""Files of languages that call a function by its bare name."""
_NO_CODE = (Label.CHUNK, Label.DOC_SECTION, Label.DOC_FILE, Label.ADR)
_CALLABLE = (Label.FUNCTION, Label.METHOD)
_DATA = lazy_regex(r"\.(?:ya?ml|json|toml|md|mdx|rst|txt|html?|cfg|ini|xml)$")
_NO_VALUE = lazy_regex(
    r"\s*(?:import\b|from\s+\S+\s+import\b|use\s|using\b|export\s*[{*]|export\s+default\b|#\s*include|require\b|alias\b)"
    r"|.*\b(?:def|func|fn|fun|function|class|interface|sub)\s"
)
"""An import or a definition."""


async def handed_over(
    reader: Reader,
    nodes: Sequence[Node],
    known: Collection[tuple[str, int]],
    keep: Callable[[Node], bool] | None = None,
) -> tuple[str, ...]:
    """Return notes about places that have a function's name and are not known calls of it; () if there are none.

    These are places that pass the function as a value, found by edges and by text, and lines that name it without an
    edge. `known` are the lines (path, number) of its calls, `keep` limits the places to a scope. Raises store errors.
    """
    if any(node.row.label not in _CALLABLE for node in nodes):
        return ()
    uids, name = [node.row.uid for node in nodes], nodes[0].row.name
    edges = await reader.store.edges(uids, Direction.IN, (EdgeType.REFERENCES,), MAX_EDGES)
    values = {
        (edge.node.row.path, line): edge.node.row.name
        for edge in sorted(edges, key=lambda edge: (edge.node.row.is_test, edge.node.row.path))
        for line in edge.row.lines
        if (edge.node.row.path, line) not in known and (keep is None or keep(edge.node))
    }
    others: dict[tuple[str, int], str] = {}
    more, is_distinct = False, len(set(reader.split_words(name))) >= DISTINCT_WORDS
    hits = await reader.store.search_text(reader.split_words(name)[:1], Filter(project=nodes[0].project), MOST_READ + 1)
    if len(hits) <= MOST_READ:
        left = await unaccounted(reader, nodes, Kind.CALLERS, known)
        more = left.more
        for each in filter(_is_code, left.places):
            if keep is not None and each.node is not None and not keep(each.node):
                continue
            place, inside = (each.path, each.line), each.node.row.name if each.node else ""
            if is_distinct and _value(name).search(each.text) and not _BARE_CALLS.search(each.path):
                values.setdefault(place, inside)
            elif _used(name).search(each.text) and place not in values:
                others[place] = inside
    if others:
        unresolved = await find_unresolved(reader, name, nodes[0].project)
        said = {(call.caller.row.path, line) for call in unresolved.calls for line in call.lines}
        others = {place: inside for place, inside in others.items() if place not in said}
    found: list[str] = []
    if values:
        found.append(f"also handed over as a value, so that others may call it, in {_places(values, more=more)}")
    if others and not is_distinct:
        found.append(f"and without an edge, perhaps of another `{name}`: {_places(others, more=more)}")
    elif others:
        found.append(f"and lines that name it without an edge may call it: {_places(others, more=more)}")
    if len(hits) > MOST_READ and len(known) < MOST_READ:
        found.append(f"more than {MOST_READ} symbols have the word `{name}`; calls without an edge are not listed")
    return tuple(found)


def _places(found: Mapping[tuple[str, int], str], *, more: bool) -> str:
    return f"{counted(len(found), 'place', more=more)}: {_listed(found)}"


def _listed(found: Mapping[tuple[str, int], str]) -> str:
    """Return places with the functions around them, those of one function together: `a.js:3,4 in `f``."""
    groups: dict[tuple[str, str], list[int]] = {}
    for (path, line), name in found.items():
        groups.setdefault((path, name), []).append(line)
    shown = [
        f"{path}:{','.join(map(str, lines[:MOST_OF_ONE]))}" + (f" in `{name}`" if name else "")
        for (path, name), lines in groups.items()
    ]
    left = sum(len(lines) for lines in [*groups.values()][MOST_GROUPS:])
    left += sum(len(lines[MOST_OF_ONE:]) for lines in [*groups.values()][:MOST_GROUPS])
    return ", ".join(shown[:MOST_GROUPS]) + (f", and {left} more" if left else "")


def _value(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that is not called."""
    return re.compile(rf"(?<![\w$'\"`/]){re.escape(name)}(?![\w$'\"`]|\s*[(!?]|\s*<[^<>]*>\()")


def _used(name: str) -> re.Pattern[str]:
    """Return the pattern of a name behind a receiver, or before a bracket."""
    return re.compile(rf"(?:\.|::|->)\s*{re.escape(name)}(?![\w$:])|(?<![\w$'\"`/]){re.escape(name)}\s*\(")


def _is_code(place: TextPlace) -> bool:
    row = place.node.row if place.node is not None else None
    if is_prose(place) or _NO_VALUE.match(place.text) or _DATA.search(place.path):
        return False
    return row is not None and not row.is_test and row.label not in _NO_CODE
