"""Text to Query: the words, names, paths and relation in a question. Pure; independent of the store.

The rules are deliberately few and explicit: a name is shaped like an identifier, a relation is one of the phrases in
`RELATIONS`. Anything else is still searched by words and by meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from atlas.model import Direction, EdgeType
from atlas.search.languages import LanguageTerms

MAX_QUERY_CHARACTERS = 2_000
"""Longer questions are cut: the rest adds words but no intent, and BM25 reads one list per word."""
MAX_RELATION_CHARACTERS = 200
"""Questions about edges are short; longer text contains such phrases only by chance."""
MAX_WORDS = 48
MAX_NAMES = 6
MIN_INFLECTED = 5
"""Minimum number of letters; shorter words (`this`, `used`) would lose more than an ending."""

_STOP = """
a an and any are as at be been but by can could did do does each for from had has have how i if in into is it its my not
of on or our shall should so some such than that the their them then there these they this to was we were what when
where which while who why will with would you your
"""
STOP_WORDS = frozenset(_STOP.split())
"""Dropped from word search if other words remain.

Common words in code (`get`, `class`) stay, because names contain them.
"""

_TEST = "test tests testing tested unittest pytest testcase fixture fixtures spec specs"
TEST_WORDS = frozenset(_TEST.split())

_NAME = r"[`'\"]?([A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$~][\w$]*)*)(?:\(\))?[`'\"]?"
_NOUN = r"(?:the\s+)?(?:class|function|method|module|interface|trait|struct|symbol|type)?\s*"
_END = r"(?:\s+(?:class|interface|trait|struct|type|function|method))?\s*[?.!]*$"
_USE_TYPES = (EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.USES_TYPE, EdgeType.INHERITS, EdgeType.IMPORTS)
_DOC_TYPES = (EdgeType.DOCUMENTS, EdgeType.AFFECTS)


@dataclass(frozen=True, slots=True)
class RelationIntent:
    """A question about the edges of a symbol: follow `types` from `name`, whose end of the edges is `direction`."""

    kind: str
    """The first item of an entry of `RELATIONS`."""
    name: str
    types: tuple[EdgeType, ...]
    direction: Direction


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed question."""

    text: str
    """Normalised (NFC, collapsed white space) and cut at `MAX_QUERY_CHARACTERS`."""
    words: tuple[str, ...]
    """For word search: distinct, in order, without stop words unless there are no others."""
    variants: tuple[str, ...]
    """Base forms of the words (`closes` -> `close`), searched as well, because the index stores words unchanged."""
    names: tuple[str, ...]
    """Looked up as symbols: identifier-shaped parts in order, with dots between segments."""
    joined: tuple[str, ...]
    """Identifiers that a short question may spell (`get user` -> `get_user`, `getuser`), ignoring case."""
    paths: tuple[str, ...]
    focus: float
    """0..1: the share of the words that belong to a name or path; 1 if the question is only a name."""
    relation: RelationIntent | None
    wants_tests: bool
    languages: tuple[str, ...]
    """Languages mentioned in the question: preferred, but not a filter."""
    notes: tuple[str, ...]


