"""What a clause is about, and a later clause with that in place of its pronouns. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atlas.code.question.cues import is_relation_word
from atlas.code.question.frames import KIND_WORD
from atlas.code.question.grammar import find_relation
from atlas.code.question.names import dotted, is_code_shaped
from atlas.code.question.requests.verbs import ends_nouns, is_base, is_third_person
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex

_EDGE = "`'\"“”,;:?!()[]{}"
_OPENERS = frozenset(
    """
    who whom whose what which where when why how is are was were do does did can could should who's what's where's
    when's how's
    """.split()  # noqa: SIM905
)
_BEFORE_OPENERS = frozenset(("since", "on", "in", "at", "by", "for", "from", "to", "under", "with", "through", "until"))
"""`since when`, `on which port`."""
_ARTICLES = frozenset(("the", "a", "an", "my", "our", "each", "every"))
_MOST_NOUNS = 4
_MEASURES = frozenset("version value default number name type kind size list limit".split())  # noqa: SIM905
_DEICTIC = frozenset("module package crate project repo repository codebase workspace".split())  # noqa: SIM905
"""`from this module` means the whole of it, not what was named before."""
_WHOLE = frozenset("library project framework application app program".split())  # noqa: SIM905
"""`where does the library handle it`: all of the code."""
_AUXILIARY = frozenset("does do did is are was were can could should will would has have to".split())  # noqa: SIM905
_DO = frozenset(("do", "does", "did"))
_INTO = frozenset("of for to by in with from on about into at than after before without".split())  # noqa: SIM905
_AS_PACKAGE = lazy_regex(
    r"\b(?:the|our) (?P<name>[\w@][\w@./-]*) (?:package|library|gem|crate|dependency|npm module)\b", re.IGNORECASE
)
_IN_PLACE = lazy_regex(
    r"(?:In|Inside(?: of)?|Within) (?:the )?[`'\"]?[\w.:#/-]+[`'\"]?(?: \w+)?,? (?=(?:a|an|the|there|we)\b)"
)
"""Where something is that a statement is about."""
_DESCRIBES = frozenset(("for", "that", "which", "of", "behind"))
"""Stand before what tells one thing of a kind from others."""
_DUMMY = frozenset(("possible", "ok", "okay", "safe", "necessary", "worth", "enough"))
"""`is it possible to` is about nothing before."""
_ONE_AFTER = frozenset("set add register use write create define have make get pass need override".split())  # noqa: SIM905
_KIND = lazy_regex(f"(?:{KIND_WORD}|flag|option|setting|argument|parameter|value|call|variable|one)s?", re.IGNORECASE)
_ASKED_KIND = lazy_regex(
    f"(?:{KIND_WORD}|test|spec|gem|dependency|script|page|section|caller|subclass|plugin)(?:s|es)?"
    "|dependencies|libraries|classes|directories",
    re.IGNORECASE,
)
"""What `which` asks for, where a later clause can be about it."""
_THESE = frozenset(("this", "that", "these", "those"))
_WHOSE = frozenset(("its", "their"))
_PLURALS = frozenset(("they", "them", "their", "these", "those"))
_OF_CHANGE = "{clause} if I change {name}"
_OF_TESTS = "{clause} for {name}"
_COMPLETED = (_OF_CHANGE, _OF_TESTS, "{clause} by {name}", "{clause} of {name}")
"""How a clause without an object may go on."""
_AFFECTED = lazy_regex(
    r"\b(?:affect|break|broke|impact|touch|fail|follow|change|adapt|update|involve)\w*", re.IGNORECASE
)
"""Only what has one of these words asks for what a change does."""
_THROUGH = lazy_regex(
    r" (?:(?:only |also )?(?:indirectly |transitively )?(?:through|via|by way of|because of|by|over) )"
    r"(?:(?:all )?(?:of )?(?:those|these|the|its|their|such) (?:\w+ )?(?:callers?|calls|call sites?|users|usages"
    r"|uses|places)|them|those|these)(?= |$)| (?:indirectly|transitively)(?= |$)",
    re.IGNORECASE,
)
"""What leads from a change to what it affects: `which macros are affected through those callers`."""
_OF_TEST = lazy_regex(r"\b(?:tests?|specs?)\b", re.IGNORECASE)
_LEAST_ASKED = 3
_LEAST_JOINED = 2
_WITH_KIND = 2
"""Words of `that class`."""
MOST_OPEN = 6
"""Words of a clause that may lack its object."""


_THAT_ONE = lazy_regex(r"\bth(?:at|is) (?:latter )?one\b", re.IGNORECASE)
RESULT = "\ue000"
"""Stands in a clause for what the clause before asks for."""


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What a clause asks for: `which gem parses it` asks for a gem, `what reads it` for something."""

    noun: str
    """"" for `what` and `who`."""
    is_plural: bool

    def is_meant(self, pronoun: str, kind: str = "") -> bool:
        """Return whether a pronoun certainly means what is asked for, rather than what the clause names."""
        if kind and not self.noun:
            return pronoun in _PLURALS  # `what implements X and where are those classes made`
        if kind:
            return bool(self.noun) and _singular(kind.lower()) == _singular(self.noun)
        if pronoun in _PLURALS:
            return self.is_plural or not self.noun
        return bool(self.noun) and not self.is_plural


