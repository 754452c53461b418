"""Bodies of the short functions that shown lines call: `if not _is_https_redirect(url)` does not say what that is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from atlas.code.question.parse_question import Query
from atlas.code.rank.bodies import BRANCH, forms_of, words_of
from atlas.code.reader import Reader
from atlas.code.tools.citations import local_name, place_of
from atlas.code.tools.symbol.window_lines import statement_lines
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Label, NodeRow

MOST_HELPERS, MOST_LINES = 2, 8
"""Functions that are shown, and lines of each: a longer one is a hit of its own, or `get_context` shows it."""
MAX_EDGES = 200
LEAST_CONFIDENCE = 0.8
_CALLED = lazy_regex(r"(?<![\w$])([A-Za-z_$][\w$]*+[?!]?) ?(?=\()")
_READ = lazy_regex(r"(?<=\.)([A-Za-z_$][\w$]*+)(?!\()")
"""A property, whose getter is called without brackets."""
_STATES = lazy_regex(r"[(=]|\breturn\b")
"""A single line that does something, other than a declaration: `var source: Source? { get }`."""
_FUNCTIONS = frozenset((Label.FUNCTION, Label.METHOD))
_LEADS = (EdgeType.CALLS, EdgeType.REFERENCES)


async def helpers_called(
    reader: Reader, project: str, row: NodeRow, shown: Iterable[str], query: Query, known: Collection[str]
) -> tuple[str, ...]:
    """Return the short functions of the project that lines of a function call, each with its place and its lines.

    First those that have most words of the question, then those on which a line branches; a single statement with
    neither says no more than its name. Those with `known` uids are left out. Raises store errors.
    """
    order: dict[str, bool] = {}
    for line in shown:
        decides = BRANCH.search(line) is not None
        # what a property returns matters where a line branches on it
        for name in (*_CALLED.findall(line), *(_READ.findall(line) if decides else ())):
            order[name] = order.get(name, False) or decides
    if not order:
        return ()
    edges = await reader.store.edges([row.uid], Direction.OUT, _LEADS, MAX_EDGES)
    rows = {
        each.node.row.uid: each.node.row
        for each in edges
        if each.row.confidence >= LEAST_CONFIDENCE
        and each.node.row.uid not in known
        and _is_helper(each.node.row, order, row)
    }
    contents = await reader.store.content(project, sorted({each.path for each in rows.values()}))
    forms = forms_of(query)
    found: list[tuple[int, bool, str]] = []
    for each in rows.values():
        lines = statement_lines(each, contents.get(each.path, b""))
        text = " ".join((each.name, *(line for _, line in lines)))
        words = len(set(words_of(text, forms, reader.split_words)))
        says = len(lines) > 1 or (_STATES.search(text) is not None and bool(words or order[each.name]))
        if 0 < len(lines) <= MOST_LINES and says:
            found.append((words, order[each.name], _said(each, lines)))
    found.sort(key=lambda each: (-each[0], not each[1]))
    return tuple(said for _, _, said in found[:MOST_HELPERS])


def _is_helper(row: NodeRow, names: Collection[str], caller: NodeRow) -> bool:
    is_other = row.uid != caller.uid and row.name != caller.name
    return row.label in _FUNCTIONS and row.name in names and is_other and bool(row.path) and not row.is_test


def _said(row: NodeRow, lines: Sequence[tuple[int, str]]) -> str:
    """Return `calls NAME path:line` with the statements below it."""
    shown = (f"      {number}: {text}" for number, text in lines)
    return "\n".join((f"calls {local_name(row)} {place_of(row)}", *shown))
