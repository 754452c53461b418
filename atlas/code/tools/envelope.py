"""The first and last steps of every tool: check the arguments, fit the answer into the budget, attach the evidence."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import TypeVar

from atlas.answers.assemble import INLINE_TOKENS, AnswerT, fit_counted, fit_counted_or_none
from atlas.answers.evidence import Evidence, StaleFile
from atlas.answers.schema import check_range
from atlas.code.atlas import AnswerDraft, Atlas, TreeReport
from atlas.code.conflicts import BEGINS
from atlas.code.freshness import PARTLY
from atlas.code.question.names import valid
from atlas.core.contracts import Store
from atlas.core.errors import ConfigError, NotFound
from atlas.core.model import Filter, Label
from atlas.core.project_state import ProjectState
from atlas.core.wording import counted

MAX_BUDGET = 200_000
"""Tokens. A budget this large does not limit an answer in practice."""

MAX_CHARACTERS_PER_TOKEN = 8
"""Content with more characters per token of the budget is not measured: code and JSON have two to four."""
MAX_PATH, MAX_WILDCARDS = 4096, 16
"""Of a path that is asked for; stores match globs by trying every start of each wildcard."""

MAX_UNREAD = 3
"""Folders that a note names; further ones are counted."""

_LABELS = {label.value.lower(): label.value for label in Label}

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Envelope:
    """The parts of the evidence that are known before the answer is built."""

    state: ProjectState
    encoding: str
    token_budget: int
    own_tree: TreeReport = field(default_factory=TreeReport)
    gone: str = ""
    """The folder of the project, if it no longer exists."""
    unread: tuple[str, ...] = ()
    """Folders of which it is unknown what they hold, one note each."""
    draft: AnswerDraft | None = None

    @property
    def tree(self) -> TreeReport:
        """What is known of the tree: that of the draft may change after the answer was built once."""
        return self.own_tree if self.draft is None else self.draft.tree

    def evidence(
        self,
        *,
        paths: Iterable[str] = (),
        stale: Sequence[StaleFile] | None = (),
        notes: Iterable[str] = (),
        withheld: Iterable[str] = (),
        cursor: str = "",
    ) -> Evidence:
        """Return the evidence of an answer that cites `paths`; `stale` is None if freshness cannot be determined."""
        cited = {path for path in paths if path}
        known = [file for file in stale or () if file.path in cited]
        shown = tuple(file for file in known if not file.reason.startswith((BEGINS, PARTLY)))
        marked = [f"{file.path} {file.reason}" for file in known if file.reason.startswith(BEGINS)]
        parts = [f"{file.path} {file.reason}" for file in known if file.reason.startswith(PARTLY)]
        if len(parts) > 1:
            parts = [f"{parts[0]} (and {len(parts) - 1} more)"]
        is_stale = bool(shown or self.tree.newer.paths)
        freshness = "stale" if is_stale else "" if not cited else "unknown" if stale is None else "fresh"
        return Evidence(
            project=self.state.project,
            generation=self.state.generation,
            indexed_at=self.state.indexed_at,
            freshness=freshness,
            stale=shown,
            encoding=self.encoding,
            tokens=0,
            token_budget=self.token_budget,
            notes=tuple(
                dict.fromkeys(note for note in (*self._standing(), *marked, *notes, *parts, self._unfinished()) if note)
            ),
            withheld=tuple(item for item in (*withheld, *self.tree.withheld) if item),
            cursor=cursor,
        )

    def _standing(self) -> Iterator[str]:
        if self.gone:
            yield f"the project folder is gone: {self.gone}; answers are from the index"
        yield from self.unread
        yield from self.tree.notes

    def _unfinished(self) -> str:
        if self.state.indexed_at:
            return ""
        if not self.state.generation and not self.tree.unfinished:
            return "this project was never indexed: run `atlas index`"
        how = self.tree.unfinished or "`atlas index` completes it"
        return f"the first index is incomplete, so this answer is partial: {how}"


async def open_envelope(atlas: Atlas, project: str, token_budget: int) -> Envelope:
    """Check project and budget.

    Raises NotFound for an unknown project, with the known ones in the message, and ConfigError for a budget out of
    range.
    """
    check_range("token_budget", token_budget, 1, MAX_BUDGET)
    name = project or atlas.reader.project
    states = {state.project: state for state in await atlas.reader.store.projects()}
    if name not in states:
        raise not_indexed(name, states)
    is_own = name == atlas.reader.project
    root = atlas.reader.root
    gone = str(root) if is_own and not root.is_dir() else ""
    tree = atlas.tree if is_own else TreeReport()
    unread = await unread_notes(atlas.reader.store, states[name])
    draft = atlas.draft if is_own else None
    return Envelope(states[name], atlas.reader.counter.encoding, token_budget, tree, gone, unread, draft)


def not_indexed(name: str, indexed: Collection[str]) -> NotFound:
    """Return the error for a project that the index does not hold, with those that it holds."""
    known = ", ".join(indexed) or "none"
    return NotFound(
        f"project `{name}` is not indexed (indexed: {known})",
        "name an indexed project, or run `atlas index` in its folder; for a project beside this one, run "
        "`atlas workspace add FOLDER ...` with the folders of both",
        difflib.get_close_matches(name, indexed, 3, 0.5),
    )


async def unread_notes(store: Store, state: ProjectState) -> tuple[str, ...]:
    """Return a note for each folder of which nothing is indexed because its ignore files have too many rules."""
    listed = await store.skipped(state.project) if state.unread else ()
    lines = [f"unknown: {each.unread}" for each in listed if each.unread]
    more = len(lines) - MAX_UNREAD
    return (*lines[:MAX_UNREAD], *((f"unknown: and {counted(more, 'more such folder')}",) if more > 0 else ()))


async def make_filter(
    atlas: Atlas,
    project: str,
    path: str = "",
    labels: Sequence[str] = (),
    languages: Sequence[str] = (),
    include_tests: bool | None = None,
    root: str = "",
) -> Filter:
    """Return a validated filter.

    Raises ConfigError for a path outside the project, an unknown label, or a language without indexed files.
    """
    wrong = [label for label in labels if label.lower() not in _LABELS]
    if wrong:
        raise ConfigError(f"unknown label `{wrong[0]}`", f"labels: {', '.join(_LABELS.values())}")
    if languages:
        reader = atlas.reader
        spoken = await reader.cache.get(reader.store, project, "languages", partial(_languages, reader.store, project))
        strange = [language for language in languages if language.lower() not in spoken]
        if strange:
            raise ConfigError(f"no file in language `{strange[0]}`", f"languages here: {', '.join(spoken) or 'none'}")
    return Filter(
        project=project,
        path=inside(path, root),
        labels=tuple(_LABELS[label.lower()] for label in labels),
        languages=tuple(language.lower() for language in languages),
        include_tests=include_tests is not False,
    )


async def _languages(store: Store, project: str) -> list[str]:
    manifest = await store.manifest(project)
    return sorted({record.language for path, record in manifest.items() if path and record.language})


def inside(path: str, root: str) -> str:
    """Return a path relative to `root`, separated by "/". Raises ConfigError if it is outside the project."""
    if not path:
        return ""
    text = valid(path).strip().replace("\\", "/")
    if root and (text == root or text.startswith(root.rstrip("/") + "/")):
        text = text[len(root.rstrip("/")) :].lstrip("/")
    while text.startswith("./"):
        text = text[2:]
    absolute = PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute()
    if absolute or ".." in PurePosixPath(text).parts or "\0" in text:
        raise ConfigError(f"path `{path[:200]}` is outside the project", "give a path relative to the project's root")
    if text.count("*") + text.count("?") > MAX_WILDCARDS or len(text) > MAX_PATH:
        raise ConfigError(f"a path has at most {MAX_WILDCARDS} wildcards and {MAX_PATH} characters")
    return "" if text == "." else text


def fit(atlas: Atlas, budget: int, build: Callable[[int], AnswerT], upper: int, lower: int = 0) -> AnswerT:
    """Return `build(n)` for the largest n that fits the budget, or the floor; see `fit_counted`."""
    return fit_counted(atlas.reader.counter, budget, build, upper, lower)


async def fit_aside(atlas: Atlas, budget: int, build: Callable[[int], AnswerT], upper: int, lower: int = 0) -> AnswerT:
    """Run `fit` as the last step of a tool, in a thread if the budget is large."""
    return await finish(atlas, budget > INLINE_TOKENS, fit, atlas, budget, build, upper, lower)


async def finish(atlas: Atlas, is_long: bool, work: Callable[..., AnswerT], *arguments: object) -> AnswerT:
    """Return `work(*arguments)`, the last step of a tool; the draft keeps it to be done again with other notes."""
    if atlas.draft is not None:
        atlas.draft.finish = partial(aside, is_long, work, *arguments)
    return await aside(is_long, work, *arguments)


async def aside(is_long: bool, work: Callable[..., _Result], *arguments: object) -> _Result:
    """Return `work(*arguments)`; a long call runs in a thread, a short one avoids that overhead."""
    return await asyncio.to_thread(work, *arguments) if is_long else work(*arguments)


def can_fit(sizes: Iterable[int], budget: int) -> int:
    """Return how many leading parts, given their sizes in characters, can fit at all.

    The others need not be measured.
    """
    left, count = budget * MAX_CHARACTERS_PER_TOKEN, 0
    for size in sizes:
        left -= size
        if left < 0:
            break
        count += 1
    return count


def fit_or_none(atlas: Atlas, budget: int, build: Callable[[int], AnswerT], upper: int) -> AnswerT | None:
    """Return the result of `fit`, or None instead of the floor, which costs two more measurements."""
    return fit_counted_or_none(atlas.reader.counter, budget, build, upper)
