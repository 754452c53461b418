"""Differences between Memgraph 3.12 and Neo4j 5.26: schema commands, text and vector queries, lists of indexes.

Text only: this module does not talk to a server. Both servers understand all other statements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol, cast
from unicodedata import category

from atlas.adapters.stores.bolt.rows import WORDS
from atlas.core.errors import StoreError
from atlas.core.lazy_regex import lazy_regex

TEXT_INDEX = "atlas_words"
MAX_WORDS = 64
UNIQUE = (
    ("AtlasMeta", "key"),
    ("AtlasProject", "name"),
    ("AtlasUnit", "key"),
    ("AtlasEntry", "uid"),
    ("Symbol", "uid"),
    ("AtlasModel", "key"),
)
PLAIN = (
    *(("AtlasUnit", "project"), ("AtlasEntry", "unit"), ("AtlasEntry", "folded"), ("AtlasEntry", "qualified_name")),
    *(("AtlasEntry", "vector_model"), ("AtlasEntry", "quality_model")),
    *(("AtlasPending", "source"), ("AtlasPending", "target")),
    *(("Symbol", "name"), ("Symbol", "qualified_name"), ("Symbol", "path"), ("Symbol", "project")),
)
_HINT = lazy_regex(r"^USING INDEX SEEK \w+(:\w+\(\w+\))\n", re.MULTILINE)
_PARAMETER = lazy_regex(r"\$(\w+)")
_RESERVED = frozenset(("and", "or", "not", "in", "to"))
_MAX_TOKENS = 200
"""Lucene accepts 1,024 clauses; more words than this add no information."""
_LUCENE_TOKEN = 255
_TANTIVY_TOKEN = 39
"""Maximum size of an indexed token in bytes; a query of longer tokens alone is an error."""


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """Identity of an index or constraint: kind (`unique`, `plain`, `text`, `vector`) and target."""

    kind: str
    name: str
    """Label.property; for text and vectors the name of the index."""


class Dialect(Protocol):
    """The language of one server; statements take the parameters named in them."""

    name: str
    lists: Sequence[str]
    """Commands that list indexes and constraints; `known` parses their rows."""
    wait: str
    """The command that waits until indexes are populated, "" if creating an index waits."""
    snapshots: bool
    """Whether a transaction reads a snapshot."""
    exact: str
    """Expression for the cosine of `e.%property%` and `$vector`, "" if the server has none."""

    def statement(self, text: str) -> str:
        """Return a stored statement as the server takes it; index hints are stored in Neo4j's form, one per line."""
        ...

    def parameters(self, named: dict[str, object]) -> dict[str, object]:
        """Return the parameters of a stored statement as the server takes them."""
        ...

    def schema(self) -> list[tuple[IndexIdentity, str]]:
        """Return the required indexes and constraints, each with the command that creates it."""
        ...

    def vector_index(self, name: str, dimension: int) -> str:
        """Return the command that creates the index on the property of the same name."""
        ...

    def drop_vector_index(self, name: str) -> str:
        """Return the command that removes it."""
        ...

    def known(self, command: str, rows: Sequence[tuple[Any, ...]]) -> list[IndexIdentity]:
        """Return the indexes and constraints in the rows of one of `lists`."""
        ...

    def text_call(self) -> str:
        """Return the CALL that yields at most `$reach` pairs of `e` and `score` for `$query`."""
        ...

    def text_query(self, words: Sequence[str]) -> str:
        """Return the query text for words joined by OR, "" if none of them can be searched."""
        ...

    def vector_call(self, name: str) -> str:
        """Return the CALL that yields at most `$reach` pairs of `e` and its cosine as `score` for `$vector`."""
        ...


