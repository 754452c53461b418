"""What a question about commits limits them to, beside a symbol: two revisions, a folder, words of their messages.

`between v1.2 and v1.4` is a range, `in the examples folder` a folder of the index, `who fixed the YAML anchors` a topic
that no symbol has. Reads the index and the version history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import NotFound
from atlas.core.history import Commit, CommitSpan, History, Log
from atlas.core.lazy_regex import lazy_regex

MAX_TOPIC_COMMITS = 50
MOST_TOPIC_WORDS = 9
"""Words of a topic; a longer text has words that no message repeats."""
MIN_WORD = 3
"""Letters of a topic of one word."""
SHORT = 4
"""Letters of words that others begin with: `ech`, `echo`."""
MANY = 4
"""Commits of which those that say what was done are asked for."""
_REVISION = r"[`'\"]?(?P<{0}>[\w][\w./+-]{{0,80}}?)[`'\"]?"
_RANGE = lazy_regex(
    rf"\b(?:between|from) (?:the )?(?:tags?|versions?|releases?|commits?|revisions?)?\s?{_REVISION.format('old')}"
    rf" (?:and|to|until|through|up to) (?:the )?(?:tag|version|release|commit|revision)?\s?{_REVISION.format('new')}"
    r"(?=$|[\s,?!;:)]|\.(?:\s|$))",
    re.IGNORECASE,
)
_DOTS = lazy_regex(r"(?<![\w./])(?P<old>[\w][\w/+-]*(?:\.[\w/+-]+)*)\.\.\.?(?P<new>[\w][\w/+-]*(?:\.[\w/+-]+)*)")
_LIKE_REVISION = lazy_regex(r"\d|^(?:main|master|head|develop|trunk|dev)\b", re.IGNORECASE)
_PLAIN_NUMBER = lazy_regex(r"(?!(?:19|20)\d\d$)\d{1,6}")
_FOLDER = lazy_regex(
    r"(?:`(?P<quoted>[^`\s]+)`|(?P<plain>[\w./@-]+))"
    r" (?:folder|directory|dir|module|package|sub-?project|crate|workspace)\b",
    re.IGNORECASE,
)
_WAS_THERE = (
    r"\b(?:was|were|has|have) there (?:ever |been )*(?:an? |any |some )?(?:[\w-]+ )?"
    r"(?:fix(?:es)?|commits?|patch(?:es)?|prs?|pull requests?)\b"
)
_MADE = lazy_regex(
    r"^(?:why (?:was|were|did|has|have)|who|when|how did|which (?:commit|release|version|pr)|what commit|by whom"
    r"|since when|find the commit"
    r"|commits?)\b"
    r"|^(?!.*\b(?:dependenc(?:y|ies)|deps)\b).{1,200}[,;:.?!)] (?:and )?"
    r"(?:who|when|by whom|in (?:which|what)|why (?:was|were|did))\b"
    r"|\b(?:which|what) (?:commit|change|release|version|pr|pull request|patch)s?\b"
    r"|[.;:!] (?:please )?find (?:me )?the (?:commit|change|pr|pull request)\b"
    rf"|{_WAS_THERE}",
    re.IGNORECASE,
)
"""A topic is asked for with who, when or which commit, or whether there was a fix."""
_AND_FILES = lazy_regex(
    r"(?:[,;.?!+&]| and| with| plus) ?(?:(?:in )?which |the |its |all )*(?:touched |changed |affected )?files?"
    r"(?: (?:(?:it|that|did it|were|was) )?(?:touch|chang|affect)\w*)?(?=[ ?.!]*$)",
    re.IGNORECASE,
)
"""What a question for commits asks for beside them, which their lines say."""
_ASIDE = lazy_regex(
    r"\b(?:used to|at some (?:point|time)(?: (?:in|of|during) (?:its|the|their) \w+)?"
    r"|(?:give|show|name|tell)(?: me)? the (?:commits?|prs?|pull requests?)\b.{0,40}$)",
    re.IGNORECASE,
)
"""Says when it was or what an answer has to show, not what was changed."""
_WHEN_DONE = lazy_regex(
    r"\b(?:when|since when) (?:was|were|did|do|does|has|have|is|are)\b|\b(?:which|what) commits?\b"
    r"|[,;:.?!] (?:and )?why (?:was|were|did)\b"
    rf"|{_WAS_THERE}",
    re.IGNORECASE,
)
"""Asks for a change, whatever was done: `since when is the path checked`."""
_ACTS = (
    r"(?:fix|correct|repair|mend|resolv|silenc|add(?!ress)|introduc|implement|remov|dropp?|delet|renam|mov|chang|updat|upgrad|bump|switch|migrat|replac|rewr"
    r"|refactor|improv|support|enabl|disabl|deprecat|revert|broke|break|start|stopp?|land|merg|mak|made|wrote|creat|bring|brought|put|rework"
    r"|kill|ditch|kick|throw|scrap|com(?:e|ing) about)\w*"
)
_ACT = lazy_regex(rf"\b{_ACTS}\b", re.IGNORECASE)
_MENDED = lazy_regex(
    r"\b(?:fix|correct|repair|mend|resolv|dropp?|remov|revert|broke|kill|ditch|kick|throw|scrap)\w*", re.IGNORECASE
)
_FLAG_SAID = lazy_regex(
    r"(?<![\w-])--(?P<dashed>[a-z][\w-]{1,40})(?<!-)|(?<![\w-])(?P<plain>[a-z][a-z0-9-]{1,40})[`'\"]? "
    r"(?:command[- ]line |cli )?(?:flag|switch|option)\b",
    re.IGNORECASE,
)
MAX_FLAG_COMMITS = 200
_ENDS = lazy_regex(
    r"\b(?:stop\w*|ceas\w*|no longer|instead of|used to|once|formerly|away from|los[et]|gone|got rid|any ?more"
    r"|remov\w+|dropp?\w*|delet\w+|ditch\w*)\b",
    re.IGNORECASE,
)
_FIRST = lazy_regex(r"\b(?:add|introduc|implement|creat|wrote|start|land)\w*", re.IGNORECASE)
_SAID = {
    "added": lazy_regex(r"\b(?:add|introduc|implement|support|allow|new|creat|provid|initial)", re.IGNORECASE),
    "removed": lazy_regex(r"\b(?:remov|drop|delet|rip|get rid|kill|ditch|kick|thr[eo]w|scrap)", re.IGNORECASE),
    "deprecated": lazy_regex(r"\bdeprecat", re.IGNORECASE),
    "renamed": lazy_regex(r"\brenam", re.IGNORECASE),
    "fixed": lazy_regex(r"\b(?:fix|correct|repair|mend|resolv|prevent|avoid)", re.IGNORECASE),
}
"""How subjects of commits say what was done."""
_MENDS = lazy_regex(r"\W{0,4}(?:bug ?)?fix(?:es|ed)?\b", re.IGNORECASE)
_NO_TOPIC = frozenset(
    """
    who when which what commit commits commit's release version pr pull request git history log blame message messages
    author authors wrote written made make whom since first last latest originally initially ever was were did has have
    been is are be bug issue problem code project repo repository here please show list find tell us me get got somebody
    someone anyone support change changes changed thing way come about give later earlier against used went out without
    wrong right gone after before between reason why become became becoming straight away again finally still anymore
    longer any one ones no not off begin began begun only that's ever else same other ship shipped into onto over
    long around possibility possible possibly ability able capability
    because being find stated motivation afterwards formerly previously cause causes caused instead now whose
    so then much many more most up down having this these those there later back once it
    """.split()  # noqa: SIM905
)


_PARTICLE = lazy_regex(r"\b(?:up|down|out|off|in|on|back|over|through|away|around)\b", re.IGNORECASE)
MOST_BETWEEN = 9
"""Words from a verb to its particle: `shut an smtp transport or its pool down`."""


def joined_verbs(text: str) -> tuple[str, ...]:
    """Return the words that verbs of a text may be with their particles, as messages write them: `shutdown`.

    Which of the words before a particle is its verb is not read: a word that no message has says nothing.
    """
    found: dict[str, None] = {}
    for match in _PARTICLE.finditer(text):
        before = re.split(r"[.?!;]", text[: match.start()])[-1].lower()
        words = re.findall(r"[a-z]{3,}", before)[-MOST_BETWEEN:]
        found |= {f"{word}{match[0].lower()}": None for word in words if not _is_empty(word, acts=True)}
    return tuple(found)


def read_range(text: str) -> tuple[str, str]:
    """Return the revisions between which commits are asked for: `between v1.2 and v1.4`; ("", "") for none."""
    for match in (_RANGE.search(text), _DOTS.search(text)):
        if match is not None and all(_is_revision(match[end]) for end in ("old", "new")):
            return match["old"], match["new"]
    return "", ""


def _is_revision(word: str) -> bool:
    """Return whether a word may be a revision or a year: `from 0777 to 0700` are values."""
    return _LIKE_REVISION.search(word) is not None and _PLAIN_NUMBER.fullmatch(word) is None


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
    kept = tuple(word for word in topic_words(text, rest) if not is_act(word))
    return kept if len(kept) <= MOST_TOPIC_WORDS else ()


_TWO_NAMES = lazy_regex(r"(?<![\w./])([A-Z]\w+)/([A-Z]\w+)(?![\w./])")
"""`DateOnly/TimeOnly` are two names, not a path."""


_WHY_TOO = lazy_regex(r"^((?:since )?when)(?:,? and why\b,?)", re.IGNORECASE)
"""`Since when, and why, is X accepted`."""


def topic_words(text: str, rest: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words of a text that tell a topic and what was done; () for a text that asks for none."""
    text = _WHY_TOO.sub(r"\1", text)
    if _MADE.search(text) is None or (_ACT.search(text) is None and _WHEN_DONE.search(text) is None):
        return ()
    said = {each.lower() for each in rest}
    text = _TWO_NAMES.sub(r"\1 \2", _AND_FILES.sub("", _ASIDE.sub("", text)))
    words = [word.strip("`'\".,?!:;()").lower() for word in text.split()]
    kept = [word for word in words if word not in said and not _is_empty(word, acts=True)]
    return tuple(dict.fromkeys(kept)) if any(not is_act(word) for word in kept) else ()


