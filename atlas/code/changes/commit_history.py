"""Questions for the commits of a symbol, a file, a folder or an author: what changed it, who wrote it, since when.

A symbol's commits are those that changed its lines, followed back through moves and renames. Words about history decide
that it is such a question; the subject is a name that the index has, a path, or an author of commits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.code.changes.asked_span import with_times
from atlas.code.changes.change_impact import uncommitted
from atlas.code.changes.commit_rows import (
    all_authors,
    authors_of,
    commit_row,
    commits_of_authors,
    day_of,
    last_of,
    named_authors,
    page,
    since_words,
)
from atlas.code.changes.commit_topics import (
    find_folder,
    is_act,
    topic_words,
    with_words,
    words_in,
)
from atlas.code.changes.history_words import (
    ADDED,
    CHANGED,
    EVER,
    MENDED,
    asks_for_commits,
    is_about_history,
    is_file_added,
)
from atlas.code.changes.reverted import answer_reverted, asks_reverted
from atlas.code.changes.told_lines import find_told_line, lines_of_today
from atlas.code.changes.told_topics import MANY_WORDS, MOST_REASONS, answer_told, answer_topic, asks_why_done
from atlas.code.lines.flags import find_declaration, flag_names
from atlas.code.lines.line_report import LineReport, TextLine
from atlas.code.lines.scan_texts import is_aside, is_document, scan_texts
from atlas.code.question.change_questions import ChangeAspect, ChangeQuestion
from atlas.code.question.frames import KIND_WORD
from atlas.code.question.names import dotted, is_code_shaped
from atlas.code.question.parse_question import Query
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import resolve
from atlas.code.retrieve.written_files import find_files, relative
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import AtlasError, NotFound
from atlas.core.history import Commit, CommitSpan, History
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

MAX_COMMITS = 500
MOST_METHODS = 8
"""Methods outside of a type whose lines are followed: each takes a call of git."""
MIN_TOLD, MOST_OF_ACRONYM = 3, 5
MOST_NAMES = 4
"""Names of a question of which one may be a member of another."""
_ADDS = lazy_regex(
    rf"\b(?:when|who|(?:which|what) (?:commit|change|pr)|commit that|by whom|since when|how old|age of"
    rf"|first)\b.*?\b(?:{ADDED}|first|old|age|is|exists?|existed|been)\b",
    re.IGNORECASE,
)
_TELLS = lazy_regex(r"\b(?:why|when|since when) (?:do|does|did|is|are|was|were|has|have)\b", re.IGNORECASE)
"""A question that tells what its subject does: `when did X begin to check Y`."""
_LAST = lazy_regex(rf"\b(?:last|latest|most recent(?:ly)?|newest)\b|\b(?:who|when)\b.*\b{CHANGED}\b", re.IGNORECASE)
_ADDS_WORD = r"(?:add|introduc|land|put)\w*(?: in)?"
MEMBER_ADDED = lazy_regex(
    rf"(?:{_ADDS_WORD} `?(?P<after>\w+)`?|`?(?P<before>\w+)`? (?:got |get |been |was )?{_ADDS_WORD})"
    r"(?:to| to| on| in) (?:the )?(?P<owner>`?[A-Za-z_]\w*`?)",
    re.IGNORECASE,
)
"""`When was inline added to JsonClass` asks for the member."""
_ADDED_FIRST = lazy_regex(rf"\b{ADDED}\b", re.IGNORECASE)
_SEVERAL = lazy_regex(r"\b(?:changes|edits|modifications|commits|lately|recently)\b", re.IGNORECASE)
_OF_HISTORY = lazy_regex(
    r"^(?:commits?|history|changes|authors?|contributors)\b|[.!?:;] (?:and )?(?:which|what|in which) commits?\b"
    r"|[.!?:;] (?:please )?find (?:me )?the (?:commit|change|pr|pull request)\b",
    re.IGNORECASE,
)
"""What a text that states something may still ask: `X was reworked. Which commits were that`."""
_ASKS_WHY = lazy_regex(r"\b(?:why|what for|for what|reasons?|purpose)\b", re.IGNORECASE)
_WHO = lazy_regex(
    rf"\b(?:authors|contributors|committers|maintainers|who (?:{EVER} )?(?:works?|worked|contribut\w+"
    r"|maintain\w*|owns?|knows?)|top contributor|main author|who .{1,60}\bmost)\b",
    re.IGNORECASE,
)
_OF_COMMITS = lazy_regex(r"\bcommit|\bwho\b", re.IGNORECASE)
_WHY_WHICH = lazy_regex(
    r"^(?=.*\bwhy\b)(?=.*\bcommits?\b)"
    r"|^(?:since )?when did\b.*\b(?:begin|start|stop|become|learn|cease)\b"
    r"|[,;:.?!] (?:and )?(?:why (?:was|were|did)|who \w+ed (?:it|this|that))\b"
    r"|\b(?:which|what) commits? (?!(?:changed|touched)\b(?! (?:it|this|that)\b))\w+",
    re.IGNORECASE,
)
"""Of the commits of something, those are asked for that say something."""
_WHEN_TOO = lazy_regex(r"\bcommit\b|\bprs?\b|\bpull requests?\b|\bwhen\b", re.IGNORECASE)
"""The question asks for the commit as well as for the author."""
_WHICH_COMMIT = lazy_regex(
    r"\b(?:(?:which|what) (?:commit|change|pr|pull request|patch)s?"
    r"|(?:commit|change|pr|pull request|patch) (?:that|which))"
    r"(?: (?:first|originally|finally|then|has|have))? "
    rf"(?:{ADDED}|{MENDED}|made|caused?|let|allowed|enabled|disabled|improved|sped|(?:im)?proved|tells?|says?|said"
    r"|changed (?:that|this|it))\b",
    re.IGNORECASE,
)
"""A commit is asked for by what it did, whatever symbols its words may mean."""
_FILE_WORD = "(?:files?|modules?|folders?|director(?:y|ies)|packages?|crates?|sub-?projects?|scripts?)"
_PATH_SIGN = lazy_regex(r"\w/|/\w")
"""A slash of a path; one between blanks stands for `or`."""
_WORDS_OF_PLACE = lazy_regex(rf"{_FILE_WORD}|cop(?:y|ies)|versions?|things?|stuff|code|logic", re.IGNORECASE)
_NO_SUBJECTS = frozenset(
    """history commit commits committed changes change changed evolve evolved evolution function method class module
    file files code git log blame time over author authors authored wrote written added introduced created last
    first latest
    recent recently touched modified edited updated happened show list every everything all release version since until
    before after year month week day days project repo repository new old symbol line lines test tests docs
    documentation decade version branch tag fixed removed dropped deleted renamed moved broke reverted replaced
    deprecated bumped upgraded migrated switched
    flag flags option options switch switches""".split()  # noqa: SIM905
)
_CODE = (Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE, Label.DOC_SECTION)
_FILES = (Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE)


@dataclass(frozen=True, slots=True)
class HistorySubject:
    """What a question about commits is about."""

    path: str
    node: Node | None = None
    """The symbol; None for a file, a folder or a text."""
    text: str = ""
    """A name that stands in the file without being defined there."""
    line: int = 0
    """The line of the text."""
    flag: str = ""
    """The flag that the line declares."""
    is_part: bool = False
    """Whether it is a method of the type that a question is about, outside of the type's own lines."""

    @property
    def title(self) -> str:
        """The subject as answers name it."""
        if self.flag:
            return f"the line that declares `--{self.flag}` {self.path}:{self.line}"
        if self.node is None:
            return f"`{self.text}` in {self.path}:{self.line}" if self.text else self.path
        row = self.node.row
        return f"{row.kind} {row.qualified_name} {row.path}:{row.line or row.start_line}"

    @property
    def name(self) -> str:
        """Name of the symbol; "" for a file or folder."""
        return self.text if self.node is None else self.node.row.name

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line; zeros for the whole file."""
        return (self.line, self.line) if self.node is None else (self.node.row.start_line, self.node.row.end_line)


def _asks_both(text: str) -> bool:
    """Return whether a question asks who added something, and then when it was last changed."""
    first, _, second = text.partition(" and ")
    return _ADDED_FIRST.search(first) is not None and _LAST.search(second) is not None


async def answer_commits(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer which commits changed or added something, or are an author's; None for other questions."""
    text = query.text
    if not asks_for_commits(query) or reader.history is None or where.project not in ("", reader.project):
        return None
    relation = query.relation
    if relation is not None and relation.kind != Kind.CHANGES and is_about_history(relation.name):
        return None  # `callers of commit`
    if query.text.lower().startswith(("where ", "how many ", "how much ", "default ")):
        return None
    if query.states and _OF_HISTORY.search(text) is None:
        return None
    question = await with_times(reader.history, text)
    if asks_why_done(text) and _WHICH_COMMIT.search(text) is None:
        # `removed from the parser` names no revision
        asked = question if re.search(r"\bsince\b", text) else replace(question, old="")
        return await _about_words(reader, text, asked, where)
    subjects = await subjects_of(reader, query, where)
    is_known = query.relation is not None and query.relation.kind == Kind.CHANGES
    asks_one = is_known and _LAST.search(text) is not None and _SEVERAL.search(text) is None and not question.after
    asks_one = asks_one and not _asks_both(text)
    asks_which = _WHICH_COMMIT.search(text) is not None
    if (question.asks == ChangeAspect.TOGETHER and not asks_which) or (subjects and asks_one):
        return None
    try:
        is_topic = bool(subjects) and (asks_which or _is_plain(subjects, query))
        is_thing = _is_thing(subjects, query)
        is_topic = is_topic and not is_thing
        is_other = is_topic and not asks_which and await _lacks_words(reader, text, subjects[0], where)
        if is_topic and (found := await _of_topic(reader, text, question, where, is_alone=asks_which or is_other)):
            return found
        if is_topic and _is_plain(subjects, query) and (is_other or len(topic_words(text)) >= MANY_WORDS):
            return None  # the symbol of one word of a sentence is not what it is about
        if not subjects:
            return await _without_subject(reader, text, question, where)
        subjects = await _told_inside(reader, text, subjects, where)
        if len(subjects) == 1 and not _ADDS.search(text):
            subjects = [*subjects, *await _methods_outside(reader, subjects[0])]
        report = await _of_subject(reader, text, question, subjects, where, is_thing=is_thing)
        notes = _not_inside(query, subjects)
        if not (question.until or last_of(question) or _ADDS.search(text) or _WHO.search(text)):
            name = subjects[0].name if len(subjects) == 1 else ""
            notes = (*notes, *await uncommitted(reader, [each.path for each in subjects], name))
        return replace(report, notes=(*report.notes, *notes))
    except AtlasError as error:
        if query.paths and isinstance(error, NotFound):
            # `sources/generates` is no file; what became of one is said by the answer about changes
            return await _about_words(reader, text, question, where)
        return await answer_without_history(reader, query, where, error.message, error.hint)


