"""A command line flag that a question describes instead of naming it: `which flag limits the size of the storage`.

The declarations of flags are compared with the words of the question: the parts of a flag's name count twice, the words
of its help once. Of one flag the variable, the key and the default are told as well, where the question asks for them
(`limit how many tasks run at once: flag, env var, config key and default`). Lines of texts only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.lines.asked_words import topic_words
from atlas.code.lines.flag_values import lines_of_value
from atlas.code.lines.flags import declarations, flag_names, help_of
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import TextMatch, definitions_around, is_aside, scan_patterns
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

_ASKS = lazy_regex(
    r"\b(?:which|what|what's|is there|are there|do we have)\b.{0,40}?"
    r"\b(?:flag|switch|(?:command[- ]line|cli) (?:option|argument|parameter|flag)"
    r"|(?:option|argument|switch) (?:of|for|to|on|in) (?:the|our|its) (?:[\w.-]{1,40} )?"
    r"(?:runner|command(?: line)?|cli|tool|binary|executable|program|console))\b",
    re.IGNORECASE,
)
_FURTHER = lazy_regex(r",? and (?=(?:which|what|how|where|when|is|does)\b)", re.IGNORECASE)
_OF_PROGRAM = lazy_regex(
    r"(?<=option|switch) (?:of|for|to|on|in) (?:the|our|its) (?:[\w.-]{1,40} )?"
    r"(?:runner|command(?: line)?|cli|tool|binary|executable|program|console)\b|\b(?:changes?|alters?|affects?)\b",
    re.IGNORECASE,
)
"""Whose option it is, and words that say nothing of what it does."""
_LISTED = lazy_regex(
    r"\b(?:flag|switch|cli option)\b,? (?:(?:and|or|/) )?(?:the )?(?:env\w*|variable|config\w*|key|default)\b"
    r"|\b(?:env(?:ironment)?(?: var(?:iable)?)?|variable|key|default(?: value)?),? (?:and |or )?(?:cli )?flag\b",
    re.IGNORECASE,
)
"""Ways to give a setting, one behind the other."""
_VARIABLE = lazy_regex(r"\benv(?:ironment)?\b|\bvariables?\b|\benvvar", re.IGNORECASE)
_KEY = lazy_regex(r"\bkeys?\b|\bconfig(?:uration)?\b", re.IGNORECASE)
_DEFAULT = lazy_regex(r"\bdefaults?\b", re.IGNORECASE)
_AT_ONCE = lazy_regex(
    r"\bat (?:the same time|once)\b|\bsimultaneous\w*|\b(?:in parallel|concurrent\w*|parallel\w*)\b", re.I
)
_CONCURRENT = ("concurren", "parallel", "simultan", "jobs")
"""Begins of words by which programs say `at the same time`."""
_ASPECTS = frozenset(
    """
    flag flags switch env var variable environment config configuration key keys default value please many much number
    setting option cli command line name please same time once parallel
    """.split()  # noqa: SIM905
)
LINES_BELOW = 6
_MANY = lazy_regex(
    r"^(?:list|show|all)\b|\b(?:flags|switches|options|arguments) (?:are|does|do|exist)\b", re.IGNORECASE
)
MOST_WORDS = 25
MOST_FLAGS, MOST_LISTED, MOST_TOLD = 3, 8, 24
_OF_ANY = frozenset(("mak", "turn", "let", "allow", "enabl", "disabl", "caus", "giv", "run"))
"""Roots of verbs that every flag may have."""
_QUOTED = lazy_regex(r"`(\w{2,60})`")
MOST_VALUES = 5
"""Lines of code that have the name which the declaration of a flag keeps its value under."""
ENOUGH = 0.5
"""Share of the words of a question that a flag has at least, those in its name counted twice."""
NEAR = 0.85
"""Share of the best score that further flags have."""


async def answer_flag_in_words(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer which flag does something; None for other questions and where no flag has the words."""
    text = query.text
    if not (words := _asked_words(query)):
        return None
    scored: list[tuple[float, TextLine]] = []
    names: dict[TextLine, str] = {}
    notes, found = await declarations(reader, where)
    for name, each in found:
        told = help_of(each)
        in_name, in_help = _in_name_and_help(words, name, told)
        score = (2 * len(in_name) + len(in_help - in_name)) / (2 * len(words))
        line = TextLine("flags", each.place, f"--{name}: {told}")
        names[line] = name
        scored.append((score, line))
    scored.sort(key=lambda pair: -pair[0])
    best = scored[0][0] if scored else 0.0
    kept = [line for score, line in scored[:MOST_FLAGS] if score >= max(ENOUGH, best * NEAR)]
    title = "flag whose name and help have the words" if len(kept) == 1 else "flags whose name and help have the words"
    if not kept:
        return None
    beside: list[TextLine] = []
    if len({names[each] for each in kept}) == 1:
        name = names[kept[0]]
        beside = await _beside(reader, text, name, where)
        value = await lines_of_value(reader, name, [each for other, each in found if other == name], where)
        beside += value.lines[:MOST_VALUES] if value is not None and not beside and value.is_told else []
    return LineReport("flags", f"{title}: {len(kept)}", (*kept, *beside), notes)


