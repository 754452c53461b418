"""What an unsure answer can list besides ranked hits: candidates that are not ranked, and definitions of likely files.

Both are read only where a hit that is meant may be missing: not for names, titles and quoted texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.find import SearchResult
from atlas.code.rank.likelihood import SENTENCE, certainty_of, missing
from atlas.code.rank.rank import Candidate
from atlas.code.rank.relevance import RELEVANT
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import keeps
from atlas.code.tools.citations import short_title
from atlas.core.model import Filter, Label, Node

LIKELY_FILES = 3
"""Files whose definitions are read."""
IN_LIKELY_FILE = 0.1
"""Chance that the target is in one of these files if it is not a candidate: of the targets of 41 docstrings, the first
three files have 5, 7 and 5; of other questions fewer."""
MAX_DEFINITIONS = 60
"""Definitions of a file that can be listed."""
MAX_READ = 200
"""Files with more other definitions are not read: none of them is likely."""
PER_WORD = 2.0
"""A definition counts once, and so much more for each word of the question in its name."""
_DEFINITIONS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE, Label.DOC_SECTION))


@dataclass(frozen=True, slots=True)
class Others:
    """Definitions of a likely file that are not candidates, likeliest first."""

    count: int = 0
    """All that the file has."""
    texts: tuple[str, ...] = ()
    """Of those that can be listed: `name line`"""
    likelihoods: tuple[float, ...] = ()


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


async def read_others(
    reader: Reader, project: str, found: SearchResult, likely: Mapping[str, float], where: Filter
) -> dict[str, Others]:
    """Return by path the definitions of the likeliest files that are not candidates, likeliest first."""
    if not is_unsure(found):
        return {}
    files: dict[str, float] = {}
    known: set[str] = set()
    for each in found.ranked:
        row = each.node.row
        known.update((row.uid, *each.also))
        if row.path:
            files[row.path] = files.get(row.path, 0.0) + likely[row.uid]
    first = sorted(files, key=lambda path: -files[path])[:LIKELY_FILES]
    digests = await reader.store.symbol_digests(project, first)
    unknown = [[uid for uid in digests.get(path, ()) if uid not in known] for path in first]
    nodes = await reader.store.symbols([uid for uids in unknown if len(uids) <= MAX_READ for uid in uids])
    chance = found.relevance * missing(found.ranked, found.query) * IN_LIKELY_FILE
    words = {*found.query.words, *found.query.variants}
    listed = [node for node in nodes if node.row.label in _DEFINITIONS and keeps(where, node)]
    return {
        path: _valued([node for node in listed if node.row.path == path], words, reader.split_words, chance)
        for path in first
    }


def _valued(
    nodes: Sequence[Node], words: Collection[str], split_words: Callable[[str], list[str]], chance: float
) -> Others:
    weights = [1 + PER_WORD * len(set(split_words(node.row.name)).intersection(words)) for node in nodes]
    total = sum(weights)
    valued = sorted(zip(weights, nodes, strict=True), key=lambda pair: (-pair[0], pair[1].row.line))[:MAX_DEFINITIONS]
    return Others(
        len(nodes),
        tuple(f"{short_title(node.row.name)} {node.row.line}" for _, node in valued),
        tuple(chance * weight / total for weight, _ in valued),
    )
