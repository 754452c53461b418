"""A reading list as PDF, written by reportlab: title with link, authors, venue, identifiers and abstract of each paper.

Titles and abstracts come from strangers: reportlab reads markup in texts (images of files and addresses among it), so
each text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from atlas.core.errors import ConfigError
from atlas.core.paper_source import Paper, named
from atlas.papers.export import address, one_line

FONT_FOLDERS = (
    Path("/usr/share/fonts/truetype/dejavu"),
    Path("/usr/share/fonts/dejavu-sans-fonts"),
    Path("/usr/share/fonts/TTF"),
    Path("/Library/Fonts"),
)
"""Where systems keep DejaVu Sans, which has Greek, Cyrillic and signs of formulas."""
FONT, FONT_FILE, BOLD, BOLD_FILE = "body", "DejaVuSans.ttf", "bold", "DejaVuSans-Bold.ttf"
FONT_OF_LIBRARY, BOLD_OF_LIBRARY = "Vera.ttf", "VeraBd.ttf"
"""Fonts of Western European languages, which reportlab brings."""
MISSING = "?"
"""Printed for a character that the font lacks."""


@dataclass(frozen=True, slots=True)
class ReadingList:
    """A PDF file and how many of its characters the font does not have."""

    content: bytes
    missing: int


def reading_list(papers: Sequence[Paper], title: str) -> ReadingList:
    """Return papers as a PDF file of A4 pages, in order. Raises ModuleNotFoundError without the extra `papers`."""
    from reportlab.lib.colors import HexColor
    from reportlab.lib.enums import TA_LEFT
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import KeepTogether, Paragraph, SimpleDocTemplate, Spacer

    glyphs = _registered_fonts()
    grey = HexColor("#555555")
    style = partial(ParagraphStyle, alignment=TA_LEFT, splitLongWords=1)
    body = style("body", fontName=FONT, fontSize=9, leading=12.5)
    about = style("about", fontName=FONT, fontSize=8, leading=11, textColor=grey, spaceAfter=3)
    heading = style("heading", fontName=BOLD, fontSize=11, leading=14, spaceAfter=2)
    top = style("top", fontName=BOLD, fontSize=16, leading=20, spaceAfter=10)
    missing = 0

    def shown(text: str) -> str:
        nonlocal missing
        kept = "".join(one if ord(one) in glyphs else MISSING for one in one_line(text))
        missing += sum(ord(one) not in glyphs for one in one_line(text))
        return escape(kept)

    parts: list[Any] = [Paragraph(shown(title), top)]
    for number, paper in enumerate(papers, 1):
        link = address(paper.url)
        name = shown(paper.title)
        linked = f"<a href={quoteattr(link)} color='#1a4f8b'>{name}</a>" if link else name
        marks = (named(paper.id), f"doi:{paper.doi}" if paper.doi else "")
        facts = (", ".join(paper.authors), paper.published[:10], paper.venue, *dict.fromkeys(marks))
        head: list[Any] = [
            Paragraph(f"{number}. {linked}", heading),
            Paragraph(shown("; ".join(filter(None, facts))), about),
        ]
        if paper.is_withdrawn:
            head.append(Paragraph("withdrawn", heading))
        parts += [
            KeepTogether(head),
            *([Paragraph(shown(paper.summary), body)] if paper.summary else ()),
            Spacer(1, 10),
        ]
    written = BytesIO()
    # the same papers give the same file: no time, no random identifier
    template = SimpleDocTemplate(
        written, pagesize=A4, title=one_line(title), author="", invariant=1,
        leftMargin=56, rightMargin=56, topMargin=56, bottomMargin=56,
    )  # fmt: skip
    template.build(parts, onFirstPage=_numbered, onLaterPages=_numbered)
    return ReadingList(written.getvalue(), missing)


def _numbered(canvas: Any, template: Any) -> None:
    canvas.setFont(FONT, 8)
    canvas.drawRightString(template.pagesize[0] - template.rightMargin, 30, str(canvas.getPageNumber()))


def _registered_fonts() -> frozenset[int]:
    """Register the fonts and return the code points that the first one has."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFError, TTFont

    folder = next((one for one in FONT_FOLDERS if (one / FONT_FILE).is_file() and (one / BOLD_FILE).is_file()), None)
    files = (FONT_OF_LIBRARY, BOLD_OF_LIBRARY) if folder is None else (folder / FONT_FILE, folder / BOLD_FILE)
    try:
        fonts = [TTFont(name, str(file)) for name, file in zip((FONT, BOLD), files, strict=True)]
    except TTFError as error:
        raise ConfigError(f"the font cannot be read: {error}", "Repair the fonts of the system.") from error
    for font in fonts:
        pdfmetrics.registerFont(font)  # pyright: ignore[reportUnknownMemberType]
    return frozenset(fonts[0].face.charToGlyph)
