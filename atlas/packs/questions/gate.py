"""The confidence gate: whether what was found answers the question. Pure.

A logistic model of the evidence against an answer. The weights are a prior, fitted to the questions of
`tests/bench/data/packs` about 14 documentations; `calibrate` moves them towards the pack's own questions at build.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.pack.strict_json import load_json
from atlas.packs.questions.background import foreignness, is_heard
from atlas.packs.questions.question import Question
from atlas.packs.questions.retrieval.ranking import RankedSection
from atlas.packs.questions.retrieval.vocabulary import Vocabulary
from atlas.parsing import stem_words

LOOKED_AT = 5
"""Best sections whose evidence counts."""
THRESHOLD = 0.5
STEPS, RATE, PULL = 200, 0.3, 1.0
"""Gradient descent of the calibration, and how strongly it keeps to the prior. With a weak pull (.05) and a free bias a
third of the hand-written questions is refused: a pack's own questions have its words, people's do not."""
LEAST_THRESHOLD, LOST = 0.49, 0.02
"""The threshold falls down to this, as long as more than this share of a pack's own questions would be refused."""
MAX_WEIGHT = 1_000.0
_WORD = lazy_regex(r"[^\W_][\w.]*")


class GateEvidence(NamedTuple):
    """What speaks against an answer."""

    unknown_names: float = 0.0
    """Share of the names of the question that the pack has not."""
    missing_names: float = 0.0
    """Share of the names of the question that none of the best sections has."""
    foreign: float = 0.0
    """How much less often than documentation at large the pack has the words of the question."""
    foreign_with_synonyms: float = 0.0
    """The same where a synonym may stand for its word."""
    unheard: float = 0.0
    """Share of the words of the question that neither the pack nor documentation at large has."""


NO_EVIDENCE = GateEvidence(unknown_names=1.0, missing_names=1.0, unheard=1.0)


@dataclass(frozen=True, slots=True)
class Gate:
    """A logistic model; the order of `weights` is that of `GateEvidence`."""

    weights: tuple[float, ...]
    bias: float
    threshold: float = THRESHOLD

    def confidence(self, evidence: GateEvidence) -> float:
        """Return 0..1: the estimated chance that the pack answers."""
        total = self.bias + math.fsum(weight * value for weight, value in zip(self.weights, evidence, strict=True))
        return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))

    def passes(self, evidence: GateEvidence) -> bool:
        """Return whether the evidence suffices."""
        return self.confidence(evidence) >= self.threshold


PRIOR = Gate(weights=(-1.6, -2.77, -1.74, -1.21, -4.19), bias=2.1)
"""Fitted so that 6 of 100 answerable questions are refused."""


def evidence_of(question: Question, sections: Sequence[RankedSection], vocabulary: Vocabulary) -> GateEvidence:
    """Return the evidence of the best sections for a question; what speaks against it alone if there are none."""
    best = sections[:LOOKED_AT]
    if not best or not question.concepts:
        return NO_EVIDENCE
    texts = [
        " ".join((*section.passages[0].passage.headings, *(each.passage.text for each in section.passages))).lower()
        for section in best
    ]
    strange = sum(not vocabulary.has(tuple(stem_words(name).split())) for name in question.names)
    lacking = sum(all(name.lower() not in text for text in texts) for name in question.names)
    # parts of a compound ("java", "script" of "javascript") say nothing that the whole does not say
    whole = {stem_words(word).partition(" ")[0] for word in _WORD.findall(question.text)}
    concepts = [concept for concept in question.concepts if concept.stem in whole] or question.concepts
    foreign = [foreignness(concept.stem, vocabulary) for concept in concepts]
    with_synonyms = [
        min([own, *(foreignness(stem, vocabulary) for stem, _ in concept.synonyms)])
        for own, concept in zip(foreign, concepts, strict=True)
    ]
    unheard = sum(not concept.is_known and not is_heard(concept.stem) for concept in concepts)
    return GateEvidence(
        unknown_names=strange / len(question.names) if question.names else 0.0,
        missing_names=lacking / len(question.names) if question.names else 0.0,
        foreign=math.fsum(foreign) / len(concepts),
        foreign_with_synonyms=math.fsum(with_synonyms) / len(concepts),
        unheard=unheard / len(concepts),
    )


def calibrate(answerable: Sequence[GateEvidence], others: Sequence[GateEvidence]) -> Gate:
    """Return a gate fitted to questions that a pack answers and to others; few questions change little."""
    if not answerable or not others:
        return PRIOR
    weights = list(PRIOR.weights)
    rows = [(row, 1.0, 0.5 / len(answerable)) for row in answerable]
    rows += [(row, 0.0, 0.5 / len(others)) for row in others]
    for _ in range(STEPS):
        gate = Gate(tuple(weights), PRIOR.bias)
        errors = [((gate.confidence(row) - wanted) * share, row) for row, wanted, share in rows]
        for index in range(len(weights)):
            slope = math.fsum(error * row[index] for error, row in errors)
            weights[index] -= RATE * (slope + PULL * (weights[index] - PRIOR.weights[index]))
    fitted = Gate(tuple(round(weight, 4) for weight in weights), PRIOR.bias)
    own = sorted(fitted.confidence(row) for row in answerable)
    threshold = min(PRIOR.threshold, max(own[int(len(own) * LOST)], LEAST_THRESHOLD))
    return replace(fitted, threshold=round(threshold, 3))


def gate_text(gate: Gate) -> dict[str, object]:
    """Return a gate as JSON values, for `kg_config.json`."""
    weights = dict(zip(GateEvidence._fields, gate.weights, strict=True))
    return {"weights": weights, "bias": gate.bias, "threshold": gate.threshold}


def read_gate(settings: str) -> Gate:
    """Return the gate of the settings of a pack (`{"gate": ...}`), the prior where they have none that can be read."""
    try:
        raw = cast("dict[str, dict[str, object]]", load_json(settings))["gate"] if settings else {}
        weights = cast("dict[str, object]", raw["weights"])
        return Gate(
            tuple(_number(weights[name]) for name in GateEvidence._fields),
            _number(raw["bias"]),
            _number(raw["threshold"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return PRIOR


def _number(value: object) -> float:
    if not isinstance(value, int | float) or not -MAX_WEIGHT <= value <= MAX_WEIGHT:
        raise ValueError("a number is out of range")
    return float(value)
