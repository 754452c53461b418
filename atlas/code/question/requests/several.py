"""The requests of a text, each as a question that can be asked alone. Pure.

A text that asks one thing has none: it is asked as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.code.question.further_parts import asks_for_inheriting, is_said_of_results
from atlas.code.question.grammar import MAX_RELATION_CHARACTERS, find_relation
from atlas.code.question.names import is_code_shaped
from atlas.code.question.package_questions import find_package_question
from atlas.code.question.parse_question import is_documentation, is_message
from atlas.code.question.relation_kinds import Kind
from atlas.code.question.requests.clauses import MIN_WORDS, Clause, opens_question, other_name, split_clauses
from atlas.code.question.requests.subject import (
    RESULT,
    AskedFor,
    ClauseSubject,
    about_result,
    affected_through,
    asked_for,
    of_subject,
    of_that_one,
    resolved,
    subject_of,
    written_names,
)
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex

MOST_REQUESTS = 4
_OF_CALLABLES = frozenset((Kind.CALLERS, Kind.CALLEES, Kind.TESTS, Kind.RETURNERS, Kind.OVERRIDES))
"""Relations of functions: that of `who calls it` is no variable of the environment."""
_OUTWARD = frozenset((Kind.SUPERTYPES, Kind.CALLEES, Kind.OVERRIDDEN, Kind.USES, Kind.IMPORTS))
"""Relations that find what `that one` may be about."""
_SAID_ANYWAY = frozenset(
    """
    code file files function functions class classes method methods module modules place places line lines happen
    happens come comes coded implemented defined done live lives located handled found declared written exactly made
    make wrote author date commit commits point reason purpose message give me show list change changes them
    """.split()  # noqa: SIM905
)
"""Words of what an answer says without being asked: where it is, and of a change, who made it, when and why."""
_OF_FORM = _SAID_ANYWAY | {"chain", "call", "calls", "path", "paths", "steps", "stack", "order", "between", "way"}
"""Words of a command that says how to answer: `give me the chain of calls`."""
_ONLY_ASKS = lazy_regex(r"(?:(?:when|why|where|who|how|by whom|since when)(?:,? and |,? )?){1,3}", re.IGNORECASE)
"""A clause that asks something of what was stated: `Support was switched off. When and why?`"""
_STATED = lazy_regex(
    r"(?P<subject>.{2,80}?) (?P<aux>was|were|is|are) (?P<rest>.{2,120}?)(?: at some (?:time|point)| once)?"
)
_IMPERATIVES = frozenset(("show", "list", "find", "give", "tell", "include", "name"))
_MOST_OF_FORM = 5
"""Words of a command that says how to answer: `show the call path`."""
_EDGE = "`'\"“”,;:?!()[]{}."
_THESE = frozenset(("this", "that", "these", "those", "the"))
_ALTERNATIVES = lazy_regex(r"\b([\w@][\w@./-]{1,80}(?:, [\w@][\w@./-]{1,80}){0,3}),? (?:or|and) ([\w@][\w@./-]{1,80})")
_USES_PACKAGE = lazy_regex(
    r"^(?:which|what) (?:\w+ ){0,2}?(?:packages?|modules?|files?|projects?|crates?|librar(?:y|ies)|apps?|services?)\b"
    r".{0,80} (?:use|uses|import|imports|require|requires|need|needs|declare|declares|depends? on)$",
    re.IGNORECASE,
)
"""What stands before the names of a question for the users of packages."""
_NAME = r"(?!(?:of|for|in)\b)[\w-]{1,60}(?: (?!(?:of|for|in|and)\b)[\w-]{1,60}){0,2}"
_VALUES_OF = lazy_regex(
    r"^((?:what(?:'s| is| are) )?(?:the )?(?:default|maximum|max|minimum|min|initial)(?: values? (?:of|for))?) "
    rf"({_NAME}(?:, {_NAME}){{0,3}}),? and ({_NAME})((?: (?:of|for|in) [^,?]{{1,120}})?)\??$",
    re.IGNORECASE,
)

_VALUES_NAMED = lazy_regex(
    r"^[`'\"]?(?P<one>[\w.-]{3,60})[`'\"]?,? and [`'\"]?(?P<other>[\w.-]{3,60})[`'\"]?(?::| [-–]) .*\bdefaults?\b",
    re.IGNORECASE,
)
"""`depthLimit and edgeLimit: default values and when do they take effect`: the lines of each say both."""
MOST_PASTED_WORDS = 80
"""Of a text that may be a message and a question about it; a longer one is a report."""
MIN_MESSAGE = 3
_KIND_OF_ERROR = lazy_regex(r"^[\w.$]{0,200}(?:Error|Exception|Warning|error|exception|warning|panic|fatal): (?=\S)")
_POINTS_UP = lazy_regex(r"^[\s^>:-]+")
"""`^ got this in my run`."""
_OF_PERSON = lazy_regex(r"^(?:i|we|i'm|i'd|i've|we're|my|our|please|hi|hello)\b", re.IGNORECASE)
_OF_TAKEN = lazy_regex(
    r"(?:and )?(?:what|which (?:of (?:its|their|the) )?\w+)(?: exactly)?"
    r" (?:(?:do|does) (?:they|each|it|each of them|each one) (?:\w+ )?(?:take|import|pull in|get|use|need)"
    r"|each(?: one| of them)? (?:takes|imports|pulls in))"
    r"(?: from (?:it|there|them))?",
    re.IGNORECASE,
)
"""A part of a question for what imports something, which the quoted lines say."""
_OF_ORDER = lazy_regex(r"(?:and )?in (?:what|which) (?:order|sequence)", re.IGNORECASE)
_OF_COMMITS = lazy_regex(
    r"(?:and )?(?:in|with|by|since)? ?(?:which|what) (?:pull request|pr|release|version|commit|change)s?"
    r"(?: (?:has|had|have|was|is|got|went out|shipped))?(?: it| that| this| them| without it| with it)?(?: first)?"
    r"(?: with(?:out)? it)?|(?:and )?(?:in )?(?:which|what) (?:release|version) (?:did|was|were|has|is)"
    r" (?:it|that|this|they|those) (?:first )?(?:shipp?(?:ed)?|land(?:ed)?|appear(?:ed)?|(?:come|gone?|get) out"
    r"|come|released)"
    r"|(?:and )?by whom"
    r"|(?:and )?(?:please )?(?:give|show|list|name|tell)(?: me)? the (?:first |last )?"
    r"(?:commits?|prs?|pull requests?)\b.{0,60}",
    re.IGNORECASE,
)
"""A part that asks for what a list of commits says of each."""
_OF_REASON = lazy_regex(
    r"(?:and )?(?:in (?:which|what) later (?:commit|change|pr|pull request) (?:did|was|were|has) (?:it|this|that|they)"
    r"|why|by whom|who (?:did|made|wrote|changed|added|introduced|fixed|removed)"
    r"|what (?:was|were|is) the (?:reasons?|motivation|problem|cause)"
    r"|(?:what|which) (?:problem|bug|issue|fault|error) (?:was|is|did|does) (?:it|that|this) "
    r"(?:fix(?:ing)?|solv(?:e|ing)|address(?:ing)?|cur(?:e|ing)|repair(?:ing)?)"
    r"|what (?:was|were|has been) (?:altered|changed|done)|what changed"
    r"|(?:by )?what (?:replaced|(?:took|takes) (?:the|its) place(?: of)?|(?:stands?|stood|came|is|was) there instead)"
    r"|(?:was|were|has|have|did) (?:it|this|that|they|the \w+(?: \w+)?) (?:been |get )?"
    r"(?:changed?|modified|touched|altered|edited|reverted) (?:afterwards?|since|again|later)"
    r"|how long (?:had|has|have|was|were|did) (?:it|that|this|they|we)"
    r"|what had (?:gone|been|happened)|what (?:went|was) (?:wrong|broken))\b[^?]{0,80}",
    re.IGNORECASE,
)
"""A part that the commit of the part before tells: who made it and why, how long it had been there."""
_ASKS_COMMIT = lazy_regex(
    r"^(?:when|since when)\b|\b(?:which|what) (?:commit|change|release|version|pr|pull request)s?\b"
    r"|\bthe (?:commit|change|pr|pull request) (?:that|which|by which|where|in which)\b",
    re.IGNORECASE,
)
_COMMIT_OF_STATED = lazy_regex(
    r"(?:and )?(?:please )?(?:find|give|name|show|tell|which|what)(?: me)?(?: the)? (?:commit|change|pr|pull request)s?"
    r"\b",
    re.IGNORECASE,
)
"""Asks which commit did what was stated before: `X is cached. Find the commit that introduced this`."""
_MEANT = lazy_regex(r"\b(?:this|that|it)\b", re.IGNORECASE)
_OF_KIND = lazy_regex(
    r"(?:and )?which (?:ones? |of (?:them|these|those) )?(?:are|is) (?:only )?(?:for )?"
    r"(optional|development|dev|test|build|runtime|peer)(?: only)?",
    re.IGNORECASE,
)
"""A part of a question for packages that asks for a kind of them."""
_FURTHER = lazy_regex(r"(?:an?|any|some) (?:\w[\w-]* ){0,2}\w[\w-]*", re.IGNORECASE)
_EXISTS = lazy_regex(
    r"(?P<exists>(?:is|are) there|do we have|does it have|have we got) (?:an?|any|some) .{1,60}?"
    r"(?P<of> (?:for|of|on|about|in) .{1,120})",
    re.IGNORECASE,
)
"""A question whether something of a kind exists, which `also a benchmark?` asks of another kind."""
_OF_PACKAGES = lazy_regex(
    r"\b(?:depend\w*|deps|librar(?:y|ies)|packages?|gems?|crates?|extras?|need(?:s|ed)?|require[sd]?|pass(?:es)? \S+ on"
    r"|pulls? in|pinned|jar|artifact|classpath|shaded|bundled|(?:have|has|need) to (?:add|install|declare))\b",
    re.IGNORECASE,
)
_ASKS_PACKAGE = lazy_regex(r"(?:which|what) (?:librar(?:y|ies)|packages?|gems?|crates?|modules?) ", re.IGNORECASE)
"""The package is what is asked for, and a later part is about it."""
_VERSION = (
    r"(?:(?:in|at|from|with) )?(?:which|what) (?:minimum |min |exact )?versions?"
    r"(?: (?:ranges?|bounds?|constraints?|requirements?|bound))?"
    r"(?: (?:is|are) (?:required|needed|declared|demanded|pinned|locked|allowed)"
    r"|(?: do| does) [\w.-]{1,40} (?:demand|require|need|declare|want|pin))?"
)
_OF_VERSION = lazy_regex(_VERSION, re.IGNORECASE)
_RAISED = lazy_regex(r"\b(?:raised|thrown|raises|throws)\b", re.IGNORECASE)
_HANDLE = lazy_regex(r"(?<=\w )handle(?= )", re.IGNORECASE)
_ASKS_EXTRA = lazy_regex(r"(?:which|what) (?:\w+ )?extras?\b(?!.* for )", re.IGNORECASE)
_OF_PACKAGE = lazy_regex(
    r"(?:if (?:not|so|yes),? )?(?:and )?(?:"
    r"(?:which|what) (?:of (?:our|the|its) )?(?:own )?(?:files?|modules?|code|class(?:es)?|parts?(?: of \w+ \w+)?)"
    r" (?:directly )?(?:uses?|imports?|needs?|pulls?|touch(?:es)?|references?)"
    r" (?:it|them|(?:this|the|that) (?:library|package|dependency|module|crate|gem))(?: in)?(?: directly| at all)?"
    r"(?:,? and for what|,? and why)?"
    r"|(?:which|what) (?:of (?:our|the|its) )?(?:own )?(?:files?|modules?|code|class(?:es)?|parts?)"
    r"(?: (?:of|in) (?:the|our|this) \w+)? (?:is|are|caused?|forces?) (?:the |to )?"
    r"(?:reasons?|cause|culprits?|blame|responsible|it|that|this)(?: for (?:it|that|this))?"
    rf"|{_VERSION}"
    r"|(?:is|are) (?:it|that|this|they) (?:an? |among the |declared as an? )?(?:\w+ )?(?:dependency|dependencies)"
    r"(?: (?:in|of) \S{1,60})?"
    r"|what (?:do|does) (?:it|they|that|those) install(?:,? (?:at|in|with) (?:which|what) (?:minimum |min )?versions?)?"
    r"|what (?:is|was) special about the (?:version )?(?:jump|bump|upgrade|update)"
    r"|since (?:which|what|when)\b[^?]{0,20} is it (?:a dependency|needed|used|there|required)"
    r"|(?:which|what) (?:of (?:them|these|those) |ones? |modules? |files? )?(?:would |will |do |does |can )?[\w ]{2,40}"
    r" (?:without (?:it|them|\S+)(?: (?:being )?(?:installed|there|present))?|(?:if|when) (?:it|they|\S+) (?:is|are)"
    r" (?:missing|absent|not (?:installed|there|present)))"
    r"|(?:can|could|would|do) (?:we|it|one) (?:\w+ )?(?:do|live|work|run|get by|manage) without(?: it)?"
    r"|what (?:is|are|was|were|do we|does it|did we) (?:it|they|that|them)? ?(?:used|needed|good|there|use|need)"
    r"(?: it| them)? for"
    r"|what (?:happens|breaks|fails|works|is lost|do we lose|would (?:happen|break|fail)) (?:without (?:it|them)"
    r"|(?:if|when) (?:it|they) (?:is|are)(?:n't| not) (?:installed|there|present|available))"
    r"|for what|what for|why)",
    re.IGNORECASE,
)
"""A part that asks for what an answer about a package says or adds, such as whether an import may fail."""
_OF_ONE_PACKAGE = lazy_regex(
    r"[`'\"]?[\w@][\w@./-]{1,60}[`'\"]?(?: [-–]|:) (?:what for|why|where|which|what)\b"
    r"(?=.{0,120}\b(?:(?:which|what|in which|its|allowed) versions?|versions? (?:allowed|required|locked))\b)",
    re.IGNORECASE,
)
"""`bcrypt - what for, where required and which version allowed`: one answer about a package says it all."""
_OF_THE_PACKAGE = lazy_regex(
    r"\bthe (?:missing |absent |uninstalled )?(?=(?:package|library|dependency|module|crate|gem)\b)", re.IGNORECASE
)
_OF_ONE = lazy_regex(r"\b(?:one|ones|another|others?|either|neither|each|the same)\b", re.IGNORECASE)
"""Means what the clause before is about without a name for it: `what makes the runner pick one over another`."""
_AMONG = lazy_regex(r"which (?:ones?|of (?:them|these|those))\b", re.IGNORECASE)
_HEADS = lazy_regex(r"^(?:what|how|why|where|when|who|which)\b[^?:]{1,200}: [^?]*\.$", re.IGNORECASE)
"""A statement that begins like a question: `What every bus does with events: who gets which, and how often.`"""


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One thing that a text asks."""

    text: str
    """As it can be asked alone."""
    of_result: str = ""
    """The same with `RESULT` for what the request before finds; "" where it asks for nothing of that."""
    result: AskedFor | None = None
    """What the request before asks for."""
    is_certain: bool = False
    """Whether it can only be meant of that result."""
    is_among: bool = False
    """Whether it asks which of all those results something is true of: `and which one never returns`."""


