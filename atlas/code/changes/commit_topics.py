"""What a question about commits limits them to, beside a symbol: two revisions, a folder, words of their messages.

`between v1.2 and v1.4` is a range, `in the examples folder` a folder of the index, `who fixed the YAML anchors` a topic
that no symbol has. Reads the index and the version history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations

from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import NotFound
from atlas.core.history import Commit, History, Log

MAX_TOPIC_COMMITS = 50
MOST_TOPIC_WORDS = 5
"""Words of a topic; a longer text has words that no message repeats."""
MIN_WORD = 3
"""Letters of a topic of one word."""
SHORT = 4
"""Letters of words that others begin with: `ech`, `echo`."""
MOST_LACKING = 2
"""Words of a topic that a message may lack."""
MOST_OF_ONE_WORD = 30
"""Commits of a word alone that it may still tell apart."""
MANY = 4
"""Commits of which those that say what was done are asked for."""
_REVISION = r"[`'\"]?(?P<{0}>[\w][\w./+-]{{0,80}}?)[`'\"]?"
_RANGE = re.compile(
    rf"\b(?:between|from) (?:the )?(?:tags?|versions?|releases?|commits?|revisions?)?\s?{_REVISION.format('old')}"
    rf" (?:and|to|until|through|up to) (?:the )?(?:tag|version|release|commit|revision)?\s?{_REVISION.format('new')}"
    r"(?=$|[\s,?!;:)]|\.(?:\s|$))",
    re.IGNORECASE,
)
_DOTS = re.compile(r"(?<![\w./])(?P<old>[\w][\w/+-]*(?:\.[\w/+-]+)*)\.\.\.?(?P<new>[\w][\w/+-]*(?:\.[\w/+-]+)*)")
_LIKE_REVISION = re.compile(r"\d|^(?:main|master|head|develop|trunk|dev)\b", re.IGNORECASE)
_FOLDER = re.compile(
    r"(?:`(?P<quoted>[^`\s]+)`|(?P<plain>[\w./@-]+))"
    r" (?:folder|directory|dir|module|package|sub-?project|crate|workspace)\b",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"^(?:who|when|which (?:commit|release|version|pr)|what commit|by whom|since when|find the commit|commits?)\b"
    r"|\b(?:which|what) commits?\b",
    re.IGNORECASE,
)
"""A topic is asked for with who, when or which commit."""
_ACTS = (
    r"(?:fix|add|introduc|implement|remov|dropp?|delet|renam|mov|chang|updat|upgrad|bump|switch|migrat|replac|rewr"
    r"|refactor|improv|support|enabl|disabl|deprecat|revert|broke|break|start|stopp?|land|merg|mak|made|wrote|creat|bring|brought|put)\w*"
)
_ACT = re.compile(rf"\b{_ACTS}\b", re.IGNORECASE)
_MENDED = re.compile(r"\b(?:fix|dropp?|remov|revert|broke)\w*", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:add|introduc|implement|creat|wrote|start|land)\w*", re.IGNORECASE)
_NO_TOPIC = frozenset(
    """
    who when which what commit commits commit's release version pr pull request git history log blame message messages
    author authors wrote written made make whom since first last latest originally initially ever was were did has have
    been is are be bug issue problem code project repo repository here please show list find tell us me get got somebody
    someone anyone support change changes changed thing way
    """.split()  # noqa: SIM905
)


def read_range(text: str) -> tuple[str, str]:
    """Return the revisions between which commits are asked for: `between v1.2 and v1.4`; ("", "") for none."""
    for match in (_RANGE.search(text), _DOTS.search(text)):
        if match is not None and all(_LIKE_REVISION.search(match[end]) for end in ("old", "new")):
            return match["old"], match["new"]
    return "", ""


async def find_folder(reader: Reader, text: str, project: str) -> str:
    """Return the folder of the index that a text names; "" for none.

    A word beside `folder` or `module`, or one with a hyphen or slash, as identifiers do not have.
    """
    named = [match["quoted"] or match["plain"] for match in _FOLDER.finditer(text)]
    words = [word.strip("`'\".,?!:;()") for word in text.split()]
    named += [word for word in words if re.fullmatch(r"[\w.@]+(?:[/-][\w.@]+)+/?|[\w.@-]+/", word)]
    if not named:
        return ""
    paths = await reader.store.paths(project)
    for name in (each.strip("/") for each in named):
        inner = f"/{name}/".lower()
        held = {path[: f"/{path}".lower().index(inner) + len(name)] for path in paths if inner in f"/{path}".lower()}
        if held:
            return min(held, key=lambda path: (path.count("/"), path))
    return ""


def topic_of(text: str, rest: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words that the message of a commit has to have; () for a text that asks for no topic.

    `rest`: words of the text that say something else, such as an author.
    """
    if _MADE.search(text) is None or _ACT.search(text) is None:
        return ()
    said = {each.lower() for each in rest}
    words = [word.strip("`'\".,?!:;()").lower() for word in text.split()]
    kept = [word for word in words if len(word) > 1 and word not in said and not _is_empty(word)]
    return tuple(dict.fromkeys(kept)) if 0 < len(kept) <= MOST_TOPIC_WORDS else ()


