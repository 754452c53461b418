"""Cosines of prose: of a question with the notes of the index, and with sentences that are embedded while it waits."""

from __future__ import annotations

import asyncio
import math
import struct
from collections.abc import Sequence
from dataclasses import replace

from atlas.code.reader import Reader
from atlas.code.retrieve.channels import other_model
from atlas.core.contracts import Embedder
from atlas.core.english.sentences import note_sentences
from atlas.core.errors import AtlasError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import PROSE, Chunk, Filter, Node, Scored
from atlas.parsing import VectorIndex

MIN_PASSAGE = 400
"""Characters from which a note is a passage, whose best sentence counts; turns and short notes count as a whole."""
MAX_SENTENCES = 12
"""Sentences of a note that are compared one by one."""
MAX_CHARACTERS = 1000
"""Of a question. Longer ones are texts, which are embedded as a whole all the same."""
_WORD = lazy_regex(r"\w+")


async def nearest(reader: Reader, vector: bytes, where: Filter, limit: int) -> list[Scored]:
    """Return the nearest notes of a vector of the prose space.

    Empty for a zero vector, without vectors, and if these are of another model.
    """
    embedder = reader.prose_embedder
    if embedder is None or not any(vector):
        return []
    changed, hits = await asyncio.gather(
        other_model(reader, await embedder.info()),
        reader.store.search_vector(vector, where, limit, PROSE),
        return_exceptions=True,
    )
    if isinstance(changed, BaseException):
        raise changed
    if changed:
        return []
    if isinstance(hits, BaseException):
        raise hits
    return hits


async def vector_of(reader: Reader, text: str) -> bytes:
    """Return the vector of a question, b"" where there is no embedder or it fails: words are searched all the same."""
    if reader.prose_embedder is None:
        return b""
    try:
        return await reader.prose_embedder.embed_query(text)
    except AtlasError:
        return b""


async def question_vector(reader: Reader, text: str, names: frozenset[str]) -> bytes:
    """Return the vector of a question, in which the names of entities count half.

    Every note about a named entity has its name in front, so in a short note the name outweighs what is said:
    "Maria: What happened?" would be nearer to a question about Maria than most answers.
    """
    whole = await vector_of(reader, text)
    kept = [word for word in _WORD.findall(text) if not names.intersection(reader.split_words(word))]
    if not whole or not names or not kept:
        return whole
    rest = await vector_of(reader, " ".join(kept))
    if not any(rest):
        return whole
    count = len(whole) // 4
    pairs = zip(struct.unpack(f"<{count}f", whole), struct.unpack(f"<{count}f", rest), strict=True)
    return struct.pack(f"<{count}f", *((one + other) / 2 for one, other in pairs))


async def cosines_now(reader: Reader, vector: bytes, nodes: Sequence[Node]) -> dict[str, float]:
    """Return the cosines of notes by uid, whose texts are embedded here.

    Only a model in this process does that at once; for others the result is empty.
    """
    embedder = reader.prose_embedder
    if embedder is None or embedder.place or not any(vector):
        return {}
    chunks = [Chunk(node.row.uid, "", node.row.chunk_name, node.row.docstring, False) for node in nodes]
    return {chunk.uid: cosine for chunk, cosine in zip(chunks, await _cosines(embedder, vector, chunks), strict=True)}


def plain_text(node: Node) -> Node:
    """Return a note as it is compared by what it says only, without what it is from."""
    return replace(node, row=node.row._replace(chunk_name=""))


async def best_sentences(reader: Reader, vector: bytes, nodes: Sequence[Node]) -> dict[str, float]:
    """Return the cosine of the best sentence of each note of several sentences, by uid; see `cosines_now`."""
    embedder = reader.prose_embedder
    if embedder is None or embedder.place or not any(vector):
        return {}
    owners: list[str] = []
    chunks: list[Chunk] = []
    for node in nodes:
        parts = note_sentences(node.row.docstring) if len(node.row.docstring) >= MIN_PASSAGE else []
        if len(parts) > 1:
            name = node.row.chunk_name or ("" if node.row.name in parts[0] else node.row.name)
            owners += [node.row.uid] * min(len(parts), MAX_SENTENCES)
            chunks += [Chunk(node.row.uid, "", name, part, False) for part in parts[:MAX_SENTENCES]]
    best: dict[str, float] = {}
    for uid, cosine in zip(owners, await _cosines(embedder, vector, chunks), strict=True):
        best[uid] = max(cosine, best.get(uid, -1.0))
    return best


async def _cosines(embedder: Embedder, vector: bytes, chunks: Sequence[Chunk]) -> list[float]:
    if not chunks:
        return []
    found = VectorIndex(len(vector) // 4).cosines(vector, await embedder.embed_chunks(chunks))
    return [0.0 if math.isnan(cosine) else cosine for cosine in found]
