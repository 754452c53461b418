"""How well notes are found: recall at 5 and 10 of words, meaning, their sum, and `find_notes`, over sets of cases.

`python -m tests.bench.recall [FILE ...]` writes the notes of each file into one knowledge folder, indexes it, and asks
the questions. A file is a JSON list of cases: {"entities": [{name, type, aliases, observations: [{created, text}]}],
"claims": [{text, source}], "relations": [[from, type, to]], "turns": [{speaker, created, text}], "queries": [{query, kind,
gold: [text]}]}. Turns are observations of their speaker, in the order of the conversation, unless `--feed` names
another way (`feeds.py`). With `--apart` each case has an index of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.index.events import no_progress
from atlas.core.model import PROSE, Filter, Label
from atlas.knowledge.notes.ids import IdSource
from atlas.knowledge.retrieval.hits import NoteFilter
from atlas.knowledge.retrieval.retrieval import find_notes
from atlas.knowledge.retrieval.scoring import fused, ordered
from atlas.parsing import stem_words
from atlas.runtime.config.load import load_settings
from tests.bench.feeds import FEEDS, SOURCES, fed

DATA = Path(__file__).with_name("data")
DEPTHS = (5, 10)
POOL = 1000
Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of the notes that answer it."""

    text: str
    kind: str
    gold: frozenset[str]


def write_notes(cases: Sequence[Case], root: Path) -> list[Question]:
    """Write the notes of the cases; return their questions."""
    ids, questions = IdSource(), list[Question]()
    for number, case in enumerate(cases):
        by_text: dict[str, str] = {}
        entities = {each["name"]: dict(each) for each in case.get("entities", ())}
        own = {name: ids.new("entity") for name in entities}
        bodies: dict[str, list[str]] = {name: [] for name in entities}
        for name, entity in entities.items():
            for each in entity["observations"]:
                by_text[each["text"]] = _observe(ids, bodies[name], each)
        for turn in case.get("turns", ()):
            name = turn["speaker"]
            if name not in entities:
                entities[name], own[name], bodies[name] = {"name": name, "type": "person"}, ids.new("entity"), []
            by_text[turn["text"]] = _observe(ids, bodies[name], turn)
        for name, entity in entities.items():
            relations = [
                {"type": kind, "to": own[to]} for source, kind, to in case.get("relations", ()) if source == name
            ]
            front: dict[str, Any] = {"id": own[name], "kind": "entity", "name": name, "type": entity.get("type", "")}
            front |= {"aliases": entity.get("aliases", []), "relations": relations}
            _write(root / f".knowledge/entities/{number}-{_slug(name)}.md", front, "\n".join(bodies[name]))
        for at, claim in enumerate(case.get("claims", ())):
            note = by_text[claim["text"]] = ids.new("claim")
            front = {"id": note, "kind": "claim", "source": claim.get("source", "")}
            _write(root / f".knowledge/claims/{number}-{at}.md", front, claim["text"])
        for query in case["queries"]:
            gold = frozenset(by_text[text] for text in query["gold"])
            questions.append(Question(query["query"], query.get("kind", ""), gold))
    return questions


def _observe(ids: IdSource, body: list[str], each: dict[str, str]) -> str:
    note = ids.new("observation")
    body.append(f"- {each['created']} [{note}] {each['text']}")
    return note


def _write(path: Path, front: dict[str, Any], body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}: {json.dumps(value)}" for key, value in front.items()]
    path.write_text("\n".join(("---", *lines, "---", body, "")), encoding="utf-8")


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower())


Ask = Callable[[Atlas, str], Awaitable[list[str]]]
LABELS = (Label.CLAIM, Label.OBSERVATION, Label.DECISION)


async def _scores(atlas: Atlas, text: str) -> tuple[dict[str, float], dict[str, float]]:
    where, store = Filter(project=atlas.reader.project, labels=LABELS), atlas.reader.store
    words = await store.search_text(stem_words(text).split(), where, POOL)
    assert atlas.reader.prose_embedder is not None
    vector = await atlas.reader.prose_embedder.embed_query(text)
    meaning = await store.search_vector(vector, where, POOL, PROSE)
    return {hit.uid: hit.score for hit in words}, {hit.uid: hit.score for hit in meaning}


def _asking(combine: Callable[[dict[str, float], dict[str, float]], dict[str, float]]) -> Ask:
    async def ask(atlas: Atlas, text: str) -> list[str]:
        return ordered(combine(*await _scores(atlas, text)))

    return ask


async def _found(atlas: Atlas, text: str) -> list[str]:
    return [hit.node.row.uid for hit in await find_notes(atlas.reader, text, NoteFilter(), max(DEPTHS))]


VARIANTS: dict[str, Ask] = {
    "words": _asking(lambda words, _: words),
    "meaning": _asking(lambda _, meaning: meaning),
    "fused": _asking(fused),
    "find_notes": _found,
}

_STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "what",
        "when",
        "where",
        "who",
        "which",
        "how",
        "why",
        "with",
        "her",
        "his",
        "their",
        "its",
        "it",
        "he",
        "she",
        "they",
        "i",
        "you",
        "my",
        "your",
        "from",
        "by",
        "that",
        "this",
        "as",
        "has",
        "have",
        "had",
    ]
)


def plain_bm25(texts: dict[str, str]) -> Callable[[str], list[str]]:
    """Return a ranking by BM25 with k 1.5, b .75 and endings cut off: the baseline of the prose model's README."""
    counts = {key: Counter(_plain(text)) for key, text in texts.items()}
    frequency = Counter(word for found in counts.values() for word in found)
    mean = sum(sum(found.values()) for found in counts.values()) / max(len(counts), 1)

    def rank(text: str) -> list[str]:
        scores: dict[str, float] = {}
        for word in set(_plain(text)):
            hits = frequency[word]
            idf = math.log(1 + (len(texts) - hits + 0.5) / (hits + 0.5))
            for key, found in counts.items():
                if word in found:
                    length = 0.25 + 0.75 * sum(found.values()) / mean
                    scores[key] = scores.get(key, 0.0) + idf * found[word] * 2.5 / (found[word] + 1.5 * length)
        return ordered(scores)

    return rank


def _plain(text: str) -> list[str]:
    words = (word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _STOP_WORDS)
    return [re.sub(r"(ing|ed|es|s)$", "", word) if len(word) > 4 else word for word in words]


async def _ask_all(atlas: Atlas, questions: Sequence[Question]) -> list[dict[str, list[str]]]:
    prefix = f"{atlas.reader.project}:"
    listed: dict[str, str] = {}
    for row in await atlas.reader.store.vectors(atlas.reader.project, 1_000_000, "", PROSE):
        (node,) = await atlas.reader.store.symbols([row.uid])
        if node.row.label in LABELS:
            listed[row.uid] = f"{node.row.chunk_name}: {node.row.docstring}"
    bm25 = plain_bm25(listed)
    answers: list[dict[str, list[str]]] = []
    for question in questions:
        found = {name: await ask(atlas, question.text) for name, ask in VARIANTS.items()}
        found["plain BM25"] = bm25(question.text)
        answers.append({name: [uid.removeprefix(prefix) for uid in uids[:20]] for name, uids in found.items()})
    return answers


async def measure(cases: Sequence[Case]) -> list[tuple[Question, dict[str, list[str]]]]:
    """Index the cases together; return each question with the ids that each variant found."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "p")
        questions = write_notes(cases, root)
        settings = load_settings(str(root), str(Path(folder, "data")))
        await index_project(settings, no_progress)
        async with open_atlas(settings) as atlas:
            return list(zip(questions, await _ask_all(atlas, questions), strict=True))


def report(name: str, found: Sequence[tuple[Question, dict[str, list[str]]]]) -> None:
    """Print recall at each depth in percent by variant, for all questions and for each kind."""
    kinds = sorted({question.kind for question, _ in found} - {""})
    print(f"{name}: {len(found)} questions, R@5 / R@10")
    for variant in ("plain BM25", *VARIANTS):
        cells = [_recalls(variant, found)]
        cells += [f"{kind} {_recalls(variant, [each for each in found if each[0].kind == kind])}" for kind in kinds]
        print(f"  {variant:<11}" + "   ".join(cells))


def _recalls(variant: str, found: Sequence[tuple[Question, dict[str, list[str]]]]) -> str:
    shares = [
        sum(len(question.gold & set(answers[variant][:depth])) / len(question.gold) for question, answers in found)
        for depth in DEPTHS
    ]
    return " / ".join(f"{100 * share / max(len(found), 1):.1f}" for share in shares)


async def main() -> None:
    """Measure every file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="files of cases; all of tests/bench/data/recall*.json")
    parser.add_argument("--apart", action="store_true", help="an index for each case")
    parser.add_argument(
        "--feed", choices=("turns", *FEEDS, *SOURCES), default="turns", help="how they are written down"
    )
    parser.add_argument("--misses", action="store_true", help="print the questions that find_notes misses")
    options = parser.parse_args()
    for file in options.files or sorted(DATA.glob("recall*.json")):
        cases = cast("list[Case]", json.loads(file.read_text(encoding="utf-8")))
        cases = fed(cases, options.feed)
        groups = [[case] for case in cases] if options.apart else [cases]
        found = [each for group in groups for each in await measure(group)]
        report(file.stem, found)
        for question, answers in found if options.misses else ():
            if question.gold - set(answers["find_notes"][:10]):
                print("   missed:", question.kind, question.text)


if __name__ == "__main__":
    asyncio.run(main())
