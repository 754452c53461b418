"""Sections of questions: those with known answers, and those made from trees for every ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atlas_bench.page.charts import bars
from atlas_bench.page.plan import Plan, run_bench
from atlas_bench.page.section import Section


def answers(plan: Plan) -> Section:
    """Ask the question files with known answers."""
    title = "Questions with known answers"
    if not plan.answers or plan.packages is None:
        return Section("answers", title, skipped="needs --answers FILES and --packages FOLDER.")
    report = run_bench(
        ["answers", *map(str, plan.answers), "--trees", str(plan.packages), "--data-dir", str(plan.scratch / "answers")]
    )
    askers = list(dict.fromkeys(row["by"] for row in report["kinds"]))
    kinds = list(dict.fromkeys(row["name"] for row in report["kinds"]))
    found = {(row["name"], row["by"]): row for row in report["kinds"]}
    rows = [
        (
            kind,
            str(found[kind, askers[0]]["questions"]),
            *(_share(found[kind, by]) for by in askers),
            f"{found[kind, askers[0]]['ms_p95']:.1f}",
        )
        for kind in kinds
    ]
    charted = [
        (kind, {by: 100 * found[kind, by]["right"] / found[kind, by]["questions"] for by in askers}) for kind in kinds
    ]
    return Section(
        "answers",
        title,
        "atlas bench answers tests/bench/answers --trees PACKAGES",
        ("kind", "questions", *(f"{by}: right, tokens" for by in askers), f"{askers[0]} p95 ms"),
        rows,
        [f"Not asked: {problem}" for problem in report.get("failed", ())],
        {"answers.svg": bars("Questions answered by the first call, by kind", charted, "%")},
    )


def _share(row: Mapping[str, Any]) -> str:
    return f"{row['right'] / row['questions']:.0%}, {row['tokens_median']:,.0f}"


def retrieval(plan: Plan) -> Section:
    """Ask questions made from the trees, for every ranking."""
    trees = [str(tree) for tree in (plan.tree, *plan.others)]
    given = [word for file in plan.questions for word in ("--questions", str(file))]
    report = run_bench(
        ["search", *trees, *given, "--limit", str(plan.limit), "--data-dir", str(plan.scratch / "search")]
    )
    rows = report["rows"]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    shown = ("BM25 of whole files", "BM25", "vectors", "pipeline")

    def value(row: Mapping[str, Any]) -> float:
        return row["measures"].get("mrr10", row["measures"]["ndcg10"])["value"]

    charted = [
        (kind, {row["variant"]: value(row) for row in rows if row["kind"] == kind and row["variant"] in shown[1:]})
        for kind in kinds
    ]
    names = " ".join(tree.name for tree in (plan.tree, *plan.others))
    return Section(
        "retrieval",
        "Retrieval",
        f"atlas bench search {names} --limit {plan.limit}",
        ("kind", "ranking", "n", "NDCG@10 file", "Acc@5 file", "MRR@10", "R@10", "p95 ms", "in answer", "tokens"),
        [
            (
                row["kind"],
                row["variant"],
                str(row["questions"]),
                _mean(row["measures"].get("ndcg10")),
                _mean(row["measures"].get("acc5")),
                _mean(row["measures"].get("mrr10")),
                _mean(row["measures"].get("r10")),
                f"{row['p95_ms']:.1f}",
                _mean(row["inside"]),
                f"{row['tokens_median']:,.0f}" if row["inside"] else "",
            )
            for row in rows
        ],
        ["Intervals are 95 % bootstrap intervals over questions. *In answer*: the target is in the default answer."],
        {"retrieval.svg": bars("MRR@10 by kind of question (files: of the first right file)", charted)},
    )


def _mean(mean: Mapping[str, float] | None) -> str:
    return f"{mean['value']:.3f} [{mean['low']:.2f}-{mean['high']:.2f}]" if mean else ""
