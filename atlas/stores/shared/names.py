"""Comparison of names: segments of qualified names, edit distance, and the order of results. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from atlas.model import Node

MAX_TAILS = 12
"""Maximum number of trailing parts of a dotted name that are looked up."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_$"
_SEPARATOR = re.compile(r"::|[./]|#(?!\d+(?:$|[./:#]))")
_REDEFINITION = re.compile(r"#\d+$")


def fold(text: str) -> str:
    """Return the text with ASCII letters in lower case, which is the folding of the store's name index."""
    if text.isascii():
        return text.lower()
    return text.encode("utf8", "surrogatepass").lower().decode("utf8", "surrogatepass")


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


def tolerance(name: str) -> int:
    """Return the number of edits up to which a name of this length counts as similar."""
    return (len(name) > 2) + (len(name) > 5) + (len(name) > 9)


def distance(left: str, right: str, limit: int) -> int:
    """Return the number of edits (insert, delete, substitute, swap neighbours), or `limit` + 1 if there are more.

    This is the optimal string alignment distance of the parts between the common prefix and suffix, computed along a
    band of the matrix, row by row.
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    start = _common(left, right)
    left, right = left[start:], right[start:]
    end = _common(left[::-1], right[::-1])
    left, right = left[: len(left) - end], right[: len(right) - end]
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for i, char in enumerate(left, 1):
        current = [limit + 1] * (len(right) + 1)
        current[0] = i
        for j in range(max(1, i - limit), min(len(right), i + limit) + 1):
            other = right[j - 1]
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (char != other))
            if i > 1 and j > 1 and char == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            current[j] = cost
        if min(current) > limit and min(previous) >= limit:
            return limit + 1
        before, previous = previous, current
    return min(previous[-1], limit + 1)


def _common(left: str, right: str) -> int:
    """Return the length of the common prefix."""
    pairs = zip(left, right, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def similar(wanted: str, name: str) -> int | None:
    """Return the case-insensitive distance of two plain names, None if they are not similar.

    Similar names differ by at most `tolerance` edits and share the first letter, or are one of `front_variants`, so
    that an index on names bounds the search.
    """
    left, right = fold(wanted), fold(name)
    if left[:1] != right[:1]:
        return 1 if right in front_variants(left) else None
    limit = tolerance(left)
    edits = distance(left, right, limit)
    return edits if edits <= limit else None


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
