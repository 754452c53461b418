"""The two ends of a way that a question asks for: `walk me from a client calling X to the file on disk`. Pure.

Words decide, in their order: what asks for a way stands before `from` or `between`, and the ends around `to` or `and`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from atlas.code.question.names import is_code_shaped
from atlas.code.question.question_scope import PRONOUNS
from atlas.core.lazy_regex import lazy_regex

_LEADS = frozenset(("walk", "take", "lead", "guide", "bring"))
_TRACES = frozenset(("trace", "follow", "start", "starting", "begin", "beginning", "walk", "go"))
_WAYS = frozenset(
    "path paths chain chains way ways route routes trace flow sequence steps calls journey".split()  # noqa: SIM905
)
_PASSES = frozenset(
    ("happens", "happen", "runs", "run", "called", "lies", "lie", "stands", "stand", "sits", "sit", "on")
)
"""What a way does: `what happens between`, `is called from`, `goes on between`."""
_GETS = frozenset(("get", "gets", "go", "goes", "come", "comes", "travel", "travels", "end"))
"""`how do we get from one to the other`, of which one is a name: others ask how to convert something."""
_BEFORE_TO = frozenset(("all", "the", "way", "right", "down", "up", "through", "over", "on"))
_TO = frozenset(("to", "until", "till", "into"))
_ASIDES = ("function by function", "step by step", "call by call", "hop by hop", "in detail", "in order", "please")
_ASKS_MORE = frozenset(("which", "what", "through", "via", "where", "who"))
_EDGE = " ,.:;?!"
_REACHES = (
    r"(?:(?:gets?|comes?|goes|go|travels?|leads?|flows?|finds? its way|makes? its way)"
    r" (?:all the way |down |through )?(?:to|into|onto)"
    r"|reach(?:es)?|arrives? (?:at|in)|ends? up (?:in|at|as|on|with|calling|being)|turns? into|becomes?)"
)
_HOW_IT_GETS = lazy_regex(
    r"(?:(?:please |and |so )*(?:(?:trace|follow|show|explain|tell)(?: me)? )?how (?:do(?:es)?|did|can)?"
    r"|(?:through|via|over|by) (?:which|what) (?:calls|functions|methods|steps|hops|chain of calls|chain)"
    rf" (?:do(?:es)?|did|can)) ?(?P<start>\S+(?: \S+){{0,11}}?)"
    rf" (?:eventually |finally )?{_REACHES} (?P<end>\S+(?: \S+){{0,15}})",
    re.IGNORECASE,
)
MOST_BEFORE = 5
"""Words between what asks for a way and where the way begins: `the chain of calls`."""
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
    sentences = [*_sentences(text[:MAX_TEXT].split())]
    return _first(map(_ends, sentences)) or _traced(sentences) or _first(map(_how_it_gets, sentences))


def _first(found: Iterable[PathEnds | None]) -> PathEnds | None:
    return next((each for each in found if each is not None), None)


def _traced(sentences: Sequence[Sequence[str]]) -> PathEnds | None:
    """Return the ends of a way whose beginning another sentence tells: `How does A end up in Y? Trace it from X`."""
    for number, words in enumerate(sentences):
        low = [word.lower().strip(_EDGE) for word in words]
        at = low.index("from") if "from" in low else 0
        if not at or _TRACES.isdisjoint(low[:at]) or at + 2 != len(words):
            continue
        start = words[at + 1].strip(_EDGE)
        others = [word for each in (*sentences[:number], *sentences[number + 1 :]) for word in each]
        names = dict.fromkeys(name for word in others if is_code_shaped(name := word.strip(f"{_EDGE}`'\"")))
        named = [name for name in names if name != start and not name.istitle()]
        if len(named) == 1 and is_code_shaped(start):
            return PathEnds(start, named[0])
    return None


def _sentences(words: Sequence[str]) -> Iterator[Sequence[str]]:
    start = 0
    for number, word in enumerate(words, 1):
        is_stop = word.endswith(".") and number < len(words) and words[number][:1].isupper()
        if is_stop or word.endswith(("?", "!", ";")) or number == len(words):
            yield words[start:number]
            start = number


def _ends(words: Sequence[str]) -> PathEnds | None:
    low = [word.lower().strip(_EDGE) for word in words]
    for at, word in enumerate(low):
        if word in ("from", "between") and _asks_for_way(low[:at], is_between=word == "between"):
            separators = _TO if word == "from" else ("and",)
            middle = next((number for number in range(at + 2, len(low) - 1) if low[number] in separators), 0)
            if middle and not (
                low[at - 1] in _GETS and not any(is_code_shaped(each.strip(_EDGE)) for each in words[at:])
            ):
                return _trimmed(words[at + 1 : middle], words[middle + 1 :])
    return None


def _how_it_gets(words: Sequence[str]) -> PathEnds | None:
    """Return the ends of `how does A get to Y`, `through which calls does A reach Y`, of which one has a name."""
    text = " ".join(words).strip(_EDGE)
    found = _HOW_IT_GETS.fullmatch(text)
    if found is None:
        return None
    ends = (found["start"], found["end"])
    if not PRONOUNS.isdisjoint(end.lower() for end in ends):
        return None
    named = [any(is_code_shaped(word.strip(f"{_EDGE}`'\"()")) for word in end.split()) for end in ends]
    return _trimmed(found["start"].split(), found["end"].split()) if any(named) and not all(named) else None


def _asks_for_way(before: Sequence[str], *, is_between: bool) -> bool:
    """Return whether the words before the first end ask for a way."""
    if not before:
        return False
    if any(word in _LEADS and after in ("me", "us") for word, after in pairwise(before)):
        return True
    if not is_between and before[-1] in _GETS and "how" in before[-MOST_BEFORE:]:
        return True
    near = before[-MOST_BEFORE:]
    return any(word in _WAYS for word in (before[-1:] if is_between else near)) or before[-1] in _PASSES


def _trimmed(start: Sequence[str], end: Sequence[str]) -> PathEnds | None:
    while len(start) > 1 and start[-1].lower() in _BEFORE_TO:
        start = start[:-1]
    more = (at for at in range(1, len(end)) if end[at].lower() in _ASKS_MORE and end[at - 1].endswith(","))
    said = " ".join(end[: next(more, len(end))]).strip(_EDGE)
    for aside in _ASIDES:
        said = said.removesuffix(aside).strip(_EDGE)
    return PathEnds(" ".join(start).strip(_EDGE), said) if said else None
