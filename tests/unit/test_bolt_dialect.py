"""No statement that the Memgraph dialect can emit uses what Memgraph 3.12 rejects or gets wrong (`memgraph_rules`).

A new statement is looked at by itself: every file of statements, and every string of the store's modules that begins
like one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas.adapters.stores.bolt.dialect import TEXT_INDEX, IndexIdentity, MemgraphDialect, Neo4jDialect, dialect_of
from atlas.adapters.stores.bolt.reading.query import prepared
from atlas.adapters.stores.bolt.rows import CANDIDATE, ENTRY_PLACES, NOTE_EDGE_PLACES, RECORD, WORDS, literal
from atlas.adapters.stores.shared import statements
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.errors import QueryError, StoreError
from atlas.knowledge.tools.lists import ENTITY_QUERY, ORDERS, ListFilter, list_query
from tests.memgraph_rules import bare, broken

MEMGRAPH = MemgraphDialect()
NEO4J = Neo4jDialect()
FILLED = {
    "%record%": RECORD,
    "%candidate%": CANDIDATE,
    "%where%": " AND e.project = $filter_project AND e.path =~ $filter_path AND e.label IN $filter_labels AND NOT e.is_test",
    "%type%": "CALLS",
    "%types%": ":CALLS|IMPORTS",
    "%call%": MEMGRAPH.text_call(),
    "%cosine%": "score",
    "%properties%": ENTRY_PLACES,
    "%label%": "Class",
    "%property%": "v_0123456789abcdef",
    "%model%": "quality_model",
    "%digest%": "quality_digest",
    "%old%": "Class",
    "%new%": "Method",
    "%further%": NOTE_EDGE_PLACES,
}


LISTED = ListFilter("accepted", "doi", "cursor", "claim", "Cart", 0.5)
BOLT = Path(statements.__file__).parents[1] / "bolt"
BEGINS = re.compile(
    r"\s*(OPTIONAL\s+MATCH|MATCH|UNWIND|MERGE|CREATE|CALL|SHOW|DROP|WITH|RETURN|SET|REMOVE|DETACH|DELETE)\s+[^a-z\s]|\s*CALL\s+\w+\."
)


def emitted() -> Iterator[tuple[str, str]]:
    """Every statement under a name."""
    for path in sorted((BOLT / "statements").glob("*.cypher")):
        for name, text in cypher_statements(path.stem).items():
            for mark, filling in FILLED.items():
                text = text.replace(mark, filling)
            yield f"{path.stem}.{name}", MEMGRAPH.statement(text)
    for path in sorted(BOLT.rglob("*.py")):
        for line, text in written_out(ast.parse(path.read_text())):
            yield f"{path.name}:{line}", text
    for index, command in MEMGRAPH.schema():
        yield f"schema {index.kind} {index.name}", command
    for command in MEMGRAPH.lists:
        yield command, command
    yield "vector", f"{MEMGRAPH.vector_call('v_1')} RETURN e.uid, score"
    yield "vector index", MEMGRAPH.vector_index("v_1", 256)
    yield "drop vector index", MEMGRAPH.drop_vector_index("v_1")
    query = "MATCH (a {name: 'x'})-[:CALLS*1..3]->(b:Class|Function) RETURN labels(a), id(b), b"
    yield "query", prepared(query, {}, memgraph=True).text
    yield "entities", prepared(ENTITY_QUERY, {"name": "", "id": "", "type": ""}, memgraph=True).text
    for order in ORDERS:
        listed, parameters = list_query("shop", LISTED, order, ["", "c-1"])
        yield f"units, {order}", prepared(listed, parameters, memgraph=True).text


def written_out(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Strings that begin like a statement, `x` for what is put in; what is Neo4j's alone is left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef) and node.name == "Neo4jDialect":
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        else:
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if BEGINS.match(text):
            yield node.lineno, text.replace("{0}", "x").replace("{1}", "x")
        elif not isinstance(node, ast.JoinedStr):
            yield from written_out(node)


STATEMENTS = dict(emitted())


def test_statements_in_the_code_are_seen() -> None:
    """Those in strings and in f-strings, and none of Neo4j's."""
    texts = " ".join(text for name, text in STATEMENTS.items() if ".py:" in name)
    for part in (
        "MATCH (m:AtlasMeta)",
        "MERGE (m:AtlasMeta",
        "UNWIND $ids AS id",
        "CREATE VECTOR",
    ):
        assert part in texts
    assert "FULLTEXT" not in texts


