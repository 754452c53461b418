"""The store as one question sees it: what the question has read is not read again.

The steps of a question do not know of one another: which symbols have a name, whose texts have a word and what a file
says is read by several of them. What is kept lives as long as the question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence, Sized
from typing import Any, TypeVar, cast

from atlas.core.contracts import Store
from atlas.core.model import Direction, Edge, FileRecord, Filter, Match, Node, Scored
from atlas.core.project_state import ProjectState

MOST_ROWS = 20_000
"""Nodes, edges, hits and paths that are kept, about 20 MB."""
MOST_BYTES = 8 << 20
"""Content that is kept."""

_Item = TypeVar("_Item")
_Value = TypeVar("_Value", bound=Sized)


def for_question(store: Store) -> Store:
    """Return a store for one question; the next one needs another: what has been read once is not read again."""
    return cast("Store", _QuestionStore(store))


class _KeptReads(dict[Hashable, Any]):
    """Values by key, forgotten all at once when they become too many."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self._size = most, 0

    def keep(self, values: Mapping[Any, Any], size: int) -> None:
        self._size += size
        if self._size > self._most:
            self.clear()
            self._size = size
        if size <= self._most:
            self.update(values)


class _QuestionStore:
    """Keeps what several steps read; the other verbs are those of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._values = _KeptReads(MOST_ROWS)
        self._nodes = _KeptReads(MOST_ROWS)
        self._content = _KeptReads(MOST_BYTES)

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._store, verb)

    async def projects(self) -> list[ProjectState]:
        """See `Store.projects`."""
        return [*await self._once("projects", self._store.projects)]

    async def paths(self, project: str) -> list[str]:
        """See `Store.paths`."""
        return [*await self._once(("paths", project), lambda: self._store.paths(project))]

    async def records(self, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
        """See `Store.records`."""
        return {**await self._once(("records", project, *paths), lambda: self._store.records(project, paths))}

    async def content(self, project: str, paths: Sequence[str]) -> dict[str, bytes]:
        """See `Store.content`."""

        async def read(missing: Sequence[str]) -> dict[str, bytes]:
            return await self._store.content(project, missing)

        found = await self._each(self._content, project, paths, read, len)
        return {path: data for path in paths if (data := found[path]) is not None}

    async def symbols(self, uids: Sequence[str], having: str = "") -> list[Node]:
        """See `Store.symbols`."""
        if having:
            key = ("symbols", having, *uids)
            return [*await self._once(key, lambda: self._store.symbols(uids, having))]

        async def read(missing: Sequence[str]) -> dict[str, Node]:
            return {node.row.uid: node for node in await self._store.symbols(missing)}

        found = await self._each(self._nodes, "", uids, read, lambda _: 1)
        return [node for uid in uids if (node := found[uid]) is not None]

    async def find(self, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
        """See `Store.find`."""
        key = ("find", text, match, where)
        return await self._first(key, limit, lambda: self._store.find(text, match, where, limit))

    async def edges(
        self, uids: Sequence[str], direction: Direction, types: Sequence[str] = (), limit: int = 1000, each: int = 0
    ) -> list[Edge]:
        """See `Store.edges`."""
        key = ("edges", tuple(uids), direction, tuple(types), each)
        return await self._first(key, limit, lambda: self._store.edges(uids, direction, types, limit, each))

    async def search_text(self, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_text`."""
        key = ("search_text", tuple(words), where)
        return await self._first(key, limit, lambda: self._store.search_text(words, where, limit))

    async def _once(self, key: Hashable, read: Callable[[], Awaitable[_Value]]) -> _Value:
        if key in self._values:
            return self._values[key]
        found = await read()
        self._values.keep({key: found}, len(found))
        return found

    async def _first(self, key: Hashable, limit: int, read: Callable[[], Awaitable[list[_Item]]]) -> list[_Item]:
        """Return the first values of an order that does not depend on the limit."""
        most, kept = self._values.get(key, (0, []))
        if limit <= most or len(kept) < most:
            return kept[:limit]
        found = await read()
        self._values.keep({key: (limit, found)}, len(found))
        return found[:]

    async def _each(
        self,
        kept: _KeptReads,
        owner: str,
        keys: Sequence[str],
        read: Callable[[Sequence[str]], Awaitable[dict[str, _Item]]],
        size: Callable[[_Item], int],
    ) -> dict[str, _Item | None]:
        """Return the value of each key, None for an unknown one; read are those that are not kept."""
        found: dict[str, _Item | None] = {key: kept[owner, key] for key in keys if (owner, key) in kept}
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if missing:
            values = await read(missing)
            found.update((key, values.get(key)) for key in missing)
            kept.keep({(owner, key): found[key] for key in missing}, sum(map(size, values.values())))
        return found
