"""Since when a manifest declares a package, until when it did, and what stood there instead.

`since when do we use X` and `when was X replaced by Y` are about a name of a manifest, which may be gone from it: the
commits that wrote it there and took it out answer. Reads the declarations and the version history.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from atlas.code.changes.commit_rows import commit_row, day_of
from atlas.code.changes.left_groups import find_left_group
from atlas.code.changes.told_topics import MOST_REASONS, changelog_row, lines_of, releases_of
from atlas.code.graph.declarations import Declaration, major_free, normal_name, read_declarations
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.packages.package_features import key_of
from atlas.code.question.names import dotted
from atlas.code.question.parse_question import Query
from atlas.code.question.requests.package_aspects import asking_clauses, asks_history_of
from atlas.code.reader import Reader
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import AtlasError
from atlas.core.history import History, NameChange
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Match

_NO_DECLARATION = lazy_regex(r"\s*(?:from|import|requires\s?=|build-backend\s?=|#)")
"""Lines of manifests that import something, or say what builds the project."""
_DECLARING = lazy_regex(
    r"^[ \t]{0,12}[\"']?(?P<name>@?[A-Za-z][\w./-]{1,80})[\"']?\s?(?::|=|[~^<>]=?)\s?[^\n]{0,20}\d[^\n]{0,80}$",
    re.MULTILINE,
)
"""A line that declares a package with a version."""
MOST_REPLACED = 3
"""Packages of which each came in place of the one before."""
MOST_WORDS = 30
MOST_NAMES = 3
MOST_MANIFESTS = 3
MAX_LINES = 6_000
MOST_SHOWN = 3
_SUCCESSIVE = ("setup.py", "setup.cfg", "pyproject.toml")
"""Manifests of which one follows the other in a project's history."""
_OWNER = r"(?:[\w.-]{1,60}/){0,5}"
_OWNED = {
    "go.mod": (_OWNER, r"(?:/v\d{1,3})?"),
    "package.json": (r"(?:@[\w.-]{1,60}/)?", ""),
    "composer.json": (r"(?:[\w.-]{1,60}/)?", ""),
}
"""What stands before and behind the end of a package's name in these manifests: host and owner, major version."""
ASIDE = lazy_regex(r"(?:^|/)(?:tests?|specs?|examples?|fixtures?|bench|benchmarks?|data|vendor|sandbox|docs?)/")
"""Manifests of tests, examples and documentation."""
_NAME = r"[`'\"]?(?P<{0}>@?[A-Za-z][\w@./:-]{{1,80}})[`'\"]?"
_KIND = r"(?:dependency|dependence|package|library|lib|crate|gem|dep)"
_ENDS = (
    rf"(?= {_KIND}\b| (?:by|with|as|to|from|for|in|and|or|at|instead|anyway|here|there|now|any ?more)\b"
    r"|[\s?.,!;:)]*$|[?.,!;:)])"
)
_DONE = (
    r"(?:replaced|dropped|removed|added|introduced|swapped|exchanged|ditched|thrown out|brought in|kicked out|used"
    r"|declared|required)"
)
_ASKS = lazy_regex(
    r"\bsince (?:when|which|what)\b|\bwhen\b(?! (?:is|are|do|does|can|will|should)\b)"
    r"|\bwho (?:[a-z]+ )?(?:added|introduced|brought|removed|replaced|dropped|ditched|threw|kicked|killed|swapped"
    r"|switched|moved|declared|put|took)\b|\b(?:which|what) (?:commit|pr|pull request|change)s?\b"
    r"|\bcommit (?:that|which|where|in which)\b|\bhow long\b",
    re.IGNORECASE,
)
_ENDED = lazy_regex(
    r"\b(?:rid of|remov\w+|drop\w*|replac\w+|ditch\w*|kicked|thr[eo]wn?|stop\w*|swap\w*|no longer|until when)\b",
    re.IGNORECASE,
)
_OBJECT = lazy_regex(
    r"\b(?:us(?:e|es|ed|ing)|(?:depend|rel)\w* on|replac(?:e|ed|ing)"
    r"|(?:switch|mov|migrat|go|get|got)\w* (?:away )?(?:from|off|rid of|to)"
    r"|(?:drop|remov|ditch|add|introduc)\w*|instead of) (?:the |an? |our )?" + _NAME.format("object") + _ENDS,
    re.IGNORECASE,
)
_SUBJECT = lazy_regex(
    rf"\b(?:the |our )?(?!(?:was|were|is|are|has|had|have|been|did|do|does|the|our|when|who|which|what|it)\b)"
    rf"{_NAME.format('subject')} (?P<beside>[\w-]+ )?(?:(?:was|were|got|been|has been|had been) )?{_DONE}\b",
    re.IGNORECASE,
)
_WAS = lazy_regex(
    rf"(?:^|[.!?] )(?:the |our )?{_NAME.format('was')} (?:used to be|was(?: once)?|is gone(?= from (?:the |our )?dep)"
    r"|is no longer)\b(?= .{0,40}\b(?:dependenc(?:y|ies)|deps?)\b)",
    re.IGNORECASE,
)
"""`X used to be a runtime dependency`, `X is gone from the dependencies`."""
_KINDS = lazy_regex(rf"\b{_NAME.format('kind')} {_KIND}\b", re.IGNORECASE)


