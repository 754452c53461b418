"""Calibration of the gate on a pack's own questions, at the end of a build."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

from atlas.packs.documentation.pack.strict_json import load_json
from atlas.packs.questions.gate import Gate, GateEvidence, calibrate, evidence_of, gate_text
from atlas.packs.questions.questions import EvalQuestion
from atlas.packs.questions.retrieval.search import find
from atlas.packs.questions.retrieval.vocabulary import read_vocabulary
from atlas.packs.questions.values import BALANCED, PackReader
from atlas.parsing import stem_words

MAX_ASKED = 30
"""Questions of each kind that are asked: about 3 CPU seconds."""
KNOWN_FROM = 3
"""Passages with the subject of a foreign question from which the pack may answer it."""
_FOREIGN = Path(__file__).with_name("foreign.txt")


async def calibrated(reader: PackReader, questions: list[EvalQuestion]) -> Gate:
    """Return the gate for a pack: its own questions pass, those about other subjects do not."""
    asked = [each for each in questions if each.gold][: 4 * MAX_ASKED : 4] or questions[:MAX_ASKED]
    answerable: list[GateEvidence] = []
    others: list[GateEvidence] = []
    options = replace(BALANCED, neighbours=False, centrality=False, sections_per_article=0)
    for each in asked:
        found = await find(reader, each.question, options)
        answerable.append(evidence_of(found.question, found.sections, found.vocabulary))
    for question in foreign_questions(reader)[:MAX_ASKED]:
        found = await find(reader, question, options)
        others.append(evidence_of(found.question, found.sections, found.vocabulary))
    return calibrate(answerable, others)


def foreign_questions(reader: PackReader) -> list[str]:
    """Return the shipped questions about subjects of which the pack says nothing."""
    vocabulary = read_vocabulary(reader.vocabulary)
    return [
        question
        for subject, question in _foreign()
        if all(vocabulary.frequencies.get(stem, 0) < KNOWN_FROM for stem in stem_words(subject).split())
    ]


def with_gate(settings: str, gate: Gate) -> str:
    """Return the text of `kg_config.json` with a gate; other settings stay, a text that is no JSON object does not."""
    raw: object = {}
    with suppress(ValueError):
        raw = load_json(settings)
    raw = cast("dict[str, object]", raw) if isinstance(raw, dict) else {}
    return json.dumps({**raw, "gate": gate_text(gate)}, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


@cache
def _foreign() -> tuple[tuple[str, str], ...]:
    lines = (line for line in _FOREIGN.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    parts = (line.partition("|") for line in lines)
    return tuple((subject.strip(), question.strip()) for subject, _, question in parts)
