"""Put the symbols of a bare name first: exact case, then version, kind, definition before declaration. Pure.

Only a question that is a name and nothing else is ordered like this; elsewhere a name is one feature among many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.question.languages import LanguageTerms, is_declaration
from atlas.code.question.parse_question import Query, is_bare_name
from atlas.code.rank.paths import newest_versions, version_of
from atlas.code.rank.rank import Candidate
from atlas.core.edit_distance import distance, fold, squeeze, tolerance
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label, NodeRow

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
    Label.ENV_VAR: 5,
}
"""Type before function before method before field; documents, windows and other packages follow."""
_LAST_KIND = 9
_UNNAMED = frozenset((Label.EXTERNAL_PACKAGE, Label.EXTERNAL_SYMBOL, Label.PROJECT, Label.CHUNK, Label.DOC_SECTION))
"""They are not symbols of the project, or have titles."""
_REDEFINITION = lazy_regex(r"#\d+$")
_SEPARATOR = lazy_regex(r"::|[./#]")
_TYPE = lazy_regex(r"[A-Z][A-Z0-9]*[a-z]\w*$")
"""A name in the case of types: that of a type of another package says more than a method in other case."""


def names_first(
    candidates: Sequence[Candidate], query: Query, languages: LanguageTerms, *, is_word: bool
) -> list[Candidate]:
    """Return ranked candidates with the symbols of a bare name before all others; other questions keep their order.

    Similar spellings count only where no symbol has the name itself, and other letters only where the index does not
    contain it as a word (`is_word`). Overloads are one hit.
    """
    if not is_bare_name(query):
        return list(candidates)
    name = _Name.of(query.names[0])
    named = [(grade, each) for each in candidates if (grade := _same(name, each.node.row)) is not None]
    # other spellings are compared only where they can be shown
    graded = named or [(grade, each) for each in candidates if (grade := _near(name, each.node.row)) is not None]
    nearest = min((grade for grade, _ in graded), default=EXACT)
    worst = SAME_LETTERS if is_word else nearest
    shown = [(grade, each) for grade, each in graded if grade < SAME_LETTERS or nearest == grade <= worst]
    newest = newest_versions(each.node.row.path for _, each in shown)
    shown.sort(key=lambda pair: (pair[0], _order(pair[1], query, languages, newest)))
    if _TYPE.match(name.text) and not any(grade == EXACT for grade, _ in shown):
        shown = [*((EXACT, each) for each in candidates if _is_external(name, each.node.row)), *shown]
    first = _without_overloads(shown)
    taken = {uid for each in first for uid in (each.node.row.uid, *each.also)}
    return [*first, *(each for each in candidates if each.node.row.uid not in taken)]


@dataclass(frozen=True, slots=True)
class _Name:
    """A name as it is asked for, and its segments, each also in folded case."""

    text: str
    folded: str
    parts: list[str]
    folded_parts: list[str]

    @classmethod
    def of(cls, text: str) -> _Name:
        parts = [part for part in _SEPARATOR.split(text) if part]
        return cls(text, fold(text), parts, list(map(fold, parts)))


def _same(name: _Name, row: NodeRow) -> int | None:
    """Return `EXACT` or `OTHER_CASE` if a node has the name, else None."""
    if row.label in _UNNAMED:
        return None
    if row.name == name.text:
        return EXACT
    if fold(row.name) == name.folded:
        return OTHER_CASE
    have = _segments(row)[-len(name.parts) :]
    if have == name.parts:
        return EXACT
    return OTHER_CASE if list(map(fold, have)) == name.folded_parts else None


def _segments(row: NodeRow) -> list[str]:
    return _SEPARATOR.split(_REDEFINITION.sub("", row.qualified_name))


def _near(name: _Name, row: NodeRow) -> int | None:
    """Return how far the spelling of a node's name is from one that no candidate has; None for another name."""
    parts = name.parts
    if not parts or row.label in _UNNAMED:
        return None
    left, right = squeeze(parts[-1]), squeeze(row.name)
    edits = distance(left, right, tolerance(left))
    qualified = _segments(row) if parts[1:] else []
    owner = distance(squeeze("".join(parts[:-1])), squeeze("".join(qualified[-len(parts) : -1])), 2) if parts[1:] else 0
    return SAME_LETTERS + edits + owner if edits <= tolerance(left) and owner <= 2 else None


def _is_external(name: _Name, row: NodeRow) -> bool:
    return row.label == Label.EXTERNAL_SYMBOL and row.name == name.text


def _order(
    candidate: Candidate, query: Query, languages: LanguageTerms, newest: Mapping[str, tuple[int, int, int]]
) -> tuple[object, ...]:
    row = candidate.node.row
    version = version_of(row.path)
    kind = _KINDS.get(Label(row.label), _LAST_KIND)
    return (
        row.is_test and not query.wants_tests,
        row.is_generated,
        version is not None and version[1] < newest[version[0]],
        kind,
        is_declaration(candidate.node, languages),
        row.qualified_name.count("."),
        len(row.qualified_name),
        row.qualified_name,
        row.uid,
    )


def _without_overloads(graded: Sequence[tuple[int, Candidate]]) -> list[Candidate]:
    """Return one candidate per qualified name and file, with scores that keep the order."""
    kept: dict[tuple[str, str], Candidate] = {}
    for position, (grade, each) in enumerate(graded):
        name = (_REDEFINITION.sub("", each.node.row.qualified_name), each.node.row.path)
        if first := kept.get(name):
            kept[name] = replace(first, also=(*first.also, each.node.row.uid, *each.also))
        else:
            kept[name] = replace(each, score=_BEST - _STEP * min(grade, 3) - 0.001 * position)
    return list(kept.values())
