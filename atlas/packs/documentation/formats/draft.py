"""An article while it is read: headings and blocks in source order become sections with unique anchors."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import Article, Block, BlockKind, Link, Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from atlas.packs.documentation.formats.document import Document

MAX_SECTIONS = 10_000
MAX_BLOCKS = 40_000
MAX_SIGNATURES = 10_000
MAX_BLOCK_TEXT = 100_000
MAX_TITLE = 500
MAX_BEFORE_TITLE = 3
"""Blocks before the title of a document, such as badges or the name of the package; more are a text without title."""
MAX_PROBLEMS = 50
MAX_LINKS = 2_000
"""Of one block."""

SCHEME = lazy_regex(r"[A-Za-z][A-Za-z0-9+.-]*:")
WITHOUT_PAGE = ("javascript:", "data:", "mailto:", "tel:", "vbscript:", "about:", "file:")
_GENERAL = frozenset(
    ("intro", "introduction", "overview", "summary", "about", "contents", "table of contents", "example", "examples")
)


class Draft:
    """Collects what a reader finds. Everything over a limit is left out and named in the problems."""

    def __init__(self) -> None:
        self.title = ""
        """Title for an article without a heading, or one that goes before its headings."""
        self.licence = ""
        self.language = ""
        self.url = ""
        self.children: list[str] = []
        self.parents: tuple[str, ...] = ()
        self.problems: list[str] = []
        self.blocks = self.signatures = 0
        self.within = 0
        """Number of described objects around what is read."""
        self._sections: list[_OpenSection] = [_OpenSection("", "", 1, 0)]
        self._labels: list[str] = []
        self._held: list[Block] = []
        self._levels: list[int] = []
        """Of the headings; the first one is that of the lead if it has a title."""

    def heading(self, level: int, title: str, line: int = 0, anchor: str = "", labels: Sequence[str] = ()) -> None:
        """Open a section. The first heading of a document with little before it names the lead."""
        title = " ".join(title.split())[:MAX_TITLE]
        lead = self._sections[0]
        labels = [*self._take_labels(), *labels]
        before = len(lead.blocks)
        self._levels.append(level)
        if len(self._sections) == 1 and not lead.title and level <= (1 if before else 2) and before <= MAX_BEFORE_TITLE:
            lead.title, lead.line = title, line
            lead.labels.extend(label for label in [*labels, anchor] if label)
        elif len(self._sections) < MAX_SECTIONS:
            self._sections.append(_OpenSection(anchor, title, max(level, 2), line, labels))
        else:
            self.problem(line, "too-many-sections", f"more than {MAX_SECTIONS:,} sections")
        self._release()

    def add(
        self,
        kind: BlockKind,
        text: str,
        label: str = "",
        *,
        role: str = "",
        depth: int = 0,
        line: int = 0,
        links: Iterable[Link] = (),
    ) -> None:
        """Add a block to the open section; a block without text and links is left out."""
        text = text.strip("\n").rstrip() if kind is BlockKind.CODE else text.strip()
        kept = tuple(links)[:MAX_LINKS]
        if not text and not kept and not label:
            return
        if kind is BlockKind.SIGNATURE:
            self.signatures += 1
            if self.signatures > MAX_SIGNATURES:
                if self.signatures == MAX_SIGNATURES + 1:
                    message = f"more than {MAX_SIGNATURES:,} signatures; the rest is left out"
                    self.problem(line, "too-many-signatures", message)
                return
        if self.blocks >= MAX_BLOCKS:
            if self.blocks == MAX_BLOCKS:
                self.blocks += 1
                self.problem(line, "too-many-blocks", f"more than {MAX_BLOCKS:,} blocks")
            return
        if len(text) > MAX_BLOCK_TEXT:
            self.problem(line, "long-block", f"{len(text):,} characters in one block; the rest is left out")
            text = text[:MAX_BLOCK_TEXT]
        self._put(Block(kind, text, label[:MAX_TITLE], role, depth, line, kept, self.within))

    @property
    def is_full(self) -> bool:
        """Whether a block was left out because there are too many: readers stop."""
        return self.blocks > MAX_BLOCKS or self.signatures > MAX_SIGNATURES

    def hold(self, block: Block) -> None:
        """Add a block to the section of the next heading if it follows at once, else before the next block."""
        self._held.append(block)

    def label(self, name: str) -> None:
        """Name the section of the next heading if it follows at once, else the open section."""
        if len(name) <= MAX_TITLE:
            self._labels.append(name)

    def problem(self, line: int, code: str, message: str) -> None:
        """Record what could not be read; beyond a limit nothing more is recorded."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(f"{line}: {code}: {' '.join(message.split())[:300]}")

    def sections(self) -> tuple[Section, ...]:
        """Return the sections; the lead comes first, even if it is empty."""
        self._settle()
        self._split_lead()
        used: dict[str, int] = {}
        found: list[Section] = []
        for number, one in enumerate(self._sections):
            anchor = ""
            if number:
                anchor = _unique(one.anchor or slug(one.title) or f"section-{number}", used)
            labels = tuple(dict.fromkeys(label for label in one.labels if label and label != anchor))
            found.append(Section(anchor, one.title, one.level, tuple(one.blocks), one.line, labels))
        return tuple(found)

    def _split_lead(self) -> None:
        """Leave the lead without a title if its heading is that of a part: one of several below level 1, or "Intro"."""
        lead = self._sections[0]
        levels, self._levels = self._levels, []
        is_one_of_several = lead.title and any(level <= levels[0] for level in levels[1:])
        if is_one_of_several and (levels[0] > 1 or lead.title.casefold() in _GENERAL):
            lead.level = 2
            self._sections.insert(0, _OpenSection("", "", 1, 0))

    def _put(self, block: Block) -> None:
        self._settle()
        self.blocks += 1
        self._sections[-1].blocks.append(block)

    def _settle(self) -> None:
        """Give what waited for a heading to the open section, since no heading followed."""
        self._sections[-1].labels.extend(self._take_labels())
        self._release()

    def _release(self) -> None:
        if self._held:
            held, self._held = self._held, []
            self.blocks += len(held)
            self._sections[-1].blocks.extend(held)

    def _take_labels(self) -> list[str]:
        labels, self._labels = self._labels, []
        return labels


