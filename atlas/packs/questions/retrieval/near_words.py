"""Words of a pack that mean nearly the same as words of a question, by the vectors of the model of prose."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from weakref import WeakKeyDictionary

from atlas.core.contracts import Store
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Chunk
from atlas.packs.questions.retrieval.vocabulary import Vocabulary
from atlas.packs.questions.values import PackReader
from atlas.parsing import VectorIndex, stem_words

Near = Mapping[str, Sequence[tuple[str, float]]]
"""By stem of the question: stems of the pack with their cosines, nearest first."""
LEAST = 0.3
"""Cosine from which two words are near: `wipe` and `clean` have .60, `trips` and `speed` .29."""
MOST = 40
MAX_WORDS = 40
_WORD = lazy_regex(r"[a-z]{3,30}")


class _Table:
    """The frequent words of a pack with their vectors, and the near words that were asked for."""

    def __init__(self, stems: list[str], vectors: Sequence[bytes]) -> None:
        self.stems = stems
        self.index = VectorIndex(len(vectors[0]) // 2)
        self.index.put(range(len(vectors)), vectors)
        self.known: dict[str, Sequence[tuple[str, float]]] = {}

    def near(self, stem: str, vector: bytes) -> Sequence[tuple[str, float]]:
        """Return the near stems of a word, nearest first."""
        found = self.index.search(vector, MOST + 1)
        near = ((self.stems[place], cosine) for place, cosine in found if cosine >= LEAST)
        return tuple((other, cosine) for other, cosine in near if other != stem)[:MOST]


_TABLES: WeakKeyDictionary[Store, _Table] = WeakKeyDictionary()


async def near_words(reader: PackReader, text: str, stems: Collection[str], vocabulary: Vocabulary) -> Near:
    """Return the near words of the words of a question with these stems; empty without a model in this process."""
    embedder = reader.embedder
    if embedder is None or embedder.place or not vocabulary.words or not stems:
        return {}
    table = _TABLES.get(reader.store)
    if table is None:
        every = list(vocabulary.words)
        chunks = [Chunk(stem, "", "", vocabulary.words[stem], False) for stem in every]
        table = _TABLES[reader.store] = _Table(every, await embedder.embed_chunks(chunks))
    found: dict[str, Sequence[tuple[str, float]]] = {}
    for word in list(dict.fromkeys(_WORD.findall(text.lower())))[:MAX_WORDS]:
        stem = stem_words(word).strip()
        if stem not in stems or stem in found:
            continue
        if word not in table.known:
            vector = await embedder.embed_query(word)
            table.known[word] = table.near(stem, vector) if any(vector) else ()
        found[stem] = table.known[word]
    return found