@dataclass(frozen=True, slots=True)
class SeveralRequests:
    """What a text asks."""

    requests: tuple[AskedPart, ...]
    are_alternatives: bool = False
    """They are one question about several names, which is only meant if each of them is a package or a limit."""
    has_statement: bool = False
    """Whether the text tells something beside what it asks."""


_OF_ADVICE = lazy_regex(
    r"(?:and )?what (?:does|do) (?:it|they|this|that|the (?:page|section|docs|documentation|manual|guide)) "
    r"(?:then )?(?:recommend|suggest|advise)(?: in the end| instead| there)?",
    re.IGNORECASE,
)
"""What a page that was asked for comes to: its answer shows that."""


def read_requests(text: str) -> SeveralRequests | None:
    """Return the requests of a text; None where it asks one thing, states something or is long."""
    if len(text) > MAX_RELATION_CHARACTERS or is_documentation(text) or is_message(text) or "\n" in text.strip():
        return None
    if _HEADS.match(text) is not None or _OF_ONE_PACKAGE.match(text) is not None:
        return None
    if limited := _limited(text):
        return SeveralRequests(tuple(map(AskedPart, limited)), are_alternatives=True)
    if (named := _VALUES_NAMED.match(text)) is not None and all(map(is_code_shaped, named.groups())):
        return SeveralRequests(tuple(AskedPart(f"what is the default of {name}") for name in named.groups()))
    clauses = split_clauses(text)
    topic = clauses[0].text if clauses and not clauses[0].asks and f"{clauses[0].text}: " in text else ""
    asked = [number for number, clause in enumerate(clauses) if clause.asks]
    if not asked:
        return None
    if len(clauses) == 1 and (found := _alternatives(text)):
        return SeveralRequests(tuple(map(AskedPart, found)), are_alternatives=True)
    requests = [each for request in _without_places([*_requests(clauses, topic)]) for each in _values(request)]
    if len(requests) < 2:
        return None
    return SeveralRequests(tuple(requests)[:MOST_REQUESTS], has_statement=len(asked) < len(clauses))


