"""The scorecard: questions are made from a tree without a graph, and measures are those of the literature."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from atlas_bench.answers.questions import load
from atlas_bench.page.charts import bars, lines
from atlas_bench.page.section import Section, to_markdown
from atlas_bench.search.docstrings import without_docstrings
from atlas_bench.search.facts import read_file
from atlas_bench.search.measures import Hit, means, score
from atlas_bench.search.questions import BARE, KINDS, SearchQuestion, Target, sample
from atlas_bench.search.sets import Plan, QuestionSet, make_sets

from atlas.parsing import Languages, load_languages

PARTS = Path(__file__).parent / "search"
PYTHON = '''class Basket:
    """Collects what a customer wants to buy."""

    def add_item(self, item):
        """Put one more article into the basket.

        Articles that are sold out are refused.
        """
        if item.sold_out:
            raise ValueError(item)
        self.items.append(item)
        return self
'''
RUST = "/// Opens the box that was closed before.\n#[inline]\npub fn open_box(a: u8) -> u8 {\n    a\n}\n"
DOCUMENT = "# The shop\n\nText.\n\n## How to return goods\n\nSend them back.\n\nWe pay.\n\nThanks.\n"
TEST = "def test_basket_refuses_articles_sold_out():\n    assert True\n"


@pytest.fixture(scope="module")
def languages() -> Languages:
    return load_languages()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for path, text in (
        ("shop/basket.py", PYTHON),
        ("src/box.rs", RUST),
        ("docs/shop.md", DOCUMENT),
        ("tests/test_basket.py", TEST),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def asked(sets: Sequence[QuestionSet], kind: str) -> dict[str, tuple[Target, ...]]:
    return {question.text: question.gold for each in sets for question in each.questions if question.kind == kind}


def test_docstrings_ask_for_their_definitions_and_are_not_in_the_copy(
    tree: Path, tmp_path: Path, languages: Languages
) -> None:
    sets = make_sets(tree, tmp_path / "scratch", languages, Plan())
    found = asked(sets, "docstring")
    assert [target.line for target in found["Put one more article into the basket"]] == [4]
    assert [target.path for target in found["Opens the box that was closed before"]] == ["src/box.rs"]
    (bare,) = (each for each in sets if each.index == BARE)
    for path in bare.paths:
        assert "article" not in (bare.tree / path).read_text() or path.startswith("tests/")
        assert (bare.tree / path).read_text().count("\n") == (tree / path).read_text().count("\n")
    assert "article" in (tree / "shop/basket.py").read_text()


def test_each_kind_of_a_tree_without_history_is_asked(tree: Path, tmp_path: Path, languages: Languages) -> None:
    sets = make_sets(tree, tmp_path / "scratch", languages, Plan())
    assert asked(sets, "heading")["How to return goods"][0].line == 5
    assert asked(sets, "symbol joined") == {
        "additem": (Target("shop/basket.py", 4, "shop.basket.Basket.add_item"),),
        "openbox": (Target("src/box.rs", 3, next(iter(asked(sets, "symbol joined")["openbox"])).name),),
    }
    assert asked(sets, "test") == {"basket refuses articles sold out": (Target("shop/basket.py"),)}
    assert all(len(text) > 200 for text in asked(sets, "issue"))


def test_the_same_seed_gives_the_same_questions(tree: Path, tmp_path: Path, languages: Languages) -> None:
    one, other = (make_sets(tree, tmp_path / name, languages, Plan(seed=3)) for name in ("a", "b"))
    assert [each.questions for each in one] == [each.questions for each in other]
    questions = [SearchQuestion("file", f"question {number}", (Target("a"),)) for number in range(50)]
    assert sample(questions, 5, 1) == sample(reversed(questions), 5, 1) != sample(questions, 5, 2)


def test_a_commit_asks_for_the_definitions_that_it_changed(tree: Path, tmp_path: Path, languages: Languages) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tree, check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Begin the shop with everything in it")
    path = tree / "shop/basket.py"
    path.write_text(path.read_text().replace("raise ValueError(item)", "raise KeyError(item)"))
    git("commit", "-qam", "Refuse articles by another error (#12)")
    found = asked(make_sets(tree, tmp_path / "scratch", languages, Plan(frozenset(("commit",)))), "commit")
    assert found["Refuse articles by another error"] == (
        Target("shop/basket.py", 4, "shop.basket.Basket.add_item"),
    )  # fmt: skip


def test_a_file_that_keeps_its_documentation_is_not_asked_about(languages: Languages) -> None:
    data = b'def broken(:\n    """Say what is not so here."""\n'
    blanked, lost = without_docstrings(read_file("a.py", data, languages), data, languages)
    assert (blanked, lost) == (data, [])


def test_measures_are_those_of_the_first_right_places() -> None:
    question = SearchQuestion("docstring", "q", (Target("a.py", 3), Target("b.py", 7)))
    hits = [Hit("c.py", 1), Hit("a.py", 1), Hit("a.py", 9, (("a.py", 3),)), Hit("b.py", 7)]
    found = score(question, hits)
    assert found["mrr10"] == pytest.approx(1 / 3)
    assert (found["r10"], found["acc1"], found["acc5"]) == (1.0, 0.0, 1.0)
    assert found["ndcg10"] == pytest.approx((1 / 1.58496 + 1 / 2) / (1 + 1 / 1.58496), abs=1e-4)
    assert score(question, [])["ndcg10"] == 0.0


def test_an_interval_contains_its_mean_and_is_the_same_again() -> None:
    values = {"a": [0.0, 1.0, 1.0, 0.5] * 10}
    found = means(values, 0)["a"]
    assert found.value == pytest.approx(0.625)
    assert found.low < found.value < found.high
    assert means(values, 0)["a"] == found


def test_packages_of_the_parts_are_disjoint_and_pinned() -> None:
    files = {part: load([PARTS / part], may_be_empty=True) for part in ("train", "tune", "test", "fresh")}
    names = [file.package for part in files.values() for file in part]
    assert len(names) == len(set(names)) >= 24
    assert len({file.language for part in files.values() for file in part}) >= 9
    assert all(file.sha256 and file.archive for part in files.values() for file in part)
    assert sum(len(file.questions) for file in files["test"]) >= 80
    assert sum(len(file.questions) for file in files["train"]) >= 80
    assert {question.kind for file in files["train"] for question in file.questions} == {"concept"}
    assert {question.kind for file in files["tune"] for question in file.questions} == {"concept", "configuration"}


def test_a_skipped_section_says_why_and_charts_escape_their_labels() -> None:
    assert "Skipped: needs x" in to_markdown(Section("a", "A", skipped="needs x"), "b")
    assert "&lt;b&gt;" in bars("t", [("<b>", {"x": 1.0})])
    assert "polyline" in lines("t", {"x": [(0, 0), (1, 2)]}, "x", "y")
    assert set(KINDS.values()) == {BARE, "whole"}
