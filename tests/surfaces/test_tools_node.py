"""get_node and get_context: how names are resolved, what absence means, what a context holds under which budget."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest

from atlas.answers.assemble import tokens_of
from atlas.answers.evidence import StaleFile
from atlas.code.atlas import Atlas
from atlas.code.graph.absence.proof import prove_none
from atlas.code.question.relation_kinds import Kind
from atlas.code.tools.symbol.node import get_context, get_node
from atlas.code.tools.symbol.symbol_answers import ContextAnswer
from atlas.code.tools.symbol.symbols import NeighbourSection
from atlas.core.errors import ConfigError
from atlas.core.model import EdgeRow, Filter, GraphDelta, Match, Node

from .shop import FILES, PROJECT


def section(answer: ContextAnswer, kind: str) -> NeighbourSection:
    return next(section for section in answer.sections if section.kind == kind)


def uids(part: NeighbourSection) -> list[str]:
    return [each.uid.removeprefix("shop:") for each in part.neighbours]


@pytest.mark.parametrize(
    ("written", "how", "expected"),
    [
        ("shop:shop.cart.Cart.total", "uid", "shop.cart.Cart.total"),
        ("shop.cart.Cart.total", "exact", "shop.cart.Cart.total"),
        ("Cart.total", "suffix", "shop.cart.Cart.total"),
        ("total", "suffix", "shop.cart.Cart.total"),
        ("`Cart.total()`", "suffix", "shop.cart.Cart.total"),
        ("Cart::total", "suffix", "shop.cart.Cart.total"),
        ("Cart#total", "suffix", "shop.cart.Cart.total"),
        ("cart.TOTAL", "folded", "shop.cart.Cart.total"),
        ("shop/cart.py:14", "place", "shop.cart.Cart.total"),
        ("./shop/cart.py:21", "place", "shop.cart.apply_discount"),
        ("shop/cart.py:2", "place", "shop.cart"),
        ("shop/cart.py", "path", "shop.cart"),
        ("docs/guide.md", "exact", "docs/guide.md"),
        ("apply_discount", "suffix", "shop.cart.apply_discount"),
        ("Discounts", "suffix", "docs/guide.md#discounts"),
    ],
)
async def test_names_are_resolved(shop: Atlas, written: str, how: str, expected: str) -> None:
    answer = await get_node(shop, written)
    assert answer.node is not None, answer.lookup
    assert answer.node.symbol.qualified_name == expected
    assert answer.lookup.outcome == "found"
    assert answer.lookup.how == how


async def test_node_has_its_details(shop: Atlas) -> None:
    node = (await get_node(shop, "Cart.total")).node
    assert node is not None
    assert (node.label, node.language, node.start_line, node.end_line) == ("Method", "python", 12, 14)
    assert dict(node.degrees) == {"callers": 1, "callees": 2, "tests": 1}
    assert node.docstring == "Sum the prices of everything in the basket."


async def test_ambiguous_names_list_candidates_and_pick_none(shop: Atlas) -> None:
    answer = await get_node(shop, "save")
    assert answer.node is None
    assert answer.lookup.outcome == "ambiguous"
    assert {each.uid for each in answer.lookup.candidates} == {"shop:shop.cart.Cart.save", "shop:shop.store.save"}
    assert all(each.place and each.signature and each.kind for each in answer.lookup.candidates)


async def test_path_and_label_narrow_an_ambiguous_name(shop: Atlas) -> None:
    by_path = await get_node(shop, "save", path="shop/store.py")
    by_label = await get_node(shop, "save", label="Method")
    assert by_path.node is not None and by_path.node.symbol.qualified_name == "shop.store.save"
    assert by_label.node is not None and by_label.node.symbol.qualified_name == "shop.cart.Cart.save"


async def test_case_decides_before_the_folded_name(shop: Atlas) -> None:
    answer = await get_node(shop, "Cart")
    assert answer.node is not None
    assert answer.node.symbol.kind == "class"


async def test_declarations_are_noted_not_ambiguous(shop: Atlas) -> None:
    answer = await get_node(shop, "apply_discount")
    assert answer.evidence.notes == ("also declared at shop/cart.pyi:1",)


async def test_symbols_of_other_packages_only_when_nothing_else_is_meant(shop: Atlas) -> None:
    answer = await get_node(shop, "dumps")
    assert answer.node is not None
    assert answer.node.label == "ExternalSymbol"


async def test_misspelt_names_get_near_ones(shop: Atlas) -> None:
    answer = await get_node(shop, "aply_discount")
    assert answer.lookup.outcome == "not_found"
    assert "shop:shop.cart.apply_discount" in {each.uid for each in answer.lookup.near}


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("shop.secrets.KEY", "`shop/secrets.py` is not indexed: secret"),
        ("shop/secrets.py", "`shop/secrets.py` is not indexed: secret"),
        ("shop.half.broken", "`shop/half.py` could only be parsed in part: 1: syntax"),
        ("shop/cart.py:9999", "`shop/cart.py` is indexed"),
        ("docs/guide.md#prices", "`docs/guide.md` is indexed (5 lines)"),
        ("prices", "`prices` occurs in"),
        ("prices<int>", "`prices` occurs in"),
        ("wholly_unheard_of", "nothing in the 6 indexed files mentions it"),
        ("regular customers", "`search` finds single words"),
        ("regular-customers", "`search` finds single words"),
        ("%", "`search` finds single words"),
        ("_", "`search` finds single words"),
        ("shop/card.py", "none of the 6 indexed and 2 skipped files and folders is `shop/card.py`"),
        ("card.py", "none of the 6 indexed and 2 skipped files and folders is `card.py`"),
        ("card.py:12", "none of the 6 indexed and 2 skipped files and folders is `card.py`"),
        ("card.py:12-15", "none of the 6 indexed and 2 skipped files and folders is `card.py`"),
        ("other/cart.py", "files of that name: shop/cart.py"),
        ("docs", "`docs` is a folder (indexed files: 1);"),
        ("../../etc/passwd", "`../../etc/passwd` is not below the project's root"),
        ("/etc/passwd:3", "`/etc/passwd` is not below the project's root"),
    ],
)
async def test_absence_is_explained(shop: Atlas, written: str, part: str) -> None:
    answer = await get_node(shop, written)
    assert answer.lookup.outcome == "not_found"
    assert part in " | ".join(answer.lookup.diagnosis)
    assert part in answer.render()


@pytest.mark.parametrize("name", ["/etc/passwd", "shop/prices", "regular customers", "shop.secrets", "shop/prices.py"])
async def test_what_is_only_in_part_mentioned_is_not_said_to_be_mentioned(shop: Atlas, name: str) -> None:
    """`prices`, `regular` and `shop` all stand in the text of symbols."""
    diagnosis = " | ".join((await get_node(shop, name)).lookup.diagnosis)
    assert diagnosis
    assert "mention" not in diagnosis


@pytest.mark.parametrize(
    ("label", "path", "asked"),
    [
        ("Function", "", "label Function"),
        ("", "tests/", "path tests/"),
        ("Function", "tests/", "label Function and path"),
    ],
)
async def test_what_only_the_filter_leaves_out_is_said_to_be_there(
    shop: Atlas, label: str, path: str, asked: str
) -> None:
    for answer in (
        await get_node(shop, "Cart.total", label=label, path=path),
        await get_context(shop, "Cart.total", label=label, path=path),
    ):
        assert answer.lookup.outcome == "not_found"
        (only,) = answer.lookup.diagnosis
        assert only.startswith(f"it exists, but not with {asked}")
        assert only.endswith("Method `shop.cart.Cart.total` shop/cart.py:12")
    several = await get_node(shop, "save", label="Class")
    assert several.lookup.diagnosis[0].endswith(" (the first of 2)")


async def test_a_beginning_offers_the_names_that_begin_so(shop: Atlas) -> None:
    answer = await get_node(shop, "shop.store.Mem")
    assert [each.uid for each in answer.lookup.near] == ["shop:shop.store.MemoryStore"]
    assert not (await get_node(shop, "Me")).lookup.near


@pytest.mark.parametrize("name", ["", "  ", "\n", "`", "' '"])
async def test_empty_names_are_refused(shop: Atlas, name: str) -> None:
    with pytest.raises(ConfigError, match="name is empty"):
        await get_node(shop, name)


@pytest.mark.parametrize(
    "name", ["\ud800", "\0", "x" * 100_000, "a." * 50_000, "::::", "...", ":", "`a", "%_*?", "../x:1"]
)
async def test_odd_names_are_not_found(shop: Atlas, name: str) -> None:
    for tool in (get_node, get_context):
        answer = await tool(shop, name)
        assert answer.lookup.outcome == "not_found"
        assert answer.evidence.tokens <= 4000


async def test_context_has_source_parents_and_edges(shop: Atlas) -> None:
    answer = await get_context(shop, "Cart.total")
    assert answer.source is not None
    assert answer.source.text.splitlines()[0] == "    def total(self) -> int:"
    assert (answer.source.start_line, answer.source.end_line, answer.source.last_line) == (12, 14, 14)
    assert [parent.qualified_name for parent in answer.parents] == ["shop.cart.Cart", "shop.cart", "shop"]
    assert uids(section(answer, "callees")) == ["shop.cart.apply_discount", "shop.store.Store.load"]
    (caller,) = section(answer, "callers").neighbours
    assert (caller.at, caller.strategy, caller.confidence) == ("tests/test_cart.py:6", "constructor", 0.95)
    callee = section(answer, "callees").neighbours[0]
    assert (callee.at, callee.place) == ("shop/cart.py:15", "shop/cart.py:20")
    assert uids(section(answer, "tests")) == ["tests.test_cart.test_total"]


async def test_context_of_classes_and_overrides(shop: Atlas) -> None:
    store = await get_context(shop, "Store")
    assert uids(section(store, "subclasses")) == ["shop.store.MemoryStore"]
    assert uids(section(store, "members")) == ["shop.store.Store.load", "shop.store.Store.write"]
    assert uids(section(await get_context(shop, "MemoryStore"), "bases")) == ["shop.store.Store"]
    assert uids(section(await get_context(shop, "Store.load", path="shop/store.py"), "overridden_by")) == [
        "shop.store.MemoryStore.load"
    ]


async def test_context_of_modules_has_imports(shop: Atlas) -> None:
    answer = await get_context(shop, "shop/cart.py")
    assert uids(section(answer, "imports")) == ["shop.store.Store", "ext:json.dumps"]
    assert uids(section(answer, "members")) == ["shop.cart.Cart", "shop.cart.apply_discount", "shop.cart.orphan"]


async def test_context_of_documented_symbols(shop: Atlas) -> None:
    docs = section(await get_context(shop, "apply_discount"), "docs")
    assert docs.neighbours[0].at == "docs/guide.md:5"


async def test_no_callers_means_none_or_unknown(shop: Atlas) -> None:
    nobody = await get_context(shop, "orphan")
    assert any("nothing else in the index mentions `orphan`" in note for note in nobody.evidence.notes)
    # another method has the name, and nothing but its definition has it
    again = await get_context(shop, "shop.store.save")
    assert any("account for each line with `save`" in note for note in again.evidence.notes)
    override = await get_context(shop, "MemoryStore.load")
    assert any("unknown rather than none" in note and "shop/cart.py:14" in note for note in override.evidence.notes)
    store = shop.reader.store
    (row,) = [node.row for node in await store.find("shop.cart.orphan", Match.EXACT, Filter(project=PROJECT), 1)]
    odd = row._replace(qualified_name="it does more", name="it does more")
    absence = await prove_none(shop.reader, [Node(PROJECT, odd)], Kind.CALLERS)
    assert not absence.is_proven and "is not a single word" in absence.sentence
    known = await get_context(shop, "Cart.total")
    assert not any("no resolved callers" in note for note in known.evidence.notes)


async def test_source_is_the_indexed_one_and_said_to_be_stale(shop: Atlas) -> None:
    path = shop.reader.root / "shop/cart.py"
    path.write_text("# rewritten\n")
    answer = await get_context(shop, "Cart.total")
    assert answer.source is not None and answer.source.text in FILES["shop/cart.py"]
    assert StaleFile("shop/cart.py", "changed on disk") in answer.evidence.stale
    assert answer.evidence.freshness == "stale"


@pytest.mark.parametrize("budget", [1, 50, 100, 150, 200, 300, 500, 1000, 5000])
@pytest.mark.parametrize("name", ["Cart", "save", "nothing_of_this_name", "shop/cart.py"])
async def test_the_budget_holds(shop: Atlas, name: str, budget: int) -> None:
    for tool in (get_node, get_context):
        answer = await tool(shop, name, token_budget=budget)
        used = tokens_of(shop.reader.counter, answer)
        assert answer.evidence.tokens == used
        assert used <= budget or answer.evidence.below_floor
        assert used <= max(budget, 120)


async def test_a_larger_budget_never_shows_less(shop: Atlas) -> None:
    shown = []
    for budget in range(150, 1000, 25):
        answer = await get_context(shop, "Cart", token_budget=budget)
        lines = answer.source.text.count("\n") + 1 if answer.source else 0
        shown.append(lines + sum(len(part.neighbours) for part in answer.sections))
    assert shown == sorted(shown)


async def test_what_the_budget_cut_is_said(shop: Atlas) -> None:
    small = await get_context(shop, "shop/cart.py", token_budget=250)
    assert small.source is not None
    assert small.source.end_line < small.source.last_line
    (withheld,) = small.evidence.withheld
    assert re.search(
        rf"source from line {small.source.end_line + 1} to {small.source.last_line} \(~\d+0 tokens\)", withheld
    )
    assert re.search(r"\d+ of \d+ \w+ \(~\d+0 tokens\)", withheld)
    whole = await get_context(shop, "shop/cart.py", token_budget=5000)
    assert whole.evidence.withheld == ()


async def test_the_source_ends_at_the_border_of_a_statement(shop: Atlas) -> None:
    ends: set[int] = set()
    for budget in range(150, 700, 10):
        answer = await get_context(shop, "shop/cart.py", token_budget=budget)
        if answer.source is not None and answer.source.end_line < answer.source.last_line:
            ends.add(answer.source.end_line)
            ast.parse(answer.source.text if not answer.source.text.endswith(":") else f"{answer.source.text} ...")
    assert len(ends) > 3


async def test_totals_count_what_is_not_listed(shop: Atlas) -> None:
    store = shop.reader.store
    manifest = await store.manifest(PROJECT)
    nodes = [(await store.symbols(["shop:tests.test_cart"]))[0].row]
    nodes += [nodes[0]._replace(uid=f"shop:tests.t{n}", qualified_name=f"tests.t{n}", name=f"t{n}") for n in range(300)]
    edges = [EdgeRow(f"shop:tests.t{n}", "shop:shop.cart.orphan", "CALLS", 1, "import", 0.9) for n in range(300)]
    record = replace(manifest["tests/test_cart.py"], unit_digest="f" * 32)
    await store.apply([GraphDelta(PROJECT, "tests/test_cart.py", record, nodes, edges)])
    answer = await get_context(shop, "orphan", token_budget=1000)
    callers = section(answer, "callers")
    assert callers.total == 300
    assert 5 < len(callers.neighbours) < 100
    assert f"{300 - len(callers.neighbours)} of 300 callers" in answer.evidence.withheld[0]
