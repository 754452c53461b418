"""Commits about a topic that a question tells in its own words, by messages and changelogs together.

First those whose message has all words count. Without one, messages are compared by the weight of their words and by
meaning (`ranked_commits`); where none has enough of that, by words that begin alike. A line of a changelog that has
most of the words leads to the commit by the identifiers and the numbers of pull requests in it. Reads the version
history and the documents about releases.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from atlas.code.changes.changed_lines import changed_rows
from atlas.code.changes.commit_rows import PAGE, commit_row, day_of, last_of, page, since_words
from atlas.code.changes.commit_topics import (
    MANY,
    SHORT,
    asks_first,
    begins_with_act,
    commits_about,
    commits_of_flag,
    is_act,
    is_mended,
    is_other_act,
    joined_verbs,
    narrowed,
    root_of_word,
    says_asked_act,
    topic_of,
    topic_words,
)
from atlas.code.changes.gone_files import deleting_rows
from atlas.code.changes.ranked_commits import (
    NEAR,
    RankedCommit,
    is_sure,
    rank_commits,
    telling,
    telling_part,
    with_followed,
    word_forms,
)
from atlas.code.changes.told_lines import FollowedLines, follow_lines, followed_rows, later_rows
from atlas.code.lines.changelogs import ChangelogLine, changelog_lines, item_of, read_changelogs
from atlas.code.lines.line_report import LineReport, TextLine
from atlas.code.lines.scan_texts import is_aside, is_document
from atlas.code.question.change_questions import ChangeQuestion
from atlas.code.reader import Reader
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import AtlasError
from atlas.core.history import Commit, CommitsAbout, CommitSpan, History, Log, ToldCommit
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MANY_WORDS = 4
"""Words of a topic of which most tell it, although a word of it may mean a symbol."""
MOST_TOLD = 40
"""Commits that are compared."""
MOST_RELEASES = PAGE
"""Commits of which the release is looked up."""
MIN_SHARE = 0.4
"""Share of the weight of the words, of those that any message has, that a message or a line has to have."""
NEAR_BEST, NEAR_ONE = 0.7, 0.9
"""Share of the weight of the best message that others have which are shown beside it: of several or one asked for."""
MIN_WORDS = 0.34
"""Share of the words that it has to have, those of no message included."""
FOR_ACT = 0.1
"""What it adds to the weight of a message, in shares of the best, that it says what was done."""
MIN_OF_DEFAULT = 0.25
"""Share of the words that a message about a default has."""
MIN_OF_LINE = 0.4
"""Share of the words that a line of a changelog has to have, whatever they weigh."""
MOST_OF_ONE_WORD = 30
"""Commits that have a word which may tell a topic alone."""
MOST_LINES = 2
MOST_NEAR = 3
"""Commits that are shown where several messages are about as similar."""
MOST_MISSING = 5
MIN_TOLD = 3
"""Words that tell something about what a question names: fewer are in many messages."""
MOST_IN_SPAN = 5_000
PATHS_OF_CODE = 8
"""Files of a commit among which code is looked for."""
MOST_SAID = 280
"""Characters of a line of a changelog and of the rest of a message."""
MOST_REASONS = 900
"""Characters of the rest of a message where a reason is asked for."""
_DONE = (
    r"(?:deprecated|removed|dropped|deleted|renamed|moved|reverted|replaced|changed|rewritten|refactored|split|merged"
    r"|switched|upgraded|bumped|introduced|added|disabled|enabled|lowered|raised|increased|reduced|made|turned)"
)
_WHY_DONE = lazy_regex(
    rf"^why (?:was|were|has|have) (?!(?:my|our|a|an|i|we|it|this|that|there|nothing)\b).{{2,120}}\b{_DONE}\b"
    rf"|^why did (?!(?:my|our|a|an|i|we|you|it|this|that)\b).{{2,120}}\b(?:get {_DONE}|become|(?:change|switch|move|go)"
    r"(?: \S+){0,2} from\b.{1,80}\bto)\b",
    re.IGNORECASE,
)
_ASKS_RELEASE = lazy_regex(r"\b(?:releases?|versions?|shipped|since when|first|went out)\b", re.IGNORECASE)
_ASKS_WHY = lazy_regex(
    r"\b(?:why|reasons?|motivation|gone wrong|went wrong|wrong|broken|what for|purpose|(?<!some )point|problem"
    r"|cause[sd]?|by what means|(?:and )?what for|(?:because of|due to|owing to) what)\b",
    re.IGNORECASE,
)
_ASKS_LINES = lazy_regex(r"\b(?:(?:to|into) what|defaults?)\b", re.IGNORECASE)
"""Asks for the values before and after."""
_OF_DEFAULT = lazy_regex(
    r"\b(?:made|became|become|turned|switched|flipped|changed?)\b.{0,60}\bdefaults?\b"
    r"|\bdefaults?\b.{0,120}\b(?:once|changed?|switched|flipped|raised|lowered)\b",
    re.IGNORECASE,
)
"""A default is what was changed: a message that says so has the word."""
_SINCE_WHEN = lazy_regex(r"since when\b", re.IGNORECASE)
_ASKS_ALTERED = lazy_regex(
    r"\b(?:by what means|what (?:was|has been|were) (?:altered|changed|rewritten)|what changed)\b", re.IGNORECASE
)
"""Asks what the code does otherwise since then."""
_ASKS_COMMIT = lazy_regex(r"\b(?:who|when|(?:which|what) (?:commit|change|pr|pull request|patch))\b", re.IGNORECASE)
_IN_ORDER = lazy_regex(r"\b(?:come about|evolve[sd]?|over time|history of|later|afterwards|then|first commits)\b", re.I)
_ASKS_LATER = lazy_regex(r"\blater (?:commit|change|pr|pull request|patch)\b", re.IGNORECASE)
"""Two changes are asked for: `when did it begin, and in which later commit did that become unconditional`."""
_ASKS_AFTER = lazy_regex(
    r"\bafterwards?\b|\bsince then\b|\b(?:changed|modified|touched|altered|edited|reverted)"
    r" (?:it |that |this )?(?:again|since|later)\b",
    re.IGNORECASE,
)
"""Asks for what changed the same lines again."""
_ASKS_SEVERAL = lazy_regex(rf"\bcommits\b|{_IN_ORDER.pattern}", re.IGNORECASE)
_QUOTED_SIGNS = lazy_regex(r"[\"'`]([^\w\s\"'`]{1,10})[\"'`]")
"""`".."` in a question."""
_IDENTIFIER = lazy_regex(r"(?<!\w)[A-Za-z]\w{3,60}(?!\w)")
_JOINED = lazy_regex(r"[a-z][A-Z]|\w_\w")
"""In an identifier that is no word of English."""
_CODE_WORD = lazy_regex(r"(?<!\w)(?:[A-Za-z]\w*(?:_|::|\.)\w+|[A-Z]?[a-z0-9]+[A-Z]\w*)(?!\w)")
_NUMBER = lazy_regex(r"(?:#|GH-|/pull/|/issues/)(\d{2,7})\b")


@dataclass(frozen=True, slots=True)
class _Told:
    """What messages and changelogs say about the words of a question."""

    commits: tuple[Commit, ...] = ()
    words: tuple[str, ...] = ()
    """Words that the best message has."""
    missing: tuple[str, ...] = ()
    lines: tuple[ChangelogLine, ...] = ()
    notes: tuple[str, ...] = ()
    by_name: str = ""
    """The identifier or number of a changelog's line that led to the commits."""
    more: bool = False
    say_the_same: bool = True
    """All messages have the same words."""
    is_near: bool = False
    """They are the most similar ones by words and meaning."""
    is_sure: bool = False
    """The first of these has most words and is far ahead of the next one."""
    share: float = 0.0
    """Of the words that any message has, by their rarity, those of the first one."""
    ordered: bool = False
    """Two changes are asked for, one behind the other."""
    in_lines: tuple[str, ...] = ()
    """Words that only the lines which the best commit changed have."""
    followed: FollowedLines = field(default_factory=FollowedLines)
    """What the commits of the described files wrote there."""


