"""Questions to packs, on a small pack of real text read by the real readers: retrieval, gate, answers, evaluation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from atlas.core.errors import Unavailable
from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.opening import OpenPack, open_pack
from atlas.packs.questions.answer import ask
from atlas.packs.questions.background import foreignness, is_heard
from atlas.packs.questions.calibration import foreign_questions, with_gate
from atlas.packs.questions.evaluation import NO_PACK, evaluate, has_fact
from atlas.packs.questions.gate import PRIOR, GateEvidence, calibrate, evidence_of, read_gate
from atlas.packs.questions.questions import EvalQuestion, GoldSection, make_questions, questions_text, read_questions
from atlas.packs.questions.report import svg, table
from atlas.packs.questions.retrieval.ranking import with_reranked
from atlas.packs.questions.retrieval.search import find, search
from atlas.packs.questions.retrieval.synonyms import general_synonyms, read_synonyms
from atlas.packs.questions.retrieval.vocabulary import read_vocabulary, vocabulary_text
from atlas.packs.questions.values import BALANCED, BASELINE, MAXIMUM, PackReader
from atlas.parsing import stem_words

PAGES = {
    "store/transactions.md": """# Transactions

Transactions keep data consistent.

## Atomic blocks

Wrap statements in `atomic()`: either all of them are committed or, after an exception, all are rolled back.

```python
with atomic():
    account.withdraw(10)
```

## Row locks

`lock_rows()` holds a lock on the selected rows until the transaction ends, so concurrent writers wait. The default of
`LOCK_TIMEOUT` is 30 seconds. See [sessions](../web/sessions.md).
""",
    "web/sessions.md": """# Sessions

## Cookie age

`SESSION_AGE` is the lifetime of a session cookie in seconds. `SESSION_AGE` defaults to `1209600`, two weeks.

## Clearing expired sessions

Run `clearsessions` regularly; expired sessions stay in the table until then.
""",
    "web/mail.md": """# Sending email

## Console backend

The console backend prints messages to standard output, so that nothing is delivered during development.
""",
    "start.md": """# Getting started

Install the package and create a project. An Object Store Mapper (OSM) maps rows to objects.
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("packs")
    for name, text in PAGES.items():
        page = root / "docs" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    target = root / "pack"
    asyncio.run(build_pack(BuildRequest("small", (str(root / "docs"),), "1.0", ""), target))
    yield target


@pytest_asyncio.fixture
async def pack(folder: Path) -> AsyncIterator[OpenPack]:
    opened = open_pack(folder)
    yield opened
    await opened.aclose()


class Model:
    """A language model of a test: answers with a fixed text, or is down."""

    name = "test/model"

    def __init__(self, text: str = "", down: bool = False) -> None:
        self.text, self.down = text, down
        self.asked: list[str] = []

    async def complete(self, instruction: str, text: str, most_tokens: int) -> str:
        self.asked.append(text)
        if self.down:
            raise Unavailable("the model server is down")
        return self.text


class Reranker:
    """A cross-encoder that prefers texts with a word, or is down."""

    def __init__(self, word: str = "", down: bool = False) -> None:
        self.word, self.down = word, down

    async def rerank(self, question: str, texts: list[str]) -> list[float]:
        if self.down:
            raise Unavailable("no answer")
        return [float(self.word in text) for text in texts]


@pytest.mark.parametrize(
    ("question", "section", "fact"),
    [
        ("How do I keep two people from overwriting each other's edits?", "Row locks", "lock_rows"),
        ("I want all or nothing when something fails", "Atomic blocks", "rolled back"),
        ("Where do mails go while I develop?", "Console backend", "standard output"),
        ("What is the default of SESSION_AGE?", "Cookie age", "1209600"),
    ],
)
async def test_answers_quote_the_section(pack: OpenPack, question: str, section: str, fact: str) -> None:
    answer = await ask(pack.reader, question, BALANCED)
    assert not answer.is_refused
    assert fact in answer.text
    assert section in {source.section.rpartition(" > ")[2] for source in answer.sources[:2]}
    assert all(source.version == "1.0" for source in answer.sources)
    assert answer.tokens <= BALANCED.max_tokens
    assert answer.by == "extract"


async def test_same_answer_twice(pack: OpenPack) -> None:
    one, other = [await ask(pack.reader, "How long does a session last?", BALANCED) for _ in range(2)]
    assert one.text == other.text
    assert [hit.uid for hit in one.hits] == [hit.uid for hit in other.hits]


async def test_unknown_subject_is_refused(pack: OpenPack) -> None:
    answer = await ask(pack.reader, "How do I deploy a Helm chart to Kubernetes?", BALANCED)
    assert answer.is_refused
    assert answer.sources == ()
    assert answer.confidence < 0.5
    assert answer.withheld, "what was found and not shown is named"