def is_act(word: str) -> bool:
    """Return whether a word says that something was done, of which messages have many."""
    return _ACT.fullmatch(word) is not None


def begins_with_act(subject: str, text: str) -> bool:
    """Return whether the subject of a commit begins with what a text asks for: `Deprecate the filter`."""
    kinds = [kind for kind, said in _SAID.items() if said.search(text)]
    words = re.sub(r"^\W*(?:\w+(?:\([^)]*\))?: *|\[[^\]]*\] *)?", "", subject[:200])
    return any(_SAID[kind].match(words) for kind in kinds)


def says_asked_act(subject: str, text: str) -> bool:
    """Return whether the subject of a commit says that what a text asks for was done, in any word for it."""
    kinds = [kind for kind, said in _SAID.items() if said.search(text)]
    return any(_SAID[kind].search(subject) for kind in kinds)


def _is_empty(word: str, *, acts: bool = False) -> bool:
    is_short = len(word) < 2 and not word.isdecimal()  # the 7 of `Java 7` says which
    return is_short or word in _NO_TOPIC or word in STOP_WORDS or (not acts and is_act(word))


_DOCUMENTED = lazy_regex(r"^(?:add\w*|updat\w*|improv\w*)\b.{0,40}\bdoc(?:s|umentation)\b|^docs?\b", re.IGNORECASE)


