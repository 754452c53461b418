"""Packages that no edge of an import has: which lines import or name them, and whether a build bundles them.

The name of an artifact tells no namespace, and some languages name a module without an import: both are looked for in
the texts. What a build
bundles or moves to a namespace of its own, users do not have to add. Reads the indexed texts only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from atlas.code.graph.absence.occurrences import is_comment, lines_of_blocks
from atlas.code.graph.declarations import read_declarations, short_name
from atlas.code.graph.packages import ImportingFile, PackageReport, answer_packages
from atlas.code.lines.line_report import TextLine
from atlas.code.lines.scan_texts import IndexedText, is_document, read_texts, scan_texts
from atlas.code.question.package_questions import PackageAspect, PackageQuestion
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MOST_SHADED, MOST_COMMANDS = 4, 4
MAX_NAMED, MAX_LINE = 10, 160
_IMPORT = lazy_regex(r"^[ \t]{0,20}import (?:static )?(?P<name>[a-zA-Z_][\w.]{2,200})", re.MULTILINE)
_BUILD = lazy_regex(r"(?:^|/)(?:pom\.xml|build\.sbt|[\w.-]+\.gradle(?:\.kts)?)$")
_COMMANDS = lazy_regex(
    r"\.(?:sh|bash|ps1|bat|cmd)$|(?:^|/)(?:package\.json|tox\.ini|noxfile\.py|justfile|Taskfile\.ya?ml|GNUmakefile"
    r"|Makefile|Rakefile|composer\.json|\.pre-commit-config\.ya?ml)$|(?:^|/)\.(?:husky|github/workflows|circleci)/"
)
"""Files whose lines are commands."""
_RELOCATED = lazy_regex(
    r"<pattern>\s{0,99}(?P<one>[\w.*]{2,200})\s{0,99}</pattern>\s{0,99}<shadedPattern>\s{0,99}(?P<to>[\w.]{2,200})"
    r"|\brelocate\s{0,9}\(?\s{0,9}[\"'](?P<two>[\w.]{2,200})[\"']\s{0,9},\s{0,9}[\"'](?P<moved>[\w.]{2,200})[\"']"
    r"|\brename\s{0,9}\(\s{0,9}\"(?P<three>[\w.]{2,200})\.\*{1,2}\"\s{0,9}->\s{0,9}\"(?P<renamed>[\w.]{2,200})"
)
_SHADES = lazy_regex(
    r"maven-shade-plugin|shadowJar|ShadowJar|assemblyShadeRules|maven-assembly-plugin|maven-bundle-plugin"
)
_BUNDLED = lazy_regex(
    r"<include>\s{0,99}(?P<coordinates>[\w.-]{1,100}:[\w.*-]{1,100})(?::[\w.*-]{1,40})?\s{0,99}</include>"
)


async def answer_about_packages(reader: Reader, question: PackageQuestion, where: Filter) -> PackageReport | None:
    """Return what `answer_packages` does, with files whose imports have no edge, or else the lines with its name."""
    found = await answer_packages(reader, question, where)
    if found is None or not found.package or found.standard:
        return found
    if found.importing:
        return found if found.every else replace(found, commanded=await _commanded(reader, found, where))
    if question.asks == PackageAspect.UNUSED or (question.asks == PackageAspect.VERSION and not question.importers):
        return found
    spaces = await _namespaces(reader, found, where)
    if not spaces:
        named = await _named_in_code(reader, found, where)
        return replace(found, named=named, commanded=() if named else await _commanded(reader, found, where))
    scan = await scan_texts(
        reader, where, _IMPORT, [each.encode() for each in spaces], lambda path: not is_document(path)
    )
    lines: dict[str, list[int]] = {}
    is_test: dict[str, bool] = {}
    for each in scan.found:
        if any(f"{each.match['name']}.".startswith(f"{space}.") for space in spaces):
            lines.setdefault(each.file.path, []).append(each.line)
            is_test[each.file.path] = each.file.is_test
    importing = tuple(ImportingFile(path, tuple(at), is_test[path]) for path, at in lines.items())
    return replace(found, importing=tuple(sorted(importing, key=lambda each: (each.is_test, each.path))))


async def _named_in_code(reader: Reader, found: PackageReport, where: Filter) -> tuple[tuple[str, str], ...]:
    """Return the files that name a module of a package without an import, with lines and the text of the first.

    The same name without case, dots and underscores: `Mint.WebSocket.new` of `mint_web_socket`, `ActiveSupport::Cache`
    of `activesupport`, `:telemetry.execute` of `telemetry`, `percent_encoding::decode` of `percent-encoding`.
    """
    short = short_name(found.package)
    if found.question.version or all(each.is_inner for each in found.declared) or not short[:1].isalpha():
        return ()
    joined = r"(?:\.|::|_)?".join(map(re.escape, re.split(r"[-_.]", short)))
    lower = "[-_.]".join(map(re.escape, re.split(r"[-_.]", short)))
    name = rf"(?:(?={lower})|(?=[A-Z]))(?i:{joined})"
    spelled = re.compile(rf"(?<![\w.@]){name}(?:\.|::)[A-Za-z_{{]|\b(?:alias|use|require|using|include) {name}\b")
    scan = await scan_texts(reader, where, spelled, [re.split(r"[-_.]", short)[0].encode()], _is_code)
    lines: dict[str, dict[int, str]] = {}
    for each in scan.found:
        if not is_comment(each.text) and each.line not in lines_of_blocks(each.file.text):
            lines.setdefault(each.file.path, {})[each.line] = each.text.strip()[:MAX_LINE]
    named_in: list[tuple[str, str]] = []
    for path, own in lines.items():
        numbers = ",".join(map(str, [*own][:MAX_NAMED]))
        more = "..." if len(own) > MAX_NAMED else ""
        named_in.append((f"{path}:{numbers}{more}", next(iter(own.values()))))
    return tuple(named_in)


async def _commanded(reader: Reader, found: PackageReport, where: Filter) -> tuple[tuple[str, str], ...]:
    """Return the lines of scripts and of builds that call a package as a command, or install it."""
    names = {short_name(each.package or each.name) for each in found.declared if not each.is_inner}
    names |= set() if found.every else {found.package}
    if found.question.version or not names:
        return ()
    name = "|".join(map(re.escape, sorted(names)))
    called = re.compile(rf"(?:^|[\s\"'&|;(`]|npx )(?:{name})(?=[\s\"'&|;)`]|$)(?![\"']\s*:)", re.MULTILINE)
    scan = await scan_texts(
        reader, where, called, [each.encode() for each in names], lambda path: _COMMANDS.search(path) is not None
    )
    lines = (each for each in scan.found if not is_comment(each.text))
    kept = dict.fromkeys((each.place, each.text.strip()[:MAX_LINE]) for each in lines)
    return tuple(sorted(kept, key=lambda each: each[0].count("/")))[:MOST_COMMANDS]


def _is_code(path: str) -> bool:
    return not is_document(path)


async def _namespaces(reader: Reader, found: PackageReport, where: Filter) -> list[str]:
    """Return the groups of the artifacts of a report that no other declared artifact has."""
    declared = await read_declarations(reader, where.project)
    names = {each.name for each in declared if not each.is_inner}
    spaces: list[str] = []
    for name in dict.fromkeys(each.name for each in found.declared if not each.is_inner):
        group, colon, _ = name.partition(":")
        if colon and "." in group and not any(each.startswith(f"{group}:") for each in names - {name}):
            spaces.append(group)
    return spaces


async def shaded_lines(reader: Reader, found: PackageReport, where: Filter) -> list[TextLine]:
    """Return the lines by which builds bundle artifacts of a report or move their classes to another namespace."""
    artifacts = [each.name for each in found.declared if ":" in each.name and not each.is_inner]
    if not artifacts:
        return []
    spaces = {uid.partition(":ext:")[2] for _, uids in found.uids for uid in uids}
    files = [each for each in await read_texts(reader, where, lambda path: _BUILD.search(path) is not None)]
    lines = [line for file in files if _SHADES.search(file.text) for line in _shaded_in(file, artifacts, spaces)]
    return lines[:MOST_SHADED]


def _shaded_in(file: IndexedText, artifacts: Sequence[str], spaces: set[str]) -> Iterator[TextLine]:
    for match in _BUNDLED.finditer(file.text):
        coordinates = match["coordinates"]
        if any(coordinates in (each, f"{each.partition(':')[0]}:*") for each in artifacts):
            yield TextLine("shaded", _place(file, match.start()), f"bundled: {coordinates}")
    for match in _RELOCATED.finditer(file.text):
        old = next(filter(None, (match["one"], match["two"], match["three"]))).rstrip(".*")
        new = next(filter(None, (match["to"], match["moved"], match["renamed"])))
        if any(_is_of(old, each) for each in artifacts) or any(f"{each}.".startswith(f"{old}.") for each in spaces):
            yield TextLine("shaded", _place(file, match.start()), f"relocated: {old} -> {new}")


def _is_of(space: str, artifact: str) -> bool:
    """Return whether a namespace is that of an artifact: its group, or its name as the last part."""
    group, _, name = artifact.partition(":")
    return space == group or space.rpartition(".")[2] == name


def _place(file: IndexedText, start: int) -> str:
    return f"{file.path}:{file.text.count(chr(10), 0, start) + 1}"
