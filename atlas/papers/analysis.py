"""What stored papers are about in numbers, as tables and SVG, and the key points of one paper. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from atlas.core.english.sentences import sentences
from atlas.core.invisible import one_line
from atlas.core.lazy_regex import lazy_regex
from atlas.core.paper_source import Paper

MOST, MOST_YEARS = 15, 40
"""Rows of a table, and years of a chart."""
WIDTH, NAMES, BAR, STEP, MOST_LETTERS = 640, 240, 340, 18, 38
"""Of a chart in pixels: the image, its names, the longest bar, a row; letters of a name."""
MAX_POINTS = 3
_RESULT = lazy_regex(
    r"\b(?:we|our|this (?:paper|work|article))\b[^.]{0,60}\b(?:propos|present|introduc|show|find|found|demonstrat|"
    r"achiev|prove|provide|develop|outperform|improv|describe|argue|report|release)",
    re.I,
)
_NUMBER = lazy_regex(r"\d[\d.,]{0,12}\s?(?:%|percent|x\b|times|BLEU|points)|state[- ]of[- ]the[- ]art", re.I)


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
    """Return the numbers as an SVG image: papers by year, venue and author, and the growth of each topic."""
    charts = [
        ("Papers by year", counts.years[-MOST_YEARS:]),
        ("By venue", counts.venues),
        ("By author", counts.authors),
    ]
    charts += [(f"{topic}, up to the year", rows[-MOST_YEARS:]) for topic, rows in counts.topics.items()]
    parts: list[str] = []
    top = 0
    for title, rows in charts:
        chart, height = _bars(title, rows, top)
        parts.append(chart)
        top += height
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" '
        'font-family="sans-serif" font-size="11"><title>Stored papers</title>'
    )
    return "".join((head, *parts, "</svg>\n"))


def _bars(title: str, rows: Sequence[tuple[str, int]], top: int) -> tuple[str, int]:
    """Return a chart of a bar for each row, and its height."""
    most = max((number for _, number in rows), default=1)
    parts = [f'<text x="10" y="{top + 22}" font-weight="bold">{_svg(title)}</text>']
    for place, (name, number) in enumerate(rows):
        y = top + 34 + STEP * place
        wide = round(BAR * number / most)
        parts.append(
            f'<text x="{NAMES}" y="{y + 11}" text-anchor="end">{_svg(name)}</text>'
            f'<rect x="{NAMES + 8}" y="{y}" width="{wide}" height="13" fill="#4878a8"/>'
            f'<text x="{NAMES + 14 + wide}" y="{y + 11}">{number}</text>'
        )
    if not rows:
        parts.append(f'<text x="10" y="{top + 44}">none</text>')
    return "".join(parts), 44 + STEP * max(len(rows), 1)


def _svg(text: str) -> str:
    """Return a stranger's text for SVG: on one line, cut, and without characters that XML forbids."""
    line = one_line(text)
    return escape(line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 1] + "\u2026")


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
