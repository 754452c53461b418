"""How likely each candidate is what a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.model import Label, Node, NodeRow
from atlas.parsing import search_terms, split_words
from atlas.search.languages import LanguageRow, language_terms
from atlas.search.likelihood import EXACT, NAME, QUOTED, SENTENCE, certainty_of, likelihoods
from atlas.search.rank import Candidate
from atlas.search.route import Query, route

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))


def ask(text: str) -> Query:
    return route(text, split_words, LANGUAGES)


def candidate(score: float, name: str = "f", label: str = Label.FUNCTION, *reasons: str) -> Candidate:
    row = NodeRow._make([None] * len(NodeRow._fields))._replace(
        uid=f"p:{name}", name=name, qualified_name=name, label=label, path="a.py"
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
    ],
)
def test_names_and_titles_are_certain(question: str, first: Candidate, certainty: object) -> None:
    assert certainty_of(first, ask(question)) is certainty


def test_a_certain_hit_leaves_little_to_the_others() -> None:
    sure = likelihoods([candidate(1.0, "Reading files", Label.DOC_SECTION), candidate(0.8)], ask("reading files"))
    unsure = likelihoods([candidate(1.0), candidate(0.8)], ask("reading files"))
    assert sure[0] > 0.9 and sure[1] < 0.02
    assert unsure[0] < 0.7 and unsure[1] > 0.1
