"""Functions that commits changed whose subjects tell what a question for behaviour asks for.

The subject of a commit says in the words of people what its lines do: `Give up after three redirects`. The commits
whose subjects are most like the question lead to the functions that still have lines which they added.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from atlas.code.question.parse_question import Query
from atlas.code.rank.bodies import MOST_TOLD, by_rarity, forms_of, is_deciding, scaled_cosines, words_of
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.code.retrieve.exact_text import code_paths
from atlas.core.history import Commit, History
from atlas.core.model import Filter, Label, Match, Node

COMMITS = 2_000
"""The last ones, whose subjects are compared with the question."""
COMPARED = 60
"""Commits whose lines are read, the most similar ones: half of them find a little less."""
WORDS_WEIGHT, MEANING_WEIGHT = 0.8, 0.4
"""Of the share of the question's words in a subject, by rarity among all, and of its cosine by the model of prose."""
MOST_FUNCTIONS = 20
"""A commit that changed more functions tells nothing about each."""
SHARED = 0.25
"""The power of the number of functions by which what a commit says about each is divided."""
MIN_LETTERS, MOST_HOLDERS = 8, 2
"""Of a line that leads to functions, functions that have it: others say nothing, `return None`."""
MOST_FILES = 40
MOST_NODES = 2_000
SCORE = 0.4
"""Of a function that becomes a candidate, before its body is read, as a share of the best score."""
TOLD = "told"
"""The channel of a candidate that only commits tell about."""


class ToldFunction(NamedTuple):
    """A function and how much commits tell about it, 0..1."""

    node: Node
    value: float


async def told_functions(reader: Reader, query: Query, where: Filter) -> Sequence[ToldFunction]:
    """Return the functions about which commits tell something, most first. Raises store and history errors."""
    history = reader.history
    if history is None or where.project not in ("", reader.project):
        return ()
    values = await _most_similar(reader, query, history)
    where = replace(where, project=reader.project)
    paths = await code_paths(reader, where.project)
    added = await history.added_lines(list(values), paths.__contains__)
    holders = await _holders(reader, added, where)
    told: dict[str, ToldFunction] = {}
    for each, files in added.items():
        changed = _changed(files, holders)
        if len(changed) > MOST_FUNCTIONS:
            continue
        for uid, node in changed.items():
            value = values[each] / len(changed) ** SHARED
            if uid not in told or told[uid].value < value:
                told[uid] = ToldFunction(node, value)
    ordered = sorted(told.values(), key=lambda each: (-each.value, each.node.row.path, each.node.row.start_byte))
    return [ToldFunction(node, value / ordered[0].value) for node, value in ordered]


def with_told(ranked: Sequence[Candidate], told: Sequence[ToldFunction]) -> list[Candidate]:
    """Return the candidates and, behind them, the functions that commits tell most about and that are none."""
    known = {uid for each in ranked for uid in (each.node.row.uid, *each.also)}
    score = SCORE * max((each.score for each in ranked), default=0.0)
    further = (node for node, _ in told[:MOST_TOLD] if node.row.uid not in known)
    return [*ranked, *(Candidate(node, score, (TOLD,)) for node in further)]


async def _most_similar(reader: Reader, query: Query, history: History) -> Mapping[str, float]:
    """Return the commits whose subjects are most like the question, by id, with how much they are."""
    commits = await history.last_commits(COMMITS)
    subjects = [each.subject for each in commits]
    forms = forms_of(query)
    words = by_rarity([frozenset(words_of(each, forms, reader.split_words)) for each in subjects], forms)
    meaning = await scaled_cosines(reader, query.text, [("", subjects)])
    values = [WORDS_WEIGHT * own + MEANING_WEIGHT * near for own, near in zip(words, meaning, strict=True)]
    return dict(_best(commits, values))


def _best(commits: Sequence[Commit], values: Sequence[float]) -> list[tuple[str, float]]:
    places = sorted(range(len(commits)), key=lambda place: (-values[place], place))[:COMPARED]
    return [(commits[place].id, values[place]) for place in places if values[place] > 0]


async def _holders(
    reader: Reader, added: Mapping[str, Mapping[str, frozenset[str]]], where: Filter
) -> Mapping[str, Mapping[str, Sequence[Node]]]:
    """Return by path and line the functions of the index that have an added line; lines that say little have none."""
    lines: dict[str, set[str]] = {}
    for files in added.values():
        for path, own in files.items():
            lines.setdefault(path, set()).update(own)
    contents = await reader.store.content(where.project, list(lines))
    places = {path: _places(contents[path], lines[path]) for path in lines if path in contents}
    paths = [path for path, found in places.items() if found][:MOST_FILES]
    functions = where if where.labels else replace(where, labels=(Label.FUNCTION, Label.METHOD))
    nodes = await asyncio.gather(*(reader.store.find(path, Match.PATH, functions, MOST_NODES) for path in paths))
    return {path: _by_line(places[path], own) for path, own in zip(paths, nodes, strict=True)}


def _places(content: bytes, lines: set[str]) -> Sequence[tuple[int, str]]:
    """Return the lines of a file that are among some lines and say something, with their numbers."""
    texts = map(str.strip, content.decode("utf-8", "replace").split("\n"))
    return [
        (number, line)
        for number, line in enumerate(texts, 1)
        if line in lines and sum(map(str.isalpha, line)) >= MIN_LETTERS
    ]


def _by_line(places: Sequence[tuple[int, str]], nodes: Sequence[Node]) -> Mapping[str, Sequence[Node]]:
    """Return the functions that have each line; none of a line that many have."""
    found: dict[str, dict[str, Node]] = {}
    for node in nodes:
        if is_deciding(node.row):
            first = bisect_left(places, (max(node.row.line, node.row.start_line), ""))
            last = bisect_left(places, (node.row.end_line + 1, ""))
            for _, line in places[first:last]:
                found.setdefault(line, {})[node.row.uid] = node
    return {line: list(own.values()) for line, own in found.items() if len(own) <= MOST_HOLDERS}


def _changed(
    files: Mapping[str, frozenset[str]], holders: Mapping[str, Mapping[str, Sequence[Node]]]
) -> Mapping[str, Node]:
    """Return the functions by uid that have lines of a commit."""
    held = [(holders[path], lines) for path, lines in files.items() if path in holders]
    return {node.row.uid: node for own, lines in held for line in lines & own.keys() for node in own[line]}
