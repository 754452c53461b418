"""Words of a pack that mean nearly the same as words of a question, by the vectors of the model of prose."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from weakref import WeakKeyDictionary

from atlas.contracts import Store
from atlas.model import Chunk
from atlas.parsing import VectorIndex, stem_words
from atlas.search.packs.values import PackReader
from atlas.search.packs.vocabulary import Vocabulary

Near = Mapping[str, Sequence[tuple[str, float]]]
"""By stem of the question: stems of the pack with their cosines, nearest first."""
LEAST = 0.35
"""Cosine from which two words are near: `wipe` and `clean` have .60, `trips` and `speed` .29."""
MOST = 8
MAX_WORDS = 40
_WORD = re.compile(r"[a-z]{3,30}")
_VECTORS: WeakKeyDictionary[Store, tuple[list[str], list[bytes]]] = WeakKeyDictionary()


async def near_words(reader: PackReader, text: str, stems: Collection[str], vocabulary: Vocabulary) -> Near:
    """Return the near words of the words of a question with these stems; empty without a model in this process."""
    embedder = reader.embedder
    if embedder is None or embedder.place or not vocabulary.words or not stems:
        return {}
    if reader.store not in _VECTORS:
        every = list(vocabulary.words)
        chunks = [Chunk(stem, "", "", vocabulary.words[stem], False) for stem in every]
        _VECTORS[reader.store] = every, await embedder.embed_chunks(chunks)
    known, vectors = _VECTORS[reader.store]
    found: dict[str, Sequence[tuple[str, float]]] = {}
    for word in list(dict.fromkeys(_WORD.findall(text.lower())))[:MAX_WORDS]:
        stem = stem_words(word).strip()
        vector = await embedder.embed_query(word) if stem in stems and stem not in found else b""
        if any(vector):
            cosines = VectorIndex(len(vector) // 4).cosines(vector, vectors)
            near = sorted(((-cosine, other) for cosine, other in zip(cosines, known, strict=True) if cosine >= LEAST))
            found[stem] = [(other, -cosine) for cosine, other in near if other != stem][:MOST]
    return found
