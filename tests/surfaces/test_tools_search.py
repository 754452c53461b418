"""hybrid_search, text_search, vector_search: what is found, in which order, at what cost, with what evidence."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.answers.answer import to_dict
from atlas.answers.assemble import tokens_of
from atlas.answers.evidence import StaleFile
from atlas.code.atlas import Atlas
from atlas.code.find import Mode
from atlas.code.reader import RankingOptions
from atlas.code.tools.cypher import cypher_query, schema_info
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.search.search import hybrid_search, text_search, vector_search
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.symbol.node import get_context, get_node
from atlas.core.errors import ConfigError, NotFound, Unavailable
from atlas.core.model import EdgeRow, FileRecord, Filter, GraphDelta, Label, Scored
from atlas.core.wording import counted
from atlas.parsing import VectorIndex

from .shop import PROJECT, WordEmbedder, fill, open_shop, write_files

OFF = frozenset(("grouping",))


def names(answer: SearchAnswer) -> list[str]:
    return [hit.symbol.qualified_name for hit in answer.hits]


class Blind(WordEmbedder):
    """An embedder whose server is gone."""

    async def embed_query(self, text: str) -> bytes:
        raise Unavailable("the embedding server does not answer")


class Unknowing(WordEmbedder):
    """An embedder that knows no word."""

    async def embed_query(self, text: str) -> bytes:
        return bytes(4 * self.dimension)


async def test_a_name_comes_first_with_its_evidence(shop: Atlas) -> None:
    answer = await hybrid_search(shop, "apply_discount")
    hit = answer.hits[0]
    assert hit.symbol.uid == "shop:shop.cart.apply_discount"
    assert hit.symbol.place == "shop/cart.py:20"
    assert len(hit.symbol.digest) == 16
    assert hit.symbol.signature == "def apply_discount(amount: int) -> int"
    assert hit.symbol.summary == "Reduce the amount by ten percent for regular customers."
    assert {"name", "words", "meaning"} <= set(hit.channels)
    assert "name" in hit.reasons
    assert hit.words == ("apply_discount", "apply", "discount")
    assert hit.also == ("shop:shop.cart.apply_discount#2",), "the stub is the same symbol"
    assert answer.evidence.project == PROJECT
    assert answer.evidence.generation >= 1
    assert answer.evidence.indexed_at
    assert answer.evidence.freshness == "fresh"
    assert answer.evidence.encoding == "cl100k_base"


async def test_a_hit_says_each_fact_once(shop: Atlas) -> None:
    answer = await hybrid_search(shop, "apply_discount")
    first = answer.structure()["hits"][0]  # type: ignore[index]
    assert first == [
        "function apply_discount(amount: int) -> int",
        "shop/cart.py:20",
        "sure",
        "Reduce the amount by ten percent for regular customers.",
    ]
    lines = answer.render().splitlines()
    at = lines.index("1. function apply_discount(amount: int) -> int shop/cart.py:20 sure")
    assert lines[at + 1].strip() == first[3]
    assert sum(line.strip() == first[3] for line in lines) == 1, "the card does not repeat it"


async def test_a_brief_answer_has_one_line_for_each_hit(shop: Atlas) -> None:
    answer = await hybrid_search(shop, "keep values in the basket", limit=10)
    assert answer.hits[0].symbol.signature, "the first hit is described"
    brief = await hybrid_search(shop, "keep values in the basket", limit=10, brief=True)
    assert names(brief)[0] == names(answer)[0] and len(brief.hits) > len(answer.hits), "each hit has its own line"
    assert not any(hit.symbol.signature or hit.symbol.summary or hit.lines for hit in brief.hits)
    assert len(brief.render().splitlines()) == len(brief.hits) + len(brief.evidence.withheld) + 1 + bool(
        brief.evidence.cursor
    )


async def test_statements_around_the_words_of_the_question_are_shown(shop: Atlas) -> None:
    answer = await hybrid_search(shop, "where are prices loaded for the sum of the basket")
    total = next(hit for hit in answer.hits if hit.symbol.name == "total")
    texts = {line.line: line.text.strip() for line in total.lines}
    assert texts[14] == 'return apply_discount(sum(self.store.load("prices")))'
    assert total.symbol.summary not in texts.values(), "the line of the summary says it"
    assert "def total" not in answer.render(), "the line of the hit has the signature"
    named = await hybrid_search(shop, "apply_discount")
    assert not any(hit.lines for hit in named.hits), "a name asks where its symbol is"


async def test_a_larger_budget_shows_what_a_smaller_one_shows_and_more(shop: Atlas) -> None:
    before: set[str] = set()
    for budget in (90, 120, 160, 220, 300, 450, 700, 900):
        answer = await hybrid_search(shop, "keep values of the basket in the store", token_budget=budget)
        assert answer.evidence.tokens <= budget or answer.evidence.below_floor
        shown = {hit.symbol.uid for hit in answer.hits}
        shown |= {f"{hit.rank} {text}" for hit in answer.hits for text in hit.same_file}
        shown |= {f"{hit.rank} {line.line}" for hit in answer.hits for line in hit.lines}
        assert before <= shown
        before = shown


async def test_the_first_page_ends_where_hits_fall_behind(shop: Atlas) -> None:
    few = await hybrid_search(shop, "apply_discount")
    assert len(few.hits) <= 3, "one symbol has this name"
    all_hits = await hybrid_search(shop, "apply_discount", limit=50)
    assert len(all_hits.hits) > len(few.hits)
    (left,) = few.evidence.withheld
    assert re.fullmatch(rf"{len(all_hits.hits) - len(few.hits)} weaker hits: ~\d+0 tokens", left)
    rest = await hybrid_search(shop, "apply_discount", cursor=few.evidence.cursor)
    assert names(few) + names(rest) == names(all_hits)[: len(few.hits) + len(rest.hits)]


async def test_matching_lines_are_shown_on_request(shop: Atlas) -> None:
    answer = await hybrid_search(shop, "sum prices of the basket", snippets=True)
    total = next(hit for hit in answer.hits if hit.symbol.name == "total")
    assert [(line.line, line.text) for line in total.lines] == [
        (14, 'return apply_discount(sum(self.store.load("prices")))')
    ]
    assert "   14: return apply_discount" in answer.render()


async def test_words_find_what_no_name_says(shop: Atlas) -> None:
    assert names(await hybrid_search(shop, "sum prices of the basket"))[0] == "shop.cart.Cart.total"


async def test_tests_stand_below_unless_asked_for(shop: Atlas) -> None:
    query = "add up the prices of everything in the basket"
    found = names(await hybrid_search(shop, query, limit=10))
    assert found.index("shop.cart.Cart.total") < found.index("tests.test_cart.test_total")
    assert names(await hybrid_search(shop, f"test that checks the {query}"))[0] == "tests.test_cart.test_total"
    assert "tests.test_cart.test_total" not in names(await hybrid_search(shop, query, include_tests=False))


async def related(shop: Atlas, question: str, **arguments: Any) -> RelationAnswer:
    answer = await hybrid_search(shop, question, **arguments)
    assert isinstance(answer, RelationAnswer), question
    return answer


def ends(answer: RelationAnswer) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(group.path, symbol.name, symbol.lines) for group in answer.files for symbol in group.symbols]


async def test_relations_are_followed_and_nothing_else_is_shown(shop: Atlas) -> None:
    callers = await related(shop, "callers of apply_discount")
    assert (callers.outcome, callers.found) == ("found", 1)
    assert callers.subjects[0].place == "shop/cart.py:20"
    assert ends(callers) == [("shop/cart.py", "Cart.total", (15,))]
    assert [name for _, name, _ in ends(await related(shop, "subclasses of Store"))] == ["MemoryStore"]
    assert [name for _, name, _ in ends(await related(shop, "what does Cart.save call?"))] == ["Store.write"]
    assert [name for _, name, _ in ends(await related(shop, "is Cart.total tested?"))] == ["test_total"]
    assert [path for path, _, _ in ends(await related(shop, "docs for apply_discount"))] == ["docs/guide.md"]
    assert ends(await related(shop, "where is apply_discount defined")) == [("shop/cart.py", "apply_discount", (20,))]


async def test_every_line_of_a_caller_is_listed_and_counted(shop: Atlas) -> None:
    (cart,) = await shop.reader.store.units("shop", ["shop/cart.py"])
    called = ("shop:shop.cart.Cart.total", "shop:shop.cart.apply_discount")
    edges = [edge._replace(further_lines=(17, 40)) if edge[:2] == called else edge for edge in cart.edges]
    assert edges != cart.edges
    await shop.reader.store.apply([replace(cart, edges=edges)])
    callers = await related(shop, "call sites of apply_discount")
    assert ends(callers) == [("shop/cart.py", "Cart.total", (15, 17, 40))]
    assert (callers.found, callers.places) == (1, 3)
    text = callers.render()
    assert "shop/cart.py:20: 1 in 3 lines\n" in text and "Cart.total 15,17,40 (module 0.97)" in text
    assert callers.structure()["lines"] == 3


async def test_a_symbol_of_another_package_is_found_by_its_full_name(shop: Atlas) -> None:
    importers = await related(shop, "importers of json.dumps")
    assert [(path, lines) for path, _, lines in ends(importers)] == [("shop/cart.py", (3,))]


async def paint(shop: Atlas) -> None:
    """Add an interface `Render`, its implementations with a method `Render` each, a package `render`, and values."""
    (model,) = await shop.reader.store.symbols(["shop:shop.store.MemoryStore"])
    kinds = [f"Brush{number}" for number in range(5)]
    rows = [
        (f"art.{kind}{end}", label) for kind in kinds for end, label in (("", Label.CLASS), (".Render", Label.METHOD))
    ]
    rows += [("art.Render", Label.CLASS), ("art.Render.Render", Label.METHOD), ("lib.render", Label.PACKAGE)]
    rows += [(f"art.{kind}.{name}", Label.VALUE) for kind in kinds for name in ("render", "mix")]
    nodes = [
        model.row._replace(
            uid=f"shop:{name}", label=label, kind=label.lower(), name=name.rpartition(".")[2], qualified_name=name
        )
        for name, label in rows
    ]
    edges = [EdgeRow(f"shop:art.{kind}", "shop:art.Render", "INHERITS", 1, "method-set", 0.9) for kind in kinds]
    edges.append(EdgeRow("shop:art.Brush0", "shop:lib.render", "IMPORTS", 1, "import", 0.99))
    place = "lib/render/__init__.py"
    package = [node._replace(path=place) for node in nodes if node.label == Label.PACKAGE]
    art = [node._replace(path="art.py") for node in nodes if node.label != Label.PACKAGE]
    await shop.reader.store.apply([GraphDelta("shop", place, FileRecord(place, "python"), package, [])])
    await shop.reader.store.apply([GraphDelta("shop", "art.py", FileRecord("art.py", "python"), art, edges)])


async def test_a_relation_is_followed_from_what_can_have_it(shop: Atlas) -> None:
    await paint(shop)
    for name in ("Render", "render"):
        found = await related(shop, f"implementations of {name}")
        assert [each.qualified_name for each in found.subjects] == ["art.Render"]
        assert sorted(name for _, name, _ in ends(found)) == [f"Brush{number}" for number in range(5)]
    assert [name for _, name, _ in ends(await related(shop, "who imports render"))] == ["Brush0"]
    assert (await related(shop, "subclasses of Render", labels=["method"])).found == 0


async def test_a_name_of_several_symbols_lists_them(shop: Atlas) -> None:
    await paint(shop)
    found = await related(shop, "callers of Render")
    assert (found.outcome, found.subject_count, found.files) == ("ambiguous", 7, ())
    assert {each.qualified_name for each in found.subjects} >= {"art.Render", "art.Brush0.Render"}
    assert found.counts == (0,) * 7


async def test_a_name_of_nothing_that_can_have_the_relation_says_what_it_is(shop: Atlas) -> None:
    await paint(shop)
    found = await related(shop, "subclasses of mix")
    assert found.outcome == "not_found"
    assert "there is no class of that name, only: value art.Brush0.mix" in found.diagnosis[0]


async def test_a_name_that_leaves_out_a_module_is_found(shop: Atlas) -> None:
    found = await related(shop, "callers of shop.apply_discount")
    assert [each.qualified_name for each in found.subjects] == ["shop.cart.apply_discount"]


async def test_no_callers_and_no_symbol_are_told_apart(shop: Atlas) -> None:
    nobody = await related(shop, "callers of orphan")
    assert (nobody.outcome, nobody.found) == ("found", 0)
    assert any("no resolved callers" in note for note in nobody.evidence.notes)
    unknown = await related(shop, "callers of missing_thing")
    assert (unknown.outcome, unknown.missing) == ("not_found", "missing_thing")


async def test_a_question_about_no_symbol_is_searched_as_text(shop: Atlas) -> None:
    assert isinstance(await hybrid_search(shop, "documentation for discounts"), SearchAnswer)


async def test_scopes_limit_a_relation(shop: Atlas) -> None:
    in_tests = await related(shop, "callers of apply_discount in tests")
    assert in_tests.found == 0
    assert "in tests: 0 of 1" in in_tests.render()
    assert (await related(shop, "callers of apply_discount excluding tests")).found == 1
    assert (await related(shop, "callers of apply_discount in shop.store")).found == 0
    for scope, found in (("shop/", 1), ("shop/cart.py", 1), ("shop/store.py", 0), ("docs/guides", 0)):
        assert (await related(shop, f"callers of apply_discount under {scope}")).found == found, scope
    assert (await related(shop, "callers of apply_discount outside shop/")).found == 0
    assert (await related(shop, "callers of apply_discount outside vendor/")).found == 1
    nowhere = await related(shop, "callers of apply_discount in module nowhere")
    assert any("was not applied" in note for note in nowhere.evidence.notes)


async def test_no_path_and_no_answer_from_the_graph_are_said(shop: Atlas) -> None:
    nowhere = await related(shop, "how does orphan reach apply_discount")
    assert any("no chain of resolved calls" in note for note in nowhere.evidence.notes)
    changed = await hybrid_search(shop, "what changed recently")
    assert isinstance(changed, ReportAnswer) and changed.report.outcome == "no_history"
    routes = await hybrid_search(shop, "which routes exist")
    assert any("no routes in the graph fit" in note for note in routes.evidence.notes)
    untested = await related(shop, "tests for orphan")
    assert any("no resolved tests" in note for note in untested.evidence.notes)


async def test_what_a_change_affects_is_followed_from_caller_to_caller(shop: Atlas) -> None:
    found = await hybrid_search(shop, "what breaks if I change apply_discount")
    assert isinstance(found, ReportAnswer)
    groups = {group.name: [(file.path, file.lines) for file in group.files] for group in found.report.groups}
    assert groups["affected"] == [("shop/cart.py", ("Cart.total 15 (module 0.97)",))]
    assert groups["tests"] == [("tests/test_cart.py", ("test_total < Cart.total",))]
    assert found.report.commands == ("python -m pytest tests/test_cart.py",)
    assert (await related(shop, "is apply_discount unused")).found == 1


async def test_a_path_of_calls_is_found(shop: Atlas) -> None:
    found = await related(shop, "how does test_total reach apply_discount")
    assert [name for _, name, _ in ends(found)] == ["Cart.total", "apply_discount"]


async def test_a_file_that_occurs_at_two_depths_keeps_all_its_edges(shop: Atlas) -> None:
    found = await related(shop, "transitive callers of apply_discount")
    first, *_ = found.files
    twice = replace(found, files=(*found.files, first))
    edges = twice.structure()["relation"]["edges"]  # type: ignore[index]
    assert len(edges[first.path]) == 2 * len(first.symbols)


async def test_a_short_question_may_be_an_identifier(shop: Atlas) -> None:
    assert names(await hybrid_search(shop, "apply discount"))[0] == "shop.cart.apply_discount"


async def test_a_path_finds_its_file(shop: Atlas) -> None:
    assert names(await hybrid_search(shop, "shop/store.py"))[0] == "shop.store"
    assert names(await hybrid_search(shop, "store.py"))[0] == "shop.store"


async def test_filters_restrict(shop: Atlas) -> None:
    assert names(await hybrid_search(shop, "save", path="shop/cart.py"))[0] == "shop.cart.Cart.save"
    classes = await hybrid_search(shop, "keeps values", labels=["class"])
    assert {hit.symbol.kind for hit in classes.hits} == {"class"}
    docs = await hybrid_search(shop, "discount", languages=["Markdown"])
    assert {hit.symbol.place.partition(":")[0] for hit in docs.hits} == {"docs/guide.md"}


async def test_text_search_is_words_only_and_vector_search_meaning_only(shop: Atlas) -> None:
    by_words = await text_search(shop, "basket")
    assert all(hit.channels == ("words",) for hit in by_words.hits)
    assert set(names(by_words)) == {"shop.cart.Cart", "shop.cart.Cart.total", "tests.test_cart.test_total"}
    by_meaning = await vector_search(shop, "regular customers discount")
    assert all(hit.channels == ("meaning",) for hit in by_meaning.hits)


async def test_single_channels_keep_their_own_order(shop: Atlas) -> None:
    query = "sum prices of everything in the basket"
    expected = await shop.reader.store.search_text(
        (await shop.search(query, Filter(project=PROJECT), Mode.WORDS)).query.words, Filter(project=PROJECT), 10
    )
    assert [hit.symbol.uid for hit in (await text_search(shop, query, limit=10)).hits] == [
        each.uid for each in expected
    ]


async def test_a_failing_channel_is_a_note(shop: Atlas) -> None:
    blind = Atlas(replace(shop.reader, embedder=Blind()))
    answer = await hybrid_search(blind, "apply_discount")
    assert names(answer)[0] == "shop.cart.apply_discount"
    assert any("meaning failed: the embedding server does not answer" in note for note in answer.evidence.notes)
    nothing = await vector_search(blind, "apply_discount")
    assert nothing.hits == ()
    assert nothing.evidence.notes


async def test_a_question_the_model_does_not_know_is_a_note(shop: Atlas) -> None:
    answer = await hybrid_search(Atlas(replace(shop.reader, embedder=Unknowing())), "apply_discount")
    assert names(answer)[0] == "shop.cart.apply_discount"
    assert any("known to the embedding model" in note for note in answer.evidence.notes)


async def test_a_quoted_text_finds_what_holds_it(shop: Atlas) -> None:
    """More words of the question stand in other places; the text itself stands in one."""
    found = await hybrid_search(shop, 'sum the prices of everything in the basket: "amount by ten percent"')
    assert names(found)[0] == "shop.cart.apply_discount"
    message = await hybrid_search(shop, "Error: ten percent for regular visitors")
    assert names(message)[0] == "shop.cart.apply_discount"


async def test_words_that_occur_nowhere_are_said_to(shop: Atlas) -> None:
    answer = await hybrid_search(shop, "quaternion interpolation")
    assert any("nothing relevant found" in note for note in answer.evidence.notes)
    assert len(answer.hits) <= 3 and not any(hit.symbol.summary or hit.lines for hit in answer.hits)
    named = await hybrid_search(shop, "the basket of a customer")
    assert not any("nothing relevant" in note for note in named.evidence.notes)


async def test_a_few_plain_words_are_an_identifier_only_if_the_index_has_it(shop: Atlas) -> None:
    where = Filter(project=PROJECT)
    assert (await shop.search("apply discount", where)).query.joined == ("apply_discount", "applydiscount")
    assert (await shop.search("discount basket", where)).query.joined == ()


async def test_hits_of_one_file_stand_beside_its_first(shop: Atlas) -> None:
    answer = await hybrid_search(shop, "keep values in the basket", limit=10)
    places = [hit.symbol.place.partition(":")[0] for hit in answer.hits]
    assert len(set(places)) == len(places)
    (cart,) = (hit for hit in answer.hits if hit.symbol.place.startswith("shop/cart.py"))
    assert "total 12" in cart.same_file
    assert f"   also: {', '.join(cart.same_file)}" in answer.render()
    single = await hybrid_search(replace(shop, reader=replace(shop.reader, ranking=RankingOptions(off=OFF))), "basket")
    assert not any(hit.same_file for hit in single.hits)


@pytest.mark.parametrize("budget", [1, 20, 60, 120, 200, 400, 800, 5000])
async def test_the_budget_holds_for_text_and_structure(shop: Atlas, budget: int) -> None:
    answer = await hybrid_search(shop, "keep values in the basket", token_budget=budget)
    used = tokens_of(shop.reader.counter, answer)
    assert answer.evidence.tokens == used
    assert used <= max(budget, 120)
    assert used <= budget or answer.evidence.below_floor
    if answer.evidence.below_floor:
        assert answer.hits == ()
        assert "too small" in answer.render()


async def test_what_the_budget_withheld_is_said_and_reachable(shop: Atlas) -> None:
    whole = await hybrid_search(shop, "keep values in the basket", token_budget=20_000)
    small = await hybrid_search(shop, "keep values in the basket", token_budget=120)
    assert 0 < len(small.hits) < len(whole.hits)
    left = counted(len(whole.hits) - len(small.hits), "hit")
    assert small.evidence.withheld[0].startswith(f"{left} by token_budget 120 cl100k_base: ~")
    rest = await hybrid_search(shop, "keep values in the basket", token_budget=20_000, cursor=small.evidence.cursor)
    assert names(small) + names(rest) == names(whole)[: len(small.hits)] + names(rest)
    assert names(rest)[0] == names(whole)[len(small.hits)]


async def test_pages_together_are_the_whole_without_doubles(shop: Atlas) -> None:
    whole = names(await hybrid_search(shop, "keep values", limit=50, token_budget=50_000))
    pages: list[str] = []
    cursor = ""
    while True:
        answer = await hybrid_search(shop, "keep values", limit=3, token_budget=50_000, cursor=cursor)
        pages += names(answer)
        cursor = answer.evidence.cursor
        if not cursor:
            break
    assert pages == whole
    assert len(set(pages)) == len(pages)


async def test_ranks_count_through_the_pages(shop: Atlas) -> None:
    first = await hybrid_search(shop, "keep values", limit=1)
    second = await hybrid_search(shop, "keep values", limit=2, cursor=first.evidence.cursor)
    assert [hit.rank for hit in second.hits] == [2, 3]


async def test_a_cursor_after_a_change_is_noted(shop: Atlas) -> None:
    first = await hybrid_search(shop, "keep values", limit=2)
    await shop.reader.store.apply([])
    before = await hybrid_search(shop, "keep values", limit=2, cursor=first.evidence.cursor)
    assert not any("index changed" in note for note in before.evidence.notes)
    manifest = await shop.reader.store.manifest(PROJECT)
    from atlas.core.model import GraphDelta

    await shop.reader.store.apply([GraphDelta(PROJECT, "shop/half.py", replace(manifest["shop/half.py"], lines=9))])
    after = await hybrid_search(shop, "keep values", limit=2, cursor=first.evidence.cursor)
    assert any("index changed" in note for note in after.evidence.notes)


async def test_a_cursor_of_other_filters_is_refused(shop: Atlas) -> None:
    first = await hybrid_search(shop, "keep values", limit=2)
    with pytest.raises(ConfigError, match="another search"):
        await hybrid_search(shop, "keep values", limit=2, labels=["Class"], cursor=first.evidence.cursor)


async def test_changed_and_vanished_files_are_stale(shop: Atlas) -> None:
    path = shop.reader.root / "shop/cart.py"
    path.write_text(path.read_text() + "\n# more\n")
    answer = await hybrid_search(shop, "apply_discount", limit=10)
    assert answer.evidence.freshness == "stale"
    assert answer.evidence.stale == (StaleFile("shop/cart.py", "changed on disk"),)
    (shop.reader.root / "docs/guide.md").unlink()
    both = await hybrid_search(shop, "apply_discount", limit=10)
    assert both.evidence.stale == (
        StaleFile("docs/guide.md", "deleted"),
        StaleFile("shop/cart.py", "changed on disk"),
    )
    assert "stale: docs/guide.md (deleted), shop/cart.py (changed on disk)" in both.render()
    assert both.structure()["stale"] is True


async def test_a_file_known_to_be_stale_waits_for_the_daemon(shop: Atlas) -> None:
    """The record has the size and time of the newer file already, so only the digest tells."""
    path = shop.reader.root / "shop/cart.py"
    record = (await shop.reader.store.records(PROJECT, ["shop/cart.py"]))["shop/cart.py"]
    old = path.read_bytes()
    path.write_bytes(old + b"\n# more\n")
    status = path.stat()
    marked = replace(record, stale=True, size=status.st_size, mtime_ns=status.st_mtime_ns)
    await shop.reader.store.apply([GraphDelta(PROJECT, "shop/cart.py", marked)])
    waiting = await hybrid_search(shop, "apply_discount")
    assert waiting.evidence.stale == (StaleFile("shop/cart.py", "known to be stale: waiting for the daemon"),)
    path.write_bytes(old)
    changed_back = await hybrid_search(shop, "apply_discount")
    assert changed_back.evidence.freshness == "fresh"
    assert changed_back.structure()["stale"] is False
    path.unlink()
    assert (await hybrid_search(shop, "apply_discount")).evidence.stale == (StaleFile("shop/cart.py", "deleted"),)


async def test_a_file_that_may_not_be_read_is_stale(shop: Atlas) -> None:
    path = shop.reader.root / "shop/cart.py"
    path.unlink()
    path.mkdir()
    found = (await hybrid_search(shop, "apply_discount")).evidence.stale
    assert found == (StaleFile("shop/cart.py", "no longer readable"),)


async def test_a_touched_file_is_fresh(shop: Atlas) -> None:
    os.utime(shop.reader.root / "shop/cart.py", (1, 1))
    assert (await hybrid_search(shop, "apply_discount")).evidence.freshness == "fresh"


async def test_without_its_folder_freshness_is_unknown(shop: Atlas) -> None:
    shop.reader.root.rename(shop.reader.root.with_name("moved"))
    assert (await hybrid_search(shop, "apply_discount")).evidence.freshness == "unknown"


async def test_equal_questions_get_equal_bytes(shop: Atlas) -> None:
    first = await hybrid_search(shop, "how are values kept in the basket")
    second = await hybrid_search(shop, "how are values kept in the basket")
    assert first.render() == second.render()
    assert to_dict(first) == to_dict(second)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": ""}, "query is empty"),
        ({"query": " \n\t "}, "query is empty"),
        ({"query": "x", "limit": 0}, "limit must be between 1 and 50"),
        ({"query": "x", "limit": 51}, "limit must be between 1 and 50"),
        ({"query": "x", "token_budget": 0}, "token_budget must be between"),
        ({"query": "x", "labels": ["Klass"]}, "unknown label `Klass`"),
        ({"query": "x", "languages": ["cobol"]}, "no file in language `cobol`"),
        ({"query": "x", "path": "../etc"}, "outside the project"),
        ({"query": "x", "path": "/etc/passwd"}, "outside the project"),
        ({"query": "x", "cursor": "???"}, "cursor is malformed"),
    ],
)
async def test_bad_arguments(shop: Atlas, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        await hybrid_search(shop, **arguments)


async def test_errors_name_what_is_valid(shop: Atlas) -> None:
    with pytest.raises(ConfigError) as wrong_label:
        await hybrid_search(shop, "x", labels=["Klass"])
    assert "Class" in wrong_label.value.hint
    with pytest.raises(ConfigError) as wrong_language:
        await hybrid_search(shop, "x", languages=["cobol"])
    assert "python" in wrong_language.value.hint
    with pytest.raises(NotFound, match="indexed: shop") as wrong_project:
        await hybrid_search(shop, "x", project="shup")
    assert wrong_project.value.near == ("shop",)


async def test_absolute_paths_inside_the_root_are_taken(shop: Atlas) -> None:
    inside = str(shop.reader.root / "docs")
    assert {hit.symbol.kind for hit in (await hybrid_search(shop, "discount", path=inside)).hits} <= {
        "docfile",
        "docsection",
    }


@pytest.mark.parametrize(
    "query",
    [
        "word " * 25_000,
        "the of and",
        "\U0001f600 ü \u202e\ufeff ﷽",
        "\ud800",
        "\0",
        "'\" OR 1=1 --",
        "*",
        'a" NEAR b',
        "(((",
    ],
)
async def test_odd_queries_have_answers(shop: Atlas, query: str) -> None:
    for search in (hybrid_search, text_search, vector_search):
        answer = await search(shop, query)
        assert answer.evidence.tokens <= 2000


async def test_long_queries_are_cut_with_a_note(shop: Atlas) -> None:
    answer = await hybrid_search(shop, "basket " + "x" * 100_000)
    assert any("cut" in note for note in answer.evidence.notes)
    assert len(answer.render()) < 20_000
    report = await hybrid_search(
        shop, "A basket is lost. " + "The total of the basket is wrong after a discount. " * 60
    )
    assert report.hits
    assert any("first 2000 characters" in note for note in report.evidence.notes)
    log = await hybrid_search(shop, "A basket is lost. " + "The total of the basket is wrong after a discount. " * 600)
    assert log.hits
    assert any("cut to its first 20000 of" in note for note in log.evidence.notes)
    short = await hybrid_search(shop, "A basket is lost. " + "The total of the basket is wrong after a discount. " * 10)
    assert not any("characters" in note for note in short.evidence.notes)


async def test_scores_never_rise_down_the_list(shop: Atlas) -> None:
    scores = [hit.score for hit in (await hybrid_search(shop, "keep values in the store")).hits]
    assert scores == sorted(scores, reverse=True)


async def test_rankings_survive_nodes_that_vanish(shop: Atlas) -> None:
    class Forgetful:
        """A store whose word search still knows a node that is gone."""

        def __getattr__(self, name: str) -> object:
            return getattr(shop.reader.store, name)

        async def search_text(self, *arguments: object) -> list[Scored]:
            return [Scored("shop:gone", 9.0)]

    answer = await hybrid_search(Atlas(replace(shop.reader, store=Forgetful())), "apply_discount")
    assert names(answer)[0] == "shop.cart.apply_discount"


async def test_a_first_index_that_is_not_finished_is_said_by_every_answer(tmp_path: Path) -> None:
    """Killed or under way: what is missing in such an answer need not be missing in the project."""
    write_files(tmp_path / "shop")
    store = EmbeddedStore.open(tmp_path / "data", writing=True, vector_index=VectorIndex)
    atlas = open_shop(store, tmp_path / "shop")
    await fill(store, tmp_path / "shop", finish=False)
    for answer in (
        await hybrid_search(atlas, "discount"),
        await get_node(atlas, "Cart.total"),
        await get_node(atlas, "wholly_unheard_of"),
        await get_context(atlas, "Cart.total"),
        await get_context(atlas, "wholly_unheard_of"),
        await hybrid_search(atlas, "discount", path="nowhere/"),
        await cypher_query(atlas, "MATCH (n:Class) RETURN n.name"),
        await schema_info(atlas),
    ):
        assert answer.render().startswith(f"[{PROJECT} @1, first index not finished")
        assert any("first index is incomplete" in note for note in answer.evidence.notes)
        assert not re.search(
            r"vectors match|\d indexed file|nothing else in the index|it may come from", answer.render()
        )
    await store.finish(PROJECT)
    answer = await get_node(atlas, "Cart.total")
    assert "first index" not in answer.render()
    nowhere = await vector_search(atlas, "discount", path="nowhere/")
    assert "no vectors match: none passes the filter" in nowhere.render()
    assert "the project has none yet" not in nowhere.render()
    await store.aclose()