def _requests(clauses: Sequence[Clause], topic: str) -> Iterator[AskedPart]:
    """Yield the clauses that ask for something of their own, each with what it is about.

    `topic`: what stands before a colon and all clauses are about; "" for none.
    """
    subject: ClauseSubject | None = None
    asked: AskedFor | None = None
    context = before = stated = ""
    relations: list[tuple[str, str]] = []
    is_first, asks_packages, of_commit, of_package, of_extra = True, False, False, False, False
    kind: Kind | None = None
    is_pair = sum(clause.asks for clause in clauses) == 2
    for clause in clauses:
        if not clause.asks:
            subject = subject_of(clause.text) or subject
            stated, context = clause.text, clause.text if clause.is_context else ""
            continue
        bare = clause.text.strip(" ?.!")
        if (whole := _elliptical(bare, before) or affected_through(bare, subject)) and not is_first:
            yield AskedPart(whole)
            continue
        if not is_first and (_is_said_anyway(clause.text) or _is_of_answer(bare)):
            continue
        if _is_of_kind(bare, kind) or (of_commit and _OF_REASON.fullmatch(bare) and not written_names(bare)):
            continue
        if is_pair and before and is_said_of_results(bare, find_relation(before)):
            continue
        if (of_package or kind == Kind.IMPORTERS) and _OF_PACKAGE.fullmatch(bare):
            continue
        if (of_found := _of_package(clause.text, asked, of_extra=of_extra)) is not None:
            yield of_found
            continue
        of_package = is_first and _OF_PACKAGES.search(clause.text) is not None and not _ASKS_PACKAGE.match(bare)
        of_commit = is_first and _ASKS_COMMIT.search(clause.text) is not None
        text = _caught(resolved(clause.text, subject), before if kind == Kind.INSTANTIATIONS else "")
        is_open = text == clause.text and not is_first and not _AMONG.match(bare)
        if is_open and subject is not None and _OF_ONE.search(text):
            text = of_subject(text, subject)
        text = _of_stated(stated, clause.text, is_first=is_first) or text
        if asks_packages and (said := _OF_KIND.fullmatch(bare)) is not None:
            text = f"what are the {said[1]} dependencies"
        asks_packages = find_package_question(text) is not None
        of_extra = of_extra or (is_first and bool(topic) and _ASKS_EXTRA.match(bare) is not None)
        text = f"{bare} for {topic}" if is_first and of_extra else text
        if context and text == clause.text and not written_names(text):
            text = f"{text.rstrip(' ?.!')} {context[0].lower()}{context[1:]}"
        before, relation = text, find_relation(text)
        request = _request(clause.text, text, asked)
        if kind in _OUTWARD and (certain := of_that_one(clause.text)):
            request = AskedPart(text, certain, AskedFor("class", is_plural=False), is_certain=True)
        kind = relation.kind if relation is not None else None
        if relation is not None and relation.name and not request.is_certain:
            if (relation.kind, relation.name) in relations:
                continue
            relations.append((relation.kind, relation.name))
        yield request
        asked = asked_for(text)
        subject = (None if topic else subject_of(text, asked)) or subject  # `Jackson 3: ...`: all parts are about it
        is_first = False


