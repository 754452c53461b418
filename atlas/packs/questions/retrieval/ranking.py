"""From scored passages to ranked sections: links, centrality, quality, one section per article. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.packs.questions.retrieval.candidates import PassageCandidate
from atlas.packs.questions.retrieval.scoring import WEIGHTS, Features, normalised, scale_of, total_scores

BACKWARD = 0.5
"""What a link counts for its source if the target is the better hit."""
CENTRALITY_WEIGHT = 0.03
"""Share of the reciprocal ranks of link degrees in the fusion; more would prefer indexes and overviews."""
FACT_GAIN = 0.5
"""Share of the best score that a section gains with a fact that is asked for by name and kind."""
RRF_K = 60
SHORT = 40
"""Characters of a section that say something."""
MIN_QUALITY = 0.3


@dataclass(frozen=True, slots=True)
class RankedSection:
    """A section with its passages, the best first."""

    uid: str
    article: str
    score: float
    passages: tuple[PassageCandidate, ...]
    scale: Mapping[str, float]
    """The best score of each channel over all passages of the question."""
    gains: tuple[str, ...] = ()
    """Stages that have raised its score."""

    @property
    def features(self) -> Features:
        """Those of its best passage, each channel divided by its best."""
        return normalised(self.passages[0].features, self.scale)

    @property
    def why(self) -> tuple[str, ...]:
        """The channels and stages that found it."""
        return (*_why(self.features), *self.gains)


def rank_sections(candidates: Sequence[PassageCandidate], weights: Features = WEIGHTS) -> list[RankedSection]:
    """Return the sections of the candidates by their best passages, ties by uid."""
    features = [each.features for each in candidates]
    scale = scale_of(features)
    groups: dict[str, list[tuple[float, PassageCandidate]]] = {}
    for score, candidate in zip(total_scores(features, weights), candidates, strict=True):
        groups.setdefault(candidate.passage.section, []).append((score, candidate))
    sections: list[RankedSection] = []
    for uid, group in groups.items():
        group.sort(key=lambda item: (-item[0], item[1].passage.uid))
        best = group[0][1]
        passages = tuple(each for _, each in group)
        sections.append(RankedSection(uid, best.passage.article, group[0][0], passages, scale))
    return by_score(sections)


def by_score(sections: Iterable[RankedSection]) -> list[RankedSection]:
    """Return sections best first, ties by uid."""
    return sorted(sections, key=lambda section: (-section.score, section.uid))


def with_links(
    sections: Sequence[RankedSection], links: Mapping[tuple[str, str], float], sources: int
) -> list[RankedSection]:
    """Return sections that gain from the best `sources` sections that link to them.

    `links`: share of the score by uids of source and target.
    """
    best = {section.uid: section.score for section in sections[:sources]}
    gains: dict[str, float] = {}
    for (source, target), worth in links.items():
        for one, other, share in ((source, target, worth), (target, source, BACKWARD * worth)):
            if one in best and one != other:
                gains[other] = max(gains.get(other, 0.0), share * best[one])
    return by_score(
        replace(section, score=section.score + gains[section.uid], gains=(*section.gains, "link"))
        if gains.get(section.uid, 0.0) > 0
        else section
        for section in sections
    )


def with_gain(sections: Sequence[RankedSection], shares: Mapping[str, float]) -> list[RankedSection]:
    """Return sections of which some gain, because they have a fact or a version that is asked for.

    `shares`: of the best score, by uid.
    """
    best = max((section.score for section in sections), default=0.0)
    return by_score(
        replace(section, score=section.score + shares[section.uid] * best, gains=_gained(section, shares[section.uid]))
        if section.uid in shares
        else section
        for section in sections
    )


def _gained(section: RankedSection, share: float) -> tuple[str, ...]:
    return (*section.gains, "fact") if share > 0 else section.gains


def with_centrality(sections: Sequence[RankedSection], degrees: Mapping[str, int]) -> list[RankedSection]:
    """Return sections reordered by the fusion of their rank with that of the number of links to their articles."""
    by_degree = sorted(sections, key=lambda section: (-degrees.get(section.article, 0), section.uid))
    places = {section.uid: place for place, section in enumerate(by_degree, 1)}
    fused = {
        section.uid: (1 - CENTRALITY_WEIGHT) / (RRF_K + place) + CENTRALITY_WEIGHT / (RRF_K + places[section.uid])
        for place, section in enumerate(sections, 1)
    }
    return sorted(sections, key=lambda section: (-fused[section.uid], section.uid))


def with_reranked(sections: Sequence[RankedSection], scores: Sequence[float]) -> list[RankedSection]:
    """Return sections by the sum of the reciprocal ranks that they have here and by the scores of a reranker.

    Ties are ordered as by the reranker.
    """
    order = sorted(range(len(sections)), key=lambda place: (-scores[place], place))
    fused = {place: 1 / (RRF_K + place) + 1 / (RRF_K + other) for other, place in enumerate(order)}
    return [sections[place] for place in sorted(order, key=lambda place: -fused[place])]


def with_quality(sections: Sequence[RankedSection]) -> list[RankedSection]:
    """Return sections without those that say nothing about the question; the best one stays, and what it leads to."""
    return [
        section
        for place, section in enumerate(sections)
        if place == 0 or "link" in section.gains or quality(section) >= MIN_QUALITY
    ]


def quality(section: RankedSection) -> float:
    """Return 0..1: how long a section is, and how much of the question or its synonyms it has."""
    length = sum(len(each.passage.text) for each in section.passages)
    said = 1 - math.exp(-length / SHORT)
    features = section.features
    return said * max(features.covered_with_synonyms, features.meaning, 0.0)


def few_per_article(sections: Sequence[RankedSection], most: int) -> list[RankedSection]:
    """Return the best `most` sections of each article first, then the others, each in their order."""
    seen: dict[str, int] = {}
    first: list[RankedSection] = []
    rest: list[RankedSection] = []
    for section in sections:
        count = seen[section.article] = seen.get(section.article, 0) + 1
        (first if count <= most else rest).append(section)
    return [*first, *rest]


def _why(features: Features) -> tuple[str, ...]:
    channels = ("words", "others", "meaning")
    names = ("words", "alternatives", "meaning")
    return tuple(
        f"{name} {getattr(features, channel):.2f}"
        for channel, name in zip(channels, names, strict=True)
        if getattr(features, channel) > 0
    )
