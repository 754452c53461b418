"""Values that a question asks for in plain words: `how many times is a failed task retried`, `what port by default`.

The lines of code that give a name a literal value are compared with the words of the question: the parts of the name
count most, then the comment above it and the definition around it, then the path. Reads the indexed texts only.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.lines.line_report import shown
from atlas.code.lines.scan_texts import (
    LINES_AROUND,
    IndexedText,
    TextMatch,
    definitions_around,
    is_aside,
    is_document,
    scan_texts,
)
from atlas.code.question.parse_question import Query, asks_for_page
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MOST_WORDS = 20
MOST_VALUES = 3
ENOUGH = 0.5
"""Share of a question that a value has at least."""
NEAR = 0.8
"""Share of the best score that further values have."""
LINES_ABOVE = 3
LINES_OF_HEAD = 4
"""Lines of a definition that name and explain it."""
FLAG_LINES = 9
MAX_LINE = 400
MIN_NEEDLE = 3
_ASKS = lazy_regex(
    r"\bdefaults?\b|\bhow (?:long|many|much|often|big|large|deep|far|fast|soon)\b|\b(?:max(?:imum)?|min(?:imum)?)\b"
    r"|\bat (?:most|least)\b|\b(?:time-?outs?|thresholds?|limits?|ttl|expir\w+)\b"
    r"|\b(?:if|when) (?:i|we|you|nothing|none|not)\b.*\b(?:set|given|pass(?:ed)?|specif\w+|configured|provided)\b"
    r"|\bout of the box\b",
    re.IGNORECASE,
)
_OTHER = lazy_regex(
    r"^(?:how (?:many|often) (?!times\b)(?:\w+ ){0,3}"
    r"(?:are there|there are|is there|call|use|import|extend|implement|override|exist|does .* have)|why|explain)\b"
    r"|\b(?:callers?|commits?|authors?|dependenc\w+|versions?|exports?|imports?)\b",
    re.IGNORECASE,
)
_UNITS: tuple[tuple[str, str], ...] = (
    (
        r"\bhow long\b|\bexpir\w+|\btime-?outs?\b",
        "timeout ttl age expire lifetime duration interval delay period limit seconds",
    ),
    (r"\bretr(?:y|ies|ied)\b|\bgiv\w+ up\b|\battempts?\b|\btries\b", "max tries retries retry attempts"),
    (r"\bhow often\b", "interval period frequency delay every"),
    (r"\bhow (?:many|much)\b|\bnumber of\b", "max min count number limit size attempts times amount total"),
    (r"\bhow (?:big|large|deep|far)\b", "max size limit length bytes depth width height"),
    (r"\b(?:max(?:imum)?|at most|up to|largest|longest)\b", "max maximum limit"),
    (r"\b(?:min(?:imum)?|at least|smallest|shortest)\b", "min minimum"),
)
"""What a question for an amount may be called, which counts as one word."""
_AMOUNT = lazy_regex(r"\bhow (?:long|often|many|much|big|large|deep|far)\b|\bnumber of\b", re.IGNORECASE)
_HEAD = lazy_regex(
    r"\bdefault (?:[\w-]+ ){0,3}?([\w-]+)(?= (?:of|for|in|on|when|if|used|is|does)\b|[?.]|$)", re.IGNORECASE
)
"""The noun whose value is asked for: `port` of `default port of the server`."""
_SAID = frozenset(
    """
    default defaults defaulted value values what which how many much long often big large deep far fast soon if none
    nothing set sets setting settings given give gives pass passed specify specified configure configured provide
    provided option options config configuration parameter use used uses using take takes before after until maximum
    minimum max min most least at up number amount of times time timeout timeouts limit limits threshold expire expires
    one someone user get gets project code library does not without any by out box it me tell show find there normally
    allowed permitted line file place placed located location lives live initially usually us per between being its
    you've i'm fall falls back
    """.split()  # noqa: SIM905
)
_NUMBER = r"[-+]?\.?\d[\w.]*(?:\s*[*/+<-]{1,2}\s*[\w.()]+)*"
_VALUE = (
    rf"(?:{_NUMBER}|[\"'`][^\n]*|(?:true|false|True|False|nil|null|None)\b|:[a-z]\w*|\[|\{{|[A-Z]\w*(?:::|\.)[\w.:]+"
    rf"|\w+(?:(?:\.|::)\w+)*\([^\n]*|[A-Z][A-Z0-9_]{{2,}}\b)"
)
_NAMES = {
    "name": r"[A-Za-z_$][\w$]*",
    "set": r"\w+",
    "macro": r"\w+",
    "either": r"[A-Za-z_]\w*",
    "method": r"[a-z_]\w*",
}


def _assigned_by(names: Mapping[str, str]) -> str:
    """Return the pattern of what gives a name a value, given those of the names by kind."""
    return (
        rf"(?<![\w$.])(?:this\.|self\.|@)?(?P<name>{names['name']})"
        rf"[\"'`]?\]?(?!::)(?:\s*:\s*&?(?:'\w+\s)?[A-Za-z_][\w.\[\]<>,|? ]{{0,40}}?)?\s?"
        rf"(?::=|\?\?=|\|\|=|=(?![=>~])|=>|:(?!:))\s*(?P<value>{_VALUE})"
        rf"|\bset\s?[( ]?:(?P<set>{names['set']}),\s*(?P<set_value>[^\n]+)"
        rf"|#\s*define\s+(?P<macro>{names['macro']})\s+(?P<macro_value>{_VALUE})"
        rf"|\(\s*[\"'`](?P<keyed>[A-Za-z_][\w. -]{{0,60}})[\"'`],[ \t]*"
        rf"(?P<keyed_value>{_NUMBER}|[\"'`]|true\b|false\b|True\b|False\b)"
        rf"|[(,]\s?\"(?P<declared>[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*)\",\s?(?:\"\w?\",\s?)?"
        rf"(?P<declared_value>\"[^\"\n]*\"|{_NUMBER}|true\b|false\b),\s?\"(?=[^\"\n]*\"\))"
        rf"|\b(?P<either>{names['either']})\s*(?:\|\||\?\?|\?:)\s*(?P<either_value>{_NUMBER}|[\"'`][^\n]*)"
        rf"|\bdef (?P<method>{names['method']})\s*\n\s*(?P<method_value>{_NUMBER}|[\"'])"
    )


_FLAG = lazy_regex(
    r"(?<![\w-])--(?P<flag>[a-z][\w-]*[a-z0-9])|\b(?:long|Arg::new)\s*(?:=\s*|\()\s*\"(?P<long>[a-z][\w-]*)\""
)
_GIVES_VALUE = lazy_regex(f"{_assigned_by(_NAMES)}|{_FLAG.pattern}")
_FLAG_DEFAULT = lazy_regex(r"\bdefault(?:_value(?:_t)?)?\s*[=(:]\s*(?P<value>[^\n]+)")
_COMMENT = ("#", "//", "*", "/*", "--", '"""', "'''")


