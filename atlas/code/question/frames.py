"""The frames of `phrases.toml` as patterns: how English puts a noun or a verb of a relation around a name. Pure.

A frame is a list of elements parted by spaces; each becomes a pattern that ends in one space, so that words are matched
as a whole and names are never cut. The question that is matched has single spaces and one at its end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from atlas.code.question.frame_order import Element, QuestionWords, read_element
from atlas.code.question.relation_kinds import Kind

KIND_WORD = (
    "(?-i:(?:abstract |base |public |private |static |async |global |extension |free |inner |nested )?"
    "(?:class|classes|function|func|fn|method|module|interface|trait|struct|symbol|type|enum|constant|const|variable"
    "|field|attribute|property|macro|file|package|library|crate|decorator|hook|component|exception|protocol|mixin"
    "|object|record|typedef|alias|namespace|constructor|helper|api|folder|directory|dir|operator|model|view|handler"
    "|error|service|middleware|command))"
)
"""In lower case only: `Handler` is a name, `handler` says what kind of thing has it."""
_DETERMINER = "(?:(?:the|a|an|our|my|this|that|its) (?:own )?)?"
_CLASSES: Mapping[str, str] = {
    # up to three words between "which" and the verb: `which test functions call X`
    "SUBJECT": r"(?:(?!of |for |to |does |do |is |are )[\w'-]+ ){0,3}?",
    "THINGS": "(?:(?:all |any |other |the |every |each |unit |test |public |parent |base |super |overridden "
    "|markdown )*"
    "(?:functions?|methods?|class(?:es)?|modules?|files?|code|places?|locations?|lines?|spots?|symbols?"
    "|tests?|types?|structs?|interfaces?|traits?|components?"
    "|packages?|everything|anything|something|things|those|callers?|docs?|documents?|pages?|sections?|adrs?"
    "|decisions?|handlers?|parts?|instances?|stuff|scripts?|services?|objects?|sites?|constants?|variables?|errors?"
    "|exceptions?|implementations?|specs?|ones?) )",
    "BE": "(?:is|are|was|were|gets?|got|being|does|do|has|have|can) ",
    "CHANGE": "(?:change|modify|remove|delete|rename|edit|refactor|touch|alter|update|break|replace|move|drop) ",
    "CHANGING": "(?:changing|modifying|removing|deleting|renaming|editing|refactoring|touching|altering"
    "|updating|breaking"
    "|replacing|moving|dropping|(?:a |any |the )?(?:change|modification|edit|removal|deletion"
    "|rename)s? (?:to|in|of|at|on)) ",
    "CHANGED": "(?:changed|modified|edited|touched|updated|removed|deleted|renamed|altered|added|refactored"
    "|introduced) ",
    # the rest of a question about time: `since v1.2`, `in the last two weeks`, `between main and this branch`
    "TIME": r"(?:(?:since|between|during|over|this|last|today|yesterday|recently|lately|before|against"
    "|compared to|so far"
    r"|(?:in|on|within) (?:the |this |that |our )?(?:last|past|previous|recent|current|branch|week|month|day"
    r"|release|pr))"
    r"(?: \S+){0,7} )",
    "ANY": r"(?:\S+ ){0,6}?",
    "ANYONE": "(?:anything|anyone|anybody|something|someone|somebody|any|other|others|nothing|everything) ",
}

_FORMS = {"N": "nouns", "V": "base", "V3": "third", "VG": "gerund", "P": "participle"}


@dataclass(frozen=True)
class RelationFrame:
    """One way to ask for a relation, as the file writes it, with the words of the relation by form."""

    kind: Kind
    text: str
    words: Mapping[str, str]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Pattern of a question; its groups `x` and `y` are the names, see `_slot`.

        Compiled when a question first needs it: most need few of several hundred, and all take more than a second.
        """
        return re.compile("".join(_element(element, self.words) for element in self.text.split()), re.IGNORECASE)

    def match(self, question: str, words: QuestionWords) -> re.Match[str] | None:
        """Match a question, of which `words` are the words.

        A pattern takes 2 ms to compile, so a frame is left out before if the words cannot stand in its order.
        """
        reached = 1
        for element in self._elements:
            reached = element.reach(reached, words)
            if not reached:
                return None
        return self.pattern.fullmatch(question) if reached >> words.count & 1 else None

    @cached_property
    def _elements(self) -> tuple[Element, ...]:
        return tuple(read_element(element, self.words, _CLASSES) for element in self.text.split())


@dataclass(frozen=True, slots=True)
class FrameGroup:
    """Frames that can only match a question with one of the trigger words."""

    triggers: frozenset[str]
    frames: tuple[RelationFrame, ...]


@cache
def frame_groups() -> tuple[FrameGroup, ...]:
    """Return all frames in the order in which they are tried; read once."""
    phrases = _phrases()
    return (
        *_special(phrases["more"]),
        *(_of_relation(entry, phrases["frames"]) for entry in phrases["relations"]),
        *_special(phrases["last"]),
    )