RELATIONS: tuple[tuple[str, tuple[EdgeType, ...], Direction, tuple[str, ...]], ...] = (
    ("callers", (EdgeType.CALLS,), Direction.IN, (
        rf"callers?\s+(?:of|for)\s+{_NOUN}{_NAME}",
        rf"(?:who|what|which\s+\w+|where)\s+(?:calls?|invokes?)\s+{_NOUN}{_NAME}",
        rf"where\s+(?:is|are)\s+{_NOUN}{_NAME}\s+(?:called|invoked)",
        rf"calls?\s+to\s+{_NOUN}{_NAME}",
    )),
    ("callees", (EdgeType.CALLS,), Direction.OUT, (
        rf"callees?\s+of\s+{_NOUN}{_NAME}",
        rf"what\s+(?:does|do|is|are)\s+{_NOUN}{_NAME}\s+(?:call|calling|invoke)s?",
        rf"(?:functions?|methods?)\s+called\s+(?:by|from|in)\s+{_NOUN}{_NAME}",
    )),
    ("subclasses", (EdgeType.INHERITS,), Direction.IN, (
        rf"(?:sub-?class(?:es)?|derived\s+classes|children|implementations?|implement[eo]rs?|descendants)\s+(?:of|for)\s+{_NOUN}{_NAME}",
        rf"(?:who|what|which\s+\w+)\s+(?:inherits?(?:\s+from)?|extends?|implements?|sub-?class(?:es)?)\s+{_NOUN}{_NAME}",
    )),
    ("bases", (EdgeType.INHERITS,), Direction.OUT, (
        rf"(?:base\s+class(?:es)?|super-?class(?:es)?|parents?|bases)\s+of\s+{_NOUN}{_NAME}",
        rf"what\s+does\s+{_NOUN}{_NAME}\s+(?:inherit(?:\s+from)?|extend|implement|sub-?class)",
    )),
    ("overrides", (EdgeType.OVERRIDES,), Direction.IN, (
        rf"(?:overrides|overriders)\s+of\s+{_NOUN}{_NAME}",
        rf"(?:who|what|which\s+\w+)\s+overrides?\s+{_NOUN}{_NAME}",
    )),
    ("tests", (EdgeType.TESTS,), Direction.IN, (
        rf"(?:unit\s+)?tests?\s+(?:of|for|covering)\s+{_NOUN}{_NAME}",
        rf"(?:who|what|which\s+\w+)\s+tests?\s+{_NOUN}{_NAME}",
        rf"where\s+is\s+{_NOUN}{_NAME}\s+tested",
    )),
    ("usages", _USE_TYPES, Direction.IN, (
        rf"(?:usages?|uses|references|users)\s+(?:of|to)\s+{_NOUN}{_NAME}",
        rf"(?:who|what|which\s+\w+)\s+(?:uses?|references)\s+{_NOUN}{_NAME}",
        rf"where\s+(?:is|are)\s+{_NOUN}{_NAME}\s+(?:used|referenced)",
    )),
    ("docs", _DOC_TYPES, Direction.IN, (
        rf"(?:docs?|documentation|adrs?|decisions?)\s+(?:of|for|about|on)\s+{_NOUN}{_NAME}",
        rf"where\s+is\s+{_NOUN}{_NAME}\s+documented",
    )),
    ("importers", (EdgeType.IMPORTS,), Direction.IN, (
        rf"importers\s+of\s+{_NOUN}{_NAME}",
        rf"(?:who|what|which\s+\w+)\s+imports?\s+{_NOUN}{_NAME}",
        rf"where\s+is\s+{_NOUN}{_NAME}\s+imported",
    )),
    ("imports", (EdgeType.IMPORTS,), Direction.OUT, (
        rf"(?:imports|dependencies)\s+of\s+{_NOUN}{_NAME}",
        rf"what\s+does\s+{_NOUN}{_NAME}\s+(?:import|depend\s+on)",
    )),
    ("definition", (), Direction.OUT, (
        rf"where\s+(?:is|are)\s+{_NOUN}{_NAME}\s+(?:defined|declared|implemented)",
        rf"definitions?\s+of\s+{_NOUN}{_NAME}",
        rf"(?:go\s+to|find|show)\s+(?:the\s+)?definition\s+of\s+{_NOUN}{_NAME}",
    )),
)  # fmt: skip
"""(kind, edge types, the symbol's end of the edges, phrases). A phrase must end the question."""

_PHRASES = tuple(
    (kind, types, direction, re.compile(rf"(?:^|\b){phrase}{_END}", re.IGNORECASE))
    for kind, types, direction, phrases in RELATIONS
    for phrase in phrases
)
_BACKTICKED = re.compile(r"`([^`\s]{1,200})`")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$~][\w$]*)*(?:\(\))?")
_MIXED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|_|\.|::|#|->|\(\)|\$")


