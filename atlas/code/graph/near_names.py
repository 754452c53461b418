"""Find the symbols whose name differs from a written one in form only. Reads names; follows no edge.

`build_request` for `_build_request`, `buildRequest` for `build_request`, `Handlers` for `Handler`: an answer about such
a symbol says so in its first line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from atlas.code.question.names import dotted
from atlas.code.reader import Reader
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node

CANDIDATES = 50
MIN_CHARACTERS = 4
"""Shorter names are near too many others."""
_DEFINED = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
_INNER = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


async def find_near_names(reader: Reader, name: str, where: Filter) -> Sequence[Node]:
    """Return the definitions of the nearest form of a name that has any; () if none has. Raises store errors."""
    owner, dot, last = dotted(name).rpartition(".")
    if len(last.strip("_")) < MIN_CHARACTERS or not last.isidentifier():
        return ()
    for form in dict.fromkeys(_forms(last)):
        nodes = await reader.store.find(f"{owner}{dot}{form}", Match.FOLDED, where, CANDIDATES)
        own = [node for node in nodes if node.row.label in _DEFINED and node.row.label not in EXTERNAL_LABELS]
        if own and form != last:
            return own
    return ()


def _forms(name: str) -> Iterator[str]:
    """Yield other forms of a name, the nearest first; case is not looked at."""
    bare = name.strip("_")
    snake = _INNER.sub("_", bare).lower()
    for form in (bare, snake, snake.replace("_", "")):
        yield from (form, f"_{form}", f"__{form}", f"{form}_")
    for form in (snake, snake.replace("_", "")):
        numbers = (
            (f"{form}s",) if not form.endswith("s") else (form[:-1], form[:-2]) if form.endswith("es") else (form[:-1],)
        )
        for number in numbers:
            yield from (number, f"_{number}")
