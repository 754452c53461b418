"""Questions in other words by a language model: they find what the question's own words do not, and may fail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from atlas.core.errors import Unavailable
from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.opening import OpenPack, open_pack
from atlas.packs.questions.alternatives import STAGE, alternatives_in, retrieve
from atlas.packs.questions.answer import ask
from atlas.packs.questions.values import BALANCED, MAXIMUM
from tests.packs.library import write_tree

PAGES = {
    "oven.md": "# Oven\n\n## Preheating\n\nPress `HEAT` and wait until the lamp is green, which takes nine minutes.\n",
    "door.md": "# Door\n\n## Hinges\n\nTwo screws hold each hinge. Oil them once a year.\n",
    "lamp.md": "# Lamp\n\n## Bulbs\n\nThe bulb has 25 watts. Unscrew the glass cover to replace it.\n",
}
QUESTION = "Qui veut une margherita ce soir?"


class Model:
    name = "test/model"

    def __init__(self, alternatives: str | None) -> None:
        self.alternatives = alternatives

    async def complete(self, instruction: str, text: str, most_tokens: int) -> str:
        if "other words" in instruction:
            if self.alternatives is None:
                raise Unavailable("the model server is down")
            return self.alternatives
        return "Press HEAT [1]."


@pytest_asyncio.fixture
async def pack(tmp_path: Path) -> AsyncIterator[OpenPack]:
    write_tree(tmp_path / "docs", PAGES)
    await build_pack(BuildRequest("oven", (str(tmp_path / "docs"),), "1"), tmp_path / "pack")
    opened = open_pack(tmp_path / "pack")
    yield opened
    await opened.aclose()


async def test_the_model_names_what_the_question_means(pack: OpenPack) -> None:
    model = Model("1. How is preheating done?\n2. Which lamp is green after preheating?")
    reader = replace(pack.reader, model=model)
    alone = await retrieve(pack.reader, QUESTION, MAXIMUM)
    assert not alone.sections[0].uid.endswith("#preheating")
    answer = await ask(reader, QUESTION, MAXIMUM)
    assert (answer.is_refused, answer.text.splitlines()[0]) == (False, "Press HEAT [1].")
    assert answer.sources[0].section == "Preheating"
    stage = next(one for one in answer.stages if one.name == STAGE)
    assert stage.detail == "How is preheating done? | Which lamp is green after preheating?"
    balanced = await ask(reader, QUESTION, BALANCED)
    assert STAGE not in [one.name for one in balanced.stages]


@pytest.mark.parametrize("alternatives", [None, "", "\n-\n"])
async def test_without_alternatives_the_question_is_asked_alone(pack: OpenPack, alternatives: str | None) -> None:
    question = "How long does preheating take?"
    alone = await retrieve(pack.reader, question, BALANCED)
    found = await retrieve(replace(pack.reader, model=Model(alternatives)), question, MAXIMUM)
    assert [one.uid for one in found.sections] == [one.uid for one in alone.sections]
    assert bool(found.notes) == (alternatives is None)


def test_lines_of_an_answer() -> None:
    answer = "- What is it?\n2) What  is it called?\nWhat is it?\n\nwhat is THIS?\n" + "x" * 400
    assert alternatives_in(answer, "What is this?") == ["What is it?", "What is it called?"]
