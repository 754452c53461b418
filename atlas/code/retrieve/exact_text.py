"""The search channel of exact texts: the lines on disk that build a message, or that contain a quoted text.

A message in use holds values (`user 'bob' not found`) where its source has placeholders (`"user %r not found"`), or is
put together from several literals. So where no line of code has the whole text, lines with some of its words next to
each other are read, and the constants of their literals are laid over the message in order: what lies between them are
values. Code comes before documents and tests, a line that raises or logs before one that only repeats the text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.question.behaviour import asks_how
from atlas.code.question.names import dotted, is_code_shaped
from atlas.code.question.parse_question import Query
from atlas.code.rank.likelihood import QUOTED
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import ExactLine, Ranking, path_matches
from atlas.code.retrieve.message_templates import Fit, fit_message, is_reported, words_of
from atlas.code.retrieve.text_users import users_of_holders
from atlas.code.retrieve.written_files import innermost
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.invisible import escaped
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import FileRecord, Filter, Match, Node, Scored
from atlas.parsing import read_path
from atlas.parsing.lines import MAX_FILE_BYTES, MatchedFile, MatchedLines, TextFile, TreeLines

MAX_TEXTS = 3
MAX_TEXT = 600
"""Characters of a text that are looked for."""
MIN_LETTERS = 3
MIN_SPACES = 2
"""Of a message without quotes beside a question."""
MOST_SPACES, MANY_WORDS_BEHIND = 11, 8
"""A longer text before a question is rather what somebody tells, and so is one before a longer question."""
MAX_HITS = 8
LINES_PER_HIT = 2
KEPT_LINES = 20
"""Of each file."""
MAX_WINDOWS = 60
MOST_VALUE = 120
"""Characters of a placeholder."""
MAX_READ = 40
"""Lines whose literals are laid over a message."""
AROUND = 6
"""Lines around them that may hold the rest of a message."""
LEAST_SHARE = 0.4
"""Of the letters of a message, apart from its obvious values, that all constants of a literal have at least."""
LEAST_PART = 0.6
"""The same where a constant is found only in part."""
NEVER = 2.0
_STEP = 0.01
_MAX_NODES = 10_000

_QUOTES = lazy_regex(
    r"\"([^\"]{3,600})\"|“([^”]{3,600})”|(?<![\w`])'([^'\s][^']{2,600}|[^']{3,600})'(?!\w)|`([^`]{1,600})`"
)
_FIELD = lazy_regex(
    r"\b(?:msg|message|err|error|reason|exception)(?:=|\\?\":\s*)\\?\"((?:[^\"\\]|\\.)+)\"", re.IGNORECASE
)
_VALUE_FIRST = lazy_regex(
    r"^(?:'[^']{1,80}'|\"[^\"]{1,80}\"|`[^`]{1,80}`)"
    r" (?:is|was|has|does|did|cannot|can't|could|must|are|should|not|isn't)\b"
    r"(?: \S+){2,}$"
)
"""A message that begins with its value: `'foo' is not a valid size`."""
_VALUE_COLON = lazy_regex(r"^[A-Z][\w ]{2,60} (?:'[^']{1,200}'|\"[^\"]{1,200}\"): \S")
"""A message that may end with a question of its own: `Invalid URL 'x': No scheme supplied. Perhaps you meant https://x?`."""
_LIKE_VALUE = lazy_regex(r"[\"'`]|\d|[\\/@]|^<.*>$")
"""A word of a message that is no constant of it."""
_ERROR = lazy_regex(r"(?:^|[\s.:])\w*(?:Error|Exception|Warning|error|exception|warning|panic|fatal): (\S.*)$")
_ASKS = lazy_regex(
    r"(?:what|which|who|where|when|how|why|is|are|does|do|can|could|please|show|find|list|give|tell|explain|search)\b",
    re.IGNORECASE,
)
_MESSAGE = lazy_regex(r"^(?=(?:\S+ ){3,}|(?:\S+ ){2}/)(?:\S+ )+\S*(?:(?<!\w)'[^']+'|\"[^\"]+\"|\d|(?<!\S)/\S)")
"""Four words, one of the later ones a value: quoted, a number, or an absolute path."""
_PLAIN_MESSAGE = lazy_regex(r"[A-Z][a-z']+(?: [\w'/-]+){2,11}[.!]?")
"""Words without a value that begin with a capital, as messages and sentences do: `Host not permitted`."""
_LOWER_MESSAGE = lazy_regex(
    r"(?=.*\b(?:not|no|cannot|can't|\w+n't|must|require[sd]|invalid|failed|unable|already|missing|unknown|expected|without)\b)"
    r"[a-z][\w']*(?: [\w'/.()-]+){3,11}[.!]?"
)
"""The same without a capital, with a word by which programs say what is wrong."""
_TOLD = (
    r"(?:that|this|it|from|messages?|errors?|hints?|texts?|warnings?|raise[sd]?|built|builds?|comes?|coming|throw[sn]?"
    r"|emit\w*|print\w*|produc\w*|generat\w*|log(?:s|ged)?|say(?:s|ing)?)"
)
_MESSAGE_FIRST = lazy_regex(
    r"^(?P<message>\S.{11,400}?)(?:\s+(?:--|—|–|-)\s+|[?!.:,;]\s+)(?:(?:so|and|ok|well),? )?"
    rf"(?:where|which|what|who|why)\b(?=.*\b{_TOLD}\b)(?P<rest>.*)$",
    re.IGNORECASE,
)
_ASKS_ORIGIN = lazy_regex(rf"^(?:where|which|what|who)\b(?=.*\b{_TOLD}\b)", re.IGNORECASE)
"""A message without quotes, and a question about where it comes from."""
_ASKS_WITHIN = lazy_regex(
    r"[:;] (?:is|are|was|were|does|do|did|can|could|will|should|has|have|what|which|who|where|when|how|why)\b",
    re.IGNORECASE,
)
"""A sentence with a question behind its colon is no message: `A job ends: is it kept, and what if it fails?`."""
_EMITS = lazy_regex(
    r"\b(?:messages?|errors?|hints?|texts?|warnings?|raise[sd]?|built|builds?|com(?:es?|ing)|throw[sn]?|emit\w*"
    r"|print\w*|produc\w*|generat\w*|log(?:s|ged)?|say(?:s|ing)?|trigger\w*|caus\w+|outputs?|string)\b",
    re.IGNORECASE,
)
"""The question is about a message: `where is that decided` is about what a sentence tells."""
_MESSAGE_NOUN = lazy_regex(r"\b(?:this|that|it|these|those|messages?|errors?|hints?|texts?|warnings?|string|lines?)\b")
_EMITTING = lazy_regex(r"\b(?:raise[sd]?|throw[sn]?|emit\w*|print\w*|log(?:s|ged)?|say(?:s|ing)?|output\w*)\b")
_NARRATES = lazy_regex(r"(?:an?|two|some\w*|several|many|if|when|after|while) ")
"""A sentence of who asks: `a client uses the wrong method, where does the 405 come from`."""
_SETS_SCENE = lazy_regex(
    r"(?:in|on|at|for|with|during|under|inside|given|suppose|of|by)"
    r" (?:the|an?|my|our|your|one|two|each|every)\b[^'\"`]*$",
    re.IGNORECASE,
)
"""Words before a question that say where or for what it asks: `In the log output, what is done to messages`."""
_VALUED = lazy_regex(r"(?<!\w)'[^']+'|\"[^\"]+\"|(?<!\S)/\S|\w: \S|\b\w*(?:Error|Exception)\b")
"""What programs print: a quoted value, a path, a kind of error."""
_QUOTED_VALUE = lazy_regex(r"(?<!\w)'[^']+'|\"[^\"]+\"|\b\w*(?:Error|Exception)\b")
"""The same in a long text: a sentence of who asks has colons and paths of its own."""
_SAID = (
    r"(?:messages?|errors?|hints?|texts?|warnings?|strings?|(?<!command )(?<!command-)lines?"
    r"|(?:it|this|that)(?=\s*(?:[?.,;!]|$)|\s(?:come|is|was|gets?|being|raised|printed|built|thrown|logged)\b))"
)
_SAYING = (
    r"(?:rais|thr[oe]w|emit|print|produc|generat|log|say|said|built|build|com(?:es?|ing) from|trigger|caus|output)\w*"
)
_OF_IT = lazy_regex(
    rf"\b{_SAID}(?:\W+\w+){{0,3}}?\W+{_SAYING}|\b{_SAYING}(?:\W+\w+){{0,2}}?\W+{_SAID}",
    re.IGNORECASE,
)
"""What prints is asked of the text before: `where does it come from`, not `which switch gets thrown to help it`."""
_OF_PERSON = lazy_regex(r"^(?:i|we|i'm|i'd|i've|i'll|we're|we'd|we've|my|our)\b", re.IGNORECASE)
"""A sentence of who asks, which is no message: `I plan to rename X. Who uses it?`."""
_PERSON_WITHIN = lazy_regex(r"(?:^|[\s,;(])(?:I|I'm|I'd|I've|I'll|[Mm]y|[Oo]ur)\s")
"""The same behind words that set the scene: `On macOS I import './a.js'. Where is it looked for?`."""
_REPORTED = lazy_regex(
    r"^(?:(?:[^:]{0,80}\b(?:got|gets?|saw|sees?|says|said|with|shows?|prints?|returns?|throws?)|error|message|warning):\s+){1,2}",
    re.IGNORECASE,
)
"""What a person says before the message."""
_PREFIX = lazy_regex(
    r"^(?:[\[(<]?(?:\d[\d:.,/TZ+-]*|TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|E|W)[\])>]?:?\s+)+",
    re.IGNORECASE,
)
"""Time and level at the start of a line of a log."""
_FRAGMENT = lazy_regex(r"(?:\b[\w$]{1,60}|(?<=\s))(?:\.[\w$]{1,60}){1,8}\((?:'[^'()]{1,60}'|\"[^\"()]{1,60}\")\)")
"""A call with a text, as code has it: `.command('*')`."""
_NAME = lazy_regex(r"[\w$]+(?:(?:\.|::|#|->)[\w$]+)*(?:\(\))?")


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A line with what orders it."""

    order: tuple[float, int, bool]
    """Missing share of the text, kind of the file, whether nothing near it raises or logs."""
    line: ExactLine


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A text that a question quotes, or the message that it is."""

    text: str
    is_certain: bool = True
    """It is quoted, or follows the kind of an error; other questions only look like a message."""
    in_literal: bool = False
    """It may as well be a sentence about the code: only a string of code that has the whole text counts."""


def texts_of(text: str) -> tuple[QuotedText, ...]:
    """Return the texts of a question that may stand in a file, in order."""
    fields = [re.sub(r"\\(.)", r"\1", found) for found in _FIELD.findall(text)]
    if fields:
        return _kept(fields)
    message = _told(text)
    if message.count(" ") >= MIN_SPACES and _SETS_SCENE.match(message) is None:
        said = _kept([_REPORTED.sub("", message).strip("\"'`“” ")])
        rest = text.replace(message, " ")
        of_message = _EMITS.search(rest) is not None and (
            _MESSAGE_NOUN.search(rest) is not None
            or (_EMITTING.search(rest) is not None and _NARRATES.match(message) is None)
        )
        if message.count(" ") > MOST_SPACES or (of_message and len(rest.split()) > MANY_WORDS_BEHIND):
            of_message = of_message and _OF_IT.search(rest) is not None
        is_valued = (_VALUED if message.count(" ") <= MOST_SPACES else _QUOTED_VALUE).search(message) is not None
        if of_message or is_valued or message[:1] in "\"'`“[":
            return said
        return tuple(replace(each, is_certain=False, in_literal=True) for each in said)
    is_question = _ASKS.match(text) is not None or (text.endswith("?") and _VALUE_COLON.match(text) is None)
    if _VALUE_FIRST.match(text):
        return _kept([text], is_certain=False)
    error = _ERROR.search(text)
    if error is not None and not is_question:
        return _kept([error.group(1)])
    if _MESSAGE.search(text) and not is_question and not text.startswith(('"', "'", "`", "“")):
        return _kept([_PREFIX.sub("", text)], is_certain=False)
    if not is_question and (_PLAIN_MESSAGE.fullmatch(text) or _LOWER_MESSAGE.fullmatch(text)):
        return (QuotedText(text, is_certain=False, in_literal=True),)
    fragments = _FRAGMENT.findall(text) if "`" not in text else []
    if fragments:
        return _kept(fragments)
    quoted = (
        (next(group for group in match.groups() if group is not None), match[0][0]) for match in _QUOTES.finditer(text)
    )
    return _kept(each for each, mark in quoted if mark != "`" or " " in each.strip())  # a word in backticks is a name


def _told(text: str) -> str:
    """Return the message that stands without quotes before or behind a question about where it comes from; or ""."""
    asks, _, message = text.partition(": ")
    if _ASKS_ORIGIN.match(asks):
        return message
    told = None if _ASKS.match(text) or _OF_PERSON.match(text) else _MESSAGE_FIRST.match(text)
    message = told["message"] if told is not None and _ASKS_WITHIN.search(told["message"]) is None else ""
    if _PERSON_WITHIN.search(_QUOTES.sub(" ", message)) is not None:
        return ""
    # `type alias ScheduleStep: what is it` names its subject
    return "" if message.count(" ") <= MIN_SPACES and is_code_shaped(message.rpartition(" ")[2]) else message


def _kept(texts: Iterable[str], *, is_certain: bool = True) -> tuple[QuotedText, ...]:
    stripped = (" ".join(each.split())[:MAX_TEXT].strip() for each in texts)
    kept = dict.fromkeys(each for each in stripped if sum(map(str.isalnum, each)) >= MIN_LETTERS)
    return tuple(QuotedText(each, is_certain) for each in kept)[:MAX_TEXTS]


async def by_exact_text(reader: Reader, query: Query, where: Filter) -> Ranking:
    """Find the definitions with the lines that build the texts of a question."""
    texts, tree = texts_of(query.text), reader.lines
    if not texts or tree is None or where.project != reader.project or not reader.root.is_dir():
        return Ranking("exact")
    files = within(await asyncio.to_thread(tree.files), where)
    found: list[_Weighed] = []
    nowhere: list[str] = []
    is_how = asks_how(query)
    for each in texts:
        is_name = _NAME.fullmatch(each.text) is not None
        if is_name and await reader.store.find(dotted(each.text), Match.SUFFIX, where, 1):
            continue
        lines = await _lines_of(reader, tree, files, each, where)
        if is_how and " " not in each.text and not any(line.order[1] == 0 for line in lines):
            continue  # an example of who asks: `I import './Foo.js'. Why is it not found?`
        found += lines
        if not lines and each.is_certain and not is_name and not await _is_indexed(reader, each.text, where):
            nowhere.append(each.text)
    # of several texts of one message, that of code comes first; a page is asked for otherwise
    found.sort(key=lambda each: (query.wants_documents and each.order[1] != 1, min(each.order[1], 2)))
    return await _in_definitions(reader, list(dict.fromkeys(each.line for each in found)), tuple(nowhere), where)


async def _is_indexed(reader: Reader, text: str, where: Filter) -> bool:
    """Return whether the words of a text stand next to each other in the index, such as on two lines of a document."""
    words = " ".join(reader.split_words(text))
    return bool(words) and bool(await reader.store.search_text([words], where, 1))


def within(files: Iterable[TextFile], where: Filter) -> list[TextFile]:
    """Return the files that pass the filter's path and languages."""
    return [
        each
        for each in files
        if (not where.path or path_matches(where.path, each.path))
        and (not where.languages or each.language in where.languages)
    ]


