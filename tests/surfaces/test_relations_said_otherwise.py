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
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize("asked", ["call sites of Shop.pack_mode/0", "invocations of Shop.pack_mode/0"])
async def test_the_arity_is_no_part_of_a_name(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "callers of method Shop.pack_mode lib/shop.ex:2: 1" in answer and "Orders.first 3" in answer, answer


async def test_the_arity_of_a_name_that_nothing_has(atlas: Atlas) -> None:
    assert "no symbol `Shop.unpack" in await said(atlas, "call sites of Shop.unpack/0")
