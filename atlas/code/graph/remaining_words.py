"""Apply the words of a question that a relation leaves out: as a member, a choice of symbols, a limit, or not at all.

An answer that ignores such a word would look complete and be about something else: `tests of Appender` for
`which tests exercise Appender rollback`. Where a word can be none of these, the question is searched. Reads the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.targets import Target, all_targets, find_targets
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.question.unaccounted import WordsLeft, find_unaccounted, modifies
from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import resolve
from atlas.core.english.stems import root_of
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, NodeRow

_CHECKED = frozenset(
    (
        *(Kind.CALLERS, Kind.CALLEES, Kind.USAGES, Kind.USES, Kind.INSTANTIATIONS, Kind.RETURNERS, Kind.TESTS),
        *(Kind.TESTED, Kind.SUBTYPES, Kind.SUPERTYPES, Kind.HIERARCHY, Kind.OVERRIDES, Kind.OVERRIDDEN),
        *(Kind.IMPORTERS, Kind.IMPORTS, Kind.DEPENDENTS, Kind.MEMBERS, Kind.DEFINITION),
    )
)
"""Relations whose words are few enough to tell them from others."""
_BY_NAME = ("exact", "suffix", "inherited", "alias")
_DEFINED = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
_POSSESSIVE = lazy_regex(r"\b(?P<owner>[A-Za-z]\w{1,40})(?:'s|’s) (?P<name>[A-Za-z_]\w{1,60})\b")
"""`the engine's close`: a name behind what owns it, in a word of its class or file."""
_OF_OWNER = lazy_regex(r"\b(?:on|of|in|from) (?:the|our|an?) [a-z]{3,40}\b")
SHOWN = 3
MOST_OTHERS = 12
"""Symbols that a limit by name leaves out, of which all are named."""
NOTHING = WordsLeft()


@dataclass(frozen=True, slots=True)
class RemainingWords:
    """What the words of a question beside its relation make of it."""

    intent: RelationIntent
    left: WordsLeft = NOTHING
    is_qualified: bool = False
    """Whether the name is one that the words beside it make."""

    @property
    def says_more(self) -> bool:
        """Whether a word belongs to the name, which then may not be what the question is about."""
        return bool(self.left.beside)


async def read_remaining(reader: Reader, text: str, intent: RelationIntent, where: Filter) -> RemainingWords:
    """Return the intent with the member or symbol that words beside its name choose, and the words that are left.

    `text` is the question. Raises store errors.
    """
    left = find_unaccounted(text, intent) if intent.kind in _CHECKED else NOTHING
    if (owned := _owned_name(text, intent.name)) is not None:
        found = await resolve(reader, intent.name, Filter(project=where.project))
        if found.how not in _BY_NAME:
            owner, name = owned
            member = replace(intent, name=name)
            chosen = await _of_owner(reader, member, replace(left, elsewhere=(owner,)), where)
            before = tuple(word for word in left.before if not word.startswith(owner))
            if chosen.intent.name != member.name:
                return replace(chosen, left=replace(left, before=before))
            every = await find_targets(reader, name, replace(member, certain=False), where.project)
            if every.total > 1 and all(_has_all(reader, _texts_of(each), (owner,)) for each in every.targets):
                # an interface and what implements it
                return RemainingWords(replace(member, certain=True), replace(left, before=before))
    if intent.other or not (left.beside or left.elsewhere):
        return RemainingWords(intent, left)
    if not left.beside:
        return await _of_owner(reader, intent, left, where)
    for name, rest in _qualified(intent, left):
        found = await resolve(reader, name, Filter(project=where.project))
        if found.how in _BY_NAME and any(node.row.label in _DEFINED for node in found.nodes):
            return RemainingWords(replace(intent, name=name, certain=True), rest, is_qualified=True)
    targets = await find_targets(reader, intent.name, replace(intent, certain=False), where.project)
    if targets.total > 1:
        chosen = [each for each in targets.targets if _has_all(reader, _texts_of(each), left.beside)]
        if len(chosen) == 1:
            named = replace(intent, name=chosen[0].node.row.uid, certain=True)
            return RemainingWords(named, replace(left, before=(), behind=()))
    elif targets.total == 1 and intent.certain:
        texts = _texts_of(targets.targets[0])
        before = tuple(word for word in left.before if not _has_all(reader, texts, (word,)))
        behind = tuple(word for word in left.behind if not _has_all(reader, texts, (word,)))
        left = replace(left, before=before, behind=behind)
    return RemainingWords(intent, left)


def _owned_name(text: str, name: str) -> tuple[str, str] | None:
    """Return the owner and the member of a name whose owner the question tells in a word; None for other names."""
    if (match := _POSSESSIVE.search(text)) is not None and name == f"{match['owner']}.{match['name']}":
        return match["owner"], match["name"]
    owner, _, member = name.rpartition(".")
    is_word = owner.isalpha() and owner.islower()
    is_told = is_word and _OF_OWNER.search(text) is not None and f"the {owner}" in text
    return (owner, member) if is_told else None


async def _of_owner(reader: Reader, intent: RelationIntent, left: WordsLeft, where: Filter) -> RemainingWords:
    """Return the intent with the one of several symbols that the words left name: `X in the Y driver`."""
    targets = await find_targets(reader, intent.name, replace(intent, certain=False), where.project)
    if targets.total < 2:
        return RemainingWords(intent, left)
    every = (await all_targets(reader, targets, intent.kind, where.project)).targets
    chosen = [each for each in every if _has_all(reader, _texts_of(each), left.elsewhere)]
    wanted = {root_of(word.lower()) for word in left.elsewhere}
    exact = [each for each in chosen if _owner_parts(reader, each) == wanted]
    chosen = exact if exact else chosen
    chosen = [each for each in chosen if not each.node.row.is_test] or chosen
    if len(chosen) != 1:
        return RemainingWords(intent, left)
    named = replace(intent, name=chosen[0].node.row.uid, certain=True)
    return RemainingWords(named, replace(left, elsewhere=()))


def _owner_parts(reader: Reader, target: Target) -> set[str]:
    """Return the roots of the parts of the name of the class or module around a symbol."""
    owner = target.node.row.qualified_name.rpartition(".")[0].rpartition(".")[2]
    return {root_of(word) for word in reader.split_words(owner) if word != owner.lower()}


def apply_remaining(reader: Reader, words: RemainingWords, found: EdgeAnswer) -> EdgeAnswer | None:
    """Return an answer limited to what the remaining words say, or with what it leaves out; None to search instead."""
    left = words.left
    if found.targets.total == 1 and found.targets.targets:
        texts = _texts_of(found.targets.targets[0])  # `the tests of the limit setting of the scheduler`: its owner
        left = replace(left, elsewhere=tuple(word for word in left.elsewhere if not _has_all(reader, texts, (word,))))
    if words.is_qualified and not found.related and not found.counts:
        return None
    if not left.beside and not left.elsewhere:
        return found
    if left.has_other_relation or (words.says_more and (not words.intent.certain or found.counts or found.title)):
        return None
    limits = (*left.beside, *left.elsewhere) if words.intent.kind == Kind.TESTS else left.beside
    if limits and found.related:
        kept = [each for each in found.related if _has_all(reader, (_text_of(each.node.row),), limits)]
        if kept and len(kept) < len(found.related):
            scope = f"{found.scope} with {_quoted(limits)} in the name".strip()
            notes = (*found.notes, *_others(found.related, kept, limits))
            total = found.unscoped or len(found.related)
            return replace(found, related=tuple(kept), scope=scope, unscoped=total, notes=notes)
        if kept:
            return found
    # an adjective before a name that only one symbol has is said to be left out
    is_one = words.intent.certain and len(found.targets.targets) == 1 and bool(found.related)
    belonging = left.behind if is_one else left.beside
    if any(not modifies(word) for word in belonging) and not found.targets.notes:
        return None
    ignored, said = _effects(reader, (*left.beside, *left.elsewhere), found.related)
    return replace(found, ignored=ignored, notes=(*found.notes, *said))


def _qualified(intent: RelationIntent, left: WordsLeft) -> Iterable[tuple[str, WordsLeft]]:
    """Yield the names that a name makes with the word behind or before it, with the words that are left then."""
    if left.behind:
        member, rest = left.behind[0], replace(left, behind=left.behind[1:])
        yield f"{intent.name}.{member}", rest
        yield f"{intent.name}.{member[:1].upper()}{member[1:]}", rest
    if left.before:
        owner, rest = left.before[-1], replace(left, before=left.before[:-1])
        yield f"{owner}.{intent.name}", rest
        yield f"{owner[:1].upper()}{owner[1:]}.{intent.name}", rest


def _texts_of(target: Target) -> tuple[str]:
    return (_text_of(target.node.row),)


def _text_of(row: NodeRow) -> str:
    return f"{row.qualified_name} {row.path}"


def _has_all(reader: Reader, texts: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether names or paths have all words, in any of their forms."""
    roots = {root_of(part) for text in texts for part in reader.split_words(text)}
    return all(root_of(word.lower()) in roots for word in words)


def _others(every: Sequence[RelatedSymbol], kept: Sequence[RelatedSymbol], limits: Sequence[str]) -> Iterable[str]:
    """Yield what a limit by name leaves out, where it is little: the words may as well say nothing of the names."""
    others = [each for each in every if each not in kept]
    if len(others) <= MOST_OTHERS:
        places = (f"{each.node.row.qualified_name} {each.path}:{','.join(map(str, each.lines))}" for each in others)
        yield f"without {_quoted(limits)} in the name: {'; '.join(places)}"


def _effects(
    reader: Reader, words: Sequence[str], related: Sequence[RelatedSymbol]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that none of the related symbols has, and what there is to say about those that some have."""
    ignored: list[str] = []
    said: list[str] = []
    for word in dict.fromkeys(words):
        having = [each for each in related if _has_all(reader, (_text_of(each.node.row),), (word,))]
        if not having:
            ignored.append(word)
        elif len(having) < len(related):
            places = ", ".join(f"{each.path}:{each.lines[0]}" if each.lines else each.path for each in having[:SHOWN])
            said.append(f"{len(having)} of these have `{word}` in name or path: {places}")
    return tuple(ignored), tuple(said)


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
