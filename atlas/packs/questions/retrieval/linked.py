"""The second hop: what good hits link to or mention, read and weighed by the sentence that leads there.

A question such as "In which city was the maker of FoxPRO based?" has its first section by name; the second one shares a
word or none with it, but stands in a sentence of the first that has other words of the question ("maker").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from atlas.core.model import Direction, EdgeType, Label, NodeRow
from atlas.packs.questions.question import Concept, Question
from atlas.packs.questions.references import LEAST_NAME, last_name
from atlas.packs.questions.retrieval.ranking import RankedSection
from atlas.packs.questions.retrieval.scoring import soft_share
from atlas.packs.questions.retrieval.vectors import kept_sentence_cosines
from atlas.packs.questions.texts import Passage, read_passages
from atlas.packs.questions.values import PackReader

SOURCES = 6
"""Best sections whose links are followed."""
LINKS_EACH = 40
PASSAGES_EACH = 2
"""First passages of a linked section that are read."""
MAX_PASSAGES = 32
MENTION, MARKED = 0.25, 0.04
"""Share of the score of a good hit that an article gains which it mentions by title, with a link or without one, and
that another section gains to which it links. In an encyclopedia a question is often answered one mention further;
documentation links to much besides."""
WHATEVER_SENTENCE, BEST_SENTENCE = 0.2, 1.8
"""Part of these shares if the sentence that leads there has nothing of the question, and if it has most of all."""

OF_THE_REST = 1.5
"""How much more a link is worth, as a share, if its target has all words of the question that its source lacks."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Links of good hits, (uid of source, of target section) with what they are worth, and passages of the targets."""

    links: Mapping[tuple[str, str], float]
    passages: tuple[Passage, ...]


async def read_linked(
    reader: PackReader, question: Question, vector: bytes, sections: Sequence[RankedSection]
) -> Linked:
    """Return the links of the best sections and the passages behind them that are not among the sections' own.

    Targets of the best section come first, and of one section those in its best sentences.
    """
    best = sections[:SOURCES]
    owners = {section.uid: section for section in best}
    owners |= {section.article: section for section in reversed(best) if section.uid.endswith("#")}
    edges = await reader.store.edges(
        list(owners), Direction.OUT, (EdgeType.LINKS_TO,), LINKS_EACH * len(owners) or 1, LINKS_EACH
    )
    said = {section.uid: list(_sentences(reader, question, vector, section)) for section in best}
    most = max((score for each in said.values() for _, score in each), default=0.0) or 1.0
    links: dict[tuple[str, str], float] = {}
    for edge in edges:
        target = edge.node.row
        source = owners.get(edge.row.source)
        if source is None:
            continue
        uid = target.uid if target.label == Label.SECTION else f"{target.uid}#"
        names = _names(target)
        score = max((score for text, score in said[source.uid] if any(name in text for name in names)), default=0.0)
        is_lead = source.uid.endswith("#") and target.label == Label.ARTICLE
        is_mention = edge.row.strategy == "mention" or (score > 0 and is_lead)
        worth = MENTION if is_mention else MARKED
        worth *= WHATEVER_SENTENCE + (BEST_SENTENCE - WHATEVER_SENTENCE) * score / most
        ends = source.uid, uid
        links[ends] = max(links.get(ends, 0.0), worth)
    known = {section.uid for section in sections}
    places = {section.uid: place for place, section in enumerate(best)}
    order = sorted(links, key=lambda ends: (places[ends[0]], -links[ends], ends[1]))
    missing = list(dict.fromkeys(target for _, target in order if target not in known))
    # the passages of a section are numbered from 0 behind its uid
    uids = [f"{uid}/{number}" for number in range(PASSAGES_EACH) for uid in missing][:MAX_PASSAGES]
    found = await read_passages(reader, uids)
    return Linked(links, tuple(found.values()))


def with_rest(
    question: Question, sections: Sequence[RankedSection], links: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    """Return the links, of which those are worth more whose target has words of the question that the source lacks."""
    ends = {uid for pair in links for uid in pair}
    stems = {section.uid: _stems(section) for section in sections if section.uid in ends}
    found: dict[tuple[str, str], float] = {}
    for (source, target), worth in links.items():
        own, other = stems.get(source), stems.get(target)
        rest = [each for each in question.concepts if own is not None and each.stem not in own]
        said = sum(each.weight for each in rest if other and _says(each, other))
        share = said / sum(each.weight for each in rest) if said else 0.0
        found[source, target] = worth * (1 + OF_THE_REST * share)
    return found


async def link_degrees(reader: PackReader, sections: Sequence[RankedSection]) -> dict[str, int]:
    """Return the number of links that lead to the article of each section, by uid of the article."""
    articles = list(dict.fromkeys(section.article for section in sections))
    found = await reader.store.degrees(articles, Direction.IN, (EdgeType.LINKS_TO,)) if articles else {}
    return {uid: sum(counts.values()) for uid, counts in found.items()}


def _sentences(
    reader: PackReader, question: Question, vector: bytes, section: RankedSection
) -> Iterator[tuple[str, float]]:
    """Yield the sentences of a section in lower case, each with how much of the question it says."""
    for candidate in section.passages:
        passage = candidate.passage
        cosines = kept_sentence_cosines(reader, vector, passage)
        for place, (text, stems) in enumerate(passage.sentences):
            cosine = cosines[place] if place < len(cosines) else 0.0
            yield text.lower(), 0.5 * soft_share(question, stems) + 0.5 * max(cosine, 0.0)


def _stems(section: RankedSection) -> frozenset[str]:
    found: set[str] = set()
    for each in section.passages:
        found.update(each.passage.stems, each.passage.heading_stems)
    return frozenset(found)


def _says(concept: Concept, stems: frozenset[str]) -> bool:
    return concept.stem in stems or any(other in stems for other, _ in concept.synonyms)


def _names(target: NodeRow) -> tuple[str, ...]:
    """Return what a sentence calls a section or article: its title, or the last part of the name of a symbol."""
    title = target.name.strip().lower()
    name = "" if " " in title else last_name(title)
    return tuple(each for each in (title.partition(" (")[0], name) if len(each) >= LEAST_NAME)
