"""MDX without what only its components say: statements and comments are left out, labels of tabs and cards are text."""

from __future__ import annotations

from atlas.core.lazy_regex import lazy_regex

FENCE = lazy_regex(r" {0,3}(`{3,}+|~{3,}+)")
LABEL = lazy_regex(r"\b(?:label|title|summary)=\"([^\"<>{}]{1,200})\"")
EMPTY = lazy_regex(r"<[A-Z][\w.]{0,80}(?: [^<>]{0,300})?/>")
"""A component without content: "<Version/>"."""

STATEMENTS = ("import ", "export ")
"""Begin a statement at the start of a block; it goes on to the next blank line."""
FENCES = ("---", "+++")
"""Of a front matter."""


def without_components(lines: list[str]) -> list[str]:
    """Return as many lines, so that their numbers stay; those of fenced code are kept as they are."""
    found: list[str] = []
    fence, in_comment, in_statement = "", False, False
    for before, line in zip(["", *lines], lines, strict=False):
        marker = FENCE.match(line)
        is_plain = not (fence or in_comment)
        in_statement = bool(line.strip()) and (
            in_statement or (is_plain and line.startswith(STATEMENTS) and (not before.strip() or before in FENCES))
        )
        if in_statement:
            found.append("")
            continue
        if not in_comment and fence:
            fence = "" if marker and marker[1].startswith(fence) and not line.strip(" `~") else fence
        elif not in_comment and marker:
            fence = marker[1]
        else:
            line, in_comment = _without_comments(line, in_comment)
            line = _labelled(line)
        found.append(line)
    return found


def _without_comments(line: str, in_comment: bool) -> tuple[str, bool]:
    """Return a line without `{/* ... */}`, and whether a comment goes on behind it."""
    kept: list[str] = []
    at = 0
    while True:
        if in_comment:
            end = line.find("*/}", at)
            if end < 0:
                return "".join(kept), True
            at, in_comment = end + 3, False
        start = line.find("{/*", at)
        if start < 0 or line.count("`", 0, start) % 2:
            return "".join((*kept, line[at:])), False
        kept.append(line[at:start])
        at, in_comment = start + 3, True


def _labelled(line: str) -> str:
    """Return the label of a component that stands alone on its line, and a heading without components."""
    plain = line.strip()
    if plain[:1] == "<" and plain[1:2].isupper() and plain[-1] == ">" and (label := LABEL.search(plain)):
        return f"{label[1]}:"
    if line.startswith("#") and "`" not in line:
        return " ".join(EMPTY.sub("", line).split())
    return line
