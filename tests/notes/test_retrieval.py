"""Retrieval of notes: from files to ranked hits, and the properties of the pure parts."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.app.main import index_project, open_atlas
from atlas.code.index.events import no_progress
from atlas.code.reader import Reader
from atlas.core.english.sentences import note_sentences
from atlas.core.errors import NotFound
from atlas.core.model import Label
from atlas.core.short_term import ShortTermEntry
from atlas.knowledge.notes.ids import IdSource
from atlas.knowledge.retrieval import scoring
from atlas.knowledge.retrieval.conversation import with_conversation
from atlas.knowledge.retrieval.hits import NOTE_LABELS, NoteFilter, NoteHit
from atlas.knowledge.retrieval.mentions import contains
from atlas.knowledge.retrieval.retrieval import (
    answer_factor,
    answer_pattern,
    clashing_notes,
    concept_notes,
    find_notes,
    similar_notes,
)
from atlas.knowledge.retrieval.short_term import ShortTermHit, emotional_neighbours, merge_short_term
from atlas.runtime.config.load import load_settings

IDS = IdSource(lambda: 1_780_000_000.0)
ENTITIES = {
    "Maria Lopez": (["Mia"], ("LEADS", "Billing API")),
    "Billing API": (["invoicer"], None),
    "Tomek Nowak": ([], None),
    "Greta Berg": ([], None),
}
TURNS = [
    ("Maria Lopez", "2026-01-08T12:13:00Z", "Decided to postpone the launch until the tax rules are tested."),
    ("Billing API", "2025-10-21T12:32:00Z", "Returned duplicate invoices after a queue replay."),
    ("Billing API", "2025-12-02T17:39:00Z", "Written in Kotlin and owned by the payments squad."),
    ("Tomek Nowak", "2026-03-01T10:00:00Z", "How was the concert on Saturday?"),
    ("Greta Berg", "2026-03-01T10:00:20Z", "The drummer stole the show, and it rained cats and dogs."),
    ("Tomek Nowak", "2026-03-01T10:00:40Z", "What happened then?"),
    ("Greta Berg", "2026-03-09T10:00:00Z", "My sister moved to Porto."),
]
PASSAGE = (
    "The storage engine writes ahead to a log. Pages are flushed in the background by a single thread. Every table has "
    "a clustered primary key, and secondary keys hold its value. A checkpoint starts when the log has reached three "
    "quarters of its size. Backups are incremental and are taken at two in the morning. Restoring a terabyte takes "
    "about five hours on the current machines."
)
CLAIMS = [
    ("Attention scales quadratically with the length of the sequence.", {"confidence": 0.9}),
    ("Caching the results makes the search faster.", {"confidence": 0.6}),
    ("Caching the results makes the search slower.", {"confidence": 0.2, "status": "disputed"}),
    ("Attention scales linearly, as everybody knows.", {"status": "retracted"}),
    (PASSAGE, {"author": {"client": "cursor/1.0", "agent": ""}}),
]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The root and the data folder of an indexed project with the notes above."""
    folder = tmp_path_factory.mktemp("retrieval")
    root = folder / "p"
    own = {name: IDS.new("entity") for name in ENTITIES}
    bodies: dict[str, list[str]] = {name: [] for name in ENTITIES}
    for name, created, text in TURNS:
        bodies[name].append(f"- {created} [{IDS.new('observation')}] {text}")
    for at, (name, (aliases, relation)) in enumerate(ENTITIES.items()):
        relations = [] if relation is None else [{"type": relation[0], "to": own[relation[1]]}]
        front = {"id": own[name], "kind": "entity", "name": name, "aliases": aliases, "relations": relations}
        write(root / f".knowledge/entities/{at}.md", front, "\n".join(bodies[name]))
    for at, (text, front) in enumerate(CLAIMS):
        write(root / f".knowledge/claims/{at}.md", {"id": IDS.new("claim"), "kind": "claim", **front}, text)
    (root / "adr").mkdir()
    (root / "adr/0001-queue.md").write_text("# 0001 Queue\n\n## Decision\n\nInvoices wait in a queue of their own.\n")
    (root / "shop.py").write_text('def caching_results(search):\n    """Caching makes the search faster."""\n')
    asyncio.run(index_project(load_settings(str(root), str(folder / "d")), no_progress))
    return root, folder / "d"


def write(path: Path, front: dict[str, object], body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}: {json.dumps(value)}" for key, value in front.items()]
    path.write_text("\n".join(("---", *lines, "---", body, "")))


@pytest.fixture
async def reader(places: tuple[Path, Path]) -> AsyncIterator[Reader]:
    async with open_atlas(load_settings(str(places[0]), str(places[1]))) as atlas:
        yield atlas.reader


