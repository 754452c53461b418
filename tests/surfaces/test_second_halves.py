"""Second halves that inherit a verb or speak of each place, choices among classes, acts with a function, and traces."""

from __future__ import annotations

import pytest

from atlas.answers.evidence import LINES_HEADING
from atlas.code.atlas import Atlas
from atlas.code.question.grammar import find_relation
from atlas.code.question.relation_kinds import Kind
from atlas.code.question.requests.ends import PathEnds, read_path_ends
from atlas.code.question.requests.several import read_requests
from atlas.code.question.unaccounted import find_unaccounted
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "shop/__init__.py": "",
    "shop/store.py": (
        "from shop.disk import put_row, put_rows\n\n\nclass Store:\n    def keep(self, item):\n        put_row(item, 'kept')\n\n"
        "    def keep_all(self, items):\n        put_rows(items)\n\n    def any_item(self):\n        return self.next_item()\n\n"
        "    def next_item(self):\n        return 2\n\n\ndef third(store: Store):\n    return store.next_item()\n"
    ),
    "shop/disk.py": "def put_row(item, kind):\n    return item\n\n\ndef put_rows(items):\n    return items\n",
    "shop/other.py": (
        "from shop.disk import put_row\n\n\ndef archive(item):\n    put_row(item, 'archived')\n\n\n"
        "def archive_late(item):\n    put_row(item, kind='late')\n"
    ),
    "shop/queue.py": (
        "class Sender:\n    pass\n\n\nclass FastSender(Sender):\n    pass\n\n\nclass SlowSender(Sender):\n    pass\n\n\n"
        "def make_sender(settings):\n    if settings.hurry:\n        return FastSender()\n    return SlowSender()\n\n\n"
        "class Printer:\n    pass\n\n\nclass Laser(Printer):\n    pass\n"
    ),
    "shop/rules.py": (
        "def state_of(order):\n    return order\n\n\ndef list_open(order):\n    return state_of(order)\n\n\n"
        "def list_late(order):\n    return state_of(order)\n\n\ndef count_open(order):\n    return state_of(order)\n\n\n"
        "def count_late(order):\n    return state_of(order)\n\n\ndef send_late(order):\n    return state_of(order)\n"
    ),
    "shop/way.py": (
        "class Request:\n    def end(self):\n        return 1\n\n\nclass Session:\n    def end(self):\n        return 2\n\n\n"
        "def outer_step(value):\n    return middle_step(value, mode='strict')\n\n\n"
        "def middle_step(value, mode):\n    return inner_step(\n        value,\n        mode=mode,\n    )\n\n\n"
        "def inner_step(value, mode):\n    return value\n"
    ),
    "src/Tally.cs": (
        "namespace Shop\n{\n    public class Tally\n    {\n        public Tally(int count)\n        {\n        }\n    }\n\n"
        "    public class Sum\n    {\n        public int Total()\n        {\n            var tally = new Tally(1);\n"
        "            return 1;\n        }\n    }\n\n    public class FineTally : Tally\n    {\n"
        "        public FineTally() : base(2)\n        {\n        }\n    }\n}\n"
    ),
    "src/Keys.cs": (
        'namespace Shop\n{\n    public static class Keys\n    {\n        public const string Rank = "rank";\n    }\n\n'
        "    public class RankMark\n    {\n        public void Apply(Bag bag)\n        {\n            bag.Put(Keys.Rank, 1);\n"
        "        }\n    }\n\n    public class Bag\n    {\n        public void Put(string key, int value)\n        {\n        }\n\n"
        "        public int Read(string key)\n        {\n            return 0;\n        }\n    }\n\n"
        "    public class ParcelSorter\n    {\n        public int SortParcels(Bag bag)\n        {\n"
        "            return bag.Read(Keys.Rank);\n        }\n    }\n}\n"
    ),
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("who calls put_row and who put_rows?", ["who calls put_row", "who calls put_rows"]),
        (
            "where is Store.keep called, and where Store.next_item?",
            ["where is Store.keep called", "where is Store.next_item called"],
        ),
        (
            "Which methods of Store write through put_row, and which through put_rows?",
            ["Which methods of Store write through put_row", "Which methods of Store write through put_rows"],
        ),
    ],
)
def test_a_second_name_without_a_verb_has_that_of_the_first(asked: str, parts: list[str]) -> None:
    several = read_requests(asked)
    assert several is not None and [each.text for each in several.requests] == parts


async def test_both_names_are_answered(atlas: Atlas) -> None:
    answer = await said(atlas, "Which methods of Store write through put_row, and which through put_rows?")
    answer = answer.partition(LINES_HEADING)[0]
    assert "Store.keep 6" in answer and "Store.keep_all 9" in answer and "archive" not in answer


@pytest.mark.parametrize(
    ("asked", "kept", "left_out"),
    [
        ("which methods of the Store persist with put_row", ("callers", "in Store: 1 of 3", "Store.keep 6"), "archive"),
        ("Which functions decide on state_of?", ("callers of function shop.rules.state_of", ": 5"), "hits"),
        ("which methods of Store go through next_item", ("in Store: 1 of 2", "Store.any_item 12"), "third"),
        ("which methods of Store call Store.next_item", ("Store.any_item 12",), "Store.keep"),
    ],
)
async def test_an_act_with_a_function_asks_for_its_callers(
    atlas: Atlas, asked: str, kept: tuple[str, ...], left_out: str
) -> None:
    answer = (await said(atlas, asked)).partition(LINES_HEADING)[0]
    assert all(part in answer for part in kept) and left_out not in answer, answer


