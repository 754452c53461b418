"""What a question asks about a name that is certainly a symbol, where no frame of the grammar fits. Pure.

The name becomes the word `X` (a second one `Y`); what stands next to it, or a noun that means nothing but a relation,
tells the relation. Nothing is guessed where the name may be English, or where the question asks how or why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from atlas.code.question.frames import KIND_WORD, nouns, relation_words
from atlas.code.question.names import dotted, is_code_shaped
from atlas.code.question.question_scope import PRONOUNS, SPACE
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.core.lazy_regex import lazy_regex

_EDGE = "`'\",;:?!()[]{}"
_GAP = r"(?:(?:the|a|an|our|my|this|that|its|any|some|all|of) )*"
_OF_KIND = r"(?:(?!(?:in|of|on|at|to|from|and|or|by|for|with|that|which|when|if|inside|via|through)\b)[a-z][\w-]* )"
_BEFORE = (
    rf"{_GAP}(?:(?:name|signature|behaviour|behavior|code|body|type|usage) of {_GAP})?"
    rf"(?:(?:{KIND_WORD} ){{0,2}}|{_OF_KIND}{{1,4}}{KIND_WORD} )"
)
"""What may stand between a verb or preposition and a name: `the ahead-of-time completion trait`."""
_PREPOSITION = (
    "(?:of|for|to|on|about|from|against|with|covering|concerning|regarding|touching|mentioning|around|behind|into|in) "
)
_AUXILIARY = "(?:is|are|was|were|be|been|being|get|gets|getting|got|still|ever|actually|even|currently|now|then) "
_EXPLAINS = lazy_regex(
    r"^(?:how (?!many|often|far|(?:can|do) i (?:find|see|get))|why|explain (?:how|why))\b", re.IGNORECASE
)
_EXPLAINS_IT = lazy_regex(
    r"(?:\s[-–—]{1,3}|[,;:.])\s(?:(?:and|so|but|then) )?(?:how|why) (?:does|do|is|are|will|would|can|should|must)"
    r" (?:it|this|that|they|these|those)\b",
    re.IGNORECASE,
)
"""What is asked about something that the words before state: `X used without Y - how does it deal with Z`."""
CHANGE_VERB = (
    r"(?:chang|modif|remov|delet|renam|edit|refactor|touch|alter|updat|break|replac|mov|drop|rewrit|rework|deprecat"
    r"|tweak)\w*"
)
_SPECIAL: tuple[tuple[Kind, str], ...] = (
    (
        Kind.PATH,
        r"(?=.*\bY\b).*(?:\b(?:path|paths|route|chain|trace|reach\w*|connect\w*|flow\w*|lead\w*|way|hops?)\b|→|->)",
    ),
    (Kind.PATH, r".*\bfrom X (?:\S+ ){0,3}?(?:to|into|down_to|towards) (?:\S+ )?Y\b"),
    (
        Kind.CALLERS,
        r"(?:who|what|which|where) (?!happens|is |are |was |goes )(?:\S+ ){1,6}?"
        r"(?:through|via|by means of|by way of) X (?:$|and )",
    ),
    (
        Kind.TESTS,
        r"(?:which|what) (?:\w+ )?"
        r"(?:tests?|specs?|samples|fixtures|test (?:\w+ )?(?:samples|fixtures|files|functions|cases))\b.*"
        rf"\b(?:assert|expect|check|cover|verify|verif|match)\w* .*\b(?:by|of|from) {_BEFORE}X ",
    ),
    (
        Kind.TESTS,
        r"(?:what|which) (?:\w+ )?(?:tests|specs|test cases) (?:would|will|could|should|might|do|does) (?:\w+ )?"
        r"(?:exercise|cover|catch|reach|hit|check|verify)\b",
    ),
    (Kind.TESTS, r".*\b(?:unit |integration )?(?:tests|specs|test cases)\b(?=.*\b(?:run|rerun|re-run|execute)\b)"),
    (
        Kind.TESTS,
        rf".*\b(?:tests|specs|test cases)(?: (?:and|or) \w+)?(?: that| which)?"
        rf" (?:cover|covers|covering|check|checks|checking|exercise|exercising) {_BEFORE}X ",
    ),
    (
        Kind.IMPACT,
        rf"(?=.*\b{CHANGE_VERB}\b).*\b(?:affect\w*|impact\w*|break|breaks|broken|fail|fails|ripple\w*|safe|safely|consequences"
        r"|notic(?:es?|ed)|feels? (?:it|that|this|the change)"
        r"|dangerous|risky|suffer|fallout|chang\w* (?:its |their |the )?(?:behaviou?rs?|results?|outputs?)"
        r"|behaves? (?:differently|otherwise)"
        r"|(?:needs?|has|have|must|should)(?: to)? (?:also |be )*(?:chang|updat|fix|adapt|adjust|follow)\w*)\b",
    ),
    (
        Kind.IMPACT,
        rf"(?=.*\b(?:when|if|by)\b.*\b{CHANGE_VERB}\b).*\b(?:what|which|who|everything)\b.*\b(?:touched|involved|concerned|hit)\b",
    ),
    (
        Kind.IMPACT,
        r"(?=.*\b(?:what|which|who)\b.*\b(?:affected|breaks?|broken|fails?|impacted)\b)"
        r".*\b(?:if|when|suppose|should) (?:i|we|you|someone|somebody|one) "
        r"(?:add(?:ed)?|put|insert(?:ed)?|introduced?|included?|appended|registered|dropped|took|take|removed?)"
        r" (?:\S+ ){1,6}?(?:to|in|into|inside|from) (?:the |what |whatever |that |which )?X ",
    ),
    (
        Kind.IMPACT,
        r"(?:if|when|suppose|should) (?:the )?X (?:\S+ ){1,14}?(?:what|which|who)\b.*"
        r"\b(?:affected|breaks?|fails?|impacted)\b",
    ),
    (
        Kind.IMPACT,
        r".*\b(?:what|which|who|everything)\b.*\b(?:affected|breaks?|broken|fails?|impacted|suffers?)\b.* if (?:the )?X"
        r" (?:no longer |never |always |suddenly |would )?"
        r"(?:threw|throws?|returned|returns?|raised|raises?|failed|fails?|stopped|became|went|gave|resolved|rejected)\b",
    ),
    (Kind.IMPACT, r".*\b(?:blast radius|impact analysis|impact of|ripple effects? of|safe to \w+|affected by)\b"),
    (
        Kind.CHANGES,
        r".*\b(?:commits|(?:which|what|the|a|that|last|latest|newest|first|in|by|introducing) commit"
        r"|commit (?:that|which|hash|message)|git log|git history|blame|changelog|last changed|recently changed)\b",
    ),
    (
        Kind.HIERARCHY,
        r"(?=.*\b(?:parents?|bases?|super\w+|ancestors?)\b).*\b(?:child\w*|sub\w+|descendants?|derived)\b",
    ),
    (
        Kind.OVERRIDES,
        r"(?!.*\bY\b)(?=.*\boverrid\w+\b)(?:what|which|list|show|any) .*\b(?:methods|functions|members|what)\b.*"
        r"\b(?:its|their|the|of) (?:sub-?class(?:es)?|subtypes|child(?:ren)?(?: class(?:es)?)?|derived \w+|descendants"
        r"|implementations|implement[oe]rs)\b.*\bX .*",
    ),
    (
        Kind.OVERRIDES,
        r"(?!.*\bY\b)(?:what|which) (?:methods|functions|members) of X (?:do|does|did) (?:its|the|any) "
        r"(?:sub-?class(?:es)?|subtypes|child(?:ren)?|implementations) (?:\w+ )?override\b",
    ),
    (Kind.OVERRIDES, r"(?!.*\bY\b)what (?:do|does) (?:the )?(?:sub-?class(?:es)?|subtypes) of X override\b"),
    (Kind.NOTES, rf".*\b(?<!release )(?:notes?|claims?|observations?) (?:\S+ )?{_PREPOSITION}{_BEFORE}X "),
    (Kind.NOTES, rf".*\b(?:we|you|i|anybody|anyone|is|was) (?:already )?(?:know|known) {_PREPOSITION}{_BEFORE}X "),
    (Kind.DOCS, r".*\b(?:readme|markdown|docs|documentation|adrs?|guides?)\b.*\b(?:mention|about|describ|expla|refer)"),
    (Kind.UNUSED, r".*\b(?:unused|dead code|orphaned|unreferenced|uncalled)\b"),
)
"""Words that decide wherever they stand, in this order."""
_STRONG = """
callers caller call-sites callsites invocations invokers callees usages references xrefs occurrences subclasses subtypes
implementors implementers implementations inheritors descendants superclasses supertypes ancestors overriders overrides
importers dependents dependants dependencies
"""
_WEAK = """
read write set need needed hit check return touch handle found written live access explain describe about cover trigger
execute triggered executed
"""
_WEAK_VERBS = frozenset(_WEAK.split())
"""Verbs of too many meanings to tell a relation without a frame."""
_TASKS = lazy_regex(
    r"^(?:please )?(?:implement|write|add|create|make|build|fix|refactor|rename|generate|let) ", re.IGNORECASE
)
_INVERTIBLE = frozenset((Kind.CALLERS, Kind.IMPORTERS, Kind.DEPENDENTS, Kind.SUBTYPES, Kind.OVERRIDES))
"""Relations whose verb with the name as its subject asks for the other direction."""


_OF_VALUES = lazy_regex(
    r"\b(?:sets?|setting|assign\w*|clear\w*|reset\w*|initiali[sz]\w*|writes?|written|modif\w*|mutat\w*|toggl\w*|switch\w*"
    r"|flip\w*|defaults?|values?|init|updat\w*|increment\w*|override\w*|chang\w*|turned|enabl\w*|disabl\w*)\b"
)
_ACT = lazy_regex(
    r"(?:which|what) (?:(?!of |in |on )[\w-]+ ){0,3}?"
    r"(?:methods|functions|handlers|commands|callbacks|helpers|hooks|tests|classes|places) "
    r"(?:(?:of|in|on|inside) (?:the |our )?(?P<owner>\S+) (?:(?:class|module|file|package) )?)?(?:that |which )?"
    r"(?P<verb>[a-z]+) (?:(?:up|out|off|over) )?(?:(?:through|via|with|by|using|on|to|into|from|at) )?(?:the )?[XY] $"
)
_OF_CODE = lazy_regex(
    r"\b(?:which|what) (?:(?!is |are |does |do )[\w-]+ ){0,3}?"
    r"(?:functions|methods|classes|places|spots|parts|handlers|components|modules|services|commands|code)\b"
)
_QUESTION = lazy_regex(
    r"\?|(?:^|[,;:.!–—-]\s{1,3}|\b(?:so|and|hey|hm|ok|please|then|but|know|wonder|see|me)\s)(?:what|which|who|whom|whose|where|when|why|how"
    r"|is|are|was|were|does|do|did|can|could|should|will|would|has|have|any|anybody|anyone|anything|show|list|find|get|give|tell"
    r"|print|display|trace|path|explain|all|every|everything|i|we)\b",
    re.IGNORECASE,
)
_ONE_TEST = lazy_regex(
    r"(?<!there )(?<!has )(?<!have )(?<!had )(?<!find )(?<!show )(?<!me )(?<!by )(?<!need )(?<!does )(?<!is )"
    r"\b(?:an?|my|each|every|this|that|one) (?:\w+ )?(?:test|spec|test case)\b"
)
"""A test that the question speaks of: `the pause between attempts of a test marked with Retry`."""
_LISTS = lazy_regex(r"^(?:(?:show|list|find|get|give|me|us|all|every|the|any|please) )*")
_SUBORDINATE = lazy_regex(r"\b(?:when|if|once|after|before|while) (?:i|we|you|someone|one|a user|users) (?:\w+ )?")
"""What somebody does with the name, not what is asked about it: `what is the interval when I call X`."""
_ASKS = lazy_regex(
    r"\b(?:what|which|that|who|whom|whose|where|when|is|are|was|were|do|does|did|can|could|should|will|would|has|have|i|we|you"
    r"|show|list|find|get|give|tell|print|display|search|see|look)\b"
)
"""Words of questions, commands and clauses; a text without any of them names or describes something."""
_SMALL = "X Y Z a an and or the of for to on in by with from all any every its their our my"
_SMALL_WORDS = frozenset(_SMALL.split())
_MOST_OTHERS = 1
"""Other words besides a name and its relation: `both callers of X`, `PHP classes implementing X`."""
_FRAMES_ONLY = frozenset((Kind.MEMBERS, Kind.DEFINITION))
"""Relations with nouns such as `methods` and `source`, which occur next to names in any question."""
_NEAR: tuple[tuple[str, str, bool], ...] = (
    ("third", rf".*\b(?:what|that|which|everything|anything) {_BEFORE}X (?:\w+ )?WORDS ", True),
    ("participle", rf".*\bWORDS (?:from |in |by |inside |within )(?:of |inside |within )?{_BEFORE}X ", True),
    ("nouns", rf".*\bWORDS (?:\S+ ){{0,3}}?{_PREPOSITION}{_BEFORE}X ", False),
    ("nouns", r".*\bX (?:'s )?WORDS ", False),
    ("participle", rf".*\bX (?:{KIND_WORD} )?(?:{_AUXILIARY})*WORDS ", False),
    ("base", rf".*\b(?:does|do|did|will|can) {_BEFORE}X (?:\w+ ){{0,2}}?WORDS ", True),
    ("third", rf".*\bWORDS {_BEFORE}X ", False),
    ("gerund", rf".*\bWORDS {_BEFORE}X ", False),
    ("base", rf".*\bWORDS {_BEFORE}X ", False),
    ("gerund", r".*\bX (?:is |are )?(?:(?!wh)\w+ )?WORDS ", True),
    ("third", r".*\bX (?:(?!wh)\w+ )?WORDS ", True),
)
"""Form of a word, where it stands to the name, and whether the name is its subject; in this order."""


@dataclass(frozen=True)
class _Rule:
    kind: Kind
    text: str
    needed: tuple[str, ...] = ()
    """A question that the pattern matches has one of these; () where that is not known."""
    decides: bool = False
    """Whether its words tell the relation of a text that only describes code, too."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a question first needs it: all of them take 50 ms."""
        return re.compile(self.text, re.IGNORECASE)

    def matches(self, marked: str) -> bool:
        """Return whether a question with its names as X and Y, otherwise in lower case, has these cues."""
        if self.needed and not any(word in marked for word in self.needed):
            return False
        return self.pattern.match(marked) is not None