def _of_stated(stated: str, clause: str, *, is_first: bool) -> str:
    """Return the question that a clause asks of what was stated before; "" where it asks none of that."""
    bare = clause.strip(" ?.!")
    if stated and is_first and _COMMIT_OF_STATED.match(bare) and _MEANT.search(bare):
        return f"{stated} {clause}"
    return _asked_of(stated.rstrip(" ."), bare) if stated and _ONLY_ASKS.fullmatch(bare) else ""


def _caught(text: str, before: str) -> str:
    """Return a part that asks where an error is caught, in that word: `where is X raised, and what handles it`."""
    return _HANDLE.sub("catch", text) if _RAISED.search(before) else text


def _is_of_answer(bare: str) -> bool:
    """Return whether a part asks for what every answer of its sort says: an order, a release, advice."""
    return any(form.fullmatch(bare) for form in (_OF_ORDER, _OF_COMMITS, _OF_ADVICE))


def _is_of_kind(bare: str, kind: Kind | None) -> bool:
    """Return whether a part asks for what the answer about a relation of a kind says."""
    if kind == Kind.IMPORTERS:
        return _OF_TAKEN.fullmatch(bare) is not None
    return kind == Kind.OVERRIDES and asks_for_inheriting(bare)


def _of_package(clause: str, asked: AskedFor | None, *, of_extra: bool) -> AskedPart | None:
    """Return a part that is about the package which the part before asks for, or which an extra installs; else None."""
    bare = clause.strip(" ?.!")
    if asked is not None and _OF_PACKAGES.match(asked.noun) and _OF_VERSION.fullmatch(bare):
        return AskedPart(clause, f"which version of {RESULT} is required", asked, is_certain=True)
    the = _OF_THE_PACKAGE.search(bare)
    if not of_extra or the is None or written_names(bare):
        return None
    found = f"{bare[: the.end()]}{RESULT} {bare[the.end() :]}"
    return AskedPart(clause, found, AskedFor("package", is_plural=False), is_certain=True)


