"""Text of HTML elements: white space as a browser shows it, code in backticks, links kept aside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from atlas.packs.documentation.article import Link
from atlas.packs.documentation.formats.draft import MAX_LINKS, page_link

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_NESTING = 60

CODE = frozenset(("code", "tt", "samp", "kbd", "var"))
SKIPPED = frozenset(("script", "style", "img", "svg", "button", "noscript", "template", "input", "select"))
SPACED = frozenset(
    ("p", "div", "li", "dd", "dt", "td", "th", "tr", "ul", "ol", "pre", "h1", "h2", "h3", "h4", "h5", "h6")
)


def attribute(node: LexborNode, name: str) -> str:
    """Return the value of an attribute, "" if there is none."""
    return node.attributes.get(name) or ""


def classes(node: LexborNode) -> list[str]:
    """Return the classes of an element."""
    return (node.attributes.get("class") or "").split()


def verbatim(node: LexborNode) -> str:
    """Return the text of preformatted code."""
    return (node.text() or "").replace("\xa0", " ").replace("\u200b", "")


class InlineRun:
    """Inline content in a row."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._parts: list[str] = []
        self.links: list[Link] = []

    def add(self, node: LexborNode) -> None:
        """Add a text or element."""
        self._add(node, 0, in_code=False)

    def part(self, node: LexborNode) -> str:
        """Return the text of an element by itself; its links join those of the run."""
        parts, self._parts = self._parts, []
        self.add(node)
        text = _normal("".join(self._parts))
        self._parts = parts
        return text

    def finish(self) -> tuple[str, list[Link]]:
        """Return text and links."""
        return _normal("".join(self._parts)), self.links

    def _add(self, node: LexborNode, depth: int, *, in_code: bool) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self._parts.append((node.text_content or "").replace("\xa0", " "))
            return
        if tag in SKIPPED or tag[:1] in "-!":
            return
        if tag == "br":
            self._parts.append("\n\u2028")
            return
        if depth > MAX_NESTING:
            self._parts.append(node.text())
            return
        is_code = tag in CODE and not in_code
        start = len(self._parts)
        if tag in SPACED:
            self._parts.append(" ")
        child = node.child
        while child is not None:
            self._add(child, depth + 1, in_code=in_code or is_code)
            child = child.next
        if tag in SPACED:
            self._parts.append(" ")
        if is_code:
            text = " ".join("".join(self._parts[start:]).split())
            self._parts[start:] = [f"`{text}`"] if text else []
        if tag == "a" and (target := attribute(node, "href")) and len(self.links) < MAX_LINKS:
            link = link_to(target, _normal("".join(self._parts[start:])), self._base)
            if link:
                self.links.append(link)


def link_to(target: str, text: str, base: str) -> Link | None:
    """Return a link. With a base address it is absolute, and `page` if it stays on the host."""
    if not base or "://" not in base:
        return page_link(target, text.strip("`"))
    try:
        absolute = urljoin(base, target.strip())
        is_same = urlsplit(absolute).netloc == urlsplit(base).netloc
    except ValueError:
        return None
    link = page_link(absolute, text.strip("`"))
    return Link(link.target, link.text, "page" if is_same else "url") if link else None


def _normal(text: str) -> str:
    """Collapse white space; a line break of `<br>` stays."""
    if "\u2028" in text:
        return "\n".join(" ".join(line.split()) for line in text.split("\n\u2028")).strip()
    return re.sub(r"\s+", " ", text).strip()