def is_other_act(text: str, part: str, said: str) -> bool:
    """Return whether a line of a changelog or a message only mends what a text asks who added, or describes it.

    `part`: the part of the changelog that the line stands under, "" for a message.
    """
    asked = {kind for kind, words in _SAID.items() if words.search(text)}
    if is_mended(text) and _DOCUMENTED.search(said) and not _DOCUMENTED.search(text) and not _MENDS.search(said):
        return True
    if asked != {"added"} or is_mended(text):
        return False
    return bool(_MENDS.search(part)) or (_MENDS.match(said) is not None and not _SAID["added"].search(said))


def asks_first(text: str) -> bool:
    """Return whether a topic is asked for when it came in, so that its oldest commit answers."""
    return _FIRST.search(text) is not None


async def commits_about(history: History, words: tuple[str, ...], since: str, last: str, after: int, until: int) -> Log:
    """Return the commits whose subject has each of the words, newest first; without any where the words say too little.

    A word counts in its other forms, too: `anchors` in `anchor`; a short one only as it is.
    """
    if len(words) == 1 and len(words[0]) < MIN_WORD:
        return Log(())
    roots = [root_of_word(word) for word in words]
    try:
        log = await history.log(
            MAX_TOPIC_COMMITS, since=since, last=last, after=after, until=until, paths=2, words=roots
        )
    except NotFound:
        return Log(())
    said = [_begins(word) for word in words]
    kept = tuple(each for each in log.commits if all(word.search(each.subject.lower()) for word in said))
    return Log(kept, log.notes, log.more)


