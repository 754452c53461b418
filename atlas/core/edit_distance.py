"""Compare spellings of names: case, underscores, and the number of edits between them. Pure."""

from __future__ import annotations


def fold(text: str) -> str:
    """Return the text with ASCII letters in lower case, which is the folding of the store's name index."""
    if text.isascii():
        return text.lower()
    return text.encode("utf8", "surrogatepass").lower().decode("utf8", "surrogatepass")


def squeeze(text: str) -> str:
    """Return the folded text without underscores: `_get_user`, `getUser` and `GETUSER` are one spelling."""
    folded = fold(text)
    return folded.replace("_", "") or folded


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
