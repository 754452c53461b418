"""Words of a question that no indexed code has: `is there a websocket helper`, `callers of checkout`.

Hits that merely resemble a question for whether something exists, or for who uses it, would look like a yes; so would
those of a question for how or where something is done that the project does not do. Reads the indexed texts only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.graph.absence.name_lines import NameLine, with_symbols
from atlas.code.graph.absence.occurrences import is_comment, lines_of_blocks
from atlas.code.lines.asked_words import topic_words
from atlas.code.lines.flags import declarations, flag_names
from atlas.code.lines.line_report import shown
from atlas.code.lines.scan_texts import TextMatch, TextScan, is_aside, scan_patterns
from atlas.code.question.cues import is_relation_word
from atlas.code.question.names import is_code_shaped
from atlas.code.question.parse_question import Query
from atlas.code.question.requests.verbs import is_base, is_third_person
from atlas.code.reader import Reader
from atlas.core.edit_distance import distance, squeeze
from atlas.core.english.stems import root_of
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Match

MOST_WORDS = 26
MAX_WORDS = 4
"""Words that are looked for."""
MOST_NAMED, MOST_FEATURES = 2, 3
MOST_PLACES = 3
MOST_IN_TESTS = 12
"""Matches for which the definition around them is looked for."""
MIN_LETTERS = 4
MOST_FEATURE_WORDS = 7
MOST_LETTERS = 90
MAX_LINE = 400
LETTERS_OF_SLIP, MOST_SLIPS = 4, 2
"""Letters of a word for each edit up to which a name may be meant by it; more would take English for a slip."""
MOST_SPELLED, CANDIDATES = 3, 8
LINES_OF_PASSAGE = 12
"""Lines above a word that may say of what it is about that there is none."""
_DENIES = lazy_regex(
    r"\b(?:do(?:es)? not|do(?:es)?n['’]t|cannot|can['’]t|is not|isn['’]t) "
    r"(?:currently |directly |natively |yet |come with |have )?(?:any |a |an )?"
    r"(?:provided?|support(?:s|ed)?|offer(?:s|ed)?|include[sd]?|implement(?:s|ed)?|ships?|built[- ]in|handled?|possible"
    r"|available)\b|\b(?:no|without) (?:[\w-]{1,30} ){0,3}(?:support|built[- ]?in)\b",
    re.IGNORECASE,
)
_ITEM = lazy_regex(r"\s*(?:[-*+]|\d{1,3}\.) ")
_HEADING = lazy_regex(r"#{1,6} |(?:={3,}|-{3,}|~{3,})\s*$")
_PROPER = lazy_regex(r"(?<=[a-z,] )[A-Z]\w+")
"""A name inside of a sentence."""
_LOCK = lazy_regex(r"(?:^|/)(?:[\w.-]*[-.]lock(?:\.\w+)?|[\w.-]*lock\.(?:json|ya?ml)|go\.sum)$", re.IGNORECASE)
_OWN_CODE = lazy_regex(r"(?<![^/])(?:bundled|extern|external|compat|deprecated|backports?|legacy\w{0,30})(?=[/.])")
"""Folders and files that rank like copies, and hold code of the project: `plugin/bundled/`, `compat.py`."""
_ABBREVIATED = frozenset(("i.e", "e.g", "etc"))
_ACRONYM = lazy_regex(r"\b[A-Z]{3,5}\b")
_ASKS = lazy_regex(
    r"^(?:(?:is|are) there|any)\b|[,;:] (?:i\.e\. )?(?:is|are) there\b|^(?:does|do|can|could|has|have) (?:\S+ ){1,3}?"
    r"(?:have|support|offer|provide|include|handle|ship|contain|come with|speak|know|understand|use|work with)\b"
    r"|^(?:can|could) (?:i|we|you|one|it) (?:also |somehow )?(?:switch on|turn on|enable|activate|configure|set up)\b"
    r"|\bis \S+ supported\b|\bsupport for\b",
    re.IGNORECASE,
)
_ASKS_OF_ONE = lazy_regex(
    r"^(?:does|do|can|could|will|would) (?:the )?[`'\"]?[A-Za-z][\w.:]{1,60}[`'\"]? [a-z]", re.IGNORECASE
)
"""Whether a symbol does something: only the abbreviations in it can be known to be things that code would name."""
_USES_OF_ONE = lazy_regex(
    r"^(?:(?:the |all |any )?"
    r"(?:callers|callees|users|usages|uses|tests|subclasses|implementations|definition) (?:of|for)"
    r"|(?:who|what) (?:calls|uses|invokes|tests|overrides|implements)"
    r"|where is|where are) (?:the )?(?P<word>\w+)(?: (?:called|used|defined|declared|implemented))?[?.! ]*$",
    re.IGNORECASE,
)
_FEATURE = lazy_regex(
    r"\b(?:(?:is|are) there|(?:does|do|has|have) (?:\S+ ){1,3}?(?:have|support|offer|provide|include|ship|contain))"
    r" (?P<feature>[^,;?.:()]{1,80}?)(?= (?:for|of|when|in|on|to|that|which|with|if|so|while|from|by|at|where|who"
    r"|during|after|before|between|among|out|against|per|as|or|and|built)\b|[,;?.:()]|$)",
    re.IGNORECASE,
)
"""What is asked for, without what it is for: `a progress callback` of `is there a progress callback for uploads`."""
_LOOKS_FOR = lazy_regex(r"(?:where|how|which|what|show|name|find|point|locate)\b", re.IGNORECASE)
_OPTION = lazy_regex(
    r"\b(?:option|parameter|param|setting|argument|prop|property|key|attribute) (?:called |named )?"
    r"(?P<quote>[`'\"]?)(?P<word>[A-Za-z]\w{3,60})(?P=quote)(?=[,;.?!]|$| (?:where|how|which|in)\b)"
)
"""An option that a question names: the last word of its clause."""
_NO_OPTIONS = frozenset(
    """
    value values default defaults defined declared used read parsed name names type types passed handled validated
    given called implemented documented taken checked object objects list lists available supported ignored there here
    """.split()  # noqa: SIM905
)
_COMMAND = lazy_regex(r"(?<![\w:/.@-])(?P<group>[a-z][\w-]{1,40}):(?P<own>[a-z][\w-]{1,40})(?![\w:/.(])")
"""A command of a group: `migrate:redo`."""
MOST_COMMANDS = 14
_SAYS_HOW = lazy_regex(r"\w+(?:ly|ed|ing)")
"""Words that say how something is done rather than what is; people have many that code does not."""
_ENDS = "(?:e|es|ed|er|ers|s|ing|ings|ions?|ors?|able|ment|ation|ations|y|i(?:es|ed|ers?))?"
MOST_ASKED = 25
"""Words of a question for how or where something is done."""
GENERAL = frozenset(
    """
    helper helpers class classes function functions method methods module modules feature features built built-in
    builtin
    integration integrations implementation implementations backend backends adapter adapters driver drivers client
    clients server servers plugin plugins wrapper wrappers middleware handler handlers parser parsers ship ships shipped
    offer offers provide provides include includes handle handles contain contains anywhere somewhere already still also
    somewhere anything way similar several automatically moment taken made given done currently never ever branch
    kind sort type types some other another official native first-class mode file files code
    away gone instead otherwise together apart whenever behind ahead
    maximum minimum number amount brought kept sent held left lost chosen thrown caught
    test tests page pages doc docs document documentation example examples logic version versions section sections
    chapter chapters guide guides readme manual tutorial tutorials paragraph heading headings article articles
    """.split()  # noqa: SIM905
)


async def find_absent_words(reader: Reader, query: Query, unknown: Sequence[str], where: Filter) -> tuple[str, ...]:
    """Return a line for each word that no indexed code has; () for other questions. Raises store errors.

    `unknown`: the words that the word search does not have. Of a question for how or where something is done only they
    are looked for, and named where no document has them either.
    """
    if flags := (await _absent_flags(reader, query, where) or await _absent_command(reader, query, where)):
        return flags
    text, length = query.text, len(query.text.split())
    feature: tuple[str, ...] = ()
    uses = _USES_OF_ONE.match(text)
    if query.states or query.reports or length > MOST_ASKED:
        return ()
    names = [name for name in query.names if name.lower() not in _ABBREVIATED]
    # `GraphQL` looks like a name of code, and is one only where the index has it
    symbols = [name for name in names if is_code_shaped(name) and name.lower() not in unknown]
    asks = length <= MOST_WORDS and bool(_ASKS.search(text)) and not (query.paths or symbols)
    of_one = not asks and length <= MOST_WORDS and not query.paths and _ASKS_OF_ONE.match(text) is not None
    acronyms = {word.lower() for word in _ACRONYM.findall(text) if word not in names or not of_one}
    acronyms = acronyms if asks or of_one else set[str]()
    asks, of_one = asks or (of_one and bool(acronyms)), of_one and bool(acronyms)
    is_existence = asks or (length <= MOST_WORDS and not query.names and uses is not None)
    proper = acronyms | {word.lower() for word in _PROPER.findall(text)}
    if is_existence:
        sentence = re.split(r"[?!]", text)[0]  # `is there an X backend? I believe I saw one`
        sentence = sentence if _ASKS.search(sentence) else text
        words = [uses["word"]] if uses is not None else list(topic_words(sentence))
        words = [word for word in words if word in acronyms] if of_one else words
        feature = _feature_words(text) if uses is None and not of_one else ()
        words = [word for word in words if word in feature or word in proper or word in unknown] if feature else words
    elif unknown and not query.names and _LOOKS_FOR.match(text):
        words = [word for word in topic_words(text) if is_thing(word, unknown)]
    else:
        return ()
    words = [word for word in words if (len(word) >= MIN_LETTERS or word in acronyms) and word not in _ABBREVIATED]
    words.sort(key=lambda word: (word not in proper, word not in unknown))
    words = [word for word in words if word.lower() not in GENERAL][: MOST_FEATURE_WORDS if asks else MAX_WORDS]
    if not words:
        return ()
    scans = await scan_patterns(reader, where, [word_pattern(word) for word in words])
    said, nowhere = list[str](), list[str]()
    for word, scan in zip(words, scans, strict=True):
        if scan.notes or (scan.found and not is_existence):
            continue
        if any(not each.file.is_document for each in scan.found):
            if asks and (word in feature or word in proper) and await _is_never_code(reader, scan.found, where):
                said.append(absent_aside(word, scan.found))
            continue
        if asks and (denied := _denied(scan.found)):
            # one line may be about several of the words
            said += [] if any(denied in each for each in said) else [f"`{word}` occurs in no indexed code; {denied}"]
            continue
        first = {each.place: shown(each.text)[:MOST_LETTERS] for each in scan.found[:MOST_PLACES]}
        places = "; ".join(f"{place} {line}" for place, line in first.items())
        nowhere += [] if scan.found else [word]
        said.append(f"`{word}` occurs in no indexed code" + (f", only in {places}" if places else " or document"))
    if not said and feature:
        said += _never_together([each for each in zip(words, scans, strict=True) if each[0] in feature])
    return (*said[: MOST_FEATURES if asks else MOST_NAMED], *await _near_names(reader, nowhere[:MOST_NAMED], where))


async def _near_names(reader: Reader, words: Sequence[str], where: Filter) -> tuple[str, ...]:
    """Return the names that words which stand nowhere may be slips of: `dumps` for `dumpz`; () if none is."""
    near: dict[str, str] = {}
    for word in words:
        slips = min(len(word) // LETTERS_OF_SLIP, MOST_SLIPS)
        for node in await reader.store.find(word, Match.NEAR, where, CANDIDATES):
            row = node.row
            if row.label not in EXTERNAL_LABELS and distance(squeeze(word), squeeze(row.name), slips) <= slips:
                near[row.qualified_name] = f"{row.path}:{row.line}"
    listed = ", ".join(f"{name} {place}" for name, place in [*near.items()][:MOST_SPELLED])
    return (f"near names: {listed}",) if listed else ()


async def find_absent_options(reader: Reader, text: str, known: Sequence[str], where: Filter) -> tuple[str, ...]:
    """Return a line for each option that a question names and no code has: `f has option debounce, where is it done`.

    `known`: names that the index has. Raises store errors.
    """
    named = dict.fromkeys(match["word"] for match in _OPTION.finditer(text))
    words = [word for word in named if word not in known and word.lower() not in _NO_OPTIONS][:MOST_NAMED]
    if not words:
        return ()
    patterns = [
        (re.compile(rf"(?<![A-Za-z]){re.escape(word)}(?![a-z])", re.IGNORECASE), (word.encode(),)) for word in words
    ]
    scans = await scan_patterns(reader, where, patterns)
    said: list[str] = []
    for word, scan in zip(words, scans, strict=True):
        if not scan.notes and not scan.found:
            said.append(f"`{word}` occurs in no indexed file")
        elif not scan.notes and all(map(is_no_code, scan.found)):
            said.append(absent_aside(word, scan.found))
    return tuple(said)


async def _absent_flags(reader: Reader, query: Query, where: Filter) -> tuple[str, ...]:
    """Return a line for each flag that a question names and no code has, in any spelling; () for other questions."""
    names = flag_names(query.text)[:MAX_WORDS]
    if not names or query.states or query.reports or query.phrases or len(query.text.split()) > MOST_ASKED:
        return ()
    scans = await scan_patterns(reader, where, [word_pattern(name.lower()) for name in names])
    said: list[str] = []
    for name, scan in zip(names, scans, strict=True):
        if scan.notes or not all(map(is_no_code, scan.found)):
            continue
        written = [each for each in scan.found if f"--{name}" in each.text]
        places = ", ".join(dict.fromkeys(each.place for each in (written or scan.found)[:MOST_PLACES]))
        if written:
            said.append(f"`--{name}` occurs in no indexed code, only in {places}")
        else:
            words = name.replace("-", " ")
            said.append(f"`--{name}` occurs in no indexed file" + (f"; `{words}` in {places}" if places else ""))
    if said and len(said) == len(names) and (near := await _near_flags(reader, names, where)):
        said.append(f"flags that are declared: {near}")
    return tuple(said)


async def _near_flags(reader: Reader, names: Sequence[str], where: Filter) -> str:
    """Return the declared flags that have a word of one that is not, with their places."""
    wanted = {root_of(part) for name in names for part in re.split(r"[-_]", name.lower()) if len(part) >= MIN_LETTERS}
    _, declared = await declarations(reader, where)
    near = {
        name: each.place
        for name, each in declared
        if wanted & {root_of(part) for part in re.split(r"[-_.]", name.lower())}
    }
    return ", ".join(f"--{name} {place}" for name, place in [*near.items()][:MOST_FEATURES])


async def _absent_command(reader: Reader, query: Query, where: Filter) -> tuple[str, ...]:
    """Return that no code has a command of a group, with those that it has: `is there a migrate:redo`; else ()."""
    named = _COMMAND.search(query.text)
    if named is None or query.states or query.reports or len(query.text.split()) > MOST_ASKED:
        return ()
    group, own = re.escape(named["group"]), named["own"].lower()
    pattern = re.compile(rf"(?<![\w:/.-])(?P<name>{group}:[a-z][\w-]{{0,60}})(?![\w/:])", re.IGNORECASE)
    scan = await scan_patterns(reader, where, [(pattern, (named["group"].encode(),))])
    every = scan[0].found
    code = [each for each in every if not is_no_code(each)]
    if scan[0].notes or not code or any(each.match["name"].lower().endswith(f":{own}") for each in every):
        return ()
    known = {each.match["name"]: each.place for each in reversed(code)}
    listed = ", ".join(f"{name} {place}" for name, place in [*known.items()][::-1][:MOST_COMMANDS])
    more = f" and {len(known) - MOST_COMMANDS} more" if len(known) > MOST_COMMANDS else ""
    return (f"`{named['group']}:{named['own']}` occurs in no indexed file; `{named['group']}:` has {listed}{more}",)


def _feature_words(text: str) -> tuple[str, ...]:
    """Return the words of what is asked for, which tell more than those of what it is for; () if none tells it."""
    match = _FEATURE.search(text)
    words = topic_words(match["feature"]) if match is not None else ()
    return tuple(word for word in words if word not in GENERAL and len(word) >= MIN_LETTERS)


def _never_together(scanned: Sequence[tuple[str, TextScan]]) -> list[str]:
    """Return that no line has both words of a feature in two words, if they are never in neighbouring lines."""
    if len(scanned) != 2 or any(scan.notes for _, scan in scanned):
        return []
    (one, first), (two, second) = scanned
    at = {(each.file.path, each.line + by) for each in first.found if begins_word(each) for by in (-1, 0, 1)}
    if any((each.file.path, each.line) in at for each in second.found if begins_word(each)):
        return []
    return [f"no indexed line has both `{one}` and `{two}`"]


def begins_word(found: TextMatch) -> bool:
    """Return whether a match begins a word or a part of an identifier: `rate` of `RATE_LIMIT`, not of `separate`."""
    start = found.match.start()
    before, first = found.file.text[start - 1 : start], found.file.text[start : start + 1]
    return not before.isalpha() or (first.isupper() and before.islower())


async def _is_never_code(reader: Reader, found: Sequence[TextMatch], where: Filter) -> bool:
    """Return whether all matches stand in documents, comments or tests: also in tests beside the code in one file."""
    left = [each for each in found if not is_no_code(each)]
    if len(left) > MOST_IN_TESTS:
        return False
    lines = [NameLine(each.file.path, each.line, each.text, sets=False) for each in left]
    inside = await with_symbols(reader, lines, where.project or reader.project) if lines else []
    return all(each.inside is not None and each.inside.row.is_test for each in inside)


def is_no_code(found: TextMatch) -> bool:
    """Return whether a line stands in a document, a test or an example, or is a comment."""
    is_beside = found.file.is_document or found.file.is_test or is_aside(_OWN_CODE.sub("own", found.file.path))
    if is_beside or is_comment(found.text) or is_lock(found.file.path):
        return True
    return found.line in lines_of_blocks(found.file.text)


def is_lock(path: str) -> bool:
    """Return whether a file holds the versions that a package manager has chosen."""
    return _LOCK.search(path) is not None


def absent_aside(word: str, found: Sequence[TextMatch]) -> str:
    """Return that a word occurs in comments, documents or tests only, with its first lines there."""
    found = [*{each.place: each for each in reversed(found)}.values()][::-1]
    asides = any(is_aside(each.file.path) for each in found)
    kinds = "comments, documents, tests or examples" if asides else "comments, documents or tests"
    first = sorted(found, key=lambda each: (each.file.is_test, each.file.is_document and asides))[:MOST_PLACES]
    told = "; ".join(f"{each.place} {shown(each.text)[:MOST_LETTERS]}" for each in first)
    more = f" and {len(found) - len(first)} more" if len(found) > len(first) else ""
    return f"`{word}` occurs in no code, only in {kinds}: {told}{more}"


def _denied(found: Sequence[TextMatch]) -> str:
    """Return the first line that says what there is not, in a passage of a document with the word; "" for none."""
    for each in found:
        for number in range(each.line, max(0, each.line - LINES_OF_PASSAGE), -1):
            line = each.file.lines[number - 1]
            if len(line) <= MAX_LINE and _DENIES.search(line):
                own = f", and {each.line} {shown(each.text)[:MOST_LETTERS]}" if number != each.line else ""
                return f"{each.file.path}:{number} says: {shown(line)}{own}"
            if _ITEM.match(line) or (number < each.line and _HEADING.match(line)):
                break
    return ""


def is_thing(word: str, unknown: Sequence[str]) -> bool:
    """Return whether a word, or a part of it, is unknown and does not only say how something is done."""
    parts = re.split(r"[-_./]", word)
    is_verb = is_relation_word(word) or is_third_person(word) or is_base(word)
    says_how = _SAYS_HOW.fullmatch(word) is not None or is_verb
    return not says_how and any(part in unknown for part in parts if len(part) > 2)


def word_pattern(word: str) -> tuple[re.Pattern[str], tuple[bytes]]:
    """Return what finds a word in its other forms, joined by other signs, and inside of names; and how it begins."""
    parts = [re.escape(part) for part in re.split(r"[-_ ]", word.removesuffix("s"))]
    joined = "[-_ ]?".join(parts)
    forms = [joined]
    if word.endswith("s"):
        # `redis` begins `redistribute`; `redirect` and `mercredi` have it without its end
        ends = r"(?:(?![a-z])|(?-i:(?=[A-Z][a-z])))"
        forms = [rf"{joined}s{ends}", rf"(?:(?-i:(?=[A-Z]))|(?<![a-z])){joined}{ends}"]
    if word.isalpha():
        forms.append(rf"(?<![a-z]){re.escape(root_of(word))}{_ENDS}(?![a-z])")
    return re.compile("|".join(forms), re.IGNORECASE), (re.split(r"[-_ ]", word)[0][:MIN_LETTERS].encode(),)
