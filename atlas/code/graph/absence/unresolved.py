"""List calls of a name that no rule of the linker resolves: they may be calls of any symbol with that name.

The linker keeps them as a property of the calling node. They are found through the words of that node's text, which
contains the name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from atlas.code.reader import Reader
from atlas.core.model import Filter, Label, Node
from atlas.core.wording import counted

MAX_NODES = 1_000
"""Symbols that contain the name whose unresolved calls are read."""
SHOWN = 12
FEW = 4
"""Unresolved calls of a name that several symbols have whose places are listed."""


@dataclass(frozen=True, slots=True)
class UnresolvedCall:
    """Calls of one name in one symbol, with the shape of their receiver and the reason why no rule resolves them."""

    caller: Node
    shape: str
    """`none`, `name`, `attribute`, `call`, `item`, `self` or `other`."""
    reason: str
    """`unknown-receiver`, `no-such-member`, `unknown-name`, `unknown-value` or `missing-import`."""
    lines: tuple[int, ...]

    @property
    def why(self) -> str:
        """Why no rule resolves the calls, in words."""
        reason = self.reason.replace("-", " ")
        return reason if self.shape == "none" else f"{reason}, on {_SHAPES.get(self.shape, 'an expression')}"


@dataclass(frozen=True, slots=True)
class UnresolvedCalls:
    """The unresolved calls of a name, by path and line. `more` tells that not all symbols could be read."""

    name: str
    calls: tuple[UnresolvedCall, ...]
    more: bool = False

    @property
    def total(self) -> int:
        """Number of call sites, each line counted once per caller."""
        return sum(len(call.lines) for call in self.calls)


async def find_unresolved(reader: Reader, name: str, project: str) -> UnresolvedCalls:
    """Return the unresolved calls of a name, by path and line. Raises store errors."""
    words = reader.split_words(name)[:1]
    hits = await reader.store.search_text(words, Filter(project=project), MAX_NODES) if words else []
    nodes = await reader.store.symbols([hit.uid for hit in hits], json.dumps(name, ensure_ascii=False))
    calls = [call for node in nodes if node.row.path for call in _calls(node, name)]
    calls.sort(key=lambda call: (call.caller.row.path, call.lines))
    return UnresolvedCalls(name, tuple(calls), len(hits) >= MAX_NODES)


def describe_unresolved(found: UnresolvedCalls) -> str:
    """Return one clause with the number of the calls and the places of the first ones; "" if there are none."""
    if not found.calls:
        return ""
    at_least = "at least " if found.more else ""
    places = [
        f"{call.caller.row.path}:{line} in `{call.caller.row.name}` ({call.why})"
        for call in found.calls
        for line in call.lines
    ]
    rest = f", and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    calls = counted(found.total, "unresolved call")
    return f"{at_least}{calls} of this name, any of which may be one: {', '.join(places[:SHOWN])}{rest}"


async def unresolved_beside(reader: Reader, node: Node, symbols: int) -> tuple[str, ...]:
    """Return what an answer about callers says of unresolved calls: their places and number.

    Only the number is given if several symbols share the name and the calls are more than `FEW`.

    `node`: one of the symbols of the name. Raises store errors.
    """
    found = await find_unresolved(reader, node.row.name, node.project)
    if not found.calls:
        return ()
    if symbols == 1:
        return (f"and {describe_unresolved(found)}",)
    at_least = "at least " if found.more else ""
    calls = counted(found.total, "unresolved call")
    said = f"{at_least}{calls} of `{found.name}`, each of which may be of any of these symbols"
    places = [
        f"{call.caller.row.path}:{line} in `{call.caller.row.name}`" for call in found.calls for line in call.lines
    ]
    return (f"{said}: {', '.join(places)}" if len(places) <= FEW else said,)


async def unresolved_beyond(reader: Reader, ends: Sequence[Node]) -> list[tuple[Node, UnresolvedCalls]]:
    """Return the ends of chains of callers that unresolved calls of their names may continue, with these calls.

    Only the first `FEW` ends outside tests, and names of which `FEW` calls or less are unresolved: of a name such as
    `get` most calls mean others. Nor calls of a member that the type of the object does not have, such as those of an
    outside base: `super().__init__()`. Raises store errors.
    """
    callable_ = [node for node in ends if node.row.label in (Label.FUNCTION, Label.METHOD) and not node.row.is_test]
    found: list[tuple[Node, UnresolvedCalls]] = []
    for node in callable_[:FEW]:
        calls = await find_unresolved(reader, node.row.name, node.project)
        calls = replace(calls, calls=tuple(each for each in calls.calls if each.reason != "no-such-member"))
        if 0 < calls.total <= FEW and not calls.more:
            found.append((node, calls))
    return found


def describe_beyond(found: Iterable[tuple[Node, UnresolvedCalls]]) -> tuple[str, ...]:
    """Return a note for each end of a chain of callers that unresolved calls may continue."""
    return tuple(
        f"`{node.row.name}` may have further callers, which no rule resolves: {', '.join(_places(calls))}"
        for node, calls in found
    )


def _places(found: UnresolvedCalls) -> list[str]:
    rows = ((call.caller.row, line) for call in found.calls for line in call.lines)
    return [f"{row.path}:{line} in `{row.name}`" for row, line in rows]


_SHAPES = {
    "name": "a variable",
    "attribute": "an attribute",
    "call": "the result of a call",
    "item": "an element",
    "self": "the object itself",
}


def _calls(node: Node, name: str) -> Iterable[UnresolvedCall]:
    """Return a node's unresolved calls of a name. A property that does not have the linker's form has none."""
    if not node.row.properties:
        return
    try:
        groups: object = json.loads(node.row.properties)["unresolved"][name]
    except (ValueError, KeyError, TypeError):
        return
    for group in cast("Sequence[Any]", groups) if isinstance(groups, list) else ():
        match group:
            case [str() as shape, str() as reason, *lines] if lines and all(isinstance(line, int) for line in lines):
                yield UnresolvedCall(node, shape, reason, tuple(cast("list[int]", lines)))
            case _:
                pass
