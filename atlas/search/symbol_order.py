"""Put the symbols of a bare name first: exact case, then kind, definition before declaration. Pure.

Only a question that is a name and nothing else is ordered like this; elsewhere a name is one feature among many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from atlas.model import Label, NodeRow
from atlas.search.languages import LanguageTerms
from atlas.search.rank import Candidate, is_declaration
from atlas.search.route import Query, is_bare_name
from atlas.spelling import distance, fold, squeeze, tolerance

EXACT, OTHER_CASE, SAME_LETTERS = 0, 1, 2
"""Grades of a spelling; each edit adds one to the last."""
_BEST = 1.5
"""Score of the first symbol; other hits have at most 1."""
_STEP = 0.1
_KINDS = {
    Label.CLASS: 0,
    Label.FUNCTION: 1,
    Label.METHOD: 2,
    Label.MODULE: 3,
    Label.PACKAGE: 3,
    Label.VALUE: 4,
    Label.ENTITY: 4,
    Label.FILE: 5,
    Label.ROUTE: 5,
    Label.EVENT: 5,
}
"""Type before function before method before field; documents, windows and other packages follow."""
_LAST_KIND = 9
_REDEFINITION = re.compile(r"#\d+$")
_SEPARATOR = re.compile(r"::|[./#]")


def names_first(
    candidates: Sequence[Candidate], query: Query, languages: LanguageTerms, *, is_word: bool
) -> list[Candidate]:
    """Return ranked candidates with the symbols of a bare name before all others; other questions keep their order.

    Similar spellings count only where no symbol has the name itself, and other letters only where the index does not
    contain it as a word (`is_word`). Overloads are one hit.
    """
    if not is_bare_name(query):
        return list(candidates)
    graded = [(grade, each) for each in candidates if (grade := _grade(query.names[0], each.node.row)) is not None]
    nearest = min((grade for grade, _ in graded), default=EXACT)
    worst = SAME_LETTERS if is_word else nearest
    shown = [(grade, each) for grade, each in graded if grade < SAME_LETTERS or nearest == grade <= worst]
    shown.sort(key=lambda pair: (pair[0], _order(pair[1], query, languages)))
    named = _without_overloads(shown)
    taken = {uid for each in named for uid in (each.node.row.uid, *each.also)}
    return [*named, *(each for each in candidates if each.node.row.uid not in taken)]


def _grade(name: str, row: NodeRow) -> int | None:
    """Return how a node's name is spelled compared with the given one; None for another name."""
    if row.label in (Label.EXTERNAL_PACKAGE, Label.EXTERNAL_SYMBOL, Label.PROJECT, Label.CHUNK, Label.DOC_SECTION):
        return None
    qualified = _SEPARATOR.split(_REDEFINITION.sub("", row.qualified_name))
    for have in ([row.name], qualified):
        wanted = [part for part in _SEPARATOR.split(name) if part] if have is qualified else [name]
        have = have[-len(wanted) :]
        if have == wanted:
            return EXACT
        if list(map(fold, have)) == list(map(fold, wanted)):
            return OTHER_CASE
    parts = [part for part in _SEPARATOR.split(name) if part]
    if not parts:
        return None
    left, right = squeeze(parts[-1]), squeeze(row.name)
    edits = distance(left, right, tolerance(left))
    owner = distance(squeeze("".join(parts[:-1])), squeeze("".join(qualified[-len(parts) : -1])), 2) if parts[1:] else 0
    return SAME_LETTERS + edits + owner if edits <= tolerance(left) and owner <= 2 else None


def _order(candidate: Candidate, query: Query, languages: LanguageTerms) -> tuple[object, ...]:
    row = candidate.node.row
    kind = _KINDS.get(Label(row.label), _LAST_KIND)
    return (
        row.is_test and not query.wants_tests,
        row.is_generated,
        kind,
        is_declaration(candidate.node, languages),
        row.qualified_name.count("."),
        len(row.qualified_name),
        row.qualified_name,
        row.uid,
    )


def _without_overloads(graded: Sequence[tuple[int, Candidate]]) -> list[Candidate]:
    """Return one candidate per qualified name, with scores that keep the order."""
    kept: dict[str, Candidate] = {}
    for position, (grade, each) in enumerate(graded):
        name = _REDEFINITION.sub("", each.node.row.qualified_name)
        if first := kept.get(name):
            kept[name] = replace(first, also=(*first.also, each.node.row.uid, *each.also))
        else:
            kept[name] = replace(each, score=_BEST - _STEP * min(grade, 3) - 0.001 * position)
    return list(kept.values())
