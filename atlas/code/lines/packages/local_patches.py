"""Packages of others that the project patches or replaces: patch files, and manifests that name a fork or a folder.

What stands in the registry is not what runs then. Known are the files of patch-package, pnpm and yarn, `[patch]` of
Cargo, `replace` of Go, and sources in git or a folder in manifests of npm, pip, uv, Poetry, Cargo and Bundler. Reads
the indexed texts and declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from atlas.code.graph.declarations import read_declarations
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import IndexedText, is_aside, read_texts, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_OF_PACKAGES = lazy_regex(
    r"\b(?:third[- ]party|(?:node[_ ]|go )?modules?|packages?|dependenc(?:y|ies)|deps|librar(?:y|ies)|crates?|gems?"
    r"|vendored)\b",
    re.IGNORECASE,
)
_IS_DONE = lazy_regex(
    r"\b(?:patch(?:e[ds])?|fork(?:ed|s)?|replaced?|overrid(?:e|es|den)|modified|from git)\b", re.IGNORECASE
)
_ASKS = lazy_regex(r"(?:is|are|do|does|which|what|any|list|show|have|has)\b", re.IGNORECASE)
_LOCAL = lazy_regex(
    r"\bpatch(?:e[ds])?\b|\bfork(?:ed|s)?\b|\blocal(?:ly)?\b|\bfrom git\b|\breplace (?:directives?|lines?)\b",
    re.IGNORECASE,
)
_ELSEWHERE = lazy_regex(
    r"\bmonkey|\bmock|\bmethods?\b|\bfunctions?\b|\bclass(?:es)?\b|\bversions? of\b|\bcommits?\b|\bprocess(?:es)?\b"
    r"|\b(?:patch|http) (?:requests?|routes?|endpoints?|methods?|versions?|releases?)\b",
    re.IGNORECASE,
)
_PATCH = lazy_regex(r"(?:^|/)(?:patches|\.yarn/patches)/[^\n]{1,200}\.(?:patch|diff)$")
_OF_FILE = lazy_regex(
    r"(?P<name>@?[\w.-]+(?:[+/]|__)[\w.-]+?|[\w.-]+?)(?:\+|@|-npm-)(?P<version>\d[\w.-]{0,40}?)(?:-[0-9a-f]{8,12})?$"
)
_MANIFEST = lazy_regex(
    r"(?:^|/)(?:package\.json|pnpm-workspace\.yaml|Cargo\.toml|go\.mod|Gemfile|pyproject\.toml"
    r"|[\w.-]*requirements[\w.-]*\.(?:txt|in))$"
)
_REPLACED = {
    ".json": lazy_regex(
        r"^\s*\"(?P<name>[^\"]{1,100})\":\s?\""
        r"(?:patch:|git\+|git:|github:|file:|link:|portal:|patches/|https?://[^\"]{1,200}\.git)"
    ),
    ".yaml": lazy_regex(r"^\s+['\"]?(?P<name>@?[\w./-]{1,80}@[\w.-]{1,40})['\"]?:\s?\S{0,80}(?:patches/|\.patch)"),
    ".mod": lazy_regex(r"^\s*(?:replace )?(?P<name>\S{1,120})(?: v\S{1,60})? => \S"),
    ".toml": lazy_regex(r"^\s*[\"']?(?P<name>[\w.-]{1,80})[^\n]{0,200}(?:\bgit\s?=\s?[\"']|@ git\+)"),
    ".txt": lazy_regex(
        r"^\s*(?:-e |--editable )?(?P<name>[^\n#]{0,80}?)(?:git|hg)\+\S|^\s*(?:-e|--editable) (?P<folder>\S+)"
    ),
    "Gemfile": lazy_regex(r"^\s*gem\s[\"'](?P<name>[^\"']{1,80})[\"'],[^\n]{0,120}\b(?:git|github|path)(?::|\s?=>)"),
}
_PATCHED_TABLE = lazy_regex(r"\[(?:patch\.|replace\b)")
_APPLIES = lazy_regex(
    r"\bpatch-package\b|\bpnpm (?:patch|install)[^\n]{0,40}patch|\bgit apply\b|(?<![\w-])patch -p\d", re.IGNORECASE
)
_COMMANDS = lazy_regex(
    r"(?:^|/)(?:package\.json|Makefile|Dockerfile|justfile|noxfile\.py|tox\.ini)$|\.(?:sh|ya?ml|ps1)$|\.github/workflows/"
)
MOST_CHANGES, MOST_LINES, MAX_LINE = 4, 12, 400


async def answer_local_patches(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer whether a package of others is patched or replaced; None for other questions. Raises store errors."""
    text = query.text
    if query.states or query.reports or _ASKS.match(text) is None or _ELSEWHERE.search(text) is not None:
        return None
    if not all(each.search(text) for each in (_OF_PACKAGES, _IS_DONE, _LOCAL)):
        return None
    if any(_MANIFEST.search(name) is None for name in query.names):
        return None
    declared = {each.name: each for each in await read_declarations(reader, where.project)}
    patches: list[TextLine] = []
    for file in await read_texts(reader, where, lambda path: _PATCH.search(path) is not None):
        name, version = _named(file.path)
        own = declared.get(name)
        said = f"{name} {version}".strip() + (f", declared {own.range} ({own.path}:{own.line})" if own else "")
        patches.append(TextLine("patched", file.path, said))
        patches += [TextLine("changes", file.path, line) for line in _changes(file)]
    manifests = await read_texts(reader, where, lambda path: _MANIFEST.search(path) is not None and not is_aside(path))
    known = frozenset(declared)
    replaced = [line for file in manifests if not file.is_test for line in _replaced(file, known)]
    applied: list[TextLine] = []
    if patches:
        scan = await scan_texts(
            reader, where, _APPLIES, (b"patch", b"apply"), lambda path: _COMMANDS.search(path) is not None
        )
        applied = [TextLine("applied", each.place, shown(each.text)) for each in scan.found[:MOST_CHANGES]]
        if not applied:
            applied = [TextLine("applied", "", "no command that applies them is in a script, workflow or manifest")]
    if not patches and not replaced:
        forms = "patches/, patchedDependencies, [patch], replace, sources in git or a folder"
        return LineReport("dependencies", f"no package is patched or replaced in a known form ({forms})")
    files = sum(each.group == "patched" for each in patches)
    counts = [counted(files, "patch file")] * bool(files)
    counts += [f"{counted(len(replaced), 'line')} of manifests"] * bool(replaced)
    title = f"packages that are patched or come from elsewhere than the registry: {', '.join(counts)}"
    return LineReport("dependencies", title, (*patches, *applied, *replaced[:MOST_LINES]))


