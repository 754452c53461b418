"""Command line flags: where `--foo` is declared, read and documented, and which flags the code declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from atlas.code.graph.absence.name_lines import NameLine, with_symbols
from atlas.code.lines.asked_words import mentions, topic_words
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import TextMatch, TextScan, is_document, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_FLAG = lazy_regex(r"(?<![\w-])--([a-z][\w-]*[a-z0-9])\b", re.IGNORECASE)
_LISTS = lazy_regex(
    r"\b(?:command[- ]line|cli|cmd|terminal|shell)\b.*\b(?:flags?|options?|switches|arguments|parameters)\b"
    r"|\b(?:flags|switches)\b.*\b(?:takes?|accepts?|supports?|ha(?:s|ve)|understands?|declared?|exists?|there|available|define[sd]?)\b"
    r"|^(?:(?:what|which|list|show|all|the|command)\W+)*(?:flags|switches)\b",
    re.IGNORECASE,
)
_OF_ONE = lazy_regex(
    r"\b(?:which|what) (?:command[- ]line |cli )?(?:flag|switch|option|argument|parameter) (?!(?:is|are|do) )[a-z]+s\b",
    re.IGNORECASE,
)
"""Asks for the one that does something: a list of all does not say which."""
_DECLARES = lazy_regex(
    r"add_argument|option|\badd\(\s{0,4}[\"']|\bon[ (]|\.arg\(|Arg::|\blong\b|[fF]lags?\b|[sS]witch|Param|Parameter"
    r"|usage|help|\bVar\w*\(|getopt|\bcase\s+[\"'`]-|==\s*[\"'`]-|\bmatch(?:es)?\b",
    re.IGNORECASE,
)
_ASIDE = lazy_regex(
    r"(?:^|/)(?:\.[\w-]+|scripts?|ci|install|plugins?|completions?|shell|contrib|examples?)(?:/|$)"
    r"|\.(?:vim|lua|fish)$|ile$|completion[\w.-]{0,20}$"
)
"""Files that rather pass flags to a program than declare them."""
_ADDS = lazy_regex(r"\badd_(?:argument|option)\(")
"""Certainly declares, in whatever folder: many applications of Django are in `contrib/`."""
_GO = (
    r"(?:\.|\b)(?!\w*(?:Error|Exception))(?:String|Bool|Int|Uint|Float|Duration|Count|IP|Text|Func|Value)\w*"
    r"\(\s*(?:&?[\w.\[\]]+,\s*)?\"{0}\""
)
_CLAP = r"(?:\blong\s*(?:=\s*|\()|\bArg::(?:new|with_name)\(|\blong_flag\()\s*\"{0}\""
_NAMED = r"\.(?:option|flag|opt|boolean|requiredOption|addOption)\(\s*(?:new \w+\(\s*)?[\"'`]{0}[\"'`]"
_HELPED = r"\b\w*[fF]lag\(\s*(?:[\w.]+,\s*)?[\"'`]{0}[\"'`],\s*(?=[\"'`\w])"
"""A call that declares a flag with its help: `a.Flag("web.address", "Address to listen on.")`."""
_PROTOTYPE = (
    r"\b[aA]dd\(\s*\"{0}(?:(?:\|[\w?|-]{{1,40}})?[=:]|\|[\w?|-]{{1,40}})?\",\s*"
    r"\"[^\"\n]{{0,300}}\",\s*\w{{1,20}}\s*=>"
)
"""`Add("params|p=", "Define a parameter.", v => ...)`: what it is called, whether it has a value, and what takes it."""
_ANY = r"[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*"
_FORMS = (("go", _GO), ("clap", _CLAP), ("named", _NAMED), ("helped", _HELPED), ("prototype", _PROTOTYPE))
_LISTED = lazy_regex(
    "|".join(
        (
            rf"(?:add_argument|option|Option|\bon|add_option|Parameter|addOption|register\w*"
            rf"|flag)\b[ (\[]\s*[^\n]{{0,60}}?"
            rf"[\"'`]?--(?:\[no-\])?(?P<dashed>{_ANY})",
            rf"\b\w{{0,20}}[lL]ong_?[nN]ame[\"']?\s?[:=]\s?[\"'`]--(?P<long>{_ANY})",
            *(form.format(f"(?P<{name}>{_ANY})") for name, form in _FORMS),
        )
    )
)


_WHICH_HAVE = lazy_regex(
    r"\b(?:which|what|list|all|every) (?:[\w-]+ ){0,3}"
    r"(?:accepts?|takes?|ha(?:s|ve)|supports?|declares?|defines?|adds?|understands?)\b",
    re.IGNORECASE,
)
"""Asks for all that have a flag: `which management commands accept --database`."""


async def answer_flags(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer a question about command line flags; None for other questions. Raises store errors."""
    if query.states or query.reports or query.phrases:
        return None  # a message may name a flag
    names = flag_names(query.text)
    if names and len(query.text.split()) <= 20:
        most = _MOST_TESTS if query.wants_tests else _MOST_DECLARED if _WHICH_HAVE.search(query.text) else _MOST
        return await _about(reader, names[0], where, most)
    is_list = _LISTS.search(query.text) is not None and _OF_ONE.search(query.text) is None
    return await _listed(reader, query, where) if is_list else None


