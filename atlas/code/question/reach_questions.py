"""Questions about what nothing reaches: `unused functions in Y`, `methods of Y without tests`. Pure.

They name no symbol but what kind of definition is meant and where. The frames of the grammar are about a name; here the
scope may stand in the middle of the question, and `without tests` is what is asked for rather than a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from atlas.code.question.question_scope import PRONOUNS, clean
from atlas.code.question.relation_kinds import Kind, RelationIntent, TestScope
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
    r"(?:(?:the|all|any|every|of|private|public|exported|internal|static|global|top-level|utility|class|instance) )*"
    rf"(?P<thing>{_NOUNS}(?:(?:,| and| or|/) ?{_NOUNS})?)"
)
_EXPORTED = re.compile(r"\b(?:exports?|exported|public)\b", re.IGNORECASE)
_PRIVATE = re.compile(r"\b(?:private|internal|unexported)\b", re.IGNORECASE)
_KIND = r"(?:module|class|package|folder|directory|dir|file|struct|type|interface|trait|crate|namespace|component|app)"
_SCOPE = (
    rf" (?:in|within|inside|under|below|of|from|on|across) (?:(?:the|our|my|this) )?(?:{_KIND} )?"
    rf"(?P<SLOT>[^\s,;?]+)(?: {_KIND})?"
)
_EVERYWHERE = (
    r" (?:in|across|throughout|within|over|of) (?:the |this |our |my |whole |entire )+"
    r"(?:code ?base|project|repo|repository|code|source|source code|tree|app|application|program|library)"
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
_POLITE = re.compile(
    r"^(?:please |(?:can|could|would) you |(?:find|show|list|give|get|tell|print|display|report|identify"
    r"|search for|look for|check for|detect|enumerate)(?: me| us)?(?: out)? |(?:is|are) there (?:any |some )?"
    r"|(?:is|are) (?=anything|something|any )"
    r"|(?:do|does) (?:we|it) have (?:any )?"
    r"|(?:which|what)(?: (?:is|are) (?=the |unused|dead|untested|uncovered))? |(?:all|any|the) (?:of )?(?:the )?)",
    re.IGNORECASE,
)
_WITHOUT_TESTS = re.compile(
    r",? \(?(?:(?:but )?(?:excluding|ignoring|except(?: for| in)?|outside(?: of)?|not counting|not in|without counting)"
    r"(?: those in| references in| uses in| callers in)?|other than in) (?:the )?(?:unit )?tests?(?: code| files)?\)?$",
    re.IGNORECASE,
)
_IN_TESTS = re.compile(r"(?:the )?(?:unit )?tests?", re.IGNORECASE)
_END = re.compile(rf"(?: please| right now| currently|{_EVERYWHERE})$", re.IGNORECASE)


_HINT = re.compile(
    r"unused|dead|unreferenced|uncalled|orphaned|unreachable|never|no longer|n['’]t |not |no |zero|without"
    r"|nobody|nothing|untested|uncovered|lack|miss|need",
    re.IGNORECASE,
)
"""Every such question has one of these; most other questions need no further test."""


def find_unreached(text: str) -> RelationIntent | None:
    """Return the question for unused or untested definitions that a text asks; None for other texts."""
    if not _HINT.search(text):
        return None
    text = text.rstrip(" .!?:;")
    tests = TestScope.ANY
    if (match := _WITHOUT_TESTS.search(text)) is not None:
        tests, text = TestScope.EXCLUDED, text[: match.start()]
    for part in _shorter(text):
        for kind, pattern in _compiled():
            if (match := pattern.fullmatch(part)) is not None:
                return _intent(kind, match, part, tests)
    return None


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
    exported = True if _EXPORTED.search(part) else False if _PRIVATE.search(part) else None
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
