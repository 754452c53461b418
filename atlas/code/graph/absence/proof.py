"""The gate of every answer that says "none": nothing found is none only if it is proven, else unknown.

It is proven if no unresolved reference has the name, and if the name stands nowhere else in text that the index has or
has skipped. A line is accounted for where an edge of the graph says what it refers to: a call of another symbol of that
name, an import, a type. Read only where an answer is empty, because it reads text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from atlas.code.graph.absence.called_by_name import built_names
from atlas.code.graph.absence.made_otherwise import made_otherwise
from atlas.code.graph.absence.occurrences import (
    SkippedText,
    TextPlace,
    find_in_skipped,
    find_occurrences,
    is_comment,
    single_word,
)
from atlas.code.graph.absence.unnamed_implementers import find_unnamed_implementers
from atlas.code.graph.absence.unresolved import UnresolvedCalls, describe_unresolved, find_unresolved
from atlas.code.graph.absence.values_in_tests import values_in_tests
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import PROSE_LABELS, Direction, EdgeType, Filter, Label, Match, Node, NodeRow
from atlas.core.wording import counted

SHOWN = 4
"""Places of a name that a sentence lists."""
MOST_PLACES = 8
"""The same where they are all that there is to say."""
SURE = 0.5
"""Confidence from which an edge to another symbol of the name accounts for a line."""
MAX_NAMESAKES = 300
MAX_EDGES = 10_000
MAX_INNER = 25
"""Definitions of a file whose names are looked for."""
MAX_ALIASES = 3
MAX_PACKAGES = 20
_CONTRACTS = frozenset(("interface", "trait", "protocol"))
_DEFINITIONS = (Label.CLASS, Label.FUNCTION, Label.METHOD)
FILE_LABELS = (Label.MODULE, Label.PACKAGE, Label.FILE)
_REFERRING = (
    EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.USES_TYPE, EdgeType.INHERITS, EdgeType.IMPORTS, EdgeType.OVERRIDES,
    EdgeType.TESTS,
)  # fmt: skip
_CALLED = frozenset((Kind.CALLERS, Kind.INSTANTIATIONS, Kind.TESTS, Kind.IMPACT))
"""Relations of a function that is passed as a value: where it is called, no edge says."""
_BY_NAME = frozenset((Kind.CALLERS, Kind.USAGES, Kind.TESTS, Kind.DEPENDENTS, Kind.IMPACT))
"""Relations that a name which is put together at run time may be."""
_MADE = frozenset((Kind.CALLERS, Kind.INSTANTIATIONS))
"""Relations of a class that is a type somewhere: a generic method, a container or a framework may make it there."""
_FRAMEWORKS = (
    "fastapi", "flask", "django", "starlette", "aiohttp", "tornado", "sanic", "bottle", "falcon", "litestar", "quart",
    "express", "koa", "fastify", "hono", "@nestjs/core", "next", "restify", "elysia", "org.springframework",
    "javax.ws.rs", "jakarta.ws.rs", "io.ktor", "github.com/gin-gonic/gin", "github.com/labstack/echo",
    "github.com/labstack/echo/v4", "github.com/go-chi/chi", "github.com/go-chi/chi/v5", "github.com/gorilla/mux",
    "github.com/gofiber/fiber", "github.com/gofiber/fiber/v2", "actix_web", "axum", "rocket", "warp", "sinatra",
    "rails", "Slim", "Laravel", "Microsoft.AspNetCore",
)  # fmt: skip
"""Packages whose purpose is to serve routes."""
_PAGE = lazy_regex(r"\.(?:md|markdown|rst|txt|adoc|asciidoc)$|(?:^|/)[A-Z]{4,20}$")
_IMPORT = lazy_regex(r"\b(?:import|require|include|from|use|using|load|source|alias|export|mod)\b|@import")
_IMPORTING = lazy_regex(
    r"\s*(?:import\s|from\s+\S+\s+import\s|#\s*include\b|using\s|use\s+[\w:\\]+|require\b|extern crate\b|alias\s)"
    r"|.*\brequire\("
)
_BASES = lazy_regex(r"[(:<]|\b(?:extends|implements|with)\b")
"""What stands between the name of a class and its bases."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Whether nothing found is none."""

    is_proven: bool
    sentence: str
    """What there is to say, with the first places."""
    unresolved: UnresolvedCalls | None = None
    places: tuple[TextPlace, ...] = ()
    """Lines that no edge accounts for, code first; those of skipped files last."""