def _asked_of(stated: str, asks: str) -> str:
    """Return what is asked of a statement: of `support was dropped` and `when and why`, `When was support dropped`."""
    said = _STATED.fullmatch(stated)
    if said is None:
        return f"{stated}. {asks}"
    first, *others = re.split(r"(?:,| and)+ ?", asks)
    behind = "".join(f" and {each}" for each in others if each)
    return f"{first.capitalize()} {said['aux']} {said['subject']} {said['rest']}{behind}"


def package_part(text: str) -> str:
    """Return the one clause of a text that asks for a package, where the others ask for what its answer says; or ""."""
    clauses = [clause.text.strip(" ?.!") for clause in split_clauses(text) if clause.asks]
    first, *others = clauses or [""]
    return first if others and all(map(_OF_PACKAGE.fullmatch, others)) else ""


def _elliptical(clause: str, before: str) -> str:
    """Return a clause without a verb as the question that it means: `is there a test of X? also a demo`; else "".

    `and who B.y` behind `who calls A.x` asks the same of another name.
    """
    other = other_name(clause.split())
    if before and other and (subject := subject_of(before)) is not None and subject.is_name:
        words = before.split()
        at = [number for number, word in enumerate(words) if word.strip(_EDGE) == subject.text.strip("`")]
        return " ".join([*words[: at[-1]], other, *words[at[-1] + 1 :]]) if at else ""
    further, asked = _FURTHER.fullmatch(clause), _EXISTS.fullmatch(before.strip(" ?.!"))
    return f"{asked['exists']} {clause}{asked['of']}?" if further is not None and asked is not None else ""


