"""No statement that the Memgraph dialect can emit uses what Memgraph 3.12 rejects or gets wrong.

The rules are what its grammar and engine were found to accept and to reject; a real Memgraph is not needed. Literals,
comments and map keys cannot hide anything: statements are looked at without strings and comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from atlas.errors import QueryError, StoreError
from atlas.stores.bolt_dialect import TEXT_INDEX, Index, MemgraphDialect, Neo4jDialect, dialect_of
from atlas.stores.bolt_query import prepared
from atlas.stores.bolt_rows import CANDIDATE, RECORD, TEXT_PROPERTIES, literal
from atlas.stores.statements import cypher_statements

MEMGRAPH = MemgraphDialect()
NEO4J = Neo4jDialect()
FILLED = {
    "%record%": RECORD,
    "%candidate%": CANDIDATE,
    "%where%": " AND e.project = $filter_project AND e.path =~ $filter_path AND e.label IN $filter_labels AND NOT e.is_test",
    "%type%": "CALLS",
    "%label%": "Class",
    "%old%": "Class",
    "%new%": "Method",
}

REJECTED = {
    "shortestPath": r"\b(all)?shortestPaths?\s*\(|\bSHORTEST\s+\d",
    "quantified path": r"->\s*[+{]|\)\s*\{\d*,\d*\}",
    "label conjunction": r"\(\w*:\w+\s*&|\(\w*:\s*!",
    "label disjunction as a predicate": r"\bWHERE\b[^(]*\b\w+:\w+\|",
    "WHERE inside a pattern": r"\(\w*(:\w+)*\s+WHERE|\[\w*(:\w+)*\s+WHERE",
    "COUNT or COLLECT subquery": r"\b(COUNT|COLLECT)\s*\{",
    "OPTIONAL CALL": r"\bOPTIONAL\s+CALL\b",
    "concurrent batches": r"\bIN\s+\d*\s*CONCURRENT\b",
    "index hint after MATCH": r"\bMATCH\b.*\bUSING\s+INDEX\b",
    "time()": r"\btime\s*\(",
    "timestamp(), whose unit differs": r"\btimestamp\s*\(",
    "type predicate": r"\bIS\s*::",
    "clauses it does not know": r"\b(OFFSET|FINISH|LET)\b|^\s*CYPHER\b",
    "exponent with a sign": r"\d[eE]\+\d",
    "dynamic label": r"\$\(",
    "Neo4j's listings": r"\bSHOW\s+(FUNCTIONS|PROCEDURES|INDEXES\s+YIELD)\b",
    "Neo4j's text index": r"\bFULLTEXT\b|\bdb\.",
    "constraint dropped by name": r"\bDROP\s+CONSTRAINT\s+\w+\s*$",
    "IF NOT EXISTS outside of the FOR form": r"\bCREATE\s+(TEXT|VECTOR)\b.*\bIF\s+NOT\s+EXISTS\b",
    "RANGE INDEX": r"\bRANGE\s+INDEX\b",
    "node key": r"\bNODE\s+KEY\b",
    "functions it does not have": r"\b(nullIf|percentile\w+|stDevP?|isNaN|haversin|radians|normalize|exists)\s*\(",
    "EXISTS outside of MATCH's WHERE": r"\b(RETURN|WITH|CASE|BY)\b[^;]*\bEXISTS\s*\{",
    "pattern comprehension": r"\[\s*\([^\]]*\)\s*-[^|]*\|",
    "size of a pattern": r"\bsize\s*\(\s*\(",
    "WHEN with several values": r"\bWHEN\s+[^\s]+\s*,",
    "properties as a parameter in MATCH or MERGE": r"\b(MATCH|MERGE)\s*\(\w*(:\w+)*\s*\$",
    "kshortest as a name": r"\bkshortest\b",
    "EXPLAIN, which can end the server": r"\bEXPLAIN\b|\bPROFILE\b",
    "vectors ranked by similarity": r"\bsimilarity\b",
    "several statements in one": r";",
}


def emitted() -> Iterator[tuple[str, str]]:
    for file in ("read", "write", "find", "stats"):
        for name, text in cypher_statements(file).items():
            for mark, filling in FILLED.items():
                text = text.replace(mark, filling)
            yield f"{file}.{name}", text
    for index, command in MEMGRAPH.schema():
        yield f"schema {index.kind} {index.name}", command
    for command in MEMGRAPH.lists:
        yield command, command
    yield "text", f"{MEMGRAPH.text_call()} RETURN e.uid, score, (true{FILLED['%where%']})"
    yield "vector", f"{MEMGRAPH.vector_call('v_1')} RETURN e.uid, score, (true{FILLED['%where%']})"
    yield "vector index", MEMGRAPH.vector_index("v_1", 256)
    yield "drop vector index", MEMGRAPH.drop_vector_index("v_1")
    yield "shortest path", f"MATCH {MEMGRAPH.shortest_path('CALLS|IMPORTS', 5)} RETURN p"
    query = "MATCH (a {name: 'x'})-[:CALLS*1..3]->(b:Class|Function) RETURN labels(a), id(b), b"
    yield "query", prepared(query, {}, joins_labels=False).text


STATEMENTS = dict(emitted())


def bare(text: str) -> str:
    """The statement without comments and the contents of strings, in one line."""
    text = re.sub(r"//[^\n]*", " ", text)
    return " ".join(re.sub(r"'[^']*'|\"[^\"]*\"", "''", text).split())


@pytest.mark.parametrize("name", STATEMENTS)
def test_memgraph_accepts(name: str) -> None:
    text = bare(STATEMENTS[name])
    assert "%" not in text, "a literal part is not filled in"
    broken = [rule for rule, pattern in REJECTED.items() if re.search(pattern, text, re.IGNORECASE | re.DOTALL)]
    assert not broken, text


@pytest.mark.parametrize(
    "text",
    [
        "MATCH p = shortestPath((a)-[*..5]->(b)) RETURN p",
        "MATCH (a)-[:CALLS]->{1,3}(b) RETURN a",
        "MATCH (a:A&B) RETURN a",
        "MATCH (a) WHERE a:A|B RETURN a",
        "MATCH (a:S WHERE a.x = 1) RETURN a",
        "MATCH (a) RETURN COUNT { (a)-->() }",
        "MATCH (a) RETURN EXISTS { (a)-->() }",
        "MATCH (n:S $props) RETURN n",
        "CREATE TEXT INDEX t IF NOT EXISTS ON :S(x)",
        "CREATE FULLTEXT INDEX t FOR (n:S) ON EACH [n.x]",
        "MATCH (n) RETURN timestamp()",
        "MATCH (n) RETURN [(n)-->(m) | m.x]",
        "DROP CONSTRAINT one",
        "EXPLAIN MATCH (n) RETURN n",
    ],
)
def test_the_rules_find_what_memgraph_rejects(text: str) -> None:
    assert any(re.search(pattern, bare(text), re.IGNORECASE | re.DOTALL) for pattern in REJECTED.values())


def test_searched_properties_are_lower_case() -> None:
    """Memgraph lower-cases the whole query text, names of properties included."""
    assert all(name == name.lower() for name in TEXT_PROPERTIES)
    assert all(name in dict(MEMGRAPH.schema())[Index("text", TEXT_INDEX)] for name in TEXT_PROPERTIES)


@pytest.mark.parametrize(
    ("words", "memgraph", "neo4j"),
    [
        (["getUser"], "getuser", "getuser"),
        (["get_user"], "get user", "get_user"),
        (["cats", "AND", "or", "NOT", "in", "TO"], "cats", "cats and or not in to"),
        (['"x" +y -z [a TO b] {c} ^2 data.name:q* \\'], "x y z a b c 2 data name q", "x y z a to b c 2 data name q"),
        (["é", "日本"], "é 日本", "é 日本"),
        (["and"], "", "and"),
        (["*", "", " "], "", ""),
    ],
)
def test_words_are_words(words: list[str], memgraph: str, neo4j: str) -> None:
    """Whatever is asked for, nothing of it is an operator of the search engine."""
    first = f"data.text_name:({memgraph})^8 " if memgraph else ""
    assert MEMGRAPH.text_query(words)[: len(first)] == first
    assert bool(MEMGRAPH.text_query(words)) == bool(memgraph)
    first = f"text_name:({neo4j})^8 " if neo4j else ""
    assert NEO4J.text_query(words)[: len(first)] == first


def test_long_questions_are_cut() -> None:
    assert len(MEMGRAPH.text_query([f"w{number}" for number in range(1000)]).split()) == 5 * 64


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Neo4j/v5.11.0 compatible graph database server - Memgraph", "memgraph"),
        ("Neo4j/5.26.25", "neo4j"),
        ("Neo4j/5.23.0", "neo4j"),
    ],
)
def test_the_server_is_recognised(agent: str, name: str) -> None:
    assert dialect_of(agent).name == name


@pytest.mark.parametrize("agent", ["", "Neo4j/4.4.1", "Neo4j/5.13.0", "Neo4j/2025.01.0", "Something/5.26"])
def test_other_servers_are_refused(agent: str) -> None:
    with pytest.raises(StoreError, match="not supported"):
        dialect_of(agent)


def test_memgraphs_lists_are_read() -> None:
    rows = [
        ("label", "Symbol", None, 3),
        ("label+property", "Symbol", ["uid"], 3),
        ("label_text (name: atlas_words)", "AtlasEntry", ["text_name"], None),
    ]
    wanted = [Index("plain", "Symbol"), Index("plain", "Symbol.uid"), Index("text", "atlas_words")]
    assert MEMGRAPH.known("SHOW INDEX INFO", rows) == wanted
    assert MEMGRAPH.known("SHOW VECTOR INDEX INFO", [("v_1", ":AtlasEntry", "v_1")]) == [Index("vector", "v_1")]
    unique = [("unique", "Symbol", ["uid"], ""), ("exists", "Symbol", "uid", "")]
    assert MEMGRAPH.known("SHOW CONSTRAINT INFO", unique) == [Index("unique", "Symbol.uid")]


@pytest.mark.parametrize("name", ["A:B", "a b", "x`y", "", "AtlasEntry", "Symbol", "1st", "é"])
def test_only_plain_names_become_part_of_a_statement(name: str) -> None:
    with pytest.raises(StoreError):
        literal(name)


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("MATCH (n) RETURN n", "MATCH (n:Symbol) RETURN n"),
        ("MATCH () RETURN 1", "MATCH (:Symbol) RETURN 1"),
        ("MATCH (n:Class) RETURN n", "MATCH (n:Class:Symbol) RETURN n"),
        ("MATCH (n:A|B) RETURN n", "MATCH (n:(A|B)&Symbol) RETURN n"),
        ("MATCH (n:!A {x: 1}) RETURN n", "MATCH (n:(!A)&Symbol {x: 1}) RETURN n"),
        ("MATCH (a)-[:X]->() RETURN a", "MATCH (a:Symbol)-[:X]->() RETURN a"),
        (
            "MATCH (n) RETURN labels(n)",
            "MATCH (n:Symbol) RETURN [atlas_label IN labels(n) WHERE atlas_label <> 'Symbol']",
        ),
        ("MATCH (n) RETURN elementId(n)", "MATCH (n:Symbol) RETURN (n).uid"),
        ("RETURN '(n)' AS x", "RETURN '(n)' AS x"),
    ],
)
def test_a_query_is_bound_to_the_visible_graph(query: str, sent: str) -> None:
    assert prepared(query, {}, joins_labels=True).text == sent


def test_patterns_of_regular_expressions_are_known_before_they_run() -> None:
    assert prepared("MATCH (n) WHERE n.name =~ $p RETURN n", {"p": "a.*"}, joins_labels=True).ordered is False
    for query in ("MATCH (n) WHERE n.name =~ n.path RETURN n", "MATCH (n) WHERE n.name =~ $p RETURN n"):
        with pytest.raises(QueryError):
            prepared(query, {"p": "(a)\\1"}, joins_labels=True)