@pytest.mark.parametrize("name", STATEMENTS)
def test_memgraph_accepts(name: str) -> None:
    assert "%" not in bare(STATEMENTS[name]), "a literal part is not filled in"
    assert not broken(STATEMENTS[name]), STATEMENTS[name]


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
        "LOAD CSV FROM 'http://x/y' WITH HEADER AS row RETURN row",
    ],
)
def test_the_rules_find_what_memgraph_rejects(text: str) -> None:
    assert broken(text)


def test_index_hints_stand_where_each_server_wants_them() -> None:
    text = "UNWIND $uids AS uid\nMATCH (s:Symbol {uid: uid})\nUSING INDEX SEEK s:Symbol(uid)\nRETURN s.uid"
    assert NEO4J.statement(text) == f"CYPHER replan=skip {text.replace('$uids', '$p.uids')}"
    assert NEO4J.statement("UNWIND $r AS r\nCREATE (:A)") == "CYPHER replan=skip UNWIND $p.r AS r\nCREATE (:A)"
    assert NEO4J.statement("MATCH (m:AtlasModel)\nRETURN m.key") == "MATCH (m:AtlasModel)\nRETURN m.key"
    assert MEMGRAPH.statement(text) == (
        "USING INDEX :Symbol(uid)\nUNWIND $uids AS uid\nMATCH (s:Symbol {uid: uid})\nRETURN s.uid"
    )
    assert MEMGRAPH.statement("MATCH (m:AtlasModel)\nRETURN m.key") == "MATCH (m:AtlasModel)\nRETURN m.key"


def test_the_searched_property_is_lower_case() -> None:
    """Memgraph lower-cases the whole query text, names of properties included."""
    assert WORDS.islower()
    assert dict(MEMGRAPH.schema())[IndexIdentity("text", TEXT_INDEX)].endswith(f":AtlasEntry({WORDS})")


@pytest.mark.parametrize(
    ("words", "memgraph", "neo4j"),
    [
        (["getUser"], "getuser", "getuser"),
        (["get_user"], "get user", "get_user"),
        (["cats", "AND", "or", "NOT", "in", "TO"], "cats", "cats and or not in to"),
        (
            ['"x" +y -z [a TO b] {c} ^2 data.name:q* \\'],
            '"x y z a to b c 2 data name q"',
            '"x y z a to b c 2 data name q"',
        ),
        (["é", "日本"], "é 日本", "é 日本"),
        (["and"], "", "and"),
        (["*", "", " "], "", ""),
    ],
)
def test_words_are_words(words: list[str], memgraph: str, neo4j: str) -> None:
    """Whatever is asked for, nothing of it is an operator of the search engine."""
    assert MEMGRAPH.text_query(words) == (f"data.words:({memgraph})" if memgraph else "")
    assert NEO4J.text_query(words) == neo4j


def test_long_questions_are_cut() -> None:
    assert len(MEMGRAPH.text_query([f"w{number}" for number in range(1000)]).split()) == 64


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
        ("label_text (name: atlas_words)", "AtlasEntry", ["words"], None),
    ]
    wanted = [
        IndexIdentity("plain", "Symbol"),
        IndexIdentity("plain", "Symbol.uid"),
        IndexIdentity("text", "atlas_words"),
    ]
    assert MEMGRAPH.known("SHOW INDEX INFO", rows) == wanted
    assert MEMGRAPH.known("SHOW VECTOR INDEX INFO", [("v_1", ":AtlasEntry", "v_1")]) == [IndexIdentity("vector", "v_1")]
    unique = [("unique", "Symbol", ["uid"], ""), ("exists", "Symbol", "uid", "")]
    assert MEMGRAPH.known("SHOW CONSTRAINT INFO", unique) == [IndexIdentity("unique", "Symbol.uid")]


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
    assert prepared(query, {}, memgraph=False).text == sent


CAPPED: list[tuple[str, str, list[str]]] = [
    ("MATCH (a)-[:CALLS*]->(b) RETURN a", "-[:CALLS*1..15]->", ["-[:CALLS*16..16]->(b:Symbol) RETURN 1 LIMIT 1"]),
    ("MATCH (a)-[r*2..]-(b) RETURN count(*)", "-[r*2..15]-", ["-[r*16..16]-(b:Symbol) RETURN 1 LIMIT 1"]),
    ("OPTIONAL MATCH (a)-[*..]->() RETURN a", "-[*1..15]->()", [" MATCH (a:Symbol)-[*16..16]->() RETURN 1 LIMIT 1"]),
    ("MATCH (a)-[*]->() WHERE a.x=1 MATCH (a)<--() RETURN a", "*1..15", ["WHERE a.x=1 RETURN 1 LIMIT 1"]),
    ("MATCH (a)-[:X*1..99]->(b) RETURN a", "*1..99", []),
    ("MATCH (a) WHERE COUNT { (a)-[:X*]->() } > 1 RETURN a", "*1..15", []),
]


