"""Second halves of questions that are about what the first half finds, and how deep an impact is followed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.impact import impact
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "shop/__init__.py": "",
    "shop/storage.py": (
        "class Storage:\n    def put(self, key):\n        return key\n\n\n"
        "class DiskStorage(Storage):\n    def put(self, key):\n        return 1\n\n\n"
        "class RamStorage(Storage):\n    pass\n\n\n"
        "class OldStorage(Storage):\n    def get(self, key):\n        return 2\n\n\n"
        "class Other:\n    def put(self, key):\n        return 3\n"
    ),
    "shop/chain.py": (
        "".join(f"def step_{one}():\n    return step_{two}()\n\n\n" for one, two in pairwise("abcdef"))
        + "def step_f():\n    return 1\n\n\n"
        + "def wide():\n    return 2\n\n\ndef near():\n    return wide()\n\n\ndef middle():\n    return near()\n\n\n"
        + "def last():\n    return middle()\n\n\n"
        + "".join(f"def user_{at}():\n    return last()\n\n\n" for at in range(9))
    ),
    "Sources/Shop/Failure.swift": (
        'protocol Failure {\n    var reason: String { get }\n}\n\nstruct Lost: Failure {\n    var reason = "lost"\n}\n\n'
        'struct Late {}\n\nextension Late: Failure {\n    var reason: String { "late" }\n}\n\n'
        'extension DecodingError: Failure {\n    var reason: String { "decoding" }\n}\n\n'
        "extension Failure {\n    var code: Int { 1 }\n}\n"
    ),
    "tests/test_chain.py": "from shop.chain import step_a\n\n\ndef test_step():\n    assert step_a() == 1\n",
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    "asked",
    [
        "List the classes that refine Storage, and say which of them define their own put.",
        "Which classes extend Storage and which of those override put?",
        "list the subclasses of Storage; which ones have their own put method?",
        "What derives from Storage, and which of them implement put themselves?",
    ],
)
async def test_members_are_told_of_the_classes_that_the_first_half_finds(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "subclasses of class shop.storage.Storage shop/storage.py:1: 3\n" in answer, answer
    assert "DiskStorage 6 (same-module 0.99): own `put` 7" in answer
    assert "RamStorage 11 (same-module 0.99): no `put` of its own" in answer
    assert "OldStorage 15 (same-module 0.99): no `put` of its own" in answer
    assert "1 of 3 define `put` of their own; shop.storage.Storage.put shop/storage.py:2 is what the rest" in answer
    assert "Other" not in answer and "2)" not in answer


async def test_classes_are_listed_alone_where_nothing_has_the_member(atlas: Atlas) -> None:
    answer = await said(atlas, "Which classes extend Storage and which of those override vanish?")
    assert "of its own" not in answer and "of their own" not in answer, answer


@pytest.mark.parametrize(
    "asked",
    [
        "I want to change step_f. Which code calls it, and which functions are affected through those callers?",
        "who calls step_f, and what else breaks because of those calls?",
    ],
)
async def test_what_is_affected_through_callers_is_an_impact(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "1) " in answer and "step_e 18 " in answer, answer
    assert "impact of function shop.chain.step_f" in answer
    assert "step_d 14 " in answer and "step_a 2 " in answer
    assert "guess" not in answer and "not answered" not in answer


async def test_an_impact_goes_on_through_levels_of_few_symbols(atlas: Atlas) -> None:
    answer = (await impact(atlas, "step_f")).render()
    assert "step_a 2 (same-module 0.99) [5]" in answer, answer
    assert "tests/test_chain.py: test_step" in answer and "cut at" not in answer


async def test_an_impact_says_where_it_is_cut_and_what_comes_behind(atlas: Atlas) -> None:
    answer = (await impact(atlas, "wide")).render()
    assert "last 38 (same-module 0.99) [3]" in answer and "user_0" not in answer, answer
    assert "note: cut at depth 3: 9 more symbols at depth 4; depth=4 lists them" in answer
    deeper = (await impact(atlas, "wide", depth=4)).render()
    assert "user_8" in deeper and "cut at" not in deeper
    nearer = (await impact(atlas, "step_f", depth=2)).render()
    assert "note: cut at depth 2: 1 more symbol at depth 3; depth=3 lists them" in nearer and "[3]" not in nearer


async def test_indirect_callers_say_what_lies_behind_the_last_level(atlas: Atlas) -> None:
    answer = await said(atlas, "all direct and indirect callers of wide")
    assert "note: cut at depth 3: 9 more symbols at depth 4" in answer, answer
    whole = await said(atlas, "all direct and indirect callers of step_c")
    assert "cut at" not in whole and "step_a" in whole, whole


async def test_an_extension_of_a_type_of_another_package_may_be_a_further_implementation(atlas: Atlas) -> None:
    answer = await said(atlas, "types inside Sources/Shop that conform to Failure")
    assert "implementations of interface Failure Sources/Shop/Failure.swift:1 in Sources/Shop: 2" in answer, answer
    assert "Late 9,11" in answer and "Lost 5" in answer
    line = "Sources/Shop/Failure.swift:15 `extension DecodingError: Failure`"
    assert f"at least: 1 more line may be such, without an edge: {line}" in answer
