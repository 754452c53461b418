"""What a question asks about packages beside versions: what uses one, since when it is declared, what changelogs say.

Reads the graph, the version history and the documents about releases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from atlas.code.changes.commit_rows import commit_row
from atlas.code.changes.told_topics import releases_of
from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.graph.declarations import Declaration, short_name
from atlas.code.graph.packages import PackageReport, parts_of
from atlas.code.lines.changelogs import changelog_lines, read_changelogs
from atlas.code.lines.line_report import TextLine, shown
from atlas.code.lines.packages.artifacts import shaded_lines
from atlas.code.lines.packages.package_reasons import comment_at, comments_about, supplied_by
from atlas.code.lines.packages.package_uses import environment_lines, imported_uses
from atlas.code.lines.scan_texts import IndexedText
from atlas.code.question.package_questions import PackageAspect
from atlas.code.reader import Reader
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import AtlasError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label
from atlas.core.wording import counted

MAX_EDGES = 2_000
MIN_WORD, MIN_NAMED = 3, 4
MAX_LINE = 400
_WORD = lazy_regex(r"[A-Za-z][\w/+-]*")
_OF_EVERY = frozenset(
    """
    optional extra extras dependency dependencies deps package packages install installs installed give gives need needs
    needed version versions minimum require requires required which what
    """.split()  # noqa: SIM905
)
"""Words of every question for extras."""
_WITH_EXTRAS = lazy_regex(r"(?:^|/)(?:setup\.py|pyproject\.toml)$")
_EXTRAS = lazy_regex(
    r"\bextras_require\s?=\s?(?:\{|dict\()|^\s{0,8}\[(?:project\.optional-dependencies|tool\.poetry\.extras)\]"
)
_AFTER_EXTRAS = lazy_regex(r"\s{0,40}(?:\}|\)|\[[\w.\"-]+\]\s{0,9}$)")
_EMPTY = lazy_regex(
    r"\s{0,40}[\"']?(?P<name>[A-Za-z][\w.-]{0,60})[\"']?\s?[:=]\s?(?:\[\s?\]|\(\s?\)),?\s{0,9}(?:#.{0,200})?$"
)
MOST_USERS = 8
MOST_LINES = 3
_USES = (EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.USES_TYPE, EdgeType.INHERITS)
_FOR_WHAT = lazy_regex(
    r"\b(?:what|why)\b.*\bfor\b|\bfor what\b|^why\b|\bpurpose\b|\bvs\b|\bversus\b|\bdifference\b"
    r"|\bstill (?:needed|used|required|necessary)\b|\bwhat (?:does|do|is) .{1,60} (?:do|doing)\b"
    r"|\busages?\b|\b(?:where|how)(?:'s| is| are| do| does)\b.{1,60} used?\b"
    r"|\bwhere (?:\w+ )?(?:do|does) (?:we|our|it)\b",
    re.IGNORECASE,
)
_WHY = lazy_regex(r"^why\b", re.IGNORECASE)
_SHIPPED = lazy_regex(
    r"\b(?:jars?|artifacts?|class ?path|users?|consumers?|downstream|add|shad(?:e[ds]?|ing)|bundl\w+|relocat\w+|ships?"
    r"|shipped|transitive\w*|vendored|optional|himself|themselves|ourselves|still (?:needed|required|necessary))\b",
    re.IGNORECASE,
)
_SINCE = lazy_regex(
    r"\bsince (?:when|which|what)\b|^when\b|\bwhen (?:was|did)\b|\b(?:which|what) (?:commit|change|pr)\b|\bwho added\b",
    re.IGNORECASE,
)
_CHANGED = lazy_regex(
    r"\bversion (?:jump|bump|change|upgrade|update)\b|\b(?:upgrade|bump|update|migrat|changelog)\w*|\bspecial about\b",
    re.IGNORECASE,
)


_WITHOUT = lazy_regex(
    r"\b(?:without|missing|absent|(?:not|isn'?t|aren'?t) (?:installed|there|present|available)|optional|required?"
    r"|mandatory|necessary|needed)\b",
    re.IGNORECASE,
)
_CATCHES_IMPORT = lazy_regex(
    r"\s*except\b.*\b(?:ImportError|ModuleNotFoundError)\b|\s*rescue\b.*\bLoadError\b|.*\bMODULE_NOT_FOUND\b"
)
NEAR_IMPORT = 40
"""Lines between the import of a package and what catches that it is not there: a caller in the same file may."""
_SHOWN_BEHIND = 2


async def lines_about_package(reader: Reader, text: str, found: PackageReport, where: Filter) -> tuple[TextLine, ...]:
    """Return the lines that a question about one package asks for beside its declarations and imports."""
    if found.question.asks == PackageAspect.LIST and "optional" in found.question.kinds and not found.question.topic:
        return tuple(await _empty_extras(reader, found))
    if not found.package or found.question.asks in (PackageAspect.LIST, PackageAspect.UNUSED):
        return ()
    lines: list[TextLine] = []
    try:
        if _FOR_WHAT.search(text) or found.question.by_word:
            lines += await comments_about(reader, found.declared, where)
            users = await _users(reader, found)
            known = {
                (each.place, number) for each in users for number in re.findall(r"\d+", each.text.partition(" ")[0])
            }
            known |= {(path, number) for path, colon, number in (each.place.rpartition(":") for each in users) if colon}
            named = await _named_lines(reader, found)
            lines += [*users, *(each for each in named if tuple(each.place.rsplit(":", 1)) not in known)]
            lines += await imported_uses(reader, found) if not (users or named) else []
            lines += await _enabled_by(reader, found)
            lines += await supplied_by(reader, found.package, where)
        if _WITHOUT.search(text):
            lines += await _caught_imports(reader, found)
        if _SINCE.search(text) or (_WHY.search(text) and not lines):
            lines += await _declared_since(reader, found.declared, where)
        if _SHIPPED.search(text) or len(found.uids) > 1:
            lines += await shaded_lines(reader, found, where)
        if _CHANGED.search(text):
            lines += await _of_changelogs(reader, found, where)
        lines += await environment_lines(reader, found.package, where)
    except AtlasError:
        return tuple(lines)
    return tuple(lines)


async def _empty_extras(reader: Reader, found: PackageReport) -> list[TextLine]:
    """Return the extras of Python manifests that install nothing, which no declaration tells: `"testing": []`."""
    paths = sorted({each.path for each in found.every if _WITH_EXTRAS.search(each.path)})
    texts = await reader.store.content(reader.project, paths) if paths else {}
    lines: list[TextLine] = []
    for path, text in texts.items():
        inside = False
        for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
            if _EXTRAS.search(line):
                inside = True
            elif inside and _AFTER_EXTRAS.match(line):
                inside = False
            elif inside and (empty := _EMPTY.match(line)) is not None:
                lines.append(TextLine("optional", path, f"nothing [{empty['name']}] :{number}"))
    return lines


async def narrowed_by_words(reader: Reader, text: str, found: PackageReport) -> PackageReport:
    """Return a list of optional dependencies with those only that have a word of the question, if any do.

    `Which extras give me HTTP/2`: the requirement is `Twisted[http2]`.
    """
    question = found.question
    is_list = question.asks == PackageAspect.LIST and question.kinds == ("optional",)
    if not is_list or question.groups or question.topic or question.names or len(found.declared) < 2:
        return found
    texts = await reader.store.content(reader.project, sorted({each.path for each in found.declared}))
    lines = {path: text.decode("utf-8", "replace").splitlines() for path, text in texts.items()}

    def said_of(each: Declaration) -> str:
        own = lines.get(each.path, [])
        line = own[each.line - 1] if 0 < each.line <= len(own) else ""
        return re.sub(r"[/_-]", "", f"{each.group} {line}".lower())

    own = {reader.root.name.lower(), question.project.lower()}  # `optional dependencies of shop` is no topic
    for word in (each for each in _WORD.findall(text) if each.lower() not in own):
        plain = re.sub(r"[/_-]", "", word.lower())
        if len(plain) < MIN_WORD or plain in _OF_EVERY or plain in STOP_WORDS:
            continue
        kept = tuple(each for each in found.declared if plain in said_of(each))
        if 0 < len(kept) < len(found.declared):
            return replace(found, declared=kept, question=replace(question, topic=f"`{word}`"))
    return found


async def _users(reader: Reader, found: PackageReport) -> list[TextLine]:
    """Return the symbols outside of tests that call or name something of a package, with the lines."""
    lines: list[TextLine] = []
    for name, uids in found.uids:
        said = f" ({name})" if len(found.uids) > 1 else ""
        users = await _users_of(reader, uids, shows_lines=not said)
        lines += [replace(each, text=f"{each.text}{said}") for each in users]
    return lines


async def _users_of(reader: Reader, uids: Sequence[str], *, shows_lines: bool) -> list[TextLine]:
    edges = await reader.store.edges(await parts_of(reader, uids), Direction.IN, _USES, MAX_EDGES) if uids else []
    users: dict[tuple[str, str], set[int]] = {}
    for edge in edges:
        row = edge.node.row
        if row.path and not row.is_test and row.label not in (Label.MODULE, Label.PACKAGE, Label.FILE):
            users.setdefault((row.path, row.qualified_name), set()).update(edge.row.lines)
    if shows_lines and sum(map(len, users.values())) <= MOST_LINES:
        return await _told_users(reader, users)
    if len(users) > MOST_USERS:  # every file is worth more than every symbol of the first ones
        users = _by_file(users)
    lines = [
        TextLine("used_by", path, f"{','.join(map(str, sorted(at)[:4]))} {name}".strip())
        for (path, name), at in sorted(users.items(), key=lambda each: (each[0][0], min(each[1], default=0)))
    ]
    return lines[:MOST_USERS]


async def _told_users(reader: Reader, users: Mapping[tuple[str, str], set[int]]) -> list[TextLine]:
    """Return the few lines that use a package as they are, each with the comment above it, which may say what for."""
    texts = await reader.store.content(reader.project, sorted({path for path, _ in users}))
    lines: list[TextLine] = []
    for (path, name), at in sorted(users.items(), key=lambda each: (each[0][0], min(each[1], default=0))):
        file = IndexedText(path, texts.get(path, b"").decode("utf-8", "replace"), is_test=False)
        if not at or max(at) > len(file.lines):
            lines.append(TextLine("used_by", path, f"{','.join(map(str, sorted(at)))} {name}".strip()))
            continue
        for number in sorted(at):
            said = "".join(f" // {comment}" for _, comment in comment_at(file, number))
            above = file.lines[number - 2].strip() if number > 1 else ""
            text = f"{above} {file.lines[number - 1].strip()}" if above.startswith("@") else file.lines[number - 1]
            lines.append(TextLine("used_by", f"{path}:{number}", f"{name}: {shown(text)}{said}"))
    return lines


def _by_file(users: Mapping[tuple[str, str], set[int]]) -> dict[tuple[str, str], set[int]]:
    """Return the lines of all symbols of a file under the name of the first and the number of the others."""
    files: dict[str, dict[str, set[int]]] = {}
    for (path, name), at in sorted(users.items(), key=lambda each: (each[0][0], min(each[1], default=0))):
        files.setdefault(path, {})[name] = at
    found: dict[tuple[str, str], set[int]] = {}
    for path, named in files.items():
        first, *others = named
        name = f"{first} and {counted(len(others), 'further symbol')}" if others else first
        found[path, name] = set[int]().union(*named.values())
    return found


async def _named_lines(reader: Reader, found: PackageReport) -> list[TextLine]:
    """Return the lines of the files that import a package and name it again: `BCrypt::Password` below its `require`.

    A constant of another package has no edge in languages that load whole files.
    """
    plain = re.sub(r"[^a-z0-9]", "", short_name(found.package).lower())
    files = {each.path: each.lines for each in found.importing if not each.is_test}
    if len(plain) < MIN_NAMED or not files:
        return []
    word = re.compile(rf"(?<![A-Za-z0-9_.\"'/-]){plain}(?=::|\.\w|\()", re.IGNORECASE)
    texts = await reader.store.content(reader.project, sorted(files)[:MOST_USERS])
    lines = [
        TextLine("used_by", f"{path}:{number}", shown(line))
        for path, text in texts.items()
        for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1)
        if number not in files[path] and len(line) <= MAX_LINE and word.search(line) and not is_comment(line)
    ]
    return lines[:MOST_USERS]


async def _caught_imports(reader: Reader, found: PackageReport) -> list[TextLine]:
    """Return what runs where a package is not there: the lines that catch its import, and what follows them."""
    files = {each.path: each.lines for each in found.importing if not each.is_test}
    texts = await reader.store.content(reader.project, sorted(files)[:MOST_USERS])
    lines: dict[str, TextLine] = {}
    for path, text in sorted(texts.items()):
        own = text.decode("utf-8", "replace").split("\n")
        for at in files[path]:
            below = (number for number in range(at + 1, min(at + NEAR_IMPORT, len(own)) + 1))
            catching = (
                each for each in below if len(own[each - 1]) <= MAX_LINE and _CATCHES_IMPORT.match(own[each - 1])
            )
            if (number := next(catching, 0)) and f"{path}:{number}" not in lines:
                said = " ".join(each.strip() for each in own[number - 1 : number + _SHOWN_BEHIND])
                lines[f"{path}:{number}"] = TextLine("without_it", f"{path}:{number}", shown(said))
    return [*lines.values()][:MOST_LINES]


async def _enabled_by(reader: Reader, found: PackageReport) -> list[TextLine]:
    """Return the other lines of the manifests that name an optional package: the features that bring it in."""
    optional = [each for each in found.declared if each.kind == "optional" and not each.is_inner]
    texts = await reader.store.content(reader.project, sorted({each.path for each in optional}))
    lines: dict[str, TextLine] = {}
    for each in optional:
        name = re.compile(rf"[\"'](?:dep:)?{re.escape(each.package or each.name)}[\"'?/]")
        for number, line in enumerate(texts.get(each.path, b"").decode("utf-8", "replace").split("\n"), 1):
            if number != each.line and len(line) <= MAX_LINE and name.search(line):
                lines.setdefault(f"{each.path}:{number}", TextLine("enabled_by", f"{each.path}:{number}", shown(line)))
    return [*lines.values()][:MOST_LINES]


async def _declared_since(reader: Reader, declared: Sequence[Declaration], where: Filter) -> list[TextLine]:
    """Return the commit that wrote the first declaration of a package."""
    first = next((each for each in declared if each.kind != "indirect"), None)
    if first is None or reader.history is None or where.project not in ("", reader.project):
        return []
    log = await reader.history.line_log(first.path, first.line, first.line, name=first.package or first.name)
    if not log.commits or not log.is_whole:
        return []
    oldest = log.commits[-1]
    row = commit_row(oldest, (await releases_of(reader.history, [oldest])).get(oldest.id, ""))
    return [TextLine("declared_since", row.place, f"{row.text} (wrote {first.path}:{first.line})")]


async def _of_changelogs(reader: Reader, found: PackageReport, where: Filter) -> list[TextLine]:
    """Return the lines of changelogs that name a package."""
    name = short_name(found.package)
    word = re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", re.IGNORECASE)
    files = await read_changelogs(reader, where)
    said = (line for file in files for line in changelog_lines(file, lambda line: name in line.lower()))
    kept = [line for line in said if line.version and word.search(line.text)]
    return [
        TextLine("changelog", f"{each.file.path}:{each.line}", f"[{each.version}] {shown(each.text)}")
        for each in kept[:MOST_LINES]
    ]