@dataclass(frozen=True, slots=True)
class Unaccounted:
    """Lines with a name that no edge accounts for."""

    places: tuple[TextPlace, ...]
    more: bool
    """The word is too common for all lines to be read."""
    others: bool
    """Some line outside of the symbol has the name, accounted for or not."""


async def prove_none(
    reader: Reader,
    nodes: Sequence[Node],
    kind: Kind,
    *,
    keep: Callable[[Node], bool] | None = None,
    known: Iterable[tuple[str, int]] = (),
    skipped: SkippedText | None = None,
) -> Absence:
    """Return whether nothing is related to symbols of one name, in a relation that ends at them.

    `keep` limits the places to a scope, `known` are lines (path, number) that the answer has, `skipped` is what
    `find_in_skipped` has found for the name, where it was asked for several. Raises store errors.
    """
    what = "affected symbols" if kind == Kind.IMPACT else kind.value
    project, name = nodes[0].project, nodes[0].row.name
    if not await is_finished(reader, project):
        return _unknown(what, "the first index is not finished")
    word = _word_of(nodes[0])
    if not reader.split_words(word):
        return _unknown(what, f"`{word or name}` is not a single word to search for")
    unresolved = await _unresolved(reader, nodes, name, kind, keep)
    left = await unaccounted(reader, nodes, kind, known, types=True)
    more = left.more
    places = [each for each in left.places if keep is None or each.node is None or keep(each.node)]
    if skipped is None:
        skipped = await find_in_skipped(reader, (word,), project, imported=nodes[0].row.label in FILE_LABELS)
    hidden = skipped.places.get(word, ())
    reasons = [f"there are {said}"] if (said := describe_unresolved(unresolved)) else []
    is_made = nodes[0].row.label == Label.CLASS and kind in _MADE
    if kind in _CALLED and not reasons:
        passed = await _passed_at(reader, nodes)
        if handed := [f"{each.at}{_inside(each)}" for each in places if (each.path, each.line) in passed]:
            more_of = f", and {len(handed) - SHOWN} more" if len(handed) > SHOWN else ""
            reasons.append(
                f"it is handed over as a value, to be called elsewhere: {', '.join(handed[:SHOWN])}{more_of}"
            )
    if not reasons:
        reasons += _elsewhere(word, places, is_made=is_made, more=more)
    if is_made and not reasons:
        reasons += (await made_otherwise(reader, nodes))[:1]
    if kind == Kind.SUBTYPES:
        reasons += await find_unnamed_implementers(reader, nodes)
    reasons += await values_in_tests(reader, nodes) if kind == Kind.TESTS else ()
    if kind in _BY_NAME and not reasons and (built := await built_names(reader, nodes)):
        reasons.append(f"a text is put together that may be its name: {'; '.join(built)}")
    if hidden:
        at = ", ".join(each.at for each in hidden[:SHOWN])
        reasons.append(f"`{word}` occurs in files that are not indexed: {at}")
    if skipped.unread:
        reasons.append(_unread(skipped.unread))
    if reasons:
        return Absence(False, _sentence(what, " and ".join(reasons)), unresolved, (*places, *hidden))
    if left.others:
        said = f"no resolved {what}: other definitions and edges account for each line with `{word}`"
        return Absence(True, said, unresolved)
    return Absence(True, f"no resolved {what}, and nothing else in the index mentions `{word}`", unresolved)


def _elsewhere(word: str, places: Sequence[TextPlace], *, is_made: bool, more: bool) -> list[str]:
    """Return where a word stands that no edge accounts for, as the reason why nothing is proven; [] for nowhere."""
    if not places:
        return [f"more symbols have the word `{word}` than are read"] if more else []
    edge = "a call of it, where others may make it" if is_made else "an edge to it"
    where = "named in text only" if all(is_prose(each) for each in places) else f"without {edge}"
    others = counted(len(places), "other place", more=more)
    at = ", ".join(each.at for each in places[:MOST_PLACES])
    only = "; no other line of code has it" if not more and all(map(_is_page, places)) else ""
    return [f"`{word}` occurs in {others} {where} ({at}){only}"]


async def _passed_at(reader: Reader, nodes: Sequence[Node]) -> set[tuple[str, int]]:
    """Return the lines (path, number) that have a function as a value."""
    functions = [node.row.uid for node in nodes if node.row.label in (Label.FUNCTION, Label.METHOD)]
    edges = await reader.store.edges(functions, Direction.IN, (EdgeType.REFERENCES,), MAX_EDGES) if functions else []
    return {(edge.node.row.path, line) for edge in edges for line in edge.row.lines}


