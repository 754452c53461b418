"""Commits in the order in which their messages tell what a question tells in words of its own.

`Jobs whose retries ran out used to show up as completed` stands in no message word for word. The rarer words of the
question count more, in the first line of a message more than below it, and the model of prose compares the meaning. A
commit that mends comes before others where something is asked for that was mended. Reads the version history.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import log
from typing import NamedTuple

from atlas.code.changes.changed_lines import weigh_lines
from atlas.code.changes.commit_topics import is_act, says_asked_act
from atlas.code.changes.told_lines import FollowedLines
from atlas.code.rank.bodies import scaled_cosines, words_of
from atlas.code.reader import Reader
from atlas.core.english.stems import base_forms, other_spellings, root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.history import Commit, CommitSpan, History
from atlas.core.lazy_regex import lazy_regex

COMMITS = 20_000
"""The last ones, whose first lines are compared with the question."""
READ = 150
"""Commits whose whole messages are compared: 60 and 300 find the same."""
NAME_WEIGHT = 1.5
"""Of a word with letters and digits, times its rarity."""
BODY_WEIGHT = 0.6
"""Of a word that stands below the first line."""
MEANING_WEIGHT, BODY_MEANING_WEIGHT = 0.5, 0.2
"""Of the cosine of a first line and of a whole message; all words together have 1."""
ACT_WEIGHT = 0.15
"""Of a first line that says that what is asked for was done, such as to fix."""
OWN_WEIGHT = 0.3
"""Of a commit that changed what the question names."""
MIN_SHARE, MIN_SHARE_OF_ACT = 0.3, 0.18
"""Share of the weight of the words, of those that any message has, that a message has to have."""
SURE_SHARE, SURE_AHEAD = 0.6, 0.2
"""What the best message has and how far it is ahead of the next one where it is no guess."""
LINES_READ = 40
"""Commits of which the changed lines are compared, too."""
LINES_WEIGHT = 0.35
"""Of the best line that a commit added."""
FOLLOWED_WEIGHT = 0.3
"""Of what a commit wrote in the files that a question describes; 0.2 to 0.4 find about the same."""
NEAR = 0.15
"""What a message may have less than the best one to be shown beside it."""
MIN_WORDS = 2
LETTERS, MIN_ABBREVIATED = 4, 9
"""Of an abbreviation, and of a word that has one."""
SHORT = 2
"""Letters of a part of a word that says nothing: `md` of `md5`."""
_PART = lazy_regex(r"[.!?;:]\s+|\s\*\s|\s-\s|\s{2,}")


_FENCE = "```"
_TRAILER = lazy_regex(r"\b(?:co-authored|signed-off|reviewed)-by: [^<]{0,80}<[^>]{0,80}>", re.IGNORECASE)


class RankedCommit(NamedTuple):
    """A commit and how much its message is like a question."""

    commit: Commit
    score: float
    share: float
    """Of the question's words that any message has, by their rarity, those of this one: 0..1."""
    words: tuple[str, ...]
    """These words, as the question writes them."""
    missing: tuple[str, ...]
    """The other ones."""
    body: str
    """What the message says below its first line."""
    followed: float = 0.0
    """Of the question's words that changed lines have, by their rarity, those of the best lines of this one: 0..1."""


async def rank_commits(
    reader: Reader,
    history: History,
    text: str,
    words: Sequence[str],
    span: CommitSpan,
    own: Collection[str] = (),
    *,
    only_own: bool = False,
) -> list[RankedCommit]:
    """Return the commits whose messages are most like a text, best first. Raises history errors.

    `words`: those of the text that tell something. `own`: the commits of what it names, by id; with `only_own` others
    are left out.
    """
    listed = await history.last_commits(COMMITS)
    commits = [each for each in listed if _is_within(each, span) and (not only_own or each.id in own)]
    forms, spelled = word_forms(reader, words)
    if not commits or not spelled:
        return []
    subjects = [each.subject for each in commits]
    found = [frozenset(words_of(each, forms, reader.split_words)) for each in subjects]
    weights = _weights(found, spelled)
    meaning = await scaled_cosines(reader, text, [("", subjects)])
    first = _scaled([sum(weights[word] for word in sorted(each)) for each in found])
    least = [MEANING_WEIGHT * near + OWN_WEIGHT * (each.id in own) for near, each in zip(meaning, commits, strict=True)]
    read = sorted(range(len(commits)), key=lambda place: (-first[place] - least[place], place))[:READ]
    bodies = await history.messages([commits[place].id for place in read])
    told = [bodies.get(commits[place].id, "") for place in read]
    below = [frozenset(words_of(each, forms, reader.split_words)) for each in told]
    whole = [f"{subjects[place]} {body}" for place, body in zip(read, told, strict=True)]
    nearness = await scaled_cosines(reader, text, [("", whole)])
    total = sum(weights[word] for word in frozenset[int]().union(*(found[place] for place in read), *below))
    have = [
        sum(weights[word] * (1 if word in found[place] else BODY_WEIGHT) for word in sorted(found[place] | said))
        for place, said in zip(read, below, strict=True)
    ]
    ranked: list[RankedCommit] = []
    for at, (place, scaled) in enumerate(zip(read, _scaled(have), strict=True)):
        words_in = found[place] | below[at]
        score = scaled + least[place] + BODY_MEANING_WEIGHT * nearness[at]
        score += ACT_WEIGHT * says_asked_act(subjects[place], text)
        has = tuple(spelled[word] for word in sorted(words_in))
        lacks = tuple(word for number, word in enumerate(spelled) if number not in words_in)
        ranked.append(RankedCommit(commits[place], score, have[at] / total if total else 0.0, has, lacks, told[at]))
    ranked.sort(key=lambda each: -each.score)
    return await _with_lines(reader, history, ranked, forms, weights)


