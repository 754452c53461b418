"""HTML inside of another format, such as raw blocks of Markdown: read like the body of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.packs.documentation.formats.draft import Draft


def read_fragment(text: str, draft: Draft, line: int, note: str) -> None:
    """Add the blocks of a piece of HTML at a line; `note` is the admonition around it."""
    from atlas.packs.documentation.formats.html.page import parse_html
    from atlas.packs.documentation.formats.html.walk import HtmlWalker

    if text.lstrip().startswith("<!--"):
        return
    tree = parse_html(text, draft)
    if tree.body is not None:
        HtmlWalker(draft, "", line, note).walk(tree.body)
