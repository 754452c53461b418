"""The folder of documents that a question names: `which page in docs/v3 ...`, `the v3 docs`. It limits the search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from atlas.code.lines.scan_texts import is_document
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

_FOLDER = lazy_regex(r"(?<![\w/.:-])((?:[\w@+-][\w.@+-]{0,80}/){1,8}(?:[\w@+-]{1,80})?)(?![\w./])")
_VERSION = r"v?(\d{1,4}(?:\.(?:\d{1,4}|x)){0,2})"
_OF_VERSION = lazy_regex(
    rf"\b{_VERSION}(?:'s)? (?:docs?|documentation|manual|guides?|pages?)\b"
    rf"|\b(?:docs?|documentation|manual|guides?|pages?) (?:of|for|on|in) (?:the )?(?:version )?{_VERSION}(?![\w.])",
    re.IGNORECASE,
)


async def in_named_folder(reader: Reader, query: Query, where: Filter) -> Filter:
    """Return the filter limited to the folder of documents that a question for a page names; else the same.

    A folder without documents, or a version that no folder is named after, limits nothing. Raises store errors.
    """
    if where.path or not query.wants_documents or query.reports:
        return where
    written = [match[1].strip("/") for match in _FOLDER.finditer(query.text)]
    versions = [match[1] or match[2] for match in _OF_VERSION.finditer(query.text)]
    if not written and not versions:
        return where
    paths = sorted(await reader.store.paths(where.project or reader.project))
    found = [*_named(paths, written), *_named(paths, [f"{sign}{each}" for each in versions for sign in _SIGNS])]
    return replace(where, path=f"{found[0]}/") if found else where


_SIGNS = ("v", "", "version-", "versions/")
"""Stand before the number in the names of folders."""


def _named(paths: list[str], folders: list[str]) -> Iterator[str]:
    """Yield the outermost folder of documents, not of code with some documents, for each written one."""
    for folder in folders:
        files: dict[str, list[bool]] = {}
        for path in paths:
            if (at := f"/{path}".find(f"/{folder}/")) >= 0:
                files.setdefault(path[: at + len(folder)], []).append(is_document(path))
        kept = [each for each, documents in files.items() if 2 * sum(documents) > len(documents)]
        if kept:
            yield min(kept, key=lambda each: (each.count("/"), each))
