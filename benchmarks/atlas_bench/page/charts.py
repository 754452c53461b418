"""Charts as SVG text, without a library: horizontal bars, and lines over two linear axes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

COLORS = ("#0969da", "#bf8700", "#8250df", "#1a7f37", "#cf222e", "#57606a", "#0a7ea4", "#953800", "#6e7781")
INK, PALE = "#1f2328", "#d0d7de"
WIDTH = 760
QUOTE = {'"': "&quot;"}


def bars(title: str, rows: Sequence[tuple[str, Mapping[str, float]]], unit: str = "") -> str:
    """Return a bar per row and series, as long as its value; a row may lack a series."""
    series = list(dict.fromkeys(name for _, values in rows for name in values))
    longest = max((value for _, values in rows for value in values.values()), default=0.0) or 1.0
    bar, gap, left, reach = 12, 12, 190, 400
    parts, y = [_text(16, 24, title, size=15), *_legend(series, 40)], 40 + 18 * ((len(series) + 3) // 4) + 6
    for label, values in rows:
        parts.append(_text(left - 8, y + bar * len(values) / 2 + 4, label, anchor="end"))
        for name, value in values.items():
            long, color = max(reach * value / longest, 1), COLORS[series.index(name) % len(COLORS)]
            parts.append(f'<rect x="{left}" y="{y}" width="{long:.1f}" height="{bar - 1}" fill="{color}"/>')
            parts.append(_text(left + long + 6, y + bar - 2, f"{_number(value)} {unit}".rstrip(), size=10))
            y += bar
        y += gap
    return _svg(title, y + 8, parts)


def lines(title: str, series: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str) -> str:
    """Return a line per series through its (x, y); both axes begin at 0."""
    points = [point for values in series.values() for point in values]
    widest, highest = max((x for x, _ in points), default=1.0) or 1.0, max((y for _, y in points), default=1.0) or 1.0
    left, top, width, height = 70, 76, 620, 240
    parts = [_text(16, 24, title, size=15), *_legend(list(series), 40)]
    for step in range(5):
        y = top + height * (1 - step / 4)
        parts.append(f'<line x1="{left}" y1="{y}" x2="{left + width}" y2="{y}" stroke="{PALE}"/>')
        parts.append(_text(left - 6, y + 4, _number(highest * step / 4), anchor="end", size=10))
        parts.append(_text(left + width * step / 4, top + height + 16, _number(widest * step / 4), "middle", 10))
    for number, values in enumerate(series.values()):
        color = COLORS[number % len(COLORS)]
        at = [(left + width * x / widest, top + height * (1 - y / highest)) for x, y in sorted(values)]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in at]
    parts.append(_text(left + width / 2, top + height + 34, across, anchor="middle"))
    parts.append(_text(16, top - 8, up, size=10))
    return _svg(title, top + height + 48, parts)


def _legend(series: Sequence[str], y: int) -> list[str]:
    parts: list[str] = []
    for number, name in enumerate(series):
        x, line = 16 + 180 * (number % 4), y + 18 * (number // 4)
        parts.append(f'<rect x="{x}" y="{line}" width="11" height="11" fill="{COLORS[number % len(COLORS)]}"/>')
        parts.append(_text(x + 16, line + 10, name))
    return parts


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{INK}">{escape(text)}</text>'


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(title, QUOTE)}">'
    )
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>', *parts, "</svg>", ""])


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