async def _with_lines(
    reader: Reader,
    history: History,
    ranked: Sequence[RankedCommit],
    forms: Mapping[str, int],
    weights: Sequence[float],
) -> list[RankedCommit]:
    """Return commits in the order of their messages and of the lines that the best of them added."""
    best, others = ranked[:LINES_READ], ranked[LINES_READ:]
    lines = _scaled(await weigh_lines(reader, history, [each.commit for each in best], forms, weights))
    scored = [each._replace(score=each.score + LINES_WEIGHT * line) for each, line in zip(best, lines, strict=True)]
    return sorted([*scored, *others], key=lambda each: -each.score)


def with_followed(
    ranked: Sequence[RankedCommit], followed: FollowedLines, spelled: Sequence[str]
) -> list[RankedCommit]:
    """Return commits in the order of their messages and of what they wrote in the files that a question describes."""
    known = {each.commit.id for each in ranked}
    more = [
        RankedCommit(run.commit, 0.0, 0.0, (), tuple(spelled), "")
        for key, run in followed.best.items()
        if key not in known
    ]
    scored = [
        each._replace(
            score=each.score + FOLLOWED_WEIGHT * followed.scores.get(each.commit.id, 0.0),
            followed=followed.shares.get(each.commit.id, 0.0),
        )
        for each in (*ranked, *more)
    ]
    return sorted(scored, key=lambda each: -each.score)


def _is_within(commit: Commit, span: CommitSpan) -> bool:
    return commit.time >= span.after and (not span.until or commit.time <= span.until)


def telling(ranked: Sequence[RankedCommit], text: str) -> list[RankedCommit]:
    """Return the best commits that tell what was asked for; none where the best one has too little of it.

    One that says that what is asked for was done, such as to fix, needs less.
    """
    if not ranked:
        return []
    least = MIN_SHARE_OF_ACT if says_asked_act(ranked[0].commit.subject, text) else MIN_SHARE
    if max(ranked[0].share, ranked[0].followed) < least or not ranked[0].words:
        return []
    if not ranked[0].followed and len(ranked[0].words) < MIN_WORDS and not any(map(_is_name, ranked[0].words)):
        return []
    return [each for each in ranked if each.score >= ranked[0].score - NEAR]


def _is_name(word: str) -> bool:
    """Return whether a word has letters and digits: nobody writes `md5` in other words."""
    return not (word.isalpha() or word.isdecimal())


def is_sure(ranked: Sequence[RankedCommit]) -> bool:
    """Return whether the best commit has most of the words and no other one is near it."""
    ahead = ranked[0].score - ranked[1].score if len(ranked) > 1 else SURE_AHEAD
    return ranked[0].share >= SURE_SHARE and ahead >= SURE_AHEAD


def telling_part(reader: Reader, body: str, words: Sequence[str], most: int) -> str:
    """Return the part of a message, of at most some letters, that has most of some words; a short one as it is."""
    # what a fence holds is output or code
    body = " ... ".join(part.strip() for part in _TRAILER.sub("", body).split(_FENCE)[::2]).rstrip(" -")
    if len(body) <= most:
        return body
    forms, _ = word_forms(reader, words)
    starts = [0, *(match.end() for match in _PART.finditer(body))]
    pieces = [body[start : start + most] for start in starts]
    having = [len(set(words_of(piece, forms, reader.split_words))) for piece in pieces]
    best = max(range(len(pieces)), key=lambda place: (having[place], place))
    piece = pieces[best].rpartition(" ")[0] if starts[best] + most < len(body) else pieces[best]
    return f"{'...' if best else ''}{piece}{'...' if starts[best] + most < len(body) else ''}"


def word_forms(reader: Reader, words: Sequence[str]) -> tuple[Mapping[str, int], Sequence[str]]:
    """Return the roots of the parts of words with the number of each, and by number the part."""
    parts = [
        part
        for word in words
        if not is_act(word)
        for part in reader.split_words(word)
        if part not in STOP_WORDS and (part == word or len(part) > SHORT)
    ]
    forms: dict[str, int] = {}
    spelled: list[str] = []
    for part in dict.fromkeys(parts):
        if root_of(part) in forms:
            continue
        forms[root_of(part)] = len(spelled)
        for form in (part, f"{part}s", *base_forms(part), *_abbreviated(part)):
            for other in (form, *other_spellings(form)):
                forms.setdefault(root_of(other), len(spelled))
        spelled.append(part)
    return forms, spelled


def _abbreviated(part: str) -> list[str]:
    """Return the beginning of a long word that stands for it: `cert` for `certificate`."""
    return [part[:LETTERS]] if len(part) >= MIN_ABBREVIATED and part.isalpha() else []


def _weights(found: Sequence[frozenset[int]], spelled: Sequence[str]) -> list[float]:
    """Return the weight of each word: the fewer first lines have it, the more, and most for a name."""
    having = [0] * len(spelled)
    for words in found:
        for word in words:
            having[word] += 1
    rarity = [log((len(found) + 1) / (each + 0.5)) for each in having]
    return [each * (NAME_WEIGHT if _is_name(word) else 1) for each, word in zip(rarity, spelled, strict=True)]


def _scaled(values: Sequence[float]) -> list[float]:
    most = max(values, default=0.0)
    return [each / most if most > 0 else 0.0 for each in values]