async def answer_topic(
    reader: Reader, text: str, question: ChangeQuestion, where: Filter, authors: Collection[str], *, is_alone: bool
) -> LineReport | None:
    """Answer for the commits about a topic; None where no message and no changelog tells it.

    Beside a symbol that a word may mean, a single word is no topic, and all words are needed unless it was mended.
    """
    assert reader.history is not None
    words = topic_words(text, authors)
    topic = topic_of(text, authors)
    if not words or (sum(not is_act(word) for word in words) < 2 and not is_alone):
        return None
    history = reader.history
    span = CommitSpan(question.old, last_of(question), question.after, question.until)
    flag, log = await commits_of_flag(history, text, span)
    if not flag:
        log = await commits_about(history, topic, *span) if topic else Log(())
    if flag:
        done = tuple(each for each in log.commits if says_asked_act(each.subject, text))
        told = _Told(done or log.commits, (f"--{flag}",), notes=log.notes, more=log.more)
    elif log.commits:
        told = _Told(log.commits, topic, notes=log.notes, more=log.more)
    elif len(words) > 1 and (is_alone or len(words) >= MANY_WORDS or is_mended(text)):
        told = await _nearly_told(reader, text, words, span, where)
    else:
        return None
    if asks_why_done(text):
        told = _why_told(text, told)
    if not told.commits and not told.lines:
        return None
    return await _report(reader, text, told, question, where)