@cache
def _phrases() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class RelationWords:
    """The words of one relation by form: `nouns`, `base`, `third`, `gerund`, `participle`."""

    kind: Kind
    inverse: Kind | None
    """What the verb asks for when the name is its subject: `callees` in `what does X call`."""
    forms: Mapping[str, tuple[str, ...]]


@cache
def relation_words() -> tuple[RelationWords, ...]:
    """Return the words of all relations in the order of the file."""
    return tuple(
        RelationWords(
            Kind(entry["kind"]),
            Kind(entry["inverse"]) if "inverse" in entry else None,
            {form: tuple(entry[form].split("|")) for form in _FORMS.values() if form in entry},
        )
        for entry in _phrases()["relations"]
    )


@cache
def nouns() -> frozenset[str]:
    """Return the nouns of all relations: `callers` in `callers of X` is not a name."""
    return frozenset(noun for entry in _phrases()["relations"] for noun in entry.get("nouns", "").split("|"))


@cache
def words_of(kind: Kind) -> frozenset[str]:
    """Return all words by which a question asks for a relation, those of its inverse and of its frames as well."""
    phrases = _phrases()
    forms = (
        form
        for entry in phrases["relations"]
        if kind in (entry["kind"], entry.get("inverse"))
        for key in _FORMS.values()
        for form in entry.get(key, "").split("|")
    )
    frames = (
        frame for entry in (*phrases["more"], *phrases["last"]) if entry["kind"] == kind for frame in entry["frames"]
    )
    return frozenset(re.findall(r"[a-z][a-z'-]+", " ".join((*forms, *frames)).replace("_", " ")))


def _special(entries: Iterable[Mapping[str, Any]]) -> Iterator[FrameGroup]:
    for entry in entries:
        for frame in entry["frames"]:
            yield FrameGroup(_triggers(frame), (RelationFrame(Kind(entry["kind"]), frame, {}),))


def _of_relation(entry: Mapping[str, str], frames: Mapping[str, list[str]]) -> FrameGroup:
    words = {name: entry[key] for name, key in _FORMS.items() if key in entry}
    chosen = [
        *(frames["noun"] if "N" in words else ()),
        *([*frames["active"], *frames["passive"]] if "V" in words else ()),
    ]
    made = [RelationFrame(Kind(entry["kind"]), frame, words) for frame in chosen]
    if "inverse" in entry:
        made += [RelationFrame(Kind(entry["inverse"]), frame, words) for frame in frames["inverse"]]
    triggers = frozenset(form.split()[0] for forms in words.values() for form in forms.split("|"))
    return FrameGroup(triggers, tuple(made))


def _triggers(frame: str) -> frozenset[str]:
    """Return the words of the element of a frame that has the most choices: a question must have one of them."""
    elements = [each.split("|") for each in frame.split() if each[0] not in "['" and each not in ("X", "Y")]
    words = [
        frozenset(choice.partition("_")[0] for choice in each) for each in elements if _CLASSES.keys().isdisjoint(each)
    ]
    return max(words, key=lambda each: (each.isdisjoint(_COMMON), len(each)), default=frozenset[str]())


_COMMON = frozenset(
    ("what", "which", "who", "how", "where", "is", "are", "do", "does", "can", "from", "to", "of", "in", "by", "if")
)


def _element(element: str, words: Mapping[str, str]) -> str:
    if element in ("X", "Y"):
        return _slot(element.lower())
    if element == "'s":
        return rf"{_DETERMINER}(?:{KIND_WORD} )?(?P<x>\S+) 's "
    if element.startswith("["):
        return f"(?:{_element(element[1:-1], words)})?"
    return "(?:" + "|".join(_choices(element, words)) + ")"


def _choices(element: str, words: Mapping[str, str]) -> Iterator[str]:
    for choice in element.split("|"):
        if choice in _CLASSES:
            yield _CLASSES[choice]
        elif choice in words:
            yield f"(?:{'|'.join(map(re.escape, words[choice].split('|')))}) "
        else:
            yield re.escape(choice.replace("_", " ")) + " "


def _slot(name: str) -> str:
    """Return the pattern of a name: `the save method of class User`, `User's save`, `class User`, `User`.

    Groups: `x` the name, `xp` and `xo` its owner before or behind it, `xk` and `xt` a word for its kind.
    """
    kinds = rf"(?P<{name}k>(?:{KIND_WORD} ){{1,2}})?"
    owner = rf"(?:(?:of|on) {_DETERMINER}(?:{KIND_WORD} )?(?P<{name}o>\S+) (?:{KIND_WORD} )?)?"
    return rf"{_DETERMINER}(?:(?P<{name}p>\S+) 's )?{kinds}(?P<{name}>\S+) (?P<{name}t>{KIND_WORD} )?{owner}"