@dataclass(frozen=True, slots=True)
class PlainValue:
    """A line that gives a name a value."""

    path: str
    line: int
    inside: str
    """The definitions around it, outermost first, separated by dots; "" at the top of a file."""
    text: str


@dataclass(frozen=True, slots=True)
class _GivenValue:
    file: IndexedText
    line: int
    name: frozenset[str]
    """Roots of the parts of the name."""
    parts: int
    value: str
    near: frozenset[str]
    """Roots of the words of the line itself, the comment above, and the definitions around with their documentation."""
    path: frozenset[str]
    inside: str
    text: str


async def find_plain_values(reader: Reader, query: Query, where: Filter) -> tuple[PlainValue, ...]:
    """Return the lines whose value a question may ask for, the likeliest first. Raises store errors.

    () for a question that asks for no value, and where no value has most of its words.
    """
    text = query.text
    if query.reports or query.states or query.phrases or len(text.split()) > MOST_WORDS:
        return ()
    if not _ASKS.search(text) or _OTHER.search(text) or asks_for_page(text):
        return ()
    words = _asked(text, reader.split_words)
    if not words:
        return ()
    units = frozenset(root_of(word) for said, names in _UNITS if re.search(said, text, re.I) for word in names.split())
    found = await _values(reader, where, words, units)
    if _AMOUNT.search(text):
        found = [each for each in found if re.search(r"\d", each.value) or "Duration" in each.value]
    match = _HEAD.search(text)
    head = root_of(match[1].lower()) if match is not None else ""
    return _ranked(found, words, units, head if head in words else "")


def _asked(text: str, split_words: Callable[[str], list[str]]) -> dict[str, str]:
    """Return the words that say whose value is asked for, by their roots."""
    plain = (word for word in split_words(text) if len(word) > 2 and not word.isdigit())
    return {root_of(word): word for word in plain if word not in STOP_WORDS and word not in _SAID}


