"""Question -> the relation that it asks for. Pure; knows nothing of the store.

The grammar has two parts: the vocabulary of `relations.py`, and the frames below, which say how English puts a noun
("callers of X", "X callers") or a verb ("what calls X", "where is X called from") around a name. A frame has to match
the whole question, or a whole clause of it when the name cannot be anything but a name. What surrounds a question is
taken off first: politeness, commands, `in tests`, `in module Y`, `directly`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from atlas.search.names import dotted, is_code_shaped
from atlas.search.relations import RELATIONS, Kind, RelationIntent, TestScope, Verb, Words

MAX_RELATION_CHARACTERS = 300
"""Questions about edges are short; longer text only happens to contain such a phrase."""

_KIND_WORD = (
    "(?-i:(?:abstract |base |public |private |static |async |global )?"
    "(?:class|classes|function|func|fn|method|module|interface|trait|struct|symbol|type|enum|constant|const|variable"
    "|field|attribute|property|macro|file|package|library|crate|decorator|hook|component|exception|protocol|mixin"
    "|object|record|typedef|alias|namespace|constructor|helper|api|folder|directory|dir|operator|model|view|handler"
    "|error|service|middleware|command))"
)
"""In lower case only: `Handler` is a name, `handler` says what kind of thing has it."""
_DET = "(?:(?:the|a|an|our|my|this|that|its) )?"
_SUBJECT = r"(?:(?!of |for |to |does |do |is |are )[\w'-]+ ){0,3}?"
"""Up to three words between "which" and the verb: `which test functions call X`."""
_THINGS = (
    "(?:(?:all |any |other |the |every |each |unit |test |public )*(?:functions?|methods?|class(?:es)?|modules?|files?"
    "|code|places?|locations?|lines?|spots?|symbols?|tests?|types?|structs?|interfaces?|traits?|components?|packages?"
    "|everything|anything|something|things|those|callers?|docs?|documents?|pages?|sections?|adrs?|decisions?"
    "|handlers?|parts?|instances?|stuff|scripts?|services?|objects?|sites?|constants?|variables?|errors?|exceptions?"
    "|implementations?|specs?|ones?) )"
)
_BE = "(?:is|are|was|were|gets?|got|being|does|do|has|have|can)"
_ANYONE = "(?:anything|anyone|anybody|something|someone|somebody|any|other|others|nothing|everything)"

_NOUN_FRAMES = (
    "N of|for|to|on|in|about|from|against|with|calling|covering|by X",
    "X N",
    "'s N",
    "N X",
    "[how_many|what|which|any] N does|do|did|has|have X [have|has|get|make|define|contain|expose|handle|offer]",
    "does|do|has|have X [have] [any|some] N",
    "[are|is] there [any|some|a|an] N of|for|to X",
    "is|are there [any|some|a|an] N in X",
    "N [that|which] X has|have|defines|contains|exposes|handles",
)
_ACTIVE_FRAMES = (
    "who|what|which|where|how_many [SUBJECT] [else] [all] [is|are] V3|V|VG X",
    "where|when do|does|did|is|are|can [SUBJECT] V|VG X",
    "where [we|they|i|you] V X",
    "THINGS [that|which|who|where] [is|are|can] V3|V|VG X",
    "THINGS [that|which|who|where] [we|they|i|you] V X",
    "does|do|is|are|did|has ANYONE [SUBJECT] V|VG X",
    "who|what V3 X",
)
_PASSIVE_FRAMES = (
    "where|when|how|by_whom|by_what|how_often|how_many_times|from_where BE X [get|being|ever|currently|actually] "
    "P [from|by|at|in|to|with]",
    "[if|whether|places|all_places|all_the_places|THINGS] [where|that|which] X BE [being|ever|actually] P "
    "[from|by|at|in] [where|what|who|whom|anything]",
    "BE X [ever|actually|even|still|being|currently] P [anywhere|somewhere|at_all|yet] "
    "[by_anything|by_anyone|by_something|by_other_code|by_tests|by_a_test|by_any_test]",
    "what|who|which [SUBJECT] BE X [being] P by|from|in",
    "X P where|by_what|by_whom|by|from_where|from",
    "X BE P by|from [who|what|whom|where]",
)
_INVERSE_FRAMES = (
    "what|which|who|whom|how_many [SUBJECT] does|do|did|will|can X [all|itself|in_turn|eventually] V [on|to|from]",
    "what|everything|THINGS X V3",
    "THINGS [that|which] [is|are|get|gets] P by|from|in|inside|within X",
    "what|which [SUBJECT] is|are|gets|get P by|from|in|inside|within X",
    "THINGS [that|which] X V3",
    "does|do X V anything|something|any",
    "what is X VG",
    "who|what|which [SUBJECT] X V3",
)
_MORE: tuple[tuple[Kind, str], ...] = (
    (Kind.PATH, "how does|do|can|could|would X [eventually|ever] reach|reaches|call|invoke|get_to|lead_to|end_up_in"
                "|end_up_at|end_up_calling|connect_to|flow_to|flow_into|make_it_to|use|arrive_at Y"),
    (Kind.PATH, "how do|does|can|could we|you|i|control|execution|data|it get|go|come from X to|into Y"),
    (Kind.PATH, "[what|is|are] [is|there] [the|a|any|some] [shortest] [call|calling|dependency|execution|control|data|call_graph] "
                "path|paths|route|chain|call-chain|callchain|trace|connection|link|flow|sequence|stack|graph "
                "[of_calls] from|between X to|and Y"),
    (Kind.PATH, "[call] trace|follow|connect from X to Y"),
    (Kind.PATH, "trace|follow|connect X to Y"),
    (Kind.PATH, "from X to Y"),
    (Kind.PATH, "does|do|can|is|could X [ever|eventually|able_to|reachable_from] reach|call|invoke|get_to|lead_to"
                "|end_up_calling Y"),
    (Kind.PATH, "is|are Y reachable|called|reached|invoked from|by|via X"),
    (Kind.PATH, "how is|are|does|can Y [get|be] reached|called|invoked|triggered|used from|by|via X"),
    (Kind.PATH, "X to|->|→ Y path|route|call_path|call_chain"),
    (Kind.IMPACT, "what|who|which [SUBJECT] [would|will|could|might|can|may] breaks|break|fail|fails|is_affected|are_affected"
                  "|be_affected|happens|happen|changes|change|get_affected|needs_to_change|need_to_change"
                  "|must_change|be_impacted|is_impacted|are_impacted|breakage "
                  "if|when|by|after|were [i|we|you|someone] [to] "
                  "[change|changing|modify|modifying|remove|removing|delete|deleting|rename|renaming|edit|editing"
                  "|refactor|refactoring|touch|touching|alter|altering|update|updating|changed|modified|removed"
                  "|deleted|renamed|a_change_to|a_change_in|changes_to|changes_in] "
                  "X [changes|change|changed|is_changed|is_removed|is_deleted|is_renamed|breaks|fails|is_modified]"),
    (Kind.IMPACT, "if|when [i|we|you|someone] [change|modify|remove|delete|rename|edit|refactor|touch|alter|update|break] "
                  "X [changes|is_changed|is_removed|breaks] what|who|which [SUBJECT] "
                  "[would|will|could|might|else] breaks|break|fail|fails|is_affected|are_affected|be_affected"
                  "|happens|must_change|needs_to_change|need_to_change"),
    (Kind.IMPACT, "impact|effect|effects|consequences|blast_radius|fallout|implications|risk|risks|ripple_effects "
                  "of|from|in|on|when|if [i|we] [change|changing|modify|modifying|remove|removing|delete|deleting|rename"
                  "|renaming|refactoring|editing|touching|updating|a_change_to|a_change_in|changes_to|altering] X "
                  "[changes|changing]"),
    (Kind.IMPACT, "what|who [else] [would|will|could|might] [does|do] [changing|modifying|removing|deleting|renaming"
                  "|a_change_to|a_change_in|changes_to|editing|refactoring] X [change|changes] "
                  "affect|affects|impact|impacts|break|breaks"),
    (Kind.IMPACT, "what|who|which [SUBJECT] is|are|gets|would_be|will_be|be affected|impacted|broken "
                  "by|if|when [changing|modifying|removing|deleting|renaming|changes_to|a_change_to|a_change_in|"
                  "i_change|we_change] X [changes|change|is_changed]"),
    (Kind.IMPACT, "[is|would] [it] safe to change|modify|remove|delete|rename|refactor|edit|touch X"),
    (Kind.IMPACT, "can|could|may|should i|we|you [safely] change|modify|remove|delete|rename|refactor|edit X [safely]"),
    (Kind.IMPACT, "what|who do|will|would|could i|we break|affect|impact if|when|by [i|we] "
                  "change|changing|modify|modifying|rename|renaming|remove|removing|delete|deleting X"),
    (Kind.IMPACT, "[things|code|everything] affected|impacted|broken by [changing|modifying|removing|deleting|renaming"
                  "|changes_to|a_change_to|a_change_in] X"),
    (Kind.IMPACT, "X impact|blast_radius|change_impact|ripple_effect"),
    (Kind.IMPACT, "[what|which] [tests|code] should|must|do i|we [need] [to] run|rerun|re-run|update|fix|check "
                  "[if|when|after] [i|we] change|changing|modify|modifying|rename|renaming X"),
    (Kind.IMPACT, "what [else] must|should|do|would [i|we] [have] [need] [to] change|update|fix if|when [i|we] "
                  "change|rename|remove|delete X"),
    (Kind.UNUSED, "[is|are] X unused|dead|dead_code|unreferenced|uncalled|orphaned"),
    (Kind.UNUSED, "[is_there|are_there] [any] unused|dead|unreferenced|uncalled|orphaned|unreachable|never-called "
                  "[private|public|exported] "
                  "code|functions|methods|classes|symbols|function|method|definitions|exports|helpers|variables|constants"),
    (Kind.UNUSED, "which|what|THINGS [functions|methods|classes|code|symbols|definitions] [that|which] "
                  "is|are [never|not|no_longer] "
                  "used|called|referenced|unused|uncalled|unreferenced|invoked|dead [anywhere|by_anything|any_more|anymore]"),
    (Kind.UNUSED, "what|which|THINGS [functions|methods|classes|code] [that] has|have|with|without no|any|zero "
                  "callers|usages|references|uses|users"),
    (Kind.UNUSED, "functions|methods|classes|symbols|code without callers|usages|references|uses|users"),
    (Kind.UNUSED, "functions|methods|classes|symbols|code nobody|nothing|no_one calls|uses"),
    (Kind.UNTESTED, "untested|uncovered functions|methods|classes|code|symbols"),
    (Kind.UNTESTED, "which|what [functions|methods|classes|code] [that] is|are|has|have not|no|never|untested "
                    "[tested|covered|tests|test] [by_tests]"),
    (Kind.UNTESTED, "functions|methods|classes|code without|with_no tests|a_test|test_coverage"),
    (Kind.ROUTES, "which|what handler|function|method|view|controller|code handles|serves|handle|serve "
                  "[the|requests_to|requests_for] [route|endpoint|url|path] X"),
    (Kind.ROUTES, "where is|are [the] route|endpoint|url X handled|defined|served|implemented|registered"),
    (Kind.ROUTES, "handler|handlers|view|controller of|for|behind [the] [route|endpoint|url|path] X"),
    (Kind.ROUTES, "what|which routes|endpoints|urls exist|exists|are_there|are_defined|are_registered|does_the_app_have"
                  "|does_it_have|are_available|does_the_server_expose"),
    (Kind.ROUTES, "routes|endpoints|http_routes|api_routes|api_endpoints|http_endpoints|rest_endpoints|url_patterns"),
    (Kind.CHANGES, "what|which [files|functions|symbols|classes|code|commits|methods] [has|have|was|were|is|are] "
                   "[recently] changed|modified|edited|touched|updated|added|new "
                   "[recently|lately|last|today|yesterday|this_week|last_week|in_this_branch|on_this_branch|in_the_branch]"),
    (Kind.CHANGES, "what|which [files|functions|symbols|code] changed [since|between|in|after|from|on] [commit|revision|the_last] X"),
    (Kind.CHANGES, "which|what commits|commit|prs|pull_requests [last] touched|changed|modified|introduced|added|affect X"),
    (Kind.CHANGES, "[recent|latest|last] changes|commits|modifications [in|on] [this_branch|the_branch|the_project|recently]"),
    (Kind.CHANGES, "changes|diff|commits since|after|from [commit|revision|tag|branch] X"),
    (Kind.CHANGES, "who [last|recently|has|originally|most_recently] changed|modified|touched|wrote|edited|updated|added"
                   "|introduced|owns|authored|maintains X [last|recently]"),
    (Kind.CHANGES, "when was|were|did [last] X [last|most_recently] changed|modified|touched|updated|edited|added|introduced|change"),
    (Kind.CHANGES, "X [was] last changed|modified|touched [by|when]"),
    (Kind.CHANGES, "last changed|modified|touched by X"),
    (Kind.CHANGES, "what|which [files|else|symbols|code|usually|often] [usually|often|files] changed|changes|change|co-changes "
                   "[together] with X"),
    (Kind.CHANGES, "how has|did X changed|change|evolved|evolve [over_time|recently]"),
    (Kind.MEMBERS, "what is|are|'s in|inside|defined_in|in_the X"),
    (Kind.MEMBERS, "what does X contain|define|export|declare|expose|offer|provide|consist_of|look_like"),
    (Kind.MEMBERS, "functions|methods|classes|types|symbols|constants|variables|structs|interfaces|definitions|fields "
                   "[that_are] in|inside|of|defined_in|declared_in|exported_by|exported_from X"),
    (Kind.DEFINITION, "where is|are|can_i_find|do_i_find|'s|does X [live|sit|come_from|located]"),
    (Kind.DEFINITION, "[go|jump] to [the] [definition|declaration|source] [of] X"),
    (Kind.DEFINITION, "[in] which|what file|module|class|package|line is|are|has|defines|contains|declares|does X "
                      "[defined|declared|implemented|live|in|located]"),
    (Kind.DEFINITION, "who|what defines|declares X"),
    (Kind.HIERARCHY, "[what] [is] [the] [class|type|inheritance] hierarchy|inheritance|tree of|for|around|above|below X"),
    (Kind.HIERARCHY, "what are|is ancestors|supertypes|parents and descendants|subtypes|children|subclasses of X"),
    (Kind.HIERARCHY, "where|how does X sit|fit in|into the class|type|inheritance hierarchy"),
    (Kind.TESTS, "is|are X [well|properly|even] tested|covered [by] [any] [unit] [tests|a_test|anywhere]"),
    (Kind.TESTS, "does|do X have|has [any|a|some] [unit] tests|test|coverage|test_coverage"),
    (Kind.TESTS, "how is|are X tested|covered"),
    (Kind.TESTS, "what|which [unit] test|tests|specs should|do|must|to i|we|run [run|execute] for|after_changing|when_changing|if_i_change X"),
    (Kind.SUBTYPES, "what|which [SUBJECT] is|are a|an [kind_of|subclass_of|instance_of|implementation_of] X"),
)  # fmt: skip
"""Frames that fit no noun and no verb of `RELATIONS`; `Y` is the second symbol."""


@dataclass(frozen=True, slots=True)
class _Frame:
    kind: Kind
    pattern: re.Pattern[str]


_POLITE = re.compile(
    r"^(?:(?:please|hey|hi|ok|okay|so|also|now|quickly|just|kindly|and|then|exactly) |(?:can|could|would|will) you (?:please )?"
    r"|(?:show|list|find|get|give|tell|print|display|search|look|locate|fetch|return|enumerate|identify|determine|check"
    r"|see|report|count|explain|describe|know|figure)(?: me| us)?(?: out| up| for)? |(?:i|we)(?:'d| would)? (?:want|need|like|have)"
    r"(?: to)?(?: know| see| find| list| understand)? |i(?:'m| am) looking for |do you know |is it known "
    r"|(?:a |the )?(?:complete |full |exhaustive |exact )?list of |(?:all|every|each|any|exactly|only)(?: of)?(?: the)? "
    r"|(?:what|which|who|where) (?:are|is|were|was) (?=(?:all |the |any |each |every |direct |test ))"
    r"|the (?=.* )|(?:what|who) are (?=\S+(?: \S+)? (?:of|for|to) ))",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r" (?:please|anywhere|right now|currently|exactly|at all|too|again|here|and where|thanks|thank you"
    r"|(?:in|across|throughout|within|over|of) (?:the |this |our |my |whole |entire )+(?:code ?base|project|repo|repository|code"
    r"|source|sources|source code|tree|app|application|program|library)"
    r"|with (?:all )?(?:line numbers|lines|locations|file and line|paths)|with their \w+)$",
    re.IGNORECASE,
)
_TESTS = r"(?:the )?(?:unit |integration |e2e )?tests?(?: code| files?| suites?| folders?| cases?| modules?| functions?| directory)?"
_WITHOUT_TESTS = re.compile(
    rf" (?:but |and |, ?)?(?:excluding|exclude|except(?: for)?|without|ignoring|ignore|not(?: counting| including)?(?: in| from)?"
    rf"|outside(?: of)?|other than|minus|skipping|no|apart from|besides) {_TESTS}"
    rf"| (?:but )?(?:only )?(?:in|from|within|by) (?:the )?(?:production|non-test|prod|non test|real|application|library)"
    rf"(?: code| source| sources| files)?(?: only)?",
    re.IGNORECASE,
)
_TESTS_ONLY = re.compile(
    rf" (?:but )?(?:only )?(?:in|from|within|inside|among|by) {_TESTS}(?: only)?$| tests only$", re.IGNORECASE
)
_SCOPE_WORD = "(?:file|folder|directory|dir|module|package|crate|namespace|class|app|component|subsystem|layer|library)"
_WITHIN = re.compile(
    rf" (?:(?:but )?only )?(?:in|within|inside|under|from|below) (?:the )?(?:{_SCOPE_WORD} )?(?P<scope>[^\s,;]+)(?: {_SCOPE_WORD})?$",
    re.IGNORECASE,
)
_WITHIN_FIRST = re.compile(
    rf"^(?:what|who|which \w+|anything|everything|functions|methods|classes|code)"
    rf"(?P<out> (?:in|within|inside|under) (?:the )?(?:{_SCOPE_WORD} )?(?P<first>\S+)(?: {_SCOPE_WORD})?) (?=\w+ )",
    re.IGNORECASE,
)
_ADJECTIVES = (
    (re.compile(r"\b(?:non-test|production|prod) (?=\w)", re.IGNORECASE), TestScope.EXCLUDED),
    (re.compile(r"\btest (?=callers|usages|uses|references|call sites|callsites)", re.IGNORECASE), TestScope.ONLY),
    (re.compile(r"\b(?:direct|directly|immediate|immediately) ?", re.IGNORECASE), True),
    (
        re.compile(r"\b(?:transitive|transitively|indirect|indirectly|recursive|recursively|all the way|deep|eventually"
                   r"|directly or indirectly|direct and indirect) ?", re.IGNORECASE),
        False,
    ),
)  # fmt: skip
_BOTH = re.compile(r"\bdirect(?:ly)? (?:or|and) (?:indirect(?:ly)?|transitive(?:ly)?)", re.IGNORECASE)
_DEPTH = re.compile(
    r" (?:up to |to |within |at )?(?:(?:a )?depth (?:of )?(?P<a>\d{1,2})|(?P<b>\d{1,2}) (?:levels?|hops?|steps?)(?: deep| up| down| away)?)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|(?<![\w])'([^']{1,200})'(?![\w])|“([^”]{1,200})”")
_CLAUSE = re.compile(
    r"[.;!?]\s+|,\s+|:\s+| (?:so that|so i|because|in order to|before i|before we|since i|as i|i want|i need|to make sure|if i) "
    r"| and (?=who |what |where |which |how |show |list |find )",
    re.IGNORECASE,
)
_PRONOUNS = frozenset(
    [
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "them",
        "they",
        "he",
        "she",
        "we",
        "you",
        "i",
        "me",
        "us",
        "what",
        "which",
        "who",
        "whom",
        "where",
        "when",
        "how",
        "why",
        "there",
        "here",
        "everything",
        "anything",
        "something",
        "nothing",
        "anyone",
        "someone",
        "all",
        "any",
        "some",
        "none",
        "each",
        "every",
        "other",
        "others",
        "one",
        "ones",
        "and",
        "or",
        "not",
        "both",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "can",
        "could",
        "to",
        "of",
        "in",
        "on",
        "at",
        "by",
        "from",
        "for",
        "with",
        "as",
        "the",
        "a",
        "an",
    ]
)
_SPACE = "\ue000"
"""Stands for a space inside a quoted name; of a private use area, so that no pattern takes it for white space."""


def find_relation(text: str) -> RelationIntent | None:
    """Return what a question asks about which symbol; None where it asks for no relation. Never raises.

    `text` is normalised: single spaces, no leading or trailing white space.
    """
    if len(text) > MAX_RELATION_CHARACTERS:
        return None
    quoted: set[str] = set()
    text = _QUOTED.sub(lambda match: _hold(match, quoted), text)
    found = _whole(text, quoted)
    if found is not None:
        return found
    for clause in _CLAUSE.split(text):
        if clause != text and (found := _whole(clause, quoted)) is not None and found.certain:
            return found
    return None


def _hold(match: re.Match[str], quoted: set[str]) -> str:
    """Return a quoted name as one word; a quoted sentence stays what it is."""
    inner = next(group for group in match.groups() if group is not None).strip()
    if inner.count(" ") > 2 or not inner:
        return match.group(0)
    held = inner.replace(" ", _SPACE)
    quoted.add(held)
    return held


def _whole(text: str, quoted: set[str]) -> RelationIntent | None:
    """Match a question or clause as a whole, taking off what surrounds it step by step."""
    text = text.rstrip(" .!,;:")
    text = text if text.removesuffix("?") in quoted else text.rstrip(" ?")
    scope = RelationIntent(Kind.CALLERS, "")
    text = _BOTH.sub("transitively", text.replace(", ", " "))
    within = ""
    if (match := _WITHIN_FIRST.search(text)) is not None and match["first"].lower() not in _PRONOUNS:
        within, text = match["first"], text[: match.start("out")] + text[match.end("out") :]
    if (depth := _DEPTH.search(text)) is not None:
        scope = replace(scope, depth=int(depth["a"] or depth["b"]), direct=False)
        text = text[: depth.start()] + text[depth.end() :]
    if (match := _WITHOUT_TESTS.search(text)) is not None:
        scope = replace(scope, tests=TestScope.EXCLUDED)
        text = text[: match.start()] + text[match.end() :]
    for pattern, value in _ADJECTIVES:
        without = pattern.sub("", text)
        if without != text and without.strip():
            text = without
            scope = replace(scope, tests=value) if isinstance(value, TestScope) else replace(scope, direct=value)
    for candidate, last in _stripped(text.strip()):
        for tests, part in _test_scopes(candidate):
            found = _match(part, quoted)
            if found is not None:
                return replace(
                    found,
                    tests=tests or scope.tests,
                    within=_scope(last or within),
                    direct=scope.direct if scope.direct is not None else found.direct,
                    depth=scope.depth,
                )
    return None


def _test_scopes(text: str) -> Iterator[tuple[TestScope, str]]:
    match = _TESTS_ONLY.search(text)
    yield TestScope.ANY, text
    if match is not None:
        yield TestScope.ONLY, text[: match.start()]


def _stripped(text: str) -> Iterator[tuple[str, str]]:
    """Yield (question, scope): as it is, then without politeness and trailing words, then without its scope."""
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


def _scope(within: str) -> str:
    return within.replace(_SPACE, " ").strip("`'\"").rstrip("/") if within.lower() not in _PRONOUNS else ""


def _match(text: str, quoted: set[str]) -> RelationIntent | None:
    words = set(re.findall(r"[\w'-]+", text.lower()))
    normal = text.replace("'s ", " 's ").replace("’s ", " 's ") + " "
    for triggers, frames in _frames():
        if triggers and words.isdisjoint(triggers):
            continue
        for frame in frames:
            match = frame.pattern.fullmatch(normal)
            if match is None:
                continue
            found = _intent(frame.kind, match, quoted)
            if found is not None:
                return found
    return None


def _intent(kind: Kind, match: re.Match[str], quoted: set[str]) -> RelationIntent | None:
    groups = match.groupdict()
    slots: list[str] = []
    certain = True
    for slot in ("x", "y"):
        if groups.get(slot) is None:
            slots.append("")
            continue
        parts = [part for part in (groups.get(f"{slot}o") or groups.get(f"{slot}p"), groups[slot]) if part]
        if any(part.lower() in _PRONOUNS and part not in quoted for part in parts):
            return None
        names = [part.replace(_SPACE, " ") if part in quoted else part for part in parts]
        if not all(_is_name(name) for name in names):
            return None
        known = (
            any(part in quoted for part in parts)
            or len(parts) > 1
            or bool(groups.get(f"{slot}k") or groups.get(f"{slot}t"))
        )
        certain = certain and (known or any(is_code_shaped(name) for name in names))
        slots.append(".".join(dotted(name) for name in names))
    return RelationIntent(kind, slots[0], slots[1], certain=certain)


_NAME = re.compile(r"[\w$@(<~*&/.:][^\s`]*(?: [^\s`]+){0,2}")


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and any(character.isalnum() or character in "_$" for character in name)


@cache
def _frames() -> tuple[tuple[frozenset[str], tuple[_Frame, ...]], ...]:
    """Return every kind's frames with the words of which a question must have one."""
    compiled: list[tuple[frozenset[str], tuple[_Frame, ...]]] = []
    for kind, template in _MORE:
        compiled.append((_triggers(template), (_Frame(kind, _compile(template, None)),)))
    for words in RELATIONS:
        frames = [_Frame(words.kind, _compile(template, words)) for template in _templates(words, inverse=False)]
        if words.inverse is not None:
            frames += [_Frame(words.inverse, _compile(template, words)) for template in _templates(words, inverse=True)]
        compiled.append((_lexemes(words), tuple(frames)))
    return tuple(compiled)


