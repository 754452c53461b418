"""Commit -> what it changed: the subject asks, or subject and message as the text of an issue.

Gold is the files that a commit changed and that the tree still has, without tests and documents, and the definitions
around the changed lines, as far as the tree still has definitions of these names.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from atlas.core.errors import AtlasError
from atlas.parsing import Languages
from atlas_bench.git import Checkout
from atlas_bench.search.facts import CONTAINERS, SECTION, Definition, TreeFile, read_file
from atlas_bench.search.questions import SearchQuestion, Target, sample

HISTORY = 3000
"""Commits that are read."""
MAX_FILES = 6
"""A commit that changed more files has no place to find."""
MIN_WORDS = 4
MIN_BODY = 200
"""Characters of a message that reads like an issue."""
_DULL = re.compile(
    r"(merge|revert|bump|release|prepare|version|update (change|release|dependenc)|changelog|typo|format|lint|wip"
    r"|apply suggestions|fix(ed)? (typo|test|ci|lint|build))|.*\bv?\d+\.\d+\.\d+\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^(\w+(\([^)]*\))?!?:\s+|(fixed|refs) #\d+( --)?\s*|\[[^\]]*\]\s*)", re.IGNORECASE)
_REFERENCE = re.compile(r"\s*\(?#\d+\)?")
_TRAILER = re.compile(r"^[A-Z][\w-]*(-by|-Id|: https?):? .*$", re.MULTILINE)
_HUNK = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(slots=True)
class _Commit:
    """A commit, and the changed lines of each path that the tree still has."""

    name: str
    subject: str
    body: str
    hunks: dict[str, list[range]] = field(default_factory=dict[str, "list[range]"])
    files: int = 0


def ask_commits(
    root: Path, files: Sequence[TreeFile], languages: Languages, limit: int, seed: int
) -> Iterator[SearchQuestion]:
    """Yield up to `limit` subjects and as many issues; nothing for a tree that is not a git repository."""
    if not (root / ".git").exists():
        return
    known = {file.path: file for file in files if file.usable}
    with tempfile.TemporaryDirectory(prefix="atlas-commits-") as scratch:
        try:
            checkout = Checkout.clone(root, Path(scratch).resolve())
            commits = [commit for commit in _read(checkout, known) if _is_telling(commit)]
        except AtlasError:
            return
        by_text = {commit.subject: commit for commit in commits}
        for kind, wanted in (
            ("commit", commits),
            ("commit issue", [each for each in commits if len(each.body) >= MIN_BODY]),
        ):
            drafts = (SearchQuestion(kind, each.subject, tuple(Target(path) for path in each.hunks)) for each in wanted)
            for draft in sample(drafts, limit, seed):
                commit = by_text[draft.text]
                text = draft.text if kind == "commit" else f"{commit.subject}\n\n{commit.body}"
                changed = tuple(_changed(checkout, commit, known, languages))
                yield SearchQuestion(kind, text, changed or draft.gold)


def _read(checkout: Checkout, known: dict[str, TreeFile]) -> Iterator[_Commit]:
    listed = checkout.git(
        "log",
        f"--max-count={HISTORY}",
        "--no-merges",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--unified=0",
        "--no-color",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--format=%x00%H%x01%s%x01%b%x01",
        "--patch",
    )
    for entry in listed.split("\0")[1:]:
        name, subject, body, patch = [*entry.split("\1", 3), "", "", ""][:4]
        commit = _Commit(name, _REFERENCE.sub("", _PREFIX.sub("", subject)).strip(), _TRAILER.sub("", body).strip())
        for part in re.split(r"^diff --git ", patch, flags=re.MULTILINE)[1:]:
            commit.files += 1
            path = re.search(r"^\+\+\+ b/(.*?)\t?$", part, re.MULTILINE)
            if path and path[1] in known:
                commit.hunks[path[1]] = [
                    range(int(match[1]), int(match[1]) + max(int(match[2] or 1), 1))
                    for match in _HUNK.finditer(part.encode("utf8", "surrogateescape"))
                ]
        yield commit


def is_dull(subject: str) -> bool:
    """Return whether a subject tells no change of behaviour: merges, releases, formatting."""
    return _DULL.match(subject) is not None


def _is_telling(commit: _Commit) -> bool:
    enough = len(commit.subject.split()) >= MIN_WORDS
    return bool(commit.hunks) and len(commit.hunks) <= MAX_FILES and enough and not is_dull(commit.subject)


def _changed(checkout: Checkout, commit: _Commit, known: dict[str, TreeFile], languages: Languages) -> Iterator[Target]:
    """Yield the innermost definitions around changed lines, found by name in the tree; a file where there is none."""
    for path, hunks in sorted(commit.hunks.items()):
        now = {each.qualified: each.line for each in known[path].definitions}
        then = read_file(
            path, checkout.git("show", f"{commit.name}:{path}").encode("utf8", "surrogateescape"), languages
        )
        spans = [
            each for each in then.definitions if each.kind not in CONTAINERS and each.kind != SECTION
        ]  # fmt: skip
        names: dict[str, None] = {}
        for hunk in hunks:
            around = [each for each in spans if each.start <= hunk.stop - 1 and hunk.start <= each.end]
            inner = [each for each in around if not any(_holds(each, other) for other in around)]
            names |= dict.fromkeys(each.qualified for each in inner if each.qualified in now)
        yield from (Target(path, now[name], name) for name in names) if names else (Target(path),)


def _holds(outer: Definition, inner: Definition) -> bool:
    return inner.qualified.startswith(f"{outer.qualified}.")
