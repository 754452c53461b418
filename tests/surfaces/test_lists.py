"""`ANSWERERS`, `CHANNELS` and `STAGES`: the order is that of the lists, and each entry can be turned off (ADR 0056)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from atlas.code import answerers
from atlas.code.answerers import ANSWERERS, Answered, AskedQuestion, answer_question
from atlas.code.atlas import Atlas
from atlas.code.find import CHANNELS, Mode, SearchResult
from atlas.code.graph.relation import EdgeAnswer
from atlas.code.graph.targets import Targets
from atlas.code.question.parse_question import route
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.rank.ranking import STAGES
from atlas.code.reader import RankingOptions, Reader, SearchStep
from atlas.code.tools.search.explain import explain, explanation_lines, find_to_explain
from atlas.core.errors import StoreError
from atlas.core.model import Filter
from tests.git.repositories import GitRepository
from tests.surfaces.trees import indexed

FILES = {
    "pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['requests']\n[project.scripts]\nshop = 'shop.app:load'\n",
    "shop/__init__.py": "",
    "shop/app.py": '''from fastapi import FastAPI

app = FastAPI()


@app.get("/basket")
def basket():
    """Show what a customer has chosen."""
    return load("basket") + save()


def load(name):
    return name


def save():
    raise ValueError("basket is already being saved elsewhere")


def unwanted(): ...
''',
    "shop/signals.py": """import os

from django.db.models.signals import post_save
from django.dispatch import receiver


MODE = os.environ.get("SHOP_MODE")


@receiver(post_save)
def on_save(sender, **kwargs): ...
""",
    "web/basket.js": "export function open() {\n  return fetch('/basket')\n}\n",
    "tests/test_app.py": "from shop.app import load\n\n\ndef test_load():\n    assert load('a') == 'a'\n",
    "docs/guide.md": "# Shop guide\n\nHow customers choose.\n\n## Basket expiry\n\nThe function basket keeps nothing.\n",
}
QUESTIONS = {
    "package_history": "since when do we use requests?",
    "shell_command": "what runs when I call the shop command?",
    "lines": "which environment variables does it read",
    "commits": "history of the function load",
    "changes": "who changed load last",
    "packages": "what does this project depend on",
    "clients": "which endpoints does the web app call",
    "routes": "which route handles GET /basket",
    "events": "what handles the post_save signal",
    "unused": "unused functions in shop/app.py",
    "untested": "untested functions in shop/app.py",
    "described_path": "walk me from a customer opening shop.app.basket to the load of a name",
    "both": "callers of load and save",
    "relation": "callers of load",
    "subject": "I wonder which spots load() gets called from at startup",
}
REPORT = (
    "The basket is lost\n\n" + "When a customer opens the basket in shop/app.py it is empty, which nobody expects. " * 4
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files as a repository, because the history of packages needs one."""
    folder = tmp_path_factory.mktemp("lists")
    repository = GitRepository(folder / "shop")
    repository.commit("Open the shop", dict(FILES))
    repository.close()
    asyncio.run(indexed(folder / "shop", folder / "data"))
    return folder


async def ask(atlas: Atlas, question: str, *off: str) -> SearchResult:
    ranking = replace(atlas.reader.ranking, off=frozenset(off))
    return await find_to_explain(replace(atlas, reader=replace(atlas.reader, ranking=ranking)), Mode.HYBRID, question)


def test_each_answerer_has_a_question_here() -> None:
    assert tuple(QUESTIONS) == tuple(each.name for each in ANSWERERS)


@pytest.mark.parametrize("name", QUESTIONS)
async def test_an_answerer_that_is_off_leaves_its_question_to_others(atlas: Atlas, name: str) -> None:
    assert (await ask(atlas, QUESTIONS[name])).answered_by == name
    assert (await ask(atlas, QUESTIONS[name], name)).answered_by != name


async def test_without_answerers_every_question_is_searched_as_text(atlas: Atlas) -> None:
    off = [each.name for each in ANSWERERS]
    for question in QUESTIONS.values():
        found = await ask(atlas, question, *off)
        assert not found.answered_by and found.relation is found.changes is found.packages is None


def _toy(name: str, answered: Answered | None) -> SearchStep[object]:
    async def run(reader: Reader, asked: AskedQuestion) -> Answered | None:
        del reader, asked
        return answered

    return SearchStep(name, run, "a toy")


