"""Callers and callees of hits that have words of the question."""

from __future__ import annotations

from atlas.code.tools.symbol.neighbours import MAX_NEIGHBOURS, relevant_neighbours
from atlas.core.model import Edge, EdgeRow, Label, Node, NodeRow
from atlas.parsing import split_words

WORDS = {"write", "cache", "entry"}


def edge(name: str, confidence: float = 1.0, path: str = "a.py") -> Edge:
    row = NodeRow._make([None] * len(NodeRow._fields))._replace(
        uid=f"p:{name}", name=name, qualified_name=f"a.{name}", label=Label.FUNCTION, kind="function", path=path, line=3
    )
    return Edge(EdgeRow("p:own", row.uid, "CALLS", 1, "local", confidence), Node("p", row))


def test_those_that_agree_with_the_question_are_listed_best_first() -> None:
    edges = [("callees", edge("write_entry")), ("callees", edge("close")), ("callers", edge("write_cache_entry"))]
    found = relevant_neighbours(edges, WORDS, set(), split_words)
    assert [each.text for each in found] == ["called by write_cache_entry a.py:3", "calls write_entry a.py:3"]
    assert 0 < found[1].relevance < found[0].relevance <= 1


def test_what_is_a_hit_or_uncertain_or_elsewhere_comes_last_or_not_at_all() -> None:
    edges = [
        ("callees", edge("write", 0.3)),
        ("callees", edge("cache", 0.9)),
        ("callees", edge("entry")),
        ("callees", edge("write_far", path="")),
        ("callers", edge("cache", 0.9)),
    ]
    found = relevant_neighbours(edges, WORDS, {"p:entry"}, split_words)
    assert [each.text for each in found] == ["calls cache a.py:3", "calls write a.py:3"]


def test_a_hit_has_few_of_them() -> None:
    edges = [("callees", edge(f"write{number}_cache")) for number in range(9)]
    assert len(relevant_neighbours(edges, WORDS, set(), split_words)) == MAX_NEIGHBOURS