class Neo4jDialect:
    """Neo4j 5.26, Cypher 5."""

    name = "neo4j"
    snapshots = False
    lists: Sequence[str] = (
        "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state, owningConstraint "
        "RETURN name, type, labelsOrTypes, properties, state, owningConstraint",
    )
    wait = "CALL db.awaitIndexes(300)"
    exact = "2 * vector.similarity.cosine(e.%property%, $vector) - 1"

    def statement(self, text: str) -> str:
        """See `Dialect.statement`.

        Statements that create, or that name their index, have a single possible plan and are never replanned. All
        parameters form one map: Neo4j caches a plan per statement and parameter types, where lists of ten, a hundred
        and a thousand items are different types, but maps are not.
        """
        text = _PARAMETER.sub(r"$p.\1", text)
        return f"CYPHER replan=skip {text}" if "CREATE (" in text or _HINT.search(text) else text

    def parameters(self, named: dict[str, object]) -> dict[str, object]:
        """See `Dialect.parameters`."""
        return {"p": named}

    def schema(self) -> list[tuple[IndexIdentity, str]]:
        """See `Dialect.schema`. A constraint creates its index."""
        constraint = "CREATE CONSTRAINT IF NOT EXISTS FOR (n:{0}) REQUIRE n.{1} IS UNIQUE"
        unique = [(IndexIdentity("unique", f"{label}.{key}"), constraint.format(label, key)) for label, key in UNIQUE]
        plain = [
            (IndexIdentity("plain", f"{label}.{key}"), f"CREATE INDEX IF NOT EXISTS FOR (n:{label}) ON (n.{key})")
            for label, key in PLAIN
        ]
        words = (
            f"CREATE FULLTEXT INDEX {TEXT_INDEX} IF NOT EXISTS FOR (n:AtlasEntry) ON EACH [n.{WORDS}] OPTIONS "
            "{indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}}"
        )
        return [*unique, *plain, (IndexIdentity("text", TEXT_INDEX), words)]

    def vector_index(self, name: str, dimension: int) -> str:
        """See `Dialect.vector_index`. Not quantized: scores must equal those of an exact scan."""
        return (
            f"CREATE VECTOR INDEX {name} IF NOT EXISTS FOR (n:AtlasEntry) ON (n.{name}) OPTIONS {{indexConfig: "
            f"{{`vector.dimensions`: {dimension}, `vector.similarity_function`: 'cosine', "
            "`vector.quantization.enabled`: false}}"
        )

    def drop_vector_index(self, name: str) -> str:
        """See `Dialect.drop_vector_index`."""
        return f"DROP INDEX {name} IF EXISTS"

    def known(self, command: str, rows: Sequence[tuple[Any, ...]]) -> list[IndexIdentity]:
        """See `Dialect.known`. An index that failed to populate does not count."""
        kinds = {"FULLTEXT": "text", "VECTOR": "vector", "RANGE": "plain"}
        found: list[IndexIdentity] = []
        for name, kind, labels, properties, state, constraint in rows:
            if kind in kinds and state != "FAILED":
                place = name if kinds[kind] != "plain" else f"{labels[0]}.{properties[0]}"
                found.append(IndexIdentity("unique" if constraint else kinds[kind], place))
        return found

    def text_call(self) -> str:
        """See `Dialect.text_call`."""
        return (
            f"CALL db.index.fulltext.queryNodes('{TEXT_INDEX}', $query, {{limit: $reach}}) "
            "YIELD node, score WITH node AS e, score"
        )

    def text_query(self, words: Sequence[str]) -> str:
        """See `Dialect.text_query`. Lower-case words of letters, digits and `_` are never operators of Lucene."""
        return " ".join(_chosen(words, "_", _lucene_tokens))

    def vector_call(self, name: str) -> str:
        """See `Dialect.vector_call`."""
        return (
            f"CALL db.index.vector.queryNodes('{name}', $reach, $vector) "
            "YIELD node, score WITH node AS e, 2 * score - 1 AS score"
        )


