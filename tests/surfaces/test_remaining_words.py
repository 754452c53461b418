"""No word of a question about a relation is left out silently: it chooses the member, limits the answer, or is named."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.question.further_parts import further_parts
from atlas.code.question.grammar import find_relation
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "shop/store.py": '''class Appender:
    """Writes samples."""

    def add(self, sample):
        return sample

    def rollback(self):
        return None


class Head(Appender):
    def add(self, sample):
        return Appender.add(self, sample)


def checkpoint(appender: Appender):
    """Create the checkpoint of the write-ahead log."""
    return appender


class Writer:
    def __init__(self):
        self.checkpoint = None


def flush_at_shutdown(appender: Appender):
    appender.rollback()


def flush(appender: Appender):
    appender.rollback()
''',
    "shop/views/page.py": """from shop.store import Head


def _make_head():
    return Head()


def open_page() -> Head:
    return _make_head()


def say() -> str:
    return str(_make_head())
""",
    "shop/jobs.py": """from shop.store import Head
from shop.views.page import _make_head


def new_head(fast):
    head = Head()
    return Head() if fast else head


def run() -> str:
    return _make_head()
""",
    "tests/test_store.py": """from shop.store import Appender, Head


def test_rollback_keeps_samples():
    Appender().rollback()


def test_add_sorts():
    Appender().add(1)


def test_add_of_duplicates():
    Appender().add(1)
""",
}


async def lines(atlas: Atlas, question: str) -> list[str]:
    return (await hybrid_search(atlas, question)).render().splitlines()[1:]


async def test_a_word_behind_a_class_is_its_member(atlas: Atlas) -> None:
    said = await lines(atlas, "which tests exercise Appender rollback")
    assert said[0] == "tests of method shop.store.Appender.rollback shop/store.py:7: 1"
    assert "test_rollback_keeps_samples" in "\n".join(said)
    assert (await lines(atlas, "who overrides Appender add"))[0].startswith(
        "overrides of method shop.store.Appender.add"
    )


async def test_a_word_that_some_names_have_limits_the_tests(atlas: Atlas) -> None:
    said = await lines(atlas, "which tests cover Appender duplicates")
    assert said[0].endswith("with `duplicates` in the name: 1 of 3"), said
    assert "test_add_of_duplicates" in said[2]


async def test_a_word_without_effect_stands_in_the_first_line(atlas: Atlas) -> None:
    said = await lines(atlas, "who calls Appender.rollback during compaction")
    assert said[0].endswith("; not taken into account: `compaction`"), said
    said = await lines(atlas, "who calls Appender.rollback during shutdown")
    assert any("1 of these have `shutdown` in name or path: shop/store.py:27" in line for line in said), said


async def test_a_plain_word_of_several_is_no_subject(atlas: Atlas) -> None:
    said = "\n".join(await lines(atlas, "where is the WAL checkpoint created"))
    assert "instantiations of" not in said and "function checkpoint" in said


async def test_a_word_of_another_relation_is_searched(atlas: Atlas) -> None:
    said = await lines(atlas, "which tests verify Appender inheritance")
    assert not said[0].startswith("hierarchy of"), said
    assert any(line.strip().startswith("tested by") for line in said), said


async def test_what_code_creates_is_no_question_to_git(atlas: Atlas) -> None:
    said = "\n".join(await lines(atlas, "who creates the session checkpoint"))
    assert "git" not in said and "checkpoint" in said


async def test_the_scope_of_what_is_returned_stands_in_the_first_line(atlas: Atlas) -> None:
    said = await lines(atlas, "functions that return Head in shop/views")
    assert said[0] == "functions returning class shop.store.Head shop/store.py:11 in shop/views: 2 of 3", said
    assert [line.split()[0] for line in said[2:4]] == ["_make_head", "open_page"]
    said = await lines(atlas, "which functions in shop/jobs.py return str")
    assert said[0] == "functions that declare `str` as their result in shop/jobs.py: 1 of 2", said
    said = await lines(atlas, "who in shop/views calls _make_head")
    assert said[0].endswith("in shop/views: 2 of 3"), said
    said = await lines(atlas, "functions that return Head in shop/absent")
    assert said[0].endswith("in shop/absent: 0 of 3"), said
    assert any("no indexed file lies in `shop/absent`" in line for line in said), said


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("who calls make_head()", "no symbol is called `make_head`; callers of function shop.views.page._make_head"),
        ("subclasses of Appenders", "no symbol is called `Appenders`; subclasses of class shop.store.Appender"),
        ("where is flushAtShutdown defined", "no symbol is called `flushAtShutdown`; definition of function"),
        ("usages of OpenPage()", "no symbol is called `OpenPage`; usages of function shop.views.page.open_page"),
    ],
)
async def test_a_name_in_another_form_is_answered_and_said(atlas: Atlas, question: str, first: str) -> None:
    said = await lines(atlas, question)
    assert said[0].startswith(first), said


async def test_both_parts_of_a_question_are_answered_or_named(atlas: Atlas) -> None:
    said = "\n".join(await lines(atlas, "who calls _make_head and which tests cover Appender.rollback?"))
    assert said.startswith("1) who calls _make_head\ncallers of function shop.views.page._make_head")
    assert "open_page 9" in said
    assert "tests of method shop.store.Appender.rollback" in said and "test_rollback_keeps_samples" in said
    said = "\n".join(await lines(atlas, "where is Appender defined and who extends it"))
    assert said.startswith("subclasses of class shop.store.Appender shop/store.py:1: 1")
    said = "\n".join(await lines(atlas, "who calls checkpoint() and what does it take?"))
    assert "2) what does `checkpoint` take" in said and "checkpoint(appender: Appender)" in said, said
    said = "\n".join(await lines(atlas, "which classes extend Appender and where are they registered?"))
    assert "2) where are `shop.store.Head` registered? (found above" in said and "not taken" not in said, said


@pytest.mark.parametrize(
    ("question", "other", "further"),
    [
        ("callers of load_a, load_b and load_c", "", ["load_b", "load_c"]),
        ("callers of load_a and load_b", "load_b", []),
        ("who calls load_a and load_b in store.py", "load_b", []),
    ],
)
def test_two_names_are_one_list_and_more_are_read_one_by_one(question: str, other: str, further: list[str]) -> None:
    read = find_relation(question)
    assert read is not None and (read.name, read.other) == ("load_a", other)
    assert [each.text for each in further_parts(question, read)] == further


async def test_every_name_of_a_list_is_answered(atlas: Atlas) -> None:
    said = "\n".join(await lines(atlas, "callers of Appender.add, Appender.rollback and open_page"))
    for name in ("Appender.add", "Appender.rollback", "open_page"):
        assert f"{name} " in said, said
    assert "test_add_sorts" in said and "flush" in said
