"""Questions about what nothing reaches: `unused functions in Y`, `methods of Y without tests`. Pure.

They name no symbol but what kind of definition is meant and where. The frames of the grammar are about a name; here the
scope may stand in the middle of the question, and `without tests` is what is asked for rather than a limit.

A question in words of its own, such as `is anything in api.go exported but never used`, is read by its parts: what is
never done, the file, tests, a kind of definition. It is read only if no word is left but those that describe the kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from atlas.code.question.question_scope import PRONOUNS, clean
from atlas.code.question.relation_kinds import Kind, RelationIntent, TestScope
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label

_CALLABLE = (Label.FUNCTION, Label.METHOD)
_ALL = (Label.CLASS, *_CALLABLE)
_LABELS = {
    "function": _CALLABLE,
    "func": _CALLABLE,
    "helper": _CALLABLE,
    "procedure": _CALLABLE,
    "method": (Label.METHOD,),
    "class": (Label.CLASS,),
    "classe": (Label.CLASS,),
    "type": (Label.CLASS,),
    "struct": (Label.CLASS,),
    "interface": (Label.CLASS,),
    "trait": (Label.CLASS,),
    "enum": (Label.CLASS,),
    "constant": (Label.VALUE,),
    "variable": (Label.VALUE,),
    "field": (Label.VALUE,),
}
"""What the singular of a word in a question stands for; other words stand for all definitions."""
_NOUNS = (
    r"(?:functions?|funcs?|methods?|class(?:es)?|types?|structs?|interfaces?|traits?|enums?|helpers?|procedures?"
    r"|symbols?|definitions?|exports?|code|constants?|variables?|fields?|members|parts|things|stuff|units"
    r"|anything|everything|something)"
)
_THING = (
    r"(?:(?:the|all|any|every|of|private|public|exported|internal|static|global|top-level|utility|class|instance|leftover"
    r"|left-over|remaining|old|stale) )*"
    rf"(?P<thing>{_NOUNS}(?:(?:,| and| or|/) ?{_NOUNS})?)"
)
_EXPORTED = lazy_regex(r"\b(?:exports?|exported|public)\b", re.IGNORECASE)
_PRIVATE = lazy_regex(r"\b(?:private|internal|unexported)\b", re.IGNORECASE)
_KIND = r"(?:module|class|package|folder|directory|dir|file|struct|type|interface|trait|crate|namespace|component|app)"
_SCOPE = (
    rf" (?:in|within|inside|under|below|of|from|on|across) (?:(?:the|our|my|this) )?(?:{_KIND} )?"
    rf"(?P<SLOT>[^\s,;?]+)(?: {_KIND})?"
)
_EVERYWHERE = (
    r" (?:in|across|throughout|within|over|of) (?:the |this |our |my |whole |entire )+"
    r"(?:code ?base|project|repo|repository|code|source|source code|tree|app|application|program|library|package)\b"
)
_WHERE = (
    r"(?:any ?where|anymore|any more|at all|by (?:anything|anyone|any \w+|other code|unit tests|(?:a|the)?\s?tests?))"
)
_UNUSED = r"(?:unused|dead|unreferenced|uncalled|orphaned|unreachable|never[- ](?:called|used))"
_HOLDER = rf"(?:(?:the|our|my|this) )?(?:{_KIND} )?(?P<a>(?!we\b|you\b|it\b)[^\s,;?]+)(?: {_KIND})?"
_NEVER = r"(?:is|are|was|were) (?:never|not|no longer|not ever)|(?:is|are)n['’]t|never"
_USED = r"(?:used|called|referenced|invoked|instantiated|needed|reached)"
_UNTESTED = r"(?:untested|uncovered|not (?:unit[ -])?(?:tested|covered)|never (?:tested|covered))"
_TESTS = r"(?:(?:any|a|an|unit|automated|own|corresponding|associated) ?)*(?:tests?|test coverage|coverage|test cases?)"
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    (Kind.UNUSED, rf"{_UNUSED} THINGSCOPE_A"),
    (Kind.UNUSED, rf"(?:anything|something|things?|stuff)(?: that(?: is|['’]s| are))? {_UNUSED}SCOPE_A"),
    (Kind.UNUSED, rf"(?:(?:does|do|has) )?{_HOLDER} (?:have|has|contains?|holds?|got) (?:any |some )?{_UNUSED} THING"),
    (Kind.UNUSED, rf"(?:that |which )?THINGSCOPE_A(?: that| which)? (?:{_NEVER}) {_USED}(?: {_WHERE})?SCOPE_B"),
    (
        Kind.UNUSED,
        r"THINGSCOPE_A(?: that| which)? (?:(?:is|are) )?(?:unused|dead|unreferenced|uncalled|orphaned)SCOPE_B",
    ),
    (
        Kind.UNUSED,
        r"THINGSCOPE_A(?: that| which)? (?:(?:has|have|with) (?:no|zero|not any)|(?:has|have)n['’]t any"
        r"|without(?: any)?) "
        r"(?:known )?(?:callers|usages|references|uses|users|call sites)SCOPE_B",
    ),
    (
        Kind.UNUSED,
        r"THINGSCOPE_A(?: that| which)? (?:nobody|nothing|no one|no-one|no code) (?:else )?(?:is )?"
        rf"(?:calls?|uses?|references?|calling|using|referencing|invokes?)(?: {_WHERE})?SCOPE_B",
    ),
    (Kind.UNTESTED, r"(?:untested|uncovered) THINGSCOPE_A"),
    (Kind.UNTESTED, rf"THINGSCOPE_A(?: that| which)? (?:is |are |was |were )?{_UNTESTED}(?: {_WHERE})?SCOPE_B"),
    (Kind.UNTESTED, rf"THINGSCOPE_A(?: that| which)? (?:is|are)n['’]t (?:tested|covered)(?: {_WHERE})?SCOPE_B"),
    (Kind.UNTESTED, rf"(?:is not|isn['’]t) (?:tested|covered)(?: {_WHERE})?SCOPE_B"),
    (
        Kind.UNTESTED,
        r"THINGSCOPE_A(?: that| which)? (?:(?:has|have|with) no|(?:do|does) not have|(?:do|does)n['’]t have"
        rf"|(?:has|have)n['’]t|without|lacks?|lacking|miss|missing|needs?|needing) {_TESTS}SCOPE_B",
    ),
)
_POLITE = lazy_regex(
    r"^(?:please |(?:can|could|would) you |(?:find|show|list|give|get|tell|print|display|report|identify"
    r"|search for|look for|check for|detect|enumerate)(?: me| us)?(?: out)? |(?:is|are) there (?:any |some )?"
    r"|(?:is|are) (?=anything|something|any )"
    r"|(?:do|does) (?:we|it) have (?:any )?"
    r"|(?:which|what)(?: (?:is|are) (?=the |unused|dead|untested|uncovered))? |(?:all|any|the) (?:of )?(?:the )?)",
    re.IGNORECASE,
)
_WITHOUT_TESTS = lazy_regex(
    r",? \(?(?:(?:but )?(?:excluding|ignoring|except(?: for| in)?|outside(?: of)?|not counting|not in|without counting)"
    r"(?: those in| references in| uses in| callers in)?|other than in) (?:the )?(?:unit )?tests?(?: code| files)?\)?$",
    re.IGNORECASE,
)
_IN_TESTS = lazy_regex(r"(?:the )?(?:unit )?tests?", re.IGNORECASE)
_END = lazy_regex(rf"(?: please| right now| currently|{_EVERYWHERE})$", re.IGNORECASE)


_HINT = lazy_regex(
    r"unused|dead|unreferenced|uncalled|orphaned|unreachable|never|no longer|n['’]t |not |no |zero|without"
    r"|nobody|nothing|no one|untested|uncovered|lack|miss|need|only|solely|exclusively",
    re.IGNORECASE,
)
"""Every such question has one of these; most other questions need no further test."""


def find_unreached(text: str) -> RelationIntent | None:
    """Return the question for unused or untested definitions that a text asks; None for other texts."""
    if not _HINT.search(text):
        return None
    text = text.rstrip(" .!?:;")
    text = _HAS_SOME.sub(lambda match: f"any {match['things']} in {match['owner']}", text)
    text = _HAVE_ANY.sub(lambda match: f"any {match['things']} in {match['owner']} that ", text)
    text = _TOPIC.sub(lambda match: f"{match['rest']}{match['topic']}", text)
    tests = TestScope.ANY
    if _IN_PRODUCT.search(text):
        tests, text = TestScope.EXCLUDED, _IN_PRODUCT.sub("", text)
    if _OF_PRODUCT.search(text):
        tests, text = TestScope.EXCLUDED, _OF_PRODUCT.sub("no code", text)
    if (match := _WITHOUT_TESTS.search(text)) is not None:
        tests, text = TestScope.EXCLUDED, text[: match.start()]
    for part in _shorter(text):
        for kind, pattern in _compiled():
            if (match := pattern.fullmatch(part)) is not None:
                return _intent(kind, match, part, tests)
    return _by_parts(text, tests)


def _shorter(text: str) -> Iterator[str]:
    for _ in range(6):
        yield text
        shorter = _END.sub("", text)
        if shorter == text:
            shorter = _POLITE.sub("", text, count=1)
        if shorter in (text, ""):
            return
        text = shorter


def _intent(kind: Kind, match: re.Match[str], part: str, tests: TestScope) -> RelationIntent | None:
    groups = match.groupdict()
    within = (groups.get("a") or groups.get("b") or "").strip("`'\"")
    if within.lower() in PRONOUNS:
        return None
    if _IN_TESTS.fullmatch(within):
        within, tests = "", TestScope.ONLY
    thing = groups.get("thing") or ""
    labels = {label for word in re.findall(r"[\w-]+", thing.lower()) for label in _LABELS.get(word.rstrip("s"), _ALL)}
    said = part.replace(within, " ") if within else part
    exported = True if _EXPORTED.search(said) else False if _PRIVATE.search(said) else None
    asked = tuple(sorted(labels or _ALL))
    return RelationIntent(kind, "", tests=tests, within=clean(within), labels=asked, exported=exported)


@cache
def _compiled() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    """Return the patterns of whole questions, compiled when a question first needs them."""
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _whole_patterns())


def _whole_patterns() -> Iterator[tuple[Kind, str]]:
    for kind, pattern in _PATTERNS:
        whole = pattern.replace("THING", _THING)
        for slot in ("a", "b"):
            whole = whole.replace(f"SCOPE_{slot.upper()}", f"(?:{_SCOPE.replace('SLOT', slot)})?")
        yield kind, whole


_VALUES = (Label.VALUE,)
_KINDS = {
    **_LABELS,
    **dict.fromkeys(("flag", "option", "setting", "value", "global", "default", "key"), _VALUES),
    **dict.fromkeys(("error", "exception"), (Label.CLASS, Label.VALUE)),
    **dict.fromkeys(("property", "propertie", "attribute", "accessor"), (Label.METHOD, Label.VALUE)),
    **dict.fromkeys(("symbol", "definition", "export", "code", "name", "api", "declaration"), (*_ALL, Label.VALUE)),
    **dict.fromkeys(("anything", "everything", "something", "thing", "stuff", "member"), (*_ALL, Label.VALUE)),
}
"""The same for questions that are read by parts; what has no kind includes values."""
_SAID = {"error": "error|exception", "exception": "error|exception"}
"""Kinds that are told by their name, with the words of such names."""
_TEST_CODE = r"(?:the |our |its |unit |own )*tests?(?: code| suites?| files?| modules?)?\b"
_DONE = (
    r"(?:used?|uses|using|call(?:s|ed|ing)?|referenc(?:es?|ed|ing)|reads?|reading|return(?:s|ed|ing)?|throws?|thrown|rais(?:es?|ed)"
    r"|compar(?:es?|ed)|imports?|imported|importing|invok(?:es?|ed)|instantiat(?:es?|ed)|needs?|needed"
    r"|access(?:ed|es)?|touch(?:ed|es)?|consult(?:s|ed)|reached)"
)
_BETWEEN = r"(?: (?:itself|themselves|is|are|was|were|be|being|been|ever|actually|really|gets?|else|has|have))*"
_PATH = r"[\w.-]*(?:/|\.\w)[\w./-]*"
_IN_FILE = lazy_regex(
    rf"(?:\b(?:in|inside|within|under|of|from|at|by) )?(?:the (?:very )?(?:top|start|beginning|head|bottom|end) of )?"
    rf"(?:(?:the|our|this) )?(?:{_KIND} )?[`'\"]?(?P<path>(?<![\w./-]){_PATH}(?<=\w))[`'\"]?(?: {_KIND}\b)?",
    re.IGNORECASE,
)
_IN_KIND = lazy_regex(
    rf"\b(?:in|inside|within|under|of|from|on) (?:the|our) (?:{_KIND} [`'\"]?(?P<a>\w[\w-]+)[`'\"]?"
    rf"|[`'\"]?(?P<b>\w[\w-]+)[`'\"]? (?:module|package|folder|directory|file|crate|namespace)\b"
    rf"|[`'\"]?(?P<c>(?-i:[A-Z])\w+)[`'\"]? (?:class|struct|type|interface|trait|enum|object)\b)",
    re.IGNORECASE,
)
_IN_BRACKETS = lazy_regex(r" \((?:in )?[\w-]{1,80}(?:[./][\w-]{1,80}){1,12}\)")
"""The file of a class that is named before."""
_TOPIC = lazy_regex(
    r"^(?:in )?(?P<topic>[`'\"]?[\w./:-]+[`'\"]?)(?: -+|:|,) (?P<rest>.{1,200}?\b(?:in|of|from) )(?:it|there)\b"
)
"""`lib/x - is there something in it that nothing calls`."""
_HAS_SOME = lazy_regex(
    rf"^(?:the |our )?[`'\"]?(?P<owner>[\w.:/-]+)[`'\"]? (?:has|contains|defines|declares|holds|comes with) "
    rf"(?:(?:some|a few|many|several|a lot of|lots of|a bunch of|a couple of) )?(?P<things>(?:[\w-]+ ){{0,3}}{_NOUNS})"
    r"[;,.:]+ (?:and )?(?:is|are) there (?:any|some|one|ones)(?: of (?:them|those|these))?(?= )",
    re.IGNORECASE,
)
"""`X has some helpers; are there any that nobody calls`."""
_HAVE_ANY = lazy_regex(
    rf"^(?:does|do) (?:the |our )?[`'\"]?(?P<owner>[\w.:/-]+)[`'\"]? "
    rf"(?:(?:interface|class|type|trait|struct|module|file) )?"
    rf"(?:have|contain|declare|define) (?:any |some )?(?P<things>(?:[\w-]+ ){{0,3}}{_NOUNS}) (?:that |which )?",
    re.IGNORECASE,
)
"""`does X have methods nobody calls`."""
_OF_PRODUCT = lazy_regex(
    r"\bno (?:production|prod|non-test|product|real) (?:code|caller|module|file)s?\b"
    r"|\bnot (?:in|by) (?:the )?production code\b",
    re.IGNORECASE,
)
"""What tests do is left out of the question."""
_IN_PRODUCT = lazy_regex(
    r" (?:in|from|by) (?:the |our )?(?:production|prod|non-test|product|shipped) (?:code|sources?)\b", re.IGNORECASE
)
_IN_OWNER = lazy_regex(
    r"\b(?:in|inside|of|from|on) [`'\"]?(?P<d>(?-i:[A-Z][a-z])\w{1,60})[`'\"]?(?= |$)", re.IGNORECASE
)
"""A class that is named like one."""
_BY_TESTS = lazy_regex(
    rf",?(?: but| and)?(?: that(?: is| are)?)? (?:only|just|exclusively|solely)(?: there)?(?: {_DONE})?"
    rf"(?: for| by| in| from| inside)? {_TEST_CODE}(?:(?: do)? {_DONE})?(?: (?:it|them)\b)?"
    rf"|\b(?:nothing|nobody|no one) (?:but|except|besides|other than) {_TEST_CODE}",
    re.IGNORECASE,
)
_BESIDES_TESTS = lazy_regex(
    rf",? \(?(?:but|except(?: for)?|other than|besides|apart from|aside from|outside(?: of)?|excluding|without"
    rf"|not counting)(?: by| in| from)? {_TEST_CODE}\)?",
    re.IGNORECASE,
)
_NOT_DONE = lazy_regex(
    rf"\b(?:never|no longer|not|nobody|nothing|no one|no-one|no(?: other)? (?:code|module|file|class|function|part)"
    rf"|(?:is|are|does|do|was|were|has|have)n['’]t)(?:{_EVERYWHERE})?{_BETWEEN} {_DONE}"
    rf"(?:(?:,|,? or|,? nor|,? and)(?: never| not)? {_DONE})*\b|\b{_UNUSED}\b"
    rf"|\b(?:no|without(?: any)?)(?: other)? (?:callers?|users?|usages?|uses|references?|call sites|readers?)\b",
    re.IGNORECASE,
)
_ASKED = lazy_regex(
    r"\b(?:any|anything|something|some|which|what|there|list|find|show|contains?|of the)\b", re.IGNORECASE
)
_OTHERWISE = lazy_regex(
    r"\b(?:why|how|when|where|who|whose|if|should|can|could|commits?|dependenc\w+|tests?)\b", re.IGNORECASE
)
"""Such a question is about something else, or has a condition that is not read."""
_FILLER_WORDS = """
a an the of in on at by for to from and or but that which what is are was were be been being there any some anything
list find show me all every our my this its it them they we i still anywhere somewhere else itself themselves ever
actually really contain contains declares declare declared defines define defined exported public private internal
introduced listed written kept provided package library repository repo project codebase code base whole entire rest
other own program top level small protected little have has do does you one ones just though yet here currently now
anymore more
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_MOST_WORDS = 2
"""Words that describe a kind of definition; more say something else."""