def _templates(words: Words, *, inverse: bool) -> Iterator[str]:
    if inverse:
        yield from _INVERSE_FRAMES
        return
    if words.nouns:
        yield from _NOUN_FRAMES
    if words.verb is not None:
        yield from (*_ACTIVE_FRAMES, *_PASSIVE_FRAMES)


def _lexemes(words: Words) -> frozenset[str]:
    verb = words.verb or Verb("", "", "", "")
    every = "|".join((words.nouns, verb.base, verb.third, verb.gerund, verb.participle)).split("|")
    return frozenset(each.split()[0] for each in every if each)


def _triggers(template: str) -> frozenset[str]:
    """Return the words of the last element of a template that has to be there and is made of words only."""
    best: frozenset[str] = frozenset()
    for element in template.split():
        if element.startswith("[") or element in ("X", "Y", "BE") or not element[0].islower():
            continue
        words = frozenset(each.partition("_")[0] for each in element.split("|"))
        if not best or (len(words) > 1 and words.isdisjoint(_PRONOUNS)) or not best.isdisjoint(_PRONOUNS):
            best = words
    return best


def _compile(template: str, words: Words | None) -> re.Pattern[str]:
    return re.compile("".join(_element(element, words) for element in template.split()), re.IGNORECASE)


def _element(element: str, words: Words | None) -> str:
    if element == "X" or element == "Y":
        return _slot(element.lower())
    if element == "'s":
        return rf"{_DET}(?:{_KIND_WORD} )?(?P<x>\S+) 's "
    if element.startswith("["):
        return f"(?:{_element(element[1:-1], words)})?"
    return "(?:" + "|".join(_alternative(each, words) for each in element.split("|")) + ")"