async def answer_without_history(reader: Reader, query: Query, where: Filter, why: str, hint: str) -> LineReport:
    """Return why git cannot be asked, what to do, and the code of today that the question names as code does."""
    lines: list[TextLine] = []
    try:
        subjects = await subjects_of(reader, query, where)
        last = {name.rpartition(".")[2] for name in query.names}
        written = [each for each in subjects if is_code_shaped(each.name) or each.name.strip("`") in last]
        if not written:
            members = [await _named(reader, name.rpartition(".")[0], where) for name in query.names if "." in name]
            written = [each for own in members for each in own]
        lines = await lines_of_today(reader, query.text, [(each.path, *each.lines) for each in written])
    except AtlasError:
        pass  # the title says what is missing
    title = f"no git history can be asked: {why}"
    return LineReport("changes", title, tuple(lines), (hint,) if hint else (), outcome="no_history")


async def _told_inside(
    reader: Reader, text: str, subjects: list[HistorySubject], where: Filter
) -> list[HistorySubject]:
    """Return the line of the one symbol that a question tells something about, else what it names."""
    node = subjects[0].node if len(subjects) == 1 else None
    if node is None or not _ADDS.search(text) or not _TELLS.search(text):
        return subjects
    told = await find_told_line(reader, node.row, topic_words(text), where)
    return [HistorySubject(node.row.path, text=told[0], line=told[1])] if told is not None else subjects