@pytest.mark.parametrize(
    ("entries", "off", "expected"),
    [
        ("none, answers, answers too", "", "answers"),
        ("answers too, none, answers", "", "answers too"),
        ("none, answers, answers too", "answers", "answers too"),
        ("yields, answers, none", "", "answers"),
        ("yields, none, answers", "", "yields"),
        ("yields, answers, none", "answers", "yields"),
        ("yields, answers", "yields", "answers"),
        ("gives up, answers", "", "gives up"),
        ("none", "", ""),
        ("none, yields", "", "yields"),
    ],
)
async def test_the_first_answer_counts_unless_it_yields_to_the_next(
    atlas: Atlas, monkeypatch: pytest.MonkeyPatch, entries: str, off: str, expected: str
) -> None:
    relation = EdgeAnswer(RelationIntent(Kind.CALLERS, "load"), Targets("load", ()))
    kinds = {
        "none": None,
        "answers": Answered(relation),
        "answers too": Answered(relation),
        "yields": Answered(relation, yields=True),
        "gives up": Answered(notes=("searched as text",)),
    }
    monkeypatch.setattr(answerers, "ANSWERERS", tuple(_toy(name, kinds[name]) for name in entries.split(", ")))
    reader = replace(atlas.reader, ranking=RankingOptions(off=frozenset((off,))))
    asked = AskedQuestion("text", route("text", reader.split_words, reader.languages), Filter())
    answered = await answer_question(reader, asked)
    assert answered.by == expected
    assert (answered.answer is relation) is (expected not in ("", "gives up"))


async def test_a_store_that_fails_is_a_note(atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(reader: Reader, asked: AskedQuestion) -> None:
        raise StoreError("broken")

    monkeypatch.setattr(answerers, "ANSWERERS", (SearchStep("fails", fail, "a toy"), _toy("answers", None)))
    query = route("callers of load", atlas.reader.split_words, atlas.reader.languages)
    answered = await answer_question(atlas.reader, AskedQuestion(query.text, query, Filter()))
    assert answered.answer is None and answered.notes == ("callers of `load` could not be read: broken",)


async def test_a_channel_that_is_off_finds_nothing(atlas: Atlas) -> None:
    for channel, question in {
        "name": "load",
        "place": "shop/app.py:12",
        "graph": "load",
        "phrase": "`already being saved elsewhere`",
        "words": "what a customer has chosen",
    }.items():
        switch = next(each.switched_by for each in CHANNELS if each.name == channel)
        found, without = await ask(atlas, question), await ask(atlas, question, switch)
        assert any(channel in each.channels for each in found.ranked), channel
        assert not any(channel in each.channels for each in without.ranked), channel


async def test_stages_that_put_candidates_first_can_be_left_out(atlas: Atlas) -> None:
    for switch, question in {
        "titles": "basket expiry",
        "symbols": "load",
        "places": "shop/app.py:12",
        "long_texts": REPORT,
        "written_files": REPORT,
    }.items():
        found, without = await ask(atlas, question), await ask(atlas, question, switch)
        scores = [[(each.node.row.uid, round(each.score, 6)) for each in one.ranked] for one in (found, without)]
        assert scores[0] != scores[1], switch
    assert any(each.node.row.name == "unwanted" for each in (await ask(atlas, "unwnated")).ranked)
    similar = await ask(atlas, "unwnated", "near_names")
    assert not any("similar name" in each.reasons for each in similar.ranked)
    assert (await ask(atlas, "zebra crossing rules of Ghana")).relevance < 1
    assert (await ask(atlas, "zebra crossing rules of Ghana", "relevance")).relevance == 1


async def test_the_explanation_lists_every_entry_in_order_with_switch_and_reason(atlas: Atlas) -> None:
    found = await ask(atlas, "callers of load")
    options = RankingOptions(off=frozenset(("events", "places", "grouping")))
    document = explain(found, options, 3)
    assert document["answerer"] == "relation" and document["answered_by"] == "edges of the graph"
    lists = document["lists"]
    assert isinstance(lists, dict)
    for name, steps in {"answerers": ANSWERERS, "channels": CHANNELS, "stages": STAGES}.items():
        assert lists[name] == [
            {
                "name": each.name,
                "switch": each.switched_by,
                "state": "off" if each.switched_by in options.off else "on",
                "why": each.why,
            }
            for each in steps
        ]
        assert all(each.why for each in steps) and len({each.name for each in steps}) == len(steps)
    lines = list(explanation_lines(found, options, 3))
    assert "answered by: edges of the graph (relation), relevance 1.00, strength 1.00" in lines
    assert "ranked by: constants; stages off: events, places, grouping" in lines
    expected = [
        f"   {each.name}{' (off)' if each.switched_by in options.off else ''}: {each.why}"
        for each in (*ANSWERERS, *CHANNELS, *STAGES)
    ]
    assert [line for line in lines if line in set(expected)] == expected