def _by_parts(text: str, tests: TestScope) -> RelationIntent | None:
    """Read a question for unused code by what it consists of; None if words are left that say something else."""
    if not _ASKED.search(text):
        return None
    kinds = list(_IN_KIND.finditer(text))
    text = _IN_BRACKETS.sub("", text) if kinds else text
    paths = list(_IN_FILE.finditer(text)) or kinds or list(_IN_OWNER.finditer(text))
    if len(paths) > 1:
        return None
    within = next((each for each in paths[0].groups() if each), "") if paths else ""
    rest = text.replace(paths[0][0], " ", 1) if paths else text
    rest, by_tests = _BY_TESTS.subn(" ", rest)
    rest, besides = _BESIDES_TESTS.subn(" ", rest)
    rest, never = _NOT_DONE.subn(" , ", rest)
    if not (never or by_tests) or _OTHERWISE.search(rest) or (by_tests and besides):
        return None
    described = _described(rest)
    if described is None:
        return None
    labels, words = described
    exported = True if _EXPORTED.search(rest) else False if _PRIVATE.search(rest) else None
    tests = TestScope.EXCLUDED if by_tests or besides else tests
    return RelationIntent(
        Kind.UNUSED,
        "",
        tests=tests,
        within=clean(within),
        labels=labels,
        exported=exported,
        words=words,
        by_tests=bool(by_tests),
    )


def _described(rest: str) -> tuple[tuple[Label, ...], tuple[str, ...]] | None:
    """Return the kinds that the words left of a question name, and what else they say of them; None for other words."""
    labels: tuple[Label, ...] = ()
    words: list[str] = []
    described = 0
    for word in re.findall(r"[\w'’-]+|,", rest.lower()):
        kind = word if word in _KINDS else word.rstrip("s")
        if kind in _KINDS:
            words += [_SAID[kind]] if kind in _SAID else []
            labels, described = (*labels, *_KINDS[kind]), len(words)
        elif word not in _FILLERS and word != ",":
            words.append(word)
    if labels and len(words) > described:
        return None  # `settings that are not read from the environment`
    if not labels or len(set(words)) > _MOST_WORDS:
        # `what in api.go is never used` names no kind
        is_all = not words and not labels and re.search(r"\bwhat\b", rest, re.IGNORECASE)
        return ((*_ALL, Label.VALUE), ()) if is_all else None
    return tuple(sorted(set(labels))), tuple(dict.fromkeys(words))
