"""What surrounds a question about a relation: politeness, trailing words, tests, scope, depth. Pure.

`split_scope` takes off what limits the answer wherever it stands; `readings` then yields the question without what may
be politeness or a scope at its ends, the longest reading first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from atlas.code.question.relation_kinds import RelationIntent, TestScope
from atlas.core.lazy_regex import lazy_regex

_PRONOUNS = """
it its this that these those them they he she we you i me us what which who whom where when how why there here
everything anything something nothing anyone someone anybody somebody nobody everybody everyone all any some none each
every other others one ones and or not never both is are was were be been do does did has have had can could to of in on
at by from for with as the a an
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""No names, wherever they stand in a question."""
SPACE = "\ue000"
"""Stands for a space inside a quoted name; of a private use area, so that no pattern takes it for white space."""
_POLITE = lazy_regex(
    r"^(?:(?:please|hey|hi|ok|okay|so|also|now|quickly|just|kindly|and|then|exactly) |(?:can|could|would"
    r"|will) you (?:please )?"
    r"|(?:show|list|find|get|give|tell|print|display|search|look|locate|fetch|return|enumerate|identify|determine|check"
    r"|draw|visualize|sketch|assess|evaluate|estimate|analyze|analyse|see|report|count|explain|describe|know"
    r"|figure)(?: me| us)?(?: out| up| for)?(?: if| whether)? "
    r"|(?:i|we)(?:'d"
    r"| would)? (?:want|need|like|have)"
    r"(?: to)?(?: know| see| find| list| understand)? |i(?:'m| am) looking for |do you know |is it known "
    r"|(?:a |the )?(?:complete |full |exhaustive |exact )?list of |(?:full|complete|whole|entire|exhaustive) "
    r"|(?:all|every|each|any|exactly"
    r"|only)(?: of)?(?: the)? "
    r"|(?:what|which|who|where) (?:are|is|were|was) (?=(?:all |the |any |each |every |direct |test ))"
    r"|(?:is|are|was|were) there (?:any |a |an |some )?(?=\S+ \S+ )"
    r"|the (?=.* )|(?:what|who) are (?=\S+(?: \S+)? (?:of|for|to) ))",
    re.IGNORECASE,
)
_TRAILING = lazy_regex(
    r" (?:please|and when|and why|and by whom|anywhere|right now|currently|today|nowadays|exactly|at all|too|again"
    r"|here|and where|thanks|thank you"
    r"|(?:in|across|throughout|within|over|of) (?:the |this |our |my |whole |entire )+(?:code ?base|project"
    r"|repo|repository|code"
    r"|source|sources|source code|tree|app|application|program|library)"
    r"|(?:from|in|of) (?:a|the|its|any) (?:parent|base|super) ?-?(?:class|type|interface|method)?"
    r"|(?:through|via) (?:some|any|a|other) \S+(?: \S+)?"
    r"|with (?:all )?(?:line numbers|lines|locations|file and line|paths)|with their \w+)$",
    re.IGNORECASE,
)
_TESTS = (
    r"(?:the )?(?:mocks and |stubs and )?(?:unit |integration |e2e )?tests?(?: and mocks| and stubs)?(?: code"
    r"| files?| suites?| folders?| cases?| modules?"
    r"| functions?| directory)?"
)
_WITHOUT_TESTS = lazy_regex(
    rf" (?:but |and |, ?)?(?:excluding|exclude|except(?: for)?|without|ignoring|ignore|not(?: counting"
    rf"| including)?(?: in| from)?"
    rf"|outside(?: of)?|other than|minus|skipping|no|apart from|besides|aside from) {_TESTS}"
    rf"|,? {_TESTS} (?:excluded|ignored|left out|aside|apart|not counted)$"
    rf"|[.?!,;]? (?:please |and )?leav(?:e|ing) (?:out {_TESTS}|{_TESTS} (?:out|aside))(?=[.! ]|$)"
    rf"| (?:but )?(?:only )?(?:in|from|within|by) (?:the )?(?:production|non-test|prod|non test|real|shipped"
    rf"|application|library|main(?= (?:code|sources?)\b))\b"
    rf"(?: code| source| sources| files)?(?: only)?(?= |$)",
    re.IGNORECASE,
)
_OWN_CODE = "(?:production|prod|non-test|product|main|library|source|application|app)(?: code| sources?| files)?"
_PLUS = r"(?:and|as well as|or|plus|&|\+) (?:also )?(?:in |from )?(?:the )?"
_BOTH_CODES = r"(?:in |from )?(?:both )?(?:in |from )?(?:the )?"
_EVERYWHERE = lazy_regex(
    rf",? ?(?:\(|\b)(?:{_BOTH_CODES}{_OWN_CODE} {_PLUS}{_TESTS}|{_BOTH_CODES}{_TESTS} {_PLUS}{_OWN_CODE}"
    r"|(?<!not )(?<!n't )(?<!without )(?:also |even )?"
    rf"(?:including|incl\.?|also (?:in|from)|as well as (?:in|from)|counting) {_TESTS}"
    rf"|{_TESTS} (?:included|inclusive|too|as well))(?:\)|(?= |$|[?.,;!]))",
    re.IGNORECASE,
)
"""Says that tests count as well: `(production code and tests)`."""
_SCOPE_WORD = (
    "(?:file|folder|directory|dir|module|package|crate|namespace|class|app|component|subsystem|layer|library|target)"
)
_LOOSE = "code|stuff|logic|classes|functions|files|side|parts?|area|modules|internals|machinery|implementation"
LOOSE_NOUNS = frozenset((*_LOOSE.replace("s?", "").split("|"), "parts"))
"""Behind a word they name a part of the project loosely: `the auth code` is what has the word in its path or type."""
_OUTSIDE = lazy_regex(
    rf" (?:but )?(?:outside(?: of)?|not (?:in|under)|excluding|except(?: in| under| for)?|without|ignoring) (?:the )?"
    rf"(?:{_SCOPE_WORD} )?(?P<scope>[^\s,;]*[/.][^\s,;]*)$",
    re.IGNORECASE,
)
_IN_BRACKETS = lazy_regex(
    r" \(((?:but |and )?(?:only|just|excluding|exclude|except|without|ignoring|not(?! only)|no|in|under)\b[^()]*)\)",
    re.IGNORECASE,
)
_ONLY_PATH = lazy_regex(r" \((?:but )?(?:only|just) (?=[^\s()]{1,200}/[^\s()]{1,200}\))", re.IGNORECASE)
"""`callers of X (only lib/a)`."""
_AFTERTHOUGHT = lazy_regex(
    r"(?:[?.;!]| [-–—]) (?:i mean )?"
    r"(?=(?:but |and )?(?:only|just|excluding|exclude|except|without|ignoring|not|in|under)\b)",
    re.IGNORECASE,
)
"""The end of a sentence before a scope: `Who calls f? Only in tests`."""
_TESTS_ONLY = lazy_regex(
    r" (?:but )?(?:(?:only|just) (?:(?:the )?\w+ )?)?"
    rf"(?:in|from|within|inside|among|by) {_TESTS}(?: only)?$| tests only$",
    re.IGNORECASE,
)
_WITHIN = lazy_regex(
    rf" (?:(?:but )?only )?(?:in|within|inside|under|from"
    rf"|below) (?:(?:the|our|my|its|this) )?(?:{_SCOPE_WORD} )?(?P<scope>[^\s,;]+)"
    rf"(?: {_SCOPE_WORD})?(?: (?:only|alone))?$",
    re.IGNORECASE,
)
_WITHIN_TWO = lazy_regex(
    r" (?:in|within|inside|under|from|by) (?:(?:the|our|my|its) )?"
    r"(?!(?:the|our|my|its|this|that|all|any|last|past|previous|next|recent"
    rf"|same|whole|entire|other) )(?P<scope>[a-z][\w-]+ [a-z][\w-]+)(?: {_SCOPE_WORD})?$"
)
"""A scope in two words, which the index writes as one name: `in the postgres driver`."""
_WITHIN_FIRST = lazy_regex(
    r"^(?:(?:list |show |find |give |me |all |the |every |any |does |do )*(?:what|who|where|anything|anyone|everything"
    r"|(?:what|which) (?!is |are |was |were |does |do |did |has |have |chang|happen)\w+"
    r"|functions|methods|classes|types|protocols|interfaces|traits|structs|subclasses|implementations|code|places"
    r"|callers|usages|tests|files|lines)"
    r"|(?=(?:in|within|inside|under) \S+ (?:what|who|which|where)\b))"
    rf"(?P<out> ?\b(?:in|within|inside|under) (?:the )?(?:{_SCOPE_WORD} )?"
    rf"(?P<first>[\w-]+ (?:{_LOOSE})\b|\S+)(?: {_SCOPE_WORD})?)(?: that| which)? (?=\w+ )",
    re.IGNORECASE,
)
_OUTSIDE_FIRST = lazy_regex(
    r"^(?P<before>(?:all |the |every |any )*(?:what|who|(?:what|which) (?:[\w-]+ ){0,2}?[\w-]+"
    r"|functions|methods|classes|code|places|callers|usages|files))"
    rf" (?:that (?:is|are|lies?|lives?) )?(?:outside(?: of)?|not in) (?:the )?(?:{_SCOPE_WORD} )?"
    r"(?P<scope>\S{0,100}[/.]\S{0,100})"
    rf"(?: {_SCOPE_WORD})?(?= \w)",
    re.IGNORECASE,
)
"""`which classes outside lib.parts import ...`."""
_OUTSIDE_ITSELF = lazy_regex(
    rf" (?:outside(?: of)?|not in) (?:that|this|the|its own) {_SCOPE_WORD}(?= )", re.IGNORECASE
)
"""Outside of what is asked about, whose own files are no importers of it."""
_REMARK = lazy_regex(
    r" \([^()]{1,60}\)(?=[?.! ]*$)"
    r"|,? (?:also |even )?(?:including|even) (?:the |those |ones )?(?:calls? )?(?:made |done )?(?:through|via|by)"
    r" (?!(?:other|any|some)\b)(?:an? |the |its )?[^?,;()]{1,60}(?=[?.! ]*$)",
    re.IGNORECASE,
)
"""What else a question says of the result, behind it."""
_OF_IMPORT = lazy_regex(r"\bimport(?:s|ing|ed)?\b", re.IGNORECASE)
_ADJECTIVES = (
    (lazy_regex(r"\b(?:non-test|production|prod) (?=\w)", re.IGNORECASE), TestScope.EXCLUDED),
    (lazy_regex(r"\btest (?=callers|usages|uses|references|call sites|callsites)", re.IGNORECASE), TestScope.ONLY),
    (lazy_regex(r"(?<!\S)(?:directly|direct|immediately|immediate)(?!\S) ?", re.IGNORECASE), True),
    (
        lazy_regex(r"(?<!\S)(?:transitively|transitive|indirectly|indirect|recursively|recursive|all the way"
                   r"|deep|eventually|directly or indirectly|direct and indirect)(?![^\s,;]) ?", re.IGNORECASE),
        False,
    ),
)  # fmt: skip
_NON_TEST = lazy_regex(
    r" ?\((?:only )?(?:non|not|no|without|excluding)[- ](?:the )?(?:unit )?tests?(?: code)?\)", re.IGNORECASE
)
"""A remark in brackets: `the production (non test) classes`."""
_ROLE = lazy_regex(
    r"\b(the|an?|our) (?:(?:base|abstract|parent|common|generic|root) ){1,3}"
    r"(?=(?:(?:class|interface|type|trait|struct) )?`?[A-Z])"
)
"""What a name with a capital is, besides: `the base Worker`."""
_MIDDLE = lazy_regex(
    r" (?:in|of|across|throughout) (?:the|this|our|my) (?:whole |entire )?(?:system|code ?base|project|repo"
    r"|repository)(?= )",
    re.IGNORECASE,
)
_ADVERBS = lazy_regex(r"\b(?:actually|really|just|usually|normally|ever|even|currently|possibly) ", re.IGNORECASE)
_FROM_ANYWHERE = lazy_regex(r" (?:from|by) (anywhere|anyone|anybody|somewhere)\b", re.IGNORECASE)
_ENDS_UP = lazy_regex(
    r"^(?P<before>(?!how )(?:(?:ok|so|please|show|list|find|me|all|every|the|tell) )*"
    r"(?:who|what|which|where|everything|anything|functions|methods|classes|code|callers)\b(?: \S+){0,4}?)"
    r" (?:ends?|ending|winds?|winding) up (?=\w+ing\b)",
    re.IGNORECASE,
)
"""`who ends up calling X`: at any level."""
_IS_A = lazy_regex(r"(?: that| which| who)? (?:ends?|winds?) up (?:being|as) (?:an? |the )?(?=[`'\"]?[A-Z]\w)")
"""`every class that ends up being a BaseError`."""
_STATED_METHOD = lazy_regex(
    r"^[`'\"]?(?P<owner>[A-Z]\w{1,60})[`'\"]? (?:has|defines|declares|provides|offers|comes with) (?:an? |its )?"
    r"(?:default |own |abstract |virtual |plain )?[`'\"]?(?P<method>\w{2,60})(?:\(\))?[`'\"]?"
    r"(?: (?:method|implementation|body|version))?[.;,:] (?:and )?"
    r"(?P<asks>(?:which|what|who)\b[^.;:?]{1,80} overrid\w{1,4}) (?:it|that|this)\b",
    re.IGNORECASE,
)
"""`Shape has a default area(). Which of kit's own shapes override it?` asks for overriders of `Shape.area`."""
_OF_OWN = lazy_regex(
    r"^(?P<asks>which|what) of (?P<scope>[`'\"]?[\w./:-]{2,60})['’]s (?:own )?"
    r"(?P<rest>(?:[^?.;]|\.(?=\w)){3,160})(?=[?.]?$)",
    re.IGNORECASE,
)
"""`which of kit's own shapes override f`: those in kit."""
_WHEREVER = lazy_regex(
    r",? (?:also )?(?:including|even) (?:the |any )?(?:ones?|those|types|classes)(?: that are)? (?:outside|beyond)"
    r"(?: of)?"
    r" \S{1,80}?(?=[.?!]?$)",
    re.IGNORECASE,
)
"""It limits nothing: `including ones outside pkg`."""
_HANDLES = lazy_regex(r"\bhandles? (?=[`'\"]?[\w.]{0,80}(?:Error|Exception)\b)")
_HANDLED = lazy_regex(r"(?P<name>\b\w{0,80}(?:Error|Exception)[`'\"]?) (?P<be>(?:is |are |gets? )?)handled\b")
"""Of an exception, the same as to catch it."""
_BOTH = lazy_regex(
    r"\bdirect(?:ly)?,? (?:or|and) (?:indirect(?:ly)?|transitive(?:ly)?"
    r"|(?:through|via|by way of) (?:an?other|others|(?:the |its |their )?callers)"
    r"(?: (?:one|ones|class|classes|type|types))?)",
    re.IGNORECASE,
)
_INDIRECT = lazy_regex(
    r" ?(?:,? ?(?:including|also|even) (?:the |all )?(?:ones|those|classes|types) (?:that|which) \w+ (?:in|trans)\w+"
    r"|,? ?(?:including|incl\.?|also|and) (?:the |all )?(?:indirect|transitive) \w+"
    r"|,? ?(?:also|even|including|and|or) (?:those )?(?:through|via|by way of) (?:other|any|some) \w+"
    r"|,? ?direct(?:ly)? or (?:through|via|by) (?:(?:its|their|an?|the|one of its|some) )?(?:parents?|bases?|ancestors?"
    r"|super-?(?:class|type)(?:es|s)?|intermediate \w+)"
    r"|,? ?(?:directly|direct) or (?:not|indirectly|indirect)|,? ?all the way (?:down|up)|,? ?up to the (?:root|top)"
    r"|,? ?down to the (?:leaves|bottom)|,? ?(?:and|including) (?:their|its|the) (?:indirect )?callers)$",
    re.IGNORECASE,
)
_DEPTH = lazy_regex(
    r" (?:up to |to |within |at )?(?:(?:a )?depth (?:of )?(?P<a>\d{1,2})|(?P<b>\d{1,2}) (?:levels?|hops?"
    r"|steps?)(?: deep| up| down| away)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuestionScope:
    """What limits the answer to a question."""

    tests: TestScope = TestScope.ANY
    within: str = ""
    outside: str = ""
    direct: bool | None = None
    depth: int = 0

    def applied(self, found: RelationIntent, tests: TestScope = TestScope.ANY, within: str = "") -> RelationIntent:
        """Return an intent with this scope; `tests` and `within` are what its reading says in addition."""
        return replace(
            found,
            tests=tests or self.tests,
            within=clean(within or self.within),
            direct=self.direct if self.direct is not None else found.direct,
            depth=self.depth,
            outside="" if self.outside == found.name else self.outside,
        )


def said_plainly(text: str) -> str:
    """Return a question with `transitively` where it asks what ends up doing something, and without `also in tests`.

    To handle an exception is to catch it.
    """
    text = _HANDLED.sub(r"\g<name> \g<be>caught", _HANDLES.sub("catch ", text))
    text = _OF_OWN.sub(r"\g<asks> \g<rest> in \g<scope>", _STATED_METHOD.sub(r"\g<asks> \g<owner>.\g<method>", text))
    text = _WHEREVER.sub("", _IS_A.sub(" that transitively inherits from ", text))
    return _EVERYWHERE.sub("", _ENDS_UP.sub(r"\g<before> transitively ", text))


def split_scope(text: str) -> tuple[str, QuestionScope]:
    """Return a question without what limits its answer, and the limits."""
    scope = QuestionScope()
    text = said_plainly(text)
    if (without := _NON_TEST.sub("", text)) != text:
        text, scope = without, replace(scope, tests=TestScope.EXCLUDED)
    text = _IN_BRACKETS.sub(r" \1", _ONLY_PATH.sub(" (in ", text))
    text = _BOTH.sub("transitively", _AFTERTHOUGHT.sub(" ", text.replace(", ", " ")).replace("#include", "include"))
    text = _ROLE.sub(r"\1 ", text)
    text = _REMARK.sub("", text)
    text = _OUTSIDE_ITSELF.sub("", text) if _OF_IMPORT.search(text) else text
    text = _FROM_ANYWHERE.sub(r" \1", _MIDDLE.sub("", _ADVERBS.sub("", text)))
    if (match := _INDIRECT.search(text)) is not None:
        scope = replace(scope, direct=False)
        text = text[: match.start()] + text[match.end() :]
    if (match := _WITHOUT_TESTS.search(text)) is not None:
        scope = replace(scope, tests=TestScope.EXCLUDED)
        text = text[: match.start()] + text[match.end() :]
    if (match := _WITHIN_FIRST.search(text)) is not None and match["first"].lower() not in PRONOUNS:
        scope = replace(scope, within=match["first"])
        text = text[: match.start("out")] + text[match.end("out") :]
    if (match := _OUTSIDE_FIRST.search(text)) is not None:
        scope = replace(scope, outside=match["scope"].strip("`'\""))
        text = match["before"] + text[match.end() :]
    if (depth := _DEPTH.search(text)) is not None:
        scope = replace(scope, depth=int(depth["a"] or depth["b"]), direct=False)
        text = text[: depth.start()] + text[depth.end() :]
    if (match := _OUTSIDE.search(text)) is not None:
        # its slash says that it is a folder
        scope = replace(scope, outside=match["scope"].replace(SPACE, " ").strip("`'\""))
        text = text[: match.start()]
    for pattern, value in _ADJECTIVES:
        without = pattern.sub("", text)
        if without != text and without.strip():
            text = without
            scope = replace(scope, tests=value) if isinstance(value, TestScope) else replace(scope, direct=value)
    return text.strip(), scope


def readings(text: str) -> Iterator[tuple[str, TestScope, str]]:
    """Yield (question, tests, scope): as it is, then with less and less of what may surround it."""
    for candidate, within in _stripped(text):
        yield candidate, TestScope.ANY, within
        match = _TESTS_ONLY.search(candidate)
        if match is not None:
            yield candidate[: match.start()], TestScope.ONLY, within


def _stripped(text: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for _ in range(8):
        shorter = _TRAILING.sub("", text)
        if text not in seen:
            seen.add(text)
            yield text, ""
        if shorter == text:
            shorter = _POLITE.sub("", text, count=1)
        if shorter == text or not shorter:
            break
        text = shorter
    for whole in sorted(seen, key=len, reverse=True):
        match = _WITHIN.search(whole)
        if match is not None:
            yield _TRAILING.sub("", whole[: match.start()]), match["scope"]
    for whole in sorted(seen, key=len, reverse=True):
        if (match := _WITHIN_TWO.search(whole)) is not None:
            yield whole[: match.start()], match["scope"]


def clean(within: str) -> str:
    """Return a scope as it is looked up; "" for a pronoun."""
    everywhere = within.lower() in PRONOUNS or within.lower() in ("anywhere", "everywhere", "somewhere")
    return "" if everywhere else within.replace(SPACE, " ").strip("`'\"").rstrip("/")
