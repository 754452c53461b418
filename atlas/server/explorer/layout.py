"""The layout of a layered picture: who leads to whom runs from left to right, and no line runs through a box.

After Sugiyama, Tagawa and Toda (1981), for at most some dozens of boxes. An edge over several layers has a slot in each
layer between; edges to the same box share their slots. Sweeps order the layers so that few edges cross, then each layer
gets the places nearest to what its boxes are connected with that keep their distances (isotonic regression). Pure.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

BOX_HEIGHT, GAP = 26, 10
SLOT = 5
"""Height of the slot of a line between boxes."""
MARGIN = 10
BETWEEN, MOST_BETWEEN = 60, 180
"""Least and largest distance of two layers; it grows with the edges between them."""
SWEEPS, ALIGNMENTS = 12, 8

Pair = tuple[str, str]
Spot = tuple[str, int]
"""A box, or the slot in a layer of the edges to a box."""


@dataclass(frozen=True, slots=True)
class Bend:
    """Where an edge runs straight through a layer: from `left` to `right` at the height `y`."""

    left: float
    right: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Where boxes stand (left upper corner), how edges run between them, and the size of all of it."""

    places: Mapping[str, tuple[float, float]]
    routes: Mapping[Pair, tuple[Bend, ...]]
    """What lies between the ends of an edge, in its direction."""
    width: float
    height: float
    box: float
    """The width of each box."""


def lay_out_layers(layers: Mapping[str, int], edges: Iterable[Pair], box: float) -> Layout:
    """Return the layout of boxes of one width, whose layers are given, and edges between them."""
    pairs = list(dict.fromkeys(edges))
    chains = {pair: _chain(pair, layers) for pair in pairs if layers[pair[0]] != layers[pair[1]]}
    # from left to right, whatever the direction of the edge
    steps = list(dict.fromkeys(step for chain in chains.values() for step in pairwise(chain)))
    rows: dict[int, list[Spot]] = {layer: [] for layer in range(max(layers.values(), default=-1) + 1)}
    for spot in dict.fromkeys(
        [*((key, layer) for key, layer in layers.items()), *(one for step in steps for one in step)]
    ):
        rows[spot[1]].append(spot)
    before: dict[Spot, list[Spot]] = {}
    after: dict[Spot, list[Spot]] = {}
    for left, right in steps:
        after.setdefault(left, []).append(right)
        before.setdefault(right, []).append(left)
    ordered = _ordered(rows, before, after)
    boxes = set(layers.items())
    heights = _heights(ordered, before, after, boxes)
    lefts = _lefts(ordered, steps, box)
    top = min(heights.values(), default=0.0)
    middle = {spot: y - top + MARGIN + BOX_HEIGHT / 2 for spot, y in heights.items()}
    places = {key: (lefts[layer], middle[key, layer] - BOX_HEIGHT / 2) for key, layer in layers.items()}
    routes: dict[Pair, tuple[Bend, ...]] = {}
    for pair, chain in chains.items():
        bends = [Bend(lefts[spot[1]], lefts[spot[1]] + box, middle[spot]) for spot in chain[1:-1]]
        routes[pair] = tuple(bends if layers[pair[0]] < layers[pair[1]] else reversed(bends))
    width = max(lefts.values(), default=0.0) + box + MARGIN
    return Layout(places, routes, width, max(middle.values(), default=0.0) + BOX_HEIGHT / 2 + MARGIN, box)


def _chain(pair: Pair, layers: Mapping[str, int]) -> list[Spot]:
    """Return the spots of an edge from left to right; slots belong to its target."""
    first, last = sorted((layers[pair[0]], layers[pair[1]]))
    ends = pair if layers[pair[0]] == first else (pair[1], pair[0])
    slot = f"\0{pair[1]}"
    return [(ends[0], first), *((slot, layer) for layer in range(first + 1, last)), (ends[1], last)]


def _ordered(
    rows: Mapping[int, list[Spot]], before: Mapping[Spot, list[Spot]], after: Mapping[Spot, list[Spot]]
) -> list[list[Spot]]:
    """Return the order of each layer with the fewest crossings that the sweeps find."""
    order = [sorted(rows[layer]) for layer in sorted(rows)]
    best, fewest = order, _crossings(order, after)
    for sweep in range(SWEEPS):
        order = [list(row) for row in order]
        to_right = sweep % 2 == 0
        for layer in range(1, len(order)) if to_right else range(len(order) - 2, -1, -1):
            near = order[layer - 1 if to_right else layer + 1]
            at = {spot: number for number, spot in enumerate(near)}
            order[layer] = _by_mean(order[layer], at, before if to_right else after)
        crossings = _crossings(order, after)
        if crossings < fewest:
            best, fewest = order, crossings
    return best


