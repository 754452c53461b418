"""The English kit: what its stop words share, and where its sentences differ."""

from __future__ import annotations

import pytest

from atlas.core.english.sentences import (
    docstring_sentence,
    note_sentences,
    said_sentences,
    sentences,
    title_sentence,
)
from atlas.core.english.stems import base_forms, root_of, stem
from atlas.core.english.stop_words import ASKING, COMMON, FILLERS, STATEMENT_STOP_WORDS, STOP_WORDS
from atlas.parsing import stem_words

AUXILIARIES = {"could", "shall"}


def test_every_list_has_the_common_words_and_further_ones() -> None:
    assert COMMON < STOP_WORDS and COMMON < STATEMENT_STOP_WORDS
    assert (len(COMMON), len(STOP_WORDS), len(STATEMENT_STOP_WORDS)) == (63, 67, 116)
    assert ASKING.isdisjoint(STOP_WORDS)


def test_the_index_of_prose_drops_the_common_words() -> None:
    dropped = {word for word in COMMON if not stem_words(word)}
    assert {word for word in COMMON - dropped if len(word) > 1} == AUXILIARIES
    assert all(not stem_words(word) for word in STOP_WORDS - COMMON)
    assert {word for word in FILLERS.split() if not stem_words(word)} == {"should", "can", "would"}


@pytest.mark.parametrize("word", ["not", "no", "before", "over", "more"])
def test_what_reverses_or_compares_statements_counts(word: str) -> None:
    assert word not in STATEMENT_STOP_WORDS


def test_stems_go_as_far_as_their_use_needs() -> None:
    assert [root_of(word) for word in ("hashing", "hashed", "hasher")] == ["hash"] * 3
    assert [stem(word) for word in ("cached", "caches", "caching")] == [stem("cache")] * 3
    assert stem("lookup") == stem("looks") == "look"
    assert base_forms("closes") == ["close", "clos"]
    assert {stem_words(word).strip() for word in ("releases", "released", "releasing")} == {"0releas"}


def test_sentences_of_each_kind_of_text() -> None:
    prose = "Use e.g. Redis. It keeps `a. b`\n\n- one item\n- another"
    assert sentences(prose) == ["Use e.g. Redis.", "It keeps `a. b`", "- one item", "- another"]
    assert note_sentences("# Title\n* Use 3.5 now. it works!") == ["Title", "Use 3.5 now.", "it works!"]
    assert said_sentences("What happened? We left. Yes") == ["What happened?", " We left.", " Yes"]
    assert title_sentence("Fails for e.g. loops. Since 2.0") == "Fails for e.g. loops."
    assert docstring_sentence("Return one\n  value. More follows.") == "Return one value."
    assert docstring_sentence("Title\n   \nMore.") == "Title"
