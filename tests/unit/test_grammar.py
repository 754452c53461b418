"""Which relation a question asks for, of which symbol, within which scope: a table of phrasings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.code.question.grammar import MAX_RELATION_CHARACTERS, find_relation
from atlas.code.question.relation_kinds import Kind, RelationIntent

TABLE = Path(__file__).parent / "data" / "phrasings.txt"
ROWS = [line.rpartition(" | ")[::2] for line in TABLE.read_text(encoding="utf-8").splitlines() if line[0] != "#"]


def written(intent: RelationIntent | None) -> str:
    """Return an intent as the table writes it."""
    if intent is None:
        return "-"
    follows = {True: "direct", False: "transitive", None: ""}[intent.direct]
    tests = f"tests={intent.tests.value}" if intent.tests else ""
    within = f"within={intent.within}" if intent.within else ""
    return " ".join(part for part in (intent.kind.value, intent.name, intent.other, tests, within, follows) if part)


@pytest.mark.parametrize(("question", "expected"), ROWS)
def test_phrasings(question: str, expected: str) -> None:
    assert written(find_relation(question)) == expected


def test_the_table_is_large_and_covers_every_kind() -> None:
    assert len(ROWS) >= 250
    kinds = {expected.split()[0] for _, expected in ROWS}
    assert {kind.value for kind in Kind} <= kinds


@pytest.mark.parametrize("name", ["MethodRouter", "TypeAdapter", "classify", "FunctionType", "test_all", "Handler"])
def test_names_are_never_cut(name: str) -> None:
    """A word such as `method` or `class` says what a name is, but is no part of a longer name."""
    for question in (f"callers of {name}", f"who calls the method {name}?", f"{name} callers", f"where is {name} used"):
        found = find_relation(question)
        assert found is not None, question
        assert found.name == name, question


@pytest.mark.parametrize(
    ("question", "certain"),
    [
        ("tests for login", False),
        ("tests for `login`", True),
        ("tests for the login function", True),
        ("tests for Login", True),
        ("usages of memory", False),
        ("memory.limit usages", True),
    ],
)
def test_a_name_that_may_be_english_is_uncertain(question: str, certain: bool) -> None:
    found = find_relation(question)
    assert found is not None
    assert found.certain is certain


def test_long_text_asks_for_no_relation() -> None:
    assert find_relation("x" * MAX_RELATION_CHARACTERS + " callers of save_user") is None


@given(st.text(max_size=400))
def test_any_text_is_understood_the_same_way_twice(text: str) -> None:
    folded = " ".join(text.split())
    assert find_relation(folded) == find_relation(folded)


@given(
    st.lists(
        st.sampled_from(
            [
                "callers",
                "of",
                "the",
                "class",
                "in",
                "tests",
                "who",
                "calls",
                "X",
                ".",
                "(",
                "*",
                ")",
                "::",
                "within",
                "a.b",
                "`f`",
                "path",
                "from",
                "to",
            ]
        )
    )
)
def test_words_of_the_grammar_in_any_order_give_a_name_or_nothing(words: list[str]) -> None:
    question = " ".join(words)
    found = find_relation(question)
    assert found is None or len(found.name) <= len(question)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM users; DROP TABLE",
        "SELECT name FROM users; DROP user_accounts",
        "select name from users; drop user_accounts",
        "UPDATE user_accounts SET name = 1",
        "ALTER TABLE user_accounts",
    ],
)
def test_a_statement_of_sql_changes_no_code(text: str) -> None:
    assert find_relation(text) is None


@pytest.mark.parametrize("text", ["drop user_accounts", "what breaks if I update user_accounts", "drop Settings.table"])
def test_verbs_of_sql_still_ask_what_a_change_affects(text: str) -> None:
    found = find_relation(text)
    assert found is not None
    assert found.kind == Kind.IMPACT