def _named(path: str) -> tuple[str, str]:
    """Return the package and the version that the name of a patch file says; its name where it says none."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    match = _OF_FILE.fullmatch(stem)
    if match is None:
        return stem, ""
    return match["name"].replace("+", "/").replace("__", "/"), match["version"]


def _changes(file: IndexedText) -> Iterator[str]:
    """Yield the changed files of a patch with their first changed lines."""
    left = 0
    for line in file.lines:
        if line.startswith("+++ "):
            left = MOST_CHANGES
            yield line[4:].strip().removeprefix("b/")
        elif left and line[:1] in "+-" and line[1:].strip() and not line.startswith("---"):
            left -= 1
            yield shown(f"{line[0]} {line[1:].strip()}")


def _replaced(file: IndexedText, declared: frozenset[str]) -> Iterator[TextLine]:
    """Yield the lines of a manifest that take a package from git, a folder or a patch instead of the registry."""
    name = file.path.rpartition("/")[2]
    pattern = _REPLACED.get(name) or _REPLACED.get(f".{name.rpartition('.')[2]}", _REPLACED[".txt"])
    table = ""
    for number, line in enumerate(file.lines, 1):
        if len(line) > MAX_LINE:
            continue
        if line.startswith("["):
            table = line.strip()
        is_patched = bool(_PATCHED_TABLE.match(table)) and "=" in line and not line.lstrip().startswith(("#", "["))
        match = pattern.match(line)
        if match is not None and name == "package.json" and "patch" not in line and match["name"] not in declared:
            continue  # `"url"` of the repository
        if is_patched or match is not None:
            said = f"{table} " if is_patched else ""
            yield TextLine("replaced", f"{file.path}:{number}", f"{said}{shown(line)}")
