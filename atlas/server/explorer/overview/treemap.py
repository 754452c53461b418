"""A map of folders as SVG: the size of a box is its lines, its colour one of five steps of a value.

Pure. Boxes are laid out as squarely as their sizes allow (Bruls, Huizing and van Wijk, 2000). Colours are attributes of
the drawing, since the pages allow no inline style.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from atlas.core.invisible import escaped
from atlas.core.wording import counted
from atlas.server.explorer.render import file_url, url

WIDTH, HEIGHT = 1000.0, 480.0
STEPS = ("#e6edf3", "#bcd9f2", "#f3d9a4", "#f2b27c", "#ec8a6e")
"""From little to much: all are light enough for dark text."""
LETTER, LINE = 6.6, 14.0
"""Width and height of a letter in the units of the map."""


@dataclass(frozen=True, slots=True)
class Box:
    """A folder or file, and where it is drawn."""

    name: str
    path: str
    is_folder: bool
    size: int
    """Lines."""
    files: int
    said: str
    """What the colour says, in words."""
    share: float
    """What the colour shows: the more, the warmer."""
    step: int = 0
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0


def coloured(boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes with the step of their share among all of them; without one the first."""
    shares = sorted(box.share for box in boxes if box.share)

    def step(box: Box) -> int:
        below = sum(share < box.share for share in shares)
        return 1 + below * (len(STEPS) - 1) // len(shares) if box.share else 0

    return [replace(box, step=step(box)) for box in boxes]


def lay_out(boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes with their places; those without a size are left out."""
    left = sorted((box for box in boxes if box.size > 0), key=lambda box: -box.size)
    scale = WIDTH * HEIGHT / max(sum(box.size for box in left), 1)
    placed: list[Box] = []
    x, y, width, height = 0.0, 0.0, WIDTH, HEIGHT
    while left:
        short = min(width, height)
        count = 1
        while count < len(left) and _worst(left[: count + 1], short, scale) <= _worst(left[:count], short, scale):
            count += 1
        row, left = left[:count], left[count:]
        area = sum(box.size for box in row) * scale
        thick = area / short if short else 0
        along = 0.0
        for box in row:
            length = box.size * scale / thick if thick else 0
            is_tall = width >= height
            place = (x, y + along, thick, length) if is_tall else (x + along, y, length, thick)
            placed.append(replace(box, x=place[0], y=place[1], width=place[2], height=place[3]))
            along += length
        if width >= height:
            x, width = x + thick, max(width - thick, 0)
        else:
            y, height = y + thick, max(height - thick, 0)
    return placed


def _worst(row: Sequence[Box], short: float, scale: float) -> float:
    """Return the largest ratio of sides in a row of boxes along the short side."""
    areas = [box.size * scale for box in row]
    total = sum(areas)
    return (
        max(max(short**2 * area / total**2, total**2 / (short**2 * area)) for area in areas) if short and total else 0
    )


def draw(boxes: Sequence[Box], given: Mapping[str, str]) -> Markup:
    """Return the drawing; a folder leads to its own map with the same colours, a file to its page."""
    parts = [
        Markup('<svg class="map" viewBox="0 0 {} {}" role="group" aria-label="Map">').format(int(WIDTH), int(HEIGHT))
    ]
    for box in boxes:
        to = url("/", **{**given, "folder": box.path}) if box.is_folder else file_url(box.path)
        title = f"{box.path or box.name}: {counted(box.size, 'line')} in {counted(box.files, 'file')}, {box.said}"
        parts.append(
            Markup(
                '<a href="{}"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" fill="{}"></rect>{}</a>'
            ).format(to, escaped(title), *_numbers(box), STEPS[box.step], _label(box))
        )
    return Markup("").join((*parts, Markup("</svg>")))


def _numbers(box: Box) -> tuple[str, ...]:
    return tuple(f"{number:.1f}" for number in (box.x, box.y, box.width, box.height))


def _label(box: Box) -> Markup:
    """Return the name, cut to its box: of a path the end stays. Nothing where it does not fit."""
    letters = int((box.width - 8) / LETTER)
    if letters < 3 or box.height < LINE + 4:
        return Markup("")
    name = escaped(f"{box.name}/" if box.is_folder else box.name)
    cut = f"…{name[1 - letters :]}" if "/" in name.rstrip("/") else f"{name[: letters - 1]}…"
    shown = name if len(name) <= letters else cut
    return Markup('<text x="{}" y="{}">{}</text>').format(f"{box.x + 4:.1f}", f"{box.y + LINE:.1f}", escape(shown))
