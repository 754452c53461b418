"""What an unsure answer can list besides ranked hits: candidates that are not ranked.

They are read only where a hit that is meant may be missing: not for names, titles and quoted texts.
"""

from __future__ import annotations

from dataclasses import replace

from atlas.code.find import SearchResult
from atlas.code.rank.likelihood import SENTENCE, certainty_of
from atlas.code.rank.rank import Candidate
from atlas.code.rank.relevance import RELEVANT
from atlas.code.reader import Reader


def is_unsure(found: SearchResult) -> bool:
    """Return whether a hit that is meant may be missing: the question is a sentence that the index has to do with."""
    if not found.ranked or found.relevance < RELEVANT:
        return False
    return certainty_of(found.ranked[0], found.query) is SENTENCE


async def with_unranked(reader: Reader, found: SearchResult) -> SearchResult:
    """Return the result with the candidates that were not ranked behind those that were."""
    if not found.unranked or not is_unsure(found):
        return found
    known = {uid for each in found.ranked for uid in (each.node.row.uid, *each.also)}
    scores, least = dict(found.unranked), found.ranked[-1].score
    nodes = await reader.store.symbols([uid for uid in scores if uid not in known])
    added = tuple(Candidate(node, min(scores[node.row.uid], least)) for node in nodes)
    return replace(found, ranked=(*found.ranked, *added), total=found.total + len(added))
