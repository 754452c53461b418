"""Asks the questions of all packages: the search tool first, then every peer, in the same run; records what came."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from atlas.core.errors import AtlasError, ConfigError
from atlas.core.wording import counted
from atlas.parsing import count_tokens
from atlas_bench.answers.claims import ABOUT, SUBJECT, of_structure, of_text
from atlas_bench.answers.judge import Reply, Verdict, judge
from atlas_bench.answers.peers import Peer, PeerRunner
from atlas_bench.answers.questions import INSIDE, Question, QuestionFile
from atlas_bench.process import run as run_atlas

ATLAS = "atlas"
TOOL = "hybrid_search"
"""What an agent asks first."""
UNDECIDED = "unknown rather than none"
"""How a note says that an empty answer is not a statement."""
WARM = "where is the entry point"
"""Asked once per package before the clock matters: the first question opens the index."""


class Asker(Protocol):
    """A session with one indexed package."""

    async def ask(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        """Return the structured content of a tool's answer. Raises AtlasError as the tool does."""
        ...

    async def aclose(self) -> None:
        """Close the session."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """One question put to the tool or to one peer."""

    package: str
    language: str
    question: Question
    by: str
    verdict: Verdict
    tokens: int
    ms: float
    answer: str
    """As the reader sees it: JSON, or the output of a command."""


Open = Callable[[Path, Path], Asker]
Tell = Callable[[str], None]


def find_trees(files: Sequence[QuestionFile], named: Sequence[str], folder: Path | None) -> dict[str, Path]:
    """Return the tree of each package: `NAME=PATH`, else a folder of that name. Raises ConfigError if there is none."""
    trees: dict[str, Path] = {}
    known = {file.name for file in files}
    for text in named:
        name, _, path = text.partition("=")
        if name not in known or not path:
            raise ConfigError(f"--tree {text}: not NAME=PATH of a package", f"Packages: {', '.join(sorted(known))}.")
        trees[name] = Path(path)
    for file in files:
        tree = trees.setdefault(file.name, (folder or Path()) / file.name)
        if not tree.is_dir():
            hint = f"`python -m tests.bench.fetch_packages FOLDER {file.path}` fetches it; then use --trees FOLDER."
            raise ConfigError(f"no tree of {file.name} {file.version}: {tree} is not a folder", hint)
        trees[file.name] = tree.resolve()
    return trees


@dataclass(frozen=True, slots=True)
class Run:
    """The answers of a run in order, and the packages that could not be asked with the reason."""

    asked: tuple[Asked, ...]
    failed: tuple[str, ...]


async def ask_all(
    files: Sequence[QuestionFile],
    trees: Mapping[str, Path],
    data: Path,
    open_session: Open,
    others: Sequence[Peer],
    tell: Tell,
) -> Run:
    """Index every tree into a folder below `data`, ask everything, return it in order.

    A package that cannot be indexed does not end the run. Raises AtlasError if that is true of all of them.
    """
    asked, failed = list[Asked](), list[str]()
    for file in files:
        tree = trees[file.name]
        tell(f"{file.name} {file.version}: {counted(len(file.questions), 'question')}")
        try:
            asked += await _ask_package(file, tree, data / file.name, open_session)
        except AtlasError as error:
            failed.append(f"{file.name}: {error.message}")
            continue
        runner = PeerRunner(tree)
        asked += [_ask_peer(file, question, peer, runner) for peer in others for question in file.questions]
    if not asked:
        raise AtlasError(f"no package could be asked: {'; '.join(failed)}")
    return Run(tuple(asked), tuple(failed))


async def _ask_package(file: QuestionFile, tree: Path, index: Path, open_session: Open) -> list[Asked]:
    run_atlas(["index", str(tree), "--data-dir", str(index)])
    session = open_session(tree, index)
    try:
        await session.ask(TOOL, {"query": WARM})
        return [await _ask(file, question, session.ask) for question in file.questions]
    finally:
        await session.aclose()


async def _ask(
    file: QuestionFile, question: Question, ask: Callable[[str, Mapping[str, object]], Awaitable[Mapping[str, Any]]]
) -> Asked:
    started = time.perf_counter()
    try:
        content: Mapping[str, Any] = await ask(TOOL, {"query": question.ask})
    except AtlasError as error:
        content = {"error": error.message, "hint": error.hint}
    ms = (time.perf_counter() - started) * 1000
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    verdict = judge(question, _reply(question, content, text))
    return Asked(file.name, file.language, question, ATLAS, verdict, count_tokens(text), ms, text)


def _reply(question: Question, content: Mapping[str, Any], text: str) -> Reply:
    answer: Mapping[str, Any] = content.get("relation") or content
    wide = question.kind in (*INSIDE, "ambiguous")
    claims = of_structure(content, ABOUT - SUBJECT if wide else ABOUT)
    notes = " ".join(content.get("evidence", {}).get("notes", ()))
    missing = answer.get("outcome") == "not_found"
    return Reply(claims, text, asserts="hits" not in content, unknown=missing, undecided=UNDECIDED in notes)


def _ask_peer(file: QuestionFile, question: Question, peer: Peer, runner: PeerRunner) -> Asked:
    output, ms = runner.ask(peer, question)
    verdict = judge(question, Reply(of_text(output), output, asserts=False, raw=True))
    return Asked(file.name, file.language, question, peer.name, verdict, count_tokens(output), ms, output)
