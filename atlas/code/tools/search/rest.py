"""What a page of hits leaves out, with its price in tokens. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.answers.packing import AnswerPart, rounded
from atlas.code.find import SearchResult
from atlas.code.rank.grouping import Group
from atlas.code.tools.search.parts import HIT, PIECE, SAME_FILE, Key, PageHit
from atlas.core.wording import counted

WORTH_OFFERING = 40
"""Tokens of a rest of a body below which its line would cost half as much."""
CHARACTERS_PER_TOKEN = 3.5
"""Of source without indentation."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left out: hits by the budget, weaker hits, hits of files that are listed, the rest of the first body."""

    hits: int
    """All that the next pages have."""
    by_budget: int
    by_budget_tokens: int
    weaker: int
    weaker_tokens: int
    hidden: int
    """Further hits of listed files."""
    body_tokens: int

    def by_budget_line(self, budget: str) -> str:
        """Return `3 hits by token_budget 120 cl100k_base: ~60 tokens`, or ""."""
        if not self.by_budget:
            return ""
        return f"{counted(self.by_budget, 'hit')} {budget}: ~{counted(self.by_budget_tokens, 'token')}"

    def weaker_line(self) -> str:
        """Return `12 weaker hits: ~240 tokens`, with those of the files above, or ""."""
        weaker = (
            f"{counted(self.weaker, 'weaker hit')}: ~{counted(self.weaker_tokens, 'token')}" if self.weaker > 0 else ""
        )
        hidden = f"{counted(self.hidden, 'hit')} of the files above (ask with path)" if self.hidden else ""
        return "; ".join(filter(None, (weaker, hidden)))

    def body_line(self, number: int) -> str:
        """Return `rest of the body of hit 1: ~310 tokens, get_context`, or ""."""
        if self.body_tokens < WORTH_OFFERING:
            return ""
        return f"rest of the body of hit {number}: ~{counted(self.body_tokens, 'token')}, get_context"


def rest_of(
    found: SearchResult,
    groups: Sequence[Group],
    page: Sequence[PageHit],
    parts: Sequence[AnswerPart[Key]],
    count: int,
    listed: int,
) -> Rest:
    """Return what is left out behind the first `count` parts of a page, where `listed` groups are shown so far."""
    shown, cut = parts[:count], parts[count:]
    over = [part.price for part in cut if part.key[0] == HIT]
    before = sum(map(_size, groups[:listed]))
    weaker = found.total - before - sum(map(_size, groups[listed : listed + len(over)]))
    known = [part.price for part in parts if part.key[0] in (HIT, SAME_FILE)]
    each = sum(known) / len(known) if known else 0.0
    hits = sum(part.key[0] == HIT for part in shown)
    return Rest(
        hits=found.total - before,
        by_budget=len(over),
        by_budget_tokens=rounded(sum(over)),
        weaker=weaker,
        weaker_tokens=rounded(each * weaker),
        hidden=sum(len(hit.hit.same_file) for hit in page[:hits]) - sum(part.key[0] == SAME_FILE for part in shown),
        body_tokens=_body_tokens(page, shown),
    )


def _size(group: Group) -> int:
    return 1 + len(group.same_file) + len(group.twins)


def _body_tokens(page: Sequence[PageHit], shown: Sequence[AnswerPart[Key]]) -> int:
    """Return the tokens of the first body without what is shown of it."""
    if not page:
        return 0
    first, pieces = page[0], {part.key[2] for part in shown if part.key[:2] == (PIECE, 0)}
    seen = (line for number in pieces for line in first.body.pieces[number] if line.line in first.lines)
    return rounded((first.body.characters - sum(len(line.text) for line in seen)) / CHARACTERS_PER_TOKEN)
