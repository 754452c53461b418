"""Commits by the words of their messages, the rarer words counting more, and the first tag that contains a commit."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Collection, Sequence

from atlas.adapters.git.commits import changed_paths
from atlas.adapters.git.limits import Deadline
from atlas.adapters.git.objects import CommitRecord
from atlas.adapters.git.repository import Repository, commit_of
from atlas.core.history import Commit, CommitsAbout, CommitSpan, ToldCommit
from atlas.core.lazy_regex import lazy_regex
from atlas.core.wording import counted

_HUMP = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])|_")
_SLACK = 86_400
"""Seconds by which clocks of committers may differ."""
MAX_TAGS = 2_000
_PATHS = 2
_OF_MERGE = 2
MAX_BRANCH = 4
"""Commits at the end of a merged branch of which the merge tells."""


def commits_about(
    repository: Repository, words: Sequence[str], limit: int, span: CommitSpan, soft: Deadline
) -> CommitsAbout:
    """See `History.commits_about`. Merges are left out, and commits that change nothing of the project."""
    patterns = [_begins(word) for word in words]
    having = [0] * len(words)
    found: list[tuple[CommitRecord, frozenset[int]]] = []
    notes: list[str] = []
    looked = 0
    hidden = [repository.revision(span.since)] if span.since else []
    start = repository.revision(span.last) if span.last else repository.head()
    for record in repository.walker.back([start], hidden):
        if span.after and record.time < span.after:
            break
        if soft.passed:
            notes.append(f"the time for this question ended after {counted(looked, 'commit')}")
            break
        if (span.until and record.time > span.until) or len(record.parents) > 1:
            continue
        looked += 1
        said = _said(record.subject, words, patterns)
        if said:
            found.append((record, said))
            for number in said:
                having[number] += 1
    weights = [math.log((looked + 1) / (count + 0.5)) for count in having]
    ranked = sorted(found, key=lambda each: (-sum(weights[number] for number in each[1]), -each[0].time))
    told: list[ToldCommit] = []
    for record, said in ranked:
        if len(told) == limit:
            break
        changed, more = changed_paths(repository, record)
        if not changed:
            continue
        commit = commit_of(record, changed[:_PATHS], len(changed[_PATHS:]) + more)
        weight = sum(weights[number] for number in said)
        told.append(ToldCommit(commit, tuple(words[number] for number in sorted(said)), weight))
    said_words = {word: weight for word, weight, count in zip(words, weights, having, strict=True) if count}
    return CommitsAbout(tuple(told), said_words, looked, tuple(notes))


def last_commits(repository: Repository, limit: int, soft: Deadline) -> tuple[Commit, ...]:
    """See `History.last_commits`. What was listed of the same HEAD is listed again."""
    head = repository.head()
    listed, most, known = repository.last_commits
    if listed == head and (limit <= most or len(known) < most):
        return known[:limit]
    found: list[Commit] = []
    for record in repository.walker.back([head]):
        if len(found) == limit or soft.passed:
            break
        if len(record.parents) == 1:
            found.append(commit_of(record))
    if not soft.passed:
        repository.last_commits = (head, limit, tuple(found))
    return tuple(found)


def _begins(word: str) -> re.Pattern[str]:
    if not word[:1].isalnum():
        return re.compile(rf"(?<=['\"`(]){re.escape(word)}(?=['\"`)])")  # `'..'`
    end = r"(?![^\W_])" if word.endswith(" ") else ""
    return re.compile(rf"(?<![^\W_]){re.escape(word.rstrip())}{end}")


def _said(subject: str, words: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> frozenset[int]:
    """Return the numbers of the words that a subject has, also as parts of identifiers: `StartAsLeader`."""
    lowered = subject.lower()
    likely = [number for number, word in enumerate(words) if word.rstrip() in lowered]
    if not likely:
        return frozenset()
    text = f"{lowered} {_HUMP.sub(' ', subject).lower()}"
    return frozenset(number for number in likely if patterns[number].search(text) is not None)


def first_tags(repository: Repository, ids: Collection[str], soft: Deadline) -> dict[str, str]:
    """See `History.first_tags`. Each tag, the oldest first, is followed to the commits that an older one contains."""
    asked = {bytes.fromhex(each) for each in ids}
    if not asked:
        return {}
    earliest = min(repository.objects.commit(oid).time for oid in asked) - _SLACK
    tags = repository.revisions.tags()
    records = (repository.objects.commit(oid) for oid in list(tags)[:MAX_TAGS])
    younger = sorted((record for record in records if record.time >= earliest), key=lambda record: record.time)
    seen: set[bytes] = set()
    found: dict[str, str] = {}
    for tag in younger:
        heap = [(-tag.time, tag.oid)]
        while heap and asked - seen:
            if soft.passed:
                return found
            _, oid = heapq.heappop(heap)
            if oid in seen:
                continue
            seen.add(oid)
            if oid in asked:
                found[oid.hex()] = tags[tag.oid]
            record = repository.objects.commit(oid)
            for parent in repository.walker.parents(record):
                if parent not in seen and (time := repository.walker.time_of(parent)) >= earliest:
                    heapq.heappush(heap, (-time, parent))
    return found


def messages(repository: Repository, ids: Collection[str], soft: Deadline) -> dict[str, str]:
    """See `History.messages`."""
    said = {each: repository.objects.message(bytes.fromhex(each)) for each in ids}
    merges = _merges_of(repository, {bytes.fromhex(each) for each, text in said.items() if not text}, soft)
    said |= {oid.hex(): text for oid, text in merges.items()}
    return {each: text for each, text in said.items() if text}


def _merges_of(repository: Repository, asked: set[bytes], soft: Deadline) -> dict[bytes, str]:
    """Return what the merges say that brought commits, which are the last ones of their branch or near it."""
    if not asked:
        return {}
    earliest = min(repository.objects.commit(oid).time for oid in asked) - _SLACK
    found: dict[bytes, str] = {}
    for record in repository.walker.back([repository.head()], []):
        if record.time < earliest or soft.passed or len(found) == len(asked):
            break
        if len(record.parents) != _OF_MERGE:
            continue
        oid = record.parents[1]
        for _ in range(MAX_BRANCH):
            if oid in asked and oid not in found and (text := repository.objects.message(record.oid)):
                found[oid] = f"{record.subject} ({record.oid.hex()[:10]}): {text}"
            own = repository.objects.commit(oid)
            if len(own.parents) != 1 or own.time < earliest:
                break
            oid = own.parents[0]
    return found
