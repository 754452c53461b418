"""Settings: the default of a name and where it is read, from assignments in the indexed texts.

A name may be written in plain words (`max redirects`): it is any spelling of them (`max_redirects`, `maxRedirects`). An
assignment is a default if its value is a literal, or if the line says "default".
"""

from __future__ import annotations

import re

from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import TextMatch, is_aside, scan_texts
from atlas.code.question.cues import asks
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.model import Filter
from atlas.core.wording import counted

_OF = (
    r"(?:of|for|is|does|to|value|the|a|an|setting|option|config(?:uration)?|key|parameter|field|named"
    r"|called|property|in|on)"
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
    are""".split()  # noqa: SIM905
)
_LITERAL = re.compile(
    r"""\s*(?:[-+]?\.?\d[\w.]*|["'`].*|true\b|false\b|null\b|nil\b|none\b|undefined\b|\[|\{|\(\)|:\w|[A-Z][\w.:]*[({\[]|\w+(?:\.\w+)*\(\)|[A-Z_]{3,})""",
    re.IGNORECASE,
)
_TYPE_ONLY = re.compile(
    r"(?:str|int|bool|float|string|number|boolean|any|list|dict|object|Option<\w+>|typing\.\w+)\W*$", re.I
)
_STARTS = re.compile(
    r"(?:the )?(?:default(?:s|ed)?|setting|option|config\w*)\b|\S+ (?:default|setting|option)\b", re.IGNORECASE
)
"""A question without a verb: `default of max_redirects`."""
_EXPLAINS = re.compile(r"(?:how|why|explain|what happens)\b", re.IGNORECASE)
"""A question for how something works, whatever it says about defaults."""
MAX_LINES = 6


async def answer_settings(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer a question about the default of a setting or where it is read; None for other questions."""
    if query.states or query.reports or len(query.text.split()) > 20 or _EXPLAINS.match(query.text):
        return None
    if not asks(query.text) and not _STARTS.match(query.text):
        return None
    for words in _candidates(query):
        spelled = r"[-_. ]?".join(map(re.escape, words))
        pattern = re.compile(
            rf"(?<![\w$])(?P<name>(?:default[-_]?)?{spelled}(?:[-_]?(?:default|config))?)(?![\w$])(?P<after>[^\n]*)",
            re.IGNORECASE,
        )
        scan = await scan_texts(reader, where, pattern, [max(words, key=len).encode()])
        report = _report(" ".join(words), scan.found, scan.notes)
        if report is not None:
            return report
    return None


def _candidates(query: Query) -> list[list[str]]:
    """Return the names that a question may mean, as words, the likeliest first."""
    found: list[list[str]] = []
    for match in (match for each in _ASKS for match in re.finditer(each, query.text, re.IGNORECASE)):
        is_plain = "plain" in match.groupdict()
        words = [word.strip("`\"'") for word in match[1].split()]
        words = [word for word in words if word.lower() not in _NOT_NAMES]
        code = [[word.rpartition(".")[2]] for word in words if re.search(r"_|\w\.\w|[a-z][A-Z]|-", word)]
        names = code or ([words[-3:], words[:2]] if is_plain and words else [])
        found += [name for name in names if name not in found and len("".join(name)) > 2]
    if found and query.names:
        found = [[name.rpartition(".")[2]] for name in query.names] + found
    return found[:4]


def _report(name: str, found: tuple[TextMatch, ...], notes: tuple[str, ...]) -> LineReport | None:
    lines = [(_group(each), each) for each in found]
    defaults = [each for group, each in lines if group == "default"]
    if not defaults:
        return None
    defaults.sort(key=_rank)
    uses = [each for group, each in lines if group == "used"]
    documents = [each for group, each in lines if group == "documented"]
    said = [
        *_distinct("default", defaults, MAX_LINES),
        *_distinct("used", uses, MAX_LINES),
        *_distinct("documented", documents, 3),
    ]
    title = f"`{name}`: {counted(len(defaults), 'assignment')} of a value, {counted(len(uses), 'other line')} of code"
    return LineReport("settings", title, tuple(said), notes)


def _rank(each: TextMatch) -> tuple[bool, bool, bool, bool, bool]:
    """Return the order of defaults: code, a name or line of defaults, a value rather than another name."""
    is_named = each.match["name"].lower().startswith("default")
    is_value = re.match(
        r"[^\n]*?[=:>]\s*(?:[-+]?\.?\d|[\"'`]|(?:true|false|none|null|nil)\b)", each.match["after"], re.I
    )
    return (
        is_aside(each.file.path),
        each.file.is_document,
        not is_named,
        is_value is None,
        "default" not in _around(each).lower(),
    )


def _distinct(group: str, places: list[TextMatch], most: int) -> list[TextLine]:
    """Return the first lines of different texts, equal ones counted."""
    by_text: dict[str, list[str]] = {}
    for each in places:
        by_text.setdefault(shown(each.text), []).append(each.place)
    return [
        TextLine(group, found[0], text + (f" (and {len(found) - 1} more such lines)" if len(found) > 1 else ""))
        for text, found in list(by_text.items())[:most]
    ]


def _around(each: TextMatch) -> str:
    return f"{each.file.path} {' '.join(each.file.lines[max(0, each.line - 25) : each.line])}"


def _group(each: TextMatch) -> str:
    """Return whether a line assigns a value, uses the name, documents it, or is of no interest."""
    if each.file.is_test:
        return "tests"
    text = each.text.strip()
    if each.file.is_document:
        return (
            "default"
            if re.search(r":default:|\bdefaults? (?:to|is|value)", each.match["after"], re.I)
            else "documented"
        )
    if text.startswith(("#", "//", "*", "/*", "--", ";;")):
        return "documented"
    after = each.match["after"]
    value = re.match(
        r"[\"'`]?\]?\s*(?:\??\s*:\s*(?P<type>[^=,()\n]{1,60}?))?\s*(?:=>|:=|\|\|=|=(?!=|>)|:(?!:))\s*(?P<value>\S.*)",
        after,
    )
    if value is None:
        return "used"
    is_named = value["value"].lstrip("\"'`").lower().startswith(each.match["name"].lower())
    if is_named or not _LITERAL.match(value["value"]) or (not value["type"] and _TYPE_ONLY.match(value["value"])):
        return "used"
    return "default"
