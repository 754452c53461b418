"""Patch -> what it changes: its subject asks, or subject and message, about the tree that it applies to.

The patches are those of a folder with a `series` file, as quilt and Debian source packages have it. Gold is the files
of code that a patch changes and the definitions around the changed lines, all of them in the tree without any patch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas_bench.search.commits import MAX_FILES, MIN_BODY, MIN_WORDS, is_dull
from atlas_bench.search.facts import CONTAINERS, SECTION, Definition, TreeFile
from atlas_bench.search.questions import SearchQuestion, Target, sample

PLACES = ("series", "patches/series", "debian/patches/series")
"""Where the list of patches is, below the folder of a tree."""
MAX_BYTES = 1 << 20
"""Of a patch; a larger one is a release."""
FUZZ = 2
"""Lines of context that may differ at each end of a hunk, as for `patch`."""
_PACKAGING = re.compile(
    r"debian|lintian|reproducib|spelling|\btypos?\b|\bFTBFS\b|man ?page|privacy|fix(es)? (the )?build|build fail"
    r"|translation|\bdocs?\b|documentation|copyright|test ?suite|\btests\b",
    re.IGNORECASE,
)
_BUILD_FILE = re.compile(
    r"(^|/)(debian/|setup\.py$|build\.rs$|conftest\.py$|[Mm]akefile|Makefile\.PL$|Build\.PL$|Rakefile$|[Gg]emfile|wscript"
    r"|SConstruct|configure|CMakeLists|meson|ltmain|config\.(guess|sub)$|install-sh$|depcomp$|docs?/|examples?/|po/)"
    r"|\.(gemspec|gradle|kts|cmake|m4|am|ac|in|spec|pro|podspec)$|(\.config|rc)\.[cm]?js$",
)
_SUBJECT = frozenset(("subject", "description"))
_FIELD = re.compile(r"(?:## )?([A-Z][\w-]*|commit|bug-\w+|git-svn-id):(?:[ \t]+(.*)|$)")
_FIELDS = re.compile(
    r"subject|description|from|date|author|origin|bug|bug-[\w-]+|forwarded|[\w-]+-by|last-updated?|applied[\w-]*|cc|index"
    r"|closes|fixes|refs?|related|link|gbp[\w-]*|patch-name|x-[\w-]+|message-id|content-[\w-]+|mime-version|change-id"
    r"|upstream[\w-]*|commit|merge|authordate|commitdate|committer|git-svn-id|organization|to|in-reply-to|references"
    r"|backport[\w-]*|cve|url|source|comment|co-authored-by|pull-request|issue"
    r"|vendor|debian[\w-]*|ubuntu[\w-]*|conflicts|resolves|see|see-also|closes-bug|depends-on|task|reviewers?",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(
    r"From [0-9a-f]{7,40} |commit [0-9a-f]{7,40}|# ?(HG changeset|User|Date|Node ID|Parent|Branch)\b|=+$"
    r"|\(cherry.picked|\(backported from|@DPATCH@|#! ?/|Merge: [0-9a-f]|## DP"
)
_PACKAGER = re.compile(
    r"\[?(backported by\b|backport(ing)? notes?\b|[\w .<>@-]*: (backport|adjust|refresh|rebase))", re.IGNORECASE
)
"""Where the words of the one who carried a patch to another version begin."""
_TAG = re.compile(r"^(\s*\[[^\]]*\bPATCH\b[^\]]*\]\s*)+", re.IGNORECASE)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_START = re.compile(r"diff |Index: |--- \S|\+\+\+ \S")


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `start` to `stop` of a hunk's old lines; none where lines are only added, indented by `indent`."""

    start: int
    stop: int
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of the old file from `line`, and what changes in them."""

    line: int
    old: tuple[str, ...]
    changed: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    """What a patch says, and its hunks by path."""

    subject: str
    body: str
    fields: Mapping[str, str]
    """By name in lower case; of a repeated one the first."""
    files: Mapping[str, tuple[Hunk, ...]]


def find_series(folder: Path) -> Path | None:
    """Return the list of patches of a folder."""
    return next((folder / place for place in PLACES if (folder / place).is_file()), None)


def read_series(series: Path) -> Iterator[Patch]:
    """Yield the patches that a list names, in its order; those that are missing or too large are left out."""
    for line in series.read_text("utf8", "replace").splitlines():
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        path = series.parent / words[0]
        inside = path.resolve().is_relative_to(series.parent.resolve())
        if inside and path.is_file() and path.stat().st_size <= MAX_BYTES:
            strip = next((int(each[2:]) for each in words[1:] if re.fullmatch(r"-p\d", each)), 1)
            yield read_patch(path.read_text("utf8", "replace"), strip)


def read_patch(text: str, strip: int = 1) -> Patch:
    """Return a patch with a header of git, Mercurial or DEP-3; `strip`: folders that its paths have in front."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if _is_start(lines, at, line)), len(lines))
    subject, body, fields = _read_header(lines[:start])
    files: dict[str, tuple[Hunk, ...]] = {}
    path, at = "", start
    while at < len(lines):
        if lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            path = _path(lines[at][4:], strip) or _path(lines[at + 1][4:], strip)
            at += 2
        elif path and (match := _HUNK.match(lines[at])):
            hunk, at = _read_hunk(lines, at + 1, int(match[1]), int(match[2] or 1), int(match[3] or 1))
            files[path] = (*files.get(path, ()), hunk)
        else:
            at += 1
    return Patch(subject, body, fields, files)


