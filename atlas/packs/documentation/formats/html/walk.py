"""Walks the elements of an HTML page in order and adds what they hold to a draft."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.formats.html import objects
from atlas.packs.documentation.formats.html.inline import InlineRun, attribute, classes, verbatim

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from atlas.packs.documentation.formats.draft import Draft

__all__ = ["ElementPosition", "HtmlWalker", "attribute"]

MAX_NESTING = 120
"""Elements that are walked one inside another; the text of deeper ones is taken as it is."""

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "input", "ins", "kbd", "label", "map", "mark", "meter", "output", "picture", "progress", "q", "ruby", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "math",
))  # fmt: skip
BLOCKS = frozenset(("p", "ul", "ol", "dl", "table", "pre", "section", "article", "blockquote", *HEADINGS))
VERSION = lazy_regex(
    r"(?P<kind>new|added|changed|deprecated|removed)[\w ]{0,20}?(?:version|in|since)?:?\s+(?:version\s+)?v?"
    r"(?P<version>\d[\w.+-]*)",
    re.I,
)
NOTE_CLASSES = frozenset((
    "admonition", "alert", "callout", "theme-admonition", "note", "warning", "tip", "caution", "important", "danger",
))  # fmt: skip
NOTE_KINDS = (
    "warning", "danger", "caution", "important", "tip", "hint", "seealso", "attention", "error", "info", "example",
    "todo", "question", "success", "failure", "bug", "quote", "abstract", "note",
)  # fmt: skip
VERSION_CLASSES = frozenset(("versionadded", "versionchanged", "deprecated", "versionremoved", "deprecated-removed"))
LANGUAGE_CLASS = lazy_regex(r"(?:language|lang|highlight|brush|sourceCode)[-:]?(?P<name>[\w+#-]+)")
NOT_LANGUAGES = frozenset(("default", "source", "none", "text", "highlight", "notranslate"))


@dataclass(frozen=True, slots=True)
class ElementPosition:
    """What contains an element."""

    nesting: int = 0
    note: str = ""
    items: int = 0
    signatures: int = 0
    anchor: str = ""
    """Id of the section around, which belongs to the heading in it."""
    language: str = ""


class HtmlWalker:
    """Adds the blocks of elements to a draft."""

    def __init__(self, draft: Draft, base: str, line: int, note: str) -> None:
        self._draft, self._base, self._line, self._note = draft, base, line, note
        self._page = objects.PageSubject()

    def walk(self, node: LexborNode) -> None:
        """Walk the children of an element."""
        self._page = objects.page_of(node)
        self._children(node, ElementPosition(note=self._note))

    def _children(
        self, node: LexborNode, place: ElementPosition, kind: BlockKind = BlockKind.PARAGRAPH, label: str = ""
    ) -> None:
        """Walk children. Text and inline elements between blocks are one paragraph; `kind` is that of the first one."""
        if place.nesting > MAX_NESTING:
            self._emit_text(" ".join(node.text(separator=" ").split()), place)
            return
        self._siblings(node.child, place, kind, label)

    def _siblings(
        self, child: LexborNode | None, place: ElementPosition, kind: BlockKind = BlockKind.PARAGRAPH, label: str = ""
    ) -> None:
        run = InlineRun(self._base)
        while child is not None:
            tag = child.tag or ""
            if tag == "-text" or tag in INLINE:
                if tag != "-text" and (identity := attribute(child, "id")) and not attribute(child, "href"):
                    self._draft.label(identity)
                run.add(child)
            elif tag[:1] not in "-!":
                if self._flush(run, place, kind, label):
                    kind, label = BlockKind.PARAGRAPH, ""
                run = InlineRun(self._base)
                if tag == "p" and kind is not BlockKind.PARAGRAPH:
                    run.add(child)
                    if self._flush(run, place, kind, label):
                        kind, label = BlockKind.PARAGRAPH, ""
                    run = InlineRun(self._base)
                else:
                    if kind is BlockKind.TERM and label:
                        # the definition begins with a list or a table: its term stands alone
                        self._draft.within = place.signatures
                        self._draft.add(kind, "", label, line=self._line)
                        kind, label = BlockKind.PARAGRAPH, ""
                    self._block(child, tag, place)
            child = child.next
        self._flush(run, place, kind, label)

    def _flush(self, run: InlineRun, place: ElementPosition, kind: BlockKind, label: str) -> bool:
        text, links = run.finish()
        if not text and not links:
            return False
        self._draft.within = place.signatures
        depth = place.items
        if kind is BlockKind.ITEM:
            depth -= 1
        elif kind is BlockKind.PARAGRAPH and place.note:
            kind, label, depth = BlockKind.NOTE, place.note, 0
        self._draft.add(kind, text, label, depth=depth, line=self._line, links=links)
        return True

    def _emit_text(self, text: str, place: ElementPosition) -> None:
        kind = BlockKind.NOTE if place.note else BlockKind.PARAGRAPH
        self._draft.add(kind, text, place.note, line=self._line)

    def _block(self, node: LexborNode, tag: str, place: ElementPosition) -> None:
        self._draft.within = place.signatures
        if tag in HEADINGS:
            self._heading(node, HEADINGS[tag], place)
        elif tag == "p":
            self._paragraph(node, place)
        elif tag == "pre":
            self._code(node, place)
        elif tag in ("ul", "ol", "menu"):
            self._children(node, replace(place, nesting=place.nesting + 1, items=place.items + 1))
        elif tag == "li":
            inner = replace(place, nesting=place.nesting + 1, items=max(place.items, 1))
            self._children(node, inner, BlockKind.ITEM)
        elif tag == "dl":
            self._definitions(node, place)
        elif tag == "table":
            self._table(node, place)
        elif tag not in ("hr", "head", "title", "meta", "link", "figcaption", "video", "audio", "-comment"):
            self._container(node, tag, place)

    def _heading(self, node: LexborNode, level: int, place: ElementPosition) -> None:
        run = InlineRun(self._base)
        rest = _add_inline(node, run)
        text, _ = run.finish()
        self._open_section(node, text, level, place)
        if rest is not None:
            # a heading that is never closed holds what follows
            self._siblings(rest, replace(place, nesting=place.nesting + 1))

    def _open_section(self, node: LexborNode, text: str, level: int, place: ElementPosition) -> None:
        identity = attribute(node, "id")
        if not text:
            if identity:
                self._draft.label(identity)
            return
        described = objects.heading_signature(node, text, place.anchor, self._page)
        if described and described.replaces_heading:
            self._signature(described, place.signatures)
            return
        if place.note or place.items:
            self._emit_text(text, place)
            return
        labels = [one for one in (place.anchor,) if identity and one and one != identity]
        self._draft.heading(level, text.strip("¶#§ "), self._line, identity or place.anchor, labels)
        if level == 1:
            self._page = objects.page_of_title(text, self._page)
        if described:
            self._signature(described, place.signatures)

    def _paragraph(self, node: LexborNode, place: ElementPosition) -> None:
        names = classes(node)
        if "admonition-title" in names or "rubric" in names:
            text = " ".join(node.text().split())
            if "rubric" not in names and text.lower() == place.note.split(" ")[0]:
                return
            self._emit_text(text if text[-1:] in ".:?!" else f"{text}." if text else "", place)
            return
        self._children(node, replace(place, nesting=place.nesting + 1))

    def _container(self, node: LexborNode, tag: str, place: ElementPosition) -> None:
        names = classes(node)
        identity = attribute(node, "id")
        inner = replace(place, nesting=place.nesting + 1)
        if described := objects.block_signature(node, tag, names, place.anchor, self._page):
            self._signature(described, place.signatures)
            return
        if tag in ("section", "article") or "section" in names:
            inner = replace(inner, anchor=identity or place.anchor)
        elif identity:
            self._draft.label(identity)
        if note := _note_kind(node, names):
            inner = replace(inner, note=note)
        if language := _language(names):
            inner = replace(inner, language=language)
        self._children(node, inner)

    def _signature(self, described: objects.HtmlSignature, depth: int) -> None:
        self._draft.add(
            BlockKind.SIGNATURE, described.text, described.name, role=described.role, depth=depth, line=self._line
        )

    def _code(self, node: LexborNode, place: ElementPosition) -> None:
        names = classes(node)
        inner = node.css_first("code")
        language = _language([*names, *(classes(inner) if inner else [])]) or place.language
        language = language or attribute(node, "data-lang") or attribute(node, "lang")
        text = verbatim(node)
        if "item-decl" in names and (described := objects.item_declaration(text, self._page)):
            self._signature(described, place.signatures)
            return
        self._draft.add(BlockKind.CODE, text, language, line=self._line)

    def _definitions(self, node: LexborNode, place: ElementPosition) -> None:
        names = classes(node)
        inner = replace(place, nesting=place.nesting + 1, items=0)
        term, holds_signature = "", False
        for child in _definition_parts(node):
            if child.tag == "dt":
                described = objects.definition_signature(child, names)
                if described:
                    self._signature(described, place.signatures)
                    holds_signature, term = True, ""
                else:
                    run = InlineRun(self._base)
                    run.add(child)
                    text = _with_classifier(run.finish()[0].rstrip(":").strip(), child)
                    term = f"{term}, {text}" if term and not holds_signature else text
                    holds_signature = False
                    if identity := attribute(child, "id"):
                        self._draft.label(identity)
            elif holds_signature:
                self._children(child, replace(inner, signatures=place.signatures + 1))
            else:
                self._children(child, inner, BlockKind.TERM, term)
                term = ""

    def _table(self, node: LexborNode, place: ElementPosition) -> None:
        if node.css_first("pre") is not None and len(node.css("tr")) <= 1:
            self._children(node, replace(place, nesting=place.nesting + 1))
            return
        header: list[str] = []
        for row in node.css("tr"):
            cells: list[str] = []
            run = InlineRun(self._base)
            is_header = True
            cell = row.child
            while cell is not None:
                if cell.tag in ("td", "th"):
                    is_header = is_header and cell.tag == "th"
                    cells.append(run.part(cell))
                cell = cell.next
            if not any(cells):
                continue
            if is_header and not header:
                header = cells
                continue
            label = " | ".join(header)
            self._draft.add(BlockKind.ROW, " | ".join(cells), label, line=self._line, links=run.links)


def _add_inline(node: LexborNode, run: InlineRun) -> LexborNode | None:
    """Add the inline content at the start of an element to a run. Return the first block behind it."""
    child = node.child
    while child is not None:
        tag = child.tag or ""
        if tag in BLOCKS:
            return child
        run.add(child)
        child = child.next
    return None


def _definition_parts(node: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    child = node.child
    while child is not None:
        if child.tag in ("dt", "dd"):
            found.append(child)
        elif child.tag == "div":
            found.extend(_definition_parts(child) if child.parent is node or child.parent == node else [])
        child = child.next
    return found


def _with_classifier(term: str, node: LexborNode) -> str:
    """Return a term with its classifier behind a colon, as its source has it: `step : int`. Pages show it by style."""
    classifier = " ".join(one.text() for one in node.css(".classifier")).strip()
    name = term.removesuffix(classifier).rstrip(" :") if classifier else ""
    return f"{name} : {classifier}" if name and name != term else term


def _note_kind(node: LexborNode, names: list[str]) -> str:
    if not names:
        return ""
    lowered = [name.lower() for name in names]
    versions = [name for name in lowered if name in VERSION_CLASSES]
    if versions:
        found = VERSION.search(" ".join(node.text().split())[:200])
        kind = "deprecated" if versions[0] == "deprecated-removed" else versions[0]
        return f"{kind} {found['version'].rstrip('.:')}" if found else kind
    if "deprecation-block" in lowered or "deprecated" in lowered:
        return "deprecated"
    if not NOTE_CLASSES.intersection(lowered):
        return ""
    flat = " ".join(lowered)
    return next((kind for kind in NOTE_KINDS if kind in flat), "note")


def _language(names: list[str]) -> str:
    for name in names:
        found = LANGUAGE_CLASS.fullmatch(name)
        if found and found["name"].lower() not in NOT_LANGUAGES:
            return found["name"].lower()
    return ""