def flag_names(text: str) -> tuple[str, ...]:
    """Return the long flags that a text names, without the dashes, in order."""
    return tuple(dict.fromkeys(_FLAG.findall(text)))


async def find_declaration(reader: Reader, name: str, where: Filter) -> tuple[str, int, str] | None:
    """Return path and line of the code that declares a flag, and how the line spells it; None without any."""
    scan = await _occurrences(reader, name, where)
    declared = [each for each in scan.found if _group(each) == "declared"]
    # a text of help may name the flag, too
    declared.sort(key=lambda each: bool(each.match["dashed"]) and _LISTED.search(each.text) is None)
    for each in declared[:1]:
        line = each.file.line_at(each.match.end() - 1)
        spelled = (name, name.replace("-", "_"), name.removeprefix("no-"))
        return each.file.path, line, next((one for one in spelled if one in each.file.lines[line - 1]), "")
    return None


async def _occurrences(reader: Reader, name: str, where: Filter) -> TextScan:
    positive = name.removeprefix("no-")
    quoted = re.escape(name)
    field = re.escape(name).replace(r"\-", "[-_]")
    pattern = re.compile(
        rf"--(?P<dashed>{re.escape(name)}|\[no-\]{re.escape(positive)})(?![\w-])"
        rf"|(?:{_GO.format(quoted)}|{_CLAP.format(quoted)}|{_NAMED.format(quoted)}|{_PROTOTYPE.format(quoted)})"
        rf"|\blong\b[^\n]*\n\s*(?:pub )?{field}\s*:"
        rf"|(?m:^[ \t]*)(?:pub )?(?P<field>{field})\s*:"
    )
    needles = [name.encode(), positive.encode(), name.replace("-", "_").encode(), b"long"]
    scan = await scan_texts(reader, where, pattern, needles)
    return replace(scan, found=tuple(each for each in scan.found if not each.match["field"] or _attribute(each)))


def _attribute(found: TextMatch) -> list[str]:
    """Return the lines of the attribute above a field by which clap declares a flag; [] without any."""
    above = found.file.lines[max(0, found.line - 1 - MOST_ABOVE) : found.line - 1]
    if not above or above[-1].strip() != ")]":
        return []
    start = next((at for at in range(len(above) - 1, -1, -1) if above[at].lstrip().startswith("#[")), None)
    lines = above[start:] if start is not None else []
    return lines if any(re.search(r"\blong\b", line) for line in lines) else []


MOST_ABOVE = 20
"""Lines of an attribute."""


async def _about(reader: Reader, name: str, where: Filter, most: Mapping[str, int]) -> LineReport | None:
    scan = await _occurrences(reader, name, where)
    if not scan.found:
        return None
    found = sorted(scan.found, key=lambda each: _LISTED.search(each.text) is None)
    lines = list({(line.group, line.place): line for each in found if (line := _line(each))}.values())
    lines = _once(sorted(lines, key=lambda each: list(most).index(each.group)))
    counts = {group: sum(each.group == group for each in lines) for group in most}
    kept = [each for group in most for each in [line for line in lines if line.group == group][: most[group]]]
    if counts["declared"] > _MOST_HELPS and most is _MOST_DECLARED:
        kept = [*kept[:_MOST_HELPS], *(_without_help(each) for each in kept[_MOST_HELPS:])]
    asks_tests = most is _MOST_TESTS
    if asks_tests:
        kept = await _with_functions(reader, kept, where.project or reader.project)
    said = ", ".join(f"{group} in {counted(count, 'place')}" for group, count in counts.items() if count)
    none = "" if counts["tests"] or not asks_tests else ", in no test"
    return LineReport("flags", f"flag `--{name}`: {said}{none}", tuple(kept), scan.notes)


def _line(each: TextMatch) -> TextLine:
    return TextLine(_group(each), each.place, help_of(each))


def _without_help(line: TextLine) -> TextLine:
    return replace(line, text="") if line.group == "declared" else line


