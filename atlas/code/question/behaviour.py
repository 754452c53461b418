"""Does a question ask for behaviour: `where is the retry delay computed`? Pure.

The clause that asks may follow what is stated before it: `a page redirects to another host. What stops my cookie from
being sent there?`
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from atlas.code.question.parse_question import WANTS_DOCUMENTS, Query
from atlas.core.lazy_regex import lazy_regex

MANY_WORDS = 60
"""A longer text is a report."""
LONG_QUESTION = 9
"""Words of a question without names that tells what happens, in whatever form it asks."""
MOST_NAMED = 0.25
"""Share of the words that names have: `when does the code leave out the `loop` variable` is not for a symbol alone."""
_EXAMPLES = frozenset(("foo", "bar", "baz", "qux", "quux", "foobar"))
"""Words by which people name what stands for anything: `foo.bar` is no name of the project."""
_BORDER = lazy_regex(r"(?:[.;:?!,]|\s-{1,2})\s+(?:(?:and|but|so|then|or)\s+)?|\s(?:and|but)\s")
_SENTENCE_END = lazy_regex(r"[.;?!]\s+")
_LEADS = lazy_regex(r"(?:(?:and|so|also|please|hey|hi)[ ,]+){1,2}", re.IGNORECASE)
_WHAT = (
    r"what (?:exactly )?(?:happens|occurs|becomes of|is done|is (?:\w+ed|kept|sent|left) (?:when|if|before|after)|does"
    r"|makes|causes|stops|prevents|decides|starts|restarts|triggers|ensures|guarantees|keeps|protects|limits|slows|controls"
    r"|determines|chooses|forces|blocks|counts as)\b"
)
_WHO = (
    r"who (?:exactly )?(?:takes care|makes sure|ensures|guarantees|decides|determines|picks|chooses|selects|frees"
    r"|wins|has priority|takes precedence|releases|unlocks|cleans|clears|resets|limits|prevents|stops|notices|wakes"
    r"|hides|masks|escapes|validates|rejects)\b"
)
_EITHER = (
    r"(?:is|are|do|does|will|would|can|gets?) (?:the |it |this |that |they |we |my |an? )?\w[^?]{2,100}"
    r" or (?:do|does|is|are|will|would|what|not|an?|it|we|they|the|raises?|fails?|errors?|crash\w*|ignored|silently)\b"
)
"""Asks which of two things happens: `is the stale copy used or do we fail`."""
_WHOSE = r"(?:in|under|on|to|from|with|for|by) (?:what|which|how much)\b"
_ASKS_FIRST = lazy_regex(
    r"(?:how|where(?:'s)?(?! to\b)|when (?:is|are|was|were|do|does|did|will|would|can|must|exactly)|which"
    rf"|{_WHOSE}|{_WHAT}|{_WHO})\b",
    re.IGNORECASE,
)
_ASKS_LATER = lazy_regex(
    r"(?:how|where|when)(?:'s| (?:exactly )?(?:is|are|was|were|do|does|did|will|would|can|could|must|has|have))\b"
    r"|which (?:place|code|check|part|function|method|line|rule|condition|branch)s? \w+"
    rf"|{_WHOSE}|{_WHAT}|{_WHO}|{_EITHER}",
    re.IGNORECASE,
)
"""Inverted, because `where` and `which` after a comma join what is stated."""
_WHETHER = lazy_regex(r"(?:does|do|did|will|would|can|could|is|are) (?!there\b|any\b|it possible\b)\w", re.IGNORECASE)
_RELATIVE = lazy_regex(r"(?<![\w'\"])['\"`](\.{1,2}/[^'\"`\s]{1,80})['\"`](?![\w'\"])")
_OF_TWO = lazy_regex(r"[a-z]{3,20}/[a-z]{3,20}")
_PLACING = frozenset(("in", "into", "of", "under", "from", "at", "to", "inside", "below", "file", "folder"))
_STATED_WORDS = 5
"""Of a statement that a question without names asks about."""
_ASKS_VALUE = lazy_regex(
    r"how (?:long|much|many|often|big|large|deep|far|wide|fast|old|to)\b|which (?:is|are)\b", re.IGNORECASE
)
_ASKS_USE = lazy_regex(r"(?:how|where) (?:do|can|could|should|would) (?:i|we|you|one)\b", re.IGNORECASE)
_DEFAULT = lazy_regex(r"(?<!\bby )\bdefaults?\b", re.IGNORECASE)
"""A question for a value, which lines of declarations answer, or for how to do something, which pages answer."""
_OF_OTHERS = lazy_regex(
    r"^(?:is|are) there\b(?!.{3,200} (?:if|when|whenever|unless|while|once|after|before) )"
    r"|\b(?:(?:which|what|an?|minimum) versions?|packages?|dependenc(?:y|ies)|pinned|changelogs?|release notes)\b",
    re.IGNORECASE,
)
"""What there is, packages and the history are asked for in sentences as well."""
_ASKS_THING = lazy_regex(
    r"\b(?:which|what|list|every|all) (?:[\w-]+ ){0,2}"
    r"(?:keys?|settings?|options?|flags?|variables?|constants?|files?|tests?)\b",
    re.IGNORECASE,
)
_SCARE_QUOTED = lazy_regex(r"(?<![\w'\"])(['\"])([A-Za-z][a-z]*(?:[ -][A-Za-z]?[a-z]*){0,8})\1(?![\w'\"])")
"""Plain words in quotes: a name of code, a message with a value or a number has other characters."""
_PRINTS = lazy_regex(
    r"\b(?:messages?|errors?|hints?|texts?|warnings?|raise[sd]?|throw[sn]?|prints?|printed|logs?|logged|say(?:s|ing)?"
    r"|strings?|reads?|called|named|titled|outputs?|report\w*|show[ns]?|display\w*|emit\w*|com(?:es?|ing) from"
    r"|appear\w*|occurs?|mention\w*|contain\w*|defined|titles?|headings?|sections?)\b",
    re.IGNORECASE,
)
_PAGE = lazy_regex(r"\bpages?\b", re.IGNORECASE)
_STATING_PAGE = lazy_regex(
    r"\b(?:the |its |their |your |our )?(?:docs?|documentation|guide|readme|manual|changelog|page|tutorial)s? "
    r"(?:also )?(?:says?|claims?|states?|promises?|mentions?|tells?|told|said|suggests?|warns?|implies)\b"
    r"|\baccording to (?:the |its )?(?:docs?|documentation|guide|readme|manual)\b",
    re.IGNORECASE,
)
"""What a page says is told, and code is asked about: `the documentation says it is cached - is it?`."""
_ASKED_CLAUSE = lazy_regex(r"\b(?:which|what|where)\b", re.IGNORECASE)
_ASKED_CONFIGURATION = lazy_regex(
    r"\b(?:which|what|where|list|show|name)\b(?:'s| is| are| does)? (?:\S+ ){0,3}?(?:config|ci|github|gitlab|dependabot"
    r"|lint|(?:build|runtime|dev|optional) dep|minimum|required|supported|make|npm|docker|package|project|pre-commit"
    r"|console|plugin|script|entry)",
    re.IGNORECASE,
)
"""Configuration that is asked for: in `I saved my config file. Does the watcher restart?` it is told."""
_ASKED_PAGE = lazy_regex(
    r"\b(?:which|what|any) (?:\w+ ){0,2}pages?\b|\bpages? (?:that |which )?(?:explain|describe|document|cover|tell)",
    re.IGNORECASE,
)


def asks_how(query: Query) -> bool:
    """Return whether a question asks in plain words how or where something happens, not for a value or a page."""
    if query.focus > MOST_NAMED or _has_path(query) or query.reports or query.states or len(query.words) < 2:
        return False
    is_long = asks_at_length(query)
    if query.wants_tests or asks_document(query):
        return False
    if query.wants_configuration and not (is_long and _ASKED_CONFIGURATION.search(query.text) is None):
        return False
    if len(query.text.split()) > MANY_WORDS or (_DEFAULT.search(query.text) and not is_long):
        return False
    first, *later = _clauses(query.text)
    if _ASKS_USE.match(first):
        return False
    if is_long and not any(map(_ASKS_USE.match, later)):
        return True
    if _ASKS_VALUE.match(first):
        return False
    if _ASKS_FIRST.match(first) is not None or any(_asks_later(clause) for clause in later):
        return True
    ends = [*_SENTENCE_END.finditer(query.text)] if query.text.endswith("?") else []
    if not query.focus and any(_asks_whether(query.text, end) for end in ends):
        return True
    return any(_asks_first(query.text[end.end() :]) for end in ends)


def asks_for_thing(text: str) -> bool:
    """Return whether a setting, a file or a test is asked for by a word for it: `which config key sorts the rows`."""
    return _ASKS_THING.search(text) is not None


def asks_at_length(query: Query) -> bool:
    """Return whether a question has the words of a sentence: it tells what happens rather than names it."""
    is_sentence = len(query.text.split()) >= LONG_QUESTION and query.text.endswith("?")
    return is_sentence and _OF_OTHERS.search(query.text) is None


def without_scare_quotes(text: str, read: Callable[[str], Query]) -> str:
    """Return a question for behaviour without the quotes around words that nothing prints: `a 'See Other' reply`."""
    if len(text.split()) < LONG_QUESTION or not _SCARE_QUOTED.search(text) or _PRINTS.search(text):
        return text
    bare = _SCARE_QUOTED.sub(r"\2", text)
    return bare if asks_how(read(bare)) else text


def _asks_whether(text: str, end: re.Match[str]) -> bool:
    """Return whether a sentence behind a statement asks what follows: `one cannot be read. Does that stop others`."""
    return _WHETHER.match(text, end.end()) is not None and len(text[: end.start()].split()) >= _STATED_WORDS


def _has_path(query: Query) -> bool:
    """Return whether a question names a path.

    `pause/cancel` without a preposition for a place is one of two words, and './x' in quotes is what somebody imports.
    """
    words = query.text.replace(",", " ").split()
    placed = {word for before, word in pairwise(words) if before.lower() in _PLACING}
    examples = {each.group(1) for each in _RELATIVE.finditer(query.text)} if asks_at_length(query) else set[str]()
    return any(each in placed or not _OF_TWO.fullmatch(each) for each in query.paths if each not in examples)


def _asks_first(sentence: str) -> bool:
    is_other = _ASKS_VALUE.match(sentence) or _ASKS_USE.match(sentence)
    return not is_other and _ASKS_FIRST.match(sentence) is not None


def without_examples(query: Query, split_words: Callable[[str], list[str]]) -> Query:
    """Return a question for behaviour without the names of its examples: `does foo.bar try getBar() first?`."""

    def is_own(text: str) -> bool:
        return _EXAMPLES.isdisjoint(split_words(text))

    words, names, paths = (tuple(filter(is_own, each)) for each in (query.words, query.names, query.paths))
    if len(words) == len(query.words):
        return query
    named = set(split_words(" ".join((*names, *paths))))
    focus = sum(word in named for word in words) / max(len(words), 1)
    variants = tuple(filter(is_own, query.variants))
    bare = replace(query, words=words, variants=variants, names=names, paths=paths, focus=focus)
    return bare if asks_how(bare) else query


def _clauses(text: str) -> list[str]:
    """Return a text from each border of a clause on, the whole first."""
    lead = _LEADS.match(text)
    return [text[lead.end() if lead else 0 :], *(text[border.end() :] for border in _BORDER.finditer(text))]


def _asks_later(clause: str) -> bool:
    return _ASKS_LATER.match(clause) is not None and _ASKS_USE.match(clause) is None


def asks_document(query: Query) -> bool:
    """Return whether documents are asked for; pages may be those of a database or of the web."""
    if not query.wants_documents or _ASKED_PAGE.search(query.text):
        return query.wants_documents
    text = query.text
    if stating := _STATING_PAGE.search(text):
        clause = _SENTENCE_END.split(text[: stating.start()])[-1]
        text = text if _ASKED_CLAUSE.search(clause) else f"{text[: stating.start()]} {text[stating.end() :]}"
    return WANTS_DOCUMENTS.search(_PAGE.sub(" ", text)) is not None
