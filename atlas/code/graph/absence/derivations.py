"""Lines that say what a type derives from, where no edge does: `impl Sink for other.Type`. Pure.

A line may state again what an edge has; others are quoted, because their type may belong to another package.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from atlas.code.graph.absence.occurrences import TextPlace
from atlas.code.graph.absence.proof import SHOWN
from atlas.code.graph.relation import RelatedSymbol
from atlas.core.invisible import escaped
from atlas.core.lazy_regex import lazy_regex
from atlas.core.wording import counted

MOST_QUOTED = 90
"""Characters of a line that is quoted."""
_DERIVES = lazy_regex(r"\b(?:extends|implements|with|impl|class|struct|interface|trait|protocol|object|enum)\b")
"""A line that may say what a type derives from."""
_EXTENDED = lazy_regex(r"\s{0,200}(?:\w{1,20} ){0,3}extension (?P<type>[\w.]{1,120})\s?:(?P<bases>[^{]{1,400})")
"""An extension that makes a type conform, which may be one of another package: `extension Date: Value`."""
_IMPLEMENTS = lazy_regex(r"\bimpl\b")
_DECLARES = lazy_regex(r"\b(?:extends|implements|class|struct|interface|trait|protocol|object|enum)\b")


def may_derive(place: TextPlace, name: str) -> bool:
    """Return whether a line may say that a type derives from `name`; a bound of a parameter says no such thing."""
    if (extended := _EXTENDED.match(place.text)) is not None:
        return re.search(rf"(?<![\w.]){re.escape(name)}\b", extended["bases"]) is not None
    if not _DERIVES.search(place.text) and not _derives_behind(place.text, name):
        return False
    if _IMPLEMENTS.search(place.text):
        return _is_implemented(place.text, name)
    is_bound = re.search(rf"\w\s*:\s*(?:[\w:]+\s*\+\s*)?(?:[\w:]+::)?{re.escape(name)}\b", place.text) is not None
    return not is_bound or _DECLARES.search(place.text) is not None


def begins_base(place: TextPlace) -> bool:
    """Return whether a line goes on with the head of a type above it."""
    return place.text.lstrip().startswith(("extends ", "implements ", "with ", ":", ","))


def _derives_behind(text: str, name: str) -> bool:
    """Return whether the name, with its modules, stands behind `<`: `Cart < Shop::Base`."""
    behind = text.partition("<")[2].lstrip()
    before, found, _ = behind.partition(name)
    return bool(found) and re.fullmatch(r"(?:\w+(?:::|\.))*", before) is not None


def _is_implemented(text: str, name: str) -> bool:
    """Return whether `impl` is followed by the name, behind parameters and modules, and then by `for`."""
    rest = text.partition("impl")[2].replace("->", "")
    for found in re.finditer(rf"(?<![\w$]){re.escape(name)}\b", rest):
        before, behind = rest[: found.start()], rest[found.end() :]
        if before.count("<") == before.count(">") and not re.search(r"\b(?:for|where)\b", before):
            return re.search(r"\bfor\b", behind) is not None
    return False


def with_stated(
    related: Sequence[RelatedSymbol], places: Sequence[TextPlace]
) -> tuple[tuple[RelatedSymbol, ...], tuple[TextPlace, ...]]:
    """Return subtypes with the lines that state them again, as `impl X for Y` does, and the places left."""
    stated: dict[str, list[int]] = {}
    left: list[TextPlace] = []
    for place in places:
        if (extended := _EXTENDED.match(place.text)) is not None:
            own = [each for each in related if each.node.row.name == extended["type"].rpartition(".")[2]]
            for each in own:
                if each.path == place.path:
                    stated.setdefault(each.node.row.uid, []).append(place.line)
            left += [] if own else [place]
            continue
        named = [each for each in related if _names_for(each.node.row.name, place.text) and each.path == place.path]
        if len(named) == 1:
            stated.setdefault(named[0].node.row.uid, []).append(place.line)
        else:
            left.append(place)
    with_lines = (
        replace(each, lines=tuple(sorted({*(each.lines or (each.node.row.line,)), *stated[each.node.row.uid]})))
        if each.node.row.uid in stated
        else each
        for each in related
    )
    return tuple(with_lines), tuple(left)


def _names_for(name: str, text: str) -> bool:
    return re.search(rf"\bfor\s+(?:&(?:'\w+\s)?)?(?:[\w:]+::)?{re.escape(name)}\b", text) is not None


def quote_derivations(places: Sequence[TextPlace]) -> tuple[str, ...]:
    """Return what the places left say, product code and lines that implement first; () for none."""
    if not places:
        return ()
    order = sorted(places, key=lambda each: (_in_test(each), not _IMPLEMENTS.search(each.text)))
    shown = "; ".join(_quoted(each) for each in order[:SHOWN])
    more = f"; and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return (f"at least: {counted(len(places), 'more line')} may be such, without an edge: {shown}{more}",)


def _in_test(place: TextPlace) -> bool:
    return place.node is not None and place.node.row.is_test


def _quoted(place: TextPlace) -> str:
    text = " ".join(place.text.split()).rstrip(" {")
    return f"{place.at} `{escaped(text[:MOST_QUOTED])}`" if text else place.at
