"""Comparison of names: segments of qualified names, edit distance, and the order of results. Pure."""

from __future__ import annotations

from collections.abc import Callable

from atlas.core.edit_distance import distance, fold, squeeze, tolerance
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Node

MAX_TAILS = 12
"""Maximum number of trailing parts of a dotted name that are looked up."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_$"
_SEPARATOR = lazy_regex(r"::|[./]|#(?!\d+(?:$|[./:#]))")
_REDEFINITION = lazy_regex(r"#\d+$")


def segments(text: str) -> tuple[str, ...]:
    """Split at `.`, `/`, `::` and `#`; a redefinition's `#2` stays with its name. Empty parts are dropped."""
    return tuple(part for part in _SEPARATOR.split(text) if part)


def tails(text: str) -> list[str]:
    """Return the plain node names that `text` may refer to: all of it, or the part after a separator."""
    starts = [0, *(match.end() for match in _SEPARATOR.finditer(text))]
    found = (_REDEFINITION.sub("", text[start:]) for start in starts[-MAX_TAILS:])
    return list(dict.fromkeys(tail for tail in (text, *found) if tail))


def ends_with(qualified_name: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Return whether the segments end in the wanted ones; a name without `#2` also matches its redefinitions."""
    if not wanted or len(wanted) > len(qualified_name):
        return False
    return all(
        have == want or _REDEFINITION.sub("", have) == want
        for have, want in zip(qualified_name[-len(wanted) :], wanted, strict=True)
    )


def suffix_matcher(text: str) -> Callable[[str, str], bool]:
    """Return a case-sensitive test of (name, qualified name): whether the plain or dotted name refers to the node."""
    plain = frozenset(tails(text))
    wanted = segments(text)

    def matches(name: str, qualified_name: str) -> bool:
        if name == text or name not in plain:
            return name == text
        # Most homonyms fail here, without being split.
        return all(part in qualified_name for part in wanted) and ends_with(segments(qualified_name), wanted)

    return matches


def order_key(node: Node) -> tuple[bool, int, str, str]:
    """Sort key of found names: definitions before tests, then by length, then by qualified name."""
    row = node.row
    return (row.is_test, len(row.qualified_name), row.qualified_name, row.uid)


def similar(wanted: str, name: str) -> int | None:
    """Return the distance of two plain names without case and underscores, None if they are not similar.

    Similar names differ by at most `tolerance` edits and share the first letter, or are one of `front_variants`, so
    that an index on names bounds the search.
    """
    left, right = squeeze(wanted), squeeze(name)
    if left[:1] != right[:1]:
        return 1 if fold(name) in front_variants(wanted) else None
    if not left or not fold(name).startswith(starts(left)):
        return None
    limit = tolerance(left)
    edits = distance(left, right, limit)
    return edits if edits <= limit else None


def starts(squeezed: str) -> tuple[str, ...]:
    """Return how names with this squeezed spelling may begin: names of more leading underscores are not looked up."""
    return tuple("_" * count + squeezed[0] for count in range(3))


def front_variants(name: str) -> list[str]:
    """Return the folded names that result from one edit at the first letter and start with another letter."""
    left = fold(name)
    if not tolerance(left):
        return []
    made = [left[1:], left[1:2] + left[:1] + left[2:], *(char + rest for rest in (left, left[1:]) for char in _LETTERS)]
    return [variant for variant in dict.fromkeys(made) if variant[:1] != left[:1]]


def wanted_name(text: str) -> tuple[str, str]:
    """Split a misspelt name into qualifier and plain name: at the last "/" of a path, else at the last separator."""
    if "/" in text:
        qualifier, _, name = text.rpartition("/")
        return qualifier, name
    parts = segments(text)
    return (".".join(parts[:-1]), _REDEFINITION.sub("", parts[-1])) if parts else ("", "")


def qualifier_distance(qualifier: str, qualified_name: str) -> int:
    """Return the distance of the segments before the last to the requested qualifier, at most 4; 0 without one."""
    wanted = segments(qualifier)
    if not wanted:
        return 0
    have = segments(qualified_name)[:-1][-len(wanted) :]
    return distance(fold(".".join(wanted)), fold(".".join(have)), 3)