def asks_why_done(text: str) -> bool:
    """Return whether a text asks why the project was changed: `why was the filter deprecated`."""
    return _WHY_DONE.match(text) is not None


def _why_told(text: str, told: _Told) -> _Told:
    """Return the commits that say what was done, those first that begin with it; nothing where none does.

    The words of a question for a reason may as well be about what the program does, unless it asks for the commit.
    """
    if told.is_near and _ASKS_COMMIT.search(text):
        return told
    if told.by_name:
        named = [word.lower() for word in _CODE_WORD.findall(text)]
        item = item_of(told.lines[0]).lower()
        if (named and not any(name in item for name in named)) or not _is_led(text, told.by_name):
            return _Told()
        kept = tuple(each for each in told.commits if says_asked_act(each.subject, text))
        return replace(told, commits=kept or told.commits)
    kept = [each for each in told.commits if says_asked_act(each.subject, text)]
    kept.sort(key=lambda each: not begins_with_act(each.subject, text))
    return replace(told, commits=tuple(kept), lines=told.lines if kept else ())


def _is_led(text: str, by_name: str) -> bool:
    """Return whether what led from a changelog to commits is a pull request, or an identifier of the question."""
    return by_name.startswith("`#") or any(name.lower() in text.lower() for name in re.findall(r"`([^`]+)`", by_name))


async def _nearly_told(reader: Reader, text: str, words: Sequence[str], span: CommitSpan, where: Filter) -> _Told:
    assert reader.history is not None
    roots = {root_of_word(word) if len(word) > SHORT else f"{word} ": word for word in words}
    joined = {root_of_word(each): each for each in joined_verbs(text)}
    roots |= joined
    signs = tuple(dict.fromkeys(_QUOTED_SIGNS.findall(text)))
    found = await reader.history.commits_about((*roots, *signs), MOST_TOLD, span)
    # words that no message has are the asker's own
    least = MIN_SHARE * sum(weight for word, weight in found.weights.items() if not is_act(word))
    files = await read_changelogs(reader, where)
    listed = [line for file in files for line in changelog_lines(file) if not is_other_act(text, line.part, line.text)]
    lines = _best_lines(listed, roots, found.weights, least)
    told = await _told_by_messages(reader, text, (*words, *joined.values()), span)
    shown = tuple(lines[:MOST_LINES])
    if told.commits and not (lines and _share(lines[0], roots, found.weights) > told.share):
        return replace(told, notes=found.notes)
    if lines and (led := await _led_by(reader.history, lines[0], roots, span)):
        name, commits = led
        return _Told(tuple(commits), lines=shown, by_name=name)
    if told.commits:
        numbers = {number for each in told.commits for number in _NUMBER.findall(each.subject)}
        own = (each for each in shown if numbers.intersection(named := _NUMBER.findall(each.text)) or not named)
        return replace(told, lines=tuple(own), notes=found.notes)
    best = _best_commits(text, found, least)
    asked = [word for word in (*words, *signs) if not is_act(word)]
    if not best or sum(2 if word in joined else 1 for word in _telling(best[0])) < len(asked) * MIN_WORDS:
        return _Told(lines=shown, notes=found.notes)
    has = [roots.get(word, word) for word in _telling(best[0])]
    missing = tuple(word for word in words if word not in has and not is_act(word))
    commits, same = tuple(each.commit for each in best), len({tuple(_telling(each)) for each in best}) == 1
    return _Told(commits, tuple(has), missing, shown, found.notes, say_the_same=same)


