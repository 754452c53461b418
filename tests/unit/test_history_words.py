"""Which questions are about the version history: `commit` is a word of programs, too."""

from __future__ import annotations

import pytest

from atlas.code.changes.history_words import asks_for_commits
from tests.unit.test_route import taken_apart


@pytest.mark.parametrize(
    "question",
    [
        "CartStore used without begin - how does it deal with commit, rollback and close for a single call",
        "how does the producer commit offsets",
        "who commits the transaction",
        "what commits the transaction",
        "which thread commits offsets",
        "which class commits the unit of work",
        "when is the change event committed",
        "when is a token created",
        "what happens to the pipeline after commit",
        "where does the worker commit its offsets",
        "does Store.close commit or roll back open transactions?",
        "how is the commit index advanced",
        "what is the difference between commit() and flush()",
        "does the consumer auto-commit",
        "how are configuration changes committed and rolled back",
        "how does the parser handle a commit message",
        "when does the follower learn about committed entries",
        "can a reader see rows that are not committed",
        "why does the writer never commit on error",
        "what happens when two workers commit at the same time",
        "which pre-commit hooks are configured",
    ],
)
def test_what_a_program_commits_is_no_question_to_the_history(question: str) -> None:
    assert not asks_for_commits(taken_apart(question))


@pytest.mark.parametrize(
    "question",
    [
        "which commit fixed the race in the pool",
        "who commits most often to worker.py",
        "what commits changed Store.close",
        "which commit added rollback",
        "when was commit and rollback added to Store",
        "in which commit was close removed",
        "list commits the bot made",
        "how do I find the commit that broke close",
        "what changed after commit 3f2a91c",
        "who first added Store.commit",
        "history of commit()",
        "who committed the change of the lock",
    ],
)
def test_commits_of_the_history_are(question: str) -> None:
    assert asks_for_commits(taken_apart(question))