async def test_every_stage_is_visible_and_a_switch(pack: OpenPack) -> None:
    on = await ask(pack.reader, "How long does a session last?", MAXIMUM)
    off = await ask(pack.reader, "How long does a session last?", BASELINE)
    states = {stage.name: stage.state for stage in on.stages}
    assert states["cross-encoder"] == "not configured"
    assert states["multi-query"] == states["centrality"] == states["gate"] == "on"
    assert {stage.state for stage in off.stages} == {"on", "off"}
    assert {stage.name for stage in off.stages if stage.state == "on"} == {"search"}


@pytest.mark.parametrize("question", ["", "   ", "???", "the of and"])
async def test_question_without_words(pack: OpenPack, question: str) -> None:
    answer = await ask(pack.reader, question, BALANCED)
    assert answer.is_refused
    assert await search(pack.reader, question, BASELINE) == ()


async def test_question_of_100_kb(pack: OpenPack) -> None:
    answer = await ask(pack.reader, "How long does a session last? " * 3_500, BALANCED)
    assert any("cut" in note for note in answer.notes)
    assert answer.tokens <= BALANCED.max_tokens


async def test_small_budget_is_kept(pack: OpenPack) -> None:
    answer = await ask(pack.reader, "How long does a session last?", replace(BALANCED, max_tokens=120, limit=2))
    assert 0 < answer.tokens <= 120
    assert any(text.startswith("[1]: ") and text.endswith(" sentences left out") for text in answer.withheld)


async def test_language_model_writes_from_sources(pack: OpenPack) -> None:
    model = Model("Two weeks [1].")
    reader = replace(pack.reader, model=model, examples=_example())
    answer = await ask(reader, "What is the default of SESSION_AGE?", BALANCED)
    assert answer.text.startswith("Two weeks [1].")
    assert answer.by == "test/model"
    assert "1209600" in model.asked[0]
    assert "A good answer names: 30" in model.asked[0], "a few-shot example of the evaluation questions"
    await ask(reader, "What is the default of SESSION_AGE?", replace(BALANCED, few_shot=False))
    assert "A good answer names" not in model.asked[1]


async def test_model_server_down_leaves_the_extract(pack: OpenPack) -> None:
    reader = replace(pack.reader, model=Model(down=True))
    answer = await ask(reader, "What is the default of SESSION_AGE?", BALANCED)
    assert answer.by == "extract"
    assert "1209600" in answer.text
    assert any("did not answer" in note for note in answer.notes)


async def test_below_the_gate_the_model_answers_alone_and_says_so(pack: OpenPack) -> None:
    reader = replace(pack.reader, model=Model("Use helm install."))
    answer = await ask(reader, "How do I deploy a Helm chart to Kubernetes?", BALANCED)
    assert answer.is_refused
    assert answer.sources == ()
    assert "alone" in answer.text
    assert "Use helm install." in answer.text


async def test_cross_encoder_reorders_and_may_fail(pack: OpenPack) -> None:
    question = "How long does a session last?"
    hits = await search(replace(pack.reader, reranker=Reranker("clearsessions")), question, MAXIMUM)
    assert hits[0].section.endswith("Clearing expired sessions")
    answer = await ask(replace(pack.reader, reranker=Reranker(down=True)), question, MAXIMUM)
    assert any("cross-encoder" in note for note in answer.notes)
    assert not answer.is_refused


async def test_a_reranker_moves_sections_and_does_not_replace_the_order(pack: OpenPack) -> None:
    found = (await find(pack.reader, "How long does a session last?", BALANCED)).sections[0]
    sections = [replace(found, uid=f"small:{number}") for number in range(4)]
    assert with_reranked(sections, [0.0] * 4) == sections
    moved = with_reranked(sections, [0.0, 0.0, 0.0, 9.0])
    assert [sections.index(each) for each in moved] == [0, 3, 1, 2]


async def test_without_embedder_words_are_searched(pack: OpenPack) -> None:
    hits = await search(replace(pack.reader, embedder=None), "session cookie age", BALANCED)
    assert hits[0].section.endswith("Cookie age")


async def test_questions_by_rules_and_evaluation(pack: OpenPack) -> None:
    made = await make_questions(pack.reader)
    assert made == await make_questions(pack.reader)
    assert read_questions(questions_text(made)) == made
    assert any(each.kind == "fact" and "SESSION_AGE" in each.question for each in made)
    hand = EvalQuestion(
        "1", "hand", "How long does a session last?", (GoldSection("web/sessions", "Cookie age"),), "two weeks"
    )
    none = EvalQuestion("2", "none", "How do I deploy a Helm chart to Kubernetes?")
    found = await evaluate(pack.reader, [hand, none], (BASELINE, BALANCED))
    balanced = next(each for each in found.summaries() if (each.profile, each.kind) == ("balanced", "all"))
    assert balanced.recall_at_5 == 1.0
    assert balanced.facts == 1.0
    assert balanced.refused_unanswerable == 1.0
    assert balanced.gate_precision == 1.0
    assert {each.profile for each in found.outcomes} == {"baseline", "balanced", NO_PACK}
    assert table(found).count("\n") == 2 + len(found.summaries())
    assert "fact in answer" in svg(found)
    json.dumps(found.to_dict())


