"""Passages of a pack as read from its store, with their stems; kept in memory while the store is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast
from weakref import WeakKeyDictionary

from atlas.core.contracts import Store
from atlas.core.english.sentences import sentence_spans
from atlas.core.model import Node, NodeRow
from atlas.packs.documentation.pack.strict_json import load_json
from atlas.packs.questions.values import PackReader
from atlas.parsing import stem_words

MAX_BYTES = 32_000_000
"""Contents of articles that are kept."""
MAX_PASSAGES = 20_000
"""Passages that are kept with their stems."""
MAX_SENTENCES, SHORTEST = 10, 2
"""Sentences of a passage that are compared, and characters that are no sentence."""
NO_PROPERTIES: Mapping[str, object] = {}


@dataclass(frozen=True)
class Passage:
    """A passage with its text. `section` and `article` are uids."""

    uid: str
    row: NodeRow
    text: str
    section: str
    article: str

    @property
    def headings(self) -> tuple[str, ...]:
        """The titles above it, that of the article first."""
        return tuple(self.row.chunk_name.split(" > "))

    @cached_property
    def title_stems(self) -> frozenset[str]:
        """The stems of the innermost heading."""
        return frozenset(stem_words(self.headings[-1]).split())

    @cached_property
    def heading_stems(self) -> frozenset[str]:
        """The stems of all headings."""
        return frozenset(stem_words(self.row.chunk_name).split())

    @cached_property
    def stems(self) -> Mapping[str, int]:
        """How often the text has each stem."""
        return Counter(stem_words(self.text).split())

    @cached_property
    def sentences(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """Its first sentences and blocks, each with its stems."""
        texts = [self.text[start:end] for start, end in sentence_spans(self.text) if end - start > SHORTEST]
        return tuple((text, frozenset(stem_words(text).split())) for text in texts[:MAX_SENTENCES])

    @cached_property
    def length(self) -> int:
        """Number of stems of the text."""
        return sum(self.stems.values())


class _Kept:
    """What was read from one store."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.passages: dict[str, Passage] = {}
        self.size = 0


_KEPT: WeakKeyDictionary[Store, _Kept] = WeakKeyDictionary()


async def read_passages(reader: PackReader, uids: Iterable[str]) -> dict[str, Passage]:
    """Return passages by uid; omits unknown ones. A pack does not change while its store is open."""
    wanted = list(dict.fromkeys(uids))
    kept = _KEPT.setdefault(reader.store, _Kept())
    missing = [uid for uid in wanted if uid not in kept.passages]
    if missing:
        nodes = await reader.store.symbols(missing)
        contents = await read_contents(reader, [node.row.path for node in nodes])
        if len(kept.passages) + len(nodes) > MAX_PASSAGES:
            kept.passages = {uid: kept.passages[uid] for uid in wanted if uid in kept.passages}
        for node in nodes:
            kept.passages[node.row.uid] = _passage(node, contents.get(node.row.path, b""))
    return {uid: kept.passages[uid] for uid in wanted if uid in kept.passages}


async def read_contents(reader: PackReader, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the texts of articles by path."""
    kept = _KEPT.setdefault(reader.store, _Kept())
    wanted = list(dict.fromkeys(paths))
    missing = [path for path in wanted if path not in kept.contents]
    if missing:
        read = await reader.store.content(reader.project, missing)
        size = sum(map(len, read.values()))
        if kept.size + size > MAX_BYTES:
            kept.contents = {path: kept.contents[path] for path in wanted if path in kept.contents}
            kept.size = sum(map(len, kept.contents.values()))
        kept.contents |= read
        kept.size += size
    return {path: kept.contents[path] for path in wanted if path in kept.contents}


def properties_of(row: NodeRow) -> Mapping[str, object]:
    """Return the properties of a node; empty ones where they cannot be read."""
    try:
        found = load_json(row.properties) if row.properties else None
    except ValueError:
        return NO_PROPERTIES
    return cast("dict[str, object]", found) if isinstance(found, dict) else NO_PROPERTIES


def _passage(node: Node, content: bytes) -> Passage:
    row = node.row
    text = content[row.start_byte : row.end_byte].decode("utf-8", "replace")
    # the passages of a section are numbered behind its uid
    return Passage(row.uid, row, text, row.uid.rpartition("/")[0], f"{node.project}:{row.path}")
