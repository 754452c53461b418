"""Sections that good hits link to, and how many links lead to an article: reads of the graph of a pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas.model import Direction, EdgeType, Label
from atlas.search.packs.ranking import RankedSection
from atlas.search.packs.texts import Passage, read_passages
from atlas.search.packs.values import PackReader

SOURCES = 6
"""Best sections whose links are followed."""
LINKS_EACH = 20
PASSAGES_EACH = 2
"""First passages of a linked section that are read."""
MAX_PASSAGES = 24
MENTION, MARKED = 0.25, 0.1
"""Share of the score of a good hit that an article gains which it mentions by title, and a section to which it has a
link. In an encyclopedia a question is often answered one mention further; documentation links to much besides."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Links of good hits, (uid of source, of target section) with what they are worth, and passages of the targets."""

    links: Mapping[tuple[str, str], float]
    passages: tuple[Passage, ...]


async def read_linked(reader: PackReader, sections: Sequence[RankedSection]) -> Linked:
    """Return the links of the best sections and the passages behind them that are not among the sections' own."""
    best = sections[:SOURCES]
    owners = {section.uid: section.uid for section in best}
    owners |= {section.article: section.uid for section in reversed(best) if section.uid.endswith("#")}
    edges = await reader.store.edges(
        list(owners), Direction.OUT, (EdgeType.LINKS_TO,), LINKS_EACH * len(owners) or 1, LINKS_EACH
    )
    links: dict[tuple[str, str], float] = {}
    for edge in edges:
        target = edge.node.row
        uid = target.uid if target.label == Label.SECTION else f"{target.uid}#"
        ends = owners.get(edge.row.source, edge.row.source), uid
        links[ends] = max(links.get(ends, 0.0), MENTION if edge.row.strategy == "mention" else MARKED)
    known = {section.uid for section in sections}
    missing = list(dict.fromkeys(target for _, target in links if target not in known))
    # the passages of a section are numbered from 0 behind its uid
    uids = [f"{uid}/{number}" for number in range(PASSAGES_EACH) for uid in missing][:MAX_PASSAGES]
    found = await read_passages(reader, uids)
    return Linked(links, tuple(found.values()))


async def link_degrees(reader: PackReader, sections: Sequence[RankedSection]) -> dict[str, int]:
    """Return the number of links that lead to the article of each section, by uid of the article."""
    articles = list(dict.fromkeys(section.article for section in sections))
    found = await reader.store.degrees(articles, Direction.IN, (EdgeType.LINKS_TO,)) if articles else {}
    return {uid: sum(counts.values()) for uid, counts in found.items()}
