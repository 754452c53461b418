"""Why search answered as it did: the question as parsed, the answerers, channels and stages, each hit's features.

For people who tune the ranking (`atlas search --explain`); agents get the hits alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from atlas.code.answerers import ANSWERERS
from atlas.code.atlas import Atlas
from atlas.code.find import CHANNELS, Mode, SearchResult
from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.code.rank.ranking import STAGES
from atlas.code.reader import RankingOptions, SearchStep
from atlas.code.tools.envelope import make_filter, open_envelope
from atlas.code.tools.search.search import TOKEN_BUDGET

Document = dict[str, object]
_LISTS: Mapping[str, tuple[str, Sequence[SearchStep[object]]]] = MappingProxyType(
    {
        "answerers": ("of which the first that answers decides", ANSWERERS),
        "channels": ("all at once", CHANNELS),
        "stages": ("in this order", STAGES),
    }
)


async def find_to_explain(
    atlas: Atlas,
    mode: Mode,
    query: str,
    *,
    path: str = "",
    labels: Sequence[str] = (),
    languages: Sequence[str] = (),
    include_tests: bool | None = None,
) -> SearchResult:
    """Search as the tool of the mode does. Raises ConfigError for an invalid argument, NotFound for no such project."""
    state = (await open_envelope(atlas, "", TOKEN_BUDGET)).state
    where = await make_filter(atlas, state.project, path, labels, languages, include_tests, state.root)
    reader = replace(atlas.reader, ranking=replace(atlas.reader.ranking, all_features=True))
    return await replace(atlas, reader=reader).search(query, where, mode, demote_tests=include_tests is None)


def explain(found: SearchResult, options: RankingOptions, limit: int) -> Document:
    """Return the explanation of the first `limit` hits as JSON values."""
    return {
        "question": _question(found.query),
        "answered_by": _answered_by(found),
        "answerer": found.answered_by,
        "relevance": round(found.relevance, 4),
        "strength": round(found.strength, 4),
        "ranked_by": "learned weights" if options.learned else "constants",
        "stages": {each.switched_by: _state(each, options) for each in (*CHANNELS, *STAGES)},
        "lists": {name: [_entry(each, options) for each in steps] for name, (_, steps) in _LISTS.items()},
        "notes": [note for note in found.notes if note],
        "hits": [_hit(number, each) for number, each in enumerate(found.ranked[:limit], 1)],
    }


def explanation_lines(found: SearchResult, options: RankingOptions, limit: int) -> Iterator[str]:
    """Yield the explanation of the first `limit` hits as lines of text."""
    for name, value in _question(found.query).items():
        yield f"{name}: {value}"
    by = f" ({found.answered_by})" if found.answered_by else ""
    yield f"answered by: {_answered_by(found)}{by}, relevance {found.relevance:.2f}, strength {found.strength:.2f}"
    by = "learned weights" if options.learned else "constants"
    off = dict.fromkeys(each.switched_by for _, steps in _LISTS.values() for each in steps if not options.has(each))
    yield f"ranked by: {by}; stages off: {', '.join(off) or 'none'}"
    for name, (how, steps) in _LISTS.items():
        yield f"{name}, {how}:"
        for each in steps:
            mark = "" if options.has(each) else " (off)"
            yield f"   {each.name}{mark}: {each.why}"
    yield from (f"note: {note}" for note in found.notes if note)
    for number, each in enumerate(found.ranked[:limit], 1):
        row = each.node.row
        yield f"{number}. {row.qualified_name} {_place(each)} score {each.score:.3f}"
        reasons = f" ({', '.join(each.reasons)})" if each.reasons else ""
        yield f"   found by {', '.join(each.channels)}{reasons}"
        if each.features:
            yield "   " + " ".join(f"{name}={value}" for name, value in _features(each).items())


def _state(step: SearchStep[object], options: RankingOptions) -> str:
    return "on" if options.has(step) else "off"


def _entry(step: SearchStep[object], options: RankingOptions) -> dict[str, str]:
    return {"name": step.name, "switch": step.switched_by, "state": _state(step, options), "why": step.why}


def _question(query: Query) -> dict[str, str]:
    wanted = {
        "tests": query.wants_tests,
        "documents": query.wants_documents,
        "reasons": query.wants_reasons,
        "configuration": query.wants_configuration,
    }
    parts = {
        "words": query.words,
        "variants": query.variants,
        "names": (*query.names, *query.joined),
        "paths": query.paths,
        "phrases": query.phrases,
        "languages": query.languages,
        "wants": [name for name, is_wanted in wanted.items() if is_wanted],
    }
    return {name: ", ".join(value) for name, value in parts.items() if value}


def _answered_by(found: SearchResult) -> str:
    if found.relation is not None:
        return "edges of the graph"
    if found.changes is not None:
        return "the version history"
    if found.report is not None:
        return "lines of the project's texts"
    return "the packages" if found.packages is not None else "ranked hits"


def _hit(number: int, candidate: Candidate) -> Document:
    row = candidate.node.row
    return {
        "rank": number,
        "name": row.qualified_name,
        "label": row.label,
        "place": _place(candidate),
        "score": round(candidate.score, 4),
        "channels": list(candidate.channels),
        "reasons": list(candidate.reasons),
        "callers": candidate.degree,
        "merged": list(candidate.also),
        "features": _features(candidate),
    }


def _place(candidate: Candidate) -> str:
    row = candidate.node.row
    return f"{row.path}:{row.line}" if row.line else row.path


def _features(candidate: Candidate) -> dict[str, float]:
    return {name: round(value, 3) for name, value in candidate.features.items() if round(value, 3)}
