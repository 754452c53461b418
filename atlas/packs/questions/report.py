"""An evaluation as a table and as an SVG chart. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from atlas.packs.questions.evaluation import Evaluation, Summary

COLUMNS = (
    *("profile", "kind", "questions", "R@1", "R@5", "R@10", "MRR", "facts", "gate precision"),
    *("refused, no answer", "refused, answer", "or named, no answer", "or named, answer"),
    *("tokens", "ms p50", "ms p95", "grade"),
)
WIDTH, ROW, BAR_LEFT, BAR_WIDTH = 720, 22, 200, 400
COLOURS = {"recall": "#4c78a8", "facts": "#59a14f", "refused": "#e15759"}


def cells(summary: Summary) -> list[str]:
    """Return the cells of a summary in the order of `COLUMNS`."""
    return [
        summary.profile,
        summary.kind,
        str(summary.questions),
        *(f"{value:.2f}" for value in (summary.recall_at_1, summary.recall_at_5, summary.recall_at_10, summary.mrr)),
        *(
            "-" if value is None else f"{value:.2f}"
            for value in (
                summary.facts,
                summary.gate_precision,
                summary.refused_unanswerable,
                summary.refused_answerable,
                summary.named_unanswerable,
                summary.named_answerable,
            )
        ),
        f"{summary.tokens:,.0f}",
        f"{summary.ms_p50:.1f}",
        f"{summary.ms_p95:.1f}",
        "-" if summary.grade is None else f"{summary.grade:.1f}",
    ]


def table(evaluation: Evaluation) -> str:
    """Return the summaries as a Markdown table."""
    rows = [list(COLUMNS), ["---"] * len(COLUMNS), *(cells(each) for each in evaluation.summaries())]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)


def svg(evaluation: Evaluation) -> str:
    """Return a bar chart: per profile the gold section in the first 5, answers with the fact, refused questions."""
    summaries = [each for each in evaluation.summaries() if each.kind == "all"]
    bars = [bar for each in summaries for bar in _bars(each)]
    height = 60 + ROW * len(bars)
    title = escape(f"Pack {evaluation.pack} {evaluation.version}".strip())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{title}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="15" font-weight="bold">{title}</text>',
        *_drawn(bars),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _bars(summary: Summary) -> list[tuple[str, float, str]]:
    shown = [
        (f"{summary.profile}: section in first 5", summary.recall_at_5, COLOURS["recall"]),
        (f"{summary.profile}: fact in answer", summary.facts, COLOURS["facts"]),
        (f"{summary.profile}: refused, no answer", summary.refused_unanswerable, COLOURS["refused"]),
    ]
    return [(name, value, colour) for name, value, colour in shown if value is not None]


def _drawn(bars: Sequence[tuple[str, float, str]]) -> list[str]:
    lines: list[str] = []
    for number, (name, value, colour) in enumerate(bars):
        top = 44 + number * ROW
        lines += [
            f'<text x="{BAR_LEFT - 8}" y="{top + 13}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{BAR_LEFT}" y="{top}" width="{max(value, 0) * BAR_WIDTH:.1f}" height="{ROW - 6}" '
            f'fill="{colour}"/>',
            f'<text x="{BAR_LEFT + max(value, 0) * BAR_WIDTH + 6:.1f}" y="{top + 13}">{value:.2f}</text>',
        ]
    return lines