async def _about_words(reader: Reader, text: str, question: ChangeQuestion, where: Filter) -> LineReport | None:
    try:
        return await _of_topic(reader, text, question, where, is_alone=True)
    except AtlasError:
        return None


async def _of_topic(
    reader: Reader, text: str, question: ChangeQuestion, where: Filter, *, is_alone: bool
) -> LineReport | None:
    if reader.history is None:
        return None
    authors = await named_authors(reader.history, text, required=True)
    if asks_reverted(text):
        span = CommitSpan(question.old, last_of(question), question.after, question.until)
        if found := await answer_reverted(reader.history, topic_words(text, authors), span):
            return found
    return await answer_topic(reader, text, question, where, authors, is_alone=is_alone)


async def _without_subject(reader: Reader, text: str, question: ChangeQuestion, where: Filter) -> LineReport | None:
    """Answer for the commits of an author, about a topic, or between two revisions; None where a question has none."""
    history = reader.history
    if history is None:
        return None
    if found := await _of_topic(reader, text, question, where, is_alone=True):
        return found
    if _WHO.search(text) and not re.search(r"\bby\b", text):
        return await all_authors(history)
    if found := await commits_of_authors(history, text, question):
        return found
    if not last_of(question) or not _OF_COMMITS.search(text):
        return None
    log = await history.log(
        MAX_COMMITS, since=question.old, last=last_of(question), after=question.after, until=question.until, paths=2
    )
    count = f"{len(log.commits)}{' or more' if log.more else ''}" if log.commits else "none"
    lines = tuple(commit_row(each) for each in log.commits)
    return LineReport("changes", f"commits{since_words(question)}: {count}", lines, log.notes, first=page(lines))


