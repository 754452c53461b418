"""Neighbours of hits that have words of the question, and are not hits themselves. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from atlas.code.tools.citations import local_name, place_of
from atlas.code.tools.symbol.symbol_lines import TITLES
from atlas.core.model import Edge

MAX_NEIGHBOURS = 3
"""For each hit."""
MAX_WORDS = 8
"""Most words that a long text counts as: no name has all of them."""


@dataclass(frozen=True, slots=True)
class NearSymbol:
    """A symbol at the other end of an edge of a hit."""

    text: str
    """`calls Cart.total shop/cart.py:12`"""
    relevance: float
    """0..1: agreement of its name with the question, times the confidence of the edge."""


def relevant_neighbours(
    edges: Iterable[tuple[str, Edge]],
    words: Collection[str],
    known: Collection[str],
    split_words: Callable[[str], list[str]],
) -> Sequence[NearSymbol]:
    """Return the neighbours that agree best with the question's words, best first; uids of `known` are left out."""
    found: dict[str, NearSymbol] = {}
    for kind, edge in edges:
        row = edge.node.row
        if row.uid in known or row.uid in found or not row.path:
            continue
        own = set(split_words(row.name))
        both = len(own.intersection(words))
        if both:
            agreement = 2 * both / (len(own) + min(len(words), MAX_WORDS))
            text = f"{TITLES[kind]} {local_name(row)} {place_of(row)}"
            found[row.uid] = NearSymbol(text, agreement * edge.row.confidence)
    return sorted(found.values(), key=lambda each: (-each.relevance, each.text))[:MAX_NEIGHBOURS]
