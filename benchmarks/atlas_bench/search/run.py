"""Puts question sets to every ranking and to the search tool, and records measures, tokens and times."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from atlas.code.atlas import Atlas
from atlas.core.errors import AtlasError
from atlas.core.wording import counted
from atlas.parsing import count_tokens
from atlas_bench.answers.claims import of_structure
from atlas_bench.search.file_words import FileWords
from atlas_bench.search.measures import DEPTH, score
from atlas_bench.search.questions import SearchQuestion
from atlas_bench.search.sets import QuestionSet
from atlas_bench.search.variants import FILES, PIPELINE, Variant

TOOL = "hybrid_search"
WARM = "where is the entry point"
"""Asked once before times count: the first question opens the index and loads the models."""
FILE_HITS = 50
"""Files that the baseline lists; measures read ten."""


class Asker(Protocol):
    """A session with one index."""

    async def ask(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        """Return the structured content of a tool's answer. Raises AtlasError as the tool does."""
        ...

    async def aclose(self) -> None:
        """Close the session."""
        ...


@dataclass(frozen=True, slots=True)
class Indexes:
    """How to make and open an index of (tree, data folder)."""

    index: Callable[[Path, Path], None]
    open: Callable[[Path, Path], AbstractAsyncContextManager[Atlas]]
    probe: Callable[[Path, Path], Asker]


@dataclass(frozen=True, slots=True)
class Answered:
    """One question as one ranking answered it. Of the tool's answer: its tokens, and whether the target is in it."""

    tree: str
    variant: str
    question: SearchQuestion
    measures: Mapping[str, float]
    ms: float
    hits: tuple[str, ...] = ()
    """The first ten places, `path:line`."""
    tokens: int = 0
    inside: bool = False
    tool_ms: float = 0.0


async def ask_set(
    asked: QuestionSet, data: Path, indexes: Indexes, variants: Mapping[str, Variant], tell: Callable[[str], None]
) -> list[Answered]:
    """Index a tree into a data folder if needed, and put all questions to all variants. Raises AtlasError."""
    tell(f"{asked.name} ({asked.index}): {counted(len(asked.questions), 'question')}, indexing")
    indexes.index(asked.tree, data)
    answered: list[Answered] = []
    async with indexes.open(asked.tree, data) as atlas:
        for name, variant in variants.items():
            tell(f"{asked.name} ({asked.index}): {name}")
            await variant(atlas, WARM)
            answered += [await _ask(asked.name, name, question, variant, atlas) for question in asked.questions]
    if PIPELINE in variants:
        answered = await _with_answers(asked, data, indexes, answered)
    return answered


async def _ask(tree: str, name: str, question: SearchQuestion, variant: Variant, atlas: Atlas) -> Answered:
    started = time.perf_counter()
    hits = await variant(atlas, question.text)
    ms = (time.perf_counter() - started) * 1000
    shown = tuple(f"{hit.path}:{hit.line}" for hit in hits[:DEPTH])
    return Answered(tree, name, question, score(question, hits), ms, shown)


async def _with_answers(
    asked: QuestionSet, data: Path, indexes: Indexes, answered: Sequence[Answered]
) -> list[Answered]:
    """Return the records, those of the pipeline with what the tool answered."""
    session = indexes.probe(asked.tree, data)
    try:
        await session.ask(TOOL, {"query": WARM})
        return [await _with_answer(each, session) if each.variant == PIPELINE else each for each in answered]
    finally:
        await session.aclose()


async def _with_answer(answered: Answered, session: Asker) -> Answered:
    question = answered.question
    started = time.perf_counter()
    try:
        content: Mapping[str, Any] = await session.ask(TOOL, {"query": question.text})
    except AtlasError as error:
        content = {"error": error.message, "hint": error.hint}
    ms = (time.perf_counter() - started) * 1000
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Answered(
        answered.tree,
        answered.variant,
        question,
        answered.measures,
        answered.ms,
        answered.hits,
        count_tokens(text),
        _is_inside(question, content),
        ms,
    )


def _is_inside(question: SearchQuestion, content: Mapping[str, Any]) -> bool:
    claims = of_structure(content, frozenset(("near", "next", "evidence", "notes", "withheld")))
    places = question.places
    if not places:
        return any(claim.path in question.files for claim in claims)
    return any(claim.path == path and line in claim.lines for path, line in places for claim in claims)


async def ask_file_words(asked: QuestionSet) -> list[Answered]:
    """Return what BM25 over whole files answers: the baseline outside of the product."""
    contents = ((path, (asked.tree / path).read_bytes()) for path in asked.paths)
    words, answered = FileWords(contents), list[Answered]()
    for question in asked.questions:
        started = time.perf_counter()
        hits = words.search(question.text, FILE_HITS)
        ms = (time.perf_counter() - started) * 1000
        shown = tuple(hit.path for hit in hits[:DEPTH])
        answered.append(Answered(asked.name, FILES, question, score(question, hits), ms, shown))
    words.close()
    return answered