def kind_rank(record: FileRecord | None, forms: Mapping[str, str]) -> int:
    """Return the place of a file by its kind: code, documents and data, tests, what is not indexed."""
    if record is None:
        return 3
    return 2 if record.is_test else 0 if forms.get(record.language, "code") in ("code", "source") else 1


async def code_paths(reader: Reader, project: str) -> frozenset[str]:
    """Return the paths of a project's code without its tests; those of a generation are kept."""

    async def read() -> frozenset[str]:
        forms = reader.languages.forms
        records = await reader.store.manifest(project)
        return frozenset(path for path, record in records.items() if kind_rank(record, forms) == 0)

    return await reader.cache.get(reader.store, project, "paths of code", read)


async def _lines_of(
    reader: Reader, tree: TreeLines, files: Sequence[TextFile], asked: QuotedText, where: Filter
) -> list[_Weighed]:
    """Return the lines of a text, best first: those of code that have it or build it, then those of other files."""
    text = asked.text
    # most texts that only look like a message are none; each file is read from disk, and lines elsewhere do not count
    in_code = frozenset[str]() if asked.is_certain else await code_paths(reader, where.project)
    code = [each.path for each in files if each.path in in_code]
    paths = code if asked.in_literal else [each.path for each in files]
    core = text.rstrip(".!?:;, ") or text
    forms = {core, core.replace('"', '\\"'), core.replace("'", "\\'"), core.replace('"', "'")}
    whole = await asyncio.to_thread(tree.matching, paths, sorted(forms), keep=KEPT_LINES)
    weighed = await _weighed(reader, whole.files, where)
    if asked.in_literal:
        literal = re.compile(rf"[\"'`][^\"'`]*{re.escape(core)}")
        return [each for each in weighed if each.order[1] == 0 and literal.search(each.line.text)]
    if not any(each.order[1] == 0 for each in weighed) and len(words_of(text)) > 1:
        weighed += await _built(reader, tree, paths if asked.is_certain else code, asked, where)
    if not weighed:
        folded = f"(?i){re.escape(core)}"
        whole = await asyncio.to_thread(tree.matching, paths, [folded], is_regex=True, keep=KEPT_LINES)
        weighed = await _weighed(reader, whole.files, where)
    weighed.sort(
        key=lambda each: (min(each.order[1], 2), each.order[0], each.order[1:], each.line.path, each.line.line)
    )
    return weighed