_PERSON_ACTS = lazy_regex(
    r"(?<!do )(?<!did )(?<!can )(?<!could )(?<!must )(?<!should )(?<!to )\b(I|[Ww]e|i)"
    r" (?:import|call|use|extend|override|implement|catch|raise|throw|subclass|pass)\b"
)
"""They are no relation: `I import X, and it is not found`, but `where do we call X`."""


def find_by_cues(text: str, quoted: set[str]) -> RelationIntent | None:
    """Return the relation that the words around a certain name tell; None if there is no such name or word."""
    named = _mark(text, quoted)
    return find_near(text, *named) if named is not None else None


def find_near(text: str, marked: str, names: Sequence[str]) -> RelationIntent | None:
    """Return the relation that the words around one or two names tell; None if no word does.

    `marked` is the text in lower case with the names as `X` and `Y`, and a space at its end.
    """
    if _TASKS.match(text) or _is_statement(text):
        return None
    explains = _explains(text)
    describes = not text.endswith("?") and _describes(marked) and not _starts_with_noun(marked)
    happens = _SUBORDINATE.search(marked) is not None
    of_test = _ONE_TEST.search(marked) is not None
    for rule in _rules():
        if of_test and rule.kind is Kind.TESTS:
            continue
        if explains and rule.kind is not Kind.PATH:
            continue
        if (rule.decides or not (describes or happens)) and rule.matches(marked):
            other = names[1] if rule.kind == Kind.PATH and len(names) > 1 else ""
            return RelationIntent(rule.kind, names[0], other)
    return None


