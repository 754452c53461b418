"""cypher_query and schema_info: read-only Cypher queries, and the vocabulary for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import cast
from weakref import WeakKeyDictionary

from atlas.answers.schema import check_range
from atlas.code.atlas import Atlas
from atlas.code.freshness import stale_files
from atlas.code.tools.cypher_answers import SchemaAnswer, SchemaEntry, TableAnswer
from atlas.code.tools.envelope import MAX_CHARACTERS_PER_TOKEN, aside, can_fit, finish, fit, fit_aside, open_envelope
from atlas.code.tools.vocabulary import EDGE_PROPERTIES, EDGE_TYPES, EXAMPLES, LABELS, NODE_PROPERTIES
from atlas.core.contracts import Store
from atlas.core.errors import ConfigError, QueryError, StoreError, Unavailable
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import EdgeType, Label
from atlas.core.project_state import ProjectStats
from atlas.core.wording import counted

MAX_ROWS = 1000
MAX_SECONDS = 60.0
MAX_CYPHER_CHARACTERS = 20_000
INLINE_CHARACTERS = 4_000
"""Shorter tables are rendered in a millisecond or two, without a thread."""
CONFIDENCE_SECONDS = 5.0
"""Timeout of the query over all edges (0.2 s per 250,000); on timeout the schema omits the confidences."""

Row = tuple[object, ...]

_KNOWN_CONFIDENCES: WeakKeyDictionary[Store, tuple[object, dict[str, float]]] = WeakKeyDictionary()
"""Store -> (generations of its projects, mean confidences at that time)."""

# Queries may be hostile: possessive quantifiers prevent quadratic backtracking over blanks.
_QUOTED = lazy_regex(
    r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|`(?![\w ]{1,40}+`)(?:[^`]|``)*+`|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/"
)
_LABEL = lazy_regex(r"\(\s*+\w*+\s*+((?::\s*+`?\w++`?\s*+(?:[|&]\s*+:?\s*+`?\w++`?\s*+)*+)++)")
_TYPE = lazy_regex(r"\[\s*+\w*+\s*+:\s*+([^\[\]{*]++)")
_PROPERTY = lazy_regex(r"(?<![\w.)\]])[A-Za-z_]\w*\.([A-Za-z_]\w*+)(?!\s*[(.])")
_WORD = lazy_regex(r"\w+")


async def cypher_query(
    atlas: Atlas,
    query: str,
    parameters: Mapping[str, object] | None = None,
    *,
    project: str = "",
    limit: int = 100,
    timeout: float = 10.0,  # noqa: ASYNC109 - the store interrupts its own statement; cancelling a task cannot
    token_budget: int = 2000,
) -> TableAnswer:
    """Run a read-only openCypher query over the project; at most `limit` rows and `timeout` seconds.

    A query that reads the property `project` sees all projects of the store.

    Labels, types and properties that do not exist are noted, because a misspelt name silently gives an empty result.
    Raises QueryError for anything but a supported read query, ConfigError for invalid arguments and NotFound for an
    unknown project.
    """
    check_range("limit", limit, 1, MAX_ROWS)
    if not 0 < timeout <= MAX_SECONDS:
        raise ConfigError(f"timeout must be above 0 and at most {MAX_SECONDS:g} seconds, not {timeout:g}")
    if not query.strip():
        raise ConfigError("the query is empty", "for example: MATCH (c:Class) RETURN c.qualified_name LIMIT 10")
    if len(query) > MAX_CYPHER_CHARACTERS:
        raise ConfigError(f"the query has {len(query)} characters; at most {MAX_CYPHER_CHARACTERS}", "use parameters")
    envelope = await open_envelope(atlas, project, token_budget)
    table = await atlas.reader.store.cypher(query, parameters or {}, limit, timeout, envelope.state.project)
    is_long = extent(table.rows, INLINE_CHARACTERS) >= INLINE_CHARACTERS
    shown = await aside(is_long, _worth_trying, table.rows, token_budget)
    paths = await aside(is_long, lambda: [_paths(row) for row in shown])
    stale = await stale_files(
        atlas.reader, envelope.state.project, envelope.state.root, (p for each in paths for p in each)
    )
    notes = unknown_words(query)

    def build(kept: int) -> TableAnswer:
        cut, rows = len(table.rows) - kept, counted(len(table.rows), "row")
        withheld = (
            f"{cut} of {rows} by token_budget {token_budget} {envelope.encoding}; SKIP {kept} continues" if cut else "",
            f"rows beyond limit {limit}; use SKIP and LIMIT to page" if table.truncated else "",
        )
        cited = [path for each in paths[:kept] for path in each]
        evidence = envelope.evidence(paths=cited, stale=stale, notes=notes, withheld=withheld)
        return TableAnswer("cypher_query", table.columns, table.rows[:kept], table.truncated, evidence)

    return await finish(atlas, is_long, fit, atlas, token_budget, build, len(shown))


def _worth_trying(rows: Sequence[Row], token_budget: int) -> Sequence[Row]:
    """Return the leading rows that can fit the budget at all, so that the other rows cost no work."""
    most = token_budget * MAX_CHARACTERS_PER_TOKEN
    return rows[: can_fit((extent(row, most) for row in rows), token_budget)]


def extent(value: object, most: int) -> int:
    """Return a lower bound of the length of a value in characters when written, counting no further than `most`."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        parts: Iterable[object] = (part for entry in entries.items() for part in entry)
    elif isinstance(value, list | tuple):
        parts = cast("Iterable[object]", value)
    else:
        return 2
    total = 2
    for part in parts:
        total += extent(part, most - total)
        if total >= most:
            break
    return total


