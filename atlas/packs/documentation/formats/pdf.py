"""PDF files: outline and text of their pages, extracted by `pypdf` (extra `pdf`) in a process with limits.

A PDF can make any reader loop or allocate gigabytes, so that the process ends at a limit of CPU time, text and memory.
What it has read until then is kept, and the article says that it is a part.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from signal import SIGKILL, SIGPROF
from typing import TYPE_CHECKING, cast

from atlas.core.wording import counted
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.formats.pdf_text import OUT_OF_PAGES, OUT_OF_TEXT

if TYPE_CHECKING:
    from atlas.packs.documentation.formats.draft import Draft

MAX_BYTES = 64 << 20
SECONDS = 120
"""Of the wall; the process has a limit of CPU seconds besides."""
CPU_SECONDS, CPU_SECONDS_PER_MIB, MOST_CPU_SECONDS = 1.4, 4.0, 60.0
"""For a file of up to 1 MiB, for each MiB beyond it, and for any file: of 820 files, two of up to 1 MiB take longer."""
CHARACTERS, MOST_CHARACTERS = 1 << 19, 16 << 20
"""For a file of up to 1 MiB, in proportion for a larger one, and for any file."""

PROGRAM = Path(__file__).with_name("pdf_text.py")


def read_pdf(data: bytes, draft: Draft) -> None:
    """Read a PDF file into a draft: its outline's entries become headings before the page that they lead to."""
    if find_spec("pypdf") is None:
        draft.problem(0, "no-pdf-reader", "no PDF reader: install the extra code-atlas[pdf], see atlas doctor")
        return
    if len(data) > MAX_BYTES:
        draft.problem(0, "too-large", f"{len(data):,} bytes; at most {MAX_BYTES:,} are read")
        return
    seconds, characters = limits(len(data))
    command = [sys.executable, "-I", str(PROGRAM), str(seconds), str(characters)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, check=False)
    except (subprocess.TimeoutExpired, OSError) as error:
        draft.problem(0, "pdf-failed", type(error).__name__)
        return
    pages = 0
    for line in done.stdout.splitlines():
        try:
            page: object = json.loads(line)
        except ValueError:
            break
        if isinstance(page, dict):
            _read_page(cast("dict[str, object]", page), draft)
            pages += 1
    if done.returncode:
        _tell(done, pages, f"{seconds:.1f} seconds of CPU time", f"{characters:,} characters", draft)


def limits(size: int) -> tuple[float, int]:
    """Return the CPU seconds and the characters that reading a file of so many bytes may take."""
    more = max(size / (1 << 20) - 1, 0)
    seconds = min(CPU_SECONDS + more * CPU_SECONDS_PER_MIB, MOST_CPU_SECONDS)
    return seconds, min(int((1 + more) * CHARACTERS), MOST_CHARACTERS)


def _tell(done: subprocess.CompletedProcess[bytes], pages: int, time: str, text: str, draft: Draft) -> None:
    """Say why not all pages of a file were read."""
    limit = {-SIGPROF: time, -SIGKILL: time, OUT_OF_TEXT: text, OUT_OF_PAGES: f"{pages:,} pages"}
    if done.returncode in limit:
        draft.problem(
            0, "pdf-in-part", f"read: {counted(pages, 'page', ',')}; the limit of {limit[done.returncode]} is reached"
        )
        return
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    draft.problem(0, "pdf-failed", f"after {counted(pages, 'page')}: {words[0] if words else 'the process has ended'}")


def _read_page(page: dict[str, object], draft: Draft) -> None:
    if title := page.get("title"):
        draft.title = str(title)[:300]
    headings = page.get("headings")
    for one in cast("list[list[object]]", headings) if isinstance(headings, list) else []:
        level, title = one
        draft.heading(int(str(level)), str(title))
    for paragraph in _paragraphs(str(page.get("text", ""))):
        draft.add(BlockKind.PARAGRAPH, paragraph)


def _paragraphs(text: str) -> list[str]:
    """Divide the text of a page at blank lines and behind short lines that end a sentence."""
    lines = [line.strip() for line in text.split("\n")]
    width = max((len(line) for line in lines), default=0)
    found: list[str] = []
    open_lines: list[str] = []
    for line in lines:
        if line:
            open_lines.append(line)
        if not line or (line[-1:] in ".:!?" and len(line) < width * 0.7):
            found.append(" ".join(open_lines))
            open_lines = []
    found.append(" ".join(open_lines))
    # a hyphen at the end of a line divides a word
    return [re.sub(r"(?<=[a-z])- (?=[a-z])", "", one) for one in found if one]
