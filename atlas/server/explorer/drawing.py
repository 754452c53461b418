"""A picture of boxes and arrows, and its drawing as SVG. Names are escaped, and cut to the width of their box."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from atlas.core.invisible import escaped
from atlas.server.explorer.layout import BOX_HEIGHT, Layout, lay_out_layers, layers_of

MAX_NODES = 60
"""In one picture; what is left out is counted."""
LEAST, ROOM, PADDING = 60.0, 214.0, 16.0
"""Least and largest width of the text in a box, and what is left free beside it."""
PORTS = 16
"""Height of a box along which its lines end."""
HEAD = 7

__all__ = ["MAX_NODES", "Picture", "PictureEdge", "PictureNode", "layers_of", "svg"]


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A box: its name, where it leads to, and its layer."""

    key: str
    text: str
    href: str
    layer: int
    is_subject: bool = False
    title: str = ""
    """Shown when one points at it; "" is the key."""
    cut_at_end: bool = False
    """A name too long for its box loses its end; others lose their beginning, which is a path as a rule."""


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """An arrow between the keys of two nodes, and what is known of it."""

    source: str
    target: str
    label: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes, arrows, and how much is left out."""

    title: str
    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    left: str
    """What is not drawn, in words; "" for nothing."""


def svg(picture: Picture, *, linked: bool = False) -> Markup:
    """Return the drawing; `linked`: boxes lead to pages of the explorer."""
    edges = {(one.source, one.target): one for one in picture.edges}
    used = {layer: number for number, layer in enumerate(sorted({node.layer for node in picture.nodes}))}
    layers = {node.key: used[node.layer] for node in picture.nodes}
    room = min(max((text_width(escaped(node.text)) for node in picture.nodes), default=LEAST), ROOM)
    layout = lay_out_layers(layers, edges, max(room, LEAST) + PADDING)
    width, height = round(layout.width), round(layout.height)
    start = (
        '<svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" width="{}" height="{}" '
        'role="group" aria-label="{}">'
    )
    parts = [
        Markup(start).format(width, height, width, height, escaped(picture.title)),
        Markup('<rect class="back" x="0" y="0" width="{}" height="{}" fill="#ffffff"></rect>').format(width, height),
    ]
    ends = _ends(layout, layers)
    parts += [_arrow(layout, ends, edge, layers) for edge in edges.values()]
    for node in picture.nodes:
        x, y = layout.places[node.key]
        box = Markup(
            '<title>{}</title><rect class="{}" x="{:.0f}" y="{:.0f}" width="{}" height="{}" rx="4" fill="{}" '
            'stroke="#57606a"></rect>'
            '<text x="{:.0f}" y="{:.0f}" fill="#1b1f24" font-family="sans-serif" font-size="12">{}</text>'
        ).format(
            escaped(node.title or node.key),
            "subject" if node.is_subject else "box",
            *(x, y, f"{layout.box:.0f}", BOX_HEIGHT, "#fff1c2" if node.is_subject else "#f6f8fa", x + 8, y + 17),
            fitted(escaped(node.text), at_end=node.cut_at_end),
        )
        parts.append(
            Markup('<a href="{}">{}</a>').format(node.href, box) if linked else Markup("<g>{}</g>").format(box)
        )
    return Markup("").join((*parts, Markup("</svg>")))


def fitted(text: str, room: float = ROOM, *, at_end: bool = False) -> str:
    """Return a text that fits into a width, cut at its beginning or its end."""
    if text_width(text) <= room:
        return text
    kept: list[str] = []
    left = room - 12.0
    for letter in text if at_end else reversed(text):
        left -= _width(letter)
        if left < 0:
            break
        kept.append(letter)
    return f"{''.join(kept)}…" if at_end else f"…{''.join(reversed(kept))}"


def text_width(text: str) -> float:
    """Return the width of a text; of one that fits nowhere, more than there is room."""
    return sum(map(_width, text[:200]))


def _width(letter: str) -> float:
    """Return the width of a letter of 12 px, as most sans-serif fonts have it at most."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 12.5
    if letter in "mwMW@%":
        return 11.0
    return 9.0 if letter.isupper() else 4.5 if letter in "fijlrt.,:;'|!()[]/ " else 7.3


def _ends(layout: Layout, layers: Mapping[str, int]) -> dict[tuple[str, str, bool], float]:
    """Return the height at which each line ends at a box, (source, target, whether at the source): none on another."""
    sides: dict[tuple[str, bool], list[tuple[float, tuple[str, str, bool]]]] = {}
    for (source, target), bends in layout.routes.items():
        is_forward = layers[source] < layers[target]
        near = bends[0].y if bends else layout.places[target][1]
        far = bends[-1].y if bends else layout.places[source][1]
        sides.setdefault((source, is_forward), []).append((near, (source, target, True)))
        sides.setdefault((target, not is_forward), []).append((far, (source, target, False)))
    found: dict[tuple[str, str, bool], float] = {}
    for (key, _), lines in sides.items():
        top = layout.places[key][1] + (BOX_HEIGHT - PORTS) / 2
        for number, (_, line) in enumerate(sorted(lines), 1):
            found[line] = top + PORTS * number / (len(lines) + 1)
    return found


def _arrow(
    layout: Layout, ends: Mapping[tuple[str, str, bool], float], edge: PictureEdge, layers: Mapping[str, int]
) -> Markup:
    pair = edge.source, edge.target
    (x1, y1), (x2, y2) = layout.places[edge.source], layout.places[edge.target]
    if pair not in layout.routes:  # to itself, or within a layer: around the right side
        x1, x2, y1, y2 = x1 + layout.box, x2 + layout.box, y1 + BOX_HEIGHT / 3, y2 + BOX_HEIGHT * 2 / 3
        path = f"M{x1:.0f} {y1:.1f} C{x1 + 30:.0f} {y1:.1f} {x2 + 30:.0f} {y2:.1f} {x2 + HEAD:.0f} {y2:.1f}"
        return _line(edge, path, x2, y2, -1)
    y1, y2 = ends[(*pair, True)], ends[(*pair, False)]
    way = 1 if layers[edge.source] < layers[edge.target] else -1
    x1, x2 = (x1 + layout.box, x2) if way > 0 else (x1, x2 + layout.box)
    parts, x, y = [f"M{x1:.0f} {y1:.1f}"], x1, y1
    points = [((one.left, one.right) if way > 0 else (one.right, one.left), one.y) for one in layout.routes[pair]]
    for (to, on), height in [*points, ((x2 - way * HEAD, x2), y2)]:
        half = (x + to) / 2
        parts.append(f"C{half:.0f} {y:.1f} {half:.0f} {height:.1f} {to:.0f} {height:.1f}")
        if on != x2:
            parts.append(f"H{on:.0f}")
        x, y = on, height
    return _line(edge, " ".join(parts), x2, y2, way)


def _line(edge: PictureEdge, path: str, x: float, y: float, way: int) -> Markup:
    back = x - way * HEAD
    head = f"{back:.0f},{y - 4:.1f} {x:.0f},{y:.1f} {back:.0f},{y + 4:.1f}"
    return Markup(
        '<g><title>{}</title><path d="{}" fill="none" stroke="#8c959f"></path>'
        '<polygon points="{}" fill="#8c959f"></polygon></g>'
    ).format(escaped(edge.label), path, head)