def _is_plain(subjects: Sequence[HistorySubject], query: Query) -> bool:
    """Return whether a subject may be an English word of the question: `pool` of `the race in the pool`.

    Also a file's name without a word for files, `worker` of `the eventlet worker`, an acronym, `HTTP`, and what a test
    calls so.
    """
    node, text = subjects[0].node, query.text
    if node is None and not query.paths and not subjects[0].text and not subjects[0].flag:
        return _PATH_SIGN.search(text) is None and re.search(rf"\b{_FILE_WORD}\b", text) is None
    if node is None or "_" in node.row.name:
        return False
    is_acronym = node.row.name.isupper() and len(node.row.name) <= MOST_OF_ACRONYM and node.row.label == Label.VALUE
    if not (node.row.name.islower() or is_acronym):
        return False
    name = re.escape(node.row.name)
    if node.row.is_test:
        return f"`{node.row.name}" not in text
    is_code = rf"`[^`]{{0,80}}{name}|\b{name}\(|[.:]{name}\b|\b{KIND_WORD} `?{name}\b|\b{name}`? {KIND_WORD}\b"
    return re.search(is_code, text) is None


def _is_thing(subjects: Sequence[HistorySubject], query: Query) -> bool:
    """Return whether the one file that a question writes is itself what was added, not the place of it."""
    if len(subjects) != 1 or len(query.paths) != 1 or subjects[0].node is not None or subjects[0].text:
        return False
    return _ADDS.search(query.text) is not None and is_file_added(query.text, query.paths[0])


async def _lacks_words(reader: Reader, text: str, subject: HistorySubject, where: Filter) -> bool:
    """Return whether the file of a subject lacks a word of what a question tells: it is about something else."""
    words = [word for word in topic_words(text) if not is_act(word) and word.isalnum() and word not in _NO_SUBJECTS]
    words = [
        word for word in words if word.isdecimal() or (len(word) >= MIN_TOLD and not _WORDS_OF_PLACE.fullmatch(word))
    ]
    held = (await reader.store.content(where.project or reader.project, [subject.path])).get(subject.path)
    said = held.decode("utf-8", "replace").lower() + subject.path.lower() if held is not None else ""
    return held is not None and any(root_of(word) not in said for word in words)


