"""Qualified names that no code has: where they do stand, and what their owner has instead."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.changes.history_words import asks_for_commits
from atlas.code.graph.absence.not_found import why_missing
from atlas.code.question.parse_question import route
from atlas.code.tools.search.search import hybrid_search
from atlas.core.model import Filter

FILES = {
    "shop/__init__.py": "",
    "shop/kinds.py": (
        "from typing import Literal\n\nSizeLiteral = Literal['S', 'L']\nHueKind = str\n\n\n"
        "class Parcel:\n    def pack(self):\n        return 1\n\n    def send(self):\n        return 2\n"
    ),
    "docs/style.md": "# Style\n\nAnnotate sizes with `kinds.SizeKind`, which means small or large.\n",
    "src/plugin/zone/index.js": (
        "export default (o, c, d) => {\n  d.zone = function (input) {\n    return d(input);\n  };\n"
        "  d.zone.guess = function () {\n    return 'UTC';\n  };\n"
        "  d.zone.setDefault = function (name) {\n    c.zone = name;\n  };\n};\n"
    ),
}
GUIDE = (
    "The style guide tells contributors to use kinds.SizeKind. In which file is it declared and which modules use it?"
)


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize("asked", [GUIDE, "where is kinds.SizeKind declared", "which modules use kinds.SizeKind"])
async def test_a_name_of_documents_alone_is_said_to_be_in_no_code(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert answer.split("\n")[1] == "`kinds.SizeKind` is no symbol; in 1 line:", answer
    assert "docs/style.md: 3: Annotate sizes with `kinds.SizeKind`" in answer
    assert "`shop.kinds` shop/kinds.py:1 has " in answer and "SizeLiteral 3" in answer and "authors" not in answer


def test_words_of_the_history_that_are_only_told_ask_for_no_commits(atlas: Atlas) -> None:
    def asks(text: str) -> bool:
        return asks_for_commits(route(text, atlas.reader.split_words, atlas.reader.languages))

    assert not asks(GUIDE)
    assert asks("who are the contributors of shop/kinds.py")
    assert asks("The guide names kinds.SizeKind. Which commit removed it?")


async def test_a_name_is_said_to_be_in_documents_alone(atlas: Atlas) -> None:
    reasons = await why_missing(atlas.reader, "kinds.SizeKind", Filter(project=atlas.reader.project))
    only = "no code has it: only documents and comments do, in 1 line with `SizeKind`: docs/style.md:3"
    assert reasons[0].startswith(only), reasons
    assert reasons[1] == "`shop.kinds` shop/kinds.py:1 has SizeLiteral 3, HueKind 4, Parcel 7"


async def test_a_missing_call_comes_with_the_members_of_its_owner(atlas: Atlas) -> None:
    answer = await said(atlas, "Show me the counterpart of moment.zone.names(), the function that lists every zone.")
    assert answer.split("\n")[1] == "`moment.zone.names()` occurs in no indexed file", answer
    assert "zone` src/plugin/zone/index.js:2 has guess 5, setDefault 8" in answer


async def test_a_name_whose_owner_is_unknown_has_no_members_beside(atlas: Atlas) -> None:
    answer = await said(atlas, "where is nothing.like.this_thing declared")
    assert "no symbol `nothing.like.this_thing`" in answer and " has " not in answer, answer
