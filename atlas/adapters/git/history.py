"""`GitHistory`: the contract of `atlas.core.history` on a git repository, in threads, one question at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from atlas.core.history import (
    WHOLE,
    WORK_TREE,
    Author,
    CoChanges,
    Commit,
    CommitsAbout,
    CommitSpan,
    Diff,
    LastChange,
    LineLog,
    Log,
    NameChanges,
    Rewritten,
)
from atlas.core.threads import in_thread

if TYPE_CHECKING:
    from atlas.adapters.git.limits import Deadline
    from atlas.adapters.git.repository import Repository
    from atlas.adapters.git.work_tree import Differing

SECONDS = 10.0
"""After this time a question fails."""
SOFT_SECONDS = 3.0
"""After this time a question about many commits answers with what it has."""
REWRITTEN_SECONDS = 1.5
"""After this time no further commits of files are compared: they only order what messages tell."""

ResultT = TypeVar("ResultT")


class GitHistory:
    """The history of the project at a root. Opening costs nothing: dulwich is loaded by the first question."""

    def __init__(self, root: Path, differing: Differing, mask: Callable[[bytes], bytes] = lambda text: text) -> None:
        """`differing` compares files with their records; `mask` hides secrets in messages and names of commits."""
        self._root, self._differing, self._mask = root, differing, mask
        self._repository: Repository | None = None
        self._lock = asyncio.Lock()

    async def diff(self, old: str, new: str = WORK_TREE, candidates: Sequence[str] = ()) -> Diff:
        """See `History.diff`."""

        def answer(repository: Repository) -> Diff:
            from atlas.adapters.git.differences import diff

            return diff(repository, old, new, candidates)

        return await self._ask(answer)

    async def log(
        self,
        limit: int,
        *,
        since: str = "",
        after: int = 0,
        until: int = 0,
        paths: int = 8,
        path: str = "",
        author: str = "",
        last: str = "",
        words: Sequence[str] = (),
        least: int = 0,
    ) -> Log:
        """See `History.log`."""

        def answer(repository: Repository) -> Log:
            from atlas.adapters.git.commits import Wanted, log

            wanted = Wanted(limit, since, after, until, paths, path, author, last, tuple(words), least)
            return log(repository, wanted, _soft())

        return await self._ask(answer)

    async def commits_about(self, words: Sequence[str], limit: int, span: CommitSpan = WHOLE) -> CommitsAbout:
        """See `History.commits_about`."""

        def answer(repository: Repository) -> CommitsAbout:
            from atlas.adapters.git.told import commits_about

            return commits_about(repository, words, limit, span, _soft())

        return await self._ask(answer)

    async def last_commits(self, limit: int) -> tuple[Commit, ...]:
        """See `History.last_commits`."""

        def answer(repository: Repository) -> tuple[Commit, ...]:
            from atlas.adapters.git.told import last_commits

            return last_commits(repository, limit, _soft())

        return await self._ask(answer)

    async def added_lines(
        self, ids: Sequence[str], wanted: Callable[[str], bool]
    ) -> dict[str, dict[str, frozenset[str]]]:
        """See `History.added_lines`."""

        def answer(repository: Repository) -> dict[str, dict[str, frozenset[str]]]:
            from atlas.adapters.git.added_lines import added_lines

            return added_lines(repository, ids, wanted)

        return await self._ask(answer)

    async def rewritten(self, paths: Sequence[str], limit: int) -> tuple[Rewritten, ...]:
        """See `History.rewritten`."""

        def answer(repository: Repository) -> tuple[Rewritten, ...]:
            from atlas.adapters.git.added_lines import rewritten_lines

            return rewritten_lines(repository, paths, limit, _soft(REWRITTEN_SECONDS))

        return await self._ask(answer)

    async def first_tags(self, ids: Collection[str]) -> dict[str, str]:
        """See `History.first_tags`."""

        def answer(repository: Repository) -> dict[str, str]:
            from atlas.adapters.git.told import first_tags

            return first_tags(repository, ids, _soft())

        return await self._ask(answer)

    async def messages(self, ids: Collection[str]) -> dict[str, str]:
        """See `History.messages`."""

        def answer(repository: Repository) -> dict[str, str]:
            from atlas.adapters.git.told import messages

            return messages(repository, ids, _soft())

        return await self._ask(answer)

    async def line_log(self, path: str, start: int = 0, end: int = 0, *, name: str = "", limit: int = 100) -> LineLog:
        """See `History.line_log`."""

        def answer(repository: Repository) -> LineLog:
            from atlas.adapters.git.line_log import line_log

            return line_log(repository, path, (start, end), name, limit, _soft())

        return await self._ask(answer)

    async def name_changes(self, name: str, path: str = "") -> NameChanges:
        """See `History.name_changes`."""

        def answer(repository: Repository) -> NameChanges:
            from atlas.adapters.git.names import name_changes

            return name_changes(repository, name, path, _soft())

        return await self._ask(answer)

    async def authors(self) -> tuple[Author, ...]:
        """See `History.authors`."""

        def answer(repository: Repository) -> tuple[Author, ...]:
            from atlas.adapters.git.commits import authors

            return authors(repository, _soft())

        return await self._ask(answer)

    async def last_change(self, path: str, start: int = 0, end: int = 0) -> LastChange:
        """See `History.last_change`."""

        def answer(repository: Repository) -> LastChange:
            from atlas.adapters.git.commits import last_change

            return last_change(repository, path, start, end, _soft())

        return await self._ask(answer)

    async def changed_with(self, path: str, commits: int = 1000) -> CoChanges:
        """See `History.changed_with`."""

        def answer(repository: Repository) -> CoChanges:
            from atlas.adapters.git.commits import changed_with

            return changed_with(repository, path, commits, _soft())

        return await self._ask(answer)

    async def content(self, revision: str, paths: Sequence[str]) -> dict[str, bytes]:
        """See `History.content`."""

        def answer(repository: Repository) -> dict[str, bytes]:
            from atlas.adapters.git.differences import content

            return {path: self._mask(text) for path, text in content(repository, revision, paths)}

        return await self._ask(answer)

    async def last_tag(self) -> str:
        """See `History.last_tag`."""

        def answer(repository: Repository) -> str:
            from atlas.adapters.git.commits import last_tag

            return last_tag(repository)

        return await self._ask(answer)

    async def aclose(self) -> None:
        """Close open files; idempotent."""
        async with self._lock:
            if self._repository is not None:
                self._repository.close()
                self._repository = None

    async def _ask(self, question: Callable[[Repository], ResultT]) -> ResultT:
        async with self._lock:
            return await in_thread(lambda: self._answer(question))

    def _answer(self, question: Callable[[Repository], ResultT]) -> ResultT:
        from atlas.adapters.git.limits import Deadline
        from atlas.adapters.git.repository import Repository

        if self._repository is None:
            self._repository = Repository(self._root, self._mask, self._differing)
        self._repository.begin(Deadline(SECONDS))
        return question(self._repository)


def _soft(seconds: float = SOFT_SECONDS) -> Deadline:
    from atlas.adapters.git.limits import Deadline

    return Deadline(seconds)
