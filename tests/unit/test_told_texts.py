"""Which words before a question are a message that something prints, and which tell what the question is about."""

from __future__ import annotations

import pytest

from atlas.code.retrieve.exact_text import texts_of


@pytest.mark.parametrize(
    "question",
    [
        "Host not permitted: where does it come from?",
        "Host not permitted - which code raises that error?",
        "cannot open file 'x.txt': where is this message built?",
        "No scheme supplied for the URL, where is that error raised?",
        "The wait was not completed in time. Where exactly in the client code does this text get produced and thrown?",
    ],
)
def test_a_text_that_something_prints_is_looked_for_as_it_is(question: str) -> None:
    (text,) = texts_of(question)
    assert text.is_certain and not text.in_literal


@pytest.mark.parametrize(
    "question",
    [
        "Waits shorter than one second: what additional switch gets thrown on the client side to make them work, and"
        " on which platform is it left off?",
        "Slow reader on the other end: the send buffer stays full in the middle of a response. How long is the server"
        " patient, and what becomes of the connection - is anything logged?",
        "Terminal whose charset can't show a sign: what does the command line tool print for that sample value?",
    ],
)
def test_what_somebody_tells_counts_only_where_a_string_of_code_has_it(question: str) -> None:
    assert all(text.in_literal and not text.is_certain for text in texts_of(question))
