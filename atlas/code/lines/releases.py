"""When something was added, deprecated or removed: the lines of changelogs and directives that name it.

A changelog is read by its headings: a line belongs to the nearest version above it. `what was removed in 7.0` asks for
the section of that version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from atlas.code.changes.commit_history import MEMBER_ADDED, added_by
from atlas.code.changes.commit_rows import commit_row
from atlas.code.changes.commit_topics import commits_about, says_act
from atlas.code.lines.changelogs import MAX_HEADING, ChangelogLine, changelog_lines, is_changelog, read_changelogs
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import read_texts, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import AtlasError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_VERBS = {
    "added": r"add|introduc|new\b|support|implement|creat|expos|provid|allow",
    "deprecated": r"deprecat",
    "removed": r"remov|drop|delet|no longer",
    "changed": r"chang|renam|fix|updat|mov|replac",
}
_VERB = (
    r"(?P<verb>add|introduc|deprecat|remov|drop|renam|chang|fix|support|land|ship|appear|becom"
    r"|releas|made|available|implement|replac|new)\w*"
)
_WHEN = lazy_regex(
    r"\b(?:when|since (?:which|what|when)|(?:in |at |from )?(?:which|what) (?:version|release)s?"
    r"|what versions?)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_HAS_VERB = lazy_regex(rf"\b{_VERB}\b|\bsince\b", re.IGNORECASE)
_WEAK_VERBS = ("", "support", "new", "made", "available", "becom")
"""Count where no other verb says what happened."""
_IN_VERSION = lazy_regex(
    rf"^(?:what|which|list|show)\b.*?(?:\b{_VERB}|\bnew|\bbreaking changes?)\b.*?\b(?:in|with|by"
    rf"|for)\b (?:version |release |v)?(?P<version>\d+(?:\.\d+)*[\w.-]*)",
    re.IGNORECASE,
)
_OF_SOMEBODY = lazy_regex(
    r"\bwhen (?:\w+ing\b|(?:i|we|you|a|an|one|someone)\b)|\bhow (?:do|to|can|should)\b"
    r"|\b(?:docs?|page|chapter|guide)\b",
    re.IGNORECASE,
)
"""What somebody does, or a page: no release is asked for."""
_OF_GIT = lazy_regex(
    r"\bby whom\b|\bwh(?:o|ich) (?:commit|did)\b|\bin (?:what|which) (?:later )?(?:commit|pr|pull request|issue)\b",
    re.IGNORECASE,
)
_DIRECTIVE = lazy_regex(
    r"(?:\.\.\s*(?P<kind>versionadded|versionchanged|deprecated|versionremoved)::\s*(?P<one>\S+)|@(?P<tag>since|deprecated)\b\s*(?P<two>[^\n]{0,80})"
    r"|(?P<words>[Nn]ew in (?:version )?|[Aa]dded in (?:version )?|[Dd]eprecated (?:since"
    r"|in) (?:version )?|[Rr]emoved in (?:version )?)v?(?P<three>\d[\w.]*)"
    r"|since\s*=\s*\"(?P<four>[^\"]+)\")"
)
_IS_ADDED = lazy_regex(r"\badded\b|\bnew in\b|\bsince\b|versionadded", re.IGNORECASE)
_ACRONYM = lazy_regex(r"[A-Z]{2,5}s?")
_NOISE = frozenset(
    """was were is are did does do has have had been be it the a an of in to for with and or first support supported
    supporting added add introduced introduce deprecated deprecate removed remove dropped drop renamed changed fixed
    available released shipped landed appeared feature option function method class parameter argument
    version release become became get got made become when since which what ability there we you can use
    here project library new change commit dependency requirement""".split()  # noqa: SIM905
)
MOST_ACTS = 2
"""Commits shown beside the versions of a changelog."""
MIN_PART = 2
"""Letters of the last part of a qualified name that tell nothing."""
MAX_BACK = 25
"""Lines above a directive in which the name that it is about stands."""


async def answer_releases(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer when something was added, changed or removed by version; None for other questions."""
    text = query.text
    if query.states or query.reports or len(text.split()) > 20 or _OF_SOMEBODY.search(text):
        return None
    if _OF_GIT.search(text):
        return None  # git knows them
    if query.paths and re.search(r"\b(?:who|whom)\b", text, re.IGNORECASE):
        return None  # the author of a file
    if (match := _IN_VERSION.search(text)) is not None:
        return await _in_version(reader, match["version"].rstrip(".-"), match["verb"] or "", where)
    match = _WHEN.search(text)
    if match is None or not _HAS_VERB.search(match["rest"]):
        return None
    kind = _kind(_verb(match["rest"]))
    words = _subject(match["rest"])
    if not words:
        return None
    files = await read_changelogs(reader, where)
    subject = _AskedSubject(words)
    naming = (file for file in files if subject.may_stand_in(file.text))
    found = [each for file in naming for each in changelog_lines(file, subject.stands_in)]
    found = _as_written(found, words)
    found.sort(key=lambda each: (not _is_exact(each.text, words), not _says(each, kind)))
    likely = [each for each in found if _is_exact(each.text, words) and _says(each, kind)]
    # of several lines that say "added" the oldest is the first; of others the newest counts
    found = [*likely[::-1], *found[len(likely) :]] if kind == "added" else found
    lines = [TextLine("changelog", f"{each.file.path}:{each.line}", _said(each)) for each in found]
    notes = await _directives(reader, subject, where)
    if not lines and kind == "added" and not any(_IS_ADDED.search(each.text) for each in notes):
        return None  # since when it is deprecated does not say since when it is there: its commits do
    lines = [*notes, *lines]
    if not lines:
        return None
    first = next((each for each in found if _says(each, kind)), None)
    commits = await added_by(reader, query, where, words) if kind == "added" else []
    commits = commits or await _commits_that(reader, kind, words, where)
    # a question for the moment is answered by the commit, one for the release by the line of the changelog
    asks_moment = match[0].lower().startswith("when")
    lines = [*commits, *lines] if asks_moment else [*lines[:1], *commits, *lines[1:]]
    asked = " ".join(words)
    title = f"`{asked}`: {counted(len(lines), 'line')} of changelogs and version notes"
    if first is not None and first.version:
        is_sure = _is_exact(first.text, words) and len(words) == 1 and _says_of(first.text, words[0], kind)
        named = f"`{asked}` {kind}" if is_sure else f'first line that names `{asked}` with "{kind}"'
        title = f"{named}: {first.version} ({first.file.path}:{first.line})"
    return LineReport("releases", title, tuple(lines), first=10)