async def answer_told(
    reader: Reader, text: str, words: Sequence[str], question: ChangeQuestion, where: Filter, own: Collection[str]
) -> LineReport | None:
    """Answer for the commits whose messages are most like a text; None where none tells it.

    `words`: what the text tells about what it names; `own`: the commits of that, by id.
    """
    if reader.history is None or len(words) < MIN_TOLD:
        return None
    span = CommitSpan(question.old, last_of(question), question.after, question.until)
    told = await _told_by_messages(reader, text, words, span, own)
    return await _report(reader, text, told, question, where) if told.commits else None


async def _told_by_messages(
    reader: Reader, text: str, words: Sequence[str], span: CommitSpan, own: Collection[str] = ()
) -> _Told:
    """Return the commits whose messages are most like a text; nothing where they say too little."""
    history = reader.history
    assert history is not None
    inside = bool(span.since or span.last)
    if inside:
        log = await history.log(MOST_IN_SPAN, since=span.since, last=span.last, paths=0)
        own = {each.id for each in log.commits}
    ranked = await rank_commits(reader, history, text, words, span, own, only_own=inside)
    ranked = [each for each in ranked if not is_other_act(text, "", each.commit.subject)]
    followed, sure = FollowedLines(), False
    forms, spelled = word_forms(reader, words)
    if not inside:
        followed = await follow_lines(reader, history, text, forms)
        # what both messages and lines tell best was meant in each of eight questions
        sure = bool(ranked) and followed.scores.get(ranked[0].commit.id) == 1.0
        ranked = with_followed(ranked, followed, spelled)
    best = telling(ranked, text)
    if _OF_DEFAULT.search(text) and (of_default := _of_default(ranked)):
        ranked = best = of_default
    if not best:
        return _Told()
    sure, ordered = sure or is_sure(ranked), _ASKS_LATER.search(text) is not None
    if _ASKS_SEVERAL.search(text) is None or ordered:
        if is_mended(text) and says_asked_act(best[0].commit.subject, text):
            best = [each for each in best if says_asked_act(each.commit.subject, text)]
        near = MOST_NEAR if followed.scores.get(best[0].commit.id) != 1.0 else MOST_NEAR - 1
        best = _two_of(ranked, own) if ordered else best[: 1 if sure else near]
        if (
            asks_first(text) or _SINCE_WHEN.match(text)
        ) and not ordered:  # of those with the same words the oldest comes first
            same = [each for each in best if each.words == best[0].words]
            best = sorted(best, key=lambda each: each is not min(same, key=lambda one: one.commit.time))
    commits = [await _with_paths(history, each.commit) for each in best[:PAGE]]
    in_lines = {spelled[number] for number in sorted(followed.words.get(best[0].commit.id, ()))}
    missing = tuple(part for part in best[0].missing if part in text.lower() and part not in in_lines)
    in_lines -= set(best[0].words)
    kept = tuple(each for each in commits if each is not None)
    share = max(best[0].share, best[0].followed)
    words = tuple(word for word in best[0].words if word in text.lower()) or best[0].words
    told = _Told(kept, words, missing, is_near=True, is_sure=sure, share=share, followed=followed)
    told = replace(told, in_lines=tuple(word for word in spelled if word in in_lines))
    return replace(told, ordered=ordered and len(kept) > 1)


def _of_default(ranked: Sequence[RankedCommit]) -> list[RankedCommit]:
    """Return the commits whose first line speaks of a default and that have another word of the question."""
    told = (each for each in ranked if "default" in each.commit.subject.lower().split())
    kept = [each for each in told if each.share >= MIN_OF_DEFAULT and len(each.words) > 1]
    return [each for each in kept if each.score >= kept[0].score - NEAR]


def _two_of(ranked: Sequence[RankedCommit], own: Collection[str]) -> Sequence[RankedCommit]:
    """Return the two best commits, those of what a question names where two of them tell something."""
    told = [each for each in ranked if each.commit.id in own and each.words][:2]
    return told if len(told) > 1 else ranked[:2]


async def _with_paths(history: History, commit: Commit) -> Commit | None:
    """Return a commit with its first files; None for one that changes nothing of the project."""
    log = await history.log(1, last=commit.id, paths=2)
    return next((each for each in log.commits if each.id == commit.id), None)


