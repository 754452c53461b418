"""The two ends of a way that a question asks for: `walk me from a client calling X to the file on disk`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TO = r"(?:(?:all the way|right|down|up|through|over|on) )*(?:to|until|till|into|down to)"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b(?:walk|take|lead|guide|bring) (?:me|us)\b.{{0,60}}?\bfrom (?P<start>.{{2,200}}?) {_TO}"
        r" (?P<end>.{2,200})$",
        r"\b(?:paths?|chains?|ways?|routes?|trace|flow|sequence|steps|calls|journey)\b(?: \S+){0,4}? from"
        rf" (?P<start>.{{2,200}}?) {_TO} (?P<end>.{{2,200}})$",
        r"\b(?:happens?|goes on|runs?|(?:is|are|gets?) called|lies?|paths?|chain|steps|calls|way) between"
        r" (?P<start>.{2,200}?) and (?P<end>.{2,200})$",
        rf"\b(?:happens?|goes on|runs?|(?:is|are|gets?) called) from (?P<start>.{{2,200}}?) {_TO} (?P<end>.{{2,200}})$",
    )
)
_SENTENCE = re.compile(r"(?<=[?!])\s+|(?<=[a-z)`'\"]\.)\s+(?=[A-Z])|;\s+")
_AFTER = re.compile(
    r",? (?:function by function|step by step|call by call|hop by hop|in (?:detail|order)|please|and back)$"
    r"|,? (?:which|what|through which|via which) .*$",
    re.IGNORECASE,
)
"""What a question says of the answer behind the end of the way."""
MAX_TEXT = 600


@dataclass(frozen=True, slots=True)
class PathEnds:
    """Where a way begins and ends, in the words of the question."""

    start: str
    end: str

    @property
    def are_described(self) -> bool:
        """Whether an end is more than a name."""
        return any(" " in end.strip("`'\"") for end in (self.start, self.end))


def read_path_ends(text: str) -> PathEnds | None:
    """Return the ends of the way that a text asks for; None for another question."""
    for sentence in _sentences(text[:MAX_TEXT]):
        for form in _FORMS:
            if (match := form.search(sentence)) is not None:
                end = _AFTER.sub("", match["end"]).strip(" ,.:;?!")
                return PathEnds(match["start"].strip(" ,.:;"), end) if end else None
    return None


def _sentences(text: str) -> Iterator[str]:
    yield from (sentence.strip(" ?!") for sentence in _SENTENCE.split(text))