async def _commits_that(reader: Reader, act: str, words: Sequence[str], where: Filter) -> list[TextLine]:
    """Return the commits whose message says that something was added, removed, deprecated or changed; [] for none.

    What was added came with the oldest of them; else the newest is first.
    """
    if reader.history is None or where.project not in ("", reader.project):
        return []
    try:
        log = await commits_about(reader.history, tuple(word.lower() for word in words), "", "", 0, 0)
    except AtlasError:
        return []
    done = [each for each in log.commits if says_act(each.subject, act)]
    return [commit_row(each) for each in (done[::-1] if act == "added" else done)[:MOST_ACTS]]


def _as_written(found: list[ChangelogLine], words: Sequence[str]) -> list[ChangelogLine]:
    """Return the lines that have words in capitals as such, where some do: `QUERY` is a method, not any query."""
    capitals = [word for word in words if word.isupper() and word.isalpha()]
    kept = [each for each in found if all(word in each.text for word in capitals)]
    return kept or found


def _verb(text: str) -> str:
    """Return the verb of a question: of `was support for X dropped`, `drop`."""
    verbs = [match["verb"] or "" for match in _HAS_VERB.finditer(text)]
    telling = [verb for verb in verbs if verb.lower() not in _WEAK_VERBS]
    return next(iter((*telling, *verbs)), "")


def _kind(verb: str) -> str:
    lowered = verb.lower()
    for kind, stems in _VERBS.items():
        if re.match(stems, lowered):
            return kind
    return "added"


def _subject(rest: str) -> tuple[str, ...]:
    quoted = re.findall(r"`([^`]+)`", rest)
    words = quoted or [word.strip(".,?!:;'\"()") for word in rest.split()]
    kept = [word for word in words if word and (word.lower() not in _NOISE and word.lower() not in STOP_WORDS)]
    kept = [word for word in kept if "/" not in word]  # a path says where, not what
    # `30 days` names no release by its number alone
    code = [word for word in kept if re.search(r"_|\w\.\w|[a-z][A-Z]|^--|\(\)|::|[A-Z]{2}|[^\W\d].{0,40}\d", word)]
    member = MEMBER_ADDED.search(rest)
    name = (member["after"] or member["before"]) if member is not None else ""
    code = [name, *code] if name and code and name.lower() not in _NOISE else code
    tells = not all(_ACRONYM.fullmatch(word) for word in code)  # `RPCs in flight` are not all RPCs
    return tuple(dict.fromkeys(re.sub(r"\(\)$", "", word) for word in (code if tells else kept)))


@dataclass(frozen=True, slots=True)
class _AskedWord:
    """A word in lower case, in any of its spellings: `fiber_per_request`, `fiber-per-request`."""

    parts: tuple[str, ...]
    pattern: re.Pattern[str]

    def may_stand_in(self, lowered: str) -> bool:
        return all(part in lowered for part in self.parts)

    def stands_in(self, lowered: str) -> bool:
        return self.may_stand_in(lowered) and self.pattern.search(lowered) is not None


@lru_cache(64)
def _asked_word(word: str) -> _AskedWord:
    parts = re.split(r"[-_]", word)
    end = r"(?![\w-])" if word.startswith("--") else r"(?!\w)"  # `--exact-depth` is another flag than `--exact`
    return _AskedWord(tuple(parts), re.compile(rf"(?<!\w){r'[-_ ]'.join(map(re.escape, parts))}{end}"))