def texts(hits: list[NoteHit]) -> list[str]:
    return [hit.node.row.docstring for hit in hits]


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("What did Mia put off?", TURNS[0][2], "name"),
        ("duplicated invoice", TURNS[1][2], "words"),
        ("programming language of the invoicer", TURNS[2][2], "name"),
        ("How was the concert?", TURNS[4][2], "conversation"),
        ("What was decided in January?", TURNS[0][2], "words"),
        ("cost of self-attention for long inputs", CLAIMS[0][0], "meaning"),
        ("time needed to restore a terabyte from a backup", PASSAGE, "words"),
    ],
)
async def test_a_question_finds_its_answer(reader: Reader, question: str, answer: str, reason: str) -> None:
    hits = await find_notes(reader, question, NoteFilter(), 3)
    assert answer in texts(hits)
    hit = next(hit for hit in hits if hit.node.row.docstring == answer)
    assert any(why.startswith(reason) for why in hit.why), hit.why
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_what_asks_goes_behind_what_answers(reader: Reader) -> None:
    found = texts(await find_notes(reader, "What happened to Tomek?", NoteFilter(), 10))
    assert "What happened then?" not in found[:1]


async def test_a_later_conversation_does_not_follow(reader: Reader) -> None:
    hits = await find_notes(reader, "What happened then?", NoteFilter(), 10)
    moved = [hit for hit in hits if hit.node.row.docstring == TURNS[6][2]]
    assert not any("conversation" in hit.why for hit in moved)


async def test_only_notes_are_found_and_only_those_of_the_filter(reader: Reader) -> None:
    async def found(**restrictions: object) -> list[NoteHit]:
        return await find_notes(reader, "caching attention search faster slower engine", NoteFilter(**restrictions), 20)  # type: ignore[arg-type]

    everything = await found()
    assert {hit.node.row.label for hit in everything} <= set(NOTE_LABELS)
    assert CLAIMS[3][0] not in texts(everything)
    assert CLAIMS[2][0] in texts(everything)
    assert texts(await found(statuses=("retracted",))) == [CLAIMS[3][0]]
    assert CLAIMS[2][0] not in texts(await found(min_confidence=0.5))
    assert texts(await found(client="cursor")) == [PASSAGE]
    assert {hit.node.row.label for hit in await found(labels=(Label.OBSERVATION,))} == {Label.OBSERVATION}


async def test_decision_records_are_found_if_asked_for(reader: Reader) -> None:
    question = "where do invoices wait"
    found = await find_notes(reader, question, NoteFilter((*NOTE_LABELS, Label.ADR)), 5)
    assert Label.ADR in [hit.node.row.label for hit in found]
    assert Label.ADR not in [hit.node.row.label for hit in await find_notes(reader, question, NoteFilter(), 5)]


async def test_observations_of_an_entity_and_of_a_time(reader: Reader) -> None:
    named = await find_notes(reader, "Billing API", NoteFilter(), 10)
    assert named[0].node.row.label == Label.ENTITY
    entity = named[0].node.row.uid
    found = texts(await find_notes(reader, "who owns it, and was the launch postponed?", NoteFilter(entity=entity), 10))
    assert set(found) <= {TURNS[1][2], TURNS[2][2]}
    assert found[0] == TURNS[2][2]
    since = await find_notes(reader, "launch invoices Kotlin concert", NoteFilter(since="2026-01-01"), 10)
    assert TURNS[0][2] in texts(since)
    assert {TURNS[1][2], TURNS[2][2]}.isdisjoint(texts(since))
    with pytest.raises(NotFound):
        await find_notes(reader, "x", NoteFilter(entity="p:e-none"), 1)


async def test_questions_without_an_answer(reader: Reader) -> None:
    for question in ("", "   ", "?!", "the of and", "ж" * 5000, "x\0y"):
        await find_notes(reader, question, NoteFilter(), 5)
    assert await find_notes(reader, "", NoteFilter(), 5) == []
    assert await find_notes(reader, "launch", NoteFilter(), 0) == []


async def test_similar_notes(reader: Reader) -> None:
    hits = await similar_notes(reader, "The attention scales quadratically with sequence length", (Label.CLAIM,))
    assert texts(hits) == [CLAIMS[0][0]]
    assert 0.85 <= hits[0].score <= 1
    assert await similar_notes(reader, "Bananas are yellow.", (Label.CLAIM,)) == []
    assert await similar_notes(reader, "", (Label.CLAIM,)) == []


async def test_clashing_notes(reader: Reader) -> None:
    faster = (await similar_notes(reader, CLAIMS[1][0], (Label.CLAIM,), 1, 0.99))[0].node
    found = await clashing_notes(reader, CLAIMS[1][0], (Label.CLAIM,), exclude=faster.row.uid)
    assert [(hit.node.row.docstring, clash.kind) for hit, clash in found] == [(CLAIMS[2][0], "opposite")]
    assert await clashing_notes(reader, CLAIMS[1][0], (Label.CLAIM,), limit=0) == []


async def test_concept_notes(reader: Reader) -> None:
    (by_text,) = await concept_notes(reader, CLAIMS[0][0].rstrip("."), 1)
    (by_id,) = await concept_notes(reader, by_text.node.row.qualified_name, 5)
    assert (by_text.score, by_id.score, by_id.node) == (1, 1, by_text.node)
    near = await concept_notes(reader, "quadratic attention", 5)
    assert near[0].node == by_text.node
    assert 0.3 < near[0].score < 1
    unknown = await concept_notes(reader, "zebra migration", 1)
    assert not unknown or unknown[0].score < 0.3


