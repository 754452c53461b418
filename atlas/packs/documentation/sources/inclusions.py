"""Documents that include files of their own source: those files are read first, then the documents."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from atlas.packs.documentation.formats.document import MAX_BYTES, MAX_DEPTH, MAX_FILES, Inclusion, candidates, targets
from atlas.packs.documentation.formats.reading import format_of, read_article, settings_key

if TYPE_CHECKING:
    from atlas.packs.documentation.article import Article
    from atlas.packs.documentation.formats.document import Document
    from atlas.packs.documentation.sources.values import Tree

Masking = Callable[[bytes], bytes]
"""Hides the secrets of a text."""


def includes_files(document: Document) -> bool:
    """Return whether a document may include files."""
    return format_of(document.path) in ("restructuredtext", "text") and bool(targets(document.data))


def read_including(
    tree: Tree, documents: Sequence[Document], paths: Sequence[str], articles: frozenset[str], masked: Masking
) -> Iterator[Article]:
    """Yield the articles of documents with the files of the tree that they include.

    `paths` are all files of the tree; nothing else is read. `articles` are those that are documents themselves.
    """
    known = frozenset(paths)
    files: dict[str, bytes] = {}
    texts = {document.path: document.data for document in documents}
    for _ in range(MAX_DEPTH):
        wanted = {path for own, data in texts.items() for path in _included(own, data, known)}
        wanted = sorted(wanted - files.keys())[: MAX_FILES - len(files)]
        texts = {path: masked(data) for path, data, _ in tree.read(wanted, MAX_BYTES)} if wanted else {}
        files |= texts
    digests = {path: hashlib.blake2b(data, digest_size=16).digest() for path, data in files.items()}
    inner = {path: frozenset(_included(path, data, known)) for path, data in files.items()}
    for document in documents:
        article = read_article(replace(document, inclusion=Inclusion(document.path, files, articles)))
        digest = hashlib.blake2b(document.data, digest_size=16, key=settings_key(document))
        for path in _closure(_included(document.path, document.data, known), inner):
            digest.update(path.encode("utf-8", "surrogatepass") + b"\0" + digests[path])
        yield replace(article, digest=digest.hexdigest())


def _included(path: str, data: bytes, known: frozenset[str]) -> Iterator[str]:
    """Yield the files of the tree that a text includes."""
    for target in targets(data):
        found = next((one for one in candidates(path, target) if one in known), "")
        if found:
            yield found


def _closure(paths: Iterable[str], inner: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the files that a document includes, also through others: its article changes with them."""
    found: set[str] = set()
    pending = list(paths)
    while pending:
        path = pending.pop()
        if path in inner and path not in found:
            found.add(path)
            pending += inner[path]
    return sorted(found)