class _AskedSubject:
    """The words that are asked for; a qualified name may stand without its owner, a word in another form."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words: list[tuple[str, list[_AskedWord]]] = []
        self._plain: list[str] = []
        """Roots of words with one spelling, each of which every text that names all has: a root begins its word."""
        for word in (word.lower() for word in words):
            last = re.split(r"[.:#]+", word)[-1]
            spelled = [word, *([last] if len(last) > MIN_PART and last != word else [])]
            self._words.append((root_of(word), [_asked_word(each) for each in spelled if each]))
            if len(spelled) == 1 and not re.search(r"[-_]", word):
                self._plain.append(root_of(word))

    def may_stand_in(self, text: str) -> bool:
        """Return whether a text may name all; far cheaper than `stands_in`. The root of a word is its beginning."""
        lowered = text.lower()
        return all(root in lowered or any(each.may_stand_in(lowered) for each in asked) for root, asked in self._words)

    def stands_in(self, text: str) -> bool:
        """Return whether a text names everything that is asked for."""
        lowered = text.lower()
        for root in self._plain:
            if root not in lowered:
                return False
        return all(
            any(each.stands_in(lowered) for each in asked)
            or (root in lowered and root in {root_of(word) for word in re.findall(r"[a-z0-9_]+", lowered)})
            for root, asked in self._words
        )


def _is_exact(text: str, words: Sequence[str]) -> bool:
    lowered = text.lower()
    return all(bool(word) and _asked_word(word.lower()).stands_in(lowered) for word in words)


def _says(each: ChangelogLine, kind: str) -> bool:
    """Return whether a line, or else the heading above it, says that something of the kind happened."""
    said = [name for name, stems in _VERBS.items() if re.search(rf"\b(?:{stems})", each.text, re.IGNORECASE)]
    if kind == "deprecated" and "removed" in said and not re.search(r"will be removed|removed in", each.text):
        return False
    return kind in said or re.match(_VERBS[kind], each.part, re.IGNORECASE) is not None


def _says_of(text: str, word: str, kind: str) -> bool:
    """Return whether a line says it of the word itself: the verb stands near in front of it, or behind with `was`."""
    name, verb = re.escape(re.split(r"[.:#]+", word)[-1]), rf"(?:{_VERBS[kind]})\w*"
    before = rf"\b{verb}\W+(?:\w+\W+){{0,3}}?[`*]*{name}\b"
    behind = rf"\b{name}\b[`*]*\W+(?:is|was|are|were|has been) {verb}"
    return re.search(f"{before}|{behind}", text[:MAX_HEADING], re.IGNORECASE) is not None


def _said(each: ChangelogLine) -> str:
    part = f", {each.part}" if each.part else ""
    return f"[{each.version or '?'}{part}] {shown(each.text)}"


async def _directives(reader: Reader, subject: _AskedSubject, where: Filter) -> list[TextLine]:
    """Return the notes of versions in code and documents that stand near what is asked for."""
    needles = (
        b"versionadded",
        b"versionchanged",
        b"deprecated",
        b"@since",
        b"since",
        b"new in",
        b"added in",
        b"removed in",
    )
    scan = await scan_texts(
        reader, where, _DIRECTIVE, needles, lambda path: not is_changelog(path), subject.may_stand_in, is_constant=True
    )
    found: list[TextLine] = []
    for each in scan.found:
        if each.file.is_test:
            continue
        above = each.file.lines[max(0, each.line - MAX_BACK) : each.line]
        below = [] if each.file.is_document else each.file.lines[each.line : each.line + 8]
        near = _nearest(above, subject)
        about = above[near] if near is not None else next(filter(subject.stands_in, below), None)
        if about is None:
            continue
        found.append(TextLine("version_notes", each.place, f"{shown(each.text)} (below: {shown(about)[:80]})"))
    return found[:8]


def _nearest(lines: Sequence[str], subject: _AskedSubject) -> int | None:
    """Return the last line that names the subject with no other directive behind it."""
    for at in range(len(lines) - 1, -1, -1):
        if subject.stands_in(lines[at]):
            return at
        if at < len(lines) - 1 and _DIRECTIVE.search(lines[at]):
            return None
    return None


async def _in_version(reader: Reader, version: str, verb: str, where: Filter) -> LineReport | None:
    files = await read_texts(reader, where, is_changelog)
    every = [each for file in files for each in changelog_lines(file)]
    inside = [each for each in every if _is_version(each.version, version)]
    if not inside:
        return None
    kind = _kind(verb) if verb else ""
    about = [each for each in inside if _says(each, kind)] if kind else inside
    kept = about or inside
    lines = [TextLine("changelog", f"{each.file.path}:{each.line}", _said(each)) for each in kept]
    scope = (
        f"{kind} in {version}: {counted(len(about), 'line')}"
        if about and kind
        else f"{version}: {counted(len(inside), 'line')}"
    )
    return LineReport("releases", f"{scope} of changelogs", tuple(lines), first=15)


def _is_version(version: str, asked: str) -> bool:
    version, asked = version.lower().lstrip("v"), asked.lower().lstrip("v")
    return version == asked or version.startswith((f"{asked}.", f"{asked}-"))