async def find_absent_flag(reader: Reader, query: Query, where: Filter) -> tuple[str, ...]:
    """Return that no flag has the words by which a question asks for one, with those there are; else ().

    Flags that are declared inside of what the question names come first: `up` means `class UpAction`.
    """
    words = _asked_words(query) if _ASKS.search(query.text) is not None else []
    own = [each.lower() for each in (*_QUOTED.findall(query.text), *query.names)]
    known = {*_OF_ANY, *map(root_of, own), root_of(reader.root.name.lower())}
    words = [forms for forms in words if known.isdisjoint(forms)]
    notes, found = await declarations(reader, where) if words else ((), [])
    having = [_in_name_and_help(words, name, help_of(each)) for name, each in found]
    absent = [forms for number, forms in enumerate(words) if not any(number in told for _, told in having)]
    if notes or not found or not absent or any(in_name for in_name, _ in having):
        return ()
    kept = [(name, each) for name, each in found if own and _is_inside(each, tuple(own))] or found
    listed = {name: each.place for name, each in reversed(kept)}
    said = ", ".join(f"--{name} {place}" for name, place in [*listed.items()][::-1][:MOST_LISTED])
    more = f" and {len(listed) - MOST_LISTED} more" if len(listed) > MOST_LISTED else ""
    told = f"flags of `{own[0]}`: {said}{more}" if kept is not found else f"flags that are declared: {said}{more}"
    told = f"{len(listed)} flags are declared" if kept is found and len(listed) > MOST_TOLD else told
    roots = [form for forms in absent for form in forms]
    asked = ", ".join(f"`{word}`" for word in topic_words(query.text) if root_of(word).startswith(tuple(roots)))
    return (f"no flag that is known has {asked} in its name or help; {told}",)


def _is_inside(found: TextMatch, names: tuple[str, ...]) -> bool:
    """Return whether a flag is declared in a definition or file that is called like what a question names."""
    stem = re.split(r"[_.-]", found.file.path.rpartition("/")[2].lower())
    around = definitions_around(found.file.lines, found.line)
    return any(name in stem for name in names) or any(own.lower().startswith(names) for _, own in around)


def _asked_words(query: Query) -> list[tuple[str, ...]]:
    """Return the roots of the words that say what a flag does, each with its other forms; [] for other questions."""
    text = query.text
    if query.states or query.reports or query.phrases or flag_names(text) or len(text.split()) > MOST_WORDS:
        return []
    if (_ASKS.search(text) is None and _LISTED.search(text) is None) or _MANY.search(text) is not None:
        return []
    asked = _OF_PROGRAM.sub(" ", _FURTHER.split(text)[0])
    every = topic_words(_AT_ONCE.sub(" ", asked if _ASKS.search(text) else text))
    plain = [word for word in every if word not in _ASPECTS] if _LISTED.search(text) else every
    words: list[tuple[str, ...]] = [(root_of(word),) for word in plain]
    return [*words, _CONCURRENT] if _AT_ONCE.search(text) else words


def _in_name_and_help(words: Sequence[tuple[str, ...]], name: str, told: str) -> tuple[set[int], set[int]]:
    """Return the numbers of the words that the name of a flag has, and those that its help has."""
    in_help = re.findall(r"[a-z][a-z0-9]+", told.lower())
    return _having(words, re.split(r"[-_.]", name.lower())), _having(words, in_help)


def _having(words: Sequence[tuple[str, ...]], parts: Sequence[str]) -> set[int]:
    """Return the numbers of the words that some parts have, in any of their forms."""
    roots = [root_of(part) for part in parts]
    return {
        number
        for number, forms in enumerate(words)
        if any(root == form or (len(forms) > 1 and root.startswith(form)) for form in forms for root in roots)
    }


async def _beside(reader: Reader, text: str, name: str, where: Filter) -> list[TextLine]:
    """Return the lines with the variable, the key and the default of a flag, as far as a question asks for them."""
    upper = re.escape(name.upper().replace("-", "_"))
    spelled = re.escape(name).replace(r"\-", "[-_]?")
    variable = re.compile(rf"(?<![\w-])(?:[A-Z][A-Z0-9]{{0,30}}_){{0,4}}{upper}(?!\w)")
    key = re.compile(
        rf"\b(?:yaml|json|toml|mapstructure|koanf|rename|alias)\W{{1,4}}{spelled}[\"',]"
        rf"|(?m:^[ \t]{{0,20}})[\"']?{spelled}[\"']?\s?[:=] ?[\w\"']",
        re.IGNORECASE,
    )
    flag = re.compile(rf"--{re.escape(name)}(?![\w-])")
    needles = (name.split("-")[0].encode(),)
    scans = await scan_patterns(
        reader, where, [(variable, (name.upper().split("-")[0].encode(),)), (key, needles), (flag, needles)]
    )
    lines: list[TextLine] = []
    for group, asked, scan in (("variable", _VARIABLE, scans[0]), ("key", _KEY, scans[1])):
        kept = [each for each in scan.found if not each.file.is_test and not is_aside(each.file.path)]
        code = [each for each in kept if not each.file.is_document][:1]
        documents = [each for each in kept if each.file.is_document][:1]
        if asked.search(text):
            lines += [TextLine(group, each.place, shown(each.text)) for each in (*code, *documents)]
    if _DEFAULT.search(text):
        for each in (each for each in scans[2].found if each.file.is_document):
            entry = each.file.lines[each.line - 1 : each.line + LINES_BELOW]
            said = next(((number, line) for number, line in enumerate(entry) if _DEFAULT.search(line)), None)
            if said is not None:
                lines.append(TextLine("default", f"{each.file.path}:{each.line + said[0]}", shown(said[1])))
                break
    return lines
