"""How likely each candidate is what a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.parse_question import Query, route
from atlas.code.rank.likelihood import (
    EXACT,
    NAME,
    QUOTED,
    SENTENCE,
    SURE_RANKS,
    Certainty,
    certainty_of,
    how_sure,
    likelihoods,
)
from atlas.code.rank.rank import Candidate
from atlas.core.model import Label, Node, NodeRow
from atlas.parsing import search_terms, split_words

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))


def ask(text: str) -> Query:
    return route(text, split_words, LANGUAGES)


def candidate(
    score: float, name: str = "f", label: str = Label.FUNCTION, *reasons: str, path: str = "a.py"
) -> Candidate:
    row = NodeRow._make([None] * len(NodeRow._fields))._replace(
        uid=f"p:{name}", name=name, qualified_name=name, label=label, path=path
    )
    return Candidate(Node("p", row), score, reasons=reasons)


@given(st.lists(st.floats(0, 2), min_size=1, max_size=40), st.floats(0, 1))
def test_likelihoods_fall_and_sum_to_at_most_the_relevance(scores: list[float], relevance: float) -> None:
    ranked = [candidate(score) for score in sorted(scores, reverse=True)]
    found = likelihoods(ranked, ask("how are files read"), relevance)
    assert sum(found) <= relevance + 1e-9
    assert found == sorted(found, reverse=True)


def test_no_candidates_have_no_likelihood() -> None:
    assert likelihoods([], ask("how are files read")) == []


@pytest.mark.parametrize(
    ("question", "first", "certainty"),
    [
        ("how are files read", candidate(1.0), SENTENCE),
        ("read_file", candidate(1.0, "read_file", Label.FUNCTION, "exact name"), NAME),
        ("read_file", candidate(1.0, "other"), SENTENCE),
        ("Reading  files", candidate(1.0, "Reading Files", Label.DOC_SECTION), EXACT),
        ("Reading files", candidate(1.0, "Reading files", Label.FUNCTION), SENTENCE),
        ('where is "cannot read the file" raised', candidate(1.0, "f", Label.FUNCTION, QUOTED), EXACT),
        ('where is "cannot read the file" raised', candidate(1.0), SENTENCE),
        ("files are read 2 times", candidate(1.0, "f", Label.FUNCTION, QUOTED), SENTENCE),
        ("it cannot read the file", candidate(1.0, "f", Label.FUNCTION, QUOTED), SENTENCE),
        (
            '"cannot read the file" is all I see' + " and more" * 20,
            candidate(1.0, "f", Label.FUNCTION, QUOTED),
            SENTENCE,
        ),
    ],
)
def test_names_and_titles_are_certain(question: str, first: Candidate, certainty: object) -> None:
    assert certainty_of(first, ask(question)) is certainty


def test_behind_the_first_hits_new_files_and_types_are_likelier_and_other_packages_less() -> None:
    labels = (Label.FUNCTION, Label.FUNCTION, Label.CLASS, Label.EXTERNAL_SYMBOL)
    weak = [
        candidate(0.5, f"g{number}", label, path="b.py" if number == 1 else "a.py")
        for number, label in enumerate(labels)
    ]
    query = ask("how are files read")
    function, new_file, type_, external = likelihoods([*(candidate(1.0) for _ in range(SURE_RANKS)), *weak], query)[5:]
    assert new_file > 1.5 * function
    assert type_ > 1.5 * function > 10 * external


def test_a_certain_hit_leaves_little_to_the_others() -> None:
    sure = likelihoods([candidate(1.0, "Reading files", Label.DOC_SECTION), candidate(0.8)], ask("reading files"))
    unsure = likelihoods([candidate(1.0), candidate(0.8)], ask("reading files"))
    assert sure[0] > 0.9 and sure[1] < 0.02
    assert unsure[0] < 0.7 and unsure[1] > 0.1


@pytest.mark.parametrize(
    ("likelihood", "certainty", "word"),
    [
        (0.45, SENTENCE, "sure"),
        (0.3, SENTENCE, "likely"),
        (0.1, SENTENCE, "guess"),
        (0.45, NAME, "guess"),
        (0.6, EXACT, "likely"),
        (0.95, NAME, "sure"),
    ],
)
def test_a_hit_says_how_sure_it_is(likelihood: float, certainty: Certainty, word: str) -> None:
    assert how_sure(likelihood, certainty) == word