@dataclass(frozen=True, slots=True)
class ClauseSubject:
    """What a clause is about."""

    text: str
    is_name: bool
    """It is a name of code, a flag or a path; otherwise words."""
    path: str = ""
    """A path that the clause writes."""
    together: str = ""
    """Two names that the clause joins: what `they` means."""

    def called(self, kind: str) -> str:
        """Return the subject as it is meant by `that class` or `that file`."""
        return self.path if self.path and kind.lower().startswith("file") else self.text


def asked_for(text: str) -> AskedFor | None:
    """Return what a text asks for; None where that is no thing that another clause can be about.

    `which files does it import` is about its subject, so only a question word that is the subject of its verb counts.
    """
    words = [word.strip(_EDGE) for word in text.split()]
    first = words[0].lower() if words else ""
    if first not in ("which", "what", "who") or len(words) < _LEAST_ASKED:
        return None
    kinds = [at for at, word in enumerate(words[1:_MOST_NOUNS], 1) if _ASKED_KIND.fullmatch(word)]
    if not kinds:
        is_verb = first != "which" and (is_relation_word(words[1].lower()) or words[1].lower() == "reads")
        return AskedFor("", is_plural=False) if is_verb else None
    at = next(at for at in kinds if at + 1 not in kinds)  # of `test files`, files
    following = words[at + 1].lower() if at + 1 < len(words) else ""
    if not following or following in _AUXILIARY | _INTO:
        return None
    noun = words[at].lower()
    return AskedFor(noun, is_plural=noun.endswith("s") and not noun.endswith("ss"))


def _singular(noun: str) -> str:
    return noun.removesuffix("es" if noun.endswith("sses") else "" if noun.endswith("ss") else "s")


def subject_of(text: str, asked: AskedFor | None = None) -> ClauseSubject | None:
    """Return what a text is about: the name of its relation, its first name, or the nouns that it asks about.

    Beside things that it asks for, what it says of them: of `which files import rxjs`, `it` is no file.
    """
    if (place := _IN_PLACE.match(text)) is not None and written_names(text[place.end() :]):
        text = text[place.end() :]  # `In run a local copy is made`: the copy
    relation = find_relation(text)
    names = written_names(text)
    path = next((name for name in names if "/" in name), "")
    if relation is not None and relation.name:
        written = [word.strip(_EDGE).rstrip(".") for word in text.split()]
        name = next((word for word in written if dotted(word) == relation.name), "")
        if name and (relation.certain or is_code_shaped(name) or name in names):
            called = name if is_code_shaped(name) else f"`{name}`"
            return ClauseSubject(called, is_name=True, path=path, together=_together(text, names))
    if (package := _AS_PACKAGE.search(text)) is not None:
        return ClauseSubject(package[0], is_name=True)
    if names:
        return ClauseSubject(names[0], is_name=True, path=path, together=_together(text, names))
    if asked is not None and asked.is_plural and relation is not None and relation.name in text.split():
        return ClauseSubject(relation.name, is_name=True)
    nouns = _nouns([word.strip(_EDGE.replace(",", "")) for word in text.split()])
    return ClauseSubject(nouns, is_name=False) if nouns else None


def _together(text: str, names: Sequence[str]) -> str:
    """Return the first two names as they are joined; "" where other words stand between them."""
    if len(names) < _LEAST_JOINED:
        return ""
    one, two = names[:2]
    joins = (f"{one}{by}{two}" for by in (" and ", " & ", "` and `"))
    return next((each for each in joins if each in text), "")


def written_names(text: str) -> list[str]:
    """Return the words of a text that are names of code, flags or paths."""
    found: list[str] = []
    for number, raw in enumerate(text.split()):
        word = raw.strip(_EDGE).rstrip(".")
        is_plain = number == 0 and word.istitle()
        if (
            raw.startswith(("`", '"`'))
            or word.startswith("--")
            or (is_code_shaped(word) and not is_plain and word != "I")
        ):
            found.append(word)
    return [word for word in found if any(map(str.isalnum, word)) and word.lower() not in STOP_WORDS]


