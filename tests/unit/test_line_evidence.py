"""Which piece of a body answers a question."""

from __future__ import annotations

import pytest

from atlas.code.tools.search.line_evidence import scores, shares
from atlas.core.english.stems import roots_of
from atlas.parsing import split_words


def best(question: str, *pieces: str) -> str:
    """Return the piece that answers best, without vectors."""
    values = shares(scores(question, pieces, (), roots_of(split_words(question)), split_words))
    return pieces[max(range(len(pieces)), key=values.__getitem__)]


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("default of the version option", "version: 0,", "setVersion(option.version)"),
        ("what is the default timeout", "DEFAULT_TIMEOUT = 30", "self.timeout(request)"),
        ("how many retries are made", "#define CONNECT_RETRIES 10", "count_retries(connect);"),
        ("when is a closed connection refused", "if connection.closed:", "connection.close()"),
        ("where are headers merged", "merge_headers(old, new)", "send(body)"),
    ],
)
def test_words_in_other_forms_and_the_shape_that_is_asked_for_decide(question: str, answer: str, other: str) -> None:
    assert best(question, other, answer) == answer
    assert best(question, answer, other) == answer


def test_a_rare_word_counts_more_than_one_that_all_pieces_have() -> None:
    assert best("load the cart index", "load(cart)", "load(index)", "load(cart, user)") == "load(index)"


def test_meaning_decides_where_no_word_does() -> None:
    values = scores(
        "same object again", ["listeners.add(it)", "Object.is(next, state)"], [0.1, 0.6], {"again"}, split_words
    )
    assert values[1] > values[0]


def test_shares_sum_to_one_and_neighbours_of_the_answer_gain() -> None:
    values = shares([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert sum(values) == pytest.approx(1)
    assert values[2] > values[1] == values[3] > values[0] == values[5]
    assert shares([]) == []