def _request(clause: str, text: str, asked: AskedFor | None) -> AskedPart:
    """Return a request with what it asks of the result of the one before."""
    if (among := _AMONG.match(clause)) is not None:
        return AskedPart(text, f"which of {RESULT}{clause[among.end() :]}", is_among=True)
    if certain := about_result(clause, asked):
        return AskedPart(text, certain, asked, is_certain=True)
    if asked is None or asked.noun:
        return AskedPart(text)
    relation = find_relation(text)
    of_result = about_result(clause, AskedFor("function", is_plural=False))
    if relation is not None and relation.kind in _OF_CALLABLES and of_result:
        return AskedPart(text, of_result, asked)
    return AskedPart(text)


def _without_places(requests: list[AskedPart]) -> list[AskedPart]:
    """Return requests without that for the place of a symbol which another one is about: its answer has the place."""
    relations = [find_relation(each.text) for each in requests]
    return [
        request
        for request, own in zip(requests, relations, strict=True)
        if own is None
        or own.kind != Kind.DEFINITION
        or request.of_result
        or not any(each is not own and each is not None and each.name == own.name for each in relations)
    ]


def _is_said_anyway(clause: str) -> bool:
    """Return whether the answer to the clause before says what a clause asks for."""
    words = [word.strip(_EDGE).lower() for word in clause.split()]
    if written_names(clause):
        return False
    if words[0] in _IMPERATIVES and (len(words) <= _MOST_OF_FORM or all(map(_is_of_form, words))):
        return True
    if len(words) < MIN_WORDS:
        return True
    if words[0] in ("what", "how") and words[-1] in ("do", "work", "works"):
        return False
    own = [
        word
        for before, word in zip(("", *words), words, strict=False)
        if word not in STOP_WORDS and word not in _SAID_ANYWAY and before not in _THESE - {"the"}
    ]
    return not own


