"""Text to Query: the words, names, paths and relation in a question. Pure; independent of the store.

The rules are deliberately few and explicit: a name is shaped like an identifier, a relation is what the grammar in
`grammar.py` recognises. Anything else is still searched by words and by meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from atlas.code.question.cues import asks, is_relation_word
from atlas.code.question.grammar import find_relation
from atlas.code.question.languages import LanguageTerms
from atlas.code.question.names import dotted, valid
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.core.english.stems import base_forms, other_spellings
from atlas.core.english.stop_words import CONTRACTED, STOP_WORDS
from atlas.core.lazy_regex import lazy_regex

_KIND_OF_DEPENDENCY = lazy_regex(
    r"(?<![\w.`'\"])(dev|peer|optional)Dependenc(y|ies)\b(?! (?:key|field|section|property))"
)
"""A key of a manifest as a word of a sentence: `can the devDependency semver be dropped`."""
_ASKS_FIRST = lazy_regex(r"([^?]{8,200}\?) (?=(?:I|I'm|We|My|Our|It|This|That|The)\b)[^?]{1,300}$")
"""A question and a statement about it: `Where is X defined? I need one for durations.`"""
MAX_QUERY_CHARACTERS = 2_000
"""Longer questions are cut: the rest adds words but no intent, and BM25 reads one list per word."""
MAX_WORDS = 48
MAX_NAMES = 6
MAX_REPORT = 20
"""Words of a title and a text that may still ask for a relation; a longer one tells what is wrong or what changes."""
MAX_QUESTION = 40
"""Words of a question; in a longer text, such as a report of a defect, "test" says nothing about what it asks for."""
MIN_VERBATIM = 5
"""Words of a text that is searched as it stands: fewer stand next to each other by chance."""

PLACES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ci": ("workflows", "circleci", "travis", "buildkite"),
        "workflow": ("workflows",),
        "container": ("dockerfile",),
        "docker": ("dockerfile",),
        "make": ("makefile",),
        "rpc": ("proto",),
        "stylesheet": ("css", "scss"),
        "template": ("templates",),
        "migration": ("migrations",),
    }
)
_CONTROL_KEY = lazy_regex(r"(?:\b(?:ctrl[-+ ]|control[-+])|(?<!\w)\^)([CDZ])\b", re.IGNORECASE)
"""A key as people write it: Ctrl-C, Ctrl+C, control-C, ^C. Code has the name of what the key causes."""
_CONTROL_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"c": ("interrupt", "sigint", "ctrl"), "d": ("eof", "ctrl"), "z": ("suspend", "sigtstp", "ctrl")}
)
"""Words that stand in the paths of what a word of a question means."""
MIN_STATEMENT = 4
_ROLE = lazy_regex(r":[a-z]+(?::[a-z]+)?:`|``[^`]+``|\[`[^`]+`\]")
"""Markup of Sphinx and rustdoc; questions quote names in single backticks."""
_VERBS = """
accept add adds allow allows append apply applies assert bind build builds cast cause checks clean clear close
closes collect combine compile compiles compress compresses compute computes configure connect connects
construct constructs convert converts copy create creates decode decodes define defines delete deletes
describe describes determine determines disable disables emit enable enables encode encodes ensure ensures
escape escapes execute executes expand
extract extracts fetch fetches filter flush forward generate generates handle handles
ignore ignores implements indicates initialize initializes insert inserts install invoke invokes iterate load
loads make makes map marks merge merges move normalize notify opens parse parses patch perform performs
prepare prepares process processes produce produces provide provides push put raise raises reads receive
receives record records register registers release remove removes render renders replace replaces represent
represents reset resets resolve resolves restore returns save saves schedule send sends serialize set sets
sort sorts split start starts stop stops store stores strip switch transform unwind update updates validate
validates verify verifies wait waits wrap wraps write writes yield yields
"""
_OPENS_WITH = frozenset(_VERBS.split())
_ACTS = (
    r"(?!(?:calls|uses|imports|extends|implements|overrides|inherits|tests|references|mentions|is|was|has|does"
    r"|(?:class|function|method|module|file|type|package|route|event|endpoint|place|line|symbol|section|page|note"
    r"|change|commit|spec|thing|field|value|setting|command|dependencie|version|interface|trait|struct|enum)e?s)\b)"
    r"[a-z]{2,}s (?:and [a-z]+s )?(?:an?|the|any|all|each|every|this|its)\b"
)
"""A verb in the third person and its object: "walks any tree". Not the verbs of edges, nor "classes the user has"."""
_STATES = lazy_regex(
    r"^(?:(?:raised|called|invoked|used|triggered|fired) (?:by|when|if|before|after|to|for|internally|from)\b"
    r"|(?:this|whether|without) (?!.*\?)|(?:an?|the) (?:\S+ ){0,4}?\S+ (?:is|are|that|which|for|used|calls)\b"
    rf"|\S+ (?:for|that|which) \S+ing\b|\S+ uses this\b|(?:\S+ )?{_ACTS})",
    re.IGNORECASE,
)
_ASKS_ANYWHERE = lazy_regex(
    r"\?\s*$|^(?:what|which|who|where|when|how|why|is|are|does|do|did|can|could|please|show|find|list|give|tell|explain"
    r"|search)\b|\b(?:callers|callees|usages|references|subclasses|subtypes|implementors|implementations|overrides|importers"
    r"|dependents|call sites)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ErrorText:
    """A message of an error in a line of a log."""

    words: str
    """Separated by spaces."""
    constants: tuple[str, ...]
    """The words between the values of the message and between messages that wrap one another."""


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
    phrases: tuple[str, ...]
    """Quoted texts and error messages: words that stand next to each other, separated by spaces."""
    verbatim: str
    """The words of a text that may be quoted from the code, such as a message; "" for a question or a short text."""
    focus: float
    """0..1: the share of the words that belong to a name or path; 1 if the question is only a name."""
    relation: RelationIntent | None
    """What the question asks about the edges of a symbol; the other fields serve where that finds no such symbol."""
    wants_tests: bool
    wants_documents: bool
    """Whether the question asks for a page or how to do something."""
    wants_reasons: bool
    """Whether the question asks why something is as it is."""
    wants_configuration: bool
    """Whether the question asks for a setting of the project: its build, dependencies, checks or deployment."""
    states: bool
    """Whether it is a sentence of documentation: it says what a definition does."""
    languages: tuple[str, ...]
    """Languages mentioned in the question: preferred, but not a filter."""
    notes: tuple[str, ...]
    reports: bool = False
    """Whether it is a report of a defect or the message of a change: a title and a text, or a long text."""
    errors: tuple[ErrorText, ...] = ()
    """The messages of a line of a log, which are `phrases` as well."""


_OF_DEFINITIONS = frozenset(
    (Kind.SUBTYPES, Kind.SUPERTYPES, Kind.HIERARCHY, Kind.OVERRIDES, Kind.OVERRIDDEN, Kind.INSTANTIATIONS)
)

WANTS_DOCUMENTS = lazy_regex(
    r"(?<!generation of )(?<!generating )(?<!generates )(?<!generate )"
    r"\b(?:docs?|documentation|documents?|documented|pages?|tutorials?|guides?|manual|handbook|readme|changelog|explain(?:s|ed)"
    r"|release notes)\b|^where (?:can|do|should) (?:i|we|one) (?:read|learn)\b"
    r"|^(?:how (?:do|can|should|would) (?:i|you|we)|how to)\b",
    re.IGNORECASE,
)
_ASKS_WHAT_FOLLOWS = lazy_regex(r"^what (?:happens|occurs|goes on) (?:when|if|after|once|while|as)\b", re.IGNORECASE)
_COVERING_PAGE = lazy_regex(
    r"\b(?:pages?|chapters?|guides?|sections?|docs?|documents?|documentation|tutorials?|manual|articles?)\b.*\bcover",
    re.IGNORECASE,
)
"""Pages cover a topic, as tests cover code."""
_ASKS_FOR_PAGE = lazy_regex(
    r"^(?:which|what) (?:\w+ ){0,2}?(?:pages?|chapters?|guides?|sections?|docs?|documents?|tutorials?|articles?|files?)"
    r" (?:(?:of|in) (?:the |our )?[\w.-]+ )?(?:\w+ )?(?:documents?|explains?|describes?|covers?|lists?|says?|tells?"
    r"|mentions?|discuss(?:es)?)\b"
    r"|^where (?:is|are) .{1,120} (?:documented|explained|described)\b"
    r"|^where in (?:the |our )?(?:[\w.-]+ ){0,2}(?:docs?|documentation|readme|manual|guide)\b"
    r"|^(?:please )?(?:point me to|show me|give me|find(?: me)?|name|locate|link(?: me)? to) (?:the |a |an )?"
    r"(?:[\w-]+ ){0,2}?(?:(?:docs?|documentation|readme|manual|guide|handbook) (?:sections?|pages?|chapters?|parts?)"
    r"|(?:sections?|pages?|chapters?) (?:of|in) the (?:\w+ )?(?:docs?|documentation|readme|manual|guide|handbook))\b"
    r"|^where do(?:es)? (?:the |our )?(?:[\w.-]+ )?(?:docs?|documentation|readme|manual|guide)"
    r" (?:explain|describe|say|cover|tell)\b",
    re.IGNORECASE,
)
"""A page is asked for, whatever it is about."""
_WANTS_REASONS = lazy_regex(
    r"^why\b|\b(?:rationale|trade-?offs?|design decisions?|adrs?|reasons? (?:for|behind|why))\b"
    r"|^how (?:is|are|was|were) .{3,80} (?:decided|chosen|justified)\b|\bwhy (?:is|are|was|were|do|does|did|we|not)\b",
    re.IGNORECASE,
)
_WANTS_CONFIGURATION = lazy_regex(
    r"\b(?:config(?:uration)? files?|(?<!in a )(?<!on a )(?<!from a )ci (?:pipeline|workflow|job)|ci config"
    r"|(?:github|gitlab) (?:actions?|ci)|dependabot"
    r"|linter|lint(?:ing)? (?:rules?|config\w*)|(?:build|runtime|dev|development|optional) dependencies"
    r"|(?:minimum|required|supported) (?:\w+ )?versions?|(?:make|npm) (?:targets?|scripts?)|bot config(?:uration)?"
    r"|dockerfile|makefile|docker image"
    r"|(?:package|project) (?:metadata|manifest)|pre-commit"
    r"|(?:console|package|plugin|script|distribution) entry points?)\b",
    re.IGNORECASE,
)
_WANTS_VERSION = lazy_regex(
    r"\bversions? (?:of (?:\w+ ){1,4})?(?:(?:are|is) (?:supported|required|needed)"
    r"|do(?:es)? .*(?:require|support|need))\b",
    re.IGNORECASE,
)
"""With the name of a language: which versions of it the project supports."""
_OF_VERSIONS = lazy_regex(r"\bversions?\b", re.IGNORECASE)
_WANTS_TESTS = lazy_regex(
    r"\b(?:unit|integration|regression|functional|end-to-end|e2e)[- ]tests?\b|\btest_\w+|\w+_test\b"
    r"|\btested\b(?! (?:against|before|for|if|to|whether)\b)"
    r"|\b(?:test|spec)s?[ -](?:for|of|that|which|case|cases|class|suite|files?|module|cover\w*|fixtures?)\b"
    r"|\b(?:which|what|all|the|find|show|list|any|our) (?:tests|specs)\b|^(?:tests?|specs?|testing)\b"
    r"|\b(?:testcases?|unittests?)\b",
    re.IGNORECASE,
)
_KIND_OF_TEST = r"(?:(?:unit|integration|regression|functional|e2e) )?(?:tests?|specs?|test cases?)"
_ASKS_FOR_TESTS = lazy_regex(
    rf"(?:^|[,;:.?] |\b(?:and|so|but|then) )(?:which|what|any) {_KIND_OF_TEST}\b"
    r"(?! (?:framework|runner|library|tool|command))"
    r"|\b(?:covered|tested|checked|verified|exercised|asserted) (?:by|in|with) (?:a |any |the |some |our )?"
    rf"{_KIND_OF_TEST}\b"
    rf"|(?:\b(?:is|are) there (?:a |any |some |already )*|^(?:show|find|list|give)(?: me)? (?:the |all |any )*)"
    rf"{_KIND_OF_TEST} (?:for|that|which|of|where|cover\w*|about)\b"
    rf"|\bdo(?:es)? (?:any|a|the|our|some) {_KIND_OF_TEST} (?:cover|check|verify|exercise|assert|catch|fail)\b",
    re.IGNORECASE,
)
"""Tests themselves are what is asked for."""
_SHORTENED = lazy_regex(r"^(what|where|who|when|how)s(?= [a-z])", re.IGNORECASE)
"""`whats the default` is `what's the default`."""
_BACKTICKED = lazy_regex(r"`([^`\s]{1,200})`")
_IDENTIFIER = lazy_regex(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$~][\w$]*)*(?:\(\))?")
_QUOTED_TEXT = lazy_regex(r"`([^`]{3,400})`|\"([^\"]{3,400})\"|(?<!\w)'(.{3,400})'(?!\w)|“([^”]{3,400})”")
_COMES_FROM = lazy_regex(
    r"\b(?:raise[sd]?|throws?|thrown|log(?:s|ged)?|print(?:s|ed)?|emit(?:s|ted)?|show(?:s|n)?|says?|said|report(?:s|ed)?"
    r"|warn(?:s|ed)?|produce[sd]?|generate[sd]?|built|come(?:s|ing)? from|caused?|triggers?|triggered|written|returned"
    r"|message|error|exception|warning|output|text|string|line)\b",
    re.IGNORECASE,
)
"""Words that ask for the place of a quoted message."""
_MESSAGE = lazy_regex(r"\b\w*(?:Error|Exception|Warning|error|exception|warning|panic|fatal|message): (?P<text>\S.*)$")
_IS_MESSAGE = lazy_regex(r"^(?:\S+ ){2,}\S*(?:(?<!\w)'[^' ]+'|\"[^\" ]+\"|\d)")
"""Two words and then a value: quoted, or a number."""
_LOG = lazy_regex(r"\b(?:msg|message|err|error|reason|exception)(?:=|\\?\":\s*)\\?\"", re.IGNORECASE)
_FIELD = lazy_regex(r"(?:=|\":\s*)\"((?:[^\"\\]|\\.)+)\"")
"""A value in a line of a log: `err="..."`, `"err": "..."`."""
_ESCAPED = lazy_regex(r"\\(.)")
_VALUE = lazy_regex(r"\"[^\"]*\"|'[^']*'|:\s|\S*[\d/]\S*")
"""What stands between the constant parts of a message."""
_ASKS = lazy_regex(
    r"(?:what|which|who|where|when|how|why|is|are|does|do|can|could|please|show|find|list|give|tell|explain|search)\b",
    re.IGNORECASE,
)
_PASTED = lazy_regex(
    r"^(?=[^:]{1,200}: )(?=.*\b(?:not|cannot|can't|couldn't|unable|fail(?:ed|ure)?|invalid|incorrect|unknown|unexpected"
    r"|expected|missing|denied|refused|undefined|unsupported|illegal|exceeded|no such|timed out)\b)"
    r"(?!(?:i|we|you|my|our|please)\b)\S+ [^:]*:",
    re.IGNORECASE,
)
"""Two words or more, a colon and what is behind it, with a word by which programs say what is wrong."""
MOST_PASTED = 25
"""Words of a message; a longer text tells of one."""
_PARAGRAPH = lazy_regex(r"\n[ \t]*\n\s*")
_MIXED = lazy_regex(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|_|\.|::|#|->|\(\)|\$")
_ABBREVIATED = lazy_regex(r"[a-z][A-Z]{2,5}s?")


def route(text: str, split_words: Callable[[str], list[str]], languages: LanguageTerms) -> Query:
    """Parse a question. `split_words` must split like the index. Deterministic, never raises."""
    folded = " ".join(valid(text[: MAX_QUERY_CHARACTERS * 4]).split())
    folded = _KIND_OF_DEPENDENCY.sub(r"\1 dependenc\2", _SHORTENED.sub(r"\1's", folded))
    notes: list[str] = []
    if len(folded) > MAX_QUERY_CHARACTERS or len(text) > MAX_QUERY_CHARACTERS * 4:
        folded = folded[:MAX_QUERY_CHARACTERS]
        notes.append(f"query cut to its first {MAX_QUERY_CHARACTERS} characters")
    asked = _asked(text, folded)
    reports = asked != folded and not _is_question(asked)
    paths = _distinct(match.group(1) for match in languages.path.finditer(folded))
    plain = [word.strip(".,;:!?()[]{}'\"`").lower() for word in folded.split()]
    all_words = _distinct(split_words(folded))
    words = tuple(word for word in all_words if word not in STOP_WORDS | CONTRACTED) or all_words
    names, joined = _names(folded, paths)[:MAX_NAMES], _joined(plain)
    named = set(split_words(" ".join((*names, *paths)))) if not joined else words
    if len(words) > MAX_WORDS:
        notes.append(f"only the first {MAX_WORDS} of {len(words)} words were searched")
    spoken = _distinct(languages.words[word] for word in plain if word in languages.words)
    errors = tuple(_errors(folded, split_words))
    is_told = (reports and len(plain) > MAX_REPORT) or is_message(folded)
    return Query(
        text=folded,
        words=words[:MAX_WORDS],
        variants=_variants(words[:MAX_WORDS], folded),
        names=names,
        joined=joined,
        paths=paths[:MAX_NAMES],
        phrases=tuple(each.words for each in errors) or _phrases(folded, split_words),
        verbatim=_verbatim(folded, split_words),
        focus=sum(word in named for word in words) / len(words) if words else 0.0,
        relation=None if is_told else _relation(asked, paths, languages),
        wants_documents=WANTS_DOCUMENTS.search(folded) is not None,
        wants_reasons=_WANTS_REASONS.search(folded) is not None,
        wants_configuration=_WANTS_CONFIGURATION.search(folded) is not None
        or (bool(spoken) and _WANTS_VERSION.search(folded) is not None),
        wants_tests=len(plain) <= MAX_QUESTION
        and (_WANTS_TESTS.search(folded) is not None or _ASKS_FOR_TESTS.search(folded) is not None),
        states=is_documentation(folded),
        languages=spoken,
        notes=tuple(notes),
        reports=reports,
        errors=errors,
    )


def asks_for_tests(query: Query) -> bool:
    """Return whether a question asks for tests, of behaviour that it describes or of a name."""
    return not (query.states or query.reports) and _ASKS_FOR_TESTS.search(query.text) is not None


def asks_for_page(text: str) -> bool:
    """Return whether a text asks where something is explained, not for what is explained: a default, a setting."""
    return _ASKS_FOR_PAGE.search(text) is not None


def asks_for_quoted(text: str) -> bool:
    """Return whether a text asks where a message that it quotes comes from: the words of the message ask nothing."""
    quoted = [next(filter(None, match.groups()), "") for match in _QUOTED_TEXT.finditer(text)]
    if not any(each.count(" ") > 1 for each in quoted):
        return False
    rest = _QUOTED_TEXT.sub(" ", text).strip(" ?.!:")
    return not rest or _COMES_FROM.search(rest) is not None


def is_bare_name(query: Query) -> bool:
    """Return whether the question is one name and nothing else."""
    return len(query.names) == 1 and len(query.text.split()) == 1 and not query.paths


def _asked(text: str, folded: str) -> str:
    """Return the paragraph that asks: of several the first one that is a question, else the first.

    A sentence further down that speaks of callers or parents states something.
    """
    paragraphs = _PARAGRAPH.split(valid(text[: MAX_QUERY_CHARACTERS * 4]).strip())
    if len(paragraphs) == 1:
        return folded
    texts = [" ".join(each.split())[:MAX_QUERY_CHARACTERS] for each in paragraphs]
    return next((each for each in texts if _is_question(each)), texts[0])


def _is_question(text: str) -> bool:
    return text.endswith("?") or _ASKS.match(text) is not None


def _relation(text: str, paths: tuple[str, ...], languages: LanguageTerms) -> RelationIntent | None:
    """Return the relation that a question asks for; none for a sentence of documentation or a long text.

    "What happens when a handler raises X" asks how something works, not for the uses of X. A language
    with a version is no symbol. A file has no subclasses: what extends it is text.
    """
    found = None if is_documentation(text) else find_relation(text)
    if found is None and (first := _ASKS_FIRST.match(text)) is not None:
        found = find_relation(first[1])
        found = found if found is not None and found.certain else None
    if found is not None and found.kind is not Kind.IMPACT and _ASKS_WHAT_FOLLOWS.match(text):
        return None
    if found is not None and found.name.lower() in languages.words and _OF_VERSIONS.search(text):
        return None
    if found is not None and found.kind in (Kind.TESTS, Kind.TESTED) and _COVERING_PAGE.search(text):
        return None
    if found is not None and found.kind is Kind.DEFINITION and text[:4].lower() == "how ":
        return None  # how something is found or made is told by its code
    return None if found is not None and found.kind in _OF_DEFINITIONS and found.name in paths else found


def _variants(words: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Return the other forms of the words of a question that are searched as well, and what its keys cause."""
    found = [word for key in _CONTROL_KEY.findall(text) for word in _CONTROL_WORDS[key.lower()]]
    for word in words:
        forms = base_forms(word)
        found += (*forms, *PLACES.get(word, ()), *(other for form in (word, *forms) for other in other_spellings(form)))
    return _distinct(form for form in found if form not in words)


