"""`atlas bench answers`: right, partly and wrong answers, wrong targets, and what the reports hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from atlas_bench.answers.claims import of_structure, of_text
from atlas_bench.answers.judge import Outcome, Reply, judge
from atlas_bench.answers.questions import Place, Question, load, longest_name, read

from atlas.core.errors import ConfigError
from tests.pipeline.trees import write_tree
from tests.surfaces.processes import atlas

TREE = {
    "shop/cart.py": (
        "def total(cart):\n    return add(cart)\n\n\ndef add(cart):\n    return sum(cart)\n\n\n"
        "def pay(cart):\n    add(cart)\n    raise ValueError('the purse is empty')\n"
    ),
    "shop/report.py": "from shop.cart import add\n\n\ndef summary(cart):\n    return add(cart)\n",
}

QUESTIONS = """
[package]
name = "shop"
version = "1"
language = "python"

[[question]]
kind = "callers"
ask = "who calls add?"
gold = ["shop/cart.py:2 total", "shop/cart.py:10 pay", "shop/report.py:5 summary"]

[[question]]
kind = "callers"
ask = "callers of add"
gold = ["shop/cart.py:2 total", "shop/report.py:1 import_it", "shop/cart.py:10"]
allowed = ["shop/report.py:5"]

[[question]]
kind = "callers"
ask = "what calls add"
gold = ["shop/report.py:99 nobody"]
forbidden = ["shop/cart.py:2 total"]

[[question]]
kind = "missing"
ask = "callers of total_price"
none = true
near = ["total"]

[[question]]
kind = "error-text"
ask = "where does 'the purse is empty' come from?"
gold = ["shop/cart.py:9-11 pay"]
grep = "the purse is empty"
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("answers")
    write_tree(folder / "trees/shop", TREE)
    (folder / "shop.toml").write_text(QUESTIONS)
    files = ["--svg", str(folder / "chart.svg"), "--markdown", str(folder / "table.md")]
    peer = ["--peer", "calls=grep -rnE {pattern}[(] shop"]
    run = atlas(
        "bench", "answers", str(folder / "shop.toml"), "--trees", str(folder / "trees"), "--json", *files, *peer
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), folder


def test_answers_are_judged(report: tuple[dict[str, Any], Path]) -> None:
    by_atlas = [row for row in report[0]["questions"] if row["by"] == "atlas"]
    assert [row["outcome"] for row in by_atlas] == ["right", "partly", "wrong", "right", "right"]
    assert [row["wrong_target"] for row in by_atlas] == [False, False, True, False, False]
    assert by_atlas[1]["absent"] == ["shop/report.py:1 import_it"]
    assert all(row["tokens"] > 0 and row["ms"] > 0 and row["answer"] for row in by_atlas)


def test_grep_and_given_commands_answer_the_same_questions(report: tuple[dict[str, Any], Path]) -> None:
    rows = report[0]["questions"]
    grep = [row["outcome"] for row in rows if row["by"] == "grep"]
    assert (grep[0], grep[2:]) == ("right", ["wrong", "right", "right"])
    calls = [row["answer"] for row in rows if row["by"] == "calls"]
    assert "shop/report.py:5:    return add(cart)" in calls[0]
    assert "import" not in calls[0]


def test_rows_of_kinds_add_up(report: tuple[dict[str, Any], Path]) -> None:
    total = next(row for row in report[0]["kinds"] if (row["name"], row["by"]) == ("all", "atlas"))
    assert (total["questions"], total["right"], total["partly"], total["wrong"]) == (5, 3, 1, 1)
    assert total["wrong_targets"] == 1


