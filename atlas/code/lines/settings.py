"""Settings: the default of a name and where it is read, from assignments in the indexed texts.

A name may be written in plain words (`max redirects`): it is any spelling of them (`max_redirects`, `maxRedirects`). An
assignment is a default if its value is a literal, or if the line says "default".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import TextMatch, TextScan, is_aside, scan_patterns, with_rest
from atlas.code.question.cues import asks
from atlas.code.question.parse_question import Query, asks_for_page
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_OF = (
    r"(?:of|for|is|does|to|value|the|a|an|setting|option|config(?:uration)?|key|parameter|field|named"
    r"|called|property|in)"
)
_ASKS = (
    rf"\bdefault(?:s|ed)?(?: value)?(?: {_OF})*\s+(?P<plain>[`\"']?[\w.-]+[`\"']?(?: [a-z]\w+){{0,2}})",
    r"(?P<plain>(?:[a-z]\w+ ){0,2}[`\"']?[\w.-]+[`\"']?)(?:'s)? (?:by )?default(?:s| value| to)?\b",
    r"\b(?:setting|config(?:uration)? (?:key|option|value|setting|field)|option|config)s? (?:named |called )?"
    r"(?P<named>[`\"']?\w+[\w.-]*[`\"']?)",
    r"(?P<named>[`\"']?\w+[\w.-]*[`\"']?) (?:setting|config(?:uration)? (?:key|option|value)|option)\b",
)
_NOT_NAMES = frozenset(
    """what is the a an of does do are which where and or it this that value values default defaults set read used here
    how to by in on for file files key keys option options setting settings config configuration i we you use change
    are its their his her our my your there then so they them these those""".split()  # noqa: SIM905
)
_VERBS = frozenset(("read", "set", "use", "change"))
"""Parts of a name where a word of the name follows: `read timeout`, `set size`; elsewhere they ask."""
_LITERAL = lazy_regex(
    r"""\s*(?:[-+]?\.?\d[\w.]*|["'`].*|true\b|false\b|null\b|nil\b|none\b|undefined\b|\[|\{|\(\)|:\w|(?-i:[A-Z])[\w.:]*[({\[]|\w+(?:(?:\.|::)\w+)*\((?:\)|[\s*]*\d)|(?-i:[A-Z][A-Z0-9_]{2,}\b))""",
    re.IGNORECASE,
)
_TYPE_ONLY = lazy_regex(
    r"(?:str|int|bool|float|string|number|boolean|any|list|dict|object|Option<\w+>|typing\.\w+)\W*$", re.I
)
_STARTS = lazy_regex(
    r"(?:the )?(?:default(?:s|ed)?|setting|option|config\w*)\b|\S+ (?:default|setting|option)\b", re.IGNORECASE
)
"""A question without a verb: `default of max_redirects`."""
_EXPLAINS = lazy_regex(r"(?:how|why|explain|what happens)\b", re.IGNORECASE)
"""A question for how something works, whatever it says about defaults."""
MAX_LINES = 6
_OF_TYPES = frozenset((Kind.OVERRIDES, Kind.OVERRIDDEN, Kind.SUBTYPES, Kind.SUPERTYPES))


async def answer_settings(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer a question about the default of a setting or where it is read; None for other questions."""
    if query.states or query.reports or len(query.text.split()) > 20 or _EXPLAINS.match(query.text):
        return None
    if asks_for_page(query.text) or (query.relation is not None and query.relation.kind in _OF_TYPES):
        return None  # `a default f(): which classes override it` has a default, and asks for no value
    if not asks(query.text) and not _STARTS.match(query.text):
        return None
    candidates = [each for each in _candidates(query) if not _is_owner(query, each.words)]
    for some in (candidates[:1], candidates[1:]):  # the likeliest often answers; the others share one pass
        scans = await _occurrences(reader, [each.words for each in some], where)
        for asked, scan in zip(some, scans, strict=True):
            report = await _of_name(reader, asked, scan, where)
            if report is not None:
                return report
    return None


def _is_owner(query: Query, words: Sequence[str]) -> bool:
    """Return whether a name is a class whose member is asked for in plain words: `connect timeout of OkHttpClient`."""
    if len(words) != 1 or not (words[0][0].isupper() and words[0].isalnum() and not words[0].isupper()):
        return False
    rest = [word for word in re.findall(r"[A-Za-z]\w+", query.text) if word != words[0]]
    return any(word.lower() not in _NOT_NAMES and word.lower() not in STOP_WORDS for word in rest)


async def _of_name(reader: Reader, asked: _AskedSetting, scan: TextScan, where: Filter) -> LineReport | None:
    found = scan.found
    if asked.is_certain and not any(_group(each) == "default" for each in found):
        # `worker_timeout` is the key `timeout` of a group `worker`
        inner = re.split(r"[-_.]", asked.words[0], maxsplit=1)[-1]
        if re.search(r"[-_.]", inner):
            (further,) = await _occurrences(reader, [(inner,)], where)
            found += tuple(each for each in further.found if _group(each) == "default")
    return _report(" ".join(asked.words), found, scan.notes, is_certain=asked.is_certain)


async def _occurrences(reader: Reader, names: Sequence[Sequence[str]], where: Filter) -> list[TextScan]:
    asked = [(_spellings(words), [max(words, key=len).encode()]) for words in names]
    return await scan_patterns(reader, where, asked) if asked else []


def _spellings(words: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of a name in any spelling, with or without `default` or `config`, and the rest of its line."""
    spelled = r"[-_. ]?".join(map(re.escape, words))
    return re.compile(
        rf"(?<![\w$])(?P<name>(?:default[-_]?)?{spelled}(?:[-_]?(?:default|config))?)(?![\w$])(?P<after>[^\n]*)",
        re.IGNORECASE,
    )


@dataclass(frozen=True, slots=True)
class _AskedSetting:
    """A name that a question may mean, as words."""

    words: tuple[str, ...]
    is_certain: bool = False
    """It has the form of a name of code, and the question asks for its default."""


def _candidates(query: Query) -> list[_AskedSetting]:
    """Return the names that a question may mean, the likeliest first."""
    found: list[_AskedSetting] = []
    for match in (match for each in _ASKS for match in re.finditer(each, query.text, re.IGNORECASE)):
        is_plain = "plain" in match.groupdict()
        words = [word.strip("`\"'") for word in match[1].split()]
        words = [
            word
            for word, after in pairwise((*words, ""))
            if word.lower() not in _NOT_NAMES or (word.lower() in _VERBS and after.lower() not in (*_NOT_NAMES, ""))
        ]
        code = [word.rpartition(".")[2] for word in words if re.search(r"_|\w\.\w|[a-z][A-Z]|-", word)]
        names = [_AskedSetting((name,), is_plain and "-" not in name) for name in code]
        names = names or (
            [_AskedSetting(tuple(words[-3:])), _AskedSetting(tuple(words[:2]))] if is_plain and words else []
        )
        found += [name for name in names if name not in found and len("".join(name.words)) > 2]
    if found and query.names:
        known = {each.words: each for each in found}
        written = [(name.rpartition(".")[2],) for name in query.names]
        found = [*(known.get(name, _AskedSetting(name)) for name in written), *found]
    return list(dict.fromkeys(found))[:4]


async def lines_of_defaults(reader: Reader, name: str, where: Filter) -> list[TextLine]:
    """Return the lines that give a name its value in a block of defaults of the code: `const defaults = {`."""
    (scan,) = await _occurrences(reader, [(name,)], where)
    code = [each for each in scan.found if not (each.file.is_document or is_aside(each.file.path))]
    given = [each for each in code if _group(each) == "default" and _is_of_defaults(each)]
    return _distinct("default", given, MOST_DEFAULTS)


def _report(name: str, found: tuple[TextMatch, ...], notes: tuple[str, ...], *, is_certain: bool) -> LineReport | None:
    """Return what the lines with a name say; None for a name that may be English, and has no value."""
    lines = [(_group(each), each) for each in found]
    defaults = [each for group, each in lines if group == "default"]
    if not defaults and not is_certain:
        return None
    defaults.sort(key=_rank)
    uses = [each for group, each in lines if group == "used"]
    documents = [each for group, each in lines if group == "documented"]
    said = [
        *_distinct("default", defaults, MAX_LINES),
        *_distinct("used", uses, MAX_LINES),
        *_distinct("documented", documents, 3),
    ]
    if not said:
        return None
    values = (
        f"{counted(len(defaults), 'assignment')} of a value"
        if defaults
        else "no assignment of a value found, so no default is known"
    )
    title = f"`{name}`: {values}, {counted(len(uses), 'other line')} of code"
    return LineReport("settings", title, tuple(said), notes)


def _rank(each: TextMatch) -> tuple[bool, ...]:
    """Return the order of defaults: code, a name or a block of defaults, a value rather than another name."""
    is_named = each.match["name"].lower().startswith("default")
    is_value = re.match(
        r"[^\n]*?[=:>]\s*(?:[-+]?\.?\d|[\"'`]|(?:true|false|none|null|nil)\b)", each.match["after"], re.I
    )
    return (
        is_aside(each.file.path),
        each.file.is_document,
        not is_named,
        not _is_of_defaults(each),
        is_value is None or _RESETS.match(each.match["after"]) is not None,
        "default" not in _around(each).lower(),
    )


def _is_of_defaults(each: TextMatch) -> bool:
    """Return whether a line stands in a block of defaults: `DefaultConfig = Config{`, `const DEFAULTS = {`."""
    depth = len(each.text) - len(each.text.lstrip())
    for line in reversed(each.file.lines[max(0, each.line - 1 - LINES_OF_BLOCK) : each.line - 1]):
        if line.strip() and len(line) - len(line.lstrip()) < depth:
            return "default" in line.lower()
    return False


def _distinct(group: str, places: list[TextMatch], most: int) -> list[TextLine]:
    """Return the first lines of different texts, equal ones counted."""
    by_text: dict[str, list[str]] = {}
    for each in places:
        by_text.setdefault(shown(_said(each)), []).append(each.place)
    return [
        TextLine(group, found[0], text + (f" (and {counted(more, 'more such line')})" if more else ""))
        for text, found in list(by_text.items())[:most]
        for more in (len(found) - 1,)
    ]


def _said(each: TextMatch) -> str:
    """Return a line; of a document with the one below that says the default."""
    below = _told_below(each) if each.file.is_document else ""
    if below:
        return f"{each.text.strip()} ... {below.strip()}"
    return with_rest(each) if each.file.is_document and _PROSE.match(each.text) else each.text


def _told_below(each: TextMatch) -> str:
    """Return the line that says the default in the entry of a document that begins with a name; "" for others."""
    at = each.text.find(each.match["name"])
    if not _ENTRY.fullmatch(each.text[:at]) or _CHANGES.search(each.file.path) or each.match["after"][:1].isspace():
        return ""
    if _SAMPLE.match(each.match["after"]):
        return ""
    for line in each.file.lines[each.line : each.line + LINES_BELOW]:
        if re.match(r"#|=+$|-{3,}$", line) or (_ENTRY.match(line) and line.lstrip().startswith(("- `", "* `"))):
            return ""
        if re.search(r"\bdefault(?:ed)?\b|\bdefaults to\b", line, re.IGNORECASE):
            return line
    return ""


_CHANGES = lazy_regex(r"(?:^|/)(?:changes?|changelog|history|news|releases?|upgrad\w*)\b", re.IGNORECASE)
_PROSE = lazy_regex(r"\s{0,3}(?:[-*] )?[`\"']?[A-Z]")
"""A sentence begins here: what is said of a name may stand in the next line."""
_RESETS = lazy_regex(r"\s*:?=\s*(?:0|nil|null|None|undefined)\b\s*(?:;\s*)?$")
"""What sets a name back: `config.timeout = 0`."""
LINES_OF_BLOCK, MOST_DEFAULTS = 60, 2
LINES_BELOW = 8
"""Lines of an entry of a document in which its default is looked for."""
_SAMPLE = lazy_regex(r"[\"'`]?\]?\s*(?:=>|=(?!=))")
"""A line of code that a document shows gives a value, and is no entry: `'timeout' => 2.0,`."""
_ENTRY = lazy_regex(r"\s*(?:#+|[-*]|\d+\.|\.\. \w+::|:\w+:)?\s*[`*\"'(]*(?:--?)?")
"""What stands before the name that an entry of a document explains."""
_FALLBACK = lazy_regex(
    r"[\"'`]?[\])]?\s*(?:(?:\?\?|\|\||\?:|\bor\b)=?\s*|\.(?:unwrap_or|getOrElse|orElse|get_or_insert)\(\s*"
    r"|(?<=[\"'`]),\s*)(?:[-+]?\.?\d|[\"'`]|(?:true|false|null|nil|none)\b|\[\]|\{\}|(?-i:[A-Z][A-Z0-9_]{2,}\b))",
    re.IGNORECASE,
)
"""What stands behind a name that gets a value if it has none: `?? "main"`, `.unwrap_or(8)`, `", 80)`."""


_SET_CALL = lazy_regex(r"\b(?:set|set_?default|add_?option|store)\s?\(?\s?[:\"'`]$", re.IGNORECASE)
_SWITCH = lazy_regex(r"\b(?:enable|disable)d?\s?\(?\s?(?::\w+,\s*)*[:\"'`]$")
"""Calls that give a named setting a value: `set :port, 80`, `enable :sessions`."""


def _around(each: TextMatch) -> str:
    return f"{each.file.path} {' '.join(each.file.lines[max(0, each.line - 25) : each.line])}"


def _group(each: TextMatch) -> str:
    """Return whether a line assigns a value, uses the name, documents it, or is of no interest."""
    if each.file.is_test:
        return "tests"
    text = each.text.strip()
    if each.file.is_document:
        says = re.search(r":default:|\bdefaults? (?:to|is|value)", each.match["after"], re.I)
        return "default" if says or _told_below(each) else "documented"
    if text.startswith(("#", "//", "*", "/*", "--", ";;")):
        return "documented"
    after = each.match["after"]
    before = each.text[: each.text.find(each.match["name"])]
    if _FALLBACK.match(after) or (_SET_CALL.search(before) and after[:3].strip("\"'`) ")) or _SWITCH.search(before):
        return "default"
    value = re.match(
        r"[\"'`]?\]?(?!::)\s*(?:\??\s*:\s*(?P<type>[^=,()\n]{1,60}?))?\s*(?:=>|:=|\|\|=|=(?!=|>)|:(?!:))\s*(?P<value>\S.*)",
        after,
    )
    if value is None:
        return "used"
    is_named = value["value"].lstrip("\"'`").lower().startswith(each.match["name"].lower())
    if is_named or not _LITERAL.match(value["value"]) or (not value["type"] and _TYPE_ONLY.match(value["value"])):
        return "used"
    return "default"
