"""Versions: that of the project itself, and which versions of languages it supports, from manifests and checks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path

from atlas.code.graph.declarations import normal_name, read_declarations
from atlas.code.graph.packages import answer_packages
from atlas.code.lines.line_report import FIRST_LINES, LineReport, TextLine, shown
from atlas.code.lines.scan_texts import MAX_LINE, IndexedText, read_texts
from atlas.code.question.further_parts import split_parts
from atlas.code.question.package_questions import PackageAspect, PackageQuestion, find_package_question
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.errors import AtlasError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted
from atlas.parsing import is_copy

MOST_WORDS = 16
MOST_NAMED = 4
"""Declarations of packages that a question for the version of a language names as well."""
_AND_PACKAGES = lazy_regex(
    r"(?:\band|,|&) .{0,40}\b(?:dependenc\w+|deps|packages|extras?|requirements)\b", re.IGNORECASE
)
"""Two questions, of which the manifest that a search finds answers both."""
_CLAUSE = lazy_regex(r"[:;,?.] |[?.]$| - ")
MOST_CLAUSES = 5
_LISTS = lazy_regex(
    r"^(?:and |please |give me |show |a |the |full |all |its |our )*lists? of (?:\w+ ){0,3}"
    r"(?:dependencies|deps|requirements)\b",
    re.IGNORECASE,
)
_AT_RUN_TIME = lazy_regex(r"\bat run-?time\b|\bruntime (?:dependenc|deps|requirements)", re.IGNORECASE)
_VERSION_WORD = lazy_regex(
    r"\b(?:versions?|msrv|minimum|minimal|at least|oldest|lowest|newest|supported?|compatib\w+|target(?:s|ed)?)\b",
    re.IGNORECASE,
)
_SUPPORT = lazy_regex(
    r"\b(?:versions?|msrv|minimum|minimal|min|oldest|lowest|required?|requires|needed|needs?|supports?|supported"
    r"|compatib\w+|runs? (?:on|with)|works? with)\b",
    re.IGNORECASE,
)
_WORD = lazy_regex(r"(?<!\w-)[.\w#+]+")
"""No part of a name such as `grpc-go`."""
_OWN = lazy_regex(
    r"\b(?:(?:what|which|the|current|latest|newest|this|present|own|project|package|library|release)\W+)+(?:version|release)\b(?P<after>.*)"
    r"|^version$|\bversion (?:number )?(?:of this|is this|are we|am i)\b",
    re.IGNORECASE,
)
_OWN_WORDS = lazy_regex(
    r"\W*\b(?:of|is|this|the|it|its|project|package|library|lib|crate|gem|module|repo|repository|code"
    r"|codebase|code base"
    r"|current|currently|number|are|we|on|at|in|here|now|declared|defined|set|where|and|app|application|tool|checkout|i|am|looking|source|tree|what|which|latest|released?)\b",
    re.IGNORECASE,
)
_MANIFESTS = (
    (r"pyproject\.toml$", r"^version\s*=\s*[\"']([^\"']+)"),
    (r"(?:__init__|__version__|_?version|__about__|about|const|setup|release)\.py$",
     r"^\s*(?:__version__|VERSION|version)\s*(?::\s*\w+)?\s*=\s*[\"'(](\d[^\"')]*)"),
    (r"setup\.cfg$", r"^version\s*=\s*(\d\S*)"),
    (r"package\.json$", r"^\s{0,4}\"version\"\s*:\s*\"([^\"]+)\""),
    (r"Cargo\.toml$", r"^version\s*=\s*\"([^\"]+)\""),
    (r"composer\.json$", r"^\s{0,4}\"version\"\s*:\s*\"([^\"]+)\""),
    (r"(?:version|const)\w*\.rb$", r"\bVERSION\w*\s*=\s*[\w.]*[\"']([^\"']+)"),
    (r"version\w*\.go$", r"\b[vV]ersion\w*\s*=\s*\"(v?\d[^\"]*)\""),
    (r"pom\.xml$", r"^(?:\t| {1,4})<version>([^<]+)<"),
    (r"gradle\.properties$", r"^\s*(?:version|VERSION_NAME|projectVersion)\s*=\s*(\S+)"),
    (r"build\.gradle(?:\.kts)?$", r"^\s*version\s*=\s*[\"']([^\"']+)"),
    (r"\.sbt$", r"\bversion\s*:=\s*\"([^\"]+)"),
    (r"\.(?:cs|fs)proj$|\.props$", r"<(?:Version|VersionPrefix)>([^<]+)<"),
    (r"mix\.exs$", r"(?:@version|\bversion:)\s*\"([^\"]+)\""),
    (r"CMakeLists\.txt$", r"\b[pP][rR][oO][jJ][eE][cC][tT]\s*\([^)]*VERSION\s+([\d.]+)"),
    (r"pubspec\.yaml$", r"^version:\s*(\S+)"),
    (r"(?:^|/)VERSION(?:\.txt)?$", r"^v?(\d\S*)"),
    (r"\.gemspec$", r"\.version\s*=\s*[\"'](\d[^\"']*)"),
)  # fmt: skip
_CHANGELOG = lazy_regex(r"^(?:change(?:s|log)?|history|news|releases?)(?:\.\w+)?$", re.IGNORECASE)
_HEADING_VERSION = lazy_regex(r"^\W*(?:version |release |v)?\[?v?(\d+\.\d+[\w.-]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LanguagePlaces:
    """Where the versions of a language stand: (file, line) patterns."""

    name: str
    words: frozenset[str]
    places: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]


async def answer_versions(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer which versions of a language are supported, or what version this is; None for other questions."""
    text = query.text
    if query.states or query.reports:
        return None
    if (both := await _with_dependencies(reader, text, where)) is not None:
        return both
    if len(text.split()) > MOST_WORDS or asks_twice(text):
        return None
    asked = {word.lower().strip(".") for word in _WORD.findall(text)} | {word.lower() for word in _WORD.findall(text)}
    languages = [each for each in _languages() if asked & each.words]
    if languages and _asks_support(text, languages):
        found = await _of_languages(reader, languages, where)
        return await _with_packages(reader, found, text, languages, where) if found is not None else None
    own = _OWN.search(text)
    if own is None or re.search(r"\b(?:added|introduced|deprecated|removed|since)\b", text):
        return None
    names = {reader.root.name.lower(), reader.project.lower()}
    around = f"{text[: own.start()]} {own['after'] or ''}"
    rest = [
        word for word in _OWN_WORDS.sub(" ", around).lower().strip(" ?.!").split() if word.strip(",?.!") not in names
    ]
    return await _of_project(reader, where) if not rest else None


