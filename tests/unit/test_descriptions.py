"""Descriptions of candidates against a question in other words: which are near, and when nothing is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from atlas._parser import split_words
from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.long_text import read_long_text
from atlas.code.question.parse_question import route
from atlas.code.rank.descriptions import add_descriptions
from atlas.code.rank.features import QuestionEvidence
from atlas.code.rank.rank import Candidate, rank
from atlas.code.reader import RankingOptions, Reader
from atlas.code.retrieve.long_search import ChannelHits
from atlas.core.errors import Unavailable
from atlas.core.model import DOCUMENTS, Chunk, WordCounts
from atlas.parsing import search_terms

from .test_rank import node

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))
QUESTION = "slow down visitors who ask too often"
THROTTLE = node("web.throttling.RateLimiter", "Class", "web/throttling.py", docstring="Limits requests per user.")
BUILDER = node("web.forms.LabelBuilder", "Class", "web/forms.py", docstring="Draws the caption of a field.")
SILENT = node("q.Zqxj", "Class", "")


class Model(StaticEmbedder):
    """The model of prose that ships, which counts what it embeds and may be on a server or gone."""

    def __init__(self, place: str = "", *, is_gone: bool = False) -> None:
        super().__init__(PROSE_FOLDER, DOCUMENTS)
        self._place, self._is_gone, self.embedded = place, is_gone, 0

    @property
    def place(self) -> str:
        return self._place

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        if self._is_gone:
            raise Unavailable("the model is gone")
        self.embedded += len(chunks)
        return await super().embed_chunks(chunks)


@dataclass
class PartOfReader:
    """What the stage reads of a `Reader`."""

    documents_embedder: StaticEmbedder | None
    ranking: RankingOptions = field(default_factory=RankingOptions)


def candidates(*nodes: Any) -> list[Candidate]:
    return [Candidate(each, 0.5) for each in nodes]


async def shares(text: str, reader: PartOfReader, *nodes: Any) -> dict[str, float]:
    query = route(text, split_words, LANGUAGES)
    found = ChannelHits(query, [], WordCounts({}, {}), query, read_long_text(text, LANGUAGES))
    found = await add_descriptions(cast("Reader", reader), found, candidates(*nodes))
    return {uid: score for ranking in found.rankings for uid, score in ranking.hits}


async def test_a_description_in_other_words_is_near() -> None:
    found = await shares(QUESTION, PartOfReader(Model()), BUILDER, THROTTLE)
    assert found == {THROTTLE.row.uid: 1.0, BUILDER.row.uid: 0.0}


async def test_the_path_counts_for_all_that_it_holds() -> None:
    """Two candidates without a word for the model: the one in the file that is meant is nearer."""
    here, there = (node(f"{name}.Zqxj", "Class", path) for name, path in (("a", "rate_limit.py"), ("b", "colours.py")))
    found = await shares(QUESTION, PartOfReader(Model()), there, here)
    assert found[here.row.uid] == 1.0


async def test_what_the_model_does_not_know_is_nearest_to_nothing() -> None:
    found = await shares(QUESTION, PartOfReader(Model()), SILENT, THROTTLE)
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
async def test_nothing_is_compared_with(text: str) -> None:
    assert await shares(text, PartOfReader(Model()), BUILDER, THROTTLE) == {}


async def test_one_candidate_or_none_has_no_order() -> None:
    assert await shares(QUESTION, PartOfReader(Model())) == {}
    assert await shares(QUESTION, PartOfReader(Model()), THROTTLE) == {}


async def test_a_server_is_not_asked() -> None:
    server = Model("https://embed.example")
    assert await shares(QUESTION, PartOfReader(server), BUILDER, THROTTLE) == {}
    assert server.embedded == 0
    assert await shares(QUESTION, PartOfReader(None), BUILDER, THROTTLE) == {}


async def test_a_failure_leaves_the_order_as_it_is() -> None:
    assert await shares(QUESTION, PartOfReader(Model(is_gone=True)), BUILDER, THROTTLE) == {}


async def test_the_stage_can_be_switched_off() -> None:
    model = Model()
    off = PartOfReader(model, ranking=RankingOptions(off=frozenset(("descriptions",))))
    assert await shares(QUESTION, off, BUILDER, THROTTLE) == {}
    assert model.embedded == 0


async def test_it_orders_equal_matches_unless_the_question_is_a_name() -> None:
    found = await shares(QUESTION, PartOfReader(Model()), BUILDER, THROTTLE)
    for text, first in ((QUESTION, THROTTLE), ("LabelBuilder", BUILDER)):
        query = route(text, split_words, LANGUAGES)
        ranked = rank(candidates(BUILDER, THROTTLE), query, LANGUAGES, QuestionEvidence(descriptions=found))
        assert ranked[0].node == first
