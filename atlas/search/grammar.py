"""Question -> the relation that it asks for. Pure; knows nothing of the store.

The words and frames are data (`phrases.toml`): how English puts a noun ("callers of X", "X callers") or a verb ("what
calls X", "where is X called from") around a name. A frame has to match the whole question, or a whole clause of it when
the name cannot be anything but a name. What surrounds a question is taken off first: politeness, commands, `in tests`,
`in module Y`, `directly`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from atlas.search.frames import frame_groups, nouns
from atlas.search.names import dotted, is_code_shaped
from atlas.search.relations import Kind, RelationIntent, TestScope

MAX_RELATION_CHARACTERS = 300
"""Questions about edges are short; longer text only happens to contain such a phrase."""

_POLITE = re.compile(
    r"^(?:(?:please|hey|hi|ok|okay|so|also|now|quickly|just|kindly|and|then|exactly) |(?:can|could|would"
    r"|will) you (?:please )?"
    r"|(?:show|list|find|get|give|tell|print|display|search|look|locate|fetch|return|enumerate|identify|determine|check"
    r"|draw|visualize|sketch|assess|evaluate|estimate|analyze|analyse|see|report|count|explain|describe|know"
    r"|figure)(?: me| us)?(?: out| up| for)? "
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
_TRAILING = re.compile(
    r" (?:please|anywhere|right now|currently|exactly|at all|too|again|here|and where|thanks|thank you"
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
_WITHOUT_TESTS = re.compile(
    rf" (?:but |and |, ?)?(?:excluding|exclude|except(?: for)?|without|ignoring|ignore|not(?: counting"
    rf"| including)?(?: in| from)?"
    rf"|outside(?: of)?|other than|minus|skipping|no|apart from|besides) {_TESTS}"
    rf"| (?:but )?(?:only )?(?:in|from|within|by) (?:the )?(?:production|non-test|prod|non test|real"
    rf"|application|library)"
    rf"(?: code| source| sources| files)?(?: only)?",
    re.IGNORECASE,
)
_SCOPE_WORD = "(?:file|folder|directory|dir|module|package|crate|namespace|class|app|component|subsystem|layer|library)"
_OUTSIDE = re.compile(
    rf" (?:but )?(?:outside(?: of)?|not (?:in|under)|excluding|except(?: in| under| for)?|without|ignoring) (?:the )?"
    rf"(?:{_SCOPE_WORD} )?(?P<scope>[^\s,;]*[/.][^\s,;]*)$",
    re.IGNORECASE,
)
_TESTS_ONLY = re.compile(
    rf" (?:but )?(?:only )?(?:in|from|within|inside|among|by) {_TESTS}(?: only)?$| tests only$", re.IGNORECASE
)
_WITHIN = re.compile(
    rf" (?:(?:but )?only )?(?:in|within|inside|under|from"
    rf"|below) (?:the )?(?:{_SCOPE_WORD} )?(?P<scope>[^\s,;]+)(?: {_SCOPE_WORD})?$",
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
    (re.compile(r"\b(?:directly|direct|immediately|immediate) ?", re.IGNORECASE), True),
    (
        re.compile(r"\b(?:transitively|transitive|indirectly|indirect|recursively|recursive|all the way|deep|eventually"
                   r"|directly or indirectly|direct and indirect) ?", re.IGNORECASE),
        False,
    ),
)  # fmt: skip
_MIDDLE = re.compile(
    r" (?:in|of|across|throughout) (?:the|this|our|my) (?:whole |entire )?(?:system|code ?base|project|repo"
    r"|repository)(?= )",
    re.IGNORECASE,
)
_ADVERBS = re.compile(r"\b(?:actually|really|just|usually|normally|ever|even|currently|possibly) ", re.IGNORECASE)
_TESTS_DO = re.compile(r"^(?:which|what|all|the|every|any|each|unit|integration| )*(?:tests?|specs?)\b", re.IGNORECASE)
"""Where tests are what calls or uses the symbol, its tests are asked for."""
_BOTH = re.compile(r"\bdirect(?:ly)? (?:or|and) (?:indirect(?:ly)?|transitive(?:ly)?)", re.IGNORECASE)
_DEPTH = re.compile(
    r" (?:up to |to |within |at )?(?:(?:a )?depth (?:of )?(?P<a>\d{1,2})|(?P<b>\d{1,2}) (?:levels?|hops?"
    r"|steps?)(?: deep| up| down| away)?)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|(?<![\w])'([^']{1,200})'(?![\w])|“([^”]{1,200})”")
_CLAUSE = re.compile(
    r"[.;!?]\s+|,\s+|:\s+|\s[-–—]\s| (?:so that|so i|because|in order to|before i|before we|since i|as i|i want|i need"
    r"|to make sure|if i) "
    r"| and (?=who |what |where |which |how |show |list |find |in which |when |why )",
    re.IGNORECASE,
)
_COMMANDS = frozenset(("find", "show", "list", "get", "give", "tell", "print", "display", "search", "explain"))
"""At the beginning of a question they are what to do, not the name in `X callers`."""
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
        "never",
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
    text = text.rstrip(" ")
    text = text if text.rpartition(" ")[2] in quoted else text.rstrip(" .!,;:?")
    scope = RelationIntent(Kind.CALLERS, "")
    text = _MIDDLE.sub("", _ADVERBS.sub("", _BOTH.sub("transitively", text.replace(", ", " "))))
    within = ""
    if (match := _WITHIN_FIRST.search(text)) is not None and match["first"].lower() not in _PRONOUNS:
        within, text = match["first"], text[: match.start("out")] + text[match.end("out") :]
    if (depth := _DEPTH.search(text)) is not None:
        scope = replace(scope, depth=int(depth["a"] or depth["b"]), direct=False)
        text = text[: depth.start()] + text[depth.end() :]
    if (match := _WITHOUT_TESTS.search(text)) is not None:
        scope = replace(scope, tests=TestScope.EXCLUDED)
        text = text[: match.start()] + text[match.end() :]
    if (match := _OUTSIDE.search(text)) is not None:
        scope = replace(scope, outside=_scope(match["scope"]))
        text = text[: match.start()]
    for pattern, value in _ADJECTIVES:
        without = pattern.sub("", text)
        if without != text and without.strip():
            text = without
            scope = replace(scope, tests=value) if isinstance(value, TestScope) else replace(scope, direct=value)
    for candidate, last in _stripped(text.strip()):
        for tests, part in _test_scopes(candidate):
            found = _match(part, quoted)
            if found is not None:
                asks_tests = found.kind in (Kind.CALLERS, Kind.USAGES) and bool(_TESTS_DO.match(part))
                return replace(
                    found,
                    kind=Kind.TESTS if asks_tests else found.kind,
                    tests=tests or scope.tests,
                    within=_scope(last or within),
                    direct=scope.direct if scope.direct is not None else found.direct,
                    depth=scope.depth,
                    outside=scope.outside,
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
    normal = normal[4:] if normal.lower().startswith("the ") else normal
    for group in frame_groups():
        if group.triggers and words.isdisjoint(group.triggers):
            continue
        for frame in group.frames:
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
        if groups.get(f"{slot}o") and groups[slot] in nouns() and groups[slot] not in quoted:
            return None
        if match.start(slot) == 0 and groups[slot].lower() in _COMMANDS and groups[slot] not in quoted:
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
