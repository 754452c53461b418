"""A section between two comments in a Markdown file of the user, such as AGENTS.md. Everything around it is kept."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.cli.clients.edits import BrokenText, Edit, newline_of

MAX_BYTES = 4 << 20

BEGIN = "<!-- code-atlas:begin -->"
END = "<!-- code-atlas:end -->"


def load(text: str) -> str:
    """Return the text between the comments, "" without them. Raises BrokenText for one without the other."""
    found = _find(text)
    if found is None:
        return ""
    return text[found[0] + len(BEGIN) : found[1] - len(END)].strip().replace("\r\n", "\n")


def put(text: str, path: Sequence[str], value: str) -> list[Edit]:
    """Return the edit that replaces the section, or appends it after a blank line."""
    del path
    newline = newline_of(text)
    new = newline.join((BEGIN, *value.strip().split("\n"), END))
    found = _find(text)
    if found is not None:
        return [Edit(found[0], text[found[0] : found[1]], new)]
    gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
    return [Edit(len(text), "", f"{gap}{new}{newline}")]


def raw(text: str, path: Sequence[str]) -> str:
    """Return the section with its comments, "" without one."""
    del path
    found = _find(text)
    return text[found[0] : found[1]] if found else ""


def put_raw(text: str, path: Sequence[str], value: str) -> list[Edit]:
    """Return the edit that replaces the section with its comments by this text."""
    del path
    found = _find(text)
    return [Edit(found[0], text[found[0] : found[1]], value)] if found else []


def remove(text: str, path: Sequence[str], made: int = 0) -> list[Edit]:
    """Return the edit that removes the section and the blank line before it."""
    del path, made
    found = _find(text)
    if found is None:
        return []
    start, end = found
    end += len(text[end:]) - len(text[end:].lstrip("\r\n"))
    kept = text[:start].rstrip("\r\n")
    newline = newline_of(text)
    gap = (2 * newline if text[end:] else newline) if kept else ""
    return [Edit(len(kept), text[len(kept) : end], gap)]


def has_comment(text: str) -> bool:
    """Return False: comments are text here."""
    del text
    return False


def made_for(document: object, path: Sequence[str]) -> int:
    """Return 0: nothing is around a section."""
    del document, path
    return 0


def _find(text: str) -> tuple[int, int] | None:
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 and end < 0:
        return None
    if start < 0 or end < start:
        line = text.count("\n", 0, max(start, end)) + 1
        raise BrokenText(f"line {line}: {BEGIN} and {END} do not belong together", line)
    return start, end + len(END)
