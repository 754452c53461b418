"""Metrics of model folders on the held-out set: `python -m training.code_model.evaluate eval.json MODEL...`.

A query is the first sentence of a docstring; its function, without documentation, is among all functions of the
held-out packages. Vectors alone, BM25, and weighted sums of both. Ties take their mean rank.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.code_model.bags import Vocabulary, words_of
from training.code_model.model import Floats, Model

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the of to in for is and or on with as by from this that it be are if at into its not self def return",
    )
)
SUFFIXES = (("ations", "at"), ("ation", "at"), ("izing", "ize"), ("ities", "ity"), ("ies", "y"), ("ings", ""))
SUFFIXES += (("ing", ""), ("edly", ""), ("ers", "er"), ("ions", "ion"), ("ed", ""), ("es", "e"), ("s", ""))
BM25_SHARES = (0.3, 0.4, 0.5)
QUERIES_AT_ONCE = 250


def stem(word: str) -> str:
    """Return a word without its commonest endings."""
    if len(word) <= 4:
        return word
    for suffix, replacement in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) + len(replacement) >= 3 and not word.endswith("ss"):
            word = word[: -len(suffix)] + replacement
            break
    word = word[:-1] if len(word) > 4 and word.endswith("e") else word
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl" else word


def lexical(text: str) -> list[str]:
    """Return the stems of identifier parts and of whole compound identifiers, without stop words."""
    found: list[str] = []
    for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*|\d+", text):
        parts = words_of(word)
        found += parts + ([word.lower()] if len(parts) > 1 else [])
    return [stem(word) for word in found if word not in STOP_WORDS]


class Words:
    """BM25 over the held-out functions, with names three times."""

    def __init__(self, functions: Sequence[dict[str, Any]], k: float = 1.2, b: float = 0.75) -> None:
        """Index the functions."""
        documents = [lexical(f"{each['cls']} {each['name']}\n" * 3 + each["code"]) for each in functions]
        self._vocabulary = Vocabulary(sorted({word for words in documents for word in words}), pieces=False)
        bag = self._vocabulary.bag(documents)
        bag.data **= 2
        lengths = np.asarray(bag.sum(1)).ravel()
        frequency = np.bincount(bag.indices, minlength=len(self._vocabulary.words))
        rarity = np.log(1 + (len(documents) - frequency + 0.5) / (frequency + 0.5))
        rows = np.repeat(np.arange(len(documents)), np.diff(bag.indptr))
        bag.data *= (k + 1) / (bag.data + k * (1 - b + b * lengths[rows] / lengths.mean())) * rarity[bag.indices]
        self._index = bag.T.tocsr()

    def scores(self, queries: Iterable[str]) -> Floats:
        """Return the scores of all functions for each query."""
        asked = self._vocabulary.bag(sorted(set(lexical(query))) for query in queries)
        return (asked @ self._index).toarray().astype(np.float32)


def ranks(scores: Floats, gold: Sequence[int]) -> Floats:
    """Return the rank of the gold function of each query."""
    own = scores[np.arange(len(gold)), gold][:, None]
    return (scores > own).sum(1) + ((scores == own).sum(1) - 1) / 2 + 1


def metrics(rank: Floats) -> dict[str, float]:
    """Return MRR@10 and recall."""
    recall = {f"r{k}": round(float((rank < k + 0.5).mean()), 4) for k in (1, 10, 100)}
    return {"mrr10": round(float(np.where(rank < 10.5, 1 / rank, 0).mean()), 4), **recall}


def weighted(words: Floats, vectors: Floats, share: float) -> Floats:
    """Return `share` of BM25 and the rest of the cosines, both scaled per query."""
    centred = vectors - vectors.mean(1, keepdims=True)
    of_words = words / np.maximum(words.max(1, keepdims=True), 1e-6)
    return share * of_words + (1 - share) * centred / np.maximum(centred.max(1, keepdims=True), 1e-6)


def evaluate(held_out: dict[str, Any], models: dict[str, Model], words: Words | None) -> dict[str, dict[str, float]]:
    """Return the metrics of models by name and ranking; `words`: for BM25 and the weighted sums."""
    functions, queries = held_out["functions"], held_out["queries"]
    names = [f"{each['cls']} {each['name']}" for each in functions]
    code = {name: model.encode([each["code"] for each in functions], names).T for name, model in models.items()}
    found: dict[str, list[Floats]] = defaultdict(list)
    for at in range(0, len(queries), QUERIES_AT_ONCE):
        asked = [query for query, _ in queries[at : at + QUERIES_AT_ONCE]]
        gold = [function for _, function in queries[at : at + QUERIES_AT_ONCE]]
        lexically = words.scores(asked) if words else None
        if lexically is not None:
            found["BM25"].append(ranks(lexically, gold))
        for name, model in models.items():
            vectors = model.query(asked) @ code[name]
            found[f"{name}: vectors"].append(ranks(vectors, gold))
            for share in BM25_SHARES if lexically is not None else ():
                found[f"{name}: weighted {share}"].append(ranks(weighted(lexically, vectors, share), gold))
    return {name: metrics(np.concatenate(parts)) for name, parts in found.items()}


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("held_out", type=Path)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, help="queries")
    parser.add_argument("--vectors-only", action="store_true")
    parser.add_argument("--json", type=Path, help="write the metrics to this file")
    arguments = parser.parse_args()
    held_out = json.loads(arguments.held_out.read_text())
    held_out["queries"] = held_out["queries"][: arguments.limit]
    models = {folder.name: Model(folder) for folder in arguments.models}
    found = evaluate(held_out, models, None if arguments.vectors_only else Words(held_out["functions"]))
    for name, values in found.items():
        print(f"{name:32s}", values)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