def _best_commits(text: str, found: CommitsAbout, least: float) -> list[ToldCommit]:
    """Return the commits whose messages say most; none where they say too little, or many have one common word."""
    # a name as code writes it says more than the words around it, also than what was done
    coded = {root_of_word(word.lower()) for word in _CODE_WORD.findall(text)}
    told = [each for each in found.commits if not coded.isdisjoint(_telling(each))] or [
        each for each in found.commits if _telling(each) and not is_other_act(text, "", each.commit.subject)
    ]
    if not told or told[0].weight < least:
        return []
    best = told[0].weight
    weighed = [
        each._replace(weight=each.weight + (best * FOR_ACT if says_asked_act(each.commit.subject, text) else 0))
        for each in told
    ]
    weighed.sort(key=lambda each: -each.weight)
    near = NEAR_BEST if _ASKS_SEVERAL.search(text) else NEAR_ONE
    kept = [each for each in weighed if each.weight >= weighed[0].weight * near]
    if len(_telling(weighed[0])) == 1:
        same = [each for each in told if _telling(each) == _telling(weighed[0])]
        return kept[:PAGE] if len(same) <= MOST_OF_ONE_WORD else []
    return [each for each in kept if len(_telling(each)) > 1][:PAGE]


def _telling(told: ToldCommit) -> list[str]:
    """Return the words of a message that tell a topic: not those for what was done."""
    return [word for word in told.words if not is_act(word)]


def _best_lines(
    lines: Sequence[ChangelogLine], roots: Mapping[str, str], weights: Mapping[str, float], least: float
) -> list[ChangelogLine]:
    """Return the lines of changelogs that have most of the words, the best first."""
    patterns = _patterns(roots)
    asked = sum(not is_act(word) for word in roots.values())
    scored: list[tuple[float, int, ChangelogLine]] = []
    for number, line in enumerate(lines):
        lowered = line.text.lower()
        if sum(root.rstrip() in lowered for root in roots) < 2 or not line.version:
            continue
        said = _said(line, patterns)
        weight = sum(weights.get(root, 0.0) for root in said)
        told = sum(not is_act(roots[root]) for root in said)
        if len(said) > 1 and told >= max(min(asked, 2), asked * MIN_OF_LINE) and weight >= least:
            scored.append((-weight, number, line))
    return [line for weight, _, line in sorted(scored[:10_000]) if weight <= min(scored)[0] * NEAR_ONE]


def _patterns(roots: Collection[str]) -> Mapping[str, re.Pattern[str]]:
    return {
        root: re.compile(rf"(?<![^\W_]){re.escape(root.rstrip())}" + (r"(?![^\W_])" if root.endswith(" ") else ""))
        for root in roots
    }


def _said(line: ChangelogLine, patterns: Mapping[str, re.Pattern[str]]) -> list[str]:
    """Return the words that a line has, also as parts of identifiers."""
    spoken = f"{line.text.lower()} {re.sub(r'(?<=[a-z0-9])(?=[A-Z])|_', ' ', line.text).lower()}"
    return [root for root, pattern in patterns.items() if pattern.search(spoken)]


def _share(line: ChangelogLine, roots: Mapping[str, str], weights: Mapping[str, float]) -> float:
    """Return the share of the words that any message has, by their weight, that a line has."""
    total = sum(weight for root, weight in weights.items() if not is_act(roots.get(root, root)))
    said = (weights.get(root, 0.0) for root in _said(line, _patterns(roots)) if not is_act(roots[root]))
    return sum(said) / total if total else 0.0


async def _led_by(
    history: History, line: ChangelogLine, roots: Collection[str], span: CommitSpan
) -> tuple[str, list[Commit]] | None:
    """Return the commits whose message has an identifier of a line that few have, or its pull request and a word."""
    numbers = list(dict.fromkeys(_NUMBER.findall(item_of(line))))
    for number in numbers[:1]:
        found = await history.commits_about((number,), 5, span)
        if commits := [each.commit for each in found.commits if each.commit.subject.endswith(f"(#{number})")]:
            return f"`#{number}`", commits
    names = [name for name in _IDENTIFIER.findall(line.text) if _JOINED.search(name)]
    names += [f"#{number}" for number in numbers]
    if not names:
        return None
    led: dict[str, Commit] = {}
    said: list[str] = []
    for name in names[:4]:
        if name.startswith("#"):
            if led:
                break
            found = await history.commits_about((name[1:], *roots), 3, span)
            having = [
                each.commit
                for each in found.commits
                if len(each.words) > 1 and re.search(rf"#{name[1:]}\b", each.commit.subject)
            ]
        else:
            having = [each.commit for each in (await history.commits_about((name.lower(),), 5, span)).commits]
        if 0 < len(having) <= 4:
            said.append(name)
            led |= {each.id: each for each in having}
    return (" or ".join(f"`{name}`" for name in said), list(led.values())) if led else None


