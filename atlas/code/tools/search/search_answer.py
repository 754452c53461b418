"""The answer of a search: one page of hits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.evidence import Evidence, Structure, where, without_empty
from atlas.code.tools.citations import hit_name
from atlas.code.tools.symbol.symbol_lines import beside_line, source_lines
from atlas.code.tools.symbol.symbols import SymbolHit
from atlas.core.invisible import escaped
from atlas.core.lazy_regex import lazy_regex

_LOOKS_LIKE_A_NAME = lazy_regex(r"\w*(?:[a-z\d][A-Z]|[A-Z]\w|\w_\w|\w\d|_)\w*|\S+(?:\.|::|/)\S+")
"""Mixed case, capitals, underscores, digits, or qualified."""


QUOTED_CHARACTERS = 80
"""A longer text that stands nowhere is cut."""


@dataclass(frozen=True, slots=True)
class SearchAnswer(Answer):
    """One page of hits. `found` counts all ranked candidates; it is a lower bound if `more` is set."""

    cites: ClassVar[bool] = True

    tool: str
    query: str
    hits: tuple[SymbolHit, ...]
    found: int
    more: bool
    evidence: Evidence
    card: tuple[str, ...] = ()
    """What the graph has about the subjects of the question."""
    nowhere: tuple[str, ...] = ()
    """Texts that the question quotes and no file has."""

    def lines(self) -> Iterator[str]:
        """Yield which text stands nowhere, the card, then the lines of all hits, or `no hits`."""
        yield from self._absent()
        yield from self.card
        if not self.hits and not self.card and not self.evidence.withheld:
            yield f"no hits{where(self.evidence)}"
        for hit in self.hits:
            yield from hit_lines(hit)

    def content(self) -> Structure:
        """Return which text stands nowhere, the card, and the hits in order of rank."""
        said = [*self._absent(), *self.card]
        return without_empty({"said": said, "hits": [_hit(hit) for hit in self.hits]})

    def _absent(self) -> Iterator[str]:
        for text in self.nowhere:
            short = text if len(text) <= QUOTED_CHARACTERS else f"{text[:QUOTED_CHARACTERS].rstrip()}..."
            yield f'"{escaped(short)}" occurs in no indexed file' + ("; nearest:" if self.hits else "")

    def emptied(self) -> Self:
        """Return no hit."""
        return replace(self, hits=(), card=())

    def result(self) -> AnswerOutcome:
        """Return what was asked: a single word, or the words that look like names."""
        words, is_empty = self.query.split(), not self.found
        asked = words if len(words) == 1 else [word for word in words if _LOOKS_LIKE_A_NAME.search(word)]
        return AnswerOutcome(is_empty, has_no_definition=is_empty, asked=tuple(asked))


def hit_lines(hit: SymbolHit) -> Iterator[str]:
    """Yield one hit: its headline, the summary and the matching lines."""
    marks = f", {hit.marks}" if hit.marks else ""
    yield " ".join(filter(None, (f"{hit.rank}. {hit_name(hit.symbol)}", hit.symbol.place, hit.sure))) + marks
    if hit.symbol.summary:
        yield f"   {hit.symbol.summary}"
    yield from (f"   {line}" for line in source_lines(hit.lines))
    if hit.same_file:
        yield f"   {beside_line(hit)}"
    yield from (f"   {near}" for near in hit.near)


def _hit(hit: SymbolHit) -> list[str]:
    """Return `[kind, name and signature, place, how sure, summary, lines ..., hits of its file, callers, callees ...]`.

    Hits are in order of rank.
    """
    head = (hit_name(hit.symbol), hit.symbol.place, hit.sure, hit.marks, hit.symbol.summary)
    parts = (*head, *source_lines(hit.lines), beside_line(hit), *hit.near)
    return [part for part in parts if part]