async def added_by(reader: Reader, query: Query, where: Filter, words: Sequence[str]) -> list[TextLine]:
    """Return the commit that added the lines of the one symbol or file that a question names; [] if unknown.

    A symbol that none of `words`, what the question is about, calls by its name is not meant: `when did we add x`.
    """
    subjects = await subjects_of(reader, query, where) if reader.history is not None else []
    if reader.history is None or len(subjects) != 1 or where.project not in ("", reader.project):
        return []
    node = subjects[0].node
    if node is not None and not any(node.row.name.lower() in word.lower() for word in words):
        return []
    try:
        found = await reader.history.line_log(
            subjects[0].path, *subjects[0].lines, name=subjects[0].name, limit=MAX_COMMITS
        )
    except AtlasError:
        return []
    if not found.is_whole or not found.commits:
        return []
    row = commit_row(found.commits[-1])
    return [TextLine("git", row.place, f"added {subjects[0].title}; {row.text}")]


async def subjects_of(reader: Reader, query: Query, where: Filter) -> list[HistorySubject]:
    """Return what the question names that the index has, the most certain kind of name first."""
    uid = query.relation.name if query.relation is not None and query.relation.kind == Kind.CHANGES else ""
    # a uid may hold the path of its file, which would be read as the file
    if "@" in uid and (own := [each for each in await reader.store.symbols([uid]) if each.row.path]):
        return [HistorySubject(node.row.path, node) for node in own]
    found = [HistorySubject(await _path_of(reader, path, where)) for path in query.paths]
    if len(found) == 1 and await _is_folder(reader, found[0].path, where):
        return await _of_folder(reader, query.text, found[0].path, where)
    if found:
        return await _inside(reader, query, found[0].path, where) or found
    if not query.names and (folder := await find_folder(reader, query.text, where.project or reader.project)):
        return await _of_folder(reader, query.text, folder, where)
    for flag in flag_names(query.text)[:1]:
        if (declared := await find_declaration(reader, flag, where)) is not None:
            path, line, spelled = declared
            return [HistorySubject(path, text=spelled, line=line, flag=flag)]
    written = [*re.findall(r"`([^`\s]+)`", query.text), *query.names]
    if (member := MEMBER_ADDED.search(query.text)) is not None:
        written = [f"{member['owner'].strip('`')}.{member['after'] or member['before']}", *written]
    if query.relation is not None and query.relation.kind == Kind.CHANGES and query.relation.name:
        written.append(query.relation.name)
    if (member := await _member(reader, query.names, where)) is not None:
        return [member]
    for name in written:
        if nodes := await _named(reader, name, where):
            if all(each.node is not None and each.node.row.is_test for each in nodes):
                # a test defines something of a name that the code only writes: an option, a key
                nodes = await _in_texts(reader, [name], where) or nodes
            return nodes
    words = [word.strip("`'\".,?!:;()") for word in query.text.split()]
    for word in reversed(words):
        lowered = word.lower()
        if len(word) > 2 and lowered not in _NO_SUBJECTS and lowered not in STOP_WORDS:
            nodes = await _named(reader, word, where)
            if nodes and (len(nodes) == 1 or not word.islower()):
                return nodes
    return await _in_texts(reader, written[:1], where) if _ADDS.search(query.text) else []


async def _is_folder(reader: Reader, path: str, where: Filter) -> bool:
    paths = await reader.store.paths(where.project or reader.project)
    return any(each.startswith(f"{path}/") for each in paths)


