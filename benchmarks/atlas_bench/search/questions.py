"""A question with the places that answer it, and its kinds. Pure values; builders are in the modules of each kind."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WHOLE, BARE = "whole", "bare"
"""The index of the tree itself, and that of a copy without docstrings."""

KINDS = {
    "file": WHOLE,
    "reason": WHOLE,
    "configuration": WHOLE,
    "symbol exact": WHOLE,
    "symbol suffix": WHOLE,
    "symbol name": WHOLE,
    "symbol case": WHOLE,
    "symbol typo": WHOLE,
    "symbol joined": WHOLE,
    "heading": WHOLE,
    "commit": WHOLE,
    "commit issue": WHOLE,
    "test": WHOLE,
    "docstring": BARE,
    "section": BARE,
    "issue": BARE,
}
"""Kind of question -> the index that it is put to."""
WRITTEN = ("reason", "configuration")
"""Kinds of question files that stay apart; the other questions of files are of the kind `file`."""


@dataclass(frozen=True, slots=True)
class Target:
    """A place that answers a question: a definition or section by the line of its name, or with line 0 a file."""

    path: str
    line: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """A question, and the places that answer it. With lines in the gold, files are those of the gold, too."""

    kind: str
    text: str
    gold: tuple[Target, ...]

    @property
    def files(self) -> frozenset[str]:
        """The files of the gold."""
        return frozenset(target.path for target in self.gold)

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """The definitions and sections of the gold; empty if it consists of files."""
        return frozenset((target.path, target.line) for target in self.gold if target.line)


def sample(questions: Iterable[SearchQuestion], limit: int, seed: int) -> list[SearchQuestion]:
    """Return up to `limit` questions, each text once; the same for the same questions and seed, whatever their order.

    A text that has several answers is dropped: it has no single gold.
    """
    by_text: dict[str, list[SearchQuestion]] = {}
    for question in questions:
        by_text.setdefault(question.text, []).append(question)
    single = sorted((found[0] for found in by_text.values() if len(found) == 1), key=_order)
    chooser = random.Random(f"{seed} {single[0].kind if single else ''}")
    return sorted(chooser.sample(single, min(limit, len(single))), key=_order)


def _order(question: SearchQuestion) -> tuple[str, Sequence[Target]]:
    return question.text, sorted(question.gold, key=lambda target: (target.path, target.line))