async def schema_info(atlas: Atlas, *, project: str = "", token_budget: int = 2000) -> SchemaAnswer:
    """Return labels, relationship types, properties, strategies and example queries, with this project's counts.

    Raises ConfigError for a budget out of range and NotFound for an unknown project.
    """
    envelope = await open_envelope(atlas, project, token_budget)
    stats = (await atlas.reader.store.stats(envelope.state.project))[0]
    groups = _schema_groups(stats, await _confidences(atlas))
    order = ("labels", "edge_types", "node_properties", "edge_properties", "examples", "strategies", "languages")
    total = sum(len(group) for group in groups.values())

    def build(kept: int) -> SchemaAnswer:
        left, shown = kept, dict[str, tuple[SchemaEntry, ...]]()
        for name in order:
            shown[name] = groups[name][:left]
            left -= len(shown[name])
        withheld = (
            (f"{total - kept} of {counted(total, 'line')} by token_budget {token_budget}",) if kept < total else ()
        )
        return SchemaAnswer(
            "schema_info",
            shown["labels"],
            shown["edge_types"],
            shown["node_properties"],
            shown["edge_properties"],
            shown["strategies"],
            shown["languages"],
            shown["examples"],
            envelope.evidence(withheld=withheld),
        )

    return await fit_aside(atlas, token_budget, build, total)


def unknown_words(query: str) -> tuple[str, ...]:
    """Return a note for every label, relationship type and property in a Cypher query that does not exist."""
    bare = _QUOTED.sub("''", query)
    labels = {word for match in _LABEL.finditer(bare) for word in _WORD.findall(match.group(1))}
    types = {word for match in _TYPE.finditer(bare) for word in _WORD.findall(match.group(1))}
    known = {each.name for each in (*NODE_PROPERTIES, *EDGE_PROPERTIES)}
    properties = {match.group(1) for match in _PROPERTY.finditer(bare)}
    return (
        *_notes("label", labels, (label.value for label in Label)),
        *_notes("relationship type", types, (edge.value for edge in EdgeType)),
        *_notes("property", properties, known),
    )


def _notes(what: str, used: Iterable[str], known: Iterable[str]) -> list[str]:
    names = sorted(known)
    unknown = sorted(set(used) - set(names))
    return [f"no {what} `{word}` exists; {_near(word, names)}" for word in unknown]


def _near(word: str, names: Sequence[str]) -> str:
    near = get_close_matches(word, names, 3, 0.6)
    return f"near: {', '.join(near)}; schema_info has all" if near else f"known: {', '.join(names)}"


def _paths(value: object) -> set[str]:
    """Return the paths of all nodes in a value, at any nesting depth."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        own = {str(entries["path"])} if "uid" in entries and entries.get("path") else set[str]()
        return own.union(*(_paths(item) for item in entries.values()))
    if isinstance(value, list | tuple):
        return set[str]().union(*(_paths(item) for item in cast("Iterable[object]", value)))
    return set()


async def _confidences(atlas: Atlas) -> dict[str, float]:
    """Return the mean confidence of each strategy's edges; {} if the store cannot compute it.

    The query scans all edges, so the result is cached until a project changes.
    """
    store = atlas.reader.store
    state = tuple((one.project, one.generation, one.indexed_at) for one in await store.projects())
    known = _KNOWN_CONFIDENCES.get(store)
    if known is not None and known[0] == state:
        return known[1]
    query = "MATCH ()-[r]->() RETURN r.strategy AS strategy, avg(r.confidence) AS confidence"
    try:
        table = await store.cypher(query, {}, MAX_ROWS, CONFIDENCE_SECONDS)
    except (StoreError, QueryError, Unavailable):
        return {}
    rows = cast("Iterable[tuple[str, float]]", table.rows)
    found = {strategy: round(confidence, 2) for strategy, confidence in rows}
    _KNOWN_CONFIDENCES[store] = state, found
    return found


def _schema_groups(stats: ProjectStats, confidences: Mapping[str, float]) -> dict[str, tuple[SchemaEntry, ...]]:
    strategies = tuple(
        SchemaEntry(name, f"confidence {confidences[name]:.2f}" if name in confidences else "", count)
        for name, count in sorted(stats.strategies.items())
    )
    return {
        "labels": tuple(SchemaEntry(label, LABELS[label], stats.nodes.get(label, 0)) for label in Label),
        "edge_types": tuple(SchemaEntry(edge, EDGE_TYPES[edge], stats.edges.get(edge, 0)) for edge in EdgeType),
        "node_properties": NODE_PROPERTIES,
        "edge_properties": EDGE_PROPERTIES,
        "strategies": strategies,
        "languages": tuple(SchemaEntry(name, "", count) for name, count in sorted(stats.languages.items())),
        "examples": EXAMPLES,
    }
