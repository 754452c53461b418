"""Names beside a word for their kind that no code has: `where is the pcreate command implemented`.

Hits that merely resemble such a question would look like the place. The lines that do have the name, what became of it
first, and what there is of that kind are said instead. Reads the indexed texts and which projects there are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.graph.declarations import read_declarations
from atlas.code.lines.absent.words import is_no_code
from atlas.code.lines.line_report import shown
from atlas.code.lines.scan_texts import TextMatch, scan_patterns
from atlas.code.question.cues import is_relation_word
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MOST_WORDS = 25
"""Words of a question that asks for one thing."""
MOST_NAMES, MOST_LINES, MOST_OTHERS, MOST_PROJECTS = 3, 2, 8, 12
MAX_LINE = 200
KINDS = (
    "commands?|sub-?commands?|scripts?|executables?|binary|options?|flags?|settings?|parameters?|propert(?:y|ies)|class"
    "|classes|functions?|methods?|interfaces?|traits?|structs?|decorators?|attributes?|hooks?|events?|backends?|adapters?"
    "|drivers?|dialects?|plugins?|middlewares?|transports?|handlers?|renderers?|assertions?|constraints?|views?|tasks?"
)
_NAME = r"(?P<quote>[`'\"]?)(?P<name>[A-Za-z][\w-]{2,60})(?P=quote)"
_BEFORE = lazy_regex(
    rf"\b(?:the|an?|any|our|its|this|which|what|own|builtin|built-in) {_NAME} (?P<kind>{KINDS})\b(?![-(.])",
    re.IGNORECASE,
)
_BEHIND = lazy_regex(
    rf"\b(?P<kind>{KINDS}) (?:called |named )?(?P<quote>[`'\"])(?P<name>[A-Za-z][\w-]{{2,60}})(?P=quote)",
    re.IGNORECASE,
)
_MADE = lazy_regex(
    rf"^(?:where|how|in which \w+) (?:is|are) (?:the|an?|our|its) {_NAME} (?P<kind>[a-z]{{4,30}})"
    r" (?:implemented|defined|made|built|coded|written|located|declared|done)[?.! ]*$",
    re.IGNORECASE,
)
"""A name before any noun: `where is the logfmt encoder implemented`."""
_SEVERAL = lazy_regex(
    rf"\b(?:the|an?|any|our) (?P<name>[a-z][\w-]{{1,30}}(?: [a-z][\w-]{{1,30}}){{1,2}})"
    rf" \((?P<short>[A-Z][A-Z0-9]{{2,7}})\) (?P<kind>{KINDS})\b(?![-(.])"
)
"""A name of several words with its abbreviation: `the server-sent events (SSE) transport`."""
_ASKS = lazy_regex(
    r"^(?:where|which|what|how|is|are|does|do|can|who|when|why|show|find|name|point|locate|list|tell)\b", re.IGNORECASE
)
_BECAME = lazy_regex(
    r"\b(?:remov(?:ed?|al|es)|replac\w+|deprecat\w+|in favou?r of|no longer|instead|renamed|dropped|gone|moved)\b",
    re.IGNORECASE,
)
_DOCUMENTS = lazy_regex(r"(?:docs?|documentation|website)/")
_SPELLED_AS_CODE = "[`*]"
_ASKS_PROJECT = lazy_regex(
    r"\b(?:which|what|in which|in what) (?:sub-?)?(?:packages?|projects?|modules?|crates?|workspaces?)\b", re.IGNORECASE
)


async def find_absent_named(reader: Reader, query: Query, where: Filter) -> tuple[str, ...]:
    """Return what is said of a name that no code has, with what there is of its kind; () for other questions.

    Raises store errors.
    """
    for named in _named(query):
        if said := await _absent(reader, query, named, where):
            return said
    return ()


async def _absent(reader: Reader, query: Query, named: re.Match[str], where: Filter) -> tuple[str, ...]:
    name, short = named["name"], named.groupdict().get("short") or ""
    spelled = rf"(?<![A-Za-z0-9])(?:{_forms(name)})(?-i:(?![a-z0-9]))"
    if short:  # also inside of a name: `ShopServerSentEvents`, `isSSE`
        spelled = (
            rf"{_forms(name)}|(?:(?<![a-z0-9]){short}|(?-i:(?<=[a-z0-9]){short[0]}(?i:{short[1:]})))(?-i:(?![a-z0-9]))"
        )
    needles = tuple(each[:3].lower().encode() for each in (name, short) if each)
    (mine,) = await scan_patterns(reader, where, [(re.compile(spelled, re.IGNORECASE), needles)])
    if mine.notes or not all(map(is_no_code, mine.found)):
        return ()
    is_plain = not short and name.islower() and not named["quote"]
    if is_plain and not _is_code_in_documents(name, mine.found) and not is_no_english(reader, name):
        return ()
    kind = named["kind"]
    known = await known_of_kind(reader, kind, where)
    if not known and re.fullmatch(KINDS, kind, re.IGNORECASE) is None:
        return ()  # no noun by which the project calls anything
    only = f"code, only in {_told(mine.found)}" if mine.found else "file"
    name = f"{name}` or `{short}" if short else name
    said = [f"`{name}` is defined nowhere: it occurs in no indexed {only}", *([known] if known else [])]
    if _ASKS_PROJECT.search(query.text) and (projects := await _projects(reader, where)):
        said.append(f"projects that declare dependencies: {projects}")
    return tuple(said)


async def known_of_kind(reader: Reader, kind: str, where: Filter) -> str:
    """Return the types and modules whose name ends with a word for their kind in one line; "" for none."""
    ending = kind.lower().removesuffix("s").removeprefix("sub").strip("-").capitalize()
    others = re.compile(
        rf"\b(?:class|interface|struct|trait|object|record|type|defmodule|module)"
        rf" (?P<other>\w{{1,60}}{ending}|(?:\w{{1,40}}(?:\.|::)){{0,4}}{ending}s(?:\.|::)\w{{1,60}})\b"
    )
    (alike,) = await scan_patterns(reader, where, [(others, (ending.lower().encode(),))])
    known = {each.match["other"]: each.place for each in reversed(alike.found) if _is_of_code(each)}
    listed = ", ".join(f"{other} {place}" for other, place in [*known.items()][::-1][:MOST_OTHERS])
    more = f" and {len(known) - MOST_OTHERS} more" if len(known) > MOST_OTHERS else ""
    return f"what is called so: {listed}{more}" if known else ""


def is_no_english(reader: Reader, word: str) -> bool:
    """Return whether the model of prose has no form of a word as a whole; false without that model.

    A compound is English if its parts are: `self-written`.
    """
    encoder = reader.prose_encoder()
    if encoder is None:
        return False
    parts = [part for part in word.split("-") if part]
    return any(all(len(encoder.tokens(each)) > 1 for each in {part, root_of(part)}) for part in parts)


def _named(query: Query) -> list[re.Match[str]]:
    """Return the names beside a word for their kind, where a question asks for them."""
    if query.states or query.reports or query.phrases or query.paths or not _ASKS.match(query.text):
        return []
    if len(query.text.split()) > MOST_WORDS:
        return []
    if (several := _SEVERAL.search(query.text)) is not None:
        return [several]
    every = (each for form in (_BEFORE, _BEHIND, _MADE) for each in form.finditer(query.text))
    named = {each["name"].lower(): each for each in every}
    return [each for word, each in named.items() if word not in STOP_WORDS and not is_relation_word(word)][:MOST_NAMES]


def _is_of_code(found: TextMatch) -> bool:
    return not is_no_code(found) and not _DOCUMENTS.match(found.file.path)


def _forms(name: str) -> str:
    return "[-_ ]?".join(map(re.escape, re.split(r"[-_ ]", name)))


def _is_code_in_documents(name: str, found: Sequence[TextMatch]) -> bool:
    quoted = re.compile(rf"{_SPELLED_AS_CODE}(?:{_forms(name)})(?![A-Za-z0-9])", re.IGNORECASE)
    return any(quoted.search(each.text) for each in found if each.file.is_document)


def _told(found: Sequence[TextMatch]) -> str:
    """Return the first lines that have the name, those first that say what became of it, and how many there are."""
    lines = [*{each.place: each for each in reversed(found)}.values()][::-1]
    lines.sort(key=lambda each: (each.file.is_test, _BECAME.search(_sentence(each)) is None))
    told = "; ".join(f"{each.place} {shown(_sentence(each)[:MAX_LINE])}" for each in lines[:MOST_LINES])
    more = f" and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    kinds = "" if all(each.file.is_document for each in lines) else "comments, documents, examples or tests: "
    return f"{kinds}{told}{more}"


def _sentence(found: TextMatch) -> str:
    """Return a line with the next one of its sentence."""
    behind = found.file.lines[found.line : found.line + 1]
    text = found.text.strip()
    goes_on = found.file.is_document and behind and behind[0].strip() and not text.endswith((".", ":"))
    return f"{text} {behind[0].strip()}" if goes_on else text


async def _projects(reader: Reader, where: Filter) -> str:
    declared = await read_declarations(reader, where.project)
    folders = {each.folder or ".": each.project for each in declared if each.project}
    listed = ", ".join(
        project if project.rpartition("/")[2] == folder.rpartition("/")[2] else f"{project} ({folder})"
        for folder, project in sorted(folders.items())[:MOST_PROJECTS]
    )
    more = f" and {len(folders) - MOST_PROJECTS} more" if len(folders) > MOST_PROJECTS else ""
    return f"{listed}{more}" if len(folders) > 1 else ""