async def _weighed(reader: Reader, files: Sequence[MatchedFile], where: Filter) -> list[_Weighed]:
    """Return the lines that have a text as it is."""
    records = await reader.store.records(where.project, [file.path for file in files])
    found: list[_Weighed] = []
    chosen = sorted(files, key=lambda file: kind_rank(records.get(file.path), reader.languages.forms))[:MAX_READ]
    contents = await asyncio.to_thread(_read, reader, [file.path for file in chosen])
    for file in chosen:
        record = records.get(file.path)
        if record is not None and record.is_test and not where.include_tests:
            continue
        kind, content = kind_rank(record, reader.languages.forms), contents.get(file.path, [])
        found += (
            _Weighed((0.0, kind, not is_reported(content, number - 1)), ExactLine(file.path, number, shown))
            for number, shown in file.lines
        )
    return found


async def _built(
    reader: Reader, tree: TreeLines, paths: Sequence[str], asked: QuotedText, where: Filter
) -> list[_Weighed]:
    """Return the lines whose literals build a text; of what only looks like a message, those of code that have all."""
    others: list[_Weighed] = []
    for size in (3, 2):
        windows = _windows(asked.text, size)
        if not windows:
            continue
        matched = await asyncio.to_thread(tree.matching, paths, windows, keep=KEPT_LINES)
        fits = await _fitting(reader, matched, windows, asked, where)
        if any(each.order[1] == 0 for each in fits):
            return fits
        others = others or fits  # a test or a page repeats a message, its values included
    if pattern := _with_gaps(asked.text):
        matched = await asyncio.to_thread(tree.matching, paths, [pattern], is_regex=True, keep=KEPT_LINES)
        return await _fitting(reader, matched, (), asked, where) or others
    return others


