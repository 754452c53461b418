"""Whether the index has anything to do with a question, and which hits an answer shows together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atlas._parser import split_words
from atlas.code.find import CHANNELS
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.parse_question import route
from atlas.code.rank.features import FEATURES
from atlas.code.rank.grouping import MAX_SAME_FILE, group_by_file
from atlas.code.rank.rank import Candidate
from atlas.code.rank.ranking import STAGES
from atlas.code.rank.relevance import (
    RELEVANT,
    Signals,
    match_strength,
    read_signals,
    relevance,
    uncounted,
    with_coverage,
)
from atlas.core.english.stems import other_spellings
from atlas.core.model import Scored, WordCounts
from atlas.parsing import search_terms
from atlas.runtime.config.search import RANKING_STAGES

from .test_rank import node

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))
COUNTS = WordCounts({"a.py": 4, "b.py": 2}, {"close": {"a.py": 1}, "cart": {"a.py": 2, "b.py": 1}})


def signals(text: str, cosine: float = 0.3, *, frequent: frozenset[str] = frozenset(), **hits: str) -> Signals:
    found = {channel: (Scored(uid, 1.0),) for channel, uid in hits.items()}
    query = route(text, split_words, LANGUAGES)
    return read_signals(query, {**found, "meaning": (Scored("x", cosine),)}, COUNTS, frequent)


def test_words_of_the_index_make_a_question_relevant() -> None:
    assert relevance(signals("cart closes")) > 0.5, "`closes` is `close`"
    assert relevance(signals("bake sourdough bread")) < RELEVANT
    assert relevance(signals("bake sourdough bread", 0.95)) > relevance(signals("bake sourdough bread", 0.1))


def test_a_match_is_stronger_if_one_hit_has_the_words() -> None:
    query = route("close the cart", split_words, LANGUAGES)
    apart = signals("close the cart")
    nothing = with_coverage(apart, query, COUNTS, [("c.py", frozenset({"open"}))])
    in_file = with_coverage(apart, query, COUNTS, [("c.py", frozenset({"open"})), ("a.py", frozenset({"open"}))])
    in_hit = with_coverage(apart, query, COUNTS, [("a.py", frozenset({"close", "cart"}))])
    assert (nothing.in_hit, nothing.in_file) == (0.0, 0.0)
    assert (in_file.in_hit, in_file.in_file) == (0.0, 1.0)
    assert (in_hit.in_hit, in_hit.in_file) == (1.0, 1.0)
    assert match_strength(nothing) < match_strength(in_file) < match_strength(in_hit)
    assert with_coverage(apart, query, COUNTS, []) == apart
    assert match_strength(replace(apart, is_named=True)) == 1.0


def test_words_that_only_ask_do_not_count() -> None:
    assert signals("what happens when the cart closes").known == signals("cart closes").known
    assert signals("what happens").known == 0.0, "they are all there is"


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("colours", "colors"),
        ("color", "colour"),
        ("serialiser", "serializer"),
        ("organization", "organisation"),
        ("analyse", "analyze"),
        ("cancelled", "canceled"),
        ("centre", "center"),
        ("catalog", "catalogue"),
        ("license", "licence"),
    ],
)
def test_both_spellings_of_a_word_are_searched(word: str, other: str) -> None:
    assert other in route(f"{word} of a thing", split_words, LANGUAGES).variants
    assert word in route(f"{other} of a thing", split_words, LANGUAGES).variants


@pytest.mark.parametrize("word", ["elaborate", "laboratory", "error", "wise", "size", "parameter", "label", "log"])
def test_words_of_one_spelling(word: str) -> None:
    assert other_spellings(word) == ()


def test_words_decide_where_nothing_has_a_vector() -> None:
    assert relevance(signals("cart closes", 0.0)) > 0.5
    assert relevance(signals("bake sourdough bread", 0.0)) < RELEVANT


def test_what_the_index_has_by_name_is_relevant() -> None:
    assert relevance(signals("Sourdough", name="shop.Sourdough")) == 1.0
    assert relevance(signals('"bake the bread"', phrase="x")) == 1.0


def test_words_that_are_too_frequent_to_be_counted_are_known() -> None:
    query = route("value of sourdough", split_words, LANGUAGES)
    assert uncounted(query, COUNTS) == ("value", "sourdough")
    assert signals("value of sourdough", frequent=frozenset(("value",))).known > signals("value of sourdough").known


def candidates(*places: tuple[str, str]) -> list[Candidate]:
    return [Candidate(node(name, path=path), 1 - number / 100) for number, (name, path) in enumerate(places)]


def test_hits_of_one_file_stand_beside_its_first() -> None:
    ranked = candidates(("shop.a", "a.py"), ("shop.b", "b.py"), ("shop.c", "a.py"), ("shop.d", "c.py"))
    groups = group_by_file(ranked, route("how is a thing made", split_words, LANGUAGES))
    assert [[each.node.row.name for each in (group.first, *group.same_file)] for group in groups] == [
        ["a", "c"],
        ["b"],
        ["d"],
    ]


def test_a_group_is_limited_and_then_begins_again() -> None:
    ranked = candidates(*((f"shop.f{number}", "a.py") for number in range(MAX_SAME_FILE + 3)))
    groups = group_by_file(ranked, route("how is a thing made", split_words, LANGUAGES))
    assert [1 + len(group.same_file) for group in groups] == [MAX_SAME_FILE + 1, 2]


def test_a_decision_record_stands_for_its_sections() -> None:
    section, record = node("adr.one.Context", "DocSection", "adr/1.md"), node("adr.one", "ADR", "adr/1.md")
    note = node("notes.one", "Claim", "adr/1.md")
    ranked = [Candidate(each, 1.0) for each in (section, record, note)]
    groups = group_by_file(ranked, route("how is a thing made", split_words, LANGUAGES))
    assert [[each.node.row.label for each in (group.first, *group.same_file)] for group in groups] == [
        ["ADR", "DocSection"],
        ["Claim"],
    ]


def test_symbols_of_a_bare_name_stay_single() -> None:
    ranked = candidates(("shop.A.save", "a.py"), ("shop.B.save", "a.py"))
    assert len(group_by_file(ranked, route("save", split_words, LANGUAGES))) == 2


def test_the_setting_names_stages_and_these_name_features() -> None:
    assert {*RANKING_STAGES} <= {each.switched_by for each in (*CHANNELS, *STAGES)}
    of_stages = {"naming"}  # its stage weighs it, and no question of the training set has it
    assert all({*each.features} <= {*FEATURES} | of_stages for each in STAGES)