def _names(text: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    quoted = [dotted(name) for name in _BACKTICKED.findall(text) if _IDENTIFIER.fullmatch(name)]
    for path in paths:
        text = text.replace(path, " ")
    identifiers = [match.group(0) for match in _IDENTIFIER.finditer(text)]
    if len(identifiers) == 1 and len(text.split()) == 1:
        return _distinct([*quoted, dotted(identifiers[0])])
    return _distinct([*quoted, *(dotted(name) for name in identifiers if _is_mixed(name.strip(".")))])


def _phrases(text: str, split_words: Callable[[str], list[str]]) -> tuple[str, ...]:
    quoted = [next(group for group in match.groups() if group is not None) for match in _QUOTED_TEXT.finditer(text)]
    message = _MESSAGE.search(text)
    texts = quoted or ([message["text"]] if message is not None else [])
    if _IS_MESSAGE.search(text) and not _ASKS.match(text):
        texts = [text]
    found = [split_words(each) for each in texts if " " in each.strip()]
    return _distinct(" ".join(words[:MAX_WORDS]) for words in found if len(words) > 1)[:MAX_NAMES]


def is_message(text: str) -> bool:
    """Return whether a text is the message of an error as a program prints it: `Invalid option: unknown key: x`."""
    words = text.split()
    if not MIN_STATEMENT <= len(words) <= MOST_PASTED or _PASTED.match(text) is None or asks(text):
        return False
    return not is_relation_word(words[0].lower())


def _errors(text: str, split_words: Callable[[str], list[str]]) -> Iterable[ErrorText]:
    """Yield a message, or those in a line of a log, values and escapes taken off; nothing for other texts."""
    if _LOG.search(text) is not None:
        fields = [_ESCAPED.sub(r"\1", match.group(1)).strip() for match in _FIELD.finditer(text)]
    elif is_message(text):
        fields = [text]
    else:
        return
    for field in [each for each in dict.fromkeys(fields) if " " in each][:MAX_NAMES]:
        words = split_words(field)
        parts = (split_words(part) for part in _VALUE.split(field))
        constants = _distinct(" ".join(part) for part in parts if len(part) > 1)
        if len(words) > 1:
            yield ErrorText(" ".join(words[:MAX_WORDS]), constants)


def _verbatim(text: str, split_words: Callable[[str], list[str]]) -> str:
    words = split_words(text)
    return " ".join(words[:MAX_WORDS]) if len(words) >= MIN_VERBATIM and not _ASKS.match(text) else ""


def _is_mixed(name: str) -> bool:
    return _MIXED.search(name) is not None and _ABBREVIATED.fullmatch(name) is None


def _joined(plain: list[str]) -> tuple[str, ...]:
    parts = [word for word in plain if word.isidentifier()]
    if not 2 <= len(plain) <= 4 or len(parts) != len(plain):
        return ()
    return ("_".join(parts), "".join(parts))


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))


def is_documentation(text: str) -> bool:
    """Return whether a text reads like a sentence of documentation, which states something and asks for no relation.

    "Construct an Interval object" names what a function does; "callers of Interval" asks for edges. A sentence begins
    with the verb of what it describes, or with the thing that it defines, or has the markup of documentation.
    """
    if _ROLE.search(text):
        return True
    words = text.split()
    if len(words) < MIN_STATEMENT or _ASKS_ANYWHERE.search(text):
        return False
    return words[0].lower() in _OPENS_WITH or _STATES.match(text) is not None