def route(text: str, split_words: Callable[[str], list[str]], languages: LanguageTerms) -> Query:
    """Parse a question. `split_words` must split like the index. Deterministic, never raises."""
    folded = " ".join(valid(text[: MAX_QUERY_CHARACTERS * 4]).split())
    notes: list[str] = []
    if len(folded) > MAX_QUERY_CHARACTERS or len(text) > MAX_QUERY_CHARACTERS * 4:
        folded = folded[:MAX_QUERY_CHARACTERS]
        notes.append(f"query cut to its first {MAX_QUERY_CHARACTERS} characters")
    paths = _distinct(match.group(1) for match in languages.path.finditer(folded))
    relation = _relation(folded)
    plain = [word.strip(".,;:!?()[]{}'\"`").lower() for word in folded.split()]
    all_words = _distinct(split_words(folded))
    words = tuple(word for word in all_words if word not in STOP_WORDS) or all_words
    names, joined = _names(folded, paths, relation)[:MAX_NAMES], _joined(plain) if relation is None else ()
    named = set(split_words(" ".join((*names, *paths)))) if not joined else words
    if len(words) > MAX_WORDS:
        notes.append(f"only the first {MAX_WORDS} of {len(words)} words were searched")
    return Query(
        text=folded,
        words=words[:MAX_WORDS],
        variants=_distinct(form for word in words[:MAX_WORDS] for form in base_forms(word) if form not in words),
        names=names,
        joined=joined,
        paths=paths[:MAX_NAMES],
        focus=sum(word in named for word in words) / len(words) if words else 0.0,
        relation=relation,
        wants_tests=any(word in TEST_WORDS or word.startswith("test_") for word in plain),
        languages=_distinct(languages.words[word] for word in plain if word in languages.words),
        notes=tuple(notes),
    )


def valid(text: str) -> str:
    """Return the text in normal form C, with lone surrogates (not valid UTF-8) replaced by question marks."""
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())


def dotted(name: str) -> str:
    """Return a name in the form of qualified names: segments joined by dots, without backticks and call brackets."""
    return re.sub(r"::|#(?!\d)|->", ".", name.strip().strip("`'\"").removesuffix("()")).strip(".")


def base_forms(word: str) -> list[str]:
    """Return possible base forms of an inflected English word; most are not words, which costs nothing."""
    if len(word) < MIN_INFLECTED or not word.isalpha():
        return []
    if word.endswith("ies"):
        return [word[:-3] + "y"]
    if word.endswith("es"):
        return [word[:-1], word[:-2]]
    if word.endswith("s") and not word.endswith("ss"):
        return [word[:-1]]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            doubled = [stem[:-1]] if stem[-1] == stem[-2] else []
            return [stem, stem + "e", *doubled]
    return []


def _relation(text: str) -> RelationIntent | None:
    """Return the first relation whose phrase ends the question; one that starts mid-question needs an identifier."""
    if len(text) > MAX_RELATION_CHARACTERS:
        return None
    for kind, types, direction, phrase in _PHRASES:
        match = phrase.search(text)
        if match and (match.start() == 0 or _MIXED.search(match.group(1))):
            return RelationIntent(kind, dotted(match.group(1)), types, direction)
    return None


def _names(text: str, paths: tuple[str, ...], relation: RelationIntent | None) -> tuple[str, ...]:
    if relation is not None:
        return (relation.name,)
    quoted = [dotted(name) for name in _BACKTICKED.findall(text) if _IDENTIFIER.fullmatch(name)]
    for path in paths:
        text = text.replace(path, " ")
    identifiers = [match.group(0) for match in _IDENTIFIER.finditer(text)]
    if len(identifiers) == 1 and len(text.split()) == 1:
        return _distinct([*quoted, dotted(identifiers[0])])
    return _distinct([*quoted, *(dotted(name) for name in identifiers if _MIXED.search(name.strip(".")))])


def _joined(plain: list[str]) -> tuple[str, ...]:
    parts = [word for word in plain if word.isidentifier()]
    if not 2 <= len(plain) <= 4 or len(parts) != len(plain):
        return ()
    return ("_".join(parts), "".join(parts))


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))