def _inside(place: TextPlace) -> str:
    return f" in `{place.node.row.name}`" if place.node is not None and place.node.row.name else ""


async def prove_unused(reader: Reader, node: Node, kind: Kind) -> Absence:
    """Return whether nothing outside of a file is related to it or its definitions. Raises store errors."""
    whole = await prove_none(reader, [node], kind)
    found = await reader.store.find(node.row.path, Match.PATH, Filter(project=node.project), MAX_NAMESAKES)
    inner = [each for each in found if each.row.label in _DEFINITIONS and each.row.name][:MAX_INNER]
    skipped = await find_in_skipped(reader, {each.row.name for each in inner}, node.project)

    def outside(other: Node) -> bool:
        return other.row.path != node.row.path

    proofs = [
        whole, *[await prove_none(reader, [each], kind, keep=outside, skipped=skipped) for each in inner]
    ]  # fmt: skip
    doubts = [each for each in proofs if not each.is_proven]
    calls = tuple(call for each in doubts if each.unresolved is not None for call in each.unresolved.calls)
    places = dict.fromkeys(place for each in doubts for place in each.places if place.path != node.row.path)
    sentence = (doubts or [whole])[0].sentence
    return Absence(not doubts, sentence, UnresolvedCalls(node.row.name, calls), tuple(places))


async def prove_none_from(reader: Reader, nodes: Sequence[Node], kind: Kind) -> Absence:
    """Return whether nothing is related to symbols in a relation that starts at them. Raises store errors."""
    what = kind.value
    project = nodes[0].project
    if not await is_finished(reader, project):
        return _unknown(what, "the first index is not finished")
    paths = sorted({node.row.path for node in nodes if node.row.path})
    records = await reader.store.records(project, paths)
    reasons: list[str] = []
    if kind in (Kind.CALLEES, Kind.USES, Kind.DEPENDENCIES):
        names = sorted({name for node in nodes for name in _unresolved_names(node)})
        if names:
            reasons.append(f"no rule resolves its calls of {', '.join(f'`{name}`' for name in names[:SHOWN])}")
    if kind in (Kind.SUPERTYPES, Kind.HIERARCHY, Kind.OVERRIDDEN):
        shown = [node.row.signature for node in nodes if _names_bases(node)]
        reasons += (f"its bases are not resolved: `{text[:120]}`" for text in shown[:1])
    if kind == Kind.IMPORTS or (kind == Kind.DEPENDENCIES and nodes[0].row.label in FILE_LABELS):
        contents = await reader.store.content(project, paths)
        lines = [f"{path}:{number}" for path in paths for number in _import_lines(contents.get(path, b""))]
        if lines:
            reasons.append(f"lines look like imports: {', '.join(lines[:SHOWN])}")
    broken = [path for path in paths if path in records and _syntax(records[path].problems)]
    if broken:
        reasons.append(f"`{broken[0]}` could only be parsed in part: {_syntax(records[broken[0]].problems)[0]}")
    if reasons:
        return _unknown(what, " and ".join(reasons))
    return Absence(True, f"no resolved {what}, and no reference in it is unresolved")


async def prove_no_routes(reader: Reader, project: str) -> Absence | None:
    """Return why an index without routes may miss some: a framework is there. None without one. Raises store errors."""
    if not await is_finished(reader, project):
        return _unknown(Kind.ROUTES.value, "the first index is not finished")
    used: list[str] = []
    for name in _FRAMEWORKS:
        scope = Filter(project=project, labels=(Label.EXTERNAL_PACKAGE,))
        if await reader.store.find(f"ext:{name}", Match.EXACT, scope, 1):
            used.append(f"`{name}`")
    if not used:
        return None
    return _unknown(Kind.ROUTES.value, f"the project uses {', '.join(used[:SHOWN])} and no rule finds a registration")