def entry(name: str, meaning: bytes = b"", emotion: bytes = b"", created: float = 0.0) -> ShortTermEntry:
    return ShortTermEntry(name, name, created, 100.0, "", meaning, emotion)


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


async def test_short_term_memories_are_merged_without_repeats(reader: Reader) -> None:
    embedder = reader.prose_embedder
    assert embedder is not None
    question = "Who postponed the launch because of tax rules?"
    hits = await find_notes(reader, question, NoteFilter(), 3)
    note = hits[0].node.row.docstring
    contents = (note.upper(), "The launch waits for the tax office.", "Bananas are yellow.")
    entries = [entry(text, await embedder.embed_query(text)) for text in contents]
    expired = ShortTermEntry("old", "The launch waits for taxes.", 0, 10, "", entries[1].meaning)
    merged = merge_short_term(await embedder.embed_query(question), b"", [*entries, expired], hits, 4, 50.0)
    found = [hit.entry.content for hit in merged if isinstance(hit, ShortTermHit)]
    assert found == [contents[1]]
    assert [hit for hit in merged if isinstance(hit, NoteHit)] == hits
    assert len(merge_short_term(floats(1), b"", entries, hits, 2, 50.0)) == 2


def test_a_zero_vector_has_no_emotional_neighbours() -> None:
    entries = [entry("glad", b"", floats(1, 0)), entry("none", b"", b""), entry("zero", b"", floats(0, 0))]
    entries += [entry("mixed", b"", floats(0.6, 0.8)), entry("opposite", b"", floats(-1, 0))]
    assert [hit.entry.id for hit in emotional_neighbours(entries, floats(1, 0), 5)] == ["glad", "mixed"]
    assert [hit.entry.id for hit in emotional_neighbours(entries, floats(1, 0), 1)] == ["glad"]
    assert emotional_neighbours(entries, b"", 5) == emotional_neighbours(entries, floats(0, 0), 5) == []


SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 30), max_size=8)


@given(SCORES, SCORES)
def test_a_fused_score_is_a_share_and_the_best_of_both_is_the_best(
    words: dict[str, float], meaning: dict[str, float]
) -> None:
    fused = scoring.fused(words, meaning)
    assert set(fused) == {*words, *meaning}
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())
    for uid in {*words} & {*meaning}:
        if words[uid] == max(words.values()) and meaning[uid] == max(meaning.values()):
            assert fused[uid] == max(fused.values())


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 4000), st.integers(0, 4000))
def test_age_and_confidence_never_reverse_a_clear_difference(one: float, other: float, days: int, more: int) -> None:
    latest = 1_780_000_000.0
    times = [f"20{20 + each % 6}-0{each % 9 + 1}-01T00:00:00Z" for each in (days, more)]
    worst = 0.8 * scoring.confidence_factor(1.0) * scoring.age_factor(times[0], latest)
    best = 0.65 * scoring.confidence_factor(max(one, other)) * scoring.age_factor(times[1], latest)
    assert worst > best
    assert 1 <= scoring.age_factor(times[0], latest) <= 1 + scoring.AGE_SPAN


@given(st.text(max_size=300))
def test_the_sentences_of_a_text_are_parts_of_it(text: str) -> None:
    assert all(part in text and len(part) > 1 for part in note_sentences(text))
    assert 0 <= scoring.content(text) < 1


def test_a_longer_statement_says_more_than_a_question() -> None:
    assert scoring.content("What happened then?") == 0
    assert scoring.content("It rained cats and dogs.") > scoring.content("It rained. Why?") > 0


@given(SCORES, st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), max_size=8))
def test_a_conversation_only_adds(scores: dict[str, float], following: dict[str, str]) -> None:
    positive = {uid: abs(score) for uid, score in scores.items()}
    shared = with_conversation(positive, following, dict.fromkeys(following, 0.4))
    assert all(shared[uid] >= score for uid, score in positive.items())
    assert set(shared) == {*positive, *following.values()}


@pytest.mark.parametrize(
    ("question", "answers", "other"),
    [
        ("When did Ana move?", "I moved last Friday.", "I moved to Porto."),
        ("which year was it built", "Built in 1987.", "Built of stone."),
        ("How many goats are there?", "Three, and a donkey.", "Some, and a donkey."),
    ],
)
def test_an_answer_of_the_right_kind_gains(question: str, answers: str, other: str) -> None:
    pattern = answer_pattern(question)
    assert answer_factor(pattern, answers) > answer_factor(pattern, other) == 1
    assert answer_factor(answer_pattern("Who moved?"), answers) == 1


def test_a_part_of_a_sequence() -> None:
    assert contains(["who", "is", "maria", "lopez"], ["maria", "lopez"])
    assert not contains(["maria", "x", "lopez"], ["maria", "lopez"])
    assert not contains(["maria"], [])