def _alternative(word: str, words: Words | None) -> str:
    if word in ("SUBJECT", "THINGS", "BE", "ANYONE"):
        return {"SUBJECT": _SUBJECT, "THINGS": _THINGS, "BE": _BE + " ", "ANYONE": _ANYONE + " "}[word]
    if words is not None and word in ("N", "V", "V3", "VG", "P"):
        verb = words.verb or Verb("", "", "", "")
        forms = {"N": words.nouns, "V": verb.base, "V3": verb.third, "VG": verb.gerund, "P": verb.participle}[word]
        return f"(?:{'|'.join(re.escape(form) for form in forms.split('|'))}) "
    return re.escape(word.replace("_", " ")) + " "


def _slot(name: str) -> str:
    """Return the pattern of a name: `the save method of class User`, `User's save`, `class User`, `User`."""
    one = rf"(?P<{name}>\S+)"
    kind = rf"(?P<{name}k>(?:{_KIND_WORD} ){{1,2}})?"
    return (
        rf"{_DET}(?:(?P<{name}p>\S+) 's )?{kind}{one} (?P<{name}t>{_KIND_WORD} )?"
        rf"(?:(?:of|on) {_DET}(?:{_KIND_WORD} )?(?P<{name}o>\S+) (?:{_KIND_WORD} )?)?"
    )
