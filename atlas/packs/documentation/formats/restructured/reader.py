"""Reads the blocks of a reStructuredText document line by line into a draft.

Indented bodies are read by recursion with a limit, so time is linear in the text times a constant depth. Section titles
count at the outermost level and in the directives that hold whole sections.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.formats.document import NOTHING
from atlas.packs.documentation.formats.restructured import tables
from atlas.packs.documentation.formats.restructured.inline import Names, normal, read_inline, unescape
from atlas.packs.documentation.formats.restructured.lines import (
    body_of,
    dedent,
    dedent_by,
    indented_end,
    joined,
    language_of,
    literal_lead,
    paragraph_end,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from atlas.packs.documentation.article import Link
    from atlas.packs.documentation.formats.draft import Draft

MAX_NESTING = 24

TARGET = lazy_regex(r"\.\. _(?P<name>`[^`]++`|(?:[^:\\]|\\.|:(?=\S))++):(?:\s++(?P<target>.*+))?$")
ANONYMOUS = lazy_regex(r"(?:\.\. __:|__) (?P<target>.*)$")
SUBSTITUTION = lazy_regex(r"\.\. \|(?P<name>[^|]+)\| (?P<kind>[\w-]+):: ?(?P<value>.*)$")
DIRECTIVE = lazy_regex(r"\.\. (?P<name>[\w+.-]++(?::[\w+.-]++)*+) ?::(?: (?P<argument>.*+)|\s*+)$")
FOOTNOTE = lazy_regex(r"\.\. \[(?P<name>[^\]]{1,80})\](?: (?P<text>.*)|\s*)$")
UNDERLINE = lazy_regex(r"([!-/:-@\[-`{-~])\1*$")
BULLET = lazy_regex(r"(?P<marker>[-*+•‣⁃])(?P<space>\s+)\S|(?P<bare>[-*+])$")
ENUMERATOR = lazy_regex(r"(?P<marker>\(?(?:\d{1,9}|#|[A-Za-z]|[ivxlcdmIVXLCDM]{1,8})[.)])(?P<space>\s+)\S")
FIELD = lazy_regex(r":(?P<name>(?![\s:])(?:[^:\\]|\\.|:(?=\S))++(?<![\s:\\])):(?:\s++(?P<text>.*+))?$")
_REST = r"(?:[^\s,]|,(?=\S))*+"
"""Of an option or its argument, up to a blank or a comma before one."""
OPTION = lazy_regex(
    rf"(?P<names>(?:--?|/)[\w?]{_REST}(?: [A-Za-z<\[]{_REST})?+(?:, (?:--?|/)[\w?]{_REST}(?: [^\s,-]{_REST})?+)*+)"
    r"  ++(?P<text>.++)$"
)

QUOTES = frozenset(">$%;|#")
"""First characters of quoted literal blocks; others of those that docutils allows also start lists and roles."""

_ROLE = lazy_regex(r"(?<![\w:]):[\w:]*+(?<=:)`~?+([^`<]*+)[^`]*+`")


@dataclass(frozen=True, slots=True)
class LinePosition:
    """Where lines are: what contains them decides what their paragraphs become."""

    nesting: int = 0
    note: str = ""
    """Label of the admonition."""
    items: int = 0
    """Number of lists around."""
    signatures: int = 0
    """Number of described objects around."""
    holder: str = ""
    """Qualified name of the class around."""
    titles: bool = True

    def inner(self) -> LinePosition:
        """Return the place of a body without titles of its own."""
        return replace(self, nesting=self.nesting + 1, titles=False)


class RstReader:
    """Reads one document. `module` is what `module` and `currentmodule` said last."""

    def __init__(self, draft: Draft, names: Names, run_directive: Callable[[RstReader, Directive], None]) -> None:
        self.draft, self.names, self._run_directive = draft, names, run_directive
        self.module = ""
        self.language = ""
        self.inclusion = NOTHING
        self.included = 0
        self._styles: list[str] = []

    def inline(self, text: str) -> tuple[str, tuple[Link, ...]]:
        """Return plain text and links."""
        return read_inline(text, self.names)

    def read(self, lines: list[str], first: int, place: LinePosition) -> None:
        """Read lines without common indentation; `first` is the 1-based number of the first one."""
        if place.nesting > MAX_NESTING:
            self.draft.problem(first, "deep-nesting", "text nested too deeply is read as one paragraph")
            self.paragraph(lines, first, place)
            return
        at, verbatim = 0, False
        while at < len(lines) and not self.draft.is_full:
            line = lines[at]
            if not line or line.isspace():
                at += 1
            elif verbatim and (end := self._literal(lines, at, first)):
                at, verbatim = end, False
            else:
                at, verbatim = self._block(lines, at, first, place)

    def _block(self, lines: list[str], at: int, first: int, place: LinePosition) -> tuple[int, bool]:
        """Read one block. Return the index after it, and whether a literal block may follow."""
        self.draft.within = place.signatures
        line = lines[at]
        head = line[0]
        if head.isspace():
            end = indented_end(lines, at)
            self.read(dedent(lines[at:end]), first + at, place.inner())
            return end, False
        if line.startswith(".. ") or line == "..":
            return self._explicit(lines, at, first, place), False
        if place.titles and (end := self._title(lines, at, first)):
            return end, False
        if head == "_" and ANONYMOUS.match(line):
            return at + 1, False
        if not head.isalnum():
            if (end := self._marked(lines, at, first, place)) > at:
                return end, False
        elif ENUMERATOR.match(line) and (end := self._list(lines, at, first, place, ENUMERATOR)) > at:
            return end, False
        return self._text(lines, at, first, place)

    def _marked(self, lines: list[str], at: int, first: int, place: LinePosition) -> int:
        """Read a block that its first characters tell. Return the index after it, or `at` if it is a paragraph."""
        line = lines[at]
        if BULLET.match(line):
            return self._list(lines, at, first, place, BULLET)
        if line.startswith(("(", "#")) and ENUMERATOR.match(line):
            return self._list(lines, at, first, place, ENUMERATOR)
        if line[0] == ":" and (found := FIELD.match(line)):
            end = indented_end(lines, at + 1)
            self.term(
                " ".join(found["name"].split()), body_of(found["text"] or "", lines[at + 1 : end]), first + at, place
            )
            return end
        if line[0] in "-/" and (found := OPTION.match(line)):
            end = indented_end(lines, at + 1)
            self.term(found["names"], body_of(found["text"], lines[at + 1 : end]), first + at, place)
            return end
        if line.startswith("| ") or line == "|":
            return self._line_block(lines, at, first, place)
        if line.startswith(">>> "):
            end = at
            while end < len(lines) and lines[end].strip():
                end += 1
            self.draft.add(BlockKind.CODE, "\n".join(lines[at:end]), "pycon", line=first + at)
            return end
        if tables.is_table_start(line):
            end = tables.table_end(lines, at)
            self.table(*tables.read_table(lines[at:end]), first + at)
            return end
        if UNDERLINE.match(line) and len(line) >= 4:
            return at + 1
        return at

    def _title(self, lines: list[str], at: int, first: int) -> int:
        """Read a section title. Return the index after it, 0 if there is none."""
        line = lines[at]
        if UNDERLINE.match(line) and at + 2 < len(lines):
            title, under = lines[at + 1], lines[at + 2].rstrip()
            if under == line.rstrip() and title.strip() and len(line) >= min(len(title.strip()), 4):
                self._heading(line[0] * 2, title, first + at + 1)
                return at + 3
        if at + 1 < len(lines) and not line[0].isspace():
            under = lines[at + 1].rstrip()
            if (
                UNDERLINE.match(under)
                and (len(under) >= 4 or len(under) >= len(line.rstrip()))
                and not UNDERLINE.match(line)
            ):
                if tables.is_table_start(line):
                    return 0
                self._heading(under[0], line, first + at)
                return at + 2
        return 0

    def _heading(self, style: str, title: str, line: int) -> None:
        if style not in self._styles:
            self._styles.append(style)
        text, _ = self.inline(title.strip())
        self.draft.heading(min(self._styles.index(style) + 1, 6), text, line)

    def _explicit(self, lines: list[str], at: int, first: int, place: LinePosition) -> int:
        line = lines[at]
        end = indented_end(lines, at + 1)
        if found := DIRECTIVE.match(line):
            content = dedent(lines[at + 1 : end])
            name = found["name"].lower()
            self._run_directive(self, Directive(name, (found["argument"] or "").strip(), content, first + at, place))
        elif found := TARGET.match(line):
            if not found["target"] and not any(one.strip() for one in lines[at + 1 : end]):
                self.draft.label(normal(found["name"]))
        elif found := FOOTNOTE.match(line):
            body = body_of(found["text"] or "", lines[at + 1 : end])
            self.read(body, first + at, replace(place.inner(), items=0))
        return end

    def _list(self, lines: list[str], at: int, first: int, place: LinePosition, pattern: re.Pattern[str]) -> int:
        inner = replace(place.inner(), items=place.items + 1)
        while at < len(lines) and (found := pattern.match(lines[at])):
            # an enumerated item whose next line is not indented is a paragraph that starts with a number
            width = found.end() - 1 if found["marker"] else 1
            following = lines[at + 1] if at + 1 < len(lines) else ""
            goes_on = following.strip() and not following[0].isspace() and not pattern.match(following)
            if pattern is ENUMERATOR and goes_on:
                return at
            end = indented_end(lines, at + 1)
            body = [lines[at][width:], *dedent_by(lines[at + 1 : end], width)]
            self._item(body, first + at, inner)
            at = end
            while at < len(lines) and not lines[at].strip():
                at += 1
        return at

    def _item(self, body: list[str], line: int, place: LinePosition) -> None:
        """Read an item: its first paragraph is the item, the rest are blocks of their own."""
        if self._starts_other_block(body):
            self.read(body, line, place)
            return
        end = paragraph_end(body, 0)
        text, links = self.inline(joined(body[:end]))
        is_literal = text.endswith("::")
        self.draft.add(BlockKind.ITEM, literal_lead(text), depth=place.items - 1, line=line, links=links)
        self._rest(body, end, line, place, is_literal)

    def _starts_other_block(self, body: list[str]) -> bool:
        line = body[0] if body else ""
        return line.startswith((".. ", ">>> ", "+--", "===")) or bool(BULLET.match(line) or FIELD.match(line))

    def term(self, label: str, body: list[str], line: int, place: LinePosition) -> None:
        """Add a term with its definition; what follows the first paragraph are blocks of their own."""
        start = next((number for number, one in enumerate(body) if one.strip()), len(body))
        if start == len(body) or self._starts_other_block(body[start:]):
            self.draft.add(BlockKind.TERM, "", self.inline(label)[0], line=line)
            self.read(body, line, place.inner())
            return
        end = paragraph_end(body, start)
        text, links = self.inline(joined(body[start:end]))
        is_literal = text.endswith("::")
        name, name_links = self.inline(label)
        self.draft.add(BlockKind.TERM, literal_lead(text), name, line=line, links=(*name_links, *links))
        self._rest(body, end, line, place.inner(), is_literal)

    def _rest(self, body: list[str], start: int, line: int, place: LinePosition, verbatim: bool) -> None:
        """Read what follows a first paragraph that this reader has taken."""
        while start < len(body) and not body[start].strip():
            start += 1
        if start >= len(body):
            return
        if verbatim and (end := self._literal(body, start, line)):
            start = end
        self.read(body[start:], line + start, place)

    def _line_block(self, lines: list[str], at: int, first: int, place: LinePosition) -> int:
        end = at
        while end < len(lines) and (
            lines[end][:1] == "|" or (end > at and lines[end][:1] == " " and lines[end].strip())
        ):
            end += 1
        text = "\n".join(line.lstrip("|").strip() for line in lines[at:end])
        self.emit(text, first + at, place)
        return end

    def _text(self, lines: list[str], at: int, first: int, place: LinePosition) -> tuple[int, bool]:
        """Read a definition list entry or a paragraph."""
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if following[:1].isspace() and following.strip() and not lines[at].endswith("::"):
            end = indented_end(lines, at + 1)
            label = re.split(r" : ", lines[at], maxsplit=1)[0]
            self.term(label, dedent(lines[at + 1 : end]), first + at, place)
            return end, False
        end = paragraph_end(lines, at)
        return end, self.paragraph(lines[at:end], first + at, place)

    def paragraph(self, lines: list[str], line: int, place: LinePosition) -> bool:
        """Add a paragraph. Return whether a literal block may follow."""
        text = joined(lines)
        if text == "::":
            return True
        self.emit(literal_lead(text), line, place)
        return text.endswith("::")

    def emit(self, text: str, line: int, place: LinePosition) -> None:
        """Add a text as what its place makes of it."""
        self.draft.within = place.signatures
        text, links = self.inline(text)
        if place.note:
            self.draft.add(BlockKind.NOTE, text, place.note, line=line, links=links)
        else:
            self.draft.add(BlockKind.PARAGRAPH, text, depth=place.items, line=line, links=links)

    def _literal(self, lines: list[str], at: int, first: int) -> int:
        """Read an indented or quoted literal block. Return the index after it, 0 if there is none."""
        head = lines[at][0]
        if head.isspace():
            end = indented_end(lines, at)
        elif head in QUOTES:
            end = at
            while end < len(lines) and lines[end][:1] == head:
                end += 1
        else:
            return 0
        code = "\n".join(dedent(lines[at:end]))
        self.draft.add(BlockKind.CODE, code, self.language or language_of(code), line=first + at)
        return end

    def table(self, header: list[str], rows: list[list[str]], line: int) -> None:
        """Add the rows of a table."""
        label = " | ".join(self.inline(cell)[0] for cell in header)
        for row in rows:
            text, links = self.inline(" | ".join(row))
            self.draft.add(BlockKind.ROW, text, label if any(header) else "", line=line, links=links)


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive as written."""

    name: str
    argument: str
    content: list[str]
    """Lines below the first, without common indentation: further arguments, options, body."""
    line: int
    place: LinePosition


