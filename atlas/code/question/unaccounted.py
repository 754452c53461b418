"""Find the words of a question that neither its relation nor its name nor its scope accounts for. Pure.

`which tests exercise Appender rollback` does not ask for the tests of `Appender`: an answer that leaves a word out must
not look as if it were complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.code.question.cues import is_relation_word
from atlas.code.question.frames import KIND_WORD, words_of
from atlas.code.question.further_parts import further_parts, split_parts
from atlas.code.question.names import dotted
from atlas.code.question.question_scope import PRONOUNS, said_plainly
from atlas.code.question.relation_kinds import Kind, RelationIntent, TestScope
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex

_SPOKEN_AROUND = """
abstract another base generic parent consider considering drop dropping plan planning removing renaming thinking
about across actually after against all also always among any anybody anyone anything anywhere around asap ask
available becoming before besides between bunch code codebase complete completely concrete concretely count currently
defined different direct directly during else entire ever every everybody everyone everything everywhere exact exactly
exhaustive exist exists explicitly figure find first full gets getting give given go got guess happen happens help hey
hi hm hmm immediate immediately in-tree indirect indirectly inside involved itself just kind know known let library
like likely line lines list listed local locations look looking main many maybe me much name named names near need
needs never non nowadays number numbers official ok okay one ones only other others ours out outside over own part parts
people place places please point possible possibly potential precisely present product production project public quick
quickly quite rather really recursively relevant remaining repo repository respective respectively right same say see
several ship shipped show shows side single site sites somebody someone something somewhere sort source sources spot
spots still stuff system tell thank thanks thing things think through throughout today together too total transitive
transitively tree truly type types under understand until up upon us use used uses using usually various via want wants
way ways well while whole within without wonder wondering work works yes yet
"""
_CHATTER = frozenset(_SPOKEN_AROUND.split())
"""What people say around a question about a relation."""
_OF_TESTS = "test tests testing tested spec specs suite suites mocks stubs unit integration e2e"
_TESTS = frozenset(_OF_TESTS.split())
_OF_PERSON = frozenset(("i", "i'd", "i'm", "i’d", "i’m", "we", "we'd", "we're", "we’d", "we’re"))
"""Begin what somebody is up to, before what is asked: `I want to add a parameter to X. Who calls it?`"""
_WITH_BENCHMARKS = lazy_regex(
    r"\b(?:tests|specs),? (?:and|or|&) (?:benchmarks|examples|fuzzers)\b"
    r"|\b(?:benchmarks|examples) (?:and|or|&) (?:tests|specs)\b",
    re.IGNORECASE,
)
"""All of them are tests."""
_OF_A_TEST_WORDS = """
check checks checking assert asserts asserting expect expects expecting ensure ensures catch hit reach samples fixtures
produced made raised thrown returned reported logged
"""
_OF_A_TEST = frozenset(_OF_A_TEST_WORDS.split())
"""What a test does with what it tests."""
_EXCEPT_WORDS = "including counting excluding exclude excluded except ignoring ignore skipping minus besides"
_EXCEPT = frozenset(_EXCEPT_WORDS.split())
_KIND = lazy_regex(
    f"(?:{KIND_WORD}|flag|option|setting|argument|parameter|value|call|instance|definition"
    "|wrapper|utility|callback|counter|key|target)s?"
)
_EDGE = "`'\"“”,;:?!()[]{}<>.…"
_END = lazy_regex(
    r"[.;!?]\s+|,\s+|:\s+|\s[-–—]+\s| (?:so that|so i|because|in order to|before i|before we|since i|as i|i want|i need"
    r"|we want|to make sure|if i|when i|and then|but i|for example|such as|e\.g\.|i\.e\.) "
    r"| and (?=the (?:exact )?(?:conditions?|circumstances?|situations?|arguments?|parameters?|values?|reasons?)\b)",
    re.IGNORECASE,
)
_MODIFIES = lazy_regex(r"\w+(?:ing|ed|ly)")
"""A word behind a name that says something of the relation rather than of the name: `who calls X passing None`."""


@dataclass(frozen=True, slots=True)
class WordsLeft:
    """Words of a question that the relation, its names and its scope do not account for, as they are written."""

    behind: tuple[str, ...] = ()
    """Directly behind the name, which they belong to: `Appender rollback`."""
    before: tuple[str, ...] = ()
    """Directly before it: `the WAL checkpoint`."""
    elsewhere: tuple[str, ...] = ()

    has_other_relation: bool = False
    """Whether a word that is left tells another relation: `which tests verify Manager inheritance`."""

    @property
    def beside(self) -> tuple[str, ...]:
        """Words that belong to the name."""
        return (*self.before, *self.behind)


def find_unaccounted(text: str, intent: RelationIntent) -> WordsLeft:
    """Return the words of the clause with the name that an answer to the intent would leave out."""
    own = frozenset((*_own(intent), *(part.text for part in further_parts(text, intent))))
    known = _known(intent)
    text = _WITH_BENCHMARKS.sub("tests", said_plainly(text))
    for clause in (clause for part in split_parts(text) for clause in _END.split(part)):
        raws = [raw for raw in clause.split() if raw.strip(_EDGE)]
        words = [raw.strip(_EDGE) for raw in raws]
        at = [number for number, word in enumerate(words) if _is_name(word, own)]
        is_plan = words[0].lower() in _OF_PERSON and not text.endswith(clause) if words else True
        if not at or is_plan or not any(word.lower() in known.relation for word in words):
            continue
        is_left = [not _is_known(word, own, known) for word in words]
        for number in range(len(words) - 1):  # `where does X get thrown`
            is_left[number] &= not (words[number].lower() == "get" and is_relation_word(words[number + 1].lower()))
        opened = next((number for number in range(at[-1] + 1, len(raws)) if raws[number].startswith("(")), len(raws))
        behind = _run(is_left[:opened], at[-1] + 1, 1)  # what stands in brackets is a remark
        before = _run(is_left, at[0] - 1, -1)
        taken = {*behind, *before}
        elsewhere = [number for number, left in enumerate(is_left) if left and number not in taken]
        others = (number for number, left in enumerate(is_left) if left and not _is_attribute(words[: at[0]], number))
        return WordsLeft(
            tuple(words[number] for number in behind),
            tuple(words[number] for number in before),
            tuple(words[number] for number in elsewhere),
            any(is_relation_word(words[number].lower()) for number in others),
        )
    return WordsLeft()


def _is_attribute(words: Sequence[str], number: int) -> bool:
    """Return whether a word tells no relation: it says of which kind things are that a plural behind it names.

    `unit test filters`. The act that is done through the name is none either: `write through X`.
    """
    following = words[number + 1].lower() if number + 1 < len(words) else ""
    if following in ("through", "via") or (following in _TESTS and _is_attribute(words, number + 1)):
        return True
    is_plural = following.endswith("s") and not following.endswith("ss") and following not in STOP_WORDS
    return is_plural and (_KIND.fullmatch(following) is not None or not is_relation_word(following))


@dataclass(frozen=True, slots=True)
class _RelationVocabulary:
    relation: frozenset[str]
    """Words of the relation."""
    more: frozenset[str]
    """Words of the scope."""


def _known(intent: RelationIntent) -> _RelationVocabulary:
    scope = set(_segments(intent.within)) | set(_segments(intent.outside))
    if intent.direct is not None:
        scope |= {"callers", "caller", "callees"}  # `directly and through callers`
    if intent.tests != TestScope.ANY:
        scope |= _TESTS | _EXCEPT
    if intent.depth:
        scope |= {str(intent.depth), "depth", "levels", "level", "hops", "steps", "deep"}
    relation = words_of(intent.kind)
    if intent.kind == Kind.OVERRIDES:  # `which subclasses override X`: nothing else does
        relation |= words_of(Kind.SUBTYPES)
    if intent.kind == Kind.TESTS:
        relation |= _OF_A_TEST
    return _RelationVocabulary(relation, frozenset(scope))


def _own(intent: RelationIntent) -> Iterator[str]:
    for name in (intent.name, intent.other):
        yield name
        yield from _segments(name)


def _segments(name: str) -> Iterator[str]:
    yield name
    yield from re.split(r"[.:/# ]+", name)


def _is_name(word: str, own: frozenset[str]) -> bool:
    return word in own or dotted(word) in own


def _is_known(word: str, own: frozenset[str], known: _RelationVocabulary) -> bool:
    lowered = word.lower().removesuffix("'s").removesuffix("’s")
    if len(lowered) < 3 or not lowered[0].isalpha() or _is_name(word, own):
        return True
    if lowered in STOP_WORDS or lowered in PRONOUNS or lowered in _CHATTER or _KIND.fullmatch(lowered):
        return True
    return lowered in known.relation or lowered in known.more or word.strip("/") in known.more


def _run(is_left: Sequence[bool], start: int, step: int) -> list[int]:
    """Return the positions of the words that are left, from one on without a gap, in order."""
    found: list[int] = []
    while 0 <= start < len(is_left) and is_left[start]:
        found.append(start)
        start += step
    return sorted(found)


def modifies(word: str) -> bool:
    """Return whether a word behind a name rather says something of the relation: `who calls X passing None`."""
    return _MODIFIES.fullmatch(word) is not None
