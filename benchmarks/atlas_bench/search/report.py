"""Summaries of a run: a row per kind and ranking with means, intervals, tokens and times, as tables and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from atlas_bench.search.measures import MEASURES, Mean, means, percentile
from atlas_bench.search.questions import KINDS
from atlas_bench.search.run import Answered
from atlas_bench.search.variants import FILES, PIPELINE


@dataclass(frozen=True, slots=True)
class Row:
    """One kind (of one tree, or of all with tree "") as one ranking answered it; times in milliseconds."""

    kind: str
    tree: str
    variant: str
    questions: int
    measures: dict[str, Mean]
    p50_ms: float
    p95_ms: float
    inside: Mean | None = None
    """Share of the tool's answers that contain the target; None if the tool was not asked."""
    tokens_median: float = 0.0
    tokens_p95: float = 0.0
    tool_p50_ms: float = 0.0
    tool_p95_ms: float = 0.0


def rows(answered: Sequence[Answered], seed: int, *, by_tree: bool = False) -> list[Row]:
    """Return a row per kind and ranking over all trees, with `by_tree` one for each tree, in the order of the run."""
    groups: dict[tuple[str, str, str], list[Answered]] = {}
    for each in answered:
        groups.setdefault((each.question.kind, each.tree if by_tree else "", each.variant), []).append(each)
    order = list(KINDS)
    return [_row(*key, found, seed) for key, found in sorted(groups.items(), key=lambda item: order.index(item[0][0]))]


def _row(kind: str, tree: str, variant: str, found: Sequence[Answered], seed: int) -> Row:
    scores = {name: [each.measures[name] for each in found] for name in MEASURES}
    if variant == FILES and any(each.question.places for each in found):
        scores = {name: scores[name] for name in ("ndcg10", "acc5", "acc10")}
    asked = [each for each in found if each.tokens]
    if asked:
        scores["inside"] = [float(each.inside) for each in asked]
    measured = means(scores, seed)
    inside, ms = measured.pop("inside", None), [each.ms for each in found]
    tokens, tool_ms = [float(each.tokens) for each in asked], [each.tool_ms for each in asked]
    return Row(
        kind,
        tree,
        variant,
        len(found),
        measured,
        percentile(ms, 50),
        percentile(ms, 95),
        inside,
        statistics.median(tokens) if tokens else 0.0,
        percentile(tokens, 95),
        percentile(tool_ms, 50),
        percentile(tool_ms, 95),
    )


COLUMNS = (
    "kind",
    "ranking",
    "n",
    "NDCG@10 file",
    "Acc@5 file",
    "Acc@10 file",
    "MRR@10",
    "R@10",
    "first",
    "ms p50",
    "p95",
    "in answer",
    "tokens",
    "tool p95 ms",
)


def cells(found: Iterable[Row]) -> list[list[str]]:
    """Return the cells of a table; an interval stands behind NDCG, MRR, and the share of answers with the target."""
    return [
        [
            f"{row.kind} {row.tree}".rstrip(),
            row.variant,
            str(row.questions),
            _mean(row.measures.get("ndcg10"), wide=True),
            _mean(row.measures.get("acc5")),
            _mean(row.measures.get("acc10")),
            _mean(row.measures.get("mrr10"), wide=True),
            _mean(row.measures.get("r10")),
            _mean(row.measures.get("acc1")),
            f"{row.p50_ms:.1f}",
            f"{row.p95_ms:.1f}",
            _mean(row.inside, wide=True),
            f"{row.tokens_median:,.0f}" if row.inside else "",
            f"{row.tool_p95_ms:.1f}" if row.inside else "",
        ]
        for row in found
    ]


def _mean(mean: Mean | None, *, wide: bool = False) -> str:
    if mean is None:
        return ""
    return f"{mean.value:.3f} [{mean.low:.2f}-{mean.high:.2f}]" if wide else f"{mean.value:.3f}"


def markdown(found: Iterable[Row]) -> str:
    """Return the table as Markdown."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *cells(found)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def to_dict(answered: Sequence[Answered], seed: int, *, with_questions: bool) -> dict[str, object]:
    """Return rows over all trees and by tree, and each question with its gold, hits and measures, as JSON values."""
    document: dict[str, object] = {
        "rows": [asdict(row) for row in rows(answered, seed)],
        "trees": [asdict(row) for row in rows(answered, seed, by_tree=True)],
    }
    if with_questions:
        document["questions"] = [_question(each) for each in answered]
    return document


def _question(each: Answered) -> dict[str, object]:
    return {
        "tree": each.tree,
        "kind": each.question.kind,
        "text": each.question.text,
        "gold": [f"{target.path}:{target.line} {target.name}".rstrip() for target in each.question.gold],
        "ranking": each.variant,
        **{name: round(value, 4) for name, value in each.measures.items()},
        "hits": list(each.hits),
        "tokens": each.tokens,
        "inside": each.inside,
        "ms": round(each.ms, 2),
    }


def misses(answered: Iterable[Answered], fails: Callable[[Answered], bool]) -> list[str]:
    """Return the pipeline's questions that fail, each with gold and hits."""
    return [
        "\n".join(
            [
                f"{each.tree} [{each.question.kind}] {each.question.text[:160]}",
                *(f"  gold {target.path}:{target.line} {target.name}" for target in each.question.gold),
                *(f"    {number}. {place}" for number, place in enumerate(each.hits[:5], 1)),
            ]
        )
        for each in answered
        if each.variant == PIPELINE and fails(each)
    ]