async def unaccounted(
    reader: Reader, nodes: Sequence[Node], kind: Kind, known: Iterable[tuple[str, int]] = (), *, types: bool = False
) -> Unaccounted:
    """Return the lines with the name of symbols, or an alias of it, that neither edges nor definitions account for.

    Code comes first, for tests theirs. With `types` the lines in which a class is a type, and may be made, are among
    them. Raises store errors.
    """
    project, word = nodes[0].project, _word_of(nodes[0])
    is_file = nodes[0].row.label in FILE_LABELS
    occurring = await find_occurrences(reader, word, project)
    known = frozenset(known)
    accounted = {*known, *await _accounted(reader, nodes, word, kind)}
    if types and kind in _MADE:
        accounted -= await _typed(reader, nodes) - known
    found, more = list(occurring.places), occurring.more
    for alias in () if is_file else _aliases(word, found)[:MAX_ALIASES]:
        renamed = await find_occurrences(reader, alias, project)
        found += renamed.places
        more = more or renamed.more
    rows = [node.row for node in nodes]
    left = [
        each
        for each in found
        if (each.path, each.line) not in accounted and not any(_is_own(each, row) for row in rows)
    ]
    if is_file:
        left = [each for each in left if _IMPORT.search(each.text)]
    left.sort(key=lambda each: (kind == Kind.TESTS and not is_test(each), is_prose(each)))
    defined = {(row.path, row.line) for row in rows}
    elsewhere = (each for each in found if (each.path, each.line) not in defined)
    others = any(not any(_is_own(each, row) for row in rows) for each in elsewhere)
    return Unaccounted(tuple(left), more and not is_file, others)


def is_test(place: TextPlace) -> bool:
    """Return whether a line belongs to a test."""
    return place.node is not None and place.node.row.is_test


async def is_finished(reader: Reader, project: str) -> bool:
    """Return whether a first index of the project, or of all if none is named, was completed."""
    states = await reader.store.projects()
    return all(state.indexed_at for state in states if project in ("", state.project))


def is_prose(place: TextPlace) -> bool:
    """Return whether a line is a comment or belongs to a document: it names, but does not use."""
    in_document = place.node is not None and place.node.row.label in (*PROSE_LABELS, Label.DOC_FILE, Label.DOC_SECTION)
    return (in_document and not place.path.endswith(".ipynb")) or place.in_comment or is_comment(place.text)


def _is_page(place: TextPlace) -> bool:
    """Return whether a line belongs to a document that nothing runs: what it names is used nowhere by that."""
    return is_prose(place) and _PAGE.search(place.path) is not None


async def _unresolved(
    reader: Reader, nodes: Sequence[Node], name: str, kind: Kind, keep: Callable[[Node], bool] | None
) -> UnresolvedCalls:
    if nodes[0].row.label in FILE_LABELS:
        return UnresolvedCalls(name, ())
    found = await find_unresolved(reader, name, nodes[0].project)
    kept = (call for call in found.calls if keep is None or keep(call.caller))
    calls = tuple(call for call in kept if kind != Kind.TESTS or call.caller.row.is_test)
    return UnresolvedCalls(name, calls, found.more)


async def _accounted(reader: Reader, nodes: Sequence[Node], word: str, kind: Kind) -> set[tuple[str, int]]:
    """Return the lines of definitions of the word, and those that edges lead from, as path and line."""
    project, own = nodes[0].project, {node.row.uid for node in nodes}
    same = await reader.store.find(word, Match.SUFFIX, Filter(project=project), MAX_NAMESAKES)
    others = [node for node in same if node.row.uid not in own]
    found = {(node.row.path, node.row.line) for node in nodes}
    if kind not in (Kind.OVERRIDES, Kind.OVERRIDDEN):
        found |= {(node.row.path, node.row.line) for node in others}
    types = tuple(type for type in _REFERRING if type != EdgeType.REFERENCES or kind not in _CALLED)
    # a call of the method that one overrides may be a call of it
    bases = await reader.store.edges(sorted(own), Direction.OUT, (EdgeType.OVERRIDES,), MAX_NAMESAKES)
    above = {edge.row.target for edge in bases}
    open_ = {*above, *await _foreign(reader, others, project), *await _promised(reader, nodes, others)}
    unrelated = [node.row.uid for node in others if node.row.uid not in open_]
    found |= await reader.store.edge_lines(sorted(own), types, 0.0, MAX_EDGES)
    return found | (await reader.store.edge_lines(unrelated, _REFERRING, SURE, MAX_EDGES) if unrelated else set())