def test_table_and_chart_are_written(report: tuple[dict[str, Any], Path]) -> None:
    table = (report[1] / "table.md").read_text().splitlines()
    assert table[0].startswith("| kind | questions | right |")
    assert any(line.startswith("| all | 5 | 60% |") for line in table)
    chart = ElementTree.parse(report[1] / "chart.svg").getroot()
    texts = [element.text for element in chart.iter("{http://www.w3.org/2000/svg}text")]
    assert {"atlas", "grep", "callers", "all"} <= set(texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[package]\nname = "p"\n[[question]]\n', ":1: [package] has no version"),
        ('{}[[question]]\nkind = "callres"\nask = "q"\n', ":5: unknown kind 'callres'"),
        ('{}[[question]]\nkind = "callers"\nask = "q"\n', ":5: 'q' needs either"),
        ('{}[[question]]\nkind = "callers"\nask = "q"\ngold = ["../x.py:1"]\n', ":5: `gold`: '../x.py:1'"),
        ('{}[[question]]\nkind = "callers"\nask = "q"\ngold = ["x.py:one"]\n', ":5: `gold`: 'x.py:one'"),
        ('{}[[question]]\nkind = "callers"\nask = "q"\nglod = ["x.py"]\n', ":5: a question has no `glod`"),
        ('{}[[question]]\nkind = \n', "line 6"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text.replace("{}", '[package]\nname = "p"\nversion = "1"\nlanguage = "c"\n'))
    with pytest.raises(ConfigError) as error:
        read(path)
    assert message in error.value.message


def test_a_missing_tree_names_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(QUESTIONS)
    run = atlas("bench", "answers", str(tmp_path / "shop.toml"), "--trees", str(tmp_path / "none"))
    assert run.returncode == 2
    assert "no tree of shop 1" in run.stderr
    assert "fetch_packages" in run.stderr


@pytest.mark.parametrize(
    "content",
    [
        {"relation": {"edges": {"src/pool.rs": ["Pool.add 12,40 (self 0.97)"]}}},
        {"relation": {"edges": [["src/pool.rs", ["Pool.add 12,40"]]]}},
        {"relation": {"of": ["struct x.Y src/other.rs:3"], "edges": ["Pool.add src/pool.rs:12,40 (self 0.97)"]}},
        {"text": "src/pool.rs\n  Pool.add 12,40 (self 0.97)\n"},
        {"hits": [{"uid": "p:src.pool.Pool.add", "place": "src/pool.rs:12,40", "digest": "93ba31a57e873c29"}]},
        {"hits": [{"name": "Pool.add", "path": "src/pool.rs", "lines": [12, 40]}]},
        {"callers": [["src.pool.Pool.add", "src/pool.rs:12,40", "self", 0.97]]},
    ],
)
def test_claims_are_read_from_any_layout(content: dict[str, object]) -> None:
    (claim,) = of_structure(content)
    assert (claim.path, claim.lines) == ("src/pool.rs", {12, 40})
    assert "Pool.add" in claim.names


def test_claims_of_grep_are_its_lines() -> None:
    found = of_text("./src/a.c:7:  free(x);  /* src/b.c */\nsrc/a.c:9:free(y);\nBinary file x matches\n")
    assert [(claim.path, claim.lines) for claim in found] == [("src/a.c", {7}), ("src/a.c", {9})]


def test_every_line_of_call_sites_counts() -> None:
    gold = (Place("a.go", frozenset((3, 5, 8))),)
    reply = Reply(of_structure({"edges": {"src/../a.go": [], "a.go": ["main 3 (self 0.97)"]}}), "")
    assert judge(Question("call-sites", "all call sites of f", gold), reply).recall == pytest.approx(1 / 3)
    whole = Reply(of_structure({"edges": {"a.go": ["main 3,5,8 (self 0.97)"]}}), "")
    assert judge(Question("call-sites", "all call sites of f", gold), whole).outcome is Outcome.RIGHT


def test_hits_of_a_search_are_no_set_but_lines_of_grep_may_be_read() -> None:
    gold = (Place("a.go", frozenset((3,))),)
    question = Question("callers", "who calls f?", gold)
    claims = of_text("a.go:3: f()\na.go:9: // f\n")
    assert judge(question, Reply(claims, "", asserts=False)).outcome is Outcome.PARTLY
    assert judge(question, Reply(claims, "", asserts=False, raw=True)).outcome is Outcome.RIGHT


def test_nothing_is_a_wrong_target_where_there_is_something() -> None:
    gold = (Place("a.go", frozenset((3,)), "main"),)
    verdict = judge(Question("callers", "who calls f?", gold), Reply((), "{}"))
    assert (verdict.outcome, verdict.wrong_target) == (Outcome.WRONG, True)
    verdict = judge(Question("callers", "who calls f?", gold), Reply((), "{}", undecided=True))
    assert (verdict.outcome, verdict.wrong_target) == (Outcome.WRONG, False)


def test_an_unused_symbol_must_not_be_called_unknown() -> None:
    question = Question("unused", "is f unused?", none=True)
    assert judge(question, Reply((), "")).outcome is Outcome.RIGHT
    assert judge(question, Reply((), "", unknown=True)).outcome is Outcome.WRONG


def test_the_name_in_a_question_is_what_one_would_grep_for() -> None:
    assert longest_name("what are all the callers of merge_setting?") == "merge_setting"
    assert longest_name("subclasses of `Node`") == "Node"
    assert longest_name("who calls add?") == "add"


def test_our_questions_are_valid_and_enough() -> None:
    files = load([Path(__file__).parent / "answers"])
    assert len(files) >= 8
    assert len({file.language for file in files}) >= 6
    assert sum(len(file.questions) for file in files) >= 110
    assert all(file.sha256 and file.archive and file.registry for file in files)


def test_rows_of_hits_name_hidden_files_files_without_suffix_and_what_stands_beside() -> None:
    rows = {
        "hits": [
            ["config on", ".github/workflows/ci.yml:1"],
            [
                "section 1.2",
                "ChangeLog:40",
                "also: 1.1 80, 1.0 120",
                "in this file (1 of 9): 0.9 160",
                "calls f a.py:3",
            ],
        ]
    }
    found = {(claim.path, line) for claim in of_structure(rows) for line in claim.lines}
    beside = {("ChangeLog", line) for line in (40, 80, 120, 160)}
    assert {(".github/workflows/ci.yml", 1), *beside} <= found