class MemgraphDialect:
    """Memgraph 3.12. Creating an existing index yields a notice, not an error; so may a failure: verify afterwards."""

    name = "memgraph"
    snapshots = True
    lists: Sequence[str] = ("SHOW INDEX INFO", "SHOW CONSTRAINT INFO", "SHOW VECTOR INDEX INFO")
    wait = ""
    exact = ""

    def statement(self, text: str) -> str:
        """See `Dialect.statement`. Hints of all MATCH clauses precede the first clause."""
        hints = dict.fromkeys(_HINT.findall(text))
        return f"USING INDEX {', '.join(hints)}\n{_HINT.sub('', text)}" if hints else text

    def parameters(self, named: dict[str, object]) -> dict[str, object]:
        """See `Dialect.parameters`."""
        return named

    def schema(self) -> list[tuple[IndexIdentity, str]]:
        """See `Dialect.schema`. A constraint creates no index, and an index on a property creates none on the label."""
        labels = dict.fromkeys(label for label, _ in (*UNIQUE, *PLAIN))
        by_label = [(IndexIdentity("plain", label), f"CREATE INDEX ON :{label}") for label in labels]
        plain = [
            (IndexIdentity("plain", f"{label}.{key}"), f"CREATE INDEX FOR (n:{label}) ON (n.{key})")
            for label, key in (*UNIQUE, *PLAIN)
        ]
        unique = [
            (IndexIdentity("unique", f"{label}.{key}"), f"CREATE CONSTRAINT ON (n:{label}) ASSERT n.{key} IS UNIQUE")
            for label, key in UNIQUE
        ]
        words = f"CREATE TEXT INDEX {TEXT_INDEX} ON :AtlasEntry({WORDS})"
        return [*by_label, *plain, *unique, (IndexIdentity("text", TEXT_INDEX), words)]

    def vector_index(self, name: str, dimension: int) -> str:
        """See `Dialect.vector_index`."""
        return (
            f"CREATE VECTOR INDEX {name} ON :AtlasEntry({name}) WITH CONFIG "
            f'{{"dimension": {dimension}, "capacity": 10000, "metric": "cos", "scalar_kind": "f16"}}'
        )

    def drop_vector_index(self, name: str) -> str:
        """See `Dialect.drop_vector_index`."""
        return f"DROP VECTOR INDEX {name}"

    def known(self, command: str, rows: Sequence[tuple[Any, ...]]) -> list[IndexIdentity]:
        """See `Dialect.known`."""
        if command == "SHOW VECTOR INDEX INFO":
            return [IndexIdentity("vector", row[0]) for row in rows]
        if command == "SHOW CONSTRAINT INFO":
            return [IndexIdentity("unique", f"{row[1]}.{_first(row[2])}") for row in rows if row[0] == "unique"]
        found: list[IndexIdentity] = []
        for kind, label, properties, *_ in rows:
            if kind.startswith("label_text"):
                found.append(IndexIdentity("text", kind.partition("name: ")[2].rstrip(")")))
            elif kind == "label":
                found.append(IndexIdentity("plain", label))
            elif kind == "label+property":
                found.append(IndexIdentity("plain", f"{label}.{_first(properties)}"))
        return found

    def text_call(self) -> str:
        """See `Dialect.text_call`."""
        return (
            f"CALL text_search.search('{TEXT_INDEX}', $query, {{limit: $reach}}) "
            "YIELD node, score WITH node AS e, score"
        )

    def text_query(self, words: Sequence[str]) -> str:
        """See `Dialect.text_query`. Words end at `_`; words that are operators in any case are omitted."""
        chosen = _chosen(words, "", _tantivy_tokens)
        return f"data.{WORDS}:({' '.join(chosen)})" if chosen else ""

    def vector_call(self, name: str) -> str:
        """See `Dialect.vector_call`. The server's own `similarity` loses the sign."""
        return (
            f"CALL vector_search.search('{name}', $reach, $vector) "
            "YIELD node, distance WITH node AS e, 1 - distance AS score"
        )


def dialect_of(agent: str) -> Dialect:
    """Return the dialect for an agent string. Raises `StoreError` for an unsupported server."""
    if "Memgraph" in agent:
        return MemgraphDialect()
    version = re.match(r"Neo4j/5\.(\d+)", agent)
    if version and int(version[1]) >= 23:
        return Neo4jDialect()
    raise StoreError(f"{agent or 'the server'} is not supported", "use Memgraph 3.12 or Neo4j 5.26")


def _chosen(words: Sequence[str], joint: str, tokens: Callable[[str], int]) -> list[str]:
    """Return the words in lower case, split at all but letters, digits, marks and `joint`, up to the limit.

    `tokens` returns the maximum number of tokens that the server makes of a word, 0 for a word that it cannot search.
    Words with spaces between them stay together as a quoted phrase.
    """
    found: dict[str, None] = {}
    left = _MAX_TOKENS
    for word in chain.from_iterable(_terms(given.lower(), joint) for given in words):
        count = 0 if word in found else sum(tokens(part) for part in word.strip('"').split(" "))
        if 0 < count <= left:
            found[word] = None
            left -= count
        if len(found) == MAX_WORDS:
            break
    return list(found)


def _terms(given: str, joint: str) -> list[str]:
    runs = _runs(given, joint)
    return ['"' + " ".join(runs) + '"'] if len(runs) > 1 and " " in given.strip() else runs


def _runs(word: str, joint: str) -> list[str]:
    kept = (char if char.isalnum() or char in joint or category(char)[0] == "M" else " " for char in word)
    return [run for run in "".join(kept).split(" ") if any(map(str.isalnum, run))]


def _lucene_tokens(word: str) -> int:
    """Scripts without spaces produce one token per character."""
    if len(word) > _LUCENE_TOKEN:
        return 0
    return 1 if word.isascii() else len(word)


def _tantivy_tokens(word: str) -> int:
    return 0 if word in _RESERVED or len(word.encode()) > _TANTIVY_TOKEN else 1


def _first(properties: object) -> str:
    """Return the one property of an index; servers name it alone or in a list."""
    return str(cast("list[object]", properties)[0]) if isinstance(properties, list) else str(properties)