def root_of_word(word: str) -> str:
    """Return the beginning of a word that its other forms share."""
    return root_of(word) if word.isalpha() else word


def _begins(word: str) -> re.Pattern[str]:
    """Return what finds a word in a message: in its other forms, too, but a short one only as it is."""
    end = r"s?(?![^\W_])" if len(word) <= SHORT else ""
    return re.compile(rf"(?<![^\W_]){re.escape(word if end else root_of_word(word))}{end}")


def words_in(text: str, names: Iterable[str], least: int = MIN_WORD + 1) -> tuple[str, ...]:
    """Return the words of a question about the commits of something, besides those that name it, of some letters."""
    named = {part for name in names for part in (name.lower(), *re.split(r"\W+", name.lower()))}
    words = [word.strip("`'\".,?!:;()").lower() for word in _ASIDE.sub("", text).split()]
    kept = [word for word in words if len(word) >= least and word not in named and not _is_empty(word)]
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


async def commits_of_flag(history: History, text: str, span: CommitSpan) -> tuple[str, Log]:
    """Return the flag that a text names, and the commits whose first line writes it so; "" without any.

    `The compression flag` is `--compression`: a message about `--compress-zip` has its root only.
    """
    for match in _FLAG_SAID.finditer(text):
        name = (match["dashed"] or match["plain"]).lower()
        log = await history.log(
            MAX_FLAG_COMMITS,
            since=span.since,
            last=span.last,
            after=span.after,
            until=span.until,
            paths=2,
            words=[name],
        )
        written = re.compile(rf"(?<![\w-])--{re.escape(name)}(?![\w-])", re.IGNORECASE)
        if kept := tuple(each for each in log.commits if written.search(each.subject)):
            return name, Log(kept, log.notes, log.more)
    return "", Log(())


def is_ended(text: str) -> bool:
    """Return whether a text asks when something stopped: the lines that say it are those that went."""
    return _ENDS.search(text) is not None


def says_act(subject: str, act: str) -> bool:
    """Return whether the subject of a commit says that something was added, removed, deprecated or changed."""
    return _SAID[act].search(subject) is not None if act in _SAID else True


def narrowed(text: str, commits: Sequence[Commit]) -> tuple[tuple[Commit, ...], str]:
    """Return the commits whose subject says what was done, with the word: `who moved the docker code`."""
    act = _ACT.search(text)
    if act is None:
        return (), ""
    word = re.compile(rf"\b{re.escape(root_of(act[0].lower()))}")
    return tuple(each for each in commits if word.search(each.subject.lower())), act[0]