async def test_a_verb_that_is_no_relation_is_said_to_be_left_out(atlas: Atlas) -> None:
    answer = await said(atlas, "which methods of the Store persist with put_row")
    assert answer.count("`persist`") == 1 and "not taken into account: `persist`" in answer


async def test_an_act_with_a_class_is_searched(atlas: Atlas) -> None:
    assert "callers of" not in await said(atlas, "which functions resemble FastSender")


@pytest.mark.parametrize(
    "asked",
    [
        "Where is put_row used, and which kind does each place give?",
        "who calls put_row and what do they say of the kind",
    ],
)
async def test_what_is_asked_of_each_place_is_its_line(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "put_row(item, 'kept')" in answer and "put_row(item, kind='late')" in answer
    assert "2)" not in answer and "not answered" not in answer


async def test_a_line_does_not_say_why(atlas: Atlas) -> None:
    answer = await said(atlas, "who calls put_row and why do they need it?")
    assert "put_row(item, 'kept')" in answer and 'not answered: "why do they need it"' in answer


def test_a_relation_of_each_place_is_a_part_of_its_own() -> None:
    several = read_requests("who calls put_row and which tests cover them?")
    assert several is not None and len(several.requests) == 2


@pytest.mark.parametrize(
    "asked",
    [
        "Which classes derive from Sender and what makes the shop pick one over another?",
        "what extends Sender, and how is one of them chosen?",
    ],
)
async def test_what_makes_several_classes_tells_which_is_taken(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "FastSender 5" in answer and "functions that make several of these: 1" in answer
    assert "make_sender 15,16: 14: if settings.hurry: > return FastSender() | return SlowSender()" in answer


async def test_what_chooses_among_classes_is_not_made_up(atlas: Atlas) -> None:
    answer = await said(atlas, "Which classes derive from Printer and what makes the shop pick one over another?")
    assert "Laser" in answer and "not answered:" in answer and "functions that make" not in answer


@pytest.mark.parametrize(
    "asked",
    [
        "If I alter the rules in state_of, which functions change behaviour?",
        "which of our functions behave differently if I tweak state_of?",
    ],
)
async def test_changed_behaviour_is_impact(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert answer.count("shop/rules.py") == 2 and all(f" {line}" in answer for line in (6, 10, 14, 18, 22)), answer


async def test_a_card_lists_the_callers_that_are_likely_meant(atlas: Atlas) -> None:
    answer = await said(atlas, "Tell me which functions trust state_of at all, even when an order came in late")
    assert "called by 5: list_open 6, list_late 10, count_open 14, count_late 18, send_late 22" in answer
    other = await said(atlas, "Tell me what state_of trusts at all, even when an order came in late")
    assert "called by 5: list_open 6, list_late 10, count_open 14 +2" in other


@pytest.mark.parametrize(
    "asked", ["What test tallies are derived from Tally?", "which unit test classes derive from Tally"]
)
async def test_a_kind_of_things_is_no_second_relation(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "subclasses of class Shop.Tally src/Tally.cs:3: 1" in answer and "FineTally" in answer


def test_a_relation_behind_the_name_is_one() -> None:
    text = "which tests verify Store inheritance"
    found = find_relation(text)
    assert found is not None and find_unaccounted(text, found).has_other_relation


async def test_a_class_and_its_constructor_are_one_symbol(atlas: Atlas) -> None:
    answer = await said(atlas, "Does the shop still make use of the non-generic Tally class?")
    assert "usages of class Shop.Tally src/Tally.cs:3" in answer and "Sum.Total 14" in answer
    assert "symbols are called" not in answer and "not taken into account: `non-generic`" in answer


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        ("How does a value end up in inner_step? Trace it from outer_step.", PathEnds("outer_step", "inner_step")),
        ("how is it handed to inner_step? follow the calls from outer_step", PathEnds("outer_step", "inner_step")),
        ("How does it end up in inner_step and middle_step? Trace it from outer_step.", None),
        ("How does it end up in inner_step? It comes from outer_step.", None),
    ],
)
def test_a_way_begins_where_another_sentence_says(asked: str, ends: PathEnds | None) -> None:
    assert read_path_ends(asked) == ends


async def test_steps_of_a_way_come_with_their_source(atlas: Atlas) -> None:
    answer = await said(atlas, "How does a value end up in inner_step? Trace it from outer_step.")
    assert "middle_step 12 (same-module 0.99): return middle_step(value, mode='strict')" in answer
    assert "return inner_step( value, mode=mode, )" in answer


async def test_plain_words_beside_a_certain_name_are_no_symbols(atlas: Atlas) -> None:
    answer = await said(atlas, "How does what a request handler end with get into inner_step?")
    assert "symbols are called `end`" not in answer and "function inner_step" in answer


async def test_a_constant_that_both_sides_use_is_named_where_no_call_leads_on(atlas: Atlas) -> None:
    answer = await said(atlas, "How does RankMark influence the sort of parcels? Follow it.")
    assert "no call leads on, but both use one name, which may be the way: RankMark.Apply uses `Keys.Rank`" in answer
    assert "so does ParcelSorter.SortParcels src/Keys.cs:" in answer
    assert "no call leads on" not in await said(atlas, "How does RankMark influence the colour of letters?")


def test_impact_needs_a_change() -> None:
    found = find_relation("If I alter the rules in state_of, which functions change behaviour?")
    assert found is not None and found.kind is Kind.IMPACT