def _is_start(lines: Sequence[str], at: int, line: str) -> bool:
    if not _START.match(line):
        return False
    return any(following.startswith("+++ ") for following in lines[at : at + 8])


def _path(written: str, strip: int) -> str:
    parts = [part for part in written.split("\t")[0].strip().split("/") if part != "."]
    return "" if written.startswith("/dev/null") else "/".join(parts[strip:]).removesuffix(".orig")


def _read_hunk(lines: Sequence[str], at: int, line: int, old: int, new: int) -> tuple[Hunk, int]:
    kept: list[str] = []
    changed: list[Change] = []
    while at < len(lines) and (old > 0 or new > 0):
        sign, text = lines[at][:1], lines[at][1:].rstrip("\r")
        at += 1
        if sign == "\\":
            continue
        if sign not in ("", " ", "\t", "-", "+"):
            at -= 1
            break
        if sign == "-":
            changed.append(Change(len(kept), len(kept) + 1))
        elif sign == "+" and text.strip() and not (changed and changed[-1].stop == len(kept)):
            changed.append(Change(len(kept), len(kept), len(text) - len(text.lstrip())))
        if sign != "+":
            kept.append(text)
            old -= 1
        new -= sign != "-"
    return Hunk(line, tuple(kept), tuple(changed)), at


def _read_header(lines: Iterable[str]) -> tuple[str, str, dict[str, str]]:
    """Return subject, message and fields: trailers are fields wherever they stand, a line of dashes ends the text."""
    fields: dict[str, str] = {}
    subject: list[str] = []
    body: list[str] = []
    field, ended = "", False
    for line in lines:
        text = line.rstrip()
        match = _FIELD.match(text)
        if match and _FIELDS.fullmatch(match[1]):
            field, value = match[1].lower(), match[2] or ""
            fields.setdefault(field, value)
            if field in _SUBJECT and value:
                (body if subject else subject).append(value)
            continue
        if not text.strip():
            field = ""
        elif field and text[0] in " \t" and field != "description":
            if field == "subject" and not body:
                subject.append(text.strip())
            continue
        if text == "---" or _PACKAGER.match(text.strip()):
            ended = True
        if not ended and not _NO_TEXT.match(text.strip()):
            body.append("" if text.strip() == "." else re.sub(r"^(?:    | )", "", text))
    message = "\n".join(body).strip()
    title = _TAG.sub("", " ".join(subject)).strip()
    if not title:
        title, _, message = message.partition("\n")
    return title.strip(), re.sub(r"\n{3,}", "\n\n", message).strip(), fields


