"""Counts of a comparison: precision of each rule with its interval, its stated confidence, and the gap. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas_bench.edges.judge import JudgedEdge, Verdicts
from atlas_bench.page.charts import reliability

COLUMNS = ("strategy", "edges", "right", "wrong", "open", "precision", "95 % interval", "stated", "gap")
ENOUGH = 100
"""Judged edges of a rule from which its gap counts."""
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Share:
    """`right` of `n`, with its Wilson interval of 95 %; all 0 if n is 0."""

    right: int
    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule. `open`: edges on lines that the server leaves open. `gap`: stated confidence - precision."""

    strategy: str
    precision: Share
    wrong: int
    open: int
    stated: float
    gap: float


@dataclass(frozen=True, slots=True)
class EdgeReport:
    """Output of `atlas bench edges`. `worst_gap`: of the rules with ENOUGH judged edges; None if none has."""

    lines: int
    precision: Share
    recall: Share
    worst_gap: float | None
    rules: tuple[RuleRow, ...]


def share(right: int, n: int) -> Share:
    """Return a share with its Wilson interval."""
    if not n:
        return Share(0, 0, 0.0, 0.0, 0.0)
    value, square = right / n, _Z * _Z
    middle = (value + square / (2 * n)) / (1 + square / n)
    reach = _Z * math.sqrt(value * (1 - value) / n + square / (4 * n * n)) / (1 + square / n)
    return Share(right, n, value, max(middle - reach, 0.0), min(middle + reach, 1.0))


def count(verdicts: Verdicts) -> EdgeReport:
    """Count right and wrong edges of each rule, most judged first, and the calls that have an edge."""
    by_rule = defaultdict[str, list[JudgedEdge]](list)
    for each in verdicts.edges:
        by_rule[each.edge.strategy].append(each)
    rules = sorted(
        (_rule(name, edges) for name, edges in by_rule.items()), key=lambda row: (-row.precision.n, row.strategy)
    )
    gaps = [abs(row.gap) for row in rules if row.precision.n >= ENOUGH]
    return EdgeReport(
        verdicts.asked,
        share(sum(row.precision.right for row in rules), sum(row.precision.n for row in rules)),
        share(sum(site.found for site in verdicts.sites), len(verdicts.sites)),
        max(gaps, default=None),
        tuple(rules),
    )


def _rule(name: str, edges: Sequence[JudgedEdge]) -> RuleRow:
    judged = [each for each in edges if each.right is not None]
    right = sum(each.right is True for each in judged)
    stated = sum(each.edge.confidence for each in edges) / len(edges)
    measured = share(right, len(judged))
    gap = stated - measured.value if judged else 0.0
    return RuleRow(name, measured, len(judged) - right, len(edges) - len(judged), stated, gap)


def cells(report: EdgeReport) -> list[tuple[object, ...]]:
    """Return the rows of the table."""
    return [
        (
            row.strategy,
            row.precision.n + row.open,
            row.precision.right,
            row.wrong,
            row.open,
            f"{row.precision.value:.3f}" if row.precision.n else "",
            f"{row.precision.low:.3f} - {row.precision.high:.3f}" if row.precision.n else "",
            f"{row.stated:.2f}",
            f"{row.gap:+.3f}" if row.precision.n else "",
        )
        for row in report.rules
    ]


def summary(report: EdgeReport) -> str:
    """Return the totals in one paragraph."""
    worst = (
        "" if report.worst_gap is None else f" Worst gap of a rule with {ENOUGH} judged edges: {report.worst_gap:.3f}."
    )
    precision, recall = report.precision, report.recall
    return (
        f"Precision {precision.value:.3f} ({precision.right:,} of {precision.n:,} judged edges), recall "
        f"{recall.value:.3f} ({recall.right:,} of {recall.n:,} calls that the server resolves inside of the tree); "
        f"{report.lines:,} lines asked.{worst}"
    )


def differences(verdicts: Verdicts) -> Iterator[str]:
    """Yield each wrong edge and each call without an edge."""
    for each in verdicts.edges:
        if each.right is False and each.edge.target is not None:
            place = f"{each.edge.line[0]}:{each.edge.line[1]}"
            yield f"WRONG {each.edge.strategy} {place} -> {each.edge.target.uid}; server: {each.answer}"
    for site in verdicts.sites:
        if not site.found:
            yield f"MISSED {site.line[0]}:{site.line[1]} {site.name} -> {site.target.uid}"


def svg(report: EdgeReport, title: str) -> str:
    """Return the reliability diagram of the rules with judged edges."""
    return reliability(
        title,
        [
            (row.strategy, row.stated, row.precision.value, row.precision.low, row.precision.high)
            for row in report.rules
            if row.precision.n
        ],
    )