def read_names(lines: list[str]) -> Names:
    """Return the targets and substitutions that lines define."""
    names = Names()
    chained: list[str] = []
    for number, raw in enumerate(lines):
        line = raw.lstrip()
        if not line.startswith((".. ", "__ ")):
            continue
        if found := TARGET.match(line):
            name, target = normal(unescape(found["name"])), (found["target"] or "").strip()
            follows = lines[number + 1 : number + 3]
            if not target and follows and follows[0].startswith("   ") and not follows[0].lstrip().startswith(".. "):
                target = "".join(one.strip() for one in follows if one.startswith("   "))
            names.targets[name] = target
            chained.append(name)
            if target and "://" in target:
                names.targets[name] = target.replace(" ", "")
        elif found := ANONYMOUS.match(line):
            names.anonymous.append(found["target"].strip())
        elif found := SUBSTITUTION.match(line):
            kind, value = found["kind"], found["value"].strip()
            if kind == "replace":
                further = takewhile(lambda one: one[:1].isspace() and one.strip(), lines[number + 1 : number + 9])
                value = " ".join([value, *(one.strip() for one in further if not raw[:1].isspace())]).strip()
                names.substitutions[found["name"].lower()] = read_inline(_ROLE.sub(r"`\1`", value), Names())[0]
            elif kind in ("unicode", "image"):
                names.substitutions[found["name"].lower()] = ""
    return names
