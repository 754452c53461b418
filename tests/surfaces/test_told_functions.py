"""Functions that subjects of commits tell about: the words of people lead to code that has none of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.question.parse_question import route
from atlas.code.rank.rank import Candidate
from atlas.code.rank.told_functions import MOST_FUNCTIONS, SCORE, ToldFunction, told_functions, with_told
from atlas.core.errors import HistoryError
from atlas.core.model import Filter, Node, NodeRow
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository

QUESTION = "when is a visitor sent home because he knocked too often?"
FIRST = """class Desk:
    def step(self, entry):
        place = self.table[entry]
        return place

    def seat(self, entry):
        if entry in self.often:
            return self.table[entry]
        return None

    def free(self, entry):
        if entry in self.table:
            return False
        return True
"""
SECOND = FIRST.replace(
    "        return place\n",
    "        if self.counts[place] > 3:\n            raise Done(place)\n        return place\n",
)
THIRD = SECOND.replace("self.table[entry]", "self.table.get(entry, entry)")
MANY = "".join(
    f"def number_{each}(value):\n    return value + {each} * 1000\n\n\n" for each in range(MOST_FUNCTIONS + 1)
)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "desk")
    repository.commit("Begin", {"desk/__init__.py": "", "desk/desk.py": FIRST, "desk/many.py": "ONE = 1\n"})
    repository.commit("Send visitors home that knock too often", {"desk/desk.py": SECOND})
    repository.commit("Use the entry itself without a place", {"desk/desk.py": THIRD})
    repository.commit("Send home whom nobody knows, often too", {"desk/many.py": MANY})
    settings = load_settings(str(repository.root), str(tmp_path / "data"), environment={})
    async with open_atlas(settings, writing=True) as opened:
        await opened.index()
    async with open_atlas(settings) as opened:
        yield opened
    repository.close()


async def told(atlas: Atlas, question: str, path: str = "") -> list[tuple[str, float]]:
    reader = atlas.reader
    query = route(question, reader.split_words, reader.languages)
    found = await told_functions(reader, query, Filter(project=reader.project, path=path))
    return [(each.node.row.name, round(each.value, 2)) for each in found]


async def functions(atlas: Atlas) -> list[str]:
    found = await atlas.search(QUESTION, Filter(project=atlas.reader.project))
    return [each.node.row.name for each in found.ranked if each.node.row.label == "Method"]


async def test_a_subject_in_the_words_of_the_question_leads_to_the_function_with_its_lines(desk: Atlas) -> None:
    assert (await told(desk, QUESTION))[0] == ("step", 1.0)
    assert await functions(desk) == ["seat", "step"]


async def test_without_the_stage_or_a_history_code_without_the_words_is_not_found(desk: Atlas) -> None:
    off = replace(desk.reader, ranking=replace(desk.reader.ranking, off=frozenset(("told",))))
    assert await functions(Atlas(off)) == ["seat"]
    assert await functions(Atlas(replace(desk.reader, history=None))) == ["seat"]


async def test_a_commit_of_many_functions_tells_about_none(desk: Atlas) -> None:
    names = {name for name, _ in await told(desk, "how is somebody whom nobody knows sent home, often too?")}
    assert names == {"step"}


async def test_functions_outside_of_the_filter_are_not_told_of(desk: Atlas) -> None:
    assert await told(desk, QUESTION, path="other/*") == []


async def test_a_history_that_cannot_be_read_changes_nothing(desk: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> dict[str, dict[str, frozenset[str]]]:
        raise HistoryError("gone")

    monkeypatch.setattr(type(desk.reader.history), "added_lines", fail)
    assert await functions(desk) == ["seat"]


def test_functions_become_candidates_once_behind_the_others() -> None:
    nodes = [
        Node("shop", NodeRow(name, "Function", "function", name, name, "a.py")) for name in ("one", "two", "three")
    ]
    ranked = [Candidate(nodes[0], 2.0, also=("two",))]
    found = with_told(ranked, [ToldFunction(node, 1.0) for node in nodes])
    assert [(each.node.row.uid, each.score, each.channels) for each in found] == [
        ("one", 2.0, ()),
        ("three", 2.0 * SCORE, ("told",)),
    ]
