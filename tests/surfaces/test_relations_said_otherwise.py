"""Relations of a name with its arity, of a decorator, of what a statement before the question is about."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
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
        "    def sell(self):\n        return super().price()\n"
    ),
    "one/part.py": "from shop.base import Base\n\n\nclass Part(Base):\n    def save(self):\n        return 1\n",
    "two/part.py": "from shop.base import Base\n\n\nclass Part(Base):\n    def load(self):\n        return 1\n",
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


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
    assert "methods of class shop.outer.Kiosk shop/outer.py:4 that override those of Program: unknown" in answer, answer
    assert "`Program` is not indexed" in answer and "print_all 5, sell 8; of these print_all call" in answer, answer
