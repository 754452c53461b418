"""The interface to an index: the CLI, the MCP server and the tests access it only through `Atlas`.

Reads are delegated to `atlas.code.reader` with the adapters in `reader`, writes to `atlas.code.index`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from atlas.answers.evidence import NewerFiles
from atlas.code.index.events import IndexSummary, Progress, no_progress
from atlas.core.errors import StoreError

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.code.find import Fusion, Mode, SearchResult
    from atlas.code.index.index import Indexer
    from atlas.code.question.relation_kinds import RelationIntent
    from atlas.code.reader import Reader
    from atlas.code.retrieve.resolve import Resolution
    from atlas.core.model import Filter


@dataclass(frozen=True, slots=True)
class TreeReport:
    """What a check of the tree before an answer has found, for the answer's evidence."""

    newer: NewerFiles = field(default_factory=NewerFiles)
    """Files that differ from the index."""
    notes: tuple[str, ...] = ()
    """Which files these are, why they are not indexed yet, and where they mention what is asked for."""
    withheld: tuple[str, ...] = ()
    """What is known besides and does not fit into the answer's budget."""
    unfinished: str = ""
    """How far the first index is, while it is being made."""


class AnswerDraft:
    """An answer on its way: what it says about the tree, and its last step, which can be done again.

    One for each call. What is found while a tool works is fitted into the answer without the work before.
    """

    def __init__(self) -> None:
        self.tree = TreeReport()
        self.finish: Callable[[], Awaitable[Answer]] | None = None
        """Builds the answer from what the tool has read, within its budget; None until the tool is there."""


@dataclass(frozen=True, slots=True)
class Atlas:
    """One opened index."""

    reader: Reader
    indexer: Indexer | None = None
    """None if the index was opened for reading only."""
    tree: TreeReport = field(default_factory=TreeReport)
    """The state of the tree for one answer; empty if it was not checked, or equals the index."""
    draft: AnswerDraft | None = None
    """The answer of this call, if something may be added to it."""

    async def index(
        self, *, full: bool = False, take_over: bool = False, progress: Progress = no_progress
    ) -> IndexSummary:
        """Make the index equal to the tree; `full` parses and writes all files again.

        Raises StoreError if opened for reading only or if the store rejects the write, ConfigError for an unreadable
        root and, unless `take_over`, for an index of another tree with the same project name.
        """
        if self.indexer is None:
            raise StoreError("the index was opened for reading only")
        return await self.indexer.index(full=full, take_over=take_over, progress=progress)

    async def search(
        self,
        text: str,
        where: Filter,
        mode: Mode | None = None,
        fusion: Fusion | None = None,
        *,
        demote_tests: bool = True,
        wanted: int = 0,
        stated: RelationIntent | None = None,
    ) -> SearchResult:
        """Return ranked candidates for a query, by default of a hybrid search; a failing channel becomes a note.

        `wanted`: candidates of a single channel that are read, 0 = as many as a hybrid search reads.
        """
        from atlas.code.find import RERANK_LIMIT, Fusion, Mode, search  # a third of the start of other tools

        return await search(
            self.reader,
            text,
            where,
            mode or Mode.HYBRID,
            fusion or Fusion(self.reader.ranking.fusion),
            demote_tests=demote_tests,
            wanted=wanted or RERANK_LIMIT,
            stated=stated,
        )

    async def resolve(self, name: str, where: Filter) -> Resolution:
        """Return what a name refers to: one node, several, or none with similar spellings."""
        from atlas.code.retrieve.resolve import resolve

        return await resolve(self.reader, name, where)

    async def aclose(self) -> None:
        """Close the store, the history and the embedders; idempotent."""
        if self.reader.history is not None:
            await self.reader.history.aclose()
        writing = self.indexer.embedders if self.indexer is not None else ()
        reader = self.reader
        mine = (reader.embedder, reader.documents_embedder, reader.prose_embedder, reader.quality_embedder)
        for embedder in (*mine, *writing):
            if embedder is not None:
                await embedder.aclose()
        await self.reader.store.aclose()
