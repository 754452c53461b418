"""cypher_query, schema_info, status and health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from atlas.adapters.stores.bolt.rows import SYMBOL
from atlas.adapters.stores.shared.properties import NODE_PROPERTIES as NOTE_PROPERTIES
from atlas.adapters.stores.sqlite.cypher.graph import EDGE_COLUMNS, NODE_COLUMNS
from atlas.answers.assemble import tokens_of
from atlas.answers.evidence import Evidence, StaleFile
from atlas.code.atlas import Atlas
from atlas.code.tools.cypher import _KNOWN_CONFIDENCES, cypher_query, schema_info, unknown_words
from atlas.code.tools.cypher_answers import TableAnswer
from atlas.code.tools.state.health import Check, health
from atlas.code.tools.state.index import status
from atlas.code.tools.state.report import PartialFile
from atlas.code.tools.vocabulary import EDGE_PROPERTIES, EDGE_TYPES, LABELS, NODE_PROPERTIES
from atlas.core.errors import ConfigError, NotFound
from atlas.core.model import EdgeType, FileRecord, GraphDelta, Label, Table


class Answering:
    """A store whose Cypher answers with a given table."""

    def __init__(self, atlas: Atlas, table: Table) -> None:
        self.store, self.table = atlas.reader.store, table
        self.asked: list[tuple[str, Mapping[str, object], int, float, str]] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)

    async def cypher(
        self,
        text: str,
        parameters: Mapping[str, object],
        limit: int,
        timeout: float,  # noqa: ASYNC109
        project: str = "",
    ) -> Table:
        self.asked.append((text, parameters, limit, timeout, project))
        return self.table


def answering(atlas: Atlas, table: Table) -> tuple[Atlas, Answering]:
    store = Answering(atlas, table)
    return Atlas(replace(atlas.reader, store=store)), store


CART = {"_label": "Class", "uid": "shop:shop.cart.Cart", "path": "shop/cart.py", "line": 6}


async def test_rows_are_cited_and_fresh(shop: Atlas) -> None:
    atlas, store = answering(shop, Table(("c", "n"), ((CART, 3), (None, True))))
    answer = await cypher_query(atlas, "MATCH (c:Class) RETURN c, 3 AS n", {"x": 1}, limit=7)
    assert store.asked == [("MATCH (c:Class) RETURN c, 3 AS n", {"x": 1}, 7, 10.0, "shop")]
    assert answer.rows == ((CART, 3), (None, True))
    assert answer.evidence.freshness == "fresh"
    assert "(Class shop:shop.cart.Cart shop/cart.py:6) | 3\nnull | true\n2 rows" in answer.render()
    (atlas.reader.root / "shop/cart.py").write_text("changed")
    assert (await cypher_query(atlas, "MATCH (c) RETURN c")).evidence.stale == (
        StaleFile("shop/cart.py", "changed on disk"),
    )


async def test_what_cannot_fit_the_budget_is_not_written(shop: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    atlas, _ = answering(shop, Table(("a", "b"), tuple((number, "x" * 20_000) for number in range(1_000))))
    measured: list[int] = []
    structure = TableAnswer.structure

    def counting(answer: TableAnswer) -> dict[str, object]:
        measured.append(len(answer.rows))
        return structure(answer)

    monkeypatch.setattr(TableAnswer, "structure", counting)
    answer = await cypher_query(atlas, "MATCH (n) RETURN n.line AS a, n.name AS b", token_budget=8_000)
    assert 0 < max(measured) <= 3
    assert 0 < len(answer.rows) <= 3
    assert f"{1_000 - len(answer.rows)} of 1000 rows by token_budget" in answer.render()


@pytest.mark.parametrize(
    "query",
    [
        "RETURN [" + " " * 19_900 + "1]",
        "RETURN (" + " " * 19_900 + "1)",
        "RETURN 1 AS `" + "/*" * 9_900 + "`",
        "RETURN 1 AS `" + "'" * 19_001 + "`",
        "MATCH (n" + ":A" * 9_000 + " ) RETURN 1",
        "MATCH (n:" + " A|" * 6_000 + "A) RETURN 1",
    ],
)
async def test_hostile_texts_are_looked_through_once(shop: Atlas, query: str) -> None:
    # quadratic expressions would take the event loop seconds for each of these
    assert len(unknown_words(query)) <= 1


async def test_no_rows_are_said_to_be_none(shop: Atlas) -> None:
    atlas, _ = answering(shop, Table(("c",), ()))
    assert (await cypher_query(atlas, "MATCH (c:Class) RETURN c")).render().endswith("c\nno rows")


@pytest.mark.parametrize("budget", [1, 60, 100, 300, 1000])
async def test_rows_fit_the_budget(shop: Atlas, budget: int) -> None:
    atlas, _ = answering(shop, Table(("name",), tuple((f"function_number_{n}",) for n in range(200)), truncated=True))
    answer = await cypher_query(atlas, "MATCH (f:Function) RETURN f.name AS name", token_budget=budget)
    used = tokens_of(shop.reader.counter, answer)
    assert used == answer.evidence.tokens
    assert used <= budget or answer.evidence.below_floor
    if not answer.evidence.below_floor:
        kept = len(answer.rows)
        assert any(f"{200 - kept} of 200 rows" in item and f"SKIP {kept}" in item for item in answer.evidence.withheld)
        assert any("limit 100" in item for item in answer.evidence.withheld)


async def test_cells_stay_on_their_line(shop: Atlas) -> None:
    atlas, _ = answering(shop, Table(("doc", "path"), (("a\nb | c", ["x", {"y": 1}]), ("z" * 2000, None))))
    lines = (await cypher_query(atlas, "RETURN 1")).render().splitlines()
    assert lines[2] == 'a\\nb \\| c | ["x",{"y":1}]'
    assert lines[3].endswith("... (2000 characters) | null")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("MATCH (c:Klass) RETURN c", ["no label `Klass`"]),
        ("MATCH (a)-[:CALL]->(b) RETURN a", ["no relationship type `CALL`"]),
        ("MATCH (a)-[r:CALLS|INVOKES*1..3]->(b:Method) RETURN a", ["`INVOKES`"]),
        ("MATCH (a:Class:Foo) RETURN a.nam", ["no label `Foo`", "no property `nam`"]),
        ("MATCH (a:Class) WHERE a.nam = 'x' RETURN a.pth AS p LIMIT 1", ["no property `nam`", "no property `pth`"]),
        ("MATCH (a:Class|Method) WHERE a.is_test RETURN a.name, toLower(a.path)", []),
        ("MATCH (a {name: 'x:Klass'})-[r:CALLS]->() RETURN r.confidence // (b:Nope)", []),
        ("MATCH p = (a:Function)-[:CALLS*..3]->(b) RETURN length(p), {a: 1.5} AS x", []),
    ],
)
def test_unknown_words_are_noted(query: str, words: list[str]) -> None:
    notes = unknown_words(query)
    assert len(notes) == len(words)
    for word, note in zip(words, notes, strict=True):
        assert word in note


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": " "}, "query is empty"),
        ({"query": "RETURN 1", "limit": 0}, "limit must be between 1 and 1000"),
        ({"query": "RETURN 1", "limit": 1001}, "limit must be between 1 and 1000"),
        ({"query": "RETURN 1", "timeout": 0}, "timeout must be"),
        ({"query": "RETURN 1", "timeout": float("nan")}, "timeout must be"),
        ({"query": "RETURN " + "1 + " * 10_000 + "1"}, "at most 20000"),
    ],
)
async def test_bad_cypher_arguments(shop: Atlas, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        await cypher_query(shop, **arguments)


async def test_schema_counts_what_is_there(shop: Atlas) -> None:
    answer = await schema_info(shop)
    assert {each.name: each.count for each in answer.labels}["Class"] == 3
    assert {each.name: each.count for each in answer.edge_types}["CALLS"] == 5
    assert {each.name: each.count for each in answer.languages} == {"markdown": 1, "python": 5}
    assert answer.evidence.withheld == ()


async def test_strategies_have_their_confidence(shop: Atlas) -> None:
    atlas, _ = answering(shop, Table(("strategy", "confidence"), (("import", 0.9567), ("module", 0.98))))
    strategies = {each.name: each.description for each in (await schema_info(atlas)).strategies}
    assert strategies["import"] == "confidence 0.96"
    assert strategies["module"] == "confidence 0.98"


async def test_confidences_follow_what_is_written(shop: Atlas) -> None:
    async def strategies() -> dict[str, str]:
        return {each.name: each.description for each in (await schema_info(shop)).strategies}

    before = await strategies()
    assert await strategies() == before
    await shop.reader.store.apply([GraphDelta(shop.reader.project, "tests/test_cart.py", None)])
    after = await strategies()
    assert after != before
    _KNOWN_CONFIDENCES.clear()
    assert await strategies() == after, "what was remembered is not what is counted"


async def test_schema_under_a_budget_keeps_labels_first(shop: Atlas) -> None:
    answer = await schema_info(shop, token_budget=440)
    assert len(answer.labels) == len(Label)
    assert answer.languages == ()
    assert "by token_budget 440" in answer.evidence.withheld[0]


def test_vocabulary_covers_the_model() -> None:
    assert set(LABELS) == set(Label)
    assert set(EDGE_TYPES) == set(EdgeType)
    assert {each.name for each in NODE_PROPERTIES} == set(NODE_COLUMNS) == {*SYMBOL, *NOTE_PROPERTIES, "content"}
    assert {each.name for each in EDGE_PROPERTIES} == set(EDGE_COLUMNS)


async def test_status_counts(shop: Atlas) -> None:
    (project,) = (await status(shop)).projects
    assert (project.files, project.problems, project.unresolved) == (6, 1, 2)
    assert project.vectors == project.chunks > 0
    assert project.model == "test hashed-words 64"
    assert {each.name: each.count for each in project.skipped} == {"secret": 1, "binary": 1}


async def test_status_lists_skipped_files_by_reason_or_path(shop: Atlas) -> None:
    everything = await status(shop, skipped=True)
    assert [each.path for each in everything.skipped_files] == ["logo.png", "shop/secrets.py"]
    for wanted in ("secret", "shop/", "*/secrets.*"):
        found = await status(shop, skipped=True, skipped_filter=wanted)
        assert [(each.path, each.reason) for each in found.skipped_files] == [("shop/secrets.py", "secret")]
    assert (await status(shop)).skipped_files == ()


async def test_status_names_the_files_that_were_read_only_in_part_apart_from_the_skipped_ones(shop: Atlas) -> None:
    answer = await status(shop, skipped=True)
    assert answer.partial_files == (PartialFile("shop/half.py", "1: syntax: unexpected `(`", 1),)
    assert answer.structure()["partial_files"] == {"shop/half.py": "1: syntax: unexpected `(`"}
    assert "\npartially read shop/half.py: 1: syntax: unexpected `(`\nskipped logo.png: binary\n" in answer.render()
    only = await status(shop, skipped=True, skipped_filter="partial")
    assert (len(only.partial_files), only.skipped_files) == (1, ())
    assert (await status(shop, skipped=True, skipped_filter="secret")).partial_files == ()
    assert (await status(shop)).partial_files == ()


async def test_many_files_that_were_read_only_in_part_are_cut_to_the_budget(shop: Atlas) -> None:
    problems = ("3: syntax: unexpected `)`", "9: syntax: unexpected `]`")
    records = [FileRecord(f"shop/part_{number:03}.py", "python", problems=problems) for number in range(300)]
    await shop.reader.store.apply([GraphDelta("shop", record.path, record, nodes=()) for record in records])
    answer = await status(shop, skipped=True, token_budget=1500)
    assert 0 < len(answer.partial_files) < 300
    assert answer.skipped_files == ()
    assert answer.evidence.tokens <= 1500
    assert f"{303 - len(answer.partial_files)} of the projects, tiers and files" in answer.evidence.withheld[0]
    assert "unexpected `)` (and 1 more)\n" in answer.render()


async def test_status_of_what_is_not_indexed(shop: Atlas) -> None:
    with pytest.raises(NotFound, match="indexed: shop"):
        await status(shop, project="other")
    answer = await status(Atlas(replace(shop.reader, project="fresh")))
    assert answer.projects == ()
    assert "not indexed" in answer.evidence.notes[0]
    everything = await status(Atlas(replace(shop.reader, project="fresh")), everything=True)
    assert [each.project for each in everything.projects] == ["shop"]


def test_health_is_the_worst_check() -> None:
    evidence = Evidence("shop", 1, "", "", (), "cl100k_base", 0, 0)
    fine, gone, bad = Check("store", "ok"), Check("bus", "missing", "not used"), Check("embedder", "broken", "no", "do")
    assert health([fine], evidence).state == "ok"
    assert health([fine, gone], evidence).state == "degraded"
    answer = health([fine, gone, bad], evidence)
    assert answer.state == "broken"
    assert [check.name for check in answer.checks] == ["embedder", "bus", "store"]
    assert "broken embedder: no -> do" in answer.render()


def test_an_unknown_word_is_answered_with_near_ones_or_with_all() -> None:
    assert unknown_words("MATCH (n:Functon) RETURN n") == (
        "no label `Functon` exists; near: Function; schema_info has all",
    )
    assert "known: ADR, Article, " in unknown_words("MATCH (n:Zzz) RETURN n")[0]