async def test_evaluation_with_a_model_grades(pack: OpenPack) -> None:
    question = EvalQuestion("1", "hand", "How long does a session last?", (GoldSection("web/sessions"),), "two weeks")
    found = await evaluate(pack.reader, [question], (BALANCED,), Model("8"))
    assert [each.grade for each in found.outcomes] == [8.0, 8.0]
    for reply in ("I would say 8 of 10", "8, since it names 2 weeks", "11", "-1", "8\n9", ""):
        other = await evaluate(pack.reader, [question], (BALANCED,), Model(reply))
        assert {each.grade for each in other.outcomes} == {None}, reply
    down = await evaluate(pack.reader, [question], (BALANCED,), Model(down=True))
    assert [each.grade for each in down.outcomes] == [None, None]


async def test_evaluation_without_questions(pack: OpenPack) -> None:
    found = await evaluate(pack.reader, [])
    assert found.summaries() == []
    assert table(found).count("\n") == 2
    assert read_questions("no json\n[]\n{}\n") == []


def test_gate_keeps_to_its_prior_and_survives_bad_settings() -> None:
    good = GateEvidence(foreign=0.1)
    bad = GateEvidence(foreign=0.6, foreign_with_synonyms=0.6, missing_names=1.0)
    gate = calibrate([good], [bad])
    assert gate.passes(good)
    assert not gate.passes(bad)
    assert read_gate(with_gate('{"pipeline": {"limit": 3}}', gate)) == gate
    assert json.loads(with_gate('{"pipeline": {"limit": 3}}', gate))["pipeline"] == {"limit": 3}
    assert calibrate([], [bad]) == PRIOR
    for text in ("", "{", "[]", '{"gate": {"weights": {}}}', '{"gate": 3}'):
        assert read_gate(text) == PRIOR


def test_foreign_words_are_those_that_documentation_of_the_size_would_have() -> None:
    text = vocabulary_text([("Pages", "Show a page to the reader")] * 2_000 + [("Images", "An image")])
    vocabulary = read_vocabulary(text)
    words = ("database", "page", "first", "image")
    database, page, first, image = (foreignness(stem_words(word).strip(), vocabulary) for word in words)
    assert database > image > 0 == page
    assert database > 2 * first > 0  # all documentation has "first", so that it lacks here says little
    assert foreignness(stem_words("database").strip(), read_vocabulary("")) == 0  # nothing is known of the pack
    assert foreignness(stem_words("qwertyish").strip(), vocabulary) == 0
    assert not is_heard(stem_words("qwertyish").strip())


async def test_question_of_words_that_nobody_has_is_refused(pack: OpenPack) -> None:
    answer = await ask(pack.reader, "Does the flurble grobnitz qwertyish vlorp?", BALANCED)
    assert answer.is_refused
    compound = await find(pack.reader, "JavaScript", BALANCED)
    assert {concept.stem for concept in compound.question.concepts} >= {"0java", "0script"}
    said = evidence_of(compound.question, compound.sections, compound.vocabulary)
    assert said.foreign == foreignness("0javascript", compound.vocabulary)


async def test_foreign_questions_leave_out_what_the_pack_has(pack: OpenPack) -> None:
    reader: PackReader = pack.reader
    assert len(foreign_questions(reader)) > 50
    text = vocabulary_text([("Kafka", "Kafka offsets")] * 5)
    assert not any("Kafka" in question for question in foreign_questions(replace(reader, vocabulary=text)))


def test_vocabulary_has_abbreviations_and_names_of_links() -> None:
    text = vocabulary_text(
        [("Start", "An Object Store Mapper (OSM) maps rows."), ("Start", "It maps.")], [("Row locks", "locking")] * 2
    )
    vocabulary = read_vocabulary(text)
    assert vocabulary.passages == 2
    assert vocabulary.idf("0osm") > vocabulary.idf("0map")
    assert len(vocabulary.own.groups) == 2
    assert read_vocabulary("{").passages == 0


def test_synonyms_match_phrases_by_their_stems() -> None:
    groups = read_synonyms("# comment\nlog in, sign in, authenticate\nalone\n")
    assert len(groups.groups) == 1
    (phrase,) = groups.related(["0sign", "0user"]) or [()]
    assert phrase
    assert len(general_synonyms().groups) > 500


@pytest.mark.parametrize(("fact", "expected"), [("two WEEKS", True), (r"1\d{6}", True), ("(", False), ("days", False)])
def test_has_fact(fact: str, expected: bool) -> None:
    assert has_fact("Default: 1209600, two weeks.", fact) is expected


def _example() -> str:
    question = EvalQuestion("1", "fact", "What is the default of LOCK_TIMEOUT?", (GoldSection("a"),), "30", "few-shot")
    return questions_text([question])
