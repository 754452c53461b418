"""Vectors of the headings and sentences of passages, kept in memory while the store is open."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from atlas.core.contracts import Embedder, Store
from atlas.core.model import Chunk
from atlas.packs.questions.texts import Passage
from atlas.packs.questions.values import PackReader
from atlas.parsing import VectorIndex

MAX_KEPT = 40_000
"""Vectors of a pack that are kept: 512 bytes each."""

_HEADINGS: WeakKeyDictionary[Store, dict[str, bytes]] = WeakKeyDictionary()
_SENTENCES: WeakKeyDictionary[Store, dict[str, list[bytes]]] = WeakKeyDictionary()


def local_embedder(reader: PackReader, vector: bytes) -> Embedder | None:
    """Return the embedder if it runs in this process and knows the question: no other one is asked for many texts."""
    return reader.embedder if reader.embedder is not None and not reader.embedder.place and any(vector) else None


async def heading_cosines(reader: PackReader, vector: bytes, passages: Sequence[Passage]) -> dict[str, float]:
    """Return the cosine of the headings of each passage by uid; empty without a model in this process."""
    embedder = local_embedder(reader, vector)
    if embedder is None or not passages:
        return {}
    kept = _HEADINGS.setdefault(reader.store, {})
    names = list(dict.fromkeys(passage.row.chunk_name for passage in passages))
    missing = [name for name in names if name not in kept]
    if missing:
        if len(kept) + len(missing) > MAX_KEPT:
            kept.clear()
            missing = names
        chunks = [Chunk(name, "", "", name, False) for name in missing]
        kept.update(zip(missing, await embedder.embed_chunks(chunks), strict=True))
    found = dict(zip(names, _cosines(vector, [kept[name] for name in names]), strict=True))
    return {passage.uid: found[passage.row.chunk_name] for passage in passages}


async def sentence_cosines(reader: PackReader, vector: bytes, passages: Sequence[Passage]) -> dict[str, list[float]]:
    """Return the cosines of the sentences of each passage by uid, in their order, each read below its headings."""
    embedder = local_embedder(reader, vector)
    if embedder is None or not passages:
        return {}
    kept = _SENTENCES.setdefault(reader.store, {})
    missing = [passage for passage in passages if passage.uid not in kept]
    if missing:
        if sum(map(len, kept.values())) > MAX_KEPT:
            kept.clear()
            missing = list(passages)
        chunks = [
            Chunk(passage.uid, "", passage.row.chunk_name, text, False)
            for passage in missing
            for text, _ in passage.sentences
        ]
        vectors = iter(await embedder.embed_chunks(chunks))
        kept.update({passage.uid: [next(vectors) for _ in passage.sentences] for passage in missing})
    flat = _cosines(vector, [one for passage in passages for one in kept[passage.uid]])
    found: dict[str, list[float]] = {}
    at = 0
    for passage in passages:
        count = len(kept[passage.uid])
        found[passage.uid] = flat[at : at + count]
        at += count
    return found


def kept_sentence_cosines(reader: PackReader, vector: bytes, passage: Passage) -> list[float]:
    """Return the cosines of the sentences of a passage if `sentence_cosines` has compared them; none else."""
    kept = _SENTENCES.get(reader.store, {}).get(passage.uid)
    return _cosines(vector, kept) if kept and any(vector) else []


def _cosines(vector: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Return cosines; 0 for a text without a known word."""
    found = VectorIndex(len(vector) // 4).cosines(vector, vectors)
    return [cosine if cosine == cosine else 0.0 for cosine in found]