async def _report(reader: Reader, text: str, told: _Told, question: ChangeQuestion, where: Filter) -> LineReport:
    assert reader.history is not None
    commits = told.commits
    done, act = narrowed(text, commits)
    if done and len(commits) >= MANY and not told.missing and not _IN_ORDER.search(text):
        commits = done
    else:
        act = ""
    said = " and ".join(f'"{word}"' for word in (*told.words, act) if word)
    count = f"{len(commits)}{' or more' if told.more else ''}"
    title = f"commits{since_words(question)} whose message has {said}: {count}"
    if not commits:
        title = "no message of a commit was found that tells it; lines of changelogs that have most of the words"
        if _ASKS_COMMIT.search(text) and (wrote := await _writer_of(reader.history, told.lines[0])) is not None:
            commits, line = (wrote,), told.lines[0]
            title = f"no message tells it; the commit that wrote {line.file.path}:{line.line}, with most of the words"
    elif told.by_name:
        line = told.lines[0]
        place = f"{line.file.path}:{line.line}"
        title = f"commits that name {told.by_name}: {count}, found by {place}, which has most of the words"
    elif told.missing:
        lacking = " or ".join(f'"{word}"' for word in told.missing[:MOST_MISSING])
        title = f"no message has all words; {title}, without {lacking}"
    if told.is_near:
        title = _near_title(told)
    if len(commits) > 1 and not told.more and (told.ordered or _IN_ORDER.search(text)):
        commits = tuple(sorted(commits, key=lambda each: each.time))
    elif (
        (asks_first(text) or _SINCE_WHEN.match(text))
        and not told.more
        and len(commits) > 1
        and told.say_the_same
        and not (told.is_near or told.by_name)
    ):
        oldest = min(commits, key=lambda each: each.time)
        title += f"; the oldest is of {day_of(oldest)}"
        commits = (oldest, *(each for each in commits if each is not oldest))
    releases = await releases_of(reader.history, commits)
    rows = [commit_row(each, releases.get(each.id, "")) for each in commits]
    if told.ordered:
        rows = [replace(row, group=group) for row, group in zip(rows, ("earlier", "later"), strict=True)]
    gone = [] if told.is_near else await deleting_rows(reader.history, commits)
    rows = [*gone, *rows]
    rows += await _rows_beside(reader, text, told, commits, releases, where)
    return LineReport("changes", title, tuple(rows), told.notes, first=page(rows))


async def _rows_beside(
    reader: Reader,
    text: str,
    told: _Told,
    commits: Sequence[Commit],
    releases: Mapping[str, str],
    where: Filter,
) -> list[TextLine]:
    """Return the rows below the commits: the lines of code that they changed, reasons, and lines of changelogs."""
    assert reader.history is not None
    rows: list[TextLine] = []
    is_one, asks_why = len(commits) == 1, _ASKS_WHY.search(text) is not None
    is_altered = is_one and (_ASKS_ALTERED.search(text) or (_OF_DEFAULT.search(text) and told.is_near))
    if asks_why:
        shown = commits[:1] if told.is_near and not told.ordered else commits[:MOST_LINES]
        rows += await _reasons(reader, shown, topic_words(text) or told.words)
    is_told = told.is_near and bool(rows)
    is_untold = asks_why and is_one and told.is_near and not is_told
    if commits and (is_altered or is_untold or (told.is_sure and not told.ordered and _ASKS_LINES.search(text))):
        forms, _ = word_forms(reader, topic_words(text) or told.words)
        rows = [*await changed_rows(reader, reader.history, commits[0], forms), *rows]
    if told.is_near and commits and not any(each.group == "lines" for each in rows):
        forms, _ = word_forms(reader, topic_words(text) or told.words)
        rows = [*await followed_rows(reader, told.followed, commits[0], forms), *rows]
    if _ASKS_AFTER.search(text) and commits and not told.ordered:
        rows += later_rows(told.followed, commits[0])
    lines = _of_releases(told.lines, releases) if told.is_near else told.lines
    lines = lines or await lines_of(reader, commits[:MOST_LINES], where)
    if not lines and not is_told and asks_why:
        rows += await release_rows(reader, text, commits[:1], releases, where)
    return [*rows, *(changelog_row(each) for each in lines)]