async def _with_dependencies(reader: Reader, text: str, where: Filter) -> LineReport | None:
    """Answer for the version of a language and for the dependencies; None where a question has no clause for each."""
    for part, other in _pairs(text):
        asked = {word.lower().strip(".") for word in _WORD.findall(part)}
        languages = [each for each in _languages() if asked & each.words]
        question = find_package_question(other)
        if question is None and _LISTS.search(other) is not None:
            question = PackageQuestion(PackageAspect.LIST, certain=True)
        is_list = question is not None and question.asks == PackageAspect.LIST
        if question is None or not is_list or not languages or not _asks_support(part, languages):
            continue
        if not question.kinds and _AT_RUN_TIME.search(text) is not None:
            question = replace(question, kinds=("runtime",))
        versions = await _of_languages(reader, languages, where)
        packages = await answer_packages(reader, question, where)
        if packages is None:
            return None
        if versions is None:
            none = "; ".join(f"{each.name}: no manifest or check names a version" for each in languages)
            versions = LineReport("versions", none)
        is_direct = re.search(r"\bdirect\b", other, re.IGNORECASE) is not None
        kept = [each for each in packages.declared if not (is_direct and each.kind == "indirect")]
        kept.sort(key=lambda each: (each.folder != "", each.path, each.kind != "runtime", each.line))
        lines = [
            TextLine(each.kind, f"{each.path}:{each.line}", f"{each.package or each.name} {each.range}".strip())
            for each in kept
        ]
        title = f"{versions.title}; {counted(len(lines), 'declared dependency')}"
        return replace(versions, title=title, lines=(*versions.lines, *lines), first=FIRST_LINES)
    return None


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield two parts of a question, which is for both, in either order: sentences, else any two of its clauses."""
    parts = split_parts(text)
    if len(parts) != 2:
        parts = tuple(part for part in _CLAUSE.split(text) if part)[:MOST_CLAUSES]
    if all(len(part.split()) <= MOST_WORDS for part in parts):
        yield from permutations(parts, 2)


def asks_twice(text: str) -> bool:
    """Return whether a question asks for a version and for packages: a search finds the manifest that has both."""
    return _AND_PACKAGES.search(text) is not None and _VERSION_WORD.search(text) is not None


def _asks_support(text: str, languages: list[LanguagePlaces]) -> bool:
    """Return whether a question asks for versions of a language, and not for what is written in it."""
    if re.search(r"\bmsrv\b", text, re.IGNORECASE):
        return True
    if not _VERSION_WORD.search(text) or not _SUPPORT.search(text):
        return False
    words = "|".join(re.escape(word) for each in languages for word in each.words)
    pattern = (
        rf"(?<![\w-])(?:{words})\W+(?:and \w+ )?(?:versions?|release|is|are|do|does|needed|required"
        rf"|supported|$|\?|should|must|we|you|i|it|at|or)|versions?(?: of|:)? (?:the )?(?:\w+ )?(?:{words})"
        rf"|(?:minimum|required|oldest|lowest|supported|min|minimal) (?:\w+ )?(?:{words})"
    )
    return re.search(pattern, text, re.IGNORECASE) is not None


@cache
def _languages() -> tuple[LanguagePlaces, ...]:
    data = tomllib.loads((Path(__file__).parent / "language_versions.toml").read_text("utf-8"))
    return tuple(
        LanguagePlaces(
            each["name"],
            frozenset(each["words"]),
            tuple((re.compile(file), re.compile(line)) for file, line in each["places"]),
        )
        for each in data["languages"]
    )


async def _of_languages(reader: Reader, languages: list[LanguagePlaces], where: Filter) -> LineReport | None:
    patterns = [file for each in languages for file, _ in each.places]
    files = await read_texts(reader, where, lambda path: any(each.search(path) for each in patterns))
    lines: list[TextLine] = []
    said: list[str] = []
    for language in languages:
        found = _found(files, language.places)
        if not found:
            said.append(f"{language.name}: no manifest or check names a version")
            continue
        said.append(f"{language.name}: {found[0][1]} ({found[0][0].partition(':')[0]})")
        lines += [TextLine(language.name.lower(), place, text) for place, text in found]
    if not lines:
        return None
    return LineReport("versions", "; ".join(said), tuple(lines), first=12)


async def _with_packages(
    reader: Reader, found: LineReport, text: str, languages: list[LanguagePlaces], where: Filter
) -> LineReport:
    """Return the report with the ranges of packages that the question names as well: `minimum python and kombu`."""
    taken = {word for each in languages for word in each.words}
    asked = {normal_name(word.strip(".")) for word in _WORD.findall(text)} - taken
    named = [
        each
        for each in await read_declarations(reader, where.project)
        if normal_name(each.package) in asked and each.range and not each.is_inner
    ]
    named.sort(key=lambda each: (each.kind != "runtime", each.folder != "", each.path))
    if not named:
        return found
    said = dict.fromkeys(each.package for each in named)
    ranges = "; ".join(f"{name}: {next(each.range for each in named if each.package == name)}" for name in said)
    lines = [
        TextLine("packages", f"{each.path}:{each.line}", f"{each.package} {each.range} ({each.kind})") for each in named
    ]
    return replace(found, title=f"{found.title}; {ranges}", lines=(*lines[:MOST_NAMED], *found.lines))


def _found(
    files: list[IndexedText], places: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
) -> list[tuple[str, str]]:
    """Return (place, version), the declarations of the outermost folder first."""
    found: dict[str, str] = {}
    for file_pattern, line_pattern in places:
        for file in sorted(
            files, key=lambda each: (is_copy(each.path) or each.is_test, each.path.count("/"), each.path)
        ):
            if not file_pattern.search(file.path):
                continue
            versions = [
                (number, (match[1] if match.lastindex else match[0]).strip(" \"'`,"), _key(line))
                for number, line in enumerate(file.lines, 1)
                if len(line) <= MAX_LINE and (match := line_pattern.search(line)) is not None
            ]
            if versions:
                # `release` and `testRelease` are two statements
                differ = len({version for _, version, _ in versions}) > 1 and len({key for *_, key in versions}) > 1
                texts = dict.fromkeys(f"{text} ({key})" if differ and key else text for _, text, key in versions)
                found.setdefault(f"{file.path}:{versions[0][0]}", shown(", ".join(texts)))
    return list(found.items())


def _key(line: str) -> str:
    """Return the name that a line sets: `maven.compiler.release` of `<maven.compiler.release>8<`."""
    match = re.match(r"[^\w]{0,200}([A-Za-z][\w.-]{0,80})", line)
    return match[1] if match is not None else ""


async def _of_project(reader: Reader, where: Filter) -> LineReport | None:
    patterns = tuple((re.compile(file), re.compile(line)) for file, line in _MANIFESTS)
    files = await read_texts(
        reader, where, lambda path: any(file.search(path) for file, _ in patterns) or bool(_CHANGELOG.match(path))
    )
    code = [each for each in files if not each.is_test and not is_copy(each.path)]
    found = sorted(_found(code, patterns), key=lambda each: each[0].count("/"))
    found = [(place, version.partition(", ")[0]) for place, version in found]
    lines = [TextLine("declared", place, version) for place, version in found[:8]]
    for file in code:
        if _CHANGELOG.match(file.path):
            headings = ((number, _HEADING_VERSION.match(line)) for number, line in enumerate(file.lines[:80], 1))
            first = next(((number, match[1]) for number, match in headings if match is not None), None)
            lines += [TextLine("newest_in_changelog", f"{file.path}:{first[0]}", first[1])] if first else []
    if (tag := await _last_tag(reader)) is not None:
        lines.append(TextLine("last_tag", "git", tag))
    if not lines:
        return LineReport("versions", "unknown: no manifest, changelog or git tag names a version", outcome="not_found")
    return LineReport(
        "versions", f"version: {lines[0].text} ({lines[0].place}), {counted(len(lines), 'place')}", tuple(lines)
    )


async def _last_tag(reader: Reader) -> str | None:
    if reader.history is None:
        return None
    try:
        return await reader.history.last_tag()
    except AtlasError:
        return None