def _nouns(words: Sequence[str]) -> str:
    """Return the nouns behind the first article, or behind the words that open the question.

    `which hooks run` is about hooks, `which port does the server use` about the server, `what ensures that` about
    nothing, `is snappy mandatory` about snappy.
    """
    starts = [number + 1 for number, word in enumerate(words) if word.lower() in _ARTICLES]
    opening = 1 if words and words[0].lower() in _BEFORE_OPENERS else 0
    first = words[opening].lower() if opening < len(words) else ""
    while opening < len(words) and words[opening].lower() in _OPENERS:
        opening += 1
    nouns, end = _run_of_nouns(words, opening)
    opened = words[opening].lower() if opening < len(words) else ""
    following = words[opening + 1].lower() if opening + 1 < len(words) else ""
    is_verb = first in ("what", "who") and is_third_person(opened) and following not in _AUXILIARY
    is_said = first in _OPENERS and " " not in nouns and nouns.endswith("ed")  # `since when is that refused`
    if is_verb or is_said:
        nouns, end = "", 0
    if first in ("is", "are", "was", "were") and end == len(words) and opening not in starts:
        nouns = nouns.rpartition(" ")[0] or nouns  # what is said of it ends the clause
    is_of_nouns = first in ("which", "what") and opening == 1 and nouns
    if is_of_nouns and not (end < len(words) and words[end].lower() in _AUXILIARY):
        return nouns
    runs = ((*_run_of_nouns(words, start), start) for start in starts)
    found = next(((run, end, start) for run, end, start in runs if run), None)
    if found is None:
        return nouns
    run, end, start = found
    is_asked = any(word.lower() in _DO for word in words[:start])
    if is_asked and end < len(words) and words[end].lower() in _ARTICLES | _WHOSE:
        run = run.rpartition(" ")[0] or run  # `how does the worker find the callable`
    is_described = _KIND.fullmatch(run) is not None and end < len(words) and words[end].lower() in _DESCRIBES
    return " ".join(words[start:]) if is_described else run  # `the exception for bodies that get too big`


def _run_of_nouns(words: Sequence[str], start: int) -> tuple[str, int]:
    """Return nouns, the last ones of a list, and where they end; of `version of X`, X."""
    found: list[str] = []
    at = start
    while at < len(words) and len(found) < _MOST_NOUNS:
        word = words[at].lower().rstrip(",")
        is_measured = word == "of" and found and found[-1].lower().rstrip("s") in _MEASURES
        if is_measured or (word in ("and", "or") and found):
            found = []
        elif found not in ([], ["not"]) and _ends_nouns(word):
            break
        elif word not in STOP_WORDS - {"not"} and any(map(str.isalnum, word)):
            found.append(words[at].rstrip(","))
        if words[at].endswith(","):
            found = []
        at += 1
    return " ".join(found), at


def _ends_nouns(word: str) -> bool:
    return ends_nouns(word) or word in STOP_WORDS or word in _INTO


def resolved(clause: str, subject: ClauseSubject | None) -> str:
    """Return a clause with the subject in place of its pronouns, or behind it where it lacks its object."""
    if subject is None:
        return clause
    words = clause.split()
    found = _replaced(words, subject)
    if found == words and not written_names(clause):
        return _completed(clause, subject)
    return " ".join(found)


def affected_through(clause: str, subject: ClauseSubject | None) -> str:
    """Return a clause for what a change affects through the callers that the part before finds; "" for other clauses.

    It asks what a change of the subject affects: a search for its words would find anything.
    """
    if subject is None or not subject.is_name or _AFFECTED.search(clause) is None or _THROUGH.search(clause) is None:
        return ""
    bare = _THROUGH.sub("", clause.rstrip(" ?.!"))
    text = _OF_CHANGE.format(clause=bare, name=subject.text)
    relation = None if written_names(bare) else find_relation(text)
    return text if relation is not None and dotted(relation.name) == dotted(subject.text.strip("`")) else ""


def of_subject(clause: str, subject: ClauseSubject) -> str:
    """Return a clause without a name of its own with the subject behind it: `which one is picked of X`."""
    if not subject.is_name or written_names(clause):
        return clause
    bare = clause.rstrip(" ?.!")
    return f"{bare} of {subject.text}{clause[len(bare) :]}"


def about_result(clause: str, asked: AskedFor | None) -> str:
    """Return a clause with `RESULT` in place of the pronouns that mean what was asked for before; "" for none."""
    if asked is None:
        return ""
    words = clause.split()
    found = _replaced(words, ClauseSubject(RESULT, is_name=True), asked.is_meant)
    return " ".join(found) if any(RESULT in word for word in found) else ""


