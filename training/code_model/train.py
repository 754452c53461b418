"""Train the model: `python -m training.code_model.train bags.npz --build PAIRS... --out table.npz`.

The vector of a text is a weighted sum of rows of one table, L2-normalised:

    query = sum sqrt(tf) * table[word]
    code  = sum (sqrt(tf in text) + name_weight * sqrt(tf in name)) * table[word]

Loss: symmetric InfoNCE over the pairs of a batch, equal sentences masked. Batches are runs of neighbours in files (hard
negatives of the same file), of one package, of namesakes (hard negatives that a name does not tell apart), or random.
With vectors of a teacher, the targets are softened by the teacher's similarities of the sentences, and the similarities
of queries follow it (KL). Row-wise Adam, linear warm-up and decay. One core is enough. The same seed, pairs and BLAS
give the same table.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from training.code_model import pairs as stored
from training.code_model.model import Floats
from training.code_model.pairs import Integers, Pairs

WARM_UP = 50
LATER_SENTENCE = 0.2
"""Share of the examples whose question is a later sentence of the documentation."""
KEPT_DOCUMENTATION = 0.3
"""Share of the examples whose code keeps the sentence that does not ask."""
Booleans = npt.NDArray[np.bool_]


class Adam:
    """Adam with one second moment a row."""

    def __init__(self, values: Floats, rate: float) -> None:
        """`values` are changed in place, `rate` is the highest learning rate."""
        self.values, self._rate = values, rate
        self._first = np.zeros_like(values)
        self._second = np.zeros(len(values), np.float32)

    def step(self, rows: Integers | slice, gradient: Floats, schedule: float) -> None:
        """Move rows against their gradient."""
        first = self._first[rows] = 0.9 * self._first[rows] + 0.1 * gradient
        second = self._second[rows] = 0.99 * self._second[rows] + 0.01 * (gradient**2).mean(1)
        self.values[rows] -= self._rate * schedule * first / (np.sqrt(second)[:, None] + 1e-7)


class Trainer:
    """The table, and what a step needs."""

    def __init__(self, pairs: Pairs, arguments: argparse.Namespace) -> None:
        """Start from a table of `start`, or at random."""
        self.pairs, self.arguments = pairs, arguments
        self.random = np.random.RandomState(arguments.seed)
        self.losses: dict[str, float] = defaultdict(float)
        self.table = Adam(self._start(), arguments.rate)
        self.teacher = np.load(arguments.teacher).astype(np.float32) if arguments.teacher else None

    def _start(self) -> Floats:
        size, dimension = len(self.pairs.words), self.arguments.dimension
        if self.arguments.start:
            start = np.load(self.arguments.start)
            return start.astype(np.float32)[:, :dimension]
        rarity = np.log(1 + len(self.pairs.sentence) / self.pairs.frequency).astype(np.float32)
        rows = self.random.randn(size, dimension).astype(np.float32) / np.sqrt(dimension)
        return rows * (0.5 * rarity / rarity.mean())[:, None]

    def batches(self) -> list[Integers]:
        """Return the batches of one epoch, shuffled."""
        pairs, size, random = self.pairs, self.arguments.batch, self.random
        order = random.permutation(len(pairs.sentence))
        jitter = random.rand(len(order)) * 0.5
        shares = np.cumsum([self.arguments.same_file, self.arguments.same_package, self.arguments.same_name])
        files, packages, namesakes, rest = np.split(order, (shares * len(order)).astype(int))
        files = files[np.argsort(pairs.place[files])]
        packages = packages[np.argsort(pairs.package[packages] + jitter[packages])]
        namesakes = namesakes[np.argsort(pairs.named[namesakes] + jitter[namesakes])]
        found = [
            part[at : at + size]
            for part in (files, packages, namesakes, rest)
            for at in range(0, len(part) - size + 1, size)
        ]
        return [found[at] for at in random.permutation(len(found))]

    def bags(self, batch: Integers) -> tuple[sp.csr_matrix, sp.csr_matrix, Booleans]:
        """Return questions, code with names, and which questions are first sentences."""
        pairs, random = self.pairs, self.random
        first, other = pairs.first[batch], pairs.other[batch]
        is_first = (random.rand(len(batch)) >= LATER_SENTENCE) | (np.diff(other.indptr) == 0)
        asks, stays = sp.diags(is_first.astype(np.float32)), sp.diags((~is_first).astype(np.float32))
        kept = sp.diags((random.rand(len(batch)) < KEPT_DOCUMENTATION).astype(np.float32))
        named = (random.rand(len(batch)) >= self.arguments.name_drop).astype(np.float32)
        question = asks @ first + stays @ other
        code = pairs.text[batch] + kept @ (asks @ other + stays @ first)
        code = code + sp.diags(named * self.arguments.name_weight) @ pairs.name[batch]
        return self._dropped(question.tocsr()), self._dropped(code.tocsr()), is_first

    def _dropped(self, bag: sp.csr_matrix) -> sp.csr_matrix:
        bag.data = (bag.data * (self.random.rand(len(bag.data)) >= self.arguments.word_drop)).astype(np.float32)
        return bag

    def step(self, batch: Integers, schedule: float) -> None:
        """Compute the loss of a batch and move the table."""
        question, code, is_first = self.bags(batch)
        rows = np.unique(np.concatenate([question.indices, code.indices]))
        local = np.zeros(len(self.pairs.words), np.int32)
        local[rows] = np.arange(len(rows))
        shape, table = (len(batch), len(rows)), self.table.values[rows]
        gradient = np.zeros_like(table)
        bags = [sp.csr_matrix((bag.data, local[bag.indices], bag.indptr), shape=shape) for bag in (question, code)]
        units = [_unit(bag @ table) for bag in bags]
        towards = self._contrast(batch, units[0][0], units[1][0], is_first)
        for bag, (unit, length), change in zip(bags, units, towards, strict=True):
            gradient += bag.T.tocsr() @ _before_unit(change, unit, length)
        self.table.step(rows, gradient, schedule)

    def _contrast(self, batch: Integers, asked: Floats, code: Floats, is_first: Booleans) -> tuple[Floats, Floats]:
        """Return the gradients of the loss for questions and code."""
        arguments, size = self.arguments, len(batch)
        diagonal = np.arange(size)
        sentence = self.pairs.sentence[batch]
        equal = sentence[:, None] == sentence[None, :]
        equal[diagonal, diagonal] = False
        scores = np.exp((asked @ code.T - 1) / arguments.temperature)
        scores[equal] = 0
        by_question, by_code = scores / scores.sum(1, keepdims=True), scores / scores.sum(0, keepdims=True)
        self.losses["pairs"] -= float(
            np.log(np.maximum(by_question[diagonal, diagonal] * by_code[diagonal, diagonal], 1e-30)).mean() / 2
        )
        target = np.zeros_like(scores)
        target[diagonal, diagonal] = 1
        known = np.flatnonzero(is_first & self._known(batch))
        if self.teacher is None or len(known) < 2:
            gradient = ((by_question + by_code) / 2 - target) / (arguments.temperature * size)
            return gradient @ code, gradient.T @ asked
        similar = self.teacher[batch[known]] @ self.teacher[batch[known]].T
        soft = _softmax(similar / arguments.teacher_temperature)
        soft[equal[np.ix_(known, known)]] = 0
        mixed = (1 - arguments.soften) * np.eye(len(known), dtype=np.float32) + arguments.soften * (soft + soft.T) / 2
        target[np.ix_(known, known)] = mixed
        gradient = ((by_question + by_code) / 2 - target) / (arguments.temperature * size)
        to_asked, to_code = gradient @ code, gradient.T @ asked
        to_asked[known] += arguments.follow * self._follow(asked[known], similar)
        return to_asked, to_code

    def _known(self, batch: Integers) -> Booleans:
        return np.ones(len(batch), bool) if self.teacher is None else self.teacher[batch].any(1)

    def _follow(self, asked: Floats, similar: Floats) -> Floats:
        """Return the gradient of KL(teacher || table) between the similarities of questions."""
        diagonal = np.arange(len(asked))
        wanted, own = similar / self.arguments.teacher_temperature, asked @ asked.T / self.arguments.temperature
        wanted[diagonal, diagonal] = own[diagonal, diagonal] = -50
        wanted, own = _softmax(wanted), _softmax(own)
        self.losses["teacher"] += float((wanted * (np.log(wanted + 1e-12) - np.log(own + 1e-12))).sum(1).mean())
        gradient = (own - wanted) / (self.arguments.temperature * len(asked))
        gradient[diagonal, diagonal] = 0
        return (gradient + gradient.T) @ asked

    def save(self, path: Path) -> None:
        """Write the table."""
        stated = {
            key: value if isinstance(value, int | float) else str(value) for key, value in vars(self.arguments).items()
        }
        np.savez(
            path,
            table=self.table.values.astype(np.float16),
            words=np.array("\n".join(self.pairs.words)),
            arguments=json.dumps(stated),
            pairs=len(self.pairs.sentence),
        )


def _unit(rows: Floats) -> tuple[Floats, Floats]:
    length = np.linalg.norm(rows, axis=1, keepdims=True) + 1e-6
    return rows / length, length


def _before_unit(gradient: Floats, rows: Floats, length: Floats) -> Floats:
    return (gradient - (gradient * rows).sum(1, keepdims=True) * rows) / length


def _softmax(scores: Floats) -> Floats:
    scores = np.exp(scores - scores.max(1, keepdims=True))
    return scores / scores.sum(1, keepdims=True)


def run(trainer: Trainer, out: Path) -> Iterator[str]:
    """Train, yield a line of progress now and then, and write the result after each epoch."""
    started, step, epochs = time.time(), 0, trainer.arguments.epochs
    for epoch in range(epochs):
        batches = trainer.batches()
        total = epochs * len(batches)
        for batch in batches:
            step += 1
            trainer.step(batch, min(1, step / WARM_UP) * max(0.0, 1 - step / (total + 1)))
            if step % 100 == 0:
                losses = " ".join(f"{name} {value / 100:.3f}" for name, value in trainer.losses.items())
                trainer.losses.clear()
                yield f"epoch {epoch}, step {step} of {total}: {losses}, {time.time() - started:.0f} s"
        trainer.save(out)
    yield f"{time.time() - started:.0f} s, {time.process_time():.0f} CPU s"


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bags", type=Path, help="file of bags")
    parser.add_argument("--build", nargs="+", type=Path, help="write the bags of these pairs first")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--start", type=Path, help="start table, written by `teacher`")
    parser.add_argument("--teacher", type=Path, help="vectors of the first sentences, written by `teacher`")
    integers = {"vocabulary": 32000, "dimension": 256, "batch": 1024, "epochs": 6, "seed": 0}
    for name, value in integers.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    numbers = {"rate": 0.01, "temperature": 0.05, "teacher_temperature": 0.05, "soften": 0.2}
    numbers |= {
        "follow": 0.5,
        "name_weight": 4.0,
        "name_drop": 0.25,
        "word_drop": 0.1,
        "same_file": 0.6,
        "same_package": 0.0,
        "same_name": 0.15,
    }
    for name, value in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value)
    arguments = parser.parse_args()
    if arguments.build:
        stored.save(stored.build(arguments.build, arguments.vocabulary), arguments.bags)
    if arguments.out:
        for line in run(Trainer(stored.load(arguments.bags), arguments), arguments.out):
            print(line, flush=True)


if __name__ == "__main__":
    main()