def _with_gaps(text: str) -> str:
    """Return a pattern of a text with anything in place of its values; "" for none, or too few words around them.

    Of `Exceeded 30 redirects.` no two constant words stand next to each other.
    """
    runs: list[list[str]] = [[]]
    for token in text.rstrip(".!?:;, ").split():
        if _LIKE_VALUE.search(token):
            runs.append([])
        else:
            runs[-1].append(token)
    words = [" ".join(run) for run in runs if run]
    telling = sum(_is_telling(token) for run in runs for token in run)
    return rf"[^\n]{{1,{MOST_VALUE}}}".join(map(re.escape, words)) if len(words) > 1 and telling > 1 else ""


def _windows(text: str, size: int) -> list[str]:
    """Return the runs of so many words of a text, those that are most likely constant."""
    tokens = text.split()
    runs = [tokens[at : at + size] for at in range(len(tokens) - size + 1)]
    telling = [run for run in runs if any(_is_telling(token) for token in run)]
    return list(dict.fromkeys(" ".join(run) for run in telling))[:MAX_WINDOWS]


def _is_telling(token: str) -> bool:
    word = token.strip(".,;:!?()[]{}'\"`").lower()
    return len(word) > 2 and word not in STOP_WORDS and word.isalpha()


async def _fitting(
    reader: Reader, matched: MatchedLines, windows: Sequence[str], asked: QuotedText, where: Filter
) -> list[_Weighed]:
    records = await reader.store.records(where.project, [file.path for file in matched.files])
    lines: list[tuple[int, int, str, int, str]] = []
    for file in matched.files:
        record = records.get(file.path)
        if record is None or (record.is_test and not where.include_tests):
            continue
        kind = kind_rank(record, reader.languages.forms)
        if kind and not asked.is_certain:
            continue
        for number, shown in file.lines:
            lines.append((-sum(len(each) for each in windows if each in shown), kind, file.path, number, shown))
    chosen = sorted(lines)[:MAX_READ]
    contents = await asyncio.to_thread(_read, reader, sorted({path for _, _, path, _, _ in chosen}))
    found: list[_Weighed] = []
    for _, kind, path, number, shown in chosen:
        content = contents.get(path, [])
        fit = fit_message(asked.text, content, number - 1, AROUND) if number <= len(content) else Fit()
        least = LEAST_SHARE if fit.is_whole else LEAST_PART if asked.is_certain else NEVER
        if fit.share >= least:
            order = (round(1 - fit.share, 1), kind, not is_reported(content, number - 1))
            found.append(_Weighed(order, ExactLine(path, number, shown)))
    return found


