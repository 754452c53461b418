"""Descriptions of candidates against a question in other words: which are near, and when nothing is compared."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from atlas._parser import split_words
from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.long_text import read_long_text
from atlas.code.question.parse_question import route
from atlas.code.rank.descriptions import NAMING, NAMINGS, add_descriptions
from atlas.code.rank.features import QuestionEvidence
from atlas.code.rank.rank import Candidate, rank
from atlas.code.reader import RankingOptions, Reader
from atlas.code.retrieve.long_search import ChannelHits
from atlas.core.errors import ConfigError
from atlas.core.model import DOCUMENTS, Chunk, WordCounts
from atlas.parsing import StaticEncoder, VectorIndex, search_terms

from .test_rank import node

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))
QUESTION = "slow down visitors who ask too often"
THROTTLE = node("web.throttling.RateLimiter", "Class", "web/throttling.py", docstring="Limits requests per user.")
BUILDER = node("web.forms.LabelBuilder", "Class", "web/forms.py", docstring="Draws the caption of a field.")
SILENT = node("q.Zqxj", "Class", "")


class Model:
    """The model of prose that ships, which counts what is compared and may be on a server or damaged."""

    def __init__(self, *, is_remote: bool = False, is_damaged: bool = False) -> None:
        self._encoder = StaticEmbedder(PROSE_FOLDER, DOCUMENTS).prose_encoder()
        self._is_remote, self._is_damaged, self.compared = is_remote, is_damaged, 0

    def __call__(self) -> Model | None:
        if self._is_damaged:
            raise ConfigError("the model is damaged")
        return None if self._is_remote else self

    def cosines(self, question: str, files: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        self.compared += sum(len(texts) for _, texts in files)
        assert self._encoder is not None
        return self._encoder.cosines(question, files)


@dataclass
class PartOfReader:
    """What the stage reads of a `Reader`."""

    prose_encoder: Model
    code_encoder: Callable[[], StaticEncoder | None] = lambda: None
    ranking: RankingOptions = field(default_factory=RankingOptions)


def candidates(*nodes: Any) -> list[Candidate]:
    return [Candidate(each, 0.5) for each in nodes]


def shares(text: str, reader: PartOfReader, *nodes: Any) -> dict[str, float]:
    query = route(text, split_words, LANGUAGES)
    found = ChannelHits(query, [], WordCounts({}, {}), query, read_long_text(text, LANGUAGES))
    found = add_descriptions(cast("Reader", reader), found, candidates(*nodes))
    return {uid: score for ranking in found.rankings for uid, score in ranking.hits}


def test_a_description_in_other_words_is_near() -> None:
    found = shares(QUESTION, PartOfReader(Model()), BUILDER, THROTTLE)
    assert found == {THROTTLE.row.uid: 1.0, BUILDER.row.uid: 0.0}


def test_the_path_counts_for_all_that_it_holds() -> None:
    """Two candidates without a word for the model: the one in the file that is meant is nearer."""
    here, there = (node(f"{name}.Zqxj", "Class", path) for name, path in (("a", "rate_limit.py"), ("b", "colours.py")))
    found = shares(QUESTION, PartOfReader(Model()), there, here)
    assert found[here.row.uid] == 1.0


def test_what_the_model_does_not_know_is_nearest_to_nothing() -> None:
    found = shares(QUESTION, PartOfReader(Model()), SILENT, THROTTLE)
    assert found[THROTTLE.row.uid] == 1.0
    assert found[SILENT.row.uid] == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "RateLimiter",
        "throttling",
        f"{QUESTION}. " * 12,
        "qzxv wwqk",
    ],
    ids=["a name", "a word", "a long text", "unknown words"],
)
def test_nothing_is_compared_with(text: str) -> None:
    assert shares(text, PartOfReader(Model()), BUILDER, THROTTLE) == {}


def test_one_candidate_or_none_has_no_order() -> None:
    assert shares(QUESTION, PartOfReader(Model())) == {}
    assert shares(QUESTION, PartOfReader(Model()), THROTTLE) == {}


def test_a_server_is_not_asked() -> None:
    server = Model(is_remote=True)
    assert shares(QUESTION, PartOfReader(server), BUILDER, THROTTLE) == {}
    assert server.compared == 0


def test_a_failure_leaves_the_order_as_it_is() -> None:
    assert shares(QUESTION, PartOfReader(Model(is_damaged=True)), BUILDER, THROTTLE) == {}


def test_the_stage_can_be_switched_off() -> None:
    model = Model()
    off = PartOfReader(model, ranking=RankingOptions(off=frozenset(("descriptions",))))
    assert shares(QUESTION, off, BUILDER, THROTTLE) == {}
    assert model.compared == 0


def test_it_orders_equal_matches_unless_the_question_is_a_name() -> None:
    found = shares(QUESTION, PartOfReader(Model()), BUILDER, THROTTLE)
    for text, first in ((QUESTION, THROTTLE), ("LabelBuilder", BUILDER)):
        query = route(text, split_words, LANGUAGES)
        ranked = rank(candidates(BUILDER, THROTTLE), query, LANGUAGES, QuestionEvidence(descriptions=found))
        assert ranked[0].node == first


async def test_texts_are_compared_as_they_are_embedded() -> None:
    """With the vectors of the texts, as those of documents are stored, the cosines are the same to the last bit."""
    embedder = StaticEmbedder(PROSE_FOLDER, DOCUMENTS)
    encoder = embedder.prose_encoder()
    assert encoder is not None
    words = ("limits", "RateLimiter", "per_user", "caf\xe9", "\u0301x", "zqxj", "3.5", "if (a) {", "\n", "throttling ")
    chance = random.Random(3)
    files = [
        (
            path,
            [" ".join(chance.choices(words, k=count)) for count in (0, 1, 5, 40, 400)],
        )
        for path in ("web/throttling.py", "a b/\xe9t\xe9.md", "", "long/path/" * 300)
    ]
    chunks = [Chunk("", "", path, text, is_file=False) for path, texts in files for text in texts]
    vectors = await embedder.embed_chunks(chunks)
    info = await embedder.info()
    expected = VectorIndex(info.dimension).cosines(encoder.query(QUESTION), vectors)
    assert encoder.cosines(QUESTION, files) == [each if math.isfinite(each) else 0.0 for each in expected]
    assert len(set(expected)) > 15
    assert encoder.cosines("?", files) == []


SENTENCE = "Delete all expired sessions from the store."
PURGE = node("web.SessionStore.clear_expired", "Method", "web/sessions.py")
SAVE = node("web.SessionStore.save", "Method", "web/sessions.py")
PAGE = node("Sessions", "DocSection", "docs/sessions.md")


def naming(text: str, reader: PartOfReader, *nodes: Any) -> dict[str, float]:
    query = route(text, split_words, LANGUAGES)
    found = ChannelHits(query, [], WordCounts({}, {}), query, read_long_text(text, LANGUAGES))
    found = add_descriptions(cast("Reader", reader), found, candidates(*nodes))
    return {uid: score for each in found.rankings if each.channel == NAMING for uid, score in each.hits}


def test_a_sentence_of_documentation_is_near_the_name_that_says_it_in_short() -> None:
    reader = PartOfReader(Model(), StaticEmbedder().code_encoder)
    found = naming(SENTENCE, reader, SAVE, PAGE, PURGE)
    assert found == {PURGE.row.uid: 1.0, SAVE.row.uid: 0.0}
    query = route(SENTENCE, split_words, LANGUAGES)
    ranked = rank(candidates(SAVE, PURGE), query, LANGUAGES, QuestionEvidence(namings=found))
    assert ranked[0].node == PURGE


def test_names_are_compared_with_nothing_else() -> None:
    reader = PartOfReader(Model(), StaticEmbedder().code_encoder)
    off = PartOfReader(Model(), StaticEmbedder().code_encoder, RankingOptions(off=frozenset((NAMINGS,))))
    assert naming("where are expired sessions deleted", reader, SAVE, PURGE) == {}
    assert naming(SENTENCE, off, SAVE, PURGE) == {}
    assert naming(SENTENCE, PartOfReader(Model()), SAVE, PURGE) == {}, "a server embeds code"
    assert naming(SENTENCE, reader, PAGE) == {}


async def test_names_are_compared_as_they_are_embedded() -> None:
    embedder = StaticEmbedder()
    encoder = embedder.code_encoder()
    assert encoder is not None
    named = [("clear_expired", ""), ("SessionStore save", "def save(self) -> None"), ("", "return 1"), ("zqxj", "")]
    vectors = await embedder.embed_chunks([Chunk("", "", name, text, is_file=False) for name, text in named])
    info = await embedder.info()
    expected = VectorIndex(info.dimension).cosines(encoder.query(SENTENCE), vectors)
    assert encoder.cosines(SENTENCE, named) == [each if math.isfinite(each) else 0.0 for each in expected]
    assert encoder.cosines("?", named) == []
