"""The confidence gate: whether what was found answers the question. Pure.

A logistic model over features of the question and the best sections. The weights are a prior, fitted to the tuning half
of `tests/bench/data/packs`; `calibrate` moves them towards the pack's own questions at build.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from atlas.parsing import stem_words
from atlas.search.packs.question import Concept, Question
from atlas.search.packs.ranking import RankedSection
from atlas.search.packs.vocabulary import Vocabulary

LOOKED_AT = 5
"""Best sections whose evidence counts."""
THRESHOLD = 0.5
ENOUGH_STEMS = 1_500
"""Stems from which a pack has the common words of its language."""
STEPS, RATE, PULL = 200, 0.3, 1.0
"""Gradient descent of the calibration, and how strongly it keeps to the prior. With a weak pull (.05) and a free bias a
third of the hand-written questions is refused: a pack's own questions have its words, people's do not."""
LEAST_THRESHOLD, LOST = 0.49, 0.02
"""The threshold falls down to this, as long as more than this share of a pack's own questions would be refused."""


class Evidence(NamedTuple):
    """Features of the gate, each about 0..1."""

    covered: float = 0.0
    """Most weight of the question's words that one section has."""
    covered_with_synonyms: float = 0.0
    meaning: float = 0.0
    """Best cosine of a passage."""
    sentence: float = 0.0
    heading: float = 0.0
    in_title: float = 0.0
    unknown: float = 0.0
    """Share of the question's weight whose words the pack has not, nor any synonym."""
    absent: float = 0.0
    """The same for the best sections."""
    unknown_names: float = 0.0
    """Share of the names of the question that the pack has not."""
    missing_names: float = 0.0
    """Share of the names of the question that none of the best sections has."""
    rare_missing: float = 0.0
    """Share of the two rarest words that none of the best sections has."""
    together: float = 0.0
    """Whether one section has the two rarest words, themselves or by synonyms."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A logistic model; the order of `weights` is that of `Evidence`."""

    weights: tuple[float, ...]
    bias: float
    threshold: float = THRESHOLD

    def confidence(self, evidence: Evidence) -> float:
        """Return 0..1: the estimated chance that the pack answers."""
        total = self.bias + math.fsum(weight * value for weight, value in zip(self.weights, evidence, strict=True))
        return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))

    def passes(self, evidence: Evidence) -> bool:
        """Return whether the evidence suffices."""
        return self.confidence(evidence) >= self.threshold


PRIOR = Gate(weights=(0.0, 0.71, 0.0, 0.0, 0.0, 0.43, -1.97, -0.23, -1.18, -2.78, 0.0, 0.0), bias=0.17)
"""Fitted with the signs that the features have by their meaning: a free fit refuses more, but also a question of which
all words but one stand in the title and text of a section."""


def evidence_of(question: Question, sections: Sequence[RankedSection], vocabulary: Vocabulary) -> Evidence:
    """Return the evidence of the best sections for a question; all 0 if there are none."""
    best = sections[:LOOKED_AT]
    if not best or not question.concepts:
        return Evidence(unknown=1.0, rare_missing=1.0)
    raw = [each.features for section in best for each in section.passages]
    total = question.weight or 1.0
    # a small pack lacks many common words, whose absence says little
    known = min(1.0, len(vocabulary.frequencies) / ENOUGH_STEMS)
    unknown = sum(concept.weight for concept in question.concepts if not concept.is_known)
    held = [_stems_of(section) for section in best]
    rarest = sorted(question.concepts, key=lambda concept: (-concept.weight, concept.stem))[:2]
    missing = sum(all(concept.stem not in stems for stems in held) for concept in rarest)
    together = any(all(_says(concept, stems) for concept in rarest) for stems in held)
    texts = [
        " ".join((*section.passages[0].passage.headings, *(each.passage.text for each in section.passages)))
        for section in best
    ]
    lacking = sum(all(name.lower() not in text.lower() for text in texts) for name in question.names)
    absent = sum(concept.weight for concept in question.concepts if not any(_says(concept, stems) for stems in held))
    strange = sum(not vocabulary.has(tuple(stem_words(name).split())) for name in question.names)
    return Evidence(
        covered=max(each.covered for each in raw),
        covered_with_synonyms=max(each.covered_with_synonyms for each in raw),
        meaning=max(each.meaning for each in raw),
        sentence=max(each.sentence for each in raw),
        heading=max(each.heading for each in raw),
        in_title=max(each.in_title for each in raw),
        unknown=known * unknown / total,
        absent=known * absent / total,
        unknown_names=strange / len(question.names) if question.names else 0.0,
        missing_names=lacking / len(question.names) if question.names else 0.0,
        rare_missing=missing / len(rarest),
        together=float(together),
    )


def calibrate(answerable: Sequence[Evidence], others: Sequence[Evidence], prior: Gate = PRIOR) -> Gate:
    """Return a gate fitted to questions that a pack answers and to others; few questions change little."""
    if not answerable or not others:
        return prior
    weights = list(prior.weights)
    rows = [(row, 1.0, 0.5 / len(answerable)) for row in answerable]
    rows += [(row, 0.0, 0.5 / len(others)) for row in others]
    for _ in range(STEPS):
        gate = Gate(tuple(weights), prior.bias)
        errors = [((gate.confidence(row) - wanted) * share, row) for row, wanted, share in rows]
        for index in range(len(weights)):
            slope = math.fsum(error * row[index] for error, row in errors)
            weights[index] -= RATE * (slope + PULL * (weights[index] - prior.weights[index]))
    fitted = Gate(tuple(round(weight, 4) for weight in weights), prior.bias)
    own = sorted(fitted.confidence(row) for row in answerable)
    threshold = min(prior.threshold, max(own[int(len(own) * LOST)], LEAST_THRESHOLD))
    return replace(fitted, threshold=round(threshold, 3))


def gate_text(gate: Gate) -> dict[str, object]:
    """Return a gate as JSON values, for `kg_config.json`."""
    weights = dict(zip(Evidence._fields, gate.weights, strict=True))
    return {"weights": weights, "bias": gate.bias, "threshold": gate.threshold}


def read_gate(settings: str) -> Gate:
    """Return the gate of the settings of a pack (`{"gate": ...}`), the prior where they have none that can be read."""
    try:
        raw = cast("dict[str, dict[str, object]]", json.loads(settings))["gate"] if settings else {}
        weights = cast("dict[str, float]", raw["weights"])
        return Gate(
            tuple(float(weights[name]) for name in Evidence._fields),
            float(cast("float", raw["bias"])),
            float(cast("float", raw["threshold"])),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return PRIOR


def _says(concept: Concept, stems: frozenset[str]) -> bool:
    """Return whether stems have that of a concept or, if the pack knows the concept, a synonym."""
    return concept.stem in stems or (concept.is_known and any(other in stems for other, _ in concept.synonyms))


def _stems_of(section: RankedSection) -> frozenset[str]:
    found: set[str] = set()
    for each in section.passages:
        found.update(each.passage.stems, each.passage.heading_stems)
    return frozenset(found)
