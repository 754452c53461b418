"""Search a long text as several questions, and look up what it names.

Title, opening and whole text run through the channels of words and meaning, and their scores are added. Frames, paths
and identifiers are looked up in the index; what few definitions answer to counts most.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from atlas.code.question.long_text import MAX_CHARACTERS, LongText, fits, rarest
from atlas.code.question.parse_question import MAX_QUERY_CHARACTERS, Query, route
from atlas.code.question.tracebacks import TracebackFrame
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import (
    Ranking,
    by_meaning,
    by_prose,
    by_words,
    gather,
)
from atlas.code.retrieve.exact_text import by_exact_text
from atlas.code.retrieve.fuse import normalised, order
from atlas.code.retrieve.phrases import by_phrase
from atlas.code.retrieve.sentence_transformer import by_quality
from atlas.core.english.stems import base_forms
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import AtlasError
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.model import Filter, Label, Match, Node, Scored, WordCounts

PART_WEIGHTS = (0.3, 0.3, 0.4)
"""Title, opening, whole text."""
MAX_WORDS = 32
"""Words of the whole text that are searched."""
BATCH = 64
"""Words that a store counts at once."""
MAX_COUNTED = 384
FEW = 5
"""Definitions that may have a name that a text mentions; a name of more tells nothing."""
FRAME, NAME, PATH = 1.0, 0.8, 0.5
"""Score of what a frame, an identifier of one definition, or a path leads to."""
ONLY_FRAMES = 3
"""How many times more a frame counts in a text that is hardly more than frames: the few words are a message."""
USUAL = 16
"""Frames and identifiers of a text that count in full; of more, each counts less, so that a long log is no answer."""
FILE_BONUS = 0.1
"""For all candidates of a file that the text names."""
_DEFINITIONS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE, Label.MODULE, Label.PACKAGE))
_TOPS = frozenset((Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE, Label.ADR))


@dataclass(frozen=True, slots=True)
class ChannelHits:
    """What the channels found for a question, before it is ranked."""

    query: Query
    rankings: list[Ranking]
    counts: WordCounts
    subject: Query
    """The question itself; of a long text its title."""
    long: LongText | None = None


async def search_long_text(reader: Reader, text: LongText, query: Query, where: Filter) -> ChannelHits:
    """Return what a long text finds; a failed channel has a note. `query`: the whole text as one question."""
    counted = Counter(reader.split_words(text.whole))
    words = {word: often for word, often in counted.most_common() if word not in STOP_WORDS}
    counts = await _count(reader, list(words)[:MAX_COUNTED], where)
    in_order = {word: words[word] for word in dict.fromkeys(reader.split_words(text.whole)) if word in words}
    chosen = rarest(in_order, counts, MAX_WORDS) or query.words[:MAX_WORDS]
    whole = _whole(reader, text, query, chosen)
    title = route(text.title, reader.split_words, reader.languages)
    opening = route(text.opening, reader.split_words, reader.languages)
    parts = [part for part in (title, opening, whole) if part.words]
    found = await gather(
        *(("words", by_words(reader, part, where)) for part in parts),
        *(("meaning", by_meaning(reader, part, where)) for part in parts),
        ("phrase", by_phrase(reader, whole, where)),
        ("exact", by_exact_text(reader, query, where) if "\n" not in text.whole.strip() else _nothing()),
        ("prose", by_prose(reader, opening, where)),
        ("written", by_writing(reader, text, where)),
        ("quality", by_quality(reader, title if title.words else whole, where)),
    )
    weights = PART_WEIGHTS if len(parts) == len(PART_WEIGHTS) else (1.0,) * len(parts)
    rankings = [
        _merged("words", found[: len(parts)], weights, is_cosine=False),
        _merged("meaning", found[len(parts) : 2 * len(parts)], weights, is_cosine=True),
        *found[2 * len(parts) :],
    ]
    asked = replace(
        whole,
        wants_documents=title.wants_documents,
        wants_reasons=title.wants_reasons,
        wants_configuration=title.wants_configuration,
        languages=title.languages,
        reports=True,
    )
    return ChannelHits(asked, rankings, counts, title, text)


async def _nothing() -> Ranking:
    """Return nothing for a report, which quotes code and values; a line of a log stands alone."""
    return Ranking("exact")


def _whole(reader: Reader, text: LongText, query: Query, words: tuple[str, ...]) -> Query:
    forms = (form for word in words for form in base_forms(word))
    phrases = (" ".join(reader.split_words(each)) for each in text.messages)
    folded = " ".join(text.whole.split())
    return replace(
        query,
        text=folded[:MAX_QUERY_CHARACTERS],
        words=words,
        variants=tuple(dict.fromkeys(form for form in forms if form not in words)),
        names=(),
        joined=(),
        paths=(),
        phrases=tuple(phrase for phrase in phrases if phrase.count(" ") > 1),
        verbatim="",
        focus=0.0,
        notes=tuple(_cuts(text, len(folded))),
        # a report quotes code, which sets messages as well; a line of a log stands alone
        errors=() if "\n" in text.whole.strip() else query.errors,
    )


def _cuts(text: LongText, folded: int) -> Iterator[str]:
    """Yield what of a text was not read, or read in part."""
    if text.length > MAX_CHARACTERS:
        yield f"text cut to its first {MAX_CHARACTERS} of {text.length} characters"
    if folded > MAX_QUERY_CHARACTERS:
        yield f"compared by meaning: the first {MAX_QUERY_CHARACTERS} characters of the text only"


async def _count(reader: Reader, words: Sequence[str], where: Filter) -> WordCounts:
    """Count words by file; nothing is counted if the store cannot be read."""
    batches = [words[at : at + BATCH] for at in range(0, len(words), BATCH)]
    try:
        found = await asyncio.gather(*(reader.store.count_words(batch, where) for batch in batches))
    except AtlasError:
        return WordCounts({}, {})
    nodes = {path: count for each in found for path, count in each.nodes.items()}
    return WordCounts(nodes, {word: files for each in found for word, files in each.words.items()})


def _merged(channel: str, rankings: Sequence[Ranking], weights: Sequence[float], *, is_cosine: bool) -> Ranking:
    """Return the weighted mean of a channel's rankings; a node that one lacks has that one's lowest cosine there."""
    totals: dict[str, float] = {}
    lists = [(dict(each.hits), weight) for each, weight in zip(rankings, weights, strict=True) if each.hits]
    total = sum(weight for _, weight in lists)
    for hits, weight in lists:
        scores = hits if is_cosine else normalised(tuple(Scored(*hit) for hit in hits.items()))
        floor = min(hits.values()) if is_cosine else 0.0
        for uid in {uid for others, _ in lists for uid in others}:
            totals[uid] = totals.get(uid, 0.0) + weight / total * scores.get(uid, floor)
    hits = order(totals)
    notes = dict.fromkeys(each.note for each in rankings if each.note)
    return Ranking(channel, tuple(hits), "" if hits else "; ".join(notes))


async def by_writing(reader: Reader, text: LongText, where: Filter) -> Ranking:
    """Find what a text names: frames by file and function, identifiers with few definitions, files by path."""
    jobs: list[Awaitable[list[tuple[Node, float, str]]]] = [
        *(_of_frame(reader, frame, where) for frame in text.frames),
        *(_of_name(reader, name, where) for name in text.names),
        *(_of_path(reader, path, where) for path in text.paths),
    ]
    share = min(1.0, sqrt(USUAL / max(1, len(text.frames) + len(text.names))))
    lift = ONLY_FRAMES if text.is_traceback else 1
    best: dict[str, tuple[float, str]] = {}
    for found in await asyncio.gather(*jobs):
        for node, score, reason in found:
            weighed = score * share * (lift if reason == "frame" else 1)
            best[node.row.uid] = max(best.get(node.row.uid, (0.0, "")), (weighed, reason))
    hits = tuple(
        sorted((Scored(uid, score) for uid, (score, _) in best.items()), key=lambda hit: (-hit.score, hit.uid))
    )
    return Ranking("written", hits, reasons=tuple((uid, best[uid][1]) for uid, _ in hits))


async def _of_frame(reader: Reader, frame: TracebackFrame, where: Filter) -> list[tuple[Node, float, str]]:
    """Return the function of a frame: in its file, of its owner if several have the name.

    Some runtimes print the place of a call with the function that is called there: then it is looked for in all files.
    """
    if not frame.name:
        return [hit for hit in await _of_path(reader, frame.path, where) if fits(frame.path, hit[0].row.path)]
    nodes = await reader.store.find(frame.name, Match.SUFFIX, _in_file(where, frame.path), FEW * 2)
    graded = [(fits(frame.path, node.row.path), node) for node in nodes if node.row.label in _DEFINITIONS]
    nearest = max((shared for shared, _ in graded), default=0)
    kept = [node for shared, node in graded if shared == nearest > 0]
    if not kept and frame.owner:
        owned = f"{frame.owner}.{frame.name}"
        nodes = await reader.store.find(owned, Match.SUFFIX, where, 2)
        kept = [node for node in nodes if node.row.label in _DEFINITIONS and node.row.path] if len(nodes) == 1 else []
    elif len(kept) > 1 and frame.owner:
        end = f".{frame.owner}.{frame.name}"
        kept = [node for node in kept if f".{node.row.qualified_name}".endswith(end)] or kept
    return [(node, FRAME / len(kept), "frame") for node in kept] if len(kept) <= FEW else []


async def _of_name(reader: Reader, name: str, where: Filter) -> list[tuple[Node, float, str]]:
    nodes = await reader.store.find(name, Match.SUFFIX, where, FEW + 1)
    kept = [node for node in nodes if node.row.label in _DEFINITIONS and node.row.label not in EXTERNAL_LABELS]
    return [(node, NAME / len(kept), "named") for node in kept] if len(nodes) <= FEW else []


async def _of_path(reader: Reader, path: str, where: Filter) -> list[tuple[Node, float, str]]:
    """Return the top node of the file that a written path means: the most trailing segments in common."""
    name = path.replace("\\", "/").rpartition("/")[2]
    whole = await reader.store.find(path.removeprefix("./"), Match.PATH, where, 1)
    if whole:
        return [(node, PATH, "path") for node in whole]
    narrowed = _in_file(where, path)
    found = await asyncio.gather(
        *(
            reader.store.find(each, Match.SUFFIX, narrowed, FEW)
            for each in dict.fromkeys((name.partition(".")[0], name))
        )
    )
    tops = {node.row.uid: node for nodes in found for node in nodes if node.row.label in _TOPS}.values()
    nearest = max((fits(path, node.row.path) for node in tops), default=0)
    kept = [node for node in tops if fits(path, node.row.path) == nearest]
    return [(node, PATH / len(kept), "path") for node in kept]


def _in_file(where: Filter, path: str) -> Filter:
    """Return the filter with the name of a file, unless it has a path of its own."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return where if where.path or any(sign in name for sign in "*?[") else replace(where, path=f"*{name}")


def lift_written_files(candidates: Sequence[Candidate], text: LongText) -> list[Candidate]:
    """Return the candidates in their order, those of files that the text names with a bonus."""
    written = (*text.paths, *(frame.path for frame in text.frames))

    def is_named(path: str) -> bool:
        most = len([part for part in path.split("/") if part])
        return any(fits(each, path) >= min(2, most) for each in written)

    return [
        replace(each, score=each.score + FILE_BONUS) if each.node.row.path and is_named(each.node.row.path) else each
        for each in candidates
    ]
