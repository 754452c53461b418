"""Summaries of a run: rows by kind and by package, as tables, an SVG chart and a list of failures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from xml.sax.saxutils import escape

from atlas_bench.answers.judge import Outcome
from atlas_bench.answers.questions import KINDS
from atlas_bench.answers.run import ATLAS, Asked

TOTAL = "all"
SHOWN_LINES = 14
"""Lines of an answer that the list of failures shows."""
SHOWN_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Row:
    """One kind (or package, or everything) as answered by one asker; times in milliseconds."""

    name: str
    by: str
    questions: int
    right: int
    partly: int
    wrong: int
    recall: float
    wrong_targets: int
    tokens_median: float
    tokens_p95: float
    ms_p50: float
    ms_p95: float

    @property
    def share(self) -> float:
        """Return the share of questions answered."""
        return self.right / self.questions


def by_kind(asked: Sequence[Asked]) -> list[Row]:
    """Return a row per kind that was asked and per asker, in the order of `KINDS`, then those of everything."""
    rows = [
        row for kind in KINDS for row in _rows(kind, [each for each in asked if each.question.kind == kind])
    ]  # fmt: skip
    return [*rows, *_rows(TOTAL, asked)]


def by_package(asked: Sequence[Asked]) -> list[Row]:
    """Return a row per package and asker, in order of the run."""
    names = dict.fromkeys((each.package, each.language) for each in asked)
    return [
        row
        for name, language in names
        for row in _rows(f"{name} ({language})", [each for each in asked if each.package == name])
    ]


def _rows(name: str, asked: Sequence[Asked]) -> list[Row]:
    askers = dict.fromkeys(each.by for each in asked)
    return [_row(name, by, [each for each in asked if each.by == by]) for by in askers]


def _row(name: str, by: str, asked: Sequence[Asked]) -> Row:
    verdicts = [each.verdict for each in asked]
    tokens, ms = [float(each.tokens) for each in asked], [each.ms for each in asked]
    counts = {outcome: sum(each.outcome is outcome for each in verdicts) for outcome in Outcome}
    return Row(
        name,
        by,
        len(asked),
        counts[Outcome.RIGHT],
        counts[Outcome.PARTLY],
        counts[Outcome.WRONG],
        statistics.fmean(each.recall for each in verdicts),
        sum(each.wrong_target for each in verdicts),
        statistics.median(tokens),
        _p95(tokens),
        statistics.median(ms),
        _p95(ms),
    )


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


KIND, PACKAGE = "kind", "package"
COLUMNS = ("questions", "right", "partly", "wrong", "recall", "wrong target", "tokens", "p95", "ms p50", "p95")


def cells(rows: Sequence[Row], what: str) -> tuple[list[str], list[list[str]]]:
    """Return columns and cells of a table: a line per kind or package, with right answers and tokens of each peer."""
    peers = [by for by in dict.fromkeys(row.by for row in rows) if by != ATLAS]
    columns = [what, *COLUMNS, *(f"{by} {value}" for by in peers for value in ("right", "tokens"))]
    table: list[list[str]] = []
    for row in (row for row in rows if row.by == ATLAS):
        beside = {other.by: other for other in rows if other.name == row.name}
        table.append(
            [
                row.name,
                str(row.questions),
                f"{row.share:.0%}",
                str(row.partly),
                str(row.wrong),
                f"{row.recall:.2f}",
                str(row.wrong_targets),
                f"{row.tokens_median:,.0f}",
                f"{row.tokens_p95:,.0f}",
                f"{row.ms_p50:.1f}",
                f"{row.ms_p95:.1f}",
                *(
                    text
                    for by in peers
                    for text in (f"{beside[by].share:.0%}", f"{beside[by].tokens_median:,.0f}")
                ),
            ]
        )  # fmt: skip
    return columns, table


def tables(asked: Sequence[Asked]) -> str:
    """Return the tables by kind and by package."""
    return "\n".join(
        _table(*cells(rows, what)) for rows, what in ((by_kind(asked), KIND), (by_package(asked), PACKAGE))
    )


def _table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "".join(f"{_line(row)}\n" for row in (columns, ["---"] * len(columns), *lines))


def _line(row: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def to_dict(asked: Sequence[Asked]) -> dict[str, object]:
    """Return everything as JSON values: rows by kind and package, and each question with its verdict."""
    return {
        "kinds": [asdict(row) for row in by_kind(asked)],
        "packages": [asdict(row) for row in by_package(asked)],
        "questions": [
            {
                "package": each.package,
                "kind": each.question.kind,
                "ask": each.question.ask,
                "by": each.by,
                **asdict(each.verdict),
                "tokens": each.tokens,
                "ms": round(each.ms, 2),
                "answer": each.answer,
            }
            for each in asked
        ],
    }


def failures(asked: Iterable[Asked]) -> str:
    """Return the questions that the tool did not answer, each with what is absent and how its answer begins."""
    parts: list[str] = []
    for each in asked:
        verdict = each.verdict
        if each.by != ATLAS or (verdict.outcome is Outcome.RIGHT and not verdict.wrong_target):
            continue
        head = f"{each.package} [{each.question.kind}] {each.question.ask}"
        wrong = ", WRONG TARGET" if verdict.wrong_target else ""
        shares = f"recall {verdict.recall:.2f}, precision {verdict.precision:.2f}"
        lines = [head, f"  {verdict.outcome}, {shares}{wrong}, {each.tokens} tokens"]
        lines += [f"  - {text}" for text in verdict.absent[:12]]
        lines += [f"  + {text}" for text in verdict.surplus[:12]]
        lines += [f"    {line[:SHOWN_WIDTH]}" for line in _begin(each.answer)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _begin(answer: str) -> list[str]:
    content = json.loads(answer)
    content.pop("evidence", None)
    return json.dumps(content, indent=1, ensure_ascii=False).splitlines()[1 : SHOWN_LINES + 1]


def svg(asked: Sequence[Asked], title: str) -> str:
    """Return a bar chart: the share of questions answered by each asker, per kind and in total."""
    rows = by_kind(asked)
    askers = list(dict.fromkeys(row.by for row in rows))
    kinds = list(dict.fromkeys(row.name for row in rows))
    bar, gap, left, width, top = 11, 12, 150, 420, 64
    step = bar * len(askers) + gap
    height = top + step * len(kinds) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="system-ui, sans-serif" '
        f'font-size="12" role="img" aria-label="{escape(title, {chr(34): "&quot;"})}">',
        f'<rect width="760" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="24" font-size="15" fill="#1f2328">{escape(title)}</text>',
    ]
    for number, by in enumerate(askers):
        x = left + 130 * number
        parts.append(f'<rect x="{x}" y="38" width="11" height="11" fill="{_color(number)}"/>')
        parts.append(f'<text x="{x + 16}" y="48" fill="#1f2328">{escape(by)}</text>')
    for place, kind in enumerate(kinds):
        y = top + step * place
        parts.append(f'<text x="{left - 8}" y="{y + step / 2}" text-anchor="end" fill="#1f2328">{escape(kind)}</text>')
        for number, by in enumerate(askers):
            row = next(row for row in rows if row.name == kind and row.by == by)
            at, long = y + bar * number, max(width * row.share, 1)
            label = f"{row.share:.0%}, {row.tokens_median:,.0f} tokens"
            parts.append(f'<rect x="{left}" y="{at}" width="{long:.1f}" height="{bar - 1}" fill="{_color(number)}"/>')
            parts.append(
                f'<text x="{left + long + 6:.1f}" y="{at + 9}" font-size="9" fill="#57606a">{escape(label)}</text>'
            )
    return "\n".join([*parts, "</svg>", ""])


def _color(number: int) -> str:
    return ("#0969da", "#bf8700", "#8250df", "#1a7f37", "#cf222e")[number % 5]
