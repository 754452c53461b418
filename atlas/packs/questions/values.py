"""The values of questions to packs: the reader, the switches, hits and answers. All are frozen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from atlas.core.contracts import Embedder, Store, TokenCounter
from atlas.core.language_model import LanguageModel

EXTRACT = "extract"
"""Who writes an answer of quotations: its text starts with the facts and names its sources."""
ANSWER_TOKENS = 850
"""Tokens of an extractive answer with its sources."""
MAX_QUESTION = 2_000
"""Characters of a question that are read; the answer says that the rest was cut."""


class Reranker(Protocol):
    """A cross-encoder: how well each text answers a question. Raises `Unavailable` when it cannot say."""

    async def rerank(self, question: str, texts: list[str]) -> list[float]:
        """Return one score per text, in order; higher is better."""
        ...


@dataclass(frozen=True, slots=True)
class PackReader:
    """The dependencies of questions to one pack."""

    store: Store
    project: str
    """Of the pack in its store."""
    embedder: Embedder | None
    """The model of prose; without it words alone are searched."""
    counter: TokenCounter
    name: str = ""
    version: str = ""
    settings: str = ""
    """The text of the pack's `kg_config.json`: overrides of the pipeline and the calibration of the gate."""
    vocabulary: str = ""
    """The text of the pack's `vocabulary.json`, which the build writes; without it all words weigh the same."""
    examples: str = ""
    """The text of the pack's `eval/questions.jsonl`, for few-shot examples."""
    model: LanguageModel | None = None
    reranker: Reranker | None = None


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """Every stage of the pipeline as a switch. `profile` makes the named sets."""

    multi_query: bool = True
    """Search for alternatives of the question from the pack's vocabulary, too."""
    vectors: bool = True
    sentences: bool = True
    """Compare the best sentence of the first hits, besides whole passages."""
    facts: bool = True
    """Sections with a fact that is asked for by name and kind gain."""
    gate: bool = True
    cross_encoder: bool = False
    """Only where a reranker is configured."""
    centrality: bool = True
    neighbours: bool = True
    """Passages that good hits link to gain."""
    quality: bool = True
    sections_per_article: int = 2
    """The best sections of each article that stand before all further ones; 0 = no limit. Of hand-written questions 8
    to 10 in a hundred lose their section with 1 (docs/measurements/packs.md): its neighbour came first."""
    few_shot: bool = True
    """Only where a language model is configured."""
    model_queries: int = 0
    """Alternatives of the question that a language model writes, where one is configured."""
    limit: int = 5
    """Sections that are returned."""
    max_tokens: int = ANSWER_TOKENS
    name: str = "balanced"


BASELINE = QuestionOptions(
    multi_query=False,
    vectors=False,
    sentences=False,
    facts=False,
    gate=False,
    centrality=False,
    neighbours=False,
    quality=False,
    sections_per_article=0,
    few_shot=False,
    name="baseline",
)
BALANCED = QuestionOptions()
MAXIMUM = replace(BALANCED, cross_encoder=True, model_queries=2, name="maximum")
PROFILES = {options.name: options for options in (BASELINE, BALANCED, MAXIMUM)}


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that was found."""

    uid: str
    article: str
    """Key of the article."""
    title: str
    """Of the article."""
    section: str
    """Heading of the section, with those above it below the article's title, joined by " > "; "" for the lead."""
    anchor: str
    url: str
    """With the fragment of the section; "" for files."""
    score: float
    why: tuple[str, ...]
    """The channels and stages that found it."""
    text: str
    """Plain text of the section."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the pipeline, for `explain`."""

    name: str
    state: str
    """`on`, `off` (switched), or why it did nothing."""
    detail: str = ""
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where a part of the answer is from; `number` is its mark in the text."""

    number: int
    article: str
    title: str
    section: str
    url: str
    version: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of the pack with its evidence."""

    kind: str
    text: str
    source: int
    """Number of the source."""
    origin: str = "rule"
    """`model`: a language model has found it in the quoted sentence when the pack was built."""


@dataclass(frozen=True, slots=True)
class PackAnswer:
    """The answer to a question."""

    text: str
    sources: tuple[Source, ...]
    facts: tuple[Fact, ...]
    confidence: float
    """0..1, calibrated on the pack's own questions: the estimated share of such questions that the pack answers."""
    is_refused: bool
    """The gate found no evidence: `text` says so, or is a language model's own answer, which is said too."""
    by: str
    """`extract`, or the name of the language model that wrote the text."""
    withheld: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Degraded parts: a model that is unavailable, a question that was cut, what the sections do not speak of."""
    tokens: int = 0
    hits: tuple[Hit, ...] = ()
    stages: tuple[Stage, ...] = field(default=())
    lacks: tuple[str, ...] = ()
    """What the question asks for and none of the quoted sections speaks of."""
