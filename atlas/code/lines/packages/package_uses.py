"""Where a package is used or declared that neither an edge nor a manifest tells: names of imports, test environments.

`const { ncp } = require('ncp')` says nothing of what it is needed for; the lines that call the name do. A version in
`tox.ini` or in a step of a workflow is one that the project demands, too. Reads the indexed texts only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.graph.packages import PackageReport
from atlas.code.lines.line_report import TextLine, shown
from atlas.code.lines.scan_texts import scan_texts
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

_BRACED = lazy_regex(r"\{(?P<names>[^{}]{1,400})\}")
_JS_WHOLE = lazy_regex(
    r"^\s*(?:(?:const|let|var)\s+(?P<const>[A-Za-z_$][\w$]*)\s*=\s*(?:await )?(?:require|import)\s?\("
    r"|import\s+(?:type\s+)?(?:\*\s+as\s+)?(?P<plain>[A-Za-z_$][\w$]*)\s*(?:,|\s+from\b))"
)
_FROM = lazy_regex(r"^\s*from\s+[\w.]{1,200}\s+import\s+\(?(?P<names>[^()#\n]{1,400})")
_IMPORT = lazy_regex(r"^\s*import\s+(?P<module>[\w.]{1,200})(?:\s+as\s+(?P<name>\w{1,80}))?\s*$")
_RENAMED = lazy_regex(r"^[\w$]+\s*(?:\bas\b|:)\s*(?P<name>[\w$]+)$")
_ENVIRONMENT = lazy_regex(
    r"(?:^|/)(?:tox\.ini|noxfile\.py|\.pre-commit-config\.ya?ml|constraints[\w.-]*\.txt|\.readthedocs\.ya?ml"
    r"|environment[\w.-]*\.ya?ml)$|(?:^|/)\.(?:github/workflows|circleci|gitlab)/|(?:^|/)\.(?:travis|gitlab-ci)\.yml$"
)
_ASIDE = lazy_regex(r"(?:^|/)(?:docs?|documentation|examples?|tutorials?|vendor)/")
_BOUND = r"\s?(?:\[[\w, -]{1,60}\])?\s?(?:[=~!<>]=?=?|\^)\s?[\dv]"
MOST_FILES, MOST_OF_FILE, MOST_USES = 6, 3, 6
MOST_ENVIRONMENTS = 4
MAX_LINE, MAX_LINES = 400, 6_000


async def imported_uses(reader: Reader, found: PackageReport) -> list[TextLine]:
    """Return the lines that use what the files outside of tests and documentation import from a package."""
    files = {each.path: each.lines for each in found.importing if not each.is_test and not _ASIDE.search(each.path)}
    texts = await reader.store.content(reader.project, sorted(files)[:MOST_FILES]) if files else {}
    uses: list[TextLine] = []
    for path, text in sorted(texts.items()):
        lines = text.decode("utf-8", "replace").split("\n")[:MAX_LINES]
        imports = [at for at in files[path] if 0 < at <= len(lines)]
        names = [name for at in imports for name in _bound(lines[at - 1][:MAX_LINE])]
        using = [] if not names else list(_using(lines, names, imports))
        uses += [TextLine("used_by", f"{path}:{at}", shown(lines[at - 1])) for at in using[:MOST_OF_FILE]]
    return uses[:MOST_USES]


def _bound(line: str) -> Iterator[str]:
    """Yield the names that an import of JavaScript or Python binds: `{ a, b as c }`, `from p import a as b`."""
    if (whole := _JS_WHOLE.match(line)) is not None:
        yield whole["const"] or whole["plain"]
    listed = _FROM.match(line) or (_BRACED.search(line) if re.search(r"\brequire\s?\(|\bfrom\b", line) else None)
    for part in listed["names"].split(",") if listed is not None else ():
        renamed = _RENAMED.match(part.strip())
        name = renamed["name"] if renamed is not None else part.strip().removeprefix("type ")
        if name.replace("$", "_").isidentifier():
            yield name
    if (module := _IMPORT.match(line)) is not None:
        yield module["name"] or module["module"].partition(".")[0]


def _using(lines: Sequence[str], names: Sequence[str], imports: Sequence[int]) -> Iterator[int]:
    """Yield the lines that use one of some names, or what is made of one of them: `const copy = promisify(ncp)`."""
    word = _word(names)
    made = re.compile(
        rf"^\s*(?:const|let|var)?\s*(?P<name>[A-Za-z_$][\w$]*)\s*=[^=].{{0,120}}?[(,]\s?(?:{word.pattern})[),]"
    )
    aliases: list[str] = []
    for at, line in enumerate(lines, 1):
        if at not in imports and (alias := made.match(line[:MAX_LINE])) is not None:
            aliases.append(alias["name"])
    every = _word([*names, *aliases])
    found = [
        at
        for at, line in enumerate(lines, 1)
        if at not in imports and every.search(line[:MAX_LINE]) is not None and not is_comment(line)
    ]
    # what is made of an import says less than the lines that call it
    yield from sorted(found, key=lambda at: made.match(lines[at - 1][:MAX_LINE]) is not None)


def _word(names: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$.'\"/@-])(?:{'|'.join(map(re.escape, names))})(?![\w$'\"/-])")


async def environment_lines(reader: Reader, package: str, where: Filter) -> list[TextLine]:
    """Return the lines of test environments, hooks and workflows that name a package with a version."""
    spelled = r"[-_.]".join(map(re.escape, re.split(r"[-_.]", package)))
    pattern = re.compile(rf"(?<![\w./-]){spelled}{_BOUND}", re.IGNORECASE)
    needle = re.split(r"[-_.]", package)[0].encode()
    scan = await scan_texts(reader, where, pattern, (needle,), lambda path: _ENVIRONMENT.search(path) is not None)
    kept = [each for each in scan.found if not is_comment(each.text)]
    return [TextLine("test_environment", each.place, shown(each.text)) for each in kept[:MOST_ENVIRONMENTS]]