async def _values(reader: Reader, where: Filter, words: dict[str, str], units: Collection[str]) -> list[_GivenValue]:
    needles = [root.encode() for root in words]
    amounts = [name.encode() for name in units if len(name) >= MIN_NEEDLE]

    code, narrowed = replace(where, include_tests=False), narrowed_to({*words, *units})
    scan = await scan_texts(
        reader, code, _GIVES_VALUE, (*needles, *amounts), _is_code, narrowed=narrowed, having=[*words]
    )
    roots, found = _Roots(reader.split_words), list[_GivenValue]()
    for each in scan.found:
        if flag := each.match["flag"] or each.match["long"]:
            found += _of_flag(roots, each, flag)
            continue
        kind, name = _named(each.match)
        parts = roots.kept(name)
        if not parts.isdisjoint(words) or not parts.isdisjoint(units):
            value = _value_of(each.match, kind)
            if _is_value(name, value, each):
                text = f"{each.text} ... {value}" if each.match["method"] else each.text
                found.append(_read(roots, each, name, value, text))
    return found


class _Roots:
    """Roots of the words of texts."""

    def __init__(self, split_words: Callable[[str], list[str]]) -> None:
        self.split_words = split_words
        self._kept: dict[str, frozenset[str]] = {}

    def of(self, text: str) -> frozenset[str]:
        """Return the roots of a text."""
        return frozenset(map(root_of, self.split_words(text)))

    def kept(self, text: str) -> frozenset[str]:
        """Return the roots of a name or path, which many values have."""
        if text not in self._kept:
            self._kept[text] = self.of(text)
        return self._kept[text]


def narrowed_to(roots: Collection[str]) -> str:
    """Return an expression for the lines that give a value to a name with one of the roots, and for flags.

    A root is the beginning of each of its words: names without one need not be split and compared.
    """
    part = rf"[\w$]*(?:{'|'.join(sorted(map(re.escape, roots)))})[\w$]*"
    return f"(?i:{_assigned_by(dict.fromkeys(_NAMES, part))}|{_FLAG.pattern})"


def _of_flag(roots: _Roots, each: TextMatch, name: str) -> Iterator[_GivenValue]:
    """Yield the default that a flag is declared with, in the lines behind its name."""
    behind = "\n".join(each.file.lines[each.line - 1 : each.line + FLAG_LINES])
    after = behind[behind.find(each.match[0]) + len(each.match[0]) :]
    following = _FLAG.search(after)
    default = _FLAG_DEFAULT.search(after[: following.start() if following else len(after)])
    if default is not None:
        text = f"{each.text.strip()} ... {default[0].strip()}"
        yield _read(roots, each, name, default["value"], text, behind)


def _is_code(path: str) -> bool:
    return not is_document(path) and not path.startswith(".") and not path.endswith((".lock", ".svg", ".css", ".json"))


def _named(match: re.Match[str]) -> tuple[str, str]:
    """Return how a name is given a value, a key of `_VALUE_GROUPS`, and the name; "" for none."""
    return next(((kind, match[kind]) for kind in _VALUE_GROUPS if match[kind]), ("", ""))


def _value_of(match: re.Match[str], kind: str) -> str:
    value: str = (match[_VALUE_GROUPS[kind]] if kind else "") or ""
    return value if kind == "set" else value[: _end_of(value)]


_VALUE_GROUPS = {
    "name": "value",
    **{kind: f"{kind}_value" for kind in ("set", "macro", "declared", "keyed", "either", "method")},
}
"""The groups of `_GIVES_VALUE` with a name, and those with its value."""


def _is_value(name: str, value: str, each: TextMatch) -> bool:
    text = each.text.lstrip()
    if text.startswith(_COMMENT) and not text.startswith(("#define", "# define")):
        return False
    if re.match(r"(?:use|import|from|using|return|if|elif|assert|raise|throw|case|when|while)\b", text):
        return False
    if each.match["set"]:
        return not re.fullmatch(r"[a-z_]\w*\)?", value.strip())
    return value.strip("\"'`&").lower() != name.lower() and _is_constant(value)


def _end_of(value: str) -> int:
    """Return where a value ends: at a comma or bracket that it does not open, or with its line."""
    depth, quote = 0, ""
    for at, character in enumerate(value[:MAX_LINE]):
        if character == "\n":
            return at
        if quote or character in "\"'`":
            quote = "" if character == quote else quote or character
            continue
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or (depth == 0 and character in ",;"):
            return at
    return len(value)


