"""Find the words of a question that may name something in the index, whatever the question asks about them. Pure.

Punctuation, articles, call brackets, arity (`render/2`) and words for kinds are no part of a name. What stands behind a
name with `in`, `of` or `from` may be its owner: a file, a class or a module.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from atlas.code.question.cues import is_relation_word
from atlas.code.question.frames import KIND_WORD, nouns
from atlas.code.question.languages import LanguageTerms
from atlas.code.question.names import dotted, is_code_shaped, without_arity
from atlas.code.question.question_scope import PRONOUNS, SPACE
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex

MOST_NAMES = 8
"""Names of one question that are looked up."""
MOST_PLAIN = 12
"""Words of a longer question that have no shape of a name are not looked up."""


class NameShape(IntEnum):
    """How sure a word is a name before the index is asked; the higher the surer."""

    PLAIN = 0
    """A word of a short question."""
    KIND = 1
    """Next to a word for a kind: `the debounce helper`, `function save`."""
    CODE = 2
    """Mixed case, qualified, with brackets, a path."""
    QUOTED = 3


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A word of a question that may be a name."""

    text: str
    """As it stands in the question, without the punctuation around it."""
    name: str
    """As it is looked up."""
    shape: NameShape
    position: int
    """Number of the word in the question."""
    owner: str = ""
    """The file, class or module that the question says the name is in."""
    owner_words: range = range(0)
    """Numbers of the words that say it: `in shop/cart.py`."""