def _is_empty(word: str) -> bool:
    return word in _NO_TOPIC or word in STOP_WORDS or _ACT.fullmatch(word) is not None


def asks_first(text: str) -> bool:
    """Return whether a topic is asked for when it came in, so that its oldest commit answers."""
    return _FIRST.search(text) is not None


async def commits_about(history: History, words: tuple[str, ...], since: str, last: str, after: int, until: int) -> Log:
    """Return the commits whose subject has each of the words, newest first; without any where the words say too little.

    A word counts in its other forms, too: `anchors` in `anchor`; a short one only as it is.
    """
    if len(words) == 1 and len(words[0]) < MIN_WORD:
        return Log(())
    roots = [root_of(word) if word.isalpha() else word for word in words]
    try:
        log = await history.log(
            MAX_TOPIC_COMMITS, since=since, last=last, after=after, until=until, paths=2, words=roots
        )
    except NotFound:
        return Log(())
    whole = [re.compile(rf"(?<![^\W_]){re.escape(word)}s?(?![^\W_])") for word in words if len(word) <= SHORT]
    kept = tuple(each for each in log.commits if all(word.search(each.subject.lower()) for word in whole))
    return Log(kept, log.notes, log.more)


async def commits_nearly_about(
    history: History, words: tuple[str, ...], since: str, last: str, after: int, until: int
) -> tuple[Log, tuple[str, ...]]:
    """Return the commits that have most of the words, and the words that they lack.

    The fewer commits have some of the words, the more those words say; one common word says nothing.
    """
    for lacking in range(1, min(len(words), MOST_LACKING + 1)):
        found: list[tuple[int, int, Log, tuple[str, ...]]] = []
        for number, kept in enumerate(combinations(words, len(words) - lacking)):
            log = await commits_about(history, kept, since, last, after, until)
            if log.commits and (len(kept) > 1 or len(log.commits) <= MOST_OF_ONE_WORD):
                found.append((len(log.commits), number, log, tuple(word for word in words if word not in kept)))
        if found:
            _, _, log, missing = min(found, key=lambda each: each[:2])
            return log, missing
    return Log(()), ()


def words_in(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a question about the commits of something, besides those that name it."""
    named = {part for name in names for part in (name.lower(), *re.split(r"\W+", name.lower()))}
    words = [word.strip("`'\".,?!:;()").lower() for word in text.split()]
    kept = [word for word in words if len(word) > MIN_WORD and word not in named and not _is_empty(word)]
    return tuple(dict.fromkeys(word for word in kept if not named & set(re.split(r"\W+", word))))


def with_words(commits: Sequence[Commit], words: Sequence[str]) -> tuple[list[Commit], tuple[str, ...]]:
    """Return the commits whose subject has most of some words, and those words; nothing where none has any."""
    patterns = {word: re.compile(rf"(?<![^\W_]){re.escape(root_of(word))}") for word in words}
    has = {each.id: {word for word in words if patterns[word].search(each.subject.lower())} for each in commits}
    most = max(map(len, has.values()), default=0)
    kept = [each for each in commits if len(has[each.id]) == most] if most else []
    return kept, tuple(word for word in words if any(word in has[each.id] for each in kept))


def is_mended(text: str) -> bool:
    """Return whether a topic was fixed or dropped: `which commit fixed the race` is about no symbol `race`."""
    return _MENDED.search(text) is not None


def narrowed(text: str, log: Log) -> tuple[Log, str]:
    """Return those of many commits whose subject says what was done, with the word: `who moved the docker code`."""
    act = _ACT.search(text)
    if act is None or len(log.commits) < MANY:
        return log, ""
    root = root_of(act[0].lower())
    kept = tuple(each for each in log.commits if re.search(rf"\b{re.escape(root)}", each.subject.lower()))
    return (Log(kept, log.notes, log.more), act[0]) if kept else (log, "")