async def _of_folder(reader: Reader, text: str, folder: str, where: Filter) -> list[HistorySubject]:
    """Return the folder of a question, or what its words name there; nothing where they tell something else of it.

    `The nanoid copy in lib/util` is a file there: the commit that added the folder says nothing about it.
    """
    own = set(re.split(r"\W+", folder.lower()))
    words = [word.strip("`'\".,?!:;()").lower() for word in text.split()]
    words = [
        word
        for word in dict.fromkeys(words)
        if word not in _NO_SUBJECTS | STOP_WORDS and not is_act(word) and not own.issuperset(re.split(r"\W+", word))
    ]
    paths = [
        path for path in await reader.store.paths(where.project or reader.project) if path.startswith(f"{folder}/")
    ]
    parts = {path: set(re.split(r"[-_.]", path.rpartition("/")[2].rpartition(".")[0].lower())) for path in paths}
    named = [path for path in paths if parts[path] <= set(words)]
    most = max((len(parts[path]) for path in named), default=0)
    named = [path for path in named if len(parts[path]) == most]
    if len(named) == 1:
        return [HistorySubject(named[0])]
    for word in words:
        symbols = [each for each in await _named(reader, word, where) if each.path in parts]
        if len(symbols) == 1 and symbols[0].node is not None:
            return symbols
    tells = [word for word in topic_words(text) if word in words and _WORDS_OF_PLACE.fullmatch(word) is None]
    return [] if tells and _ADDS.search(text) and not _asks_both(text) else [HistorySubject(folder)]


def _not_inside(query: Query, subjects: Sequence[HistorySubject]) -> tuple[str, ...]:
    """Return that a name which a question writes beside a file does not stand in it, so that the file is answered."""
    subject = subjects[0]
    if not query.paths or subject.node is not None or subject.text:
        return ()
    names = [name for name in query.names if name not in query.paths and name not in subject.path]
    return tuple(f"`{name}` does not occur in {subject.path}: this is about the file" for name in names[:1])


async def _member(reader: Reader, names: Sequence[str], where: Filter) -> HistorySubject | None:
    """Return the member or text of a class where a question names both: `the follow_symlink option of StaticFiles`."""
    if not 2 <= len(names) <= MOST_NAMES:
        return None
    for owner in names:
        classes = [
            each for each in await _named(reader, owner, where) if each.node and each.node.row.label == Label.CLASS
        ]
        if len(classes) != 1 or (node := classes[0].node) is None:
            continue
        for name in names:
            if name == owner or "." in name:
                continue
            held = await _named(reader, f"{node.row.qualified_name}.{name}", where)
            if held:
                return held[0]
            found = await _in_lines(reader, name, classes[0], where)
            if found is not None:
                return found
    return None


async def _in_lines(reader: Reader, name: str, owner: HistorySubject, where: Filter) -> HistorySubject | None:
    """Return the first line of a class that has a name as a whole word."""
    project = where.project or reader.project
    text = (await reader.store.content(project, [owner.path])).get(owner.path, b"").decode("utf-8", "replace")
    word = re.compile(rf"(?<![\w]){re.escape(name)}(?!\w)")
    first, last = owner.lines
    for number, line in enumerate(text.splitlines()[first - 1 : last], first):
        if word.search(line):
            return HistorySubject(owner.path, text=name, line=number)
    return None


async def _methods_outside(reader: Reader, subject: HistorySubject) -> list[HistorySubject]:
    """Return the methods of a type that stand outside of its lines, as in Go: their commits are commits of the type."""
    node = subject.node
    if node is None or node.row.label != Label.CLASS:
        return []
    edges = await reader.store.edges([node.row.uid], Direction.OUT, (EdgeType.DEFINES_METHOD,), MAX_COMMITS)
    first, last = subject.lines
    methods = [
        edge.node
        for edge in edges
        if edge.node.row.path and (edge.node.row.path != subject.path or not first <= edge.node.row.start_line <= last)
    ]
    return [HistorySubject(each.row.path, each, is_part=True) for each in methods[:MOST_METHODS]]


async def _inside(reader: Reader, query: Query, path: str, where: Filter) -> list[HistorySubject]:
    """Return the one name that a question writes beside a path, where the file has it."""
    names = [name for name in query.names if name not in query.paths and name not in path]
    for name in names[:1]:
        nodes = [each for each in await _named(reader, name, where) if each.path == path]
        if nodes:
            return nodes
        text = (
            (await reader.store.content(where.project or reader.project, [path]))
            .get(path, b"")
            .decode("utf-8", "replace")
        )
        word = re.compile(rf"(?<![\w]){re.escape(name)}(?!\w)")
        lines = [number for number, line in enumerate(text.splitlines(), 1) if word.search(line)]
        if lines:
            return [HistorySubject(path, text=name, line=lines[0])]
    return []


