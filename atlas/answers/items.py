"""An answer of items: groups of them and the calls that may follow. Values only, convertible to JSON.

Text and structured content are made from the same items. Each item has one line for the text, in which everything that
a person wrote is quoted, and fields for programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

from atlas.answers.answer import Answer
from atlas.answers.evidence import Evidence, Structure
from atlas.core.invisible import json_text

ITEMS_SCHEMA = {"type": "object", "required": ["status", "available_actions"]}
"""Schema of the structured content: there is a list for each group of items besides."""


@dataclass(frozen=True, slots=True)
class Item:
    """One unit, path or problem: its line and its fields."""

    line: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cursor: str = ""
    """In a list with pages: where the next page begins if this is the last item shown."""


@dataclass(frozen=True, slots=True)
class ItemGroup:
    """Items of one kind; `total` counts those that are not shown, too."""

    name: str
    items: tuple[Item, ...]
    total: int
    is_quoted: bool = False
    """Another group's text has its lines already: only programs get it."""

    @classmethod
    def of(cls, name: str, items: Sequence[Item], total: int = 0, *, is_quoted: bool = False) -> ItemGroup:
        """Return a group of these items; `total` if there are more than these."""
        return cls(name, tuple(items), max(total, len(items)), is_quoted)


@dataclass(frozen=True, slots=True)
class Action:
    """A call that may follow, with its arguments filled in, and why."""

    tool: str
    arguments: Mapping[str, Any]
    why: str


@dataclass(frozen=True, slots=True)
class ItemsBody:
    """`status` is ok, created, changed, unchanged, repeated, none, unknown or not_found."""

    status: str
    title: str
    groups: tuple[ItemGroup, ...] = ()
    actions: tuple[Action, ...] = ()
    cursor: str = ""
    in_turn: bool = False
    """A budget is shared: each group is given an item in turn; otherwise the first groups are complete first."""

    @property
    def size(self) -> int:
        """Number of items of all groups."""
        return sum(len(group.items) for group in self.groups)

    def cut(self, shown: int) -> ItemsBody:
        """Return `shown` items, the first of their groups; a group that is cut keeps its total.

        The cursor of a list continues behind the last item that is left.
        """
        items = [item for group in self.groups for item in group.items][:shown]
        cursor = items[-1].cursor if items and shown < self.size else self.cursor
        places = [(at, group) for group, one in enumerate(self.groups) for at in range(len(one.items))]
        # in turn: the first items of all groups come before the second ones
        left = Counter(group for _, group in (sorted(places) if self.in_turn else places)[:shown])
        groups = [replace(one, items=one.items[: left[number]]) for number, one in enumerate(self.groups)]
        return replace(self, groups=tuple(groups), cursor=cursor)


@dataclass(frozen=True, slots=True)
class ItemsAnswer(Answer):
    """Answer of the tools of claims, memory and packs."""

    tool: str
    body: ItemsBody
    evidence: Evidence

    def lines(self) -> Iterable[str]:
        """Yield the text."""
        return body_lines(self.body)

    def content(self) -> Structure:
        """Return the structured content; empty groups stay."""
        return body_structure(self.body)

    def emptied(self) -> Self:
        """Return status and title."""
        return replace(self, body=replace(self.body.cut(0), actions=()))

    def without_actions(self) -> Self:
        """Return the items alone."""
        return replace(self, body=replace(self.body, actions=()))

    def offering(self, tools: Collection[str]) -> Self:
        """Return the answer without proposed calls of other tools than these."""
        actions = tuple(one for one in self.body.actions if one.tool in tools)
        return (
            self if len(actions) == len(self.body.actions) else replace(self, body=replace(self.body, actions=actions))
        )


def body_lines(body: ItemsBody) -> Iterator[str]:
    """Yield the text."""
    yield f"{body.status}: {body.title}"
    for group in body.groups:
        if not group.total or group.is_quoted:
            continue
        count = f" ({len(group.items)} of {group.total})" if len(group.items) < group.total else ""
        yield f"{group.name}{count}:"
        yield from (f"- {item.line}" for item in group.items)
    for action in body.actions:
        yield f"next: {action.tool} {json_text(action.arguments)} ({action.why})"


def body_structure(body: ItemsBody) -> dict[str, object]:
    """Return the structured content. `status`, `available_actions` and each group's list are always there."""
    groups: dict[str, object] = {group.name: [dict(item.data) for item in group.items] for group in body.groups}
    totals = {group.name: group.total for group in body.groups if len(group.items) < group.total}
    actions = [{"tool": one.tool, "arguments": dict(one.arguments), "why": one.why} for one in body.actions]
    return {
        "status": body.status,
        "summary": body.title,
        **groups,
        **({"totals": totals} if totals else {}),
        "available_actions": actions,
    }


def body_to_json(body: ItemsBody) -> dict[str, Any]:
    """Return a body as JSON values, for `body_from_json`."""
    return {
        "status": body.status,
        "title": body.title,
        "groups": [
            {"name": one.name, "total": one.total, "items": [[item.line, dict(item.data)] for item in one.items]}
            for one in body.groups
        ],
        "actions": [[one.tool, dict(one.arguments), one.why] for one in body.actions],
    }


def body_from_json(stored: Mapping[str, Any]) -> ItemsBody:
    """Return a body that `body_to_json` has stored. Raises KeyError, TypeError or ValueError for other content."""
    groups = tuple(
        ItemGroup(str(one["name"]), tuple(Item(line, data) for line, data in one["items"]), int(one["total"]))
        for one in cast("list[dict[str, Any]]", stored["groups"])
    )
    actions = tuple(Action(tool, arguments, why) for tool, arguments, why in cast("list[Any]", stored["actions"]))
    return ItemsBody(str(stored["status"]), str(stored["title"]), groups, actions)
