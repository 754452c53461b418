"""Generated files that are not indexed and name a symbol: what they have is missing from a list that looks whole."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.graph.absence.occurrences import find_in_skipped, single_word
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.model import Label, Node

SHOWN = 3
_REASON = "generated"
_INWARD = frozenset(
    (Kind.CALLERS, Kind.USAGES, Kind.SUBTYPES, Kind.INSTANTIATIONS, Kind.OVERRIDES, Kind.IMPORTERS, Kind.DEPENDENTS)
)


async def named_in_generated(reader: Reader, kind: Kind, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return which generated files name the one symbol that a list is about; () for none, and for a common word.

    Raises store errors.
    """
    row = nodes[0].row
    word = single_word(row.name)
    if kind not in _INWARD or len(nodes) != 1 or not word:
        return ()
    if row.label != Label.CLASS and len(set(reader.split_words(word))) < 2:
        return ()
    found = await find_in_skipped(reader, (word,), nodes[0].project, reason=_REASON)
    places = [f"{each.path}:{each.line}" for each in found.places.get(word, ())]
    if not places:
        return ()
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return (f"not counted: generated files, which are not indexed, name it: {', '.join(places[:SHOWN])}{more}",)