async def _in_texts(reader: Reader, names: Sequence[str], where: Filter) -> list[HistorySubject]:
    """Return the first line of product code that has a name as a whole word, in the file that has it most often."""
    for name in names:
        pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?!\w)")
        scan = await scan_texts(reader, where, pattern, (name.encode(),), lambda path: not is_document(path))
        found = [each for each in scan.found if not each.file.is_test]
        declarations = reader.languages.declarations
        found = [each for each in found if not each.file.path.endswith(declarations)] or found
        if found:
            counts = Counter(each.file.path for each in found)
            first = max(found, key=lambda each: (counts[each.file.path], -each.line))
            return [HistorySubject(first.file.path, text=name, line=first.line)]
    return []


async def _path_of(reader: Reader, written: str, where: Filter) -> str:
    files = await find_files(reader, written, Filter(project=where.project))
    return files[0][0].row.path if files else relative(reader, written).rstrip("/")


async def _named(reader: Reader, name: str, where: Filter) -> list[HistorySubject]:
    nodes = await reader.store.find(dotted(name), Match.SUFFIX, Filter(project=where.project), 50)
    if not nodes:  # a keyword as a name: `Validator.in` is written with backticks
        owner, dot, last = dotted(name).rpartition(".")
        nodes = await reader.store.find(f"{owner}{dot}`{last}`", Match.SUFFIX, Filter(project=where.project), 50)
    if not nodes and "." in dotted(name):
        nodes = (await resolve(reader, dotted(name), Filter(project=where.project))).nodes  # inherited
    inside = [node for node in nodes if node.row.path]
    code = [node for node in inside if node.row.label in _CODE and node.row.label != Label.DOC_SECTION]
    declarations = reader.languages.declarations
    kept = [node for node in code if not node.row.is_test and not is_aside(node.row.path)] or code
    outside = [node for node in kept if not node.row.path.endswith(declarations)]
    if kept and not outside and (texts := await _in_texts(reader, [name], where)):
        return texts  # types are often declared later than what they describe
    kept = outside or kept
    kept = [node for node in kept if node.row.label != Label.VALUE] or kept
    classes = {node.row.qualified_name for node in kept if node.row.label == Label.CLASS}
    kept = [node for node in kept if node.row.qualified_name.rpartition(".")[0] not in classes]  # no constructors
    if not kept:
        files = [node for node in inside if node.row.label in _FILES]
        return [HistorySubject(files[0].row.path)] if files else []
    return [HistorySubject(node.row.path, node) for node in kept[:3]]


async def _of_subject(
    reader: Reader,
    text: str,
    question: ChangeQuestion,
    subjects: Sequence[HistorySubject],
    where: Filter,
    *,
    is_thing: bool,
) -> LineReport:
    history = reader.history
    assert history is not None
    commits: list[Commit] = []
    notes: list[str] = []
    is_added = bool(_asks_both(text) or (_ADDS.search(text) and not _LAST.search(text)))
    is_whole = True
    added: list[TextLine] = []
    for subject in subjects:
        found, whole, said = await _commits(history, subject, question, subject.name if is_added else "")
        if is_added and subject.text and not subject.flag:
            found = [*found, *await _first_of_text(history, subject, found)]
        commits += found
        is_whole &= whole
        notes += said
        if is_added and found:
            added.append(_added_by(subject, found[-1], is_whole=whole))
    commits = sorted({each.id: each for each in commits}.values(), key=lambda each: -each.time)
    title, parts = _titled(subjects)
    names = await named_authors(history, text, required=False)
    if names:
        commits = [each for each in commits if each.author in names]
        title += f" by {', '.join(sorted(names))}"
    if _WHO.search(text) and not _WHEN_TOO.search(text):
        return authors_of(title, commits, notes)
    every = len(commits)
    named = (title, *(each.name for each in subjects))
    is_told = _WHY_WHICH.search(text) is not None and not (added and is_thing)
    if is_told and (words := words_in(text, named)):
        tells = words_in(text, named, least=2)
        if told := await answer_told(reader, text, tells, question, where, {each.id for each in commits}):
            return told
        about, said = with_words(commits, words)
        if about and len(about) < every:
            commits, added = about, []
            has = " and ".join(f'"{word}"' for word in said)
            title = f"{title} whose message has {has}, of {every}"
            is_whole = False
    if added and commits and len(subjects) == 1:
        lines = tuple(commit_row(each) for each in commits)
        kept = (*lines[-1:], *lines[:2]) if len(lines) > 3 else lines
        kept += await _reason(history, commits[-1]) if _ASKS_WHY.search(text) else ()
        return LineReport("changes", f"{title} {added[0].text}", kept, tuple(notes))
    notes = list(dict.fromkeys(notes))
    if added and not subjects[0].is_part:
        return _of_each(subjects[0].name, added, notes)
    since = since_words(question)
    what = "commits that changed the lines of" if subjects[0].node is not None else "commits of"
    whole = ", the last one listed added it" if is_whole and commits and not since and not parts else ""
    lines = tuple(commit_row(each) for each in commits)
    said = f"{what} {title}{since}: {len(commits) or 'none'}{whole}"
    return LineReport("changes", said, lines, tuple(notes), first=page(lines))