@dataclass(frozen=True, slots=True)
class NamedAct:
    """What functions do with a function, in a verb of any meaning: `which methods of the Store persist with X`."""

    verb: str
    owner: str
    """The class or module that they are in, in lower case; "" for any."""


def find_act(marked: str) -> NamedAct | None:
    """Return what a marked text says that functions do with the last of its names; None for another question."""
    found = _ACT.match(marked)
    if found is None or is_relation_word(found["verb"]) or found["verb"] in PRONOUNS:
        return None
    return NamedAct(found["verb"], found["owner"] or "")


def _explains(text: str) -> bool:
    """Return whether a text asks how or why something is done, maybe behind a clause that asks nothing."""
    later = _EXPLAINS_IT.search(text)
    is_later = later is not None and not asks(text[: later.start()]) and not _names_relation(text)
    return is_later or _EXPLAINS.match(text) is not None


def _names_relation(text: str) -> bool:
    """Return whether a text begins with the noun of a relation: `callers of X, how do they`."""
    return any(word in nouns() for word in _LISTS.sub("", text.lower()).split()[:2])


def _starts_with_noun(marked: str) -> bool:
    """Return whether a text begins with a relation and its name: `subclasses of X shipped in lib`."""
    words = _LISTS.sub("", marked)
    return any(words.startswith(f"{noun} of X ") or words.startswith(f"{noun} for X ") for noun in nouns())


