"""Calls with what they pass, symbols of one name with few edges, and a name behind what owns it."""

from __future__ import annotations

from atlas.code.atlas import Atlas
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.several import SeveralAnswers

FILES = {
    "shop/engine.py": """class ShopEngine:
    def halt(self, reason):
        return reason

    def stop(self):
        self.halt(reason="closing time")

    def fire(self):
        self.halt(
            reason="fire in the house",
        )
""",
    "shop/lamp.py": "class Lamp:\n    def halt(self, reason):\n        return reason\n",
    "shop/door.py": "class Door:\n    def halt(self, reason):\n        return reason\n",
    "shop/clock.py": "class Clock:\n    def halt(self, reason):\n        return reason\n",
    "shop/a/errors.py": "class Refusal(Exception): ...\n\n\ndef refuse():\n    raise Refusal('a')\n",
    "shop/b/errors.py": "class Refusal(Exception): ...\n\n\ndef refuse():\n    raise Refusal('b')\n",
    "shop/c/errors.py": "class Refusal(Exception): ...\n\n\ndef refuse():\n    raise Refusal('c')\n",
    "shop/d/errors.py": "class Refusal(Exception): ...\n\n\ndef refuse():\n    raise Refusal('d')\n",
    "tests/test_errors.py": "from shop.d.errors import Refusal\n\n\ndef test_refusal():\n    assert Refusal('d')\n",
    "shop/drawer.py": """class KeyDrawer:
    def give(self): ...


class SteelDrawer(KeyDrawer):
    def give(self):
        return "key"


class TornDrawer(KeyDrawer):
    def give(self):
        raise ValueError("a torn drawer never gives a key back")
""",
    "shop/jobs.py": """def run_later(job):
    return job


def load():
    return run_later(lambda: 1)


def save():
    return run_later(print)
""",
}


async def _lines(atlas: Atlas, question: str) -> list[str]:
    answer = await hybrid_search(atlas, question)
    assert isinstance(answer, RelationAnswer), answer.render()
    return [*answer.lines()]


async def test_a_name_behind_what_owns_it_is_that_of_its_class(atlas: Atlas) -> None:
    lines = await _lines(atlas, "Who calls the engine's halt? All places please, with the reason each passes.")
    assert lines[0] == "callers of method shop.engine.ShopEngine.halt shop/engine.py:2: 2"
    assert 'self.halt(reason="closing time")' in lines[2]
    assert 'self.halt( reason="fire in the house", )' in lines[3]


async def test_what_does_something_through_a_function_calls_it(atlas: Atlas) -> None:
    lines = await _lines(atlas, "Who starts jobs in the background through run_later, and what runs in each?")
    assert lines[0].startswith("callers of function shop.jobs.run_later shop/jobs.py:1: 2")
    assert [line.rpartition(": ")[2] for line in lines[2:]] == ["1)", "return run_later(print)"]
    assert not any("not answered" in line for line in lines)


async def test_a_question_that_asks_for_no_values_quotes_no_lines(atlas: Atlas) -> None:
    lines = await _lines(atlas, "who calls run_later?")
    assert not any("return" in line for line in lines)


async def test_the_few_edges_of_many_symbols_of_a_name_are_listed(atlas: Atlas) -> None:
    lines = await _lines(atlas, "Where in the production sources is a Refusal created?")
    assert lines[0].startswith("4 symbols are called `Refusal`; instantiations of all outside tests: 4 of 5")
    assert sum("refuse" in line for line in lines) == 4


async def test_a_name_of_many_symbols_without_edges_is_counted(atlas: Atlas) -> None:
    lines = await _lines(atlas, "callers of Lamp.halt")
    assert "unknown" in lines[0] or "none" in lines[0]


async def test_which_one_is_asked_of_all_that_the_part_before_finds(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "which classes extend KeyDrawer, and which one never gives a key back?")
    assert isinstance(answer, SeveralAnswers)
    assert answer.parts[1].asked == "which of SteelDrawer, TornDrawer never gives a key back?"
    none = await hybrid_search(atlas, "which classes extend SteelDrawer, and which one never gives a key back?")
    assert isinstance(none, SeveralAnswers)
    assert none.parts[1].asked == "which one never gives a key back?"