_SPOKEN = frozenset(
    [
        "about",
        "all",
        "around",
        "anybody",
        "anyone",
        "anything",
        "anywhere",
        "around",
        "ask",
        "code",
        "codebase",
        "currently",
        "days",
        "everybody",
        "everyone",
        "everything",
        "exactly",
        "figure",
        "find",
        "finds",
        "give",
        "gives",
        "got",
        "guess",
        "happen",
        "happens",
        "help",
        "hey",
        "hm",
        "hmm",
        "hm",
        "i'd",
        "know",
        "list",
        "look",
        "looking",
        "looks",
        "maybe",
        "need",
        "needs",
        "nowadays",
        "nutshell",
        "ok",
        "okay",
        "overview",
        "people",
        "place",
        "places",
        "please",
        "project",
        "quick",
        "quickly",
        "really",
        "relevant",
        "repo",
        "repository",
        "say",
        "see",
        "show",
        "shows",
        "so",
        "somebody",
        "someone",
        "something",
        "somewhere",
        "sort",
        "spot",
        "spots",
        "stuff",
        "tell",
        "thanks",
        "thing",
        "things",
        "think",
        "today",
        "understand",
        "want",
        "wants",
        "wonder",
        "wondering",
        "yet",
    ]
)
"""What people say around a question."""
_QUOTES = lazy_regex(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|(?<![\w(])'([^']{1,200})'(?!\w)|“([^”]{1,200})”")
_CALL = lazy_regex(r"(?<=[\w>])\(([^()]{0,80})\)")
_POSSESSIVE = lazy_regex(r"(?<=\w)(?:'s|’s|')$")
_EDGE = "`'\"“”,;:?!()[]{}<>.…"
_KIND = lazy_regex(
    f"(?:{KIND_WORD}|wrapper|utility|callback|flag|option|setting|argument|parameter|counter|attribute|key)s?",
    re.IGNORECASE,
)
_KINDS = lazy_regex("(?:class|subclass)es|types|subtypes|interfaces|implementations")
_OWNER = lazy_regex(r"(?:in|of|from|inside|within|on|under)", re.IGNORECASE)
_ANY = lazy_regex(r"an?|any|some|each|every|own|new", re.IGNORECASE)
_ARTICLE = lazy_regex(rf"(?:the|a|an|this|that|our|my|its|{KIND_WORD})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedText:
    """A question as words, and those that may be names."""

    words: tuple[str, ...]
    names: tuple[WrittenName, ...]
    """The surest first, then in order."""
    is_long: bool = False

    def marked(self, letters: Mapping[int, str], dropped: Collection[int] = ()) -> str:
        """Return the words in lower case with some replaced by a letter, with a space behind each: `who calls X `.

        A word that the question repeats has the letter each time.
        """
        repeated = {self.words[number]: letter for number, letter in letters.items()}
        kept = (word for number, word in enumerate(self.words) if number not in dropped)
        return " ".join(repeated.get(word, word.lower()) for word in kept) + " "


def read_names(text: str, languages: LanguageTerms) -> NamedText:
    """Return the possible names of a question; words without the shape of a name only of a short one. Never raises.

    `text` is normalised: single spaces.
    """
    words = list(_words(text))
    is_long = len(words) > MOST_PLAIN
    found = [each for each in _names(words, languages) if each.shape > NameShape.PLAIN or not is_long]
    named = {each.position: each for each in found}
    owned = [_with_owner(each, words, named) for each in found]
    distinct = {each.name: each for each in reversed(owned)}
    ordered = sorted(distinct.values(), key=lambda each: (-each.shape, each.position))
    return NamedText(tuple(each.text for each in words), tuple(ordered[:MOST_NAMES]), is_long)


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    is_quoted: bool


def _words(text: str) -> Iterator[_Word]:
    held: set[str] = set()

    def hold(match: re.Match[str]) -> str:
        inner = next(group for group in match.groups() if group is not None).strip()
        if not inner or inner.count(" ") > 2:
            return match[0]
        word = inner.replace(" ", SPACE)
        held.add(word)
        return f" {word} "

    text = _QUOTES.sub(hold, text)
    text = _CALL.sub(lambda match: f"({match[1].replace(' ', SPACE)})", text)
    for raw in text.split():
        is_quoted = raw in held
        word = raw if is_quoted else _bare(raw)
        if word:
            yield _Word(word.replace(SPACE, " "), is_quoted)


def _bare(raw: str) -> str:
    """Return a word without the punctuation around it; brackets of a call and of a receiver stay."""
    word = raw.rstrip(",;:?!.…\"'”")
    if not word.startswith("(*"):
        word = word.lstrip(_EDGE.replace(".", ""))
    while word and word[-1] in ")]}>" and _has_more_ends(word.replace("->", "").replace("=>", "")):
        word = word[:-1]
    return _POSSESSIVE.sub("", word)


def _has_more_ends(word: str) -> bool:
    """Return whether a word closes more brackets than it opens."""
    return sum(word.count(each) for each in "([{<") < sum(word.count(each) for each in ")]}>")


def _names(words: list[_Word], languages: LanguageTerms) -> Iterator[WrittenName]:
    for position, word in enumerate(words):
        text = without_arity(word.text)
        name = text if "/" in text or _has_line(text) else dotted(text)
        if not name or not any(character.isalpha() or character in "_$" for character in name):
            continue
        if word.is_quoted:
            yield WrittenName(text, name, NameShape.QUOTED, position)
            continue
        if text.lower() in PRONOUNS or text.lower() in languages.words:
            continue
        if _has_code_shape(text, is_first=position == 0):
            yield WrittenName(text, name, NameShape.CODE, position)
        elif text.isidentifier() and not _is_vocabulary(text):
            beside = (words[each].text for each in (position - 1, position + 1) if 0 <= each < len(words))
            is_named = any(map(_KIND.fullmatch, beside)) and not _is_described(words, position)
            shape = NameShape.KIND if is_named else NameShape.PLAIN
            yield WrittenName(text, name, shape, position)


def _is_described(words: Sequence[_Word], position: int) -> bool:
    """Return whether a word describes a kind instead of naming one of it: `a custom type`, `worker classes`."""
    word = words[position].text
    before = words[position - 1].text if position else ""
    behind = words[position + 1].text if position + 1 < len(words) else ""
    if word.islower() and "_" not in word and (_KINDS.fullmatch(before) or _KINDS.fullmatch(behind)):
        return True
    return _ANY.fullmatch(before) is not None and "_" not in words[position].text


def _has_line(text: str) -> bool:
    """Return whether a word is a path with a line: `shop/cart.py:12`."""
    path, _, rest = text.partition(":")
    line = rest.partition(":")[0]
    return bool(path) and line.lstrip("L").isdigit() and ("." in path or "/" in path)


def _has_code_shape(text: str, *, is_first: bool) -> bool:
    if not is_code_shaped(text):
        return False
    # a capital alone begins a sentence or names a product
    is_capitalised = text.isidentifier() and text[:1].isupper() and text[1:].islower()
    return not is_capitalised or (not is_first and len(text) > 3)


def _is_vocabulary(text: str) -> bool:
    word = text.lower()
    return (
        word in STOP_WORDS
        or word in _SPOKEN
        or is_relation_word(word)
        or word in nouns()
        or _KIND.fullmatch(word) is not None
    )


def _with_owner(name: WrittenName, words: list[_Word], named: dict[int, WrittenName]) -> WrittenName:
    """Return a name with the one behind `in`, `of` or `from` that follows it; words for kinds may stand between."""
    following = first = name.position + 1
    while following < len(words) and _KIND.fullmatch(words[following].text):
        following += 1
    if following >= len(words) or not _OWNER.fullmatch(words[following].text):
        return name
    following += 1
    while following < len(words) and _ARTICLE.fullmatch(words[following].text):
        following += 1
    owner = named.get(following)
    if owner is None or owner.shape < NameShape.KIND:
        return name
    return replace(name, owner=owner.name, owner_words=range(first, following + 1))