def asks(text: str) -> bool:
    """Return whether a text asks for something anywhere, rather than states or names it."""
    return _QUESTION.search(text) is not None


def without_own_acts(text: str) -> str:
    """Return a text without the verbs of what the person does who asks."""
    return _PERSON_ACTS.sub(r"\1 have", text)


def hinted_kinds(marked: str) -> tuple[Kind, ...]:
    """Return the relations of which a marked text has a noun or a verb, in the order of the words."""
    said: dict[Kind, int] = {}
    for entry in relation_words():
        at = [marked.find(f" {form} ") for forms in entry.forms.values() for form in forms]
        if places := [each for each in at if each >= 0]:
            said[entry.kind] = min(places)
    return tuple(sorted(said, key=lambda kind: said[kind]))


def asks_for_code(marked: str) -> bool:
    """Return whether a marked text asks which functions or places something is true of: callers are likely meant."""
    return _OF_CODE.search(marked) is not None


def asks_for_values(marked: str) -> bool:
    """Return whether a marked text asks where something gets its value, or what value that is."""
    return _OF_VALUES.search(marked) is not None


def certain_names(text: str, quoted: set[str]) -> list[str]:
    """Return the words of a text that can only be names, as they are written."""
    words = text.split()
    stripped = [_bare(raw, quoted) for raw in words]
    return [
        word
        for number, word in enumerate(stripped)
        if _is_certain(word, quoted, stripped[number - 1] if number else "", first=number == 0)
    ]


