"""AsciiDoc: titles, anchors, lists, delimited blocks, admonitions, tables and inline markup, in one pass of lines.

Includes and conditionals are not followed; attributes of the document are substituted once, without recursion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind, Link
from atlas.packs.documentation.formats.draft import page_link

if TYPE_CHECKING:
    from atlas.packs.documentation.formats.draft import Draft

TITLE = lazy_regex(r"(?P<marks>={1,6}+)\s++(?P<title>.++)$")
ANCHOR = lazy_regex(r"\[\[(?P<id>[^\],]++)(?:,[^\]]*+)?\]\]\s*+$|\[#(?P<short>[\w.:-]++)[^\]]*+\]\s*+$")
ATTRIBUTE = lazy_regex(r":(?P<name>[\w-]++):(?:\s++(?P<value>.*+))?$")
BLOCK_ATTRIBUTES = lazy_regex(r"\[(?P<list>[^\]]*)\]\s*$")
LIST_ITEM = lazy_regex(r"\s*+(?P<marker>[*-]{1,5}|\.{1,5}|\d{1,4}\.)\s++(?P<text>.++)$")
TERM_END = lazy_regex(r"(?:::{1,3}|;;)(?=\s|$)")
ADMONITION = lazy_regex(r"(?P<kind>NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s++(?P<text>.++)$")
VERBATIM = lazy_regex(r"(?P<fence>-{4,}+|\.{4,}+|\+{4,}+|`{3,}+)(?P<language>[\w+-]*+)\s*+$")
COMPOUND = lazy_regex(r"(?:={4,}|\*{4,}|_{4,}|--)\s*$")
DIRECTIVE = lazy_regex(r"(?P<name>include|ifdef|ifndef|ifeval|endif|image|toc|video|audio)::(?P<target>[^\[]*)\[")
CELL = lazy_regex(r"(?:^|\s)(?:[\d.+*]*[<^>]*[a-z]?)\|")

INLINE = lazy_regex(
    r"`\+?(?P<code>[^`]{1,500}?)\+?`"
    r"|<<(?P<cross>[^>,]{1,200})(?:,(?P<cross_text>[^>]{0,300}))?>>"
    r"|(?:link|xref):(?P<target>[^\s\[]{1,300})\[(?P<text>[^\]]{0,300})\]"
    r"|(?P<url>https?://[^\s\[\]<>]{1,500})(?:\[(?P<url_text>[^\]]{0,300})\])?"
    r"|(?<![\w*])\*{1,2}(?P<strong>[^*\s](?:[^*]{0,200}[^*\s])?)\*{1,2}(?![\w*])"
    r"|(?<![\w_])_{1,2}(?P<emphasis>[^_\s](?:[^_]{0,200}[^_\s])?)_{1,2}(?![\w_])"
    r"|\{(?P<attribute>[\w-]{1,60})\}"
)


class _AsciiDocReader:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.attributes: dict[str, str] = {}
        self.style = ""
        """First attribute of the next block, such as `source,java` or `NOTE`."""
        self.note = ""
        self.note_fence = ""

    def add(self, kind: BlockKind, text: str, line: int, label: str = "", depth: int = 0) -> None:
        plain, links = self.inline(text)
        if self.note and kind is BlockKind.PARAGRAPH:
            kind, label = BlockKind.NOTE, self.note
        self.draft.add(kind, plain, label, depth=depth, line=line, links=links)

    def inline(self, text: str) -> tuple[str, list[Link]]:
        links: list[Link] = []
        return INLINE.sub(lambda found: self._replace(found, links), text), links

    def _replace(self, found: re.Match[str], links: list[Link]) -> str:
        if found["code"]:
            return f"`{found['code']}`"
        if found["cross"]:
            target = found["cross"].strip()
            text = (found["cross_text"] or target.replace("-", " ").replace("_", " ")).strip()
            links.append(Link(target, text, "page" if ".adoc" in target else "label"))
            return text
        if target := found["target"] or found["url"]:
            text = (found["text"] or found["url_text"] or target).strip()
            if link := page_link(target, text):
                links.append(link)
            return text
        if found["attribute"]:
            return self.attributes.get(found["attribute"], found[0])
        return found["strong"] or found["emphasis"] or found[0]


def read_asciidoc(text: str, draft: Draft) -> None:
    """Read a text into a draft."""
    lines = [line.rstrip() for line in text.split("\n")]
    reader = _AsciiDocReader(draft)
    at = 0
    while at < len(lines):
        at = _read_block(lines, at, reader) if lines[at] else at + 1


def _read_block(lines: list[str], at: int, reader: _AsciiDocReader) -> int:
    line = lines[at]
    if found := VERBATIM.match(line):
        return _read_verbatim(lines, at, found, reader)
    if line.startswith("|===") or line.startswith("!==="):
        return _read_table(lines, at, reader)
    if found := ANCHOR.match(line):
        reader.draft.label(found["id"] or found["short"])
        return at + 1
    if found := BLOCK_ATTRIBUTES.match(line):
        reader.style = found["list"]
        return at + 1
    if COMPOUND.match(line):
        _open_or_close(line, reader)
        return at + 1
    if line.startswith("//") or line == "+" or line == "'''":
        return _comment_end(lines, at)
    if found := TITLE.match(line):
        reader.draft.heading(len(found["marks"]), reader.inline(found["title"])[0], at + 1)
        return at + 1
    if found := ATTRIBUTE.match(line):
        if len(reader.attributes) < 1000:
            reader.attributes[found["name"]] = (found["value"] or "")[:500]
        return at + 1
    if found := DIRECTIVE.match(line):
        if found["name"] == "include":
            reader.draft.problem(at + 1, "file-not-read", f"include::{found['target']}")
        return at + 1
    return _read_text(lines, at, reader)


def _read_verbatim(lines: list[str], at: int, found: re.Match[str], reader: _AsciiDocReader) -> int:
    fence = found["fence"]
    end = at + 1
    while end < len(lines) and lines[end] != fence:
        end += 1
    parts = [part.strip() for part in reader.style.split(",")]
    language = found["language"] or (parts[1] if len(parts) > 1 and parts[0].startswith("source") else "")
    reader.style = ""
    reader.draft.add(BlockKind.CODE, "\n".join(lines[at + 1 : end]), language, line=at + 1)
    return end + 1


def _open_or_close(fence: str, reader: _AsciiDocReader) -> None:
    """Open an admonition at its fence and close it at the next equal one; other compound blocks only group."""
    if reader.note and fence == reader.note_fence:
        reader.note = reader.note_fence = ""
    elif reader.style.split(",")[0] in ("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"):
        reader.note, reader.note_fence = reader.style.split(",")[0].lower(), fence
    reader.style = ""


def _comment_end(lines: list[str], at: int) -> int:
    if not lines[at].startswith("////"):
        return at + 1
    end = at + 1
    while end < len(lines) and lines[end] != lines[at]:
        end += 1
    return end + 1


def _read_table(lines: list[str], at: int, reader: _AsciiDocReader) -> int:
    end = at + 1
    while end < len(lines) and lines[end] != lines[at]:
        end += 1
    rows: list[list[str]] = []
    width = 0
    for line in lines[at + 1 : end]:
        cells = [cell.strip() for cell in CELL.split(line)]
        if "|" not in line:
            if rows and line.strip():
                rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}"
            continue
        cells = cells[1:] if not cells[0] else cells
        width = width or len(cells)
        # cells on lines of their own fill the row that is open
        if rows and len(rows[-1]) < width:
            rows[-1].extend(cells)
        else:
            rows.append(cells)
    has_header = "header" in reader.style or (at + 2 < len(lines) and lines[at + 1] and not lines[at + 2])
    reader.style = ""
    label = reader.inline(" | ".join(rows[0]))[0] if rows and has_header else ""
    for row in rows[1:] if label else rows:
        reader.add(BlockKind.ROW, " | ".join(row), at + 1, label)
    return end + 1


def _read_text(lines: list[str], at: int, reader: _AsciiDocReader) -> int:
    style = reader.style.split(",")[0]
    reader.style = ""
    end = at + 1
    while end < len(lines) and lines[end] and lines[end] != "+" and not _starts_block(lines[end]):
        end += 1
    text = " ".join(line.strip() for line in lines[at:end])
    if found := LIST_ITEM.match(text):
        reader.add(BlockKind.ITEM, found["text"], at + 1, depth=max(len(found["marker"].rstrip("0123456789")) - 1, 0))
    elif (
        (found := TERM_END.search(lines[at], 1)) and "://" not in (term := lines[at][: found.start()].strip()) and term
    ):
        rest = " ".join(line.strip() for line in lines[at + 1 : end])
        definition = f"{lines[at][found.end() :].strip()} {rest}".strip()
        if not definition and end < len(lines):
            start = end + 1 if not lines[end] else end
            if start < len(lines) and lines[start][:1].isspace():
                definition, end = lines[start].strip(), start + 1
        reader.add(BlockKind.TERM, definition, at + 1, reader.inline(term)[0])
    elif found := ADMONITION.match(text):
        plain, links = reader.inline(found["text"])
        reader.draft.add(BlockKind.NOTE, plain, found["kind"].lower(), line=at + 1, links=links)
    elif lines[at][0] == " ":
        reader.draft.add(BlockKind.CODE, "\n".join(lines[at:end]), line=at + 1)
    elif style in ("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"):
        plain, links = reader.inline(text)
        reader.draft.add(BlockKind.NOTE, plain, style.lower(), line=at + 1, links=links)
    else:
        reader.add(BlockKind.PARAGRAPH, text.lstrip(".") if text.startswith(".") else text, at + 1)
    return end


def _starts_block(line: str) -> bool:
    return bool(
        LIST_ITEM.match(line) or VERBATIM.match(line) or BLOCK_ATTRIBUTES.match(line) or line.startswith("|===")
    )
