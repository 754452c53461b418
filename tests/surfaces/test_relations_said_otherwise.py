"""Relations of a name with its arity, of a decorator, of what a statement before the question is about."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.question.grammar import find_relation
from atlas.code.question.relation_kinds import Kind
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "lib/shop.ex": (
        "defmodule Shop do\n  def pack_mode do\n    :slow\n  end\n\n  def send(order, how) do\n    {order, how}\n  end\nend\n"
    ),
    "lib/orders.ex": (
        "defmodule Orders do\n  def first(order) do\n    Shop.send(order, Shop.pack_mode())\n  end\n\n"
        "  def second(order) do\n    Shop.send(order, :fast)\n  end\nend\n"
    ),
    "shop/__init__.py": "",
    "shop/base.py": (
        "class Base:\n    mode = None\n\n    def load(self):\n        return 1\n\n    def save(self):\n        return 2\n\n\n"
        "class Middle(Base):\n    def load(self):\n        return 3\n\n    def check(self):\n        return 4\n\n\n"
        "class Lowest(Middle):\n    def load(self):\n        return 5\n\n    def mode(self):\n        return 6\n\n"
        "    def check(self):\n        return 7\n\n    def own(self):\n        return 8\n\n\n"
        "class Alone(Base):\n    def other(self):\n        return 9\n"
    ),
    "shop/outer.py": (
        "from library import Program\n\n\nclass Kiosk(Program):\n    def print_all(self):\n        super().print_all()\n\n"
        "    def sell(self):\n        return super().price()\n\n\ndef start():\n    return Program()\n"
    ),
    "shop/wrapped.py": (
        "def opens(method):\n    return method\n\n\nclass Line:\n    @opens\n    def run(self):\n        return self.key()\n\n"
        "    def key(self):\n        return 1\n\n\n@opens\ndef apart():\n    return 2\n"
    ),
    "two/start.py": "from library import Program\n\n\ndef begin():\n    return Program()\n",
    "one/part.py": "from shop.base import Base\n\n\nclass Part(Base):\n    def save(self):\n        return 1\n",
    "shop/plugins.py": (
        "from typing import Protocol\n\n\nclass Runner(Protocol):\n    def __init__(self): ...\n\n    def run_all(self): ...\n\n"
        "    def stop(self): ...\n\n\nclass Empty(Protocol):\n    def nothing_has_this(self): ...\n"
    ),
    "shop/runners.py": (
        "class Serial:\n    def run_all(self):\n        return 1\n\n    def stop(self):\n        return 2\n\n\n"
        "class Half:\n    def run_all(self):\n        return 1\n"
    ),
    "shop/groups.py": (
        "class Group:\n    def __init__(self, groups):\n        self.groups = groups\n\n    def extended(self):\n"
        "        return [each.extended() for each in self.groups]\n\n    def names(self):\n        return self.extended()\n"
    ),
    "two/part.py": "from shop.base import Base\n\n\nclass Part(Base):\n    def load(self):\n        return 1\n",
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


async def test_a_class_need_not_name_a_protocol(atlas: Atlas) -> None:
    answer = await said(atlas, "what implements the Runner protocol?")
    assert "unknown" in answer and "classes with its methods (run_all, stop): Serial shop/runners.py" in answer, answer
    assert "Half" not in answer and "none\n" not in answer, answer
    answer = await said(atlas, "what implements the Empty protocol?")
    assert "unknown" in answer and "no other class has its methods (nothing_has_this)" in answer, answer


async def test_usages_of_a_method_name_the_calls_that_no_rule_resolves(atlas: Atlas) -> None:
    answer = await said(atlas, "I plan to rename Group.extended. Which code uses it?")
    assert "Group.names 9" in answer and "shop/groups.py:6" in answer, answer


@pytest.mark.parametrize("asked", ["call sites of Shop.pack_mode/0", "invocations of Shop.pack_mode/0"])
async def test_the_arity_is_no_part_of_a_name(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "callers of method Shop.pack_mode lib/shop.ex:2: 1" in answer and "Orders.first 3" in answer, answer


async def test_the_arity_of_a_name_that_nothing_has(atlas: Atlas) -> None:
    assert "no symbol `Shop.unpack" in await said(atlas, "call sites of Shop.unpack/0")


@pytest.mark.parametrize(
    ("asked", "named", "others"),
    [
        ("which methods does Lowest override?", (": 3", "Lowest.load 20", "Lowest.mode 23", "check 26"), ("own",)),
        ("Lowest extends Base - which Base methods does it override?", ("those of Base: 2", "load 20"), ("check",)),
        ("which methods of Base does Lowest override?", ("those of Base: 2", "mode 23"), ("check",)),
        ("which methods does Alone override?", ("those of its bases: none found",), ("other",)),
        ("what does Part override", ("Part.save 5 through Base.save", "Part.load 5 through Base.load"), ("none",)),
    ],
)
async def test_what_a_class_overrides(
    atlas: Atlas, asked: str, named: tuple[str, ...], others: tuple[str, ...]
) -> None:
    answer = await said(atlas, asked)
    for part in named:
        assert part in answer, answer
    for part in others:
        assert part not in answer, answer


@pytest.mark.parametrize(
    "asked",
    [
        "Kiosk extends library's Program - which Program methods does it override?",
        "which Program methods does Kiosk override",
    ],
)
async def test_what_a_class_overrides_of_a_base_that_is_not_indexed(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "methods of class shop.outer.Kiosk shop/outer.py:4 that override those of Program: at least 1" in answer, (
        answer
    )
    assert "`Program` is not indexed" in answer and "print_all 5 through Program.print_all" in answer, answer
    assert "may override a method of it: sell 8" in answer, answer


@pytest.mark.parametrize(
    "asked",
    [
        "Which Line methods are wrapped with the `opens` decorator so that they connect automatically?",
        "which methods of Line are decorated with @opens?",
    ],
)
async def test_what_a_decorator_wraps_in_a_class(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "usages of function shop.wrapped.opens shop/wrapped.py:1 in Line: 2 of 4" in answer, answer
    assert "Line.run 7" in answer and "apart" not in answer and "Line.opens" not in answer, answer


def test_what_wraps_without_a_decorator_is_searched() -> None:
    assert find_relation("which methods are wrapped in a transaction") is None


@pytest.mark.parametrize(
    "asked",
    [
        "If I add the gate to what Line.key returns, what is affected inside shop and which tests look at it?",
        "What is affected if we put the gate into Line.key?",
    ],
)
async def test_what_is_added_to_a_name_affects_what_uses_it(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "impact of method shop.wrapped.Line.key shop/wrapped.py:10" in answer and "Line.run 8" in answer, answer


def test_what_is_added_by_means_of_a_name_does_not_change_it() -> None:
    found = find_relation("If I add a route with Router.get, what fails?")
    assert found is None or found.kind != Kind.IMPACT


async def test_two_relations_of_one_name(atlas: Atlas) -> None:
    answer = await said(atlas, "List everything in the shop package that subclasses or directly instantiates Program.")
    assert "Program in shop: 1 of 1" in answer and "Kiosk 4" in answer, answer
    assert "instantiations of external_symbol ext:library.Program in shop: 1 of 2" in answer, answer
    assert "start 13" in answer and "begin" not in answer, answer


async def test_usages_have_the_imports(atlas: Atlas) -> None:
    answer = await said(atlas, "which files import or use Program?")
    assert "usages of" in answer and "importers of" not in answer and "begin 5" in answer, answer


async def test_what_differs_between_callers_is_quoted(atlas: Atlas) -> None:
    answer = await said(atlas, "Shop.send/2: who calls it and what differs between the callers?")
    assert "Shop.send(order, Shop.pack_mode())" in answer and "Shop.send(order, :fast)" in answer, answer
    assert "not answered" not in answer


async def test_what_the_person_does_who_asks_is_no_relation_and_no_message(atlas: Atlas) -> None:
    answer = await said(
        atlas, "On macOS I import 'shop/Base.py' but the file is 'shop/base.py'. Which code refuses that?"
    )
    assert '"On macOS' not in answer, answer
    answer = await said(atlas, "I import shop/base.py and nothing is printed. Which code decides that?")
    assert "importers of" not in answer, answer
    answer = await said(atlas, "where do I import shop/base.py?")
    assert "importers of" in answer and "one/part.py" in answer, answer


async def test_the_name_of_a_file_is_no_member_of_a_class(atlas: Atlas) -> None:
    answer = await said(atlas, "I import './base.py' and the file on disk is 'base.py'. Why is it not found?")
    assert "is no member of" not in answer, answer
    answer = await said(atlas, "why does Group.paint not print")
    assert "`paint` is no member of class shop.groups.Group" in answer, answer