def _titled(subjects: Sequence[HistorySubject]) -> tuple[str, int]:
    """Return what a list of commits is about, and how many methods of it stand outside."""
    parts = sum(subject.is_part for subject in subjects)
    title = " and ".join(subject.title for subject in subjects if not subject.is_part)
    return f"{title} and of {counted(parts, 'method')} outside of them" if parts else title, parts


def _of_each(name: str, added: list[TextLine], notes: Sequence[str]) -> LineReport:
    """Return who added each of several symbols of a name, the oldest first."""
    added.sort(key=lambda each: each.text.partition(": ")[2])
    said = f"{len(added)} symbols are called `{name}`, the oldest {added[0].text}"
    return LineReport("changes", said, tuple(added), tuple(notes))


async def _reason(history: History, commit: Commit) -> tuple[TextLine, ...]:
    said = await history.messages([commit.id])
    return tuple(TextLine("messages", key[:10], " ".join(said[key].split())[:MOST_REASONS]) for key in said)


async def _first_of_text(history: History, subject: HistorySubject, found: Sequence[Commit]) -> list[Commit]:
    """Return the commit that brought a text into its file, where it is older than its present line."""
    changes = await history.name_changes(subject.text, subject.path)
    added = [each.commit for each in changes.changes if each.is_added]
    first = min(added, key=lambda each: each.time, default=None)
    is_older = first is not None and all(first.time < each.time for each in found)
    return [first] if first is not None and is_older else []


def _added_by(subject: HistorySubject, first: Commit, *, is_whole: bool) -> TextLine:
    added = "was added" if is_whole else "is at least as old as"
    said = f"{added}: {day_of(first)} {first.id[:10]} {first.author}: {first.subject}"
    return TextLine("added", subject.title, said)


async def _commits(
    history: History, subject: HistorySubject, question: ChangeQuestion, name: str
) -> tuple[list[Commit], bool, list[str]]:
    try:
        found = await history.line_log(subject.path, *subject.lines, name=name, limit=MAX_COMMITS)
    except NotFound:
        # a folder, or a file that HEAD no longer has
        log = await history.log(
            MAX_COMMITS,
            since=question.old,
            last=last_of(question),
            after=question.after,
            until=question.until,
            paths=0,
            path=subject.path,
        )
        if not log.commits and not (question.old or question.after or question.until):
            raise
        return list(log.commits), False, list(log.notes)
    commits = [
        each
        for each in found.commits
        if each.time >= question.after and (not question.until or each.time <= question.until)
    ]
    if question.old or last_of(question):
        log = await history.log(MAX_COMMITS, since=question.old, last=last_of(question), paths=0)
        ids = {each.id for each in log.commits}
        commits = [each for each in commits if each.id in ids]
    is_ended = bool(question.after and found.commits and found.commits[-1].time < question.after)
    return commits, found.is_whole, [] if is_ended else list(found.notes)