def _once(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return the lines without those that follow another one of their group: both parts of one declaration."""
    kept: list[TextLine] = []
    places: set[tuple[str, str]] = set()
    for each in lines:
        path, _, number = each.place.rpartition(":")
        before = {(each.group, f"{path}:{int(number) + step}") for step in (-1, 1)}
        if each.group != "declared" or places.isdisjoint(before):
            kept.append(each)
            places.add((each.group, each.place))
    return kept


async def _with_functions(reader: Reader, lines: Sequence[TextLine], project: str) -> list[TextLine]:
    """Return the lines of tests with the function around each in place of the lines behind it."""
    named: list[NameLine] = []
    for each in lines:
        path, _, number = each.place.rpartition(":")
        named.append(NameLine(path, int(number), each.text, sets=False))
    found = await with_symbols(reader, named, project)
    return [
        replace(each, text=f"{at.inside.row.name}: {each.text[:SHORT]}")
        if at.inside and each.group == "tests"
        else each
        for each, at in zip(lines, found, strict=True)
    ]


SHORT = 60
"""Characters of a line that are shown beside the name of its function."""
_MOST = {"declared": 6, "documented": 6, "used": 4, "tests": 2}
"""Lines of each group that are worth their tokens, in the order in which they are shown."""
_MOST_TESTS = {"tests": 12, "declared": 1, "documented": 0, "used": 0}
_MOST_DECLARED = {"declared": 24, "documented": 2, "used": 0, "tests": 0}
_MOST_HELPS = 3
"""Declarations that are shown with their help where all places are asked for: the helps of one flag are alike."""


def _group(found: TextMatch) -> str:
    if found.file.is_document:
        return "documented"
    if found.file.is_test:
        return "tests"
    text = found.text.strip()
    before = " ".join(found.file.lines[max(0, found.line - 3) : found.line])
    is_quoted = (
        not _ASIDE.search(found.file.path)
        and re.match(r"[\"'`(\[]", text) is not None
        and text.startswith(('"-', "'-", "`-"))
    )
    if text.startswith(("#", "//", "*", "///")) and not text.startswith("#["):
        return "used"
    if found.match["field"]:
        return "declared"
    if not found.match["dashed"] and not _ASIDE.search(found.file.path):
        return "declared"  # by a call that has the name without dashes: `BoolVarP(&opts.DryRun, "dry-run", "n", ...)`
    if _ASIDE.search(found.file.path):
        return "declared" if _ADDS.search(f"{before} {text}") else "used"
    return "declared" if _DECLARES.search(text) or (is_quoted and _DECLARES.search(before)) else "used"


def help_of(found: TextMatch) -> str:
    """Return the line with those behind it, which hold the help of a flag."""
    if found.file.is_document:
        return shown(found.text)
    if found.match.groupdict().get("field"):
        return shown(" ".join((*_attribute(found), found.text)))
    end = found.file.line_at(found.match.end() - 1)
    following = (line.strip() for line in found.file.lines[end : end + 6])
    text = " ".join([*(line.strip() for line in found.file.lines[found.line - 1 : end]), *following])
    return shown(re.sub(r"\s+", " ", text))


async def declarations(reader: Reader, where: Filter) -> tuple[tuple[str, ...], list[tuple[str, TextMatch]]]:
    """Return what was not read, and the declarations of flags outside tests with the name of each."""
    scan = await _declared(reader, where)
    return scan.notes, [(_name(each), each) for each in _of_code(scan)]


async def _declared(reader: Reader, where: Filter) -> TextScan:
    needles = (b"--", b"long", b"arg", b"flag", b"option", b"string", b"bool", b"int", b"var", b'add("')
    return await scan_texts(reader, where, _LISTED, needles, lambda path: not is_document(path), is_constant=True)


def _of_code(scan: TextScan) -> list[TextMatch]:
    comment = ("#", "//", "*")
    return [each for each in scan.found if not each.file.is_test and not each.text.strip().startswith(comment)]


async def _listed(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    scan = await _declared(reader, where)
    code = _of_code(scan)
    words = topic_words(query.text)
    about = [each for each in code if mentions(each.file.path, words)] if words else []
    kept = about if 0 < len(about) < len(code) else code
    if not kept:
        return None
    lines = [TextLine("flags", path, said) for path, said in _by_file(kept)]
    count = len({(_name(each), each.file.path) for each in kept})
    scope = (
        f" (in paths about {', '.join(words)}: {len(about)} of {counted(len(code), 'declaration')})"
        if kept is about
        else ""
    )
    title = f"{counted(count, 'flag')} declared in {counted(len(lines), 'file')}{scope}"
    return LineReport("flags", title, tuple(lines), scan.notes)


def _by_file(found: Iterable[TextMatch]) -> Iterable[tuple[str, str]]:
    by_path: dict[str, dict[str, int]] = {}
    for each in found:
        by_path.setdefault(each.file.path, {}).setdefault(_name(each), each.line)
    for path, flags in sorted(by_path.items(), key=lambda item: -len(item[1])):
        yield path, ", ".join(f"--{name} :{line}" for name, line in flags.items())


def _name(found: TextMatch) -> str:
    return next(name for name in found.match.groupdict().values() if name)
