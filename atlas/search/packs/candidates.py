"""Candidates of a question: passages that words, alternatives and meaning find, each with its features."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.errors import AtlasError
from atlas.model import PROSE, Chunk, Filter, Label, Scored
from atlas.parsing import VectorIndex
from atlas.search.packs.excerpts import sentences_of
from atlas.search.packs.question import Question
from atlas.search.packs.scoring import NO_CHANNELS, Channels, Features, overlap, rough_scores
from atlas.search.packs.texts import Passage, read_passages
from atlas.search.packs.values import PackReader, QuestionOptions
from atlas.search.packs.vocabulary import Vocabulary

POOL = 200
"""Passages per channel of words."""
VECTOR_POOL = 1_000
"""Passages whose cosines are known."""
LOOKED_AT = 80
"""Best passages by the scores of the channels whose texts are read."""
SENTENCES_OF = 24
"""Best passages whose sentences are compared."""
MAX_SENTENCES = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with what the channels say about it."""

    passage: Passage
    features: Features


async def find_candidates(
    reader: PackReader, question: Question, vocabulary: Vocabulary, options: QuestionOptions
) -> tuple[list[Candidate], bytes]:
    """Return the candidates of a question, unordered, and its vector (b"" without an embedder)."""
    where = Filter(project=reader.project, labels=(Label.CHUNK,))
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
) -> list[Candidate]:
    """Return the features of passages, in their order."""
    cosines = dict(channels.meaning)
    lacking = [passage for passage in passages if passage.uid not in cosines]
    cosines |= await _cosines(reader, vector, [(each.uid, each.row.chunk_name, each.text) for each in lacking])
    headings = await _cosines(reader, vector, [(each.uid, "", each.row.chunk_name) for each in passages])
    sentences: dict[str, float] = {}
    if options.sentences:
        sentences = await _cosines(
            reader,
            vector,
            [
                (each.uid, each.row.chunk_name, sentence)
                for each in passages[:SENTENCES_OF]
                for sentence in sentences_of(each.text)[:MAX_SENTENCES]
            ],
        )
    return [
        Candidate(
            each,
            overlap(question, each, vocabulary)._replace(
                words=channels.words.get(each.uid, 0.0),
                others=channels.others.get(each.uid, 0.0),
                meaning=cosines.get(each.uid, 0.0),
                heading=headings.get(each.uid, 0.0),
                sentence=sentences.get(each.uid, cosines.get(each.uid, 0.0)),
            ),
        )
        for each in passages
    ]


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


async def _cosines(reader: PackReader, vector: bytes, texts: Sequence[tuple[str, str, str]]) -> dict[str, float]:
    """Return the best cosine of the texts of each uid: (uid, name, text). Only a model in this process does that."""
    embedder = reader.embedder
    if embedder is None or embedder.place or not any(vector) or not texts:
        return {}
    chunks = [Chunk(uid, "", name, text, False) for uid, name, text in texts]
    found = VectorIndex(len(vector) // 4).cosines(vector, await embedder.embed_chunks(chunks))
    best: dict[str, float] = {}
    for chunk, cosine in zip(chunks, found, strict=True):
        if cosine == cosine:  # not NaN: a text without known words has no cosine
            best[chunk.uid] = max(cosine, best.get(chunk.uid, -1.0))
    return best
