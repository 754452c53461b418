"""Read long texts, such as reports of defects: title, opening, written paths, frames of tracebacks, identifiers. Pure.

A long text is searched as three questions, because its title says what it is about and the rest names the places. What
a text names counts by how few definitions have the name (`long_search.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from atlas.code.question.languages import LanguageTerms
from atlas.code.question.names import dotted, valid
from atlas.code.question.tracebacks import TracebackFrame, functions_only, read_frames, without_frames
from atlas.code.retrieve.rarity import idf
from atlas.core.english.sentences import title_sentence
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import WordCounts

MIN_WORDS = 40
"""A shorter text is one question, unless it has a frame of a traceback."""
MAX_CHARACTERS = 20_000
"""What is read of a text: logs that follow are mostly alike."""
MAX_TITLE = 200
OPENING = 400
"""Characters of prose that state the matter, title included."""
MAX_NAMES, MAX_FRAMES, MAX_PATHS = 24, 24, 12
MAX_PHRASES = 4

_LONG_WORD = lazy_regex(r"(\S{200})\S+")
_URL = lazy_regex(r"\bhttps?://[^\s)>\]]+")
_CHECKBOX = lazy_regex(r"^[^\S\n]*+[-*] \[[ xX]\].*$", re.MULTILINE)
_TRAILER = lazy_regex(
    r"^[ \t]*(?:(?:[A-Z][a-z]+(?:-[A-Za-z]+)*-(?:by|[Ii][Dd])|Fixes|Closes|Refs|Cc|CC|Link|Bug(?:-[\w-]+)?): "
    r"|(?:(?:Originally|Initially|First) )?(?:[Rr]eported|[Ff]ound|[Dd]iscovered|[Pp]ointed out|[Ss]potted|[Ss]uggested"
    r"|[Rr]eviewed|[Ii]dentified|[Nn]oticed) by ).*$",
    re.MULTILINE,
)
"""Lines that credit people or point to other places."""
_REFERENCE = lazy_regex(
    r"<[\w.+-]+@[\w.-]+>|\b(?:CVE-\d{4}-\d+|GHSA(?:-\w{4}){3})\b|(?<=\w )[#!]\d+\b|\([#!]\d+\)"
    r"|(?<![\w/.@-])(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}(?![\w/@-]|\.\w)"
)
"""Addresses of people, numbers of vulnerabilities and reports, names of commits."""
_HEADING = lazy_regex(r"\s*+(?:#{1,6}+\s++.*+|\*\*[^*]++\*\*:?\s*+)$")
_VERSION = lazy_regex(r"(?<=.)@v?\d[\w.+-]*$")
"""The version in the folder of an installed package."""
_BACKTICKED = lazy_regex(r"`([^`\s]{2,200})`")
_CODE_NAME = lazy_regex(
    r"(?<![\w/])(?:[A-Za-z_$][\w$]*(?:\.|::|#|->))*"
    r"(?:[a-z]+[A-Z]\w*|[A-Z]\w*[a-z]\w*[A-Z]\w*|\w*[A-Za-z0-9]_[A-Za-z]\w*|_+[A-Za-z]\w+|[A-Za-z]\w+(?=\(\)))"
)
"""Words with a capital or an underscore inside, or with call brackets; owners in front."""
_QUOTED = lazy_regex(r"\"([^\"\n]{8,200})\"|“([^”\n]{8,200})”")
_MESSAGE = lazy_regex(
    r"^\s*(?:\w+\.)*\w*(?:Error|Exception|Warning|error|exception|warning|panic|fatal): (?P<text>\S.*)$"
)


@dataclass(frozen=True, slots=True)
class LongText:
    """What a long text says."""

    title: str
    opening: str
    whole: str
    """Without comments, addresses and check boxes; of a frame only the name of the function."""
    frames: tuple[TracebackFrame, ...]
    paths: tuple[str, ...]
    names: tuple[str, ...]
    """Identifiers, dotted; those in backticks first."""
    messages: tuple[str, ...]
    """Quoted texts and error messages, one line each."""
    is_traceback: bool = False
    """Whether it is hardly more than frames."""
    length: int = 0
    """Characters of the text as it was asked; `whole` has at most the first `MAX_CHARACTERS`."""


def read_long_text(text: str, languages: LanguageTerms) -> LongText | None:
    """Return what a text says; None if it is no longer than a question and has no frame of a function."""
    # the patterns of names and frames take time with the square of the longest word
    whole = _LONG_WORD.sub(r"\1", valid(text[:MAX_CHARACTERS]))
    written = _without_references(_CHECKBOX.sub("", _URL.sub("", _without_comments(whole))))
    frames = tuple(read_frames(written))[:MAX_FRAMES]
    has_function = any(frame.name for frame in frames)
    if len(whole.split()) < MIN_WORDS and not has_function:
        return None
    title, opening = _beginning(written)
    whole = functions_only(written)
    paths = Counter(match.group(1) for match in languages.path.finditer(whole))
    return LongText(
        title,
        opening,
        whole,
        frames,
        tuple(path for path, _ in paths.most_common(MAX_PATHS)),
        tuple(_names(whole, frames))[:MAX_NAMES],
        tuple(_messages(whole))[:MAX_PHRASES],
        is_traceback=has_function and len(without_frames(written).split()) < MIN_WORDS,
        length=len(text),
    )


def _without_comments(text: str) -> str:
    first, *others = text.split("<!--")
    return first + "".join(other.partition("-->")[2] for other in others)


def _without_code(text: str) -> str:
    """Return a text without its fenced blocks."""
    kept: list[str] = []
    opened: list[str] = []
    for line in text.split("\n"):
        fence = line.strip()
        if opened:
            opened.append(line)
            if fence in ("```", "~~~"):
                opened = []
        elif fence.startswith(("```", "~~~")):
            opened = [line]
        else:
            kept.append(line)
    return "\n".join([*kept, *opened])


def _without_references(text: str) -> str:
    """Return a text without credits and references, its first line as it is."""
    title, end, rest = text.lstrip().partition("\n")
    return f"{title}{end}{_REFERENCE.sub(' ', _TRAILER.sub('', rest))}"


def rarest(words: Mapping[str, int], counts: WordCounts, most: int) -> tuple[str, ...]:
    """Return the words that tell most, in the order of the text: rare in the index, and more often in the text.

    `words`: how often each occurs in the text. Words that the index lacks, or that are everywhere in it, tell nothing.
    """
    size = len(counts.nodes)
    weights = {
        word: idf(size, len(counts.words[word])) * (1 + log(often))
        for word, often in words.items()
        if counts.words.get(word)
    }
    kept = set(sorted(weights, key=lambda word: (-weights[word], word))[:most])
    return tuple(word for word in words if word in kept)


def fits(written: str, path: str) -> int:
    """Return how many trailing segments a written path and one of the index share.

    0 for a file name alone if both have folders: `site-packages/json/base.py` is not `shop/base.py`.
    """
    left, right = _segments(written), _segments(path)
    shared = 0
    while shared < min(len(left), len(right)) and left[-1 - shared] == right[-1 - shared]:
        shared += 1
    return shared if shared > 1 or shared == min(len(left), len(right)) else 0


def _segments(path: str) -> Sequence[str]:
    parts = (_VERSION.sub("", part) for part in path.replace("\\", "/").split("/"))
    return [part for part in parts if part not in ("", ".", "..")]


def _beginning(whole: str) -> tuple[str, str]:
    """Return title and opening: the first line or sentence, and the prose up to `OPENING` characters."""
    lines = [line.strip() for line in without_frames(_without_code(whole)).splitlines()]
    prose = [line for position, line in enumerate(lines) if line and (not position or not _HEADING.match(line))]
    if not prose:
        return "", ""
    title = prose[0].lstrip("# ")
    if len(title) > MAX_TITLE or len(prose) == 1:
        title = title_sentence(title)[:MAX_TITLE]
    opening = " ".join((prose[0].lstrip("# "), *prose[1:]))
    return title, opening[:OPENING]


def _names(whole: str, frames: Sequence[TracebackFrame]) -> Iterator[str]:
    quoted = (dotted(name) for name in _BACKTICKED.findall(whole))
    written = (dotted(match.group(0)) for match in _CODE_NAME.finditer(whole))
    framed = {frame.name for frame in frames}
    for name in dict.fromkeys((*quoted, *written)):
        if len(name) > 2 and name not in framed and re.fullmatch(r"[\w$.]+", name) and not name.isdigit():
            yield name


def _messages(whole: str) -> Iterator[str]:
    for line in whole.splitlines():
        if message := _MESSAGE.match(line):
            yield message["text"]
        quoted = (match.group(1) or match.group(2) for match in _QUOTED.finditer(line))
        yield from (each for each in quoted if " " in each.strip())