def ask_patches(root: Path, files: Sequence[TreeFile], series: Path, limit: int, seed: int) -> Iterator[SearchQuestion]:
    """Yield up to `limit` subjects, and as many subjects with messages, of patches that change code of the tree."""
    known = {file.path: file for file in files if _is_code(file)}
    gold: dict[str, tuple[Target, ...]] = {}
    texts: dict[str, str] = {}
    for patch in read_series(series):
        if is_telling(patch) and (targets := _targets(root, patch, known)):
            gold[patch.subject] = targets
            texts[patch.subject] = f"{patch.subject}\n\n{patch.body}"
    long = [subject for subject in gold if len(texts[subject]) - len(subject) - 2 >= MIN_BODY]
    for kind, wanted in (("commit", list(gold)), ("commit issue", long)):
        for draft in sample((SearchQuestion(kind, each, gold[each]) for each in wanted), limit, seed):
            yield draft if kind == "commit" else SearchQuestion(kind, texts[draft.text], draft.gold)


def is_telling(patch: Patch) -> bool:
    """Return whether a patch says in words what it does to the program, rather than to its package, tests or texts."""
    needless = patch.fields.get("forwarded", "").lower().startswith(("not-needed", "not needed", "not_needed"))
    enough = len(patch.subject.split()) >= MIN_WORDS
    return enough and not needless and not is_dull(patch.subject) and not _PACKAGING.search(patch.subject)


def _is_code(file: TreeFile) -> bool:
    kinds = {each.kind for each in file.definitions}
    has_code = any(kind == "Window(Code)" or _is_definition(kind) for kind in kinds)
    return file.usable and has_code and not _BUILD_FILE.search(file.path)


def _is_definition(kind: str) -> bool:
    return kind not in CONTAINERS and kind != SECTION and not kind.startswith("Window")


def _targets(root: Path, patch: Patch, known: Mapping[str, TreeFile]) -> tuple[Target, ...]:
    """Return what a patch changes; nothing if it changes no code or much of it, or if most hunks are not found."""
    changed = {path: hunks for path, hunks in patch.files.items() if path in known}
    found: list[Target] = []
    for path, hunks in sorted(changed.items()):
        lines = (root / path).read_text("utf8", "replace").split("\n")
        placed = [(place, hunk) for hunk in hunks if (place := find_hunk(lines, hunk))]
        if len(placed) * 2 < len(hunks):
            return ()
        names: dict[Definition, None] = {}
        for place, hunk in placed:
            for part in hunk.changed:
                names |= dict.fromkeys(_around(known[path], lines, place, part))
        found += [Target(path, each.line, each.qualified) for each in names] if names else [Target(path)]
    return tuple(found) if len(changed) <= MAX_FILES else ()


def find_hunk(lines: Sequence[str], hunk: Hunk) -> int:
    """Return the line (from 1) where the old lines of a hunk are, the nearest to its own; 0 if they are nowhere."""
    have = [line.rstrip() for line in lines]
    for fuzz in range(FUZZ + 1):
        leading = min(fuzz, min((part.start for part in hunk.changed), default=0))
        last = max((part.stop for part in hunk.changed), default=len(hunk.old))
        old = [line.rstrip() for line in hunk.old[leading : max(last, len(hunk.old) - fuzz)]]
        if not any(old):
            return 0
        starts = (
            at - leading + 1 for at, line in enumerate(have) if line == old[0] and have[at : at + len(old)] == old
        )
        if best := min((at for at in starts if at > 0), key=lambda at: abs(at - hunk.line), default=0):
            return best
    return 0


def _around(file: TreeFile, lines: Sequence[str], place: int, part: Change) -> list[Definition]:
    """Return the innermost definitions around changed lines.

    Added lines are in a definition that goes on after them, or follow its last line, indented more than its first.
    """
    first, last = place + part.start, place + part.stop - 1
    spans = [each for each in file.definitions if _is_definition(each.kind)]
    if part.start < part.stop:
        around = [each for each in spans if each.start <= last and first <= each.end]
    else:
        around = [
            each
            for each in spans
            if each.start < first and (first <= each.end or (last <= each.end and part.indent > _indent(lines, each)))
        ]
    return [each for each in around if not any(other.qualified.startswith(f"{each.qualified}.") for other in around)]


def _indent(lines: Sequence[str], definition: Definition) -> int:
    line = lines[definition.start - 1] if definition.start <= len(lines) else ""
    return len(line) - len(line.lstrip())