class _OpenSection:
    __slots__ = ("anchor", "blocks", "labels", "level", "line", "title")

    def __init__(self, anchor: str, title: str, level: int, line: int, labels: Sequence[str] = ()) -> None:
        self.anchor, self.title, self.level, self.line = anchor, title, level, line
        self.labels = list(labels)
        self.blocks: list[Block] = []


def finish(draft: Draft, document: Document, form: str, digest: str) -> Article:
    """Return the article of a draft. Its title is the heading, else the title given elsewhere, else the file name.

    The first of several headings of one level, as in release notes, is the title of a part only.
    """
    sections = draft.sections()
    lead = sections[0]
    title = lead.title or draft.title
    if not title and not lead.blocks and len(sections) > 1:
        is_only = all(one.level > sections[1].level for one in sections[2:])
        title = sections[1].title if is_only else ""
    title = title or document.path.rpartition("/")[2].rpartition(".")[0] or document.path or document.key
    if not lead.title:
        sections = (Section("", title, 1, lead.blocks, lead.line, lead.labels), *sections[1:])
    return Article(
        key=document.key,
        title=title,
        sections=sections,
        url=draft.url or document.url,
        format=form,
        retrieved=document.retrieved,
        licence=draft.licence or document.licence,
        source=document.source,
        source_version=document.source_version,
        digest=digest,
        language=draft.language,
        parents=draft.parents or document.parents,
        children=tuple(dict.fromkeys(draft.children)),
        problems=tuple(draft.problems),
    )


def slug(title: str) -> str:
    """Return the anchor that most generators make of a title: lower case, words joined by hyphens."""
    plain = unicodedata.normalize("NFKC", title).lower()
    return re.sub(r"[\s_-]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-")[:120]


def page_link(target: str, text: str) -> Link | None:
    """Return the link of a written address: `url` with a scheme, else `page`; None if it leads to no page."""
    target = target.strip()
    if not target or target.lower().startswith(WITHOUT_PAGE):
        return None
    kind = "url" if SCHEME.match(target) or target.startswith("//") else "page"
    return Link(target, " ".join(text.split())[:MAX_TITLE], kind)


def _unique(anchor: str, used: dict[str, int]) -> str:
    found = anchor
    while found in used:
        used[anchor] += 1
        found = f"{anchor}-{used[anchor]}"
    used[found] = 0
    return found
