"""What a build looks for on the machine: packages and libraries in CMake, Meson, Autoconf, Conan and vcpkg files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import TextMatch, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_BUILD_FILE = lazy_regex(
    r"(?:^|/)(?:CMakeLists\.txt|[\w.-]+\.cmake|meson\.build|configure\.(?:ac|in)|conanfile\.(?:py|txt)|vcpkg\.json"
    r"|Makefile(?:\.\w+)?|GNUmakefile|BUILD(?:\.bazel)?|WORKSPACE|MODULE\.bazel|SConstruct|xmake\.lua)$"
)
_LOOKS_FOR = lazy_regex(
    r"\b(?:find_package|find_library|pkg_check_modules|pkg_search_module|FetchContent_Declare|CPMAddPackage"
    r"|ExternalProject_Add)\s{0,9}\(\s{0,9}(?P<cmake>[\w.:/@+-]+)"
    r"|\bdependency\(\s{0,9}[\"'](?P<meson>[\w.+-]+)"
    r"|\b(?:PKG_CHECK_MODULES|AC_CHECK_LIB|AC_SEARCH_LIBS|AM_PATH_\w+)\(\s{0,9}\[?(?P<autoconf>[\w.+-]+)"
    r"|\bpkg-config\b[^\n]{0,60}?\s(?P<pkg>[a-z][\w.+-]{1,60})(?=[\s)]|$)"
    r"|\brequires?\s{0,9}(?:=|\()\s{0,9}[\[(]?\s{0,9}[\"'](?P<conan>[\w.+-]+/[\w.+-]+)"
    r"|\bbazel_dep\(\s{0,9}name\s{0,9}=\s{0,9}[\"'](?P<bazel>[\w.-]+)",
    re.IGNORECASE,
)
_SUBMODULE = lazy_regex(r"^\s{0,9}(?P<key>path|url)\s{0,9}=\s{0,9}\S{1,200}", re.MULTILINE)
_OF_SUBMODULES = lazy_regex(r"(?:^|/)\.gitmodules$")
_MANIFEST = lazy_regex(
    r"(?:^|/)(?:[\w.-]+\.(?:toml|gradle|kts|gemspec|csproj|fsproj|props|sbt|exs|cabal|nimble|opam|rockspec)|pom\.xml|package\.json"
    r"|composer\.json|Package\.swift|Podfile|Gemfile|go\.mod|requirements[\w.-]*\.txt|setup\.(?:py|cfg)|pubspec\.yaml"
    r"|environment\.ya?ml|tox\.ini|noxfile\.py|\.pre-commit-config\.ya?ml)$|" + _BUILD_FILE.pattern,
    re.IGNORECASE,
)
_HEADER = lazy_regex(r"\s*(?:\[{1,2}(?P<table>[^\]]{1,80})\]|[\"'<]?(?P<key>[A-Za-z][\w.-]{0,60})[\"']?\b)")
MAX_NAMED = 12
MOST_ABOVE = 300
"""Lines above one of a manifest in which what it stands under is looked for."""
_NEEDLES = (b"find_", b"pkg", b"fetchcontent", b"cpm", b"external", b"dependency", b"ac_", b"require", b"bazel_dep")


async def answer_manifest_lines(reader: Reader, package: str, where: Filter) -> LineReport | None:
    """Return the lines of manifests that name a package which no declaration has; None where there are none.

    A form of a declaration that is not read is no proof that a package is not declared. Raises store errors.
    """
    name = re.compile(rf"(?<![\w-]){re.escape(package)}(?![\w-])", re.IGNORECASE)
    scan = await scan_texts(reader, where, name, (package.encode(),), lambda path: _MANIFEST.search(path) is not None)
    told = [each for each in scan.found if not _is_behind_comment(each)]
    if not told:
        return None
    found = ((each.place, shown(each.text), _section(each.file.lines, each.line)) for each in told)
    lines = list(dict.fromkeys(TextLine("named", place, f"{section}{text}") for place, text, section in found))
    title = f"`{package}`: no declaration of a known form; {counted(len(lines), 'line')} of manifests name it"
    return LineReport("packages", title, tuple(lines[:MAX_NAMED]), scan.notes)


def _is_behind_comment(each: TextMatch) -> bool:
    """Return whether only the comment behind a line has what was found: `"S701", # jinja2 does not escape`."""
    own, mark, _ = each.text.partition(" #")
    return bool(mark and own.strip()) and each.match[0].lower() not in own.lower()


def _section(lines: Sequence[str], line: int) -> str:
    """Return the key or header that a line of a manifest stands under, with a colon: `suggest: `; "" at the top."""
    text = lines[line - 1]
    indent = len(text) - len(text.lstrip())
    for above in reversed(lines[max(line - 1 - MOST_ABOVE, 0) : line - 1]):
        header = _HEADER.match(above)
        if header is not None and not indent and header["table"]:
            return f"{header['table']}: "
        if above.strip() and len(above) - len(above.lstrip()) < indent:
            return f"{header['key']}: " if header is not None and header["key"] else ""
    return ""


async def answer_submodules(reader: Reader, where: Filter) -> LineReport | None:
    """Return the submodules of git with their addresses; None where there are none. Raises store errors."""
    scan = await scan_texts(reader, where, _SUBMODULE, (), lambda path: _OF_SUBMODULES.search(path) is not None)
    if not scan.found:
        return None
    lines = tuple(TextLine("submodules", each.place, shown(each.text)) for each in scan.found)
    count = sum(each.text.strip().startswith("path") for each in scan.found)
    return LineReport("dependencies", f"submodules of git: {count}", lines, scan.notes)


async def answer_build_files(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Return the lines of build files that look for packages; None where there are none. Raises store errors."""
    scan = await scan_texts(reader, where, _LOOKS_FOR, _NEEDLES, lambda path: _BUILD_FILE.search(path) is not None)
    if query.states or not scan.found:
        return None
    lines = [TextLine("looked_for", each.place, shown(each.text)) for each in scan.found]
    files = {each.file.path for each in scan.found}
    found = f"{counted(len(files), 'build file')} look for some in {counted(len(lines), 'line')}"
    title = f"no manifest declares packages; {found}"
    return LineReport("dependencies", title, tuple(lines), scan.notes)