def of_that_one(clause: str) -> str:
    """Return a clause with `RESULT` in place of `that one`, which is the thing that the clause before asks for."""
    return _THAT_ONE.sub(RESULT, clause, count=1) if _THAT_ONE.search(clause) else ""


def _replaced(
    words: Sequence[str], subject: ClauseSubject, is_meant: Callable[[str, str], bool] | None = None
) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(words):
        taken, said = _at(words, at, subject)
        low = words[at].rstrip(",;?.!").lower()
        kind = words[at + 1].rstrip(",;?.!") if taken == _WITH_KIND and low not in _WHOSE else ""
        if said != list(words[at : at + taken]) and is_meant is not None and not is_meant(low, kind):
            taken, said = 1, [words[at]]
        found += said
        at += taken
    return found


def _at(words: Sequence[str], at: int, subject: ClauseSubject) -> tuple[int, list[str]]:
    """Return how many words a pronoun takes, and what stands for it."""
    bare = words[at].rstrip(",;?.!")
    mark, low = words[at][len(bare) :], bare.lower()
    before = words[at - 1].lower() if at else ""
    after = words[at + 1].rstrip(",;?.!") if at + 1 < len(words) and not mark else ""
    is_last = bool(mark) or not after
    said = [subject.text + mark]
    if low in ("them", "they") and subject.together:
        said = [subject.together + mark]
    if low in ("it", "them", "they"):
        return (1, [words[at]]) if after.lower() in _DUMMY else (1, said)
    if low in _WHOSE and after and _is_of_other(words, at):
        return 1, [words[at]]  # `which only need it for their tests`
    if low in _WHOSE and after:
        end = words[at + 1][len(after) :]
        is_kind = not end and at + 2 < len(words) and _KIND.fullmatch(words[at + 2]) is not None
        extra = 1 if is_kind and subject.is_name else 0
        return 2 + extra, [after, "of", subject.text + end]
    if low in _THESE or (low == "the" and _KIND.fullmatch(after) and not _has_name_beside(words, at + 1)):
        is_place = low == "the" and before in ("in", "across", "within", "throughout", "of")
        is_actor = low == "the" and before in _AUXILIARY and after.lower() in _WHOLE
        is_deictic = low == "this" or (is_place and not subject.path)
        is_whole = is_actor or (is_deictic and after.lower() in _DEICTIC)
        if after and _KIND.fullmatch(after) and subject.is_name and not is_whole:
            return 2, [subject.called(after) + words[at + 1][len(after) :]]
        if is_whole:
            return 2, list(words[at : at + 2])
        if low in _THESE and not is_last and not _is_verb(after) and low != "that" and subject.is_name:
            return 1, [subject.text]
        is_alone = is_last or (before in _AUXILIARY and (subject.is_name or _is_verb(after)))
        if low in _THESE and (before in _AUXILIARY or before in _INTO) and is_alone:
            return 1, said  # not `how long does that block last`
        if low == "that" and before in _INTO and not is_last:
            return 1, [subject.text]
    if low == "one" and before in _ONE_AFTER:
        return 1, said
    if low == "there" and is_last:
        return 1, ["in", *said]
    return 1, [words[at]]


def _is_of_other(words: Sequence[str], at: int) -> bool:
    """Return whether a possessive belongs to another thing than the pronoun before it in the clause."""
    others = ("it",) if words[at].lower() == "their" else ("they", "them")
    return any(word.rstrip(",;?.!").lower() in others for word in words[:at])


def _has_name_beside(words: Sequence[str], at: int) -> bool:
    """Return whether a noun of a kind has its own name, before or behind it."""
    return bool(written_names("x " + " ".join(words[max(at - 1, 0) : at + 3])))


def _is_verb(word: str) -> bool:
    return word.lower() in _AUXILIARY or is_base(word.lower()) or is_relation_word(word.lower())


def _completed(clause: str, subject: ClauseSubject) -> str:
    """Return a short clause with its object: `what other code is affected` by it."""
    if not subject.is_name or len(clause.split()) > MOST_OPEN or find_relation(clause) is not None:
        return clause
    bare = clause.rstrip(" ?.!")
    for form in _COMPLETED:
        if form is _OF_CHANGE and _AFFECTED.search(bare) is None:
            continue
        if form is _OF_TESTS and _OF_TEST.search(bare) is None:
            continue
        text = form.format(clause=bare, name=subject.text)
        relation = find_relation(text)
        if relation is not None and dotted(relation.name) == dotted(subject.text):
            return text
    return clause