def _bare(raw: str, quoted: set[str]) -> str:
    """Return a word without punctuation around it."""
    return raw if raw in quoted else raw.rstrip(",;:?!") if raw.startswith("(*") else raw.strip(_EDGE)


def _mark(text: str, quoted: set[str]) -> tuple[str, list[str]] | None:
    """Return the question with its one or two certain names as X and Y; None for no name, or more."""
    words: list[str] = []
    names: list[str] = []
    previous = ""
    for number, raw in enumerate(text.split()):
        word = _bare(raw, quoted)
        if _is_certain(word, quoted, previous, first=number == 0):
            name = dotted(word.replace(SPACE, " "))
            if name not in names:
                names.append(name)
            words.append("XYZ"[min(names.index(name), 2)])
        else:
            words.append(word.lower() if word else raw)
        previous = words[-1]
    if not 1 <= len(names) <= 2:
        return None
    return " ".join(words) + " ", names


def _is_certain(word: str, quoted: set[str], previous: str, *, first: bool) -> bool:
    if word in quoted:
        return True
    if not word or word.lower() in PRONOUNS or not any(character.isalpha() for character in word):
        return False
    if first and word[:1].isupper() and word[1:].islower() and "." not in word:
        return False
    if is_code_shaped(word):
        return not word.isupper() or (len(word) > 5 and word not in ("README", "CHANGELOG")) or "_" in word
    return bool(_KIND.fullmatch(previous)) and word.isidentifier() and not is_relation_word(word)


_KIND = lazy_regex("(?:class|function|func|method|interface|trait|struct|enum|macro)")


_BEHIND_NOUN = frozenset(("of", "for", "and", "or", "that", "which", "covering"))
"""Words behind a noun: `Tests that cover X` states nothing, `Tests X` does."""


def _is_statement(text: str) -> bool:
    """Return whether a text begins like a docstring: `Raises ValueError if`, `Returns the callers of`."""
    first, second = (*text.lower().split(" ", 2), "")[:2]
    if first in nouns() and second in _BEHIND_NOUN:
        return False
    return any(first in entry.forms.get("third", ()) for entry in relation_words()) or first == "returns"


def _describes(marked: str) -> bool:
    """Return whether a text asks nothing and says more than a name and its relation.

    `validating data without a model using X` and `X implementation for storing routes` describe code that is searched.
    """
    if _ASKS.search(marked):
        return False
    others = [word for word in marked.split() if word not in _SMALL_WORDS and not is_relation_word(word)]
    return sum(not _KIND.fullmatch(word) for word in others) > _MOST_OTHERS


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset(
        word for entry in relation_words() for forms in entry.forms.values() for form in forms for word in form.split()
    )


def is_relation_word(word: str) -> bool:
    """Return whether a word is a noun or verb of a relation."""
    return word in _vocabulary()


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(_patterns())


def _patterns() -> Iterator[_Rule]:
    yield from (_Rule(kind, pattern, decides=True) for kind, pattern in _SPECIAL)
    for form, pattern, inverted in _NEAR:
        for entry in relation_words():
            forms = [each for each in entry.forms.get(form, ()) if each not in _WEAK_VERBS]
            kind = entry.inverse if inverted and entry.kind in _INVERTIBLE else None if inverted else entry.kind
            if forms and kind is not None and not (form == "nouns" and kind in _FRAMES_ONLY):
                words = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
                yield _Rule(kind, pattern.replace("WORDS", f"(?:{words})"), tuple(forms))
    strong = frozenset(_STRONG.split())
    for entry in relation_words():
        forms = [each for each in entry.forms.get("nouns", ()) if each in strong]
        if forms:
            found = "|".join(forms)
            yield _Rule(entry.kind, rf".*\b(?:{found})\b.* ?\bX\b|.*\bX\b.*\b(?:{found})\b", tuple(forms))
