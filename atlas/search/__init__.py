"""The read path: text -> Query -> channels -> fuse -> rank -> expand -> assemble.

It reads the store only through the contract and never writes. `Reader` holds all its dependencies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas.contracts import Embedder, Store, TokenCounter
from atlas.history import History
from atlas.model import NodeRow
from atlas.search.languages import LanguageTerms


@dataclass(frozen=True, slots=True)
class Reader:
    """The dependencies of the read path. `project` and `root` are the defaults of calls without a project."""

    store: Store
    embedder: Embedder
    """Embeds questions for the search of code and documentation."""
    counter: TokenCounter
    project: str
    root: Path
    split_words: Callable[[str], list[str]]
    """Splits text like the index: a whole identifier and its parts, lower-cased (`atlas.parsing.split_words`)."""
    digest_paths: Callable[[str, Sequence[str]], list[str]]
    """(root, paths) -> digests as in `FileRecord.digest`, "" for unreadable files (`atlas.parsing.digest_paths`)."""
    languages: LanguageTerms
    history: History | None = None
    """The version history of `project`, for questions about changes; None where there is none to ask."""
    outline: Callable[[str, bytes], Sequence[NodeRow]] | None = None
    """(path, text) -> definitions of a version that is not indexed (`atlas.parsing.outline`)."""
    prose_embedder: Embedder | None = None
    """Embeds questions for the search of notes; None where they are not searched by meaning."""