async def answer_package_history(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer since when, or until when, a manifest declares a package; None for other questions."""
    text = query.text
    if reader.history is None or where.project not in ("", reader.project) or query.reports or query.states:
        return None
    if len(text.split()) > MOST_WORDS or _ASKS.search(text) is None:
        return None
    names = _named(text)
    if not names or not all(any(path.lstrip("@") in name for name, _ in names) for path in query.paths):
        return None
    try:
        declared = [each for each in await read_declarations(reader, where.project) if not each.is_inner]
        for name, is_beside in names:
            meant = _meant(name, declared) or await _renamed(reader, name, declared)
            if (is_beside and meant) or (not meant and _is_place(name, declared)):
                continue  # `the base64 encoding was added`, `src/cart.py was removed`
            is_told = any(match["was"] == name for match in _WAS.finditer(text))
            if not is_told and await _is_defined(reader, name, where):
                continue
            manifests = _manifests(meant, declared)
            if meant and _ENDED.search(text) and (left := await find_left_group(reader.history, meant[0], manifests)):
                return left
            if (found := await _report(reader, name, meant, manifests, where)) is not None:
                return found
    except AtlasError:
        return None
    return None


def is_of_former_package(text: str) -> bool:
    """Return whether all clauses of a text ask of one package that is said to be gone: one answer says it all."""
    match, clauses = _WAS.search(text), asking_clauses(text)
    return match is not None and bool(clauses) and asks_history_of(match["was"], clauses)


def _named(text: str) -> list[tuple[str, bool]]:
    """Return what may be packages, each with whether another word stands between it and what was done."""
    found = [(match["was"], False) for match in _WAS.finditer(text)]
    found += [(match["kind"], False) for match in _KINDS.finditer(text)]
    found += [(match["object"], False) for match in _OBJECT.finditer(text)]
    found += [(match["subject"], match["beside"] is not None) for match in _SUBJECT.finditer(text)]
    kept = dict.fromkeys((name.rstrip("./:-"), beside) for name, beside in found if name.lower() not in STOP_WORDS)
    return [each for each in kept if len(each[0]) > 2][:MOST_NAMES]


async def _is_defined(reader: Reader, name: str, where: Filter) -> bool:
    """Return whether the project has a definition of the name, other than what it imports."""
    nodes = await reader.store.find(dotted(name), Match.SUFFIX, Filter(project=where.project or reader.project), 5)
    return any(node.row.path for node in nodes)


def _is_place(name: str, declared: Sequence[Declaration]) -> bool:
    """Return whether a name that nothing declares is rather a path: a file, or in a project without such packages."""
    _, slash, last = name.rpartition("/")
    return bool(slash) and ("." in last or not any(each.path.rpartition("/")[2] in _OWNED for each in declared))


def _meant(name: str, declared: Sequence[Declaration]) -> list[str]:
    """Return the declared packages that a name means, as written, by the whole name or else by its end.

    `cobra` and `spf13/cobra` mean `github.com/spf13/cobra`, `core` means `@scope/core`, `slf4j-api` means
    `org.slf4j:slf4j-api`.
    """
    wanted = normal_name(major_free(name))
    written = {each.package or each.name: {each.name, each.package, each.import_name} for each in declared}
    names = {package: {normal_name(major_free(one)) for one in every if one} for package, every in written.items()}
    whole = [package for package, every in names.items() if wanted in every]
    ends = (f"/{wanted}", f":{wanted}", f"@{wanted}")
    return whole or [package for package, every in names.items() if any(one.endswith(ends) for one in every)]


async def _renamed(reader: Reader, name: str, declared: Sequence[Declaration]) -> list[str]:
    """Return the packages that a manifest declares under a name of its own: `json5 = { package = "serde_json5" }`."""
    own = [each for each in declared if each.path.rpartition("/")[2] == "Cargo.toml"]
    texts = await reader.store.content(reader.project, sorted({each.path for each in own})) if own else {}
    lines = {path: text.decode("utf-8", "replace").split("\n") for path, text in texts.items()}
    keys = [(each.package, key_of(lines.get(each.path, []), each.line)) for each in own]
    return list(dict.fromkeys(package for package, key in keys if package and normal_name(key) == normal_name(name)))


def _manifests(meant: Sequence[str], declared: Sequence[Declaration]) -> list[str]:
    """Return the manifests that declare a package; for one that none declares, those at the root, former ones too.

    A package may have moved from one kind of manifest to another.
    """
    own = [each.path for each in declared if meant and (each.package or each.name) == meant[0]]
    paths = [path for path in dict.fromkeys(own or (each.path for each in declared)) if not ASIDE.search(path)]
    paths = sorted(paths, key=lambda path: (path.count("/"), path))[:MOST_MANIFESTS]
    root = {path.rpartition("/")[2] for path in paths}
    return [*paths, *(each for each in _SUCCESSIVE if each not in root)] if root & {*_SUCCESSIVE} else paths


async def _report(
    reader: Reader, name: str, meant: Sequence[str], manifests: Sequence[str], where: Filter, depth: int = 0
) -> LineReport | None:
    """Return when manifests took up or gave up a package: the first of those that are meant, else one of the past."""
    assert reader.history is not None
    history, package = reader.history, major_free(meant[0]) if meant else name
    changes: list[NameChange] = []
    notes = [f"`{name}` is also the end of {', '.join(f'`{one}`' for one in meant[1:])}"] if meant[1:] else []
    spelled: dict[str, str] = {}
    for path in manifests:
        spelled[path] = await _spelled(history, package, path)
        found = await history.name_changes(spelled[path], path)
        if not meant and await _stands_in(history, package, path):
            return None  # another word of the file
        changes += [each for each in found.changes if not ASIDE.search(each.path)]
        notes += found.notes
    first = await _first_declared(history, changes, name, spelled)
    gone = [each for each in changes if not each.is_added]
    last = max(gone, key=lambda each: each.commit.time, default=None) if not meant else None
    ends = [("added", first), ("added_again", _added_again(changes, first, last)), ("removed", last)]
    ends = [(group, each) for group, each in ends if each is not None]
    if not ends or (not meant and last is None):
        return None
    if last is not None:
        rows = await _rewritten(history, last, spelled.get(last.path, package))
        if not any(_declares(row.text, name, last.path) for row in rows):
            return None
    releases = await releases_of(history, [each.commit for _, each in ends])
    lines: list[TextLine] = []
    for group, each in ends:
        row = commit_row(each.commit, releases.get(each.commit.id, ""))
        lines.append(TextLine(group, row.place, row.text))
        lines += await _rewritten(history, each, spelled.get(each.path, package))
    said = await history.messages([each.commit.id for _, each in ends])
    lines += [TextLine("messages", key[:10], " ".join(said[key].split())[:MOST_REASONS]) for key in said]
    lines += [changelog_row(each) for each in await lines_of(reader, [each.commit for _, each in ends], where)]
    if last is not None and depth < MOST_REPLACED:
        lines += await find_replacement(reader, last, package, manifests, where, depth)
    is_whole = not any("search ended" in note for note in notes)
    title = _title(package, first, last, is_whole=is_whole)
    return LineReport("changes", title, tuple(lines), tuple(dict.fromkeys(notes)))


async def find_replacement(
    reader: Reader, last: NameChange, package: str, manifests: Sequence[str], where: Filter, depth: int
) -> list[TextLine]:
    """Return the one package that came with the commit that took another out, and what became of it in its turn."""
    assert reader.history is not None
    try:
        old, new = [
            (await reader.history.content(revision, [last.path])).get(last.path, b"").decode("utf-8", "replace")
            for revision in (f"{last.commit.id}^", last.commit.id)
        ]
    except AtlasError as error:
        return [TextLine("left_out", last.path, f"what came in its place: {error.message}")]
    before = {match["name"] for match in _DECLARING.finditer(old)}
    came = {match["name"]: match for match in _DECLARING.finditer(new) if match["name"] not in before}
    if len(came) != 1 or package in came:
        return []
    (name, match) = next(iter(came.items()))
    lines = [TextLine("came_with_it", last.path, shown(match[0].strip()))]
    if await _stands_in(reader.history, name, last.path):
        return lines
    then = await _report(reader, name, [], manifests, where, depth + 1)
    kept = [each for each in then.lines if each.group in ("removed", "came_with_it")] if then is not None else []
    return [*lines, *(replace(each, group=f"then_{each.group}".replace("then_then", "then")) for each in kept)]


async def _first_declared(
    history: History, changes: Sequence[NameChange], name: str, spelled: Mapping[str, str]
) -> NameChange | None:
    """Return the oldest commit that declares a package: `from setuptools import setup` in a manifest declares none."""
    for each in sorted((each for each in changes if each.is_added), key=lambda each: each.commit.time):
        text = (await history.content(each.commit.id, [each.path])).get(each.path, b"").decode("utf-8", "replace")
        written = spelled.get(each.path, name)
        is_parted = each.path.endswith(".xml")  # the version stands on a line of its own
        if is_parted or any(_declares(line, written, each.path) for line in text.splitlines()[:MAX_LINES]):
            return each
    return None


def _added_again(changes: Sequence[NameChange], first: NameChange | None, last: NameChange | None) -> NameChange | None:
    """Return the last commit that added a package to the manifest that it left, where it is not the first one."""
    if first is None or last is None:
        return None
    own = [each for each in changes if each.is_added and each.path == last.path and each.commit.time < last.commit.time]
    again = max(own, key=lambda each: each.commit.time, default=None)
    return again if again is not None and again.commit.id != first.commit.id else None


async def _spelled(history: History, package: str, path: str) -> str:
    """Return how a manifest writes a package: a name of group and artifact may stand there in two parts."""
    _, colon, artifact = package.partition(":")
    return artifact if colon and not await _stands_in(history, package, path) else package


async def _stands_in(history: History, name: str, path: str) -> bool:
    text = (await history.content("HEAD", [path])).get(path, b"").decode("utf-8", "replace")
    return _word(name, path).search(text) is not None


def _word(name: str, path: str) -> re.Pattern[str]:
    """Return the pattern of a package's name in a manifest; in some kinds an owner stands before it, or a version."""
    owner, version = _OWNED.get(path.rpartition("/")[2], ("", ""))
    return re.compile(rf"(?<![\w/-]){owner}{re.escape(name)}{version}(?![\w/-])")


def _declares(line: str, name: str, path: str) -> bool:
    """Return whether a line of a manifest names a package: with a version, or alone."""
    match = _word(name, path).search(line)
    if _NO_DECLARATION.match(line) is not None:
        return False
    return match is not None and re.match(r"[\"']?\W*$|.{0,200}[\d*]", line[match.end() :]) is not None


def _title(name: str, first: NameChange | None, last: NameChange | None, *, is_whole: bool) -> str:
    since = "since when is not known"
    if first is not None:
        since = f"since {day_of(first.commit)}{'' if is_whole else ' or before'} ({first.path})"
    if last is None:
        return f"`{name}` is declared {since}"
    return f"`{name}` is no longer declared: it was {since}, until {day_of(last.commit)} ({last.path})"


async def _rewritten(history: History, change: NameChange, name: str) -> list[TextLine]:
    """Return the lines of a manifest that a commit wrote in place of others, where one of them has the name."""
    new = (await history.content(change.commit.id, [change.path])).get(change.path, b"")
    try:
        old = (await history.content(f"{change.commit.id}^", [change.path])).get(change.path)
    except AtlasError:
        old = None
    if old is None:
        said = "the commit added this file: another one may have declared it before"
        return [TextLine("manifest", change.path, said)]
    before, after = (text.decode("utf-8", "replace").splitlines()[:MAX_LINES] for text in (old, new))
    word = _word(name, change.path)
    changed = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    parts = [(before[a:b], after[c:d]) for tag, a, b, c, d in changed if tag != "equal"]
    own = [(came if change.is_added else gone, gone, came) for gone, came in parts]
    having = [part for part in own if word.search("\n".join(part[0]))]
    # the part that declares it comes before one that only imports it
    having.sort(key=lambda part: not any(_declares(line, name, change.path) for line in part[0]))
    for _, gone, came in having[:1]:
        rows = sorted((f"- {shown(line)}" for line in gone if line.strip()), key=lambda row: not word.search(row))
        more = sorted((f"+ {shown(line)}" for line in came if line.strip()), key=lambda row: not word.search(row))
        return [TextLine("manifest", change.path, row) for row in (*rows[:MOST_SHOWN], *more[:MOST_SHOWN])]
    return []
