"""A program that reads a PDF file from standard input and prints one JSON object a page: text and outline entries.

It imports nothing of this package, so that the process is small, and limits its own CPU time and memory.
"""

from __future__ import annotations

import io
import json
import logging
import sys
from typing import Any, cast

MAX_CPU_SECONDS = 60
MAX_MEMORY = 1 << 30
MAX_PAGES = 5_000
MAX_OUTLINE = 5_000
MAX_DEPTH = 6
MAX_TEXT = 16 << 20
"""Characters of all pages, which the reading process holds; 5,000 full pages have that many."""


def limit_resources() -> None:
    """Limit CPU time and memory where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def outline_of(reader: Any) -> dict[int, list[list[object]]]:
    """Return level and title of the outline's entries by page."""
    found: dict[int, list[list[object]]] = {}
    pending: list[tuple[Any, int]] = [(reader.outline, 2)]
    seen = 0
    while pending and seen < MAX_OUTLINE:
        entries, level = pending.pop(0)
        for entry in entries:
            if isinstance(entry, list):
                pending.append((cast(Any, entry), min(level + 1, MAX_DEPTH)))
                continue
            seen += 1
            number = reader.get_destination_page_number(entry)
            if number is not None and number >= 0:
                found.setdefault(number, []).append([level, str(entry.title)[:300]])
    return found


def main() -> int:
    """Print the pages; return 1 if the file is damaged."""
    limit_resources()
    logging.disable(logging.CRITICAL)
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    try:
        outline = outline_of(reader)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        outline = {}
    title = reader.metadata.title if reader.metadata else ""
    left = MAX_TEXT
    for number, page in enumerate(reader.pages):
        if number >= MAX_PAGES:
            return 1
        headings = sorted(outline.get(number, []), key=lambda one: str(one[0]))
        text = page.extract_text()
        left -= len(text)
        if left < 0:
            return 1
        print(json.dumps({"title": title if not number else "", "headings": headings, "text": text}), flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
