"""The read path: text -> Query -> channels -> fuse -> rank -> expand -> assemble.

It reads the store through the contract only and never writes. `Reader` is everything it needs to know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas.contracts import Embedder, Store, TokenCounter
from atlas.search.languages import LanguageTerms


@dataclass(frozen=True, slots=True)
class Reader:
    """What reading needs. `project` and `root` are the defaults of a call that names no project."""

    store: Store
    embedder: Embedder
    counter: TokenCounter
    project: str
    root: Path
    split_words: Callable[[str], list[str]]
    """Words as the index has them: an identifier whole and its parts, lower-cased (`atlas.parsing.split_words`)."""
    digest_paths: Callable[[str, Sequence[str]], list[str]]
    """(root, paths) -> digests as in `FileRecord.digest`, "" where unreadable (`atlas.parsing.digest_paths`)."""
    languages: LanguageTerms
