"""Changes that were reverted: the commit that did it, the one that it took back, and later ones about the same.

`Revert "SUBJECT"` and `This reverts commit ID` tell what was taken back; whether it came back later is told by the
words that later messages share with it. Reads the version history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from atlas.code.changes.commit_rows import commit_row
from atlas.code.changes.commit_topics import SHORT, is_act, root_of_word
from atlas.code.changes.told_topics import releases_of
from atlas.code.lines.line_report import LineReport, TextLine
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.history import Commit, CommitSpan, History, ToldCommit
from atlas.core.lazy_regex import lazy_regex
from atlas.core.wording import counted

MOST_COMPARED = 40
MOST_REVERTS, MOST_LATER = 2, 3
MIN_SHARE = 0.5
"""Share of the weight of the words, of those that any message has, that a revert has to have."""
MIN_LATER = 0.5
"""The same of later commits about what was reverted."""
_REVERTED = lazy_regex(
    r"\b(?:reverted|(?:was|been|got|were) (?:later |then )?(?:backed out|undone|taken back|pulled again)|backed out"
    r"|who (?:reverts|undid|backed)|revert (?:of|commit))\b",
    re.IGNORECASE,
)
_IS_REVERT = lazy_regex(r"(?:\W{0,3}\w{2,12}[:(][^:]{0,20}:? ?)?revert(?:s|ed|ing)?\b", re.IGNORECASE)
_QUOTED = lazy_regex(r"revert(?:s|ed)? [\"“'](?P<subject>.{4,200})[\"”']", re.IGNORECASE)
_ID = lazy_regex(r"reverts? (?:commit )?(?P<id>[0-9a-f]{7,40})\b", re.IGNORECASE)
_NUMBER = lazy_regex(r"\s?\((?:#|GH-)\d{1,9}\)$")
_OWN_WORDS = frozenset("there here was were backed back come came again later undone taken fix".split())  # noqa: SIM905
"""Words of questions for what was reverted."""


def asks_reverted(text: str) -> bool:
    """Return whether a text asks about a change that was taken back."""
    return _REVERTED.search(text) is not None


async def answer_reverted(history: History, words: Sequence[str], span: CommitSpan) -> LineReport | None:
    """Answer which commit reverted what words tell; None where no revert has enough of them."""
    asked = _roots(word for word in words if word not in _OWN_WORDS and not is_act(word))
    if not asked:
        return None
    spelled = {root: word for word in words for root in _roots([word])}
    found = await history.commits_about((*asked, "revert"), MOST_COMPARED, span)
    weights = {word: weight for word, weight in found.weights.items() if word != "revert"}
    least = MIN_SHARE * sum(weights.values())
    reverts = [each for each in found.commits if _IS_REVERT.match(each.commit.subject) and _weight(each, weights)]
    reverts.sort(key=lambda each: -_weight(each, weights))
    reverts = [each for each in reverts if _weight(each, weights) >= max(least, _weight(reverts[0], weights))]
    if not reverts or len(reverts) > MOST_REVERTS:
        return None
    rows: list[TextLine] = []
    for revert in (each.commit for each in reverts):
        original = await _original(history, revert)
        said = original.subject if original is not None else _subject(revert) or ""
        later = await _later(history, revert, _roots(_NUMBER.sub("", said).lower().split()) or asked)
        every = [each for each in (original, revert, *later) if each is not None]
        releases = await releases_of(history, every)
        lines = [commit_row(each, releases.get(each.id, "")) for each in every]
        groups = [*(["reverted"] if original is not None else []), "reverted_by", *("later_about_it" for _ in later)]
        rows += [replace(row, group=group) for row, group in zip(lines, groups, strict=True)]
        said = await history.messages([revert.id])
        rows += [TextLine("messages", key[:10], " ".join(text.split())[:280]) for key, text in said.items()]
    count = counted(len(reverts), "commit")
    has = " and ".join(f'"{spelled.get(word, word.rstrip())}"' for word in reverts[0].words if word != "revert")
    return LineReport("changes", f"reverts whose message has {has}: {count}", tuple(rows), found.notes)


def _roots(words: Iterable[str]) -> list[str]:
    plain = (word.strip("`'\"#.,?!:;()[]") for word in words)
    kept = [word for word in plain if len(word) > 2 and word not in STOP_WORDS]
    return list(dict.fromkeys(root_of_word(word) if len(word) > SHORT else f"{word} " for word in kept))


def _weight(told: ToldCommit, weights: dict[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in told.words)


def _subject(revert: Commit) -> str | None:
    match = _QUOTED.search(revert.subject)
    return match["subject"] if match is not None else None


async def _original(history: History, revert: Commit) -> Commit | None:
    """Return the commit that another one reverts, by its id in the message or by its subject; None if unknown."""
    said = (await history.messages([revert.id])).get(revert.id, "")
    ids = _ID.search(said)
    subject = _NUMBER.sub("", _subject(revert) or "").strip()
    if not subject and ids is None:
        return None
    span = CommitSpan(until=revert.time)
    found = await history.commits_about(_roots(subject.lower().split()) or ("revert",), MOST_COMPARED, span)
    for each in (told.commit for told in found.commits):
        same = bool(subject) and _NUMBER.sub("", each.subject).strip() == subject
        if each.id != revert.id and (same or (ids is not None and each.id.startswith(ids["id"]))):
            return each
    return None


async def _later(history: History, revert: Commit, words: Sequence[str]) -> list[Commit]:
    """Return commits behind a revert whose messages have most of the words of what it took back, oldest first."""
    found = await history.commits_about(words, MOST_COMPARED, CommitSpan(after=revert.time))
    least = MIN_LATER * sum(found.weights.values())
    kept = [each for each in found.commits if each.commit.id != revert.id and each.weight >= least]
    kept = [each for each in kept if len(each.words) > 1][:MOST_LATER]
    return sorted((each.commit for each in kept), key=lambda each: each.time)
