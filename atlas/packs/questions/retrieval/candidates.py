"""Candidates of a question: passages that words, alternatives and meaning find, each with its features."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas.core.errors import AtlasError
from atlas.core.model import PROSE, Chunk, Filter, Scored
from atlas.packs.questions.question import Question
from atlas.packs.questions.references import references
from atlas.packs.questions.retrieval.scoring import (
    NO_CHANNELS,
    Channels,
    Features,
    overlap,
    rough_scores,
    soft_share,
    whole_sentence,
)
from atlas.packs.questions.retrieval.vectors import heading_cosines, local_embedder, sentence_cosines
from atlas.packs.questions.retrieval.vocabulary import Vocabulary
from atlas.packs.questions.texts import Passage, read_passages
from atlas.packs.questions.values import PackReader, QuestionOptions
from atlas.parsing import VectorIndex

POOL = 200
"""Passages per channel of words."""
VECTOR_POOL = 400
"""Passages whose cosines are known."""
LOOKED_AT = 100
"""Best passages by the scores of the channels whose texts are read."""
SENTENCES_OF = 40
"""Best passages whose sentences are compared."""
IN_ONE_SENTENCE = 0.8
"""Share of what a passage says that its best sentence is taken to say, where sentences are not compared."""


@dataclass(frozen=True, slots=True)
class PassageCandidate:
    """A passage with what the channels say about it."""

    passage: Passage
    features: Features


async def find_candidates(
    reader: PackReader, question: Question, vocabulary: Vocabulary, options: QuestionOptions
) -> tuple[list[PassageCandidate], bytes]:
    """Return the candidates of a question, unordered, and its vector (b"" without an embedder)."""
    where = Filter(project=reader.project)  # only passages have words and vectors
    vector = await vector_of(reader, question.text) if options.vectors else b""
    phrases = [" ".join(phrase) for phrase in question.alternatives]
    words, others, meaning = await asyncio.gather(
        reader.store.search_text(question.stems, where, POOL) if question.stems else _none(),
        reader.store.search_text(phrases, where, POOL) if phrases else _none(),
        reader.store.search_vector(vector, where, VECTOR_POOL, PROSE) if any(vector) else _none(),
    )
    channels = Channels(*({hit.uid: hit.score for hit in hits} for hits in (words, others, meaning)))
    rough = rough_scores(channels)
    best = sorted(rough, key=lambda uid: (-rough[uid], uid))[:LOOKED_AT]
    passages = await read_passages(reader, best)
    features = await features_of(
        reader, question, vector, [passages[uid] for uid in best if uid in passages], vocabulary, options, channels
    )
    return features, vector


async def features_of(
    reader: PackReader,
    question: Question,
    vector: bytes,
    passages: Sequence[Passage],
    vocabulary: Vocabulary,
    options: QuestionOptions,
    channels: Channels = NO_CHANNELS,
) -> list[PassageCandidate]:
    """Return the features of passages, in their order."""
    cosines = dict(channels.meaning)
    lacking = [passage for passage in passages if passage.uid not in cosines]
    cosines |= await _cosines(reader, vector, lacking)
    headings = await heading_cosines(reader, vector, passages)
    looked_at: Sequence[Passage] = passages[:SENTENCES_OF] if options.sentences else ()
    sentences = await sentence_cosines(reader, vector, looked_at)
    shares = {each.uid: [soft_share(question, stems) for _, stems in each.sentences] for each in looked_at}
    whole = {
        each.uid: whole_sentence(question, (stems for _, stems in each.sentences), each.heading_stems)
        for each in looked_at
    }
    referred = references(passages, _sentence_scores(shares, sentences)) if looked_at else {}
    found: list[PassageCandidate] = []
    for each in passages:
        own = overlap(question, each, vocabulary)
        features = own._replace(
            words=channels.words.get(each.uid, 0.0),
            others=channels.others.get(each.uid, 0.0),
            meaning=cosines.get(each.uid, 0.0),
            heading=headings.get(each.uid, 0.0),
            sentence=max(sentences.get(each.uid, ()), default=cosines.get(each.uid, 0.0)),
            soft_sentence=max(shares.get(each.uid, ()), default=IN_ONE_SENTENCE * own.soft),
            whole_sentence=whole.get(each.uid, IN_ONE_SENTENCE * own.covered),
            referred=referred.get(each.section, 0.0),
        )
        found.append(PassageCandidate(each, features))
    return found


def _sentence_scores(
    shares: Mapping[str, Sequence[float]], cosines: Mapping[str, Sequence[float]]
) -> dict[str, list[float]]:
    """Return a score per sentence, half for its words and half for its meaning."""
    best = max((cosine for each in cosines.values() for cosine in each), default=0.0) or 1.0
    return {
        uid: [
            0.5 * share + 0.5 * max(cosine, 0.0) / best
            for share, cosine in zip(own, cosines.get(uid) or [0.0] * len(own), strict=True)
        ]
        for uid, own in shares.items()
    }


async def vector_of(reader: PackReader, text: str) -> bytes:
    """Return the vector of a text, b"" where there is no embedder or it fails: words are searched all the same."""
    if reader.embedder is None:
        return b""
    try:
        return await reader.embedder.embed_query(text)
    except AtlasError:
        return b""


async def _none() -> list[Scored]:
    return []


async def _cosines(reader: PackReader, vector: bytes, passages: Sequence[Passage]) -> dict[str, float]:
    """Return the cosines of passages by uid. Only a model in this process does that."""
    embedder = local_embedder(reader, vector)
    if embedder is None or not passages:
        return {}
    chunks = [Chunk(each.uid, "", each.row.chunk_name, each.text, False) for each in passages]
    found = VectorIndex(len(vector) // 4).cosines(vector, await embedder.embed_chunks(chunks))
    # NaN: a text without known words has no cosine
    return {chunk.uid: cosine for chunk, cosine in zip(chunks, found, strict=True) if cosine == cosine}
