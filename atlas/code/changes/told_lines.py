"""The line of a symbol that the words around its name tell: `why does X check whether a time exists`.

When a behaviour came in says the commit of its line, not that of the symbol around it. Reads texts of the index only.
"""

from __future__ import annotations

from collections.abc import Iterator

from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, NodeRow

_IDENTIFIER = lazy_regex(r"[A-Za-z_]\w{2,80}")
LEAST_WORDS = 2
"""Words of the question that an identifier, or a line, has: one is chance."""
MOST_LINES = 3
"""Lines that are told equally well; where more are, the words tell none of them."""


async def find_told_line(reader: Reader, row: NodeRow, words: tuple[str, ...], where: Filter) -> tuple[str, int] | None:
    """Return the identifier and the line (1-based) that most of the words of a question tell; None for none.

    `words` are those of the question; what the symbol's own name has is not counted. Raises store errors.
    """
    own = {root_of(part) for part in reader.split_words(row.qualified_name)}
    wanted = {root_of(part) for word in words for part in reader.split_words(word)} - own
    if len(wanted) < LEAST_WORDS:
        return None
    held = (await reader.store.content(where.project or reader.project, [row.path])).get(row.path, b"")
    lines = held.decode("utf-8", "replace").splitlines()[row.start_line - 1 : row.end_line]
    told = [*_told(reader, lines, row.start_line, wanted)]
    most = max((score for score, _, _ in told), default=(0, 0))
    best = [(name, line) for score, name, line in told if score == most]
    names = {name for name, _ in best}
    return best[0] if most[0] >= LEAST_WORDS and (len(names) == 1 or len(best) <= MOST_LINES) else None


def _told(reader: Reader, lines: list[str], first: int, wanted: set[str]) -> Iterator[tuple[tuple[int, int], str, int]]:
    """Yield for each identifier how many words it has, and its line; more count than those of the line."""
    for number, line in enumerate(lines, first):
        if number == first:
            continue  # the definition itself
        parts = {
            name: wanted & {root_of(part) for part in reader.split_words(name)} for name in _IDENTIFIER.findall(line)
        }
        every = set[str]().union(*parts.values())
        for name, found in parts.items():
            if found:
                yield (len(found), len(every)), name, number
