"""The calls that `hostile_queries` sends: what a client may ask of each tool to make it build, hold or write too much."""

from __future__ import annotations

from dataclasses import dataclass, field

LONG = "WITH reduce(s = 'ab', x IN range(1, 15) | s + s) AS s "
"""A string of 65,536 characters."""
HUGE = "WITH reduce(s = 'ab', x IN range(1, 18) | s + s) AS s "
"""One of 524,288."""


@dataclass(frozen=True)
class Attack:
    """One call."""

    name: str
    tool: str
    arguments: dict[str, object] = field(default_factory=dict[str, object])


def _cypher(name: str, query: str, **parameters: object) -> Attack:
    more: dict[str, object] = {"parameters": parameters} if parameters else {}
    return Attack(f"cypher: {name}", "cypher_query", {"query": query, "limit": 1000, **more})


def _nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def _doubled(times: int, start: str = "range(1, 10)") -> str:
    return f"WITH {start} AS a " + "WITH [a, a] AS a " * times


_TALL = " ".join(f"WITH s + '{number}' AS s" for number in range(600))
_WIDE = ", ".join(f"s + '{number}' AS c{number}" for number in range(900))

ATTACKS: tuple[Attack, ...] = (
    _cypher("nothing special", "MATCH (n:Class) RETURN n.name LIMIT 10"),
    _cypher("collect long strings", LONG + "UNWIND range(1, 90000) AS i RETURN size(collect(s + toString(i)))"),
    _cypher("list of long strings", LONG + "RETURN size([i IN range(1, 90000) | s + toString(i)])"),
    _cypher("split into a list", LONG + "RETURN collect(split(s, 'a'))"),
    _cypher("collect of splits", LONG + "UNWIND range(1, 1000) AS i RETURN collect(split(s, 'a'))"),
    _cypher("split into letters, many", LONG + "UNWIND range(1, 1000) AS i RETURN i, split(s, '')"),
    _cypher("doubled list", _doubled(22) + "RETURN a"),
    _cypher("doubled list, grouped", _doubled(22) + "RETURN a, count(*)"),
    _cypher("doubled list, compared", _doubled(24) + "WITH a, a AS b RETURN a = b"),
    _cypher("doubled list, ordered", _doubled(24) + "UNWIND [1, 2] AS i WITH a, i ORDER BY a RETURN i"),
    _cypher("doubled list, distinct", _doubled(24) + "UNWIND [1, 2] AS i RETURN DISTINCT size(a), a"),
    _cypher("doubled map", "WITH {k: 1} AS a " + "WITH {x: a, y: a} AS a " * 22 + "RETURN a"),
    _cypher("nested list", "RETURN reduce(a = [], x IN range(1, 90000) | [a])"),
    _cypher("growing list", "RETURN size(reduce(a = [1], x IN range(1, 30) | a + a))"),
    _cypher("growing list one by one", "RETURN size(reduce(a = [], x IN range(1, 90000) | a + [x]))"),
    _cypher("lists of lists", "RETURN size([x IN range(1, 90000) | range(1, 90000)])"),
    _cypher("lists in lists in lists", "RETURN [x IN range(1, 300) | [y IN range(1, 300) | range(1, 300)]]"),
    _cypher("wide row of strings", HUGE + f"WITH {_WIDE} RETURN c1"),
    _cypher("many clauses of strings", HUGE + _TALL + " RETURN size(s)"),
    _cypher("arguments of a function", HUGE + "RETURN size(coalesce(" + ", ".join(["null + s"] * 99 + ["s"]) + "))"),
    _cypher("many huge replaces", HUGE + "RETURN [i IN range(1, 90000) | replace(s, 'a', 'bb')]"),
    _cypher(
        "concatenation of wide text",
        "WITH reduce(s = '\U0001f40d', x IN range(1, 19) | s + s) AS s "
        "UNWIND range(1, 90000) AS i RETURN size(collect(s + toString(i)))",
    ),
    _cypher("group by long strings", LONG + "UNWIND range(1, 90000) AS i RETURN s + toString(i), count(*)"),
    _cypher(
        "distinct long strings", LONG + "UNWIND range(1, 90000) AS i WITH DISTINCT s + toString(i) AS t RETURN count(t)"
    ),
    _cypher("order by long strings", LONG + "UNWIND range(1, 90000) AS i RETURN s + toString(i) AS t ORDER BY t"),
    _cypher(
        "union of long strings",
        LONG
        + "UNWIND range(1, 90000) AS i RETURN s + toString(i) AS t UNION "
        + LONG
        + "UNWIND range(1, 90000) AS i RETURN s + toString(i + 1) AS t",
    ),
    _cypher("big integers", "RETURN reduce(x = 2, i IN range(1, 60) | x * x)"),
    _cypher("sort everything", "MATCH (a)-[r]->(b) RETURN a.name, b.name ORDER BY b.docstring, a.docstring LIMIT 1000"),
    _cypher("sort a cross product", "MATCH (a), (b) RETURN a.name ORDER BY b.name + a.name"),
    _cypher("group a cross product", "MATCH (a), (b) RETURN a.name, b.name, count(*)"),
    _cypher("group numbers", "UNWIND range(1, 90000) AS i UNWIND range(1, 90) AS j RETURN i * j AS k, count(*)"),
    _cypher("collect all nodes", "MATCH (n) RETURN collect(n)"),
    _cypher("all nodes, whole", "MATCH (n) RETURN n LIMIT 1000"),
    _cypher("all paths", "MATCH p = (a:Class)-[*1..12]-(b) RETURN collect(p)"),
    _cypher("paths as rows", "MATCH p = (a)-[:CALLS*]->(b) RETURN p, nodes(p), relationships(p)"),
    _cypher("shortest paths", "MATCH p = shortestPath((a:Class)-[*]-(b:Function)) RETURN count(p)"),
    _cypher("cross product", "MATCH (a), (b), (c) RETURN count(*)"),
    _cypher(
        "counting in Python", "UNWIND range(1, 99999) AS x UNWIND range(1, 99999) AS y WITH x WHERE x < 0 RETURN x"
    ),
    _cypher("regular expression", HUGE + "UNWIND range(1, 1000) AS i RETURN s =~ '(a|b|ab|ba)*(a?){300}c' AS m"),
    _cypher("many regular expressions", "UNWIND range(1, 90000) AS i RETURN count('x' =~ ('(a?){200}' + toString(i)))"),
    _cypher("IN a long list", "WITH range(1, 90000) AS l UNWIND l AS i RETURN count(CASE WHEN -i IN l THEN 1 END)"),
    _cypher("equal long lists", "WITH range(1, 90000) AS l UNWIND l AS i RETURN count(CASE WHEN l = l THEN 1 END)"),
    _cypher("IN a list, in SQL", "WITH range(1, 90000) AS l MATCH (n) WHERE n.line IN l RETURN count(n)"),
    _cypher("blanks in brackets", "RETURN [" + " " * 19_900 + "1]"),
    _cypher("comments in backticks", "RETURN 1 AS `" + "/*" * 9_900 + "`"),
    _cypher("parentheses", "RETURN " + "(" * 9_900 + "1" + ")" * 9_900),
    _cypher("a query of 1 MB", "RETURN " + "1+" * 450_000 + "1"),
    _cypher("deep parameter", "RETURN $p", p=_nested(300)),
    _cypher("wide parameter", "RETURN size($p)", p=list(range(100_000))),
    _cypher("many parameters", "RETURN 1", **{f"p{number}": number for number in range(50_000)}),
    _cypher("parameter as rows", "UNWIND $p AS a UNWIND $p AS b RETURN a, b, $p", p=["x" * 900] * 900),
    Attack("hybrid: 90,000 characters", "hybrid_search", {"query": "x" * 90_000}),
    Attack("hybrid: many words", "hybrid_search", {"query": " ".join(f"word{n}" for n in range(9_000))}),
    Attack("hybrid: common words", "hybrid_search", {"query": "self get test name value model " * 300, "limit": 50}),
    Attack("hybrid: identifiers", "hybrid_search", {"query": ".".join(["a"] * 45_000)}),
    Attack("hybrid: almost a relation", "hybrid_search", {"query": "who " * 24_000 + "calls"}),
    Attack("hybrid: a path without end", "hybrid_search", {"query": "a/" * 50_000}),
    Attack("hybrid: largest page", "hybrid_search", {"query": "get", "limit": 50, "token_budget": 200_000}),
    Attack("text: stars in the path", "text_search", {"query": "get model", "path": "**/" * 300 + "x"}),
    Attack("text: letters and stars", "text_search", {"query": "get model", "path": "*a" * 490 + "b"}),
    Attack("text: words in Chinese", "text_search", {"query": "数据库模型" * 18_000}),
    Attack("vector: 90,000 characters", "vector_search", {"query": "model query " * 7_500, "limit": 50}),
    Attack("node: a long name", "get_node", {"name": "a" * 1_000}),
    Attack("node: dots", "get_node", {"name": "a." * 490 + "b"}),
    Attack("node: a near name", "get_node", {"name": "get_querysett_for_modell_admin"}),
    Attack("node: a file and a line", "get_node", {"name": "django/db/models/query.py:999999"}),
    Attack("node: stars in the path", "get_node", {"name": "__init__", "path": "*a*e" * 240 + "z"}),
    Attack("context: a hub", "get_context", {"name": "django.test.testcases.SimpleTestCase", "token_budget": 200_000}),
    Attack("context: most called", "get_context", {"name": "assertEqual", "token_budget": 200_000}),
    Attack("context: a large module", "get_context", {"name": "tests/admin_views/tests.py", "token_budget": 200_000}),
    Attack("status: everything", "status", {"skipped": True, "everything": True, "token_budget": 200_000}),
    Attack("status: stars", "status", {"skipped": True, "skipped_filter": "*a*e" * 240 + "z", "token_budget": 200_000}),
    Attack("schema", "schema_info", {"token_budget": 200_000}),
    Attack("health", "health"),
    Attack("index", "index"),
)
