"""Recognise the relation that a question asks for. Pure; independent of the store.

The words and frames are data (`phrases.toml`): how English puts a noun ("callers of X", "X callers") or a verb ("what
calls X", "where is X called from") around a name. A frame has to match the whole question, or a whole clause of it when
the name cannot be anything but a name. What surrounds a question is taken off first: politeness, commands, `in tests`,
`in module Y`, `directly`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from atlas.code.question.cues import CHANGE_VERB, certain_names, find_by_cues, is_relation_word, without_own_acts
from atlas.code.question.frame_order import read_words
from atlas.code.question.frames import KIND_WORD, frame_groups, nouns
from atlas.code.question.names import dotted, is_code_shaped
from atlas.code.question.question_scope import PRONOUNS, SPACE, readings, split_scope
from atlas.code.question.reach_questions import find_unreached
from atlas.code.question.relation_kinds import Kind, RelationIntent, TestScope
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label

MAX_RELATION_CHARACTERS = 300
"""Questions about edges are short; longer text only happens to contain such a phrase."""

_PART_CHANGED = lazy_regex(
    r"\b(?:add(?:ed|ing)?|put|insert(?:ed|ing)?|remov(?:ed?|ing)|delet(?:ed?|ing)|drop(?:ped|ping)?)"
    r" (?:an?|the|another|one|some|new) (?:\w+ )?(?:entry|entries|key|item|element|value|member|case)s?"
    r" (?:to|into|in|from|of) (?:the )?(?=[`'\"]?[\w.]*(?-i:[A-Z_]))",
    re.IGNORECASE,
)
"""A change of a table or enumeration: `if I removed an entry from DECODERS`."""
_TESTS_DO = lazy_regex(r"^(?:which|what|all|the|every|any|each|unit|integration| )*(?:tests?|specs?)\b", re.IGNORECASE)
"""Where tests are what calls or uses the symbol, its tests are asked for."""
_QUOTED = lazy_regex(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|(?<![\w])'([^']{1,200})'(?![\w])|“([^”]{1,200})”")
_NEXT_TO = lazy_regex(
    r"\b(?:next to|beside|similar to|analogous to|just like|right after) (?:the )?[`'\"]?(?P<x>[A-Za-z_][\w.:]{2,60})",
    re.IGNORECASE,
)
_MUST_CHANGE = lazy_regex(
    r"\b(?:must|should|need to|have to|do) (?:i|we|you|one)?(?: need to| have to)? ?(?:also )?"
    r"(?:touch|change|adapt|update|edit|extend)\b",
    re.IGNORECASE,
)
"""`if I add a field next to X, what else must I touch`: wherever X is used."""
_ARTICLES = frozenset(("the", "a", "an", "our", "this", "that", "all", "any", "every", "each", "both"))
_SENTENCE = lazy_regex(
    r"`[^`\s]+(?: [^`\s]+){3,}`|\"[^\"\s]+(?: [^\"\s]+){2,}\"|(?<!\w)'[^'\s]+(?: \S+){2,}'(?!\w)"
    r"|\w(?:Error|Exception): \S"
    r"|\b(?:messages?|errors?|texts?|strings?|warnings?)(?: saying| that says| of)? "
    r"(?:`[^`]*[ :][^`]*`|\"[^\"]*[ :][^\"]*\")"
)
"""A quoted text or an error message: it is what is asked for, whatever its words mean."""
_SQL = lazy_regex(
    r"\b(?:SELECT\b.*\bFROM|INSERT INTO|DELETE FROM|UPDATE \S+ SET"
    r"|(?:CREATE|ALTER|DROP|TRUNCATE) (?:\w+ ){0,2}?(?:TABLE|VIEW|INDEX|SCHEMA|DATABASE|COLUMN|TRIGGER|SEQUENCE))\b"
    r"|(?:^|;\s*)(?:UPDATE|ALTER|DROP|DELETE) "
    r"|^(?i:select\b.*\bfrom|insert into|delete from|update \S+ set|(?:alter|drop|truncate) table)\b"
)
"""A statement of SQL: its verbs change tables, not code."""
_PRONOUN = lazy_regex(
    r"\b(?:it|them|th(?:is|at) (?:function|method|class|type|file|module)|this(?=$|\?))(?= |$|\?)", re.IGNORECASE
)
_TO_CHANGE = lazy_regex(rf"\b(?:{CHANGE_VERB}|split|inline|extract|convert|port)\b", re.IGNORECASE)
_FILE = lazy_regex(r"(?:[\w.@+-]+/)+[\w.@+-]+\.\w+")
_CHANGED_THING = lazy_regex(
    rf"\b{CHANGE_VERB} (?:the |our |this |that )?(?:[a-z]+ )??(?P<thing>[\w./-]+ {KIND_WORD})$", re.IGNORECASE
)
"""`before I delete the old oracle folder`: what "it" means behind that."""
_TOPIC = lazy_regex(rf"(?:the )?(?:{KIND_WORD} (?P<after>[\w.:]+)|(?P<before>[\w.:]+) {KIND_WORD})", re.IGNORECASE)
"""What a question begins with: `Importer trait - all the types implementing it`."""
_BELOW = lazy_regex(
    r"\b(?:sub-?class(?:es)?|sub-?types?|children|implement(?:ation|e?or)s?|descendants|inheritors) of (?:the |class )?"
    r"(?P<owner>[^\s,;]{2,80}) (?:that |which |who )?(?:(?:do|does)(?: not|n['’]t) )?(?:even |actually |really )?"
    r"(?:(?:override|redefine|reimplement)s?|overriding|redefining|have their own|has its own) "
    r"(?:the |its )?(?:method )?(?P<name>[^\s,;]{2,80})",
    re.IGNORECASE,
)
_NOT_OVERRIDDEN = lazy_regex(
    r"\b(?:do|does|did)(?: not|n['’]t) (?:even |actually |really )?(?:override|redefine|reimplement|implement)\b"
    r"|\b(?:never|without|not) (?:override|overrides|overriding|overridden|redefin\w{1,3}|reimplement\w{0,3})\b"
    r"|\binherit(?:s|ing)?\b.{1,100}\b(?:unchanged|unmodified|as[- ]is|as it is)\b",
    re.IGNORECASE,
)
"""Asks for the classes that have a method as it is."""
_OF_BASE = lazy_regex(
    r"\b(?:which|what) (?:(?:of )?(?:the )?`?(?P<one>[A-Z]\w{1,80})`?(?:'s)? (?:methods|functions|members)"
    r"|(?:methods|functions|members) (?:of|from|in) (?:the )?(?:[a-z]\w{1,40}(?:'s|’s) )?`?(?P<two>[A-Z]\w{1,80})`?) "
    r"(?:does|do|did|are|is)\b"
)
"""`which Program methods does Fab override`: those of a base."""
_DERIVED = lazy_regex(
    r"(?:class )?(?P<name>[A-Z]\w{1,80}) (?:extends|subclasses|inherits(?: from)?|derives from|implements"
    r"|is a (?:subclass|subtype|child) of) (?:\S+ ){0,3}\S+"
)
"""A statement about the class that a question behind it means by "it"."""
_DECORATED = lazy_regex(
    r"^(?:(?:which|what|all|list|find|show|me|the|every) )*(?:`?(?P<one>[A-Z]\w{1,80})`?(?:'s)? )?(?:[a-z]+ ){0,2}?"
    r"(?:methods|functions|classes|handlers|views|tests|commands|tasks|things|code|places|is|are) "
    r"(?:(?:of|in|on) (?:the )?(?:class )?`?(?P<two>\S{2,80}?)`? )?(?:that |which )?(?:(?:is|are|gets?) )?"
    r"(?:decorated (?:with|by|using) (?:the )?`?@?(?P<name>[A-Za-z_][\w.]{1,80})"
    r"|(?:wrapped|guarded|marked|protected) (?:with|by|in|using) (?:the )?(?:`?@(?P<marked>[A-Za-z_][\w.]{1,80})"
    r"|`?(?P<said>[A-Za-z_][\w.]{1,80})`?(?:\(\))? decorator))\b"
)
"""`which Connection methods are wrapped with the opens decorator`: users of it."""
_OR = lazy_regex(r",? (?:or|and) ")
_STATED = lazy_regex(
    r"^(?!(?:who|what|which|where|when|how|why|is|are|does|do|did|can|show|list|find|give|tell|all|every)\b)"
    r"\S+ (?:is |was |gets |being )?(?:called|invoked|used|registered|created|set|raised|thrown) (?:twice|once|again"
    r"|without|with|before|after|while|from|in|by|for|several|many|two|three)\b[^:?]{0,100}: "
    r"(?=(?:does|do|did|is|are|was|where|how|why|what|which|who|when|can|could|will|would)\b)",
    re.IGNORECASE,
)
_CHAIN = lazy_regex(r"\b(?:call|calling|execution) (?:chain|path|stack|sequence|graph)|\bcallchain\b", re.IGNORECASE)
"""Says that two words are functions between which a path is asked for."""
_CLAUSE = lazy_regex(
    r"[.;!?]\s+|,\s+|:\s+|\s[-–—]\s| (?:so that|so i|because|in order to|before i|before we|since i|as i|i want|i need"
    r"|to make sure|if i) "
    r"| and (?=who |what |where |which |how |show |list |find |in which |when |why )",
    re.IGNORECASE,
)
_AND = lazy_regex(
    r"(?P<one>[^\s,;/]+)(?:,? (?:and|or|and/or|&|as well as)|,| /) (?:(?:the|a) )?(?P<two>[^\s,;]+)", re.IGNORECASE
)
_AND_OF = lazy_regex(r",? (?:and|or) (?:of|for|to) |, (?=of )", re.IGNORECASE)
_OF_TWO = frozenset(Kind) - {Kind.PATH, Kind.CHANGES, Kind.IMPACT, Kind.ROUTES, Kind.UNUSED, Kind.UNTESTED}
"""Relations of two symbols that are the relations of both."""
SCOPED_BY_WORDS = frozenset(
    (
        *(Kind.CALLERS, Kind.USAGES, Kind.TESTS, Kind.SUBTYPES, Kind.SUPERTYPES, Kind.OVERRIDES, Kind.INSTANTIATIONS),
        *(Kind.IMPORTERS, Kind.RETURNERS),
    )
)
"""Relations whose scope may be written in plain words."""
_MEMBERS_SAID = (
    (lazy_regex(r"\b(?:methods|functions)\b", re.IGNORECASE), (Label.METHOD, Label.FUNCTION)),
    (lazy_regex(r"\b(?:constants|variants|fields|variables|enum (?:values|cases))\b", re.IGNORECASE), (Label.VALUE,)),
    (lazy_regex(r"\b(?:inner |nested )classes\b", re.IGNORECASE), (Label.CLASS,)),
)
_OF_OWNER = lazy_regex(
    r"^(?P<all>(?:which|what|all|list|find|show|give)(?: me| all| every| the){0,3}"
    r" (?:methods|functions|members|classes|types|places|parts|tests))"
    r" (?:of|in|on|inside|from) (?:the )?(?P<owner>[^\s,;?]{2,80}) (?:class |module |file |package |folder )?"
    r"(?P<rest>(?:that |which )?[a-z]+ [^?]{2,160})",
    re.IGNORECASE,
)
"""Begins with where the answer is to be: `which methods of the Store call save`."""
_OF_WHAT = lazy_regex(
    r"(?<=\S) (?:on|of|in|for) (?:the|our|all) (?:[a-z-]+ ){1,3}?"
    r"(?=(?:called|used|invoked|referenced|needed|overridden|imported|implemented) ?(?:by|from|in|any\w+|at|$))",
)
"""Between a name and what is asked of it: `is f on the pooled connections called anywhere`."""
_OR_ELSE = lazy_regex(
    r",? or (?:can (?:it|we|i)|could (?:it|we|i)|is (?:it|that)|may (?:it|we|i)|should (?:it|we|i))\b[^?]{0,40}\??$"
    r"|,? (?:and )?(?:for what|what for)\??$"
    r"|,? (?:and )?(?:in|under|on) (?:which|what) (?:situations?|conditions?|circumstances?|cases?)\??$",
    re.IGNORECASE,
)
_KINDS = lazy_regex(rf"\b({KIND_WORD})s\b")
_IS_DONE = lazy_regex(r"[a-z]{3,}ed|made|built|thrown|done|chosen|given|caught|written")
"""What happens to something, behind a word for its kind: `where is the exception made`."""
_OF_RESULT = lazy_regex(
    r"(?P<on>\b(?:depends?|rel(?:y|ies)|based|built) on )(?:the )?(?:results?|outputs?|return values?) of (?=\S)",
    re.IGNORECASE,
)
"""`what depends on the result of X`."""
_MOST_ADJECTIVES = 2
_COMMANDS = frozenset(("find", "show", "list", "get", "give", "tell", "print", "display", "search", "explain"))
"""At the beginning of a question they are what to do, not the name in `X callers`."""


def find_relation(text: str) -> RelationIntent | None:
    """Return what a question asks about which symbol; None where it asks for no relation. Never raises.

    `text` is normalised: single spaces, no leading or trailing white space.
    """
    if len(text) > MAX_RELATION_CHARACTERS:
        return None
    text = _OF_RESULT.sub(r"\g<on>", _PART_CHANGED.sub("change ", without_own_acts(text)))
    found = _overridden_below(text) or _decorated(text) or _relation(text)
    if found is not None and found.kind == Kind.IMPORTERS and _TESTS_DO.match(text) is not None:
        return replace(found, tests=TestScope.ONLY)
    if found is not None and is_negated(text, found.kind):
        return replace(found, kind=Kind.OVERRIDES, is_negated=True)
    if found is not None and found.kind == Kind.OVERRIDDEN and (base := _OF_BASE.search(text)) is not None:
        return replace(found, within=base["one"] or base["two"], is_limited=True)
    return found


def is_negated(text: str, kind: Kind) -> bool:
    """Return whether a question for classes with a method asks for those that do not have one of their own."""
    return kind in (Kind.OVERRIDES, Kind.SUBTYPES, Kind.SUPERTYPES) and _NOT_OVERRIDDEN.search(text) is not None


def stated_before(text: str) -> int:
    """Return where a question begins behind what happens: `X called twice: does the second call lose anything`."""
    stated = _STATED.match(text)
    return stated.end() if stated is not None else 0


def _overridden_below(text: str) -> RelationIntent | None:
    """Match the method that classes below one override or not: `which subclasses of X do not override Y`."""
    found = _BELOW.search(text)
    if found is None:
        return None
    owner, name = (dotted(found[each].strip("`'\"?!.,;:()")) for each in ("owner", "name"))
    is_method = _is_name(owner) and _is_name(name) and name.lower() not in PRONOUNS
    return RelationIntent(Kind.OVERRIDES, f"{owner}.{name}") if is_method else None


def _decorated(text: str) -> RelationIntent | None:
    """Match the users of a decorator, maybe within a class: `which Connection methods are decorated with opens`."""
    found = _DECORATED.match(text[:1].lower() + text[1:])
    name = dotted(found["name"] or found["marked"] or found["said"]) if found is not None else ""
    if found is None or name.lower() in PRONOUNS:
        return None
    within = (found["one"] or found["two"] or "").strip("`'\"")
    return RelationIntent(Kind.USAGES, name, within=within, is_limited=bool(within))


def _relation(text: str) -> RelationIntent | None:
    if _SENTENCE.search(text) or _SQL.search(text):
        return None
    if (unreached := find_unreached(text)) is not None:
        return unreached
    beside = _NEXT_TO.search(text)
    if beside is not None and _MUST_CHANGE.search(text, beside.end()) and certain_names(f"of {beside['x']}", set()):
        return RelationIntent(Kind.USAGES, dotted(beside["x"]))
    quoted: set[str] = set()
    text = _QUOTED.sub(lambda match: _hold(match, quoted), text)
    found = _of_two(text, quoted) or _of_pronoun(text, quoted) or _whole(text, quoted)
    if found is not None:
        return found
    for clause in _CLAUSE.split(text):
        found = _whole(clause, quoted) if clause != text else None
        if found is not None and (found.certain or (found.kind is Kind.PATH and _CHAIN.search(text))):
            return replace(found, certain=True)
    return _by_cues(text, quoted) or _first_of_list(text, quoted) or _in_other_order(text, quoted)


def _in_other_order(text: str, quoted: set[str]) -> RelationIntent | None:
    """Match a question with its scope at the end, then without the adjectives before its name."""
    owned = _OF_OWNER.match(text)
    orders = [f"{owned['all']} {owned['rest']} in {owned['owner']}"] if owned is not None else []
    bare = _OF_WHAT.sub(" ", _OR_ELSE.sub("", text))
    for order in (*orders, bare, _without_adjectives(bare, quoted)):
        found = (_of_two(order, quoted) or _whole(order, quoted)) if order and order != text else None
        if (found is None or not found.certain) and order and order not in (text, bare):
            near = _by_cues(order, quoted)
            found = near if near is not None and is_code_shaped(near.name) else found
        if found is not None and (found.certain or order == bare):
            is_limited = owned is not None and found.within == dotted(owned["owner"])
            return replace(found, is_limited=True) if is_limited else found
    return None


def _without_adjectives(text: str, quoted: set[str]) -> str:
    """Return a question without plain words between an article and a certain name: `the sync Transport trait`.

    What reads the question finds them again as words that are not accounted for.
    """
    words = text.split()
    kept = list(words)
    for number in range(len(words) - 1, 0, -1):
        bare = words[number].strip("`'\",;:?!()")
        follows = words[number + 1].strip("?!.,;:") if number + 1 < len(words) else ""
        is_named = bare[:1].isupper() and _KIND.fullmatch(follows) is not None
        if not (is_named or certain_names(f"of {bare}", quoted)):
            continue
        first = number
        while first > 1 and number - first < _MOST_ADJECTIVES and _is_adjective(words[first - 1]):
            first -= 1
        if first < number and words[first - 1].lower() in _ARTICLES:
            del kept[first:number]
    return " ".join(kept)


def _is_adjective(word: str) -> bool:
    is_plain = word.replace("-", "").isalpha() and word.islower() and len(word) > 2
    return is_plain and word not in nouns() and not is_relation_word(word) and word not in PRONOUNS


def _first_of_list(text: str, quoted: set[str]) -> RelationIntent | None:
    """Match the first of several names: `subclasses of A and of B`; `further_parts` reads the others."""
    first, *others = _AND_OF.split(text)
    found = _whole(first, quoted) if others else None
    return found if found is not None and found.certain else None


_THIRD = lazy_regex(r",? (?:and |or |& )?`?(?P<name>[\w.:]{2,200})")


def _of_two(text: str, quoted: set[str]) -> RelationIntent | None:
    """Match a question about two names: `callers of f and g`. Both are names, or the question has a frame for one."""
    for match in _AND.finditer(text):
        one, two = match["one"], match["two"].rstrip(" .!,;:?")
        words = (one, two)
        if match[0][len(one) : match.start("two") - match.start()].strip() == "," and not certain_names(two, quoted):
            continue
        if any(word.lower() in PRONOUNS or word.lower() in nouns() or is_relation_word(word.lower()) for word in words):
            continue
        shorter = f"{text[: match.end('one')]}{text[match.start('two') + len(two) :]}"
        found = _whole(shorter, quoted) or _whole(_KINDS.sub(r"\1", shorter), quoted)
        if found is None and len(certain_names(f"of {one} {two}", quoted)) == 2:
            found = _by_cues(shorter, quoted)
        name, other = (dotted(word.replace(SPACE, " ")) for word in words)
        if found is not None and found.kind in _OF_TWO and found.name == name and _is_name(other):
            further = _THIRD.match(text, match.end())
            is_list = further is not None and is_code_shaped(further["name"].rstrip(".?!,;:"))
            # `further_parts` reads the others of a list
            return _whole(text[: match.end("one")], quoted) if is_list else replace(found, other=other)
    return None


def _of_pronoun(text: str, quoted: set[str]) -> RelationIntent | None:
    """Match a clause that asks about "it": `I want to change f, show every place that calls it`."""
    before, *clauses = _CLAUSE.split(text)
    names = _spoken_of(before, quoted) if clauses else []
    main = _whole(before, quoted) if names and not _TOPIC.fullmatch(before.strip()) else None
    is_stated = _DERIVED.fullmatch(before.strip()) is not None
    if len(names) != 1 or (main is not None and main.kind != Kind.IMPACT and not is_stated):
        return None
    for clause in clauses:
        replaced = _PRONOUN.sub(names[0].replace("\\", r"\\"), clause, count=1)
        others = [each for each in certain_names(clause, quoted) if not (is_stated and each in before)]
        if replaced != clause and not others:
            for part in dict.fromkeys((replaced, *_OR.split(replaced)[:1])):
                found = _whole(part, quoted)
                if found is not None and found.certain:
                    return found
    return None


def _spoken_of(text: str, quoted: set[str]) -> list[str]:
    """Return the names that "it" may mean behind a sentence: the one to be changed, or the file, of several."""
    if (derived := _DERIVED.fullmatch(text.strip())) is not None:
        return [derived["name"]]
    names = certain_names(text, quoted)
    if not names and (topic := _TOPIC.fullmatch(text.strip())) is not None:
        return [topic["before"] or topic["after"]]
    if not names and (changed := _CHANGED_THING.search(text)) is not None:
        return [changed["thing"]]
    if len(names) < 2:
        return names
    if (match := _TO_CHANGE.search(text)) is not None:
        return certain_names(text[match.start() :], quoted)[:1]
    files = [name for name in names if _FILE.fullmatch(name)]
    more = [name for name in names if not name.istitle()]  # `the Rust function parse_ast`
    return files if len(files) == 1 else more if len(more) == 1 else names


def _by_cues(text: str, quoted: set[str]) -> RelationIntent | None:
    """Read the words around a certain name, where no frame fits the question or a clause of it."""
    text = text[stated_before(text) :]
    stripped, scope = split_scope(_without_end(text, quoted))
    for part, tests, within in sorted(readings(stripped), key=lambda reading: len(reading[0])):
        found = find_by_cues(part, quoted)
        if found is not None and (" " not in within or found.kind in SCOPED_BY_WORDS):
            return scope.applied(found, tests, within)
    return None


def _hold(match: re.Match[str], quoted: set[str]) -> str:
    """Return a quoted name as one word; a quoted sentence stays what it is."""
    inner = next(group for group in match.groups() if group is not None).strip()
    if inner.count(" ") > 2 or not inner:
        return match.group(0)
    held = inner.replace(" ", SPACE)
    quoted.add(held)
    return held


def _whole(text: str, quoted: set[str]) -> RelationIntent | None:
    """Match a question or clause as a whole, taking off what surrounds it step by step."""
    stripped, scope = split_scope(_without_end(text, quoted))
    for part, tests, within in readings(stripped):
        found = _match(part, quoted)
        if found is not None and (" " not in within or found.kind in SCOPED_BY_WORDS):
            asks_tests = found.kind in (Kind.CALLERS, Kind.USAGES) and bool(_TESTS_DO.match(part))
            kind = Kind.TESTS if asks_tests else found.kind
            labels = _labels(part) if kind == Kind.MEMBERS else found.labels
            return scope.applied(replace(found, kind=kind, labels=labels), tests, within)
    return None


def _labels(text: str) -> tuple[Label, ...]:
    """Return what a question for members is limited to: `constants of the enum X`."""
    said = [labels for pattern, labels in _MEMBERS_SAID if pattern.search(text)]
    return said[0] if len(said) == 1 else ()


def _without_end(text: str, quoted: set[str]) -> str:
    text = text.rstrip(" ")
    return text if text.rpartition(" ")[2] in quoted else text.rstrip(" .!,;:?")


def _match(text: str, quoted: set[str]) -> RelationIntent | None:
    words = set(re.findall(r"[\w'-]+", text.lower()))
    normal = text.replace("'s ", " 's ").replace("’s ", " 's ") + " "
    normal = normal[4:] if normal.lower().startswith("the ") else normal
    parts = read_words(normal)
    for group in frame_groups():
        if group.triggers and words.isdisjoint(group.triggers):
            continue
        for frame in group.frames:
            match = frame.match(normal, parts)
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
        # at the end of a question, `a` and `i` are neither article nor pronoun
        is_letter = parts == [groups[slot]] and len(groups[slot]) == 1 and match.end(slot) == len(match.string.rstrip())
        # `NOTHING` in capitals is a constant
        if not is_letter and any(
            part.lower() in PRONOUNS and not (part.isupper() and len(part) > 3) and part not in quoted for part in parts
        ):
            return None
        if groups.get(f"{slot}o") and groups[slot] in nouns() and groups[slot] not in quoted:
            return None
        if match.start(slot) == 0 and groups[slot].lower() in _COMMANDS and groups[slot] not in quoted:
            return None
        kinds = (groups.get(f"{slot}k") or "").split()
        if kind == Kind.DEFINITION and kinds and _IS_DONE.fullmatch(groups[slot]) and groups[slot] not in quoted:
            return None
        if kinds and _KIND.fullmatch(groups[slot]) and groups[slot] not in quoted:
            # `the error interface`: the first of two words for kinds is the name
            parts[-1] = kinds[-1]
        names = [part.replace(SPACE, " ") if part in quoted else part for part in parts]
        if not all(_is_name(name) for name in names):
            return None
        known = (
            any(part in quoted for part in parts)
            or len(parts) > 1
            or bool(groups.get(f"{slot}k") or groups.get(f"{slot}t"))
        )
        certain = certain and (known or any(is_code_shaped(name) for name in names))
        slots.append(".".join(dotted(name) for name in names))
    said = (groups.get("xt") or groups.get("xk") or "").split()
    if kind == Kind.ROUTES and slots[0].lower() in _WHOLE_PROGRAM:
        slots[0] = ""
    return RelationIntent(kind, slots[0], slots[1], certain=certain, said_kind=said[-1] if said else "")


_WHOLE_PROGRAM = frozenset(("api", "app", "application", "service", "server", "project", "site", "website", "backend"))
_KIND = lazy_regex(KIND_WORD)
_NAME = lazy_regex(r"[\w$@(<~*&/.:\\][^\s`]*(?: [^\s`]+){0,2}")


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and any(character.isalnum() or character in "_$" for character in name)