def _read(reader: Reader, paths: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        content = read_path(str(reader.root), path, MAX_FILE_BYTES)
        if content is not None:
            found[path] = content.decode("utf-8", "replace").split("\n")
    return found


async def _in_definitions(
    reader: Reader, lines: Sequence[ExactLine], nowhere: tuple[str, ...], where: Filter
) -> Ranking:
    """Return the innermost definitions around lines, in their order; a note names lines of files without any."""
    paths = list(dict.fromkeys(line.path for line in lines))[:MAX_READ]
    nodes = await asyncio.gather(*(reader.store.find(path, Match.PATH, where, _MAX_NODES) for path in paths))
    known = dict(zip(paths, nodes, strict=True))
    by_uid: dict[str, list[ExactLine]] = {}
    unindexed: list[ExactLine] = []
    holders: dict[str, Node] = {}
    for line in lines:
        node = innermost(known.get(line.path, ()), line.line)
        if node is None:
            unindexed.append(line)
        elif node.row.uid in by_uid or len(by_uid) < MAX_HITS:
            by_uid.setdefault(node.row.uid, []).append(line)
            holders[node.row.uid] = node
    users = await users_of_holders(reader, list(holders.values()), known)
    said = [f"{line.path}:{line.line}: {escaped(line.text)}" for line in unindexed[:LINES_PER_HIT]]
    return Ranking(
        "exact",
        tuple(Scored(uid, 1.0 - _STEP * number) for number, uid in enumerate(by_uid)),
        note=f"the text stands in what is not indexed: {'; '.join(said)}" if said and not by_uid else "",
        reasons=tuple((uid, QUOTED) for uid in by_uid),
        lines=tuple((uid, (*own[:LINES_PER_HIT], *users.get(uid, ()))) for uid, own in by_uid.items()),
        nowhere=nowhere,
    )
