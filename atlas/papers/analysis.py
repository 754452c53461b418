"""What stored papers are about in numbers, as tables and SVG, and the key points of one paper. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from atlas.core.english.sentences import sentences
from atlas.core.invisible import one_line
from atlas.core.paper_source import Paper

MOST = 15
"""Rows of a table."""
MAX_POINTS = 3
_RESULT = re.compile(
    r"\b(?:we|our|this (?:paper|work|article))\b[^.]{0,60}\b(?:propos|present|introduc|show|find|found|demonstrat|"
    r"achiev|prove|provide|develop|outperform|improv|describe|argue|report|release)",
    re.I,
)
_NUMBER = re.compile(r"\d[\d.,]{0,12}\s?(?:%|percent|x\b|times|BLEU|points)|state[- ]of[- ]the[- ]art", re.I)


@dataclass(frozen=True, slots=True)
class PaperCounts:
    """Numbers of papers, the most first, years in their order."""

    years: tuple[tuple[str, int], ...]
    venues: tuple[tuple[str, int], ...]
    authors: tuple[tuple[str, int], ...]
    topics: Mapping[str, tuple[tuple[str, int], ...]]
    """By topic, how many papers up to each year."""


def count_papers(papers: Mapping[str, Paper], topics: Mapping[str, Sequence[Paper]]) -> PaperCounts:
    """Return the numbers of papers; `topics` are the papers of each topic."""
    every = list(papers.values())
    return PaperCounts(
        years=_years(every),
        venues=_most(paper.venue for paper in every),
        authors=_most(author for paper in every for author in dict.fromkeys(paper.authors)),
        topics={name: _growth(_years(some)) for name, some in sorted(topics.items())},
    )


def counts_text(counts: PaperCounts) -> str:
    """Return the numbers as tables."""
    tables = {"year": counts.years, "venue": counts.venues, "author": counts.authors}
    tables |= {f"{topic}, up to the year": rows for topic, rows in counts.topics.items()}
    lines: list[str] = []
    for title, rows in tables.items():
        width = max((len(name) for name, _ in rows), default=0)
        shown = [f"  {one_line(name):<{width}} {number:>5}" for name, number in rows] or ["  none"]
        lines += [f"papers by {title}", *shown, ""]
    return "\n".join(lines)


def counts_svg(counts: PaperCounts) -> str:
    """Return bars of the papers by year as an SVG image."""
    rows = counts.years[-40:]
    most = max((number for _, number in rows), default=1)
    width, height, step = 40 + 24 * max(len(rows), 1), 200, 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 40}" width="{width}" '
        f'font-family="sans-serif" font-size="9"><title>Papers by year</title>'
    ]
    for place, (year, number) in enumerate(rows):
        tall = round(180 * number / most)
        x = 20 + step * place
        parts.append(
            f'<rect x="{x}" y="{height - tall}" width="18" height="{tall}" fill="#4878a8"/>'
            f'<text x="{x + 9}" y="{height - tall - 3}" text-anchor="middle">{number}</text>'
            f'<text x="{x + 9}" y="{height + 14}" text-anchor="middle">{escape(year)}</text>'
        )
    return "".join((*parts, "</svg>\n"))


def key_points(paper: Paper) -> tuple[str, ...]:
    """Return the sentences of the summary that state what was done and found, in their order; no model is asked."""
    every = [" ".join(one.split()) for one in sentences(paper.summary)]
    words = Counter(word for one in every for word in set(re.findall(r"[a-z]{4,}", one.lower())))
    title = set(re.findall(r"[a-z]{4,}", paper.title.lower()))

    def score(place: int) -> float:
        own = set(re.findall(r"[a-z]{4,}", every[place].lower()))
        shared = sum(words[word] > 1 for word in own) / (len(own) or 1)
        about = len(own & title) / (len(title) or 1)
        stated = 1.5 * bool(_RESULT.search(every[place])) + 0.8 * bool(_NUMBER.search(every[place]))
        return shared + about + stated

    best = sorted(range(len(every)), key=lambda place: (-score(place), place))[:MAX_POINTS]
    return tuple(every[place] for place in sorted(best))


def _years(papers: Sequence[Paper]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(paper.published[:4] for paper in papers if paper.published[:4].isdigit()).items()))


def _growth(years: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    total = 0
    found: list[tuple[str, int]] = []
    for year, number in years:
        total += number
        found.append((year, total))
    return tuple(found)


def _most(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    counted = Counter(name for name in names if name)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:MOST])