def _read(roots: _Roots, each: TextMatch, name: str, value: str, text: str, told: str = "") -> _GivenValue:
    lines = each.file.lines
    above = [line for line in lines[max(0, each.line - 1 - LINES_ABOVE) : each.line - 1] if _is_comment(line)]
    around = list(definitions_around(lines, each.line))
    first = min((at for at, _ in around), default=each.line)
    naming = [line for line in lines[max(first, each.line - LINES_AROUND) : each.line - 1] if name in line]
    told_of = _documenting(name, naming) if naming else []
    heads = [line for at, _ in around for line in lines[at - 1 : at + LINES_OF_HEAD]]
    parts = [word for word in roots.split_words(name) if word != name.lower()] or [name.lower()]
    inside = ".".join(name for _, name in reversed(around))
    near = roots.of(" ".join((*above, *heads, *told_of, each.text[:MAX_LINE], told)))
    own, path = roots.kept(name), roots.kept(each.file.path)
    return _GivenValue(each.file, each.line, own, len(parts), value, near, path, inside, text)


def _documenting(name: str, lines: Sequence[str]) -> list[str]:
    """Return the lines that say something about a name, such as those of a list of parameters."""
    documented = re.compile(rf"\W*(?:@?param\w*\s|:param \w*\s?)?(?<![\w$]){re.escape(name)}\b[^=]*$")
    return [line for line in lines if documented.match(line)]


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith((*_COMMENT, "@"))


def _ranked(
    found: Sequence[_GivenValue], words: dict[str, str], units: frozenset[str], head: str
) -> tuple[PlainValue, ...]:
    counts = Counter(root for each in found for root in words if root in each.name or root in each.near)
    known = {root for root in words if counts[root]}
    if not known:
        return ()
    weights = {root: 1.0 + min(1.0, math.log((len(found) + 1) / (counts[root] + 1)) / 4) for root in known}
    whole = sum(weights.values()) + (1.0 if units else 0.0)
    scored: list[tuple[float, _GivenValue]] = []
    for each in found:
        named = known & each.name
        of_unit = not units.isdisjoint(each.name)
        if not named and not of_unit:
            continue
        score = sum(weights[root] for root in named)
        score += sum(0.6 * weights[root] for root in known - named if root in each.near)
        score += sum(0.5 * weights[root] for root in known - named - each.near if root in each.path)
        score = (score + (1.0 if of_unit else 0.0)) / whole
        if score < ENOUGH and head not in each.name:
            continue
        score -= 0.06 * max(0, each.parts - len(named) - of_unit)
        score += _bonus(each, units) + (0.0 if not head else 0.2 if head in each.name else -0.2)
        scored.append((score, each))
    scored.sort(key=lambda pair: (-pair[0], is_aside(pair[1].file.path), pair[1].file.path, pair[1].line))
    best = scored[0][0] if scored else 0.0
    kept: dict[tuple[str, int], PlainValue] = {}
    for score, each in scored:
        if score >= best * NEAR and len(kept) < MOST_VALUES:
            value = PlainValue(each.file.path, each.line, each.inside, shown(each.text))
            kept.setdefault((each.file.path, each.line), value)
    return tuple(kept.values())


def _bonus(each: _GivenValue, units: frozenset[str]) -> float:
    """Return what speaks for a value besides the words: a number for an amount, a place of defaults."""
    bonus = 0.0
    if units:
        bonus += (
            0.15 if re.match(r"[-+(]?\d", each.value) or "Duration" in each.value or "time." in each.value else -0.1
        )
    if "default" in each.name or "default" in each.near:
        bonus += 0.1
    if each.value.startswith(("None", "nil", "null", "undefined")):
        bonus -= 0.1
    if is_aside(each.file.path):
        bonus -= 0.2
    return bonus


def _is_constant(value: str) -> bool:
    """Return whether a value consists of literals, constants, and calls of them: `int(os.getenv("PORT", 80))`."""
    if re.search(r"#\{|\$\{|\{\w", value):
        return False
    plain = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", '""', value)
    plain = re.split(r"\s(?:#|//|--)", plain)[0]
    variables = (match[0] for match in _VARIABLE.finditer(plain) if not _OPEN_NAMES.match(match[0]))
    return next(variables, "") == "" and bool(re.search(r"\"|\d|\[|\{|[A-Z]|true|false|nil|null|:\w", plain))


_VARIABLE = lazy_regex(r"(?<![\w.:$@])[a-z_]\w*(?![\w(]|::|!|\()")
_OPEN_NAMES = lazy_regex(
    r"(?:os|env|environ|process|time|std|sys|math|true|false|nil|null|undefined|proc|lambda|new|not|or|and|timedelta"
    r"|[iuf](?:8|16|32|64|128|size)|self|cls|int|str|float|bool|datetime|chrono|ms|s|m|h|d|e\d+)$"
)
"""Names in lower case that a constant value may have."""
