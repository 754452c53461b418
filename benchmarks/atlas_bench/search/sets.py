"""The question sets of one tree: read it, sample questions of each kind, write the copy without documentation.

Two indexes serve all kinds: that of the tree itself, which is not modified, and that of the copy. The same tree and
seed give the same questions; a copy that exists already is only brought up to date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas.parsing import Languages
from atlas_bench.search.commits import ask_commits
from atlas_bench.search.docstrings import ask_docstrings, without_docstrings
from atlas_bench.search.facts import Definition, TreeFile, read_tree
from atlas_bench.search.headings import ask_headings, hide, hide_headings
from atlas_bench.search.issues import ask_issues
from atlas_bench.search.patches import ask_patches, find_series
from atlas_bench.search.questions import BARE, KINDS, WHOLE, SearchQuestion, sample
from atlas_bench.search.symbols import ask_symbols
from atlas_bench.search.test_names import ask_tests

LIMIT = 100
"""Questions of each kind and tree."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions to one index of a tree."""

    name: str
    """Name of the tree's folder."""
    index: str
    """`whole` or `bare`."""
    tree: Path
    """The folder to index: the tree, or the copy."""
    paths: tuple[str, ...]
    """Its files in scope."""
    questions: tuple[SearchQuestion, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked: kinds, up to `limit` questions of each, chosen by `seed`."""

    kinds: frozenset[str] = frozenset(KINDS)
    limit: int = LIMIT
    seed: int = 0


def make_sets(
    root: Path,
    scratch: Path,
    languages: Languages,
    plan: Plan,
    given: Sequence[SearchQuestion] = (),
    patches: Path | None = None,
) -> list[QuestionSet]:
    """Return the sets of a tree that have questions; write the copy below `scratch`. Raises ConfigError for no folder.

    `given`: questions from a file about this tree; all of them are asked. `patches`: a folder
    with a `series` of patches to the tree, whose messages are asked like those of commits.
    """
    files = read_tree(root, languages)
    paths = tuple(file.path for file in files)
    sets: list[QuestionSet] = []
    whole = [*_of(given, plan.kinds), *_ask_whole(root, files, languages, plan)]
    if patches is not None and (series := find_series(patches)):
        whole += _of(ask_patches(root, files, series, plan.limit, plan.seed), plan.kinds)
    if whole:
        sets.append(QuestionSet(root.name, WHOLE, root, paths, tuple(whole)))
    if any(KINDS[kind] == BARE for kind in plan.kinds):
        copy = scratch / BARE / root.name
        if bare := _ask_bare(root, copy, files, languages, plan):
            sets.append(QuestionSet(root.name, BARE, copy, paths, tuple(bare)))
    return sets


def _of(questions: Iterable[SearchQuestion], kinds: Collection[str]) -> list[SearchQuestion]:
    return [question for question in questions if question.kind in kinds]


def _ask_whole(root: Path, files: Sequence[TreeFile], languages: Languages, plan: Plan) -> list[SearchQuestion]:
    found: list[SearchQuestion] = []
    if any(kind.startswith("symbol") for kind in plan.kinds):
        found += ask_symbols(files, plan.limit, plan.seed)
    if "heading" in plan.kinds:
        found += sample(ask_headings(files), plan.limit, plan.seed)
    if "test" in plan.kinds:
        found += sample(ask_tests(files), plan.limit, plan.seed)
    if plan.kinds & {"commit", "commit issue"}:
        found += ask_commits(root, files, languages, plan.limit, plan.seed)
    return _of(found, plan.kinds)


def _ask_bare(
    root: Path, copy: Path, files: Sequence[TreeFile], languages: Languages, plan: Plan
) -> list[SearchQuestion]:
    """Write the copy and return the questions that only it can be asked."""
    hidden = hide_headings(files, plan.seed) if "section" in plan.kinds else {}
    docstrings, sections = list[SearchQuestion](), list[SearchQuestion]()
    lost: list[tuple[TreeFile, Definition]] = []
    for file in files:
        data, found = without_docstrings(file, (root / file.path).read_bytes(), languages)
        data, headings = hide(data, hidden.get(file.path, []))
        _write(copy / file.path, data)
        docstrings += ask_docstrings(file, found)
        sections += headings
        lost += [(file, definition) for definition in found]
    _remove_others(copy, {file.path for file in files})
    asked = sample(docstrings, plan.limit, plan.seed) if "docstring" in plan.kinds else []
    asked += sample(sections, plan.limit, plan.seed)
    if "issue" in plan.kinds:
        asked += sample(ask_issues(lost, files, plan.seed), plan.limit, plan.seed)
    return asked


def _write(path: Path, data: bytes) -> None:
    """Write a file, unless it has this content: an index of the copy is then still true."""
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _remove_others(copy: Path, paths: Collection[str]) -> None:
    """Remove files of an earlier copy that the tree no longer has."""
    for path in copy.rglob("*"):
        if path.is_file() and path.relative_to(copy).as_posix() not in paths:
            path.unlink()
