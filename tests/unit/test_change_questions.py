"""Which question to the history a text is: names, revisions and times are read from it."""

from __future__ import annotations

import pytest

from atlas.code.changes.changes import asks_history
from atlas.code.question.change_questions import LAST_TAG, ChangeAspect, asks_about_own_changes, change_question
from atlas.code.question.grammar import find_relation
from atlas.core.history import BRANCH_BASE, STAGED

NOW = 1_700_000_000
DAY = 86_400
MIDNIGHT = NOW - NOW % DAY

QUESTIONS = {
    "what changed recently": (ChangeAspect.COMMITS, {}),
    "recent commits": (ChangeAspect.COMMITS, {}),
    "what changed in the last two weeks": (ChangeAspect.COMMITS, {"after": NOW - 14 * DAY}),
    "what changed in the past 3 days": (ChangeAspect.COMMITS, {"after": NOW - 3 * DAY}),
    "what has changed today": (ChangeAspect.COMMITS, {"after": MIDNIGHT}),
    "what changed since yesterday": (ChangeAspect.COMMITS, {"after": MIDNIGHT - DAY}),
    "what changed since 2023-11-01": (ChangeAspect.COMMITS, {"after": 1_698_796_800}),
    "what changed since v1.2": (ChangeAspect.DIFF, {"old": "v1.2"}),
    "what changed since the last release": (ChangeAspect.DIFF, {"old": LAST_TAG}),
    "changes since the latest tag": (ChangeAspect.DIFF, {"old": LAST_TAG}),
    "what changed in atlas/code since the last release": (
        ChangeAspect.HISTORY,
        {"name": "atlas/code", "old": LAST_TAG},
    ),
    "changes since HEAD~3": (ChangeAspect.DIFF, {"old": "HEAD~3"}),
    "commits since main": (ChangeAspect.DIFF, {"old": "main"}),
    "what changed since commit 3f2a91c": (ChangeAspect.DIFF, {"old": "3f2a91c"}),
    "show the diff against main": (ChangeAspect.DIFF, {"old": "main"}),
    "what changed between v1 and v2": (ChangeAspect.DIFF, {"old": "v1", "new": "v2"}),
    "what changed in this branch": (ChangeAspect.DIFF, {"old": BRANCH_BASE}),
    "what changed on this branch compared to main": (ChangeAspect.DIFF, {"old": "main"}),
    "uncommitted changes": (ChangeAspect.DIFF, {"old": "HEAD"}),
    "what has changed since the last commit": (ChangeAspect.DIFF, {"old": "HEAD"}),
    "changes since my last commit in shop": (ChangeAspect.DIFF, {"old": "HEAD"}),
    "what did I change": (ChangeAspect.DIFF, {"old": "HEAD"}),
    "which files have we modified": (ChangeAspect.DIFF, {"old": "HEAD"}),
    "staged changes": (ChangeAspect.DIFF, {"old": "HEAD", "new": STAGED}),
    "who last changed Cart.save": (ChangeAspect.LAST_CHANGE, {"name": "Cart.save"}),
    "when was Cart.save last changed": (ChangeAspect.LAST_CHANGE, {"name": "Cart.save"}),
    "blame Cart.save": (ChangeAspect.LAST_CHANGE, {"name": "Cart.save"}),
    "who wrote Cart.save": (ChangeAspect.LAST_CHANGE, {"name": "Cart.save"}),
    "history of Cart.save": (ChangeAspect.HISTORY, {"name": "Cart.save"}),
    "which commits touched Cart.save": (ChangeAspect.HISTORY, {"name": "Cart.save"}),
    "what changed in atlas/code since v1": (ChangeAspect.HISTORY, {"name": "atlas/code", "old": "v1"}),
    "what changed with Cart.save": (ChangeAspect.TOGETHER, {"name": "Cart.save"}),
    "what files change together with relate.py": (ChangeAspect.TOGETHER, {"name": "relate.py"}),
    "which files usually change with relate.py": (ChangeAspect.TOGETHER, {"name": "relate.py"}),
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_about_changes_asks_the_history(text: str) -> None:
    wanted = QUESTIONS[text]
    intent = find_relation(text)
    assert intent is not None and asks_history(intent, text)
    question = change_question(text, intent.name, intent.within, NOW)
    assert question.asks == wanted[0]
    for field in ("name", "old", "new", "after", "until"):
        default = 0 if field in ("after", "until") else ""
        assert getattr(question, field) == wanted[1].get(field, default), field


@pytest.mark.parametrize("text", ["changes", "user history", "book authors", "login history"])
def test_words_that_may_be_about_code_do_not(text: str) -> None:
    intent = find_relation(text)
    assert intent is None or not asks_history(intent, text)


def test_own_changes_are_told_from_symbols() -> None:
    assert asks_about_own_changes("impact of my changes") and asks_about_own_changes(
        "what do the staged changes break?"
    )
    assert not asks_about_own_changes("impact of Cart.save") and not asks_about_own_changes("impact of changes to Cart")