@pytest.mark.parametrize(("query", "part", "beyond"), CAPPED)
def test_a_walk_without_end_gets_one(query: str, part: str, beyond: list[str]) -> None:
    """Whether it hides longer paths is asked in a second query; nothing that is sent has a `*` without an end."""
    for memgraph in (False, True):
        sent = prepared(query, {}, memgraph=memgraph)
        assert part in sent.text
        assert [more.endswith(end) for more, end in zip(sent.beyond, beyond, strict=True)] == [True] * len(beyond)
        assert all(not broken(more) for more in sent.beyond)


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("MATCH (a)-[:X*]->(b) RETURN DISTINCT b.name", True),
        ("MATCH (a)-[:X*]->(b) RETURN count(DISTINCT b)", True),
        ("MATCH (a)-[r:X*]->(b) RETURN DISTINCT r", False),
        ("MATCH p = (a)-[:X*]->(b) RETURN DISTINCT b", False),
        ("MATCH (a)-[:X*2..]->(b) RETURN DISTINCT b", False),
    ],
)
def test_a_set_of_ends_is_reached_however_far(query: str, kept: bool) -> None:
    """Neo4j visits each node once; Memgraph would follow every path."""
    assert (prepared(query, {}, memgraph=False).text.count("15") == 0) == kept
    assert "15" in prepared(query, {}, memgraph=True).text


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("MATCH p = shortestPath((a)-[:X*]->(b)) RETURN p", "MATCH p = (a:Symbol)-[:X *BFS]->(b:Symbol) RETURN p"),
        (
            "MATCH (a), (b) MATCH shortestPath((a)-[r:X|Y*1..4]-(b)) RETURN size(r)",
            "MATCH (a:Symbol), (b:Symbol) MATCH (a:Symbol)-[r:X|Y *BFS ..4]-(b:Symbol) RETURN size(r)",
        ),
    ],
)
def test_shortest_paths_are_said_as_memgraph_has_them(query: str, sent: str) -> None:
    found = prepared(query, {}, memgraph=True).text
    assert found == sent
    assert not broken(found)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH p = allShortestPaths((a)-[:X*]->(b)) RETURN p",
        "MATCH p = shortestPath((a)-[:X*]->(b)) WHERE length(p) > 1 RETURN p",
        "MATCH shortestPath((a)-[r:X*]->(b)) WHERE size(r) > 1 RETURN a",
        "MATCH p = shortestPath((a)-[:X* {line: 3}]->(b)) RETURN p",
        "MATCH p = shortestPath((a)-[:X*0..]->(b)) RETURN p",
        "MATCH p = shortestPath((a)-[:X]->(b)) RETURN p",
    ],
)
def test_shortest_paths_that_memgraph_would_get_wrong_are_refused(query: str) -> None:
    assert prepared(query, {}, memgraph=False)
    with pytest.raises(QueryError, match="Memgraph"):
        prepared(query, {}, memgraph=True)


def test_patterns_of_regular_expressions_are_known_before_they_run() -> None:
    assert prepared("MATCH (n) WHERE n.name =~ $p RETURN n", {"p": "a.*"}, memgraph=False).ordered is False
    for query in ("MATCH (n) WHERE n.name =~ n.path RETURN n", "MATCH (n) WHERE n.name =~ $p RETURN n"):
        with pytest.raises(QueryError):
            prepared(query, {"p": "(a)\\1"}, memgraph=False)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n:Class) RETURN n.name ORDER BY size([(n)-->(m) | m.name])",
        "MATCH (n:Class) WITH n WHERE size([(n)-->(m) | m.name]) > 2 RETURN n",
        "MATCH (n:Class) WHERE EXISTS { MATCH (n)-->(m) RETURN m SKIP 3 } RETURN n",
        "MATCH (n:Class) WHERE EXISTS { MATCH (n)-->(m) RETURN count(m) } RETURN n",
    ],
)
def test_what_memgraph_gets_wrong_in_silence_is_refused(query: str) -> None:
    assert prepared(query, {}, memgraph=False)
    with pytest.raises(QueryError, match="Memgraph"):
        prepared(query, {}, memgraph=True)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n:Class) WITH n, size([(n)-->(m) | m.name]) AS found WHERE found > 2 RETURN n ORDER BY found",
        "MATCH (n:Class) WHERE EXISTS { MATCH (n)-->(m) RETURN m } AND EXISTS { (n)-[:CALLS]->() } RETURN n",
    ],
)
def test_what_memgraph_gets_right_is_sent(query: str) -> None:
    assert prepared(query, {}, memgraph=True)
