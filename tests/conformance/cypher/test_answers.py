"""What is special to the embedded store: shapes of entities, order without ORDER BY, invisible edges, uid as identity."""

from __future__ import annotations

import subprocess
import sys

import apsw

from atlas.adapters.stores.sqlite.cypher import run


def rows(connection: apsw.Connection, text: str, **parameters: object) -> list[tuple[object, ...]]:
    return list(run(connection, text, parameters, 1000, 5.0).rows)


def test_node_shape(shop: apsw.Connection) -> None:
    assert rows(shop, "MATCH (n {name: 'retry'}) RETURN n") == [
        (
            {
                "_label": "Function",
                "uid": "store:shop.util.retry",
                "kind": "function",
                "name": "retry",
                "qualified_name": "shop.util.retry",
                "path": "shop/util.py",
                "language": "python",
                "line": 11,
                "start_line": 11,
                "end_line": 20,
                "signature": "def retry(call, times)",
                "docstring": "Call again until it works.",
                "is_test": False,
                "is_generated": False,
                "exported": True,
                "modifiers": [],
                "project": "store",
                "digest": "d4",
            },
        )
    ]


def test_nulls_are_left_out_of_nodes(shop: apsw.Connection) -> None:
    [(node,)] = rows(shop, "MATCH (n:Package) RETURN n")
    assert isinstance(node, dict)
    assert not {"path", "language", "line", "start_line", "end_line", "digest"} & set(node)


def test_edge_and_path_shape(shop: apsw.Connection) -> None:
    [(edge, path)] = rows(shop, "MATCH p = (:Function)-[r:REFERENCES]->(:Value) RETURN r, p")
    assert edge == {
        "_type": "REFERENCES",
        "_source": "store:shop.util.retry",
        "_target": "store:shop.util.MAX_RETRIES",
        "line": 12,
        "lines": [12],
        "strategy": "local",
        "confidence": 0.95,
    }
    assert isinstance(path, dict)
    assert [node["name"] for node in path["nodes"]] == ["retry", "MAX_RETRIES"]
    assert path["edges"] == [edge]


def test_identity_is_the_uid(shop: apsw.Connection) -> None:
    assert rows(shop, "MATCH (n {name: 'log'}) RETURN id(n), elementId(n)") == [("store:shop.util.log",) * 2]
    assert rows(shop, "MATCH (n) WHERE elementId(n) = $uid RETURN n.name", uid="store:shop.util.log") == [("log",)]


def test_edges_without_a_far_node_are_invisible(shop: apsw.Connection) -> None:
    assert rows(shop, "MATCH (f {name: 'log'})-[r:CALLS]->(x) RETURN r") == []
    assert rows(shop, "MATCH (f {name: 'log'})-[:CALLS*0..2]->(x) RETURN x.name") == [("log",)]
    assert rows(shop, "MATCH (f {name: 'log'})<-[:CALLS]-(x) WHERE x.name = 'caller' RETURN x") == []
    assert rows(shop, "MATCH (f {name: 'log'}) RETURN COUNT { (f)-[:CALLS]->() }") == [(0,)]
    assert rows(shop, "MATCH ()-[r:CALLS]->() RETURN count(r), count(*)") == [(24, 24)]


def test_rows_are_sorted_by_value_without_order_by(shop: apsw.Connection) -> None:
    found = rows(shop, "MATCH (c:Class) RETURN c.name, c.line")
    assert found == sorted(found)
    assert rows(shop, "UNWIND [3, 1, 2] AS x RETURN x") == [(3,), (1,), (2,)]


def test_exists_of_a_property(shop: apsw.Connection) -> None:
    assert rows(shop, "MATCH (n:Package) RETURN exists(n.name), exists(n.path), exists(n.other)") == [
        (True, False, False)
    ]


def test_nothing_is_imported_before_a_query_runs() -> None:
    check = "import sys, atlas.adapters.stores.sqlite.cypher as c; print([m for m in sys.modules if m.startswith('atlas.adapters.stores.sqlite.cypher.')])"
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