def _is_of_form(word: str) -> bool:
    return word in _OF_FORM or word in STOP_WORDS or word in _IMPERATIVES


def _limited(text: str) -> list[str]:
    """Return a question for a relation once for each file that limits it: `unused functions in a.py or b.py`."""
    for match in _ALTERNATIVES.finditer(text):
        names = [*match[1].split(", "), match[2]]
        forms = [text[: match.start()] + name + text[match.end() :] for name in names]
        read = [find_relation(form) for form in forms]
        if all(each is not None and each.within == name for each, name in zip(read, names, strict=True)):
            return forms
    return []


def _alternatives(text: str) -> list[str]:
    """Return a question about packages once for each name of its list."""
    for match in _ALTERNATIVES.finditer(text):
        names = [*match[1].split(", "), match[2]]
        before, behind = text[: match.start()], text[match.end() :]
        forms = [before + name + behind for name in names]
        if _USES_PACKAGE.match(before.rstrip()) and not behind.strip("?!. "):
            return forms
        read = [find_package_question(form) for form in forms]
        if all(each is not None and each.package == name for each, name in zip(read, names, strict=True)):
            return forms
    return []


def _values(request: AskedPart) -> list[AskedPart]:
    """Return a question for the values of a list once for each of them: `default A, B and C of X`."""
    match = _VALUES_OF.match(request.text)
    if match is None:
        return [request]
    names = [*match[2].split(", "), match[3]]
    return [AskedPart(f"{match[1]} {name}{match[4]}") for name in names]


def quote_pasted(text: str) -> str:
    """Return a text with the message of its first line in quotes; other texts as they are.

    The message is a line of its own, states something, and lines that ask follow without a blank line between.
    """
    first, *others = [line.strip() for line in text.strip().split("\n")]
    if not others or not all((first, *others)) or len(text.split()) > MOST_PASTED_WORDS or "“" in text:
        return text
    rest = _POINTS_UP.sub("", " ".join(others))
    message = _KIND_OF_ERROR.sub("", first).strip("\"'` ")
    is_message = len(message.split()) >= MIN_MESSAGE and not opens_question(first.split())
    if not is_message or _OF_PERSON.match(first) or not any(clause.asks for clause in split_clauses(rest)):
        return text
    return f"“{message}” {rest}"
