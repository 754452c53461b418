"""The search page: the answer of the tools, hits by file, relations as lists; and what is offered while one types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas.answers.answer import Answer
from atlas.code.reader import Reader
from atlas.code.tools.citations import hit_name, path_of
from atlas.code.tools.relation_answer import RelationAnswer, relation_head, subject_lines
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.search.line_answer import LineAnswer
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.symbol.symbols import SymbolHit
from atlas.server.explorer.places import Piece, pieces_of
from atlas.server.explorer.questions import Asker, Given
from atlas.server.explorer.render import place_url, symbol_url

TOKEN_BUDGET = 6_000
HITS = 25
SUGGESTIONS = 8
MODES = {"": "everything", "words": "words", "exact": "exact text", "regex": "regular expression", "meaning": "meaning"}
FILTERS = ("mode", "path", "labels", "languages", "tests", "relation")
RELATIONS = (
    "callers", "callees", "usages", "uses", "tests", "subclasses", "bases", "overrides", "overridden", "importers",
    "imports", "docs", "notes", "members", "instantiations", "impact", "history",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HitsOfFile:
    """The hits of one file, in order of rank."""

    path: str
    hits: tuple[SymbolHit, ...]


async def search_values(ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
    """Return what the page shows. Raises AtlasError as the tools do."""
    query, mode, of = given.text("q"), given.text("mode"), given.text("of")
    answer = await _answer(ask, given) if query.strip() or given.text("relation") else None
    return {
        "title": query or of or "Search",
        "given": given,
        "modes": MODES,
        "relations": RELATIONS,
        "mode": mode,
        "filtered": not query or any(given.text(name) for name in FILTERS),
        "answer": answer,
        "evidence": answer.evidence if answer is not None else None,
        "card": await pieces_of(reader, answer.card) if isinstance(answer, SearchAnswer) else (),
        "near": await _near(reader, answer) if isinstance(answer, SearchAnswer) else {},
        **(_parts(answer) if answer is not None else {"form": "none"}),
    }


async def suggestions(ask: Asker, given: Given) -> list[dict[str, str]]:
    """Return the first hits of a question that is being typed, by file: each with name, file, line and URL."""
    if not given.text("q").strip():
        return []
    answer = await ask("hybrid_search", query=given.text("q"), limit=SUGGESTIONS, brief=True, token_budget=1_000)
    if isinstance(answer, SearchAnswer):
        return _by_file([(hit_name(hit.symbol), hit.symbol.place, symbol_url(hit.symbol.uid)) for hit in answer.hits])
    if isinstance(answer, RelationAnswer):
        found = [
            (each.name, f"{file.path}:{each.lines[0]}") for file in answer.files for each in file.symbols if each.lines
        ]
        return _by_file([(name, place, symbol_url(place)) for name, place in found[:SUGGESTIONS]])
    return []


def _by_file(found: Sequence[tuple[str, str, str]]) -> list[dict[str, str]]:
    """Return (name, place, URL) with those of one file together, where the first of them stands."""
    groups: dict[str, list[dict[str, str]]] = {}
    for name, place, url in found:
        path = path_of(place)
        shown = {"name": name, "path": path, "line": place[len(path) :].lstrip(":"), "url": url}
        groups.setdefault(path, []).append(shown)
    return [each for group in groups.values() for each in group]


async def _answer(ask: Asker, given: Given) -> Answer:
    mode = given.text("mode")
    filters: dict[str, object] = {"path": given.text("path"), "cursor": given.text("cursor")}
    filters |= {name: given.words(name) for name in ("labels", "languages")}
    if given.text("tests"):
        filters["include_tests"] = given.text("tests") == "yes"
    filters = {name: value for name, value in filters.items() if value not in ("", [])}
    filters |= {"limit": HITS, "token_budget": TOKEN_BUDGET}
    if mode in ("words", "exact", "regex"):
        return await ask("text_search", query=given.text("q"), mode=mode, **filters)
    if mode == "meaning":
        return await ask("vector_search", query=given.text("q"), **filters)
    stated = {name: given.text(name) for name in ("relation", "of", "to", "scope") if given.text(name)}
    query = given.text("q") or f"{given.text('relation')} of {given.text('of')}"
    return await ask("hybrid_search", query=query, **stated, **filters)


async def _near(reader: Reader, answer: SearchAnswer) -> dict[int, list[list[Piece]]]:
    """Return by rank what a hit calls or is called by, in pieces that lead to those symbols."""
    lines = [line for hit in answer.hits for line in hit.near]
    pieces = iter(await pieces_of(reader, lines, lambda path, line: symbol_url(f"{path}:{line}")))
    return {hit.rank: [next(pieces) for _ in hit.near] for hit in answer.hits}


def _parts(answer: Answer) -> Mapping[str, object]:
    if isinstance(answer, SearchAnswer):
        files: dict[str, list[SymbolHit]] = {}
        for hit in answer.hits:
            files.setdefault(path_of(hit.symbol.place), []).append(hit)
        groups = [HitsOfFile(path, tuple(hits)) for path, hits in files.items()]
        said = [line for line in answer.lines() if line.endswith(("no hits", "indexed file", "nearest:"))]
        return {"form": "hits", "groups": groups, "said": said, "hit_name": hit_name}
    if isinstance(answer, RelationAnswer):
        head = [*relation_head(answer)]
        subjects = zip(answer.subjects, subject_lines(answer), strict=False)
        return {"form": "relation", "head": head, "subjects": [*subjects], "place_url": place_url}
    if isinstance(answer, ReportAnswer):
        return {"form": "report", "report": answer.report}
    if isinstance(answer, LineAnswer):
        return {"form": "lines"}
    return {"form": "text", "text": answer.render()}