def _of_releases(lines: Sequence[ChangelogLine], releases: Mapping[str, str]) -> Sequence[ChangelogLine]:
    """Return the lines of changelogs about the releases of commits, all of them where no release is known."""
    known = {re.sub(r"^[^\d]{0,20}", "", release) for release in releases.values()}
    return [each for each in lines if each.version in known] if known else lines


def _near_title(told: _Told) -> str:
    """Return what the first of similar messages has of a question's words, and what it lacks."""
    has = " and ".join(f'"{word}"' for word in told.words)
    lacking = " or ".join(f'"{word}"' for word in told.missing[:MOST_MISSING])
    said = "no message has all words; " if told.missing or told.in_lines else ""
    if told.in_lines:
        has += " and in lines that it changed " + " and ".join(f'"{word}"' for word in told.in_lines)
    said += f"nearest by words and meaning{'' if told.is_sure else ', a guess'}: {len(told.commits)}"
    return f"{said}, the first has {has}{f' without {lacking}' if lacking else ''}"


async def _writer_of(history: History, line: ChangelogLine) -> Commit | None:
    """Return the commit that wrote a line of a changelog together with code, None where git knows none."""
    try:
        found = await history.last_change(line.file.path, line.line, line.line)
        if found.commit is None or not found.by_lines:
            return None
        log = await history.log(1, last=found.commit.id, paths=PATHS_OF_CODE)
    except AtlasError:
        return None
    return next((each for each in log.commits if not all(map(is_document, each.paths))), None)


async def releases_of(history: History, commits: Sequence[Commit]) -> Mapping[str, str]:
    """Return the first tag that contains each of the first commits; nothing where the tags cannot be followed."""
    try:
        return await history.first_tags([each.id for each in commits[:MOST_RELEASES]])
    except AtlasError:
        return {}


def asks_release(text: str) -> bool:
    """Return whether a question about commits asks for the release that has them."""
    return _ASKS_RELEASE.search(text) is not None


async def _reasons(reader: Reader, commits: Sequence[Commit], words: Sequence[str]) -> list[TextLine]:
    """Return what messages of commits say below their first lines, of long ones the part with most of some words."""
    assert reader.history is not None
    said = await reader.history.messages([each.id for each in commits])
    most = MOST_REASONS // max(len(commits), 1)
    return [
        TextLine("messages", each.id[:10], telling_part(reader, said[each.id], words, most))
        for each in commits
        if each.id in said
    ]


async def lines_of(reader: Reader, commits: Sequence[Commit], where: Filter) -> list[ChangelogLine]:
    """Return the lines of changelogs that name the pull requests of commits."""
    numbers = {number for each in commits for number in _NUMBER.findall(each.subject)}
    if not numbers:
        return []
    files = await read_changelogs(reader, where)
    found = (line for file in files for line in changelog_lines(file, lambda text: bool(_NUMBER.search(text))))
    return [line for line in found if numbers.intersection(_NUMBER.findall(line.text))][:MOST_LINES]


async def release_rows(
    reader: Reader, text: str, commits: Sequence[Commit], releases: Mapping[str, str], where: Filter
) -> list[TextLine]:
    """Return the lines about a commit's release that have most words of its message and of a question.

    They often say for users why something was changed, which the message does not.
    """
    rows: list[TextLine] = []
    files = [each for each in await read_changelogs(reader, where) if not is_aside(each.path)]
    for commit in commits:
        version = re.sub(r"^[^\d]{0,20}", "", releases.get(commit.id, ""))
        words = {root_of_word(word) for word in re.findall(r"[a-z]{4,}", f"{text} {commit.subject}".lower())}
        words = {word for word in words if not is_act(word) and word not in STOP_WORDS}
        lines = [each for file in files for each in changelog_lines(file) if version and each.version == version]
        having = {each.line: sum(word in item_of(each).lower() for word in words) for each in lines}
        most = max(having.values(), default=0)
        rows += [changelog_row(each) for each in lines if most > 1 and having[each.line] == most][:MOST_LINES]
    return rows


def changelog_row(line: ChangelogLine) -> TextLine:
    """Return a line of a changelog as a line of an answer."""
    return TextLine("changelog", f"{line.file.path}:{line.line}", f"[{line.version or '?'}] {_cut(item_of(line))}")


def _cut(text: str, most: int = MOST_SAID) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."