def _by_mean(row: Sequence[Spot], at: Mapping[Spot, int], linked: Mapping[Spot, list[Spot]]) -> list[Spot]:
    """Return a layer by the mean place of what each spot is linked with; others keep their share of the height."""

    def place(number: int, spot: Spot) -> float:
        found = [at[one] for one in linked.get(spot, ()) if one in at]
        return sum(found) / len(found) if found else number * len(at) / max(len(row), 1)

    return [spot for _, spot in sorted(((place(number, spot), spot) for number, spot in enumerate(row)))]


def _crossings(order: Sequence[Sequence[Spot]], after: Mapping[Spot, list[Spot]]) -> int:
    found = 0
    for left, right in pairwise(order):
        at = {spot: number for number, spot in enumerate(right)}
        seen: list[int] = []
        for spot in left:
            ends = sorted(at[one] for one in after.get(spot, ()))
            found += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return found


def _heights(
    order: Sequence[Sequence[Spot]],
    before: Mapping[Spot, list[Spot]],
    after: Mapping[Spot, list[Spot]],
    boxes: set[Spot],
) -> dict[Spot, float]:
    """Return the height of the middle of each spot: near what it is linked with, and none on another one."""
    sizes = {spot: float(BOX_HEIGHT if spot in boxes else SLOT) for row in order for spot in row}
    found: dict[Spot, float] = {}
    for row in order:
        found |= _apart(row, dict.fromkeys(row, 0.0), sizes)
    for number in range(ALIGNMENTS):
        to_right = number % 2 == 0
        for row in order if to_right else reversed(order):
            wanted: dict[Spot, float] = {}
            for spot in row:
                near = before.get(spot, []) if to_right else after.get(spot, [])
                near = near or [*before.get(spot, []), *after.get(spot, [])]
                wanted[spot] = sum(found[one] for one in near) / len(near) if near else found[spot]
            found |= _apart(row, wanted, sizes)
    return found


def _apart(row: Sequence[Spot], wanted: Mapping[Spot, float], sizes: Mapping[Spot, float]) -> dict[Spot, float]:
    """Return the heights nearest to those wanted at which no two spots of a layer touch."""
    offsets: list[float] = []
    for number, spot in enumerate(row):
        last = row[number - 1] if number else spot
        offsets.append(offsets[-1] + (sizes[last] + sizes[spot]) / 2 + GAP if number else 0.0)
    blocks: list[tuple[float, int]] = []  # (mean, number of spots), means not falling
    for spot, offset in zip(row, offsets, strict=True):
        mean, count = wanted[spot] - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, size = blocks.pop()
            mean, count = (other * size + mean * count) / (size + count), size + count
        blocks.append((mean, count))
    means = [mean for mean, count in blocks for _ in range(count)]
    return {spot: mean + offset for spot, mean, offset in zip(row, means, offsets, strict=True)}


def _lefts(order: Sequence[Sequence[Spot]], steps: Iterable[tuple[Spot, Spot]], box: float) -> dict[int, float]:
    """Return where each layer begins: the more edges lie before it, the farther."""
    between = [0] * len(order)
    for left, _ in steps:
        between[left[1]] += 1
    lefts: dict[int, float] = {}
    x = float(MARGIN)
    for layer in range(len(order)):
        lefts[layer] = x
        x += box + min(BETWEEN + 3 * between[layer], MOST_BETWEEN)
    return lefts


def layers_of(names: Sequence[str], pairs: Iterable[Pair]) -> dict[str, int]:
    """Return the layer of each node: behind all that lead to it, without the edges that close a cycle."""
    after: dict[str, list[str]] = {name: [] for name in names}
    for source, target in sorted(pairs):
        after[source].append(target)
    done: list[str] = []
    state: dict[str, int] = {}
    forward: dict[str, list[str]] = {name: [] for name in names}
    for start in names:
        waiting = [(start, iter(after[start]))] if start not in state else []
        state.setdefault(start, 1)
        while waiting:
            name, targets = waiting[-1]
            target = next(targets, None)
            if target is None:
                state[name] = 2
                done.append(name)
                waiting.pop()
            elif state.get(target) != 1:  # 1: the edge leads back to what is being followed
                forward[name].append(target)
                if target not in state:
                    state[target] = 1
                    waiting.append((target, iter(after[target])))
    layers = dict.fromkeys(names, 0)
    for name in reversed(done):
        for target in forward[name]:
            layers[target] = max(layers[target], layers[name] + 1)
    # what nothing leads to stands beside the nearest of what it leads to
    leads = {target for targets in forward.values() for target in targets}
    for name in names:
        if name not in leads and forward[name]:
            layers[name] = min(layers[target] for target in forward[name]) - 1
    return layers
