"""A program that reads a PDF file from standard input and prints one JSON object a page: text and outline entries.

Its arguments are the CPU seconds and the characters that it may take. It imports nothing of this package, so that the
process is small, and limits its own CPU time and memory.
"""

from __future__ import annotations

import io
import json
import logging
import resource
import signal
import sys
from typing import Any, cast

MAX_MEMORY = 1 << 30
MAX_PAGES = 5_000
MAX_OUTLINE = 5_000
MAX_DEPTH = 6
MAX_TITLE = 300
OUT_OF_TEXT, OUT_OF_PAGES = 3, 4
"""Exit codes: what had no room for more pages."""


def limit_resources(seconds: float) -> None:
    """Limit CPU time and memory: the process ends at once, whatever it computes."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    # what the timer cannot end
    whole = int(seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
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
                found.setdefault(number, []).append([level, str(entry.title)[:MAX_TITLE]])
    return found


def main(seconds: float, characters: int) -> int:
    """Print the pages; return why not all of them, 0 for all."""
    limit_resources(seconds)
    logging.disable(logging.CRITICAL)
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    try:
        outline = outline_of(reader)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        outline = {}
    title = str(reader.metadata.title or "")[:MAX_TITLE] if reader.metadata else ""
    for number, page in enumerate(reader.pages):
        if number >= MAX_PAGES:
            return OUT_OF_PAGES
        headings = sorted(outline.get(number, []), key=lambda one: str(one[0]))
        characters -= sum(len(str(heading)) for _, heading in headings)
        text = page.extract_text()
        kept = text[: max(characters, 0)]
        print(json.dumps({"title": title if not number else "", "headings": headings, "text": kept}), flush=True)  # noqa: T201
        characters -= len(text)
        if characters < 0:
            return OUT_OF_TEXT
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(float(sys.argv[1]), int(sys.argv[2])))
    except Exception as failure:  # noqa: BLE001 the boundary of the process
        # a message can hold a whole object of the file
        sys.exit(f"{type(failure).__name__}: {failure}"[:300])
