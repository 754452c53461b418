"""The read path: text -> Query -> channels -> fuse -> rank -> expand -> assemble.

It reads the store only through the contract and never writes. `Reader` holds all its dependencies.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from atlas.code.question.languages import LanguageTerms
from atlas.core.contracts import Embedder, Store, TokenCounter
from atlas.core.history import History
from atlas.core.model import NodeRow
from atlas.core.project_state import ProjectState
from atlas.parsing import Excerpts, ProseEncoder, StaticEncoder
from atlas.parsing.clients import ClientCall
from atlas.parsing.lines import TreeLines
from atlas.parsing.together import CrossEdge, LinkedTree


class Outline(Protocol):
    """Reads the definitions of a text; safe to use from several threads."""

    @property
    def fingerprint(self) -> str:
        """The parser and its languages, as in the record of the structure unit before its `+`."""
        ...

    def digest(self, content: bytes) -> str:
        """Return the digest of a text as in `FileRecord.digest`."""
        ...

    def __call__(self, path: str, content: bytes) -> Sequence[NodeRow]:
        """Return the rows of the definitions of a file with this path and content."""
        ...

    def link(self, user: LinkedTree, provider: LinkedTree) -> Sequence[CrossEdge]:
        """Return the edges of one tree's files that end at definitions of another one. Raises TimeoutError."""
        ...

    @property
    def client_languages(self) -> frozenset[str]:
        """The languages that have clients with calls by URL."""
        ...

    @property
    def client_packages(self) -> frozenset[str]:
        """The names of packages whose objects are clients."""
        ...

    def client_calls(self, files: Mapping[str, bytes]) -> Sequence[ClientCall]:
        """Return the calls by URL in files, those of a parameter alone too. Raises TimeoutError."""
        ...

    def calls_by_name(
        self, files: Mapping[str, bytes], names: Sequence[tuple[str, str, int, int, str]]
    ) -> Sequence[ClientCall]:
        """Return the calls of functions and methods as calls by URL. Raises TimeoutError."""
        ...


Run_co = TypeVar("Run_co", covariant=True)


@dataclass(frozen=True, slots=True)
class SearchStep(Generic[Run_co]):
    """An entry of the ordered lists that decide a search: `ANSWERERS`, `CHANNELS` and `STAGES` (ADR 0056)."""

    name: str
    run: Run_co
    why: str
    """Why it is there, in a few words for `atlas search --explain`."""
    switch: str = ""
    """The word in `RankingOptions.off` that leaves it out, where that is not its name."""
    features: tuple[str, ...] = ()
    """Features that only this step uses; they count as 0 without it."""

    @property
    def switched_by(self) -> str:
        """The word in `RankingOptions.off` that leaves it out."""
        return self.switch or self.name


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """Which parts of a search are on."""

    learned: bool = False
    """Rank by learned weights of all features; False ranks by the constants of `rank.py`."""
    off: frozenset[str] = frozenset()
    """Features that count as 0, and steps of a search that are left out, each by its switch.

    Settings offer those of the ranking that a user may have reason to leave out."""
    all_features: bool = False
    """Compute the features that the ranking does not use, too: for explanations and training."""
    fusion: str = "weighted"
    """How words and meaning become one score, the value of a `Fusion`."""

    def has(self, step: SearchStep[object]) -> bool:
        """Return whether a step is on."""
        return step.switched_by not in self.off


FILES_AT_ONCE = 30
"""Files that are read at once where the first ones may be enough."""

_Read = TypeVar("_Read")


def batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield paths in order, `FILES_AT_ONCE` at a time."""
    return (paths[start : start + FILES_AT_ONCE] for start in range(0, len(paths), FILES_AT_ONCE))


MAX_KEPT = 64


class GenerationCache:
    """What was read of the graph of one project, until its generation changes. Use from one event loop.

    For small values that take a scan and that many questions need, such as the declared dependencies, or that one
    question needs several times.
    """

    def __init__(self) -> None:
        self._state: ProjectState | None = None
        self._values: dict[str, Any] = {}

    async def get(self, store: Store, project: str, key: str, read: Callable[[], Awaitable[_Read]]) -> _Read:
        """Return what `read` returns for the project's present generation. Raises what the store raises."""
        state = next((each for each in await store.projects() if each.project == project), None)
        if state is None:
            return await read()
        if state != self._state:
            self._state, self._values = state, {}
        if key not in self._values:
            found = await read()  # of this generation or a later one, which the next call sees
            if state != self._state:
                return found
            if len(self._values) >= MAX_KEPT:
                self._values.pop(next(iter(self._values)))
            self._values[key] = found
        return self._values[key]


@dataclass(frozen=True, slots=True)
class Reader:
    """The dependencies of the read path. `project` and `root` are the defaults of calls without a project."""

    store: Store
    embedder: Embedder
    """Embeds questions for the search of code."""
    counter: TokenCounter
    project: str
    root: Path
    split_words: Callable[[str], list[str]]
    """Splits text like the index: a whole identifier and its parts, lower-cased (`atlas.parsing.split_words`)."""
    digest_paths: Callable[[str, Sequence[str]], list[str]]
    """(root, paths) -> digests as in `FileRecord.digest`, "" for unreadable files (`atlas.parsing.digest_paths`)."""
    languages: LanguageTerms
    history: History | None = None
    """The version history of `project`, for questions about changes; None where there is none to ask."""
    outline: Outline | None = None
    """The definitions of versions that are not indexed (`atlas.parsing.outline`)."""
    prose_embedder: Embedder | None = None
    """Embeds questions for the search of notes; None where they are not searched by meaning."""
    documents_embedder: Embedder | None = None
    """Embeds questions for the search of documents; None where they are not searched by meaning."""
    ranking: RankingOptions = field(default_factory=RankingOptions)
    excerpts: Excerpts = field(default_factory=lambda: Excerpts([]))
    """Chooses what is shown of source; without languages, it is cut at paragraphs."""
    prose_encoder: Callable[[], ProseEncoder | None] = lambda: None
    """Returns the model that compares statements with questions, None where no model on this machine does; raises
    ConfigError if it is damaged."""
    code_encoder: Callable[[], StaticEncoder | None] = lambda: None
    """The same for names and signatures: the model of code."""
    quality_embedder: Embedder | None = None
    """Embeds questions with the sentence transformer, a third signal after words and meaning; None without one."""
    lines: TreeLines | None = None
    """Searches the files of `project` on disk; None where there are none."""
    read_file: Callable[[str, str, int], bytes | None] | None = None
    """(root, path, most bytes) -> a file as it is on disk, None if it is larger or unreadable (`_parser.read_path`):
    skipped files are looked into before an answer says none."""
    cache: GenerationCache = field(default_factory=GenerationCache)
