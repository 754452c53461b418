"""Charts as SVG text, without a library: bars, lines over two linear axes, and a reliability diagram. Pure."""

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


def reliability(title: str, points: Sequence[tuple[str, float, float, float, float]]) -> str:
    """Return stated against measured shares: a point per (name, stated, measured, low, high) beside the diagonal."""
    begin = min([0.9, *(min(stated, low) for _, stated, _, low, _ in points)]) // 0.1 / 10
    left, top, side = 70, 48, 400

    def at(stated: float, measured: float) -> tuple[float, float]:
        return left + side * (stated - begin) / (1 - begin), top + side * (1 - (measured - begin) / (1 - begin))

    parts = [_text(16, 24, title, size=15)]
    for step in range(5):
        share = begin + (1 - begin) * step / 4
        x, y = at(share, share)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + side}" y2="{y:.1f}" stroke="{PALE}"/>')
        parts.append(_text(left - 6, y + 4, _number(share), anchor="end", size=10))
        parts.append(_text(x, top + side + 16, _number(share), "middle", 10))
    parts.append(f'<line x1="{left}" y1="{top + side}" x2="{left + side}" y2="{top}" stroke="{INK}"/>')
    for number, (name, stated, measured, low, high) in enumerate(sorted(points, key=lambda point: -point[2])):
        (x, y), color = at(stated, measured), COLORS[number % len(COLORS)]
        ends = at(stated, high)[1], at(stated, low)[1]
        parts.append(f'<line x1="{x:.1f}" y1="{ends[0]:.1f}" x2="{x:.1f}" y2="{ends[1]:.1f}" stroke="{color}"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>')
        row = top + 16 * number
        parts.append(f'<circle cx="{left + side + 26}" cy="{row}" r="4" fill="{color}"/>')
        parts.append(_text(left + side + 36, row + 4, f"{name}: {stated:.2f} stated, {measured:.3f} measured", size=11))
    parts.append(_text(left + side / 2, top + side + 34, "stated confidence", anchor="middle"))
    parts.append(_text(16, top - 8, "measured precision, 95 % interval", size=10))
    return _svg(title, top + max(side + 48, 16 * len(points)), parts)


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
