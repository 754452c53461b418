"""Find what a question asks besides the relation that is answered first: a second clause, more names of a list. Pure.

`who calls f and what does it return`, `where is X defined and who uses it`, `callers of A.b, C.d and E.f`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from atlas.code.question.frames import relation_words
from atlas.code.question.grammar import find_relation
from atlas.code.question.names import dotted, is_code_shaped
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.core.lazy_regex import lazy_regex

MOST_PARTS = 2
"""Further parts that are answered or named."""
_MIN_WORDS = 3
"""Words of a clause: `and where`, `and how often` are answered by the places and numbers of the first."""
_ASKS = (
    r"(?=(?:who|whom|whose|what|which|where|when|why|how|does|do|is|are"
    r"|(?:by|in|from|with|to) (?:whom|what|which|where))\b)"
)
_PART = lazy_regex(rf"[,;?]? (?:and|or|but|then) (?:also |then )?{_ASKS}|[,;?] {_ASKS}", re.IGNORECASE)
_PRONOUN = lazy_regex(
    r"\b(?:it|them|they|(?:this|that|these|those) (?:functions?|methods?|class|classes|types?|ones?))(?= |$|\?)",
    re.IGNORECASE,
)
_SIGNATURE = lazy_regex(
    r"^(?:what|which|how)\b.*\b(?:return|returns|take|takes|accept|accepts|arguments?|args|parameters?|signature)\b",
    re.IGNORECASE,
)
_ORDER = lazy_regex(r"(?:and )?in (?:what|which) (?:order|sequence)", re.IGNORECASE)
"""Says how callees are listed."""
_AS_IT_IS = lazy_regex(
    r"\b(?:which|what|who)\b.{0,60}\b(?:left|inherits?|keeps?|uses?|falls? back|relies|rely|stays?|default)\b",
    re.IGNORECASE,
)
"""Asks for the classes that have a method from their base."""
_PLACE = (
    r"(?:place|spot|line|call|caller|call site|use|usage|user|importer|one|function|method|class|file|module|test"
    r"|message|instance|raiser)s?"
)
_OF_EACH = lazy_regex(
    rf"\b(?:each|every) (?:of (?:them|these|those)\b|{_PLACE}\b)|\beach(?=$|[?.,])"
    rf"|\b(?:these|those) (?:\w+ )?{_PLACE}\b|\b(?:between|among) (?:the )?(?:\w+ )?{_PLACE}\b"
    rf"|\bthe (?:\w+ )?{_PLACE} (?:differ|vary)\b|\b(?:they|them|those|there)\b",
    re.IGNORECASE,
)
"""Speaks of the places that the part before asks for: `what does each of them hide`."""
_REASONS = lazy_regex(r"(?:why|how|for what)\b", re.IGNORECASE)
_CHOOSES = lazy_regex(
    r"^(?:and )?(?:what|how|when|why|who|[io]n what|by what|(?:in|under|on) which (?:case|condition)s?)\b"
    r"(?=.*\b(?:one|another|other|which|each|either|them|these|those|they)\b)"
    r"(?=.*\b(?:pick|choos|chos|select|decid|determin|prefer|switch)\w*|.*\b(?:each|one) (?:is )?(?:used|taken)\b)",
    re.IGNORECASE,
)
"""Asks which of several classes is taken: `and what makes the runner pick one over another`."""
_OWN_MEMBER = lazy_regex(
    r"\b(?:which|what|who)(?: of (?:them|these|those|(?:the|its) [a-z]+))?(?: ones?| of (?:them|these|those)| [a-z]+)?"
    r" (?:also |actually |really )?"
    r"(?:(?:overrid|redefin|reimplement|replac)e?s? (?:(?:the|its|their) )?(?:own )?"
    r"|(?:define|declare|have|has|bring|implement|provide|supply|ship|come with|write|add)s? (?:their|its|an?|the) own "
    r"(?:(?:version|implementation|copy|kind) of )?(?:the )?"
    r"|(?:define|declare|implement)s? (?=[`'\"]?\w{2,80}\S{0,80} (?:themselves|itself|on (?:their|its) own)\b))"
    r"[`'\"]?(?P<name>[A-Za-z_]\w{1,80})",
    re.IGNORECASE,
)
"""Asks which of the classes before have a member of their own: `and which of them define their own respond`."""
_OF_PLACES = frozenset((Kind.CALLERS, Kind.USAGES, Kind.INSTANTIATIONS, Kind.IMPORTERS, Kind.OVERRIDES))
_TWO_WORDS = lazy_regex(r"\b([a-z]{3,20}) (?:and|or) (?:(?:directly|also|even|otherwise) ){0,2}([a-z]{3,20})(?= )")
_LISTED = lazy_regex(r",? (?:and|or) |, ", re.IGNORECASE)
_LINK = lazy_regex(r"^(?:(?:of|for|to|by|on|the) )+", re.IGNORECASE)
_OF_ONE = frozenset(Kind) - {Kind.CHANGES, Kind.IMPACT, Kind.ROUTES, Kind.UNUSED, Kind.UNTESTED, Kind.DEPENDENCIES}


@dataclass(frozen=True, slots=True)
class FurtherPart:
    """One more thing that a question asks."""

    text: str
    """The clause, or the further name."""
    intent: RelationIntent | None = None
    """The relation that it asks for; None if it is none."""
    asks_signature: bool = False
    """Whether it asks what the symbol of the first part returns or takes."""
    is_word: bool = False
    """Whether it is only another word for a relation beside that of the first part."""


def further_parts(text: str, answered: RelationIntent) -> tuple[FurtherPart, ...]:
    """Return what a question asks besides the relation that is answered, at most `MOST_PARTS`."""
    if answered.kind not in _OF_ONE:
        return ()
    parts = split_parts(text)
    own = _own_part(parts, answered)
    found = [*_other_relations(parts[own], answered), *_clauses(parts, own, answered), *_names(parts[own], answered)]
    return tuple(found[:MOST_PARTS])


def asks_for_inheriting(text: str) -> bool:
    """Return whether a part asks which classes have a method as it is: an answer about overriders says that."""
    return _AS_IT_IS.search(text) is not None


def own_member(text: str, before: RelationIntent | None) -> str:
    """Return the member of which a text asks which of the classes that the part before finds define it; "" for none."""
    asked = _OWN_MEMBER.search(text) if before is not None and before.kind == Kind.SUBTYPES else None
    return asked["name"] if asked is not None else ""


def asks_of_each(part: str, before: RelationIntent | None) -> bool:
    """Return whether a part asks something of each place that the part before finds, which is no relation of its own.

    The source of the places says it as far as anything does.
    """
    if before is None or before.kind not in _OF_PLACES or _OF_EACH.search(part) is None:
        return False
    if _has_name(part):
        return False
    return find_relation(_OF_EACH.sub(f"`{before.name}`", part, count=1)) is None


def asks_choice(part: str, before: RelationIntent | None) -> bool:
    """Return whether a part asks which of the classes that the part before finds is taken."""
    is_of_classes = before is not None and before.kind == Kind.SUBTYPES
    return is_of_classes and not _has_name(part) and _CHOOSES.search(part) is not None


def _has_name(part: str) -> bool:
    return any(is_code_shaped(word.strip("`'\"?.,()")) for word in part.split())


def is_said_of_results(part: str, before: RelationIntent | None) -> bool:
    """Return whether the places or classes that the part before finds answer a part."""
    return asks_of_each(part, before) or asks_choice(part, before) or bool(own_member(part, before))


def asks_reasons(part: str) -> bool:
    """Return whether a part asks why or how, which no single line says."""
    return _REASONS.match(part) is not None


def split_parts(text: str) -> list[str]:
    """Return the clauses of a question that ask something each."""
    return [each.strip(" ,;?.!") for each in _PART.split(text)]


def _own_part(parts: list[str], answered: RelationIntent) -> int:
    """Return the number of the part that asks for the relation."""
    read = [find_relation(_with_name(part, answered)) if len(parts) > 1 else answered for part in parts]
    same = [at for at, found in enumerate(read) if found is not None and found.name == answered.name]
    exact = [at for at in same if (other := read[at]) is not None and other.kind == answered.kind]
    return next(iter((*exact, *same)), 0)


def _clauses(parts: list[str], own: int, answered: RelationIntent) -> Iterator[FurtherPart]:
    for number, part in enumerate(parts):
        if number == own or len(part.split()) < _MIN_WORDS or _ORDER.fullmatch(part):
            continue
        intent = find_relation(_with_name(part, answered))
        if intent is not None and (intent.name, intent.kind) == (answered.name, answered.kind):
            continue
        is_same = _PRONOUN.search(part) is not None or answered.name in part
        signature = is_same and _SIGNATURE.search(part) is not None
        intent = None if signature else intent
        yield FurtherPart(part, intent if intent is not None and intent.name else None, signature)


def _with_name(part: str, answered: RelationIntent) -> str:
    """Return a clause with the name in place of its first pronoun."""
    return _PRONOUN.sub(answered.name.replace("\\", r"\\"), part, count=1)


def _other_relations(part: str, answered: RelationIntent) -> Iterator[FurtherPart]:
    """Yield the relation whose word stands beside that of the first: `what subclasses or directly instantiates X`."""
    for match in _TWO_WORDS.finditer(part.lower()):
        kinds = [_kinds_of(word) for word in match.groups()]
        for kind, other, word in ((0, 1, match[2]), (1, 0, match[1])):
            if answered.kind in kinds[kind] and kinds[other] and answered.kind not in kinds[other]:
                yield FurtherPart(word, replace(answered, kind=kinds[other][0], direct=None), is_word=True)
                return


def _kinds_of(word: str) -> tuple[Kind, ...]:
    """Return the relations of which a word is a noun or a verb in the present."""
    forms = ("nouns", "base", "third")
    return tuple(entry.kind for entry in relation_words() if any(word in entry.forms.get(form, ()) for form in forms))


def _names(part: str, answered: RelationIntent) -> Iterator[FurtherPart]:
    """Yield the further names of a list, of which each has the shape of code."""
    first, *others = _LISTED.split(part.replace("(", "").replace(")", ""))
    head = find_relation(first) if others and not answered.other else None
    if head is None or (head.kind, head.name) != (answered.kind, answered.name):
        return
    for other in others:
        name = dotted(_LINK.sub("", _LINK.sub("", other.strip()).removeprefix("and ").strip()).strip("`'\"?."))
        if " " in name or not name or not is_code_shaped(name):
            return
        yield FurtherPart(name, replace(answered, name=name, certain=True))