async def _typed(reader: Reader, nodes: Sequence[Node]) -> set[tuple[str, int]]:
    """Return the lines in which a class is a type, and no more: none of its definition, bases, imports and calls."""
    own = [node.row.uid for node in nodes if node.row.label == Label.CLASS]
    if not own:
        return set()
    types = await reader.store.edge_lines(own, (EdgeType.USES_TYPE,), 0.0, MAX_EDGES)
    others = tuple(type for type in _REFERRING if type not in (EdgeType.USES_TYPE, EdgeType.REFERENCES))
    otherwise = await reader.store.edge_lines(own, others, 0.0, MAX_EDGES)
    return types - otherwise - {(node.row.path, node.row.line) for node in nodes}


async def _promised(reader: Reader, nodes: Sequence[Node], others: Iterable[Node]) -> set[str]:
    """Return the methods of interfaces that may be implemented by methods of their name, without saying so."""
    methods = [node.row.uid for node in others if node.row.label == Label.METHOD]
    if not methods or nodes[0].row.label != Label.METHOD:
        return set()
    owners = await reader.store.edges(methods, Direction.IN, (EdgeType.DEFINES_METHOD,), MAX_NAMESAKES)
    return {edge.row.target for edge in owners if edge.node.row.kind in _CONTRACTS}


async def _foreign(reader: Reader, nodes: Iterable[Node], project: str) -> set[str]:
    """Return the symbols of other packages that may be symbols of the project under the name that it is published with.

    Those of a standard library are none of them.
    """
    outside = [node for node in nodes if node.row.label in EXTERNAL_LABELS]
    names = {re.split(r"[./]", node.row.qualified_name.partition(":")[2], maxsplit=1)[0] for node in outside}
    standard: set[str] = set()
    for name in sorted(names)[:MAX_PACKAGES]:
        found = await reader.store.find(f"ext:{name}", Match.EXACT, Filter(project=project), 1)
        standard.update(name for node in found if '"standard"' in node.row.properties)
    return {
        node.row.uid
        for node in outside
        if re.split(r"[./]", node.row.qualified_name.partition(":")[2], maxsplit=1)[0] not in standard
    }


def _word_of(node: Node) -> str:
    """Return the word that a text refers to a symbol with: for a file, the last part of its module's name."""
    row = node.row
    if row.label == Label.FILE or (row.label in FILE_LABELS and row.path):
        folder, _, name = row.path.rpartition("/")
        stem = name.partition(".")[0]
        return folder.rpartition("/")[2] or stem if stem in ("__init__", "index", "mod") else stem
    return single_word(row.name)


def _aliases(word: str, places: Iterable[TextPlace]) -> list[str]:
    """Return the names that imports and exports give to a word: `X as Y`, `{ X: Y }` of `require`, `use X as Y`."""
    places = [each for each in places if "as" in each.text or "}" in each.text]
    if not places:
        return []
    own = rf"(?<!\w){re.escape(word)}"
    pattern = re.compile(rf"{own}\s+as\s+(\w+)|\{{[^}}]*{own}\s*:\s*(\w+)[^}}]*\}}\s*=")
    found = (match[1] or match[2] for each in places if (match := pattern.search(each.text)))
    return [alias for alias in dict.fromkeys(found) if alias not in (word, "default", "_")]


def _is_own(place: TextPlace, row: NodeRow) -> bool:
    """Return whether a line is inside of a symbol itself: the body of a function, or the text about a class in it."""
    if row.path != place.path or not row.start_line <= place.line <= row.end_line:
        return False
    if row.label == Label.CLASS:
        return place.in_comment or is_comment(place.text) or place.text.strip() in row.docstring
    return row.label in (Label.FUNCTION, Label.METHOD, Label.VALUE)


def _unresolved_names(node: Node) -> Iterable[str]:
    try:
        groups: object = json.loads(node.row.properties)["unresolved"] if node.row.properties else {}
    except (ValueError, KeyError, TypeError):
        return ()
    return map(str, groups) if isinstance(groups, dict) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _names_bases(node: Node) -> bool:
    row = node.row
    return row.label == Label.CLASS and bool(_BASES.search(row.signature.partition(row.name)[2]))


def _import_lines(content: bytes) -> list[int]:
    lines = enumerate(content.decode("utf-8", "replace").split("\n"), 1)
    return [number for number, line in lines if _IMPORTING.match(line)]


def _syntax(problems: Iterable[str]) -> list[str]:
    return [problem for problem in problems if "syntax" in problem]


def _unread(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"skipped files were not looked into: {paths[0]}{more}"


def _unknown(what: str, reason: str) -> Absence:
    return Absence(False, _sentence(what, reason))


def _sentence(what: str, reason: str) -> str:
    return f"no resolved {what}: unknown rather than none, because {reason}"
