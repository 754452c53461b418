"""Things that a question looks for by a proper name and no code has: `the code that honours a Retry-After header`.

Abbreviations and names of products, protocols and headers are written in code as they are said. Where none has them,
hits that resemble the other words would look like the place. Reads the indexed texts only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from atlas.code.lines.absent.named import KINDS, known_of_kind
from atlas.code.lines.absent.words import absent_aside, begins_word, is_no_code, is_thing, word_pattern
from atlas.code.lines.asked_words import topic_words
from atlas.code.lines.line_report import shown
from atlas.code.lines.scan_texts import scan_patterns
from atlas.code.question.parse_question import Query
from atlas.code.rank.titles import ASKS_PAGE
from atlas.code.reader import Reader
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MOST_WORDS = 25
"""Words of a question that asks for one thing."""
MOST_NAMES, MOST_SAID = 6, 2
MOST_SHORT, MIN_PART = 5, 4
MOST_NEAR, MANY = 3, 30
"""Lines with a part of a name that are shown, and above which they tell nothing."""
MAX_SHOWN = 80
_LOOKS_FOR = lazy_regex(
    r"(?:(?:please|and|so) )?(?:where|which|what|how (?:do|can|does|is|are)|show|name|find|locate|point|give|tell|list"
    r")\b",
    re.IGNORECASE,
)
_CONDITION = lazy_regex(
    r"(?<![\w-])(?:when|if|while|because|although|unless|until|once|after|before|like|than|as|without|besides)(?![\w-])|[,;:(]",
    re.IGNORECASE,
)
"""Behind these stands what the thing has to do with, rather than the thing."""
_ASKS_OTHERWISE = lazy_regex(
    r"\b(?:commits?|pull requests?|pr|release|since|introduced|removed|version)\b", re.IGNORECASE
)
_NAME = lazy_regex(r"(?<![\w./:@`'\"$-])[A-Z][\w-]{2,80}+(?![/:@(`'\"]|\.\w)")
_SHAPED = lazy_regex(r"[A-Z][A-Z0-9]{2,7}|[A-Z][a-z]{1,30}(?:-[A-Z][a-z]{1,30}){1,3}")
"""An abbreviation or a header."""
_VERB = lazy_regex(r"\b(?:that|which|and|to) (?P<verb>[a-z]{2,40}s?)\b")
_CAPITAL = lazy_regex(r"[A-Z][a-z]+")
"""`Windows`: code may mean it without the word, where comments have it."""


@dataclass(frozen=True, slots=True)
class AbsentThings:
    """What is said of things that no code has."""

    lines: tuple[str, ...] = ()
    is_missing: bool = False
    """Whether code does not even speak of them, so that hits are merely the nearest."""


async def find_absent_things(reader: Reader, query: Query, unknown: Sequence[str], where: Filter) -> AbsentThings:
    """Return what is said of the names that a question looks for and no code has; nothing where code has them.

    `unknown`: the words that the word index lacks, which the same line names. Lines with a part of the name follow, and
    the project's own things of the kind that is asked for. Raises store errors.
    """
    asked = _asked(query)
    names = _names(reader, asked) if asked else []
    if not names:
        return AbsentThings()
    scans = await scan_patterns(reader, where, [_spelled(name) for name in names])
    absent = {
        name: scan.found
        for name, scan in zip(names, scans, strict=True)
        if not scan.notes and all(map(is_no_code, scan.found)) and not (scan.found and _CAPITAL.fullmatch(name))
    }
    if not absent:
        return AbsentThings()
    known = {*_VERB.findall(asked.lower()), *(name.lower() for name in names)}
    known |= {behind for before, behind in pairwise(asked.lower().split()) if before in known}  # `a Retry-After header`
    plain = [word for word in topic_words(asked) if is_thing(word, unknown) and word not in known]
    scans = await scan_patterns(reader, where, [word_pattern(word) for word in plain]) if plain else []
    nowhere = [name for name, found in absent.items() if not found]
    nowhere += [word for word, scan in zip(plain, scans, strict=True) if not (scan.found or scan.notes)]
    listed = " or ".join(f"`{name}`" for name in nowhere[:MOST_SAID])
    said = [f"{listed} occurs in no indexed file"] if nowhere else []
    said += [absent_aside(name, found) for name, found in absent.items() if found][: MOST_SAID - len(said)]
    said += await _parts(reader, [*absent], where)
    kinds = [*re.finditer(rf"\b(?:{KINDS})\b", asked, re.IGNORECASE)]
    if kinds and (known := await known_of_kind(reader, kinds[-1][0], where)):
        said.append(known)
    is_told = any(not (each.file.is_document or each.file.is_test) for found in absent.values() for each in found)
    return AbsentThings(tuple(said), is_missing=not is_told)


def _asked(query: Query) -> str:
    """Return the part of a question that says which thing it looks for; "" for other questions."""
    text = query.text
    if query.states or query.reports or query.phrases or query.paths or _LOOKS_FOR.match(text) is None:
        return ""
    if len(text.split()) > MOST_WORDS or ASKS_PAGE.search(text) or _ASKS_OTHERWISE.search(text):
        return ""
    return _CONDITION.split(text)[0]


def _names(reader: Reader, asked: str) -> list[str]:
    """Return the names of a text that code would write as they are: proper ones, and words that are no English."""
    found = _NAME.finditer(asked)
    names = [each[0] for each in found if _is_proper(each[0], is_inside=asked[: each.start()].rstrip()[-1:].islower())]
    own = reader.root.name.lower()
    return [name for name in dict.fromkeys(names) if name.lower() != own][:MOST_NAMES]


def _is_proper(name: str, *, is_inside: bool) -> bool:
    """Return whether a word is an abbreviation, a header, of mixed case, or has a capital `is_inside` of a sentence."""
    is_mixed = name.isalnum() and not name.isupper() and not name[1:].islower()
    return is_mixed or _SHAPED.fullmatch(name) is not None or (is_inside and _CAPITAL.fullmatch(name) is not None)


async def _parts(reader: Reader, names: Sequence[str], where: Filter) -> list[str]:
    """Return the first lines of code with a part of a name in several words; [] where many lines have each part."""
    parts = [part.lower() for name in names if "-" in name for part in name.split("-") if len(part) >= MIN_PART]
    parts = [part for part in dict.fromkeys(parts) if part not in STOP_WORDS and not _CONDITION.fullmatch(part)]
    scans = await scan_patterns(reader, where, [word_pattern(part) for part in parts]) if parts else []
    for part, scan in zip(parts, scans, strict=True):
        code = {each.place: each for each in scan.found if begins_word(each) and not is_no_code(each)}
        if 0 < len(code) <= MANY:
            first = [*code.items()][:MOST_NEAR]
            told = "; ".join(f"{place} {shown(each.text)[:MAX_SHOWN]}" for place, each in first)
            more = f" and {len(code) - MOST_NEAR} more" if len(code) > MOST_NEAR else ""
            return [f"code with `{part}`: {told}{more}"]
    return []


def _spelled(name: str) -> tuple[re.Pattern[str], tuple[bytes]]:
    """Return what finds a name; a short one only where a word or a part of an identifier begins."""
    if len(name) > MOST_SHORT or not name.isalpha():
        return word_pattern(name.lower())
    begins = r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
    return re.compile(f"{begins}{name}", re.IGNORECASE), (name[:MIN_PART].lower().encode(),)
