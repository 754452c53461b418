"""Retrieval: question -> candidates -> sections -> links, centrality, quality -> ranked sections. Reads only."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.core.errors import AtlasError
from atlas.core.wording import counted, counts
from atlas.packs.questions.question import Question, analyse, with_near
from atlas.packs.questions.retrieval.candidates import features_of, find_candidates
from atlas.packs.questions.retrieval.linked import SOURCES, link_degrees, read_linked, with_rest
from atlas.packs.questions.retrieval.named_facts import sections_with_facts
from atlas.packs.questions.retrieval.near_words import near_words
from atlas.packs.questions.retrieval.ranking import (
    FACT_GAIN,
    RankedSection,
    few_per_article,
    rank_sections,
    with_centrality,
    with_gain,
    with_links,
    with_quality,
    with_reranked,
)
from atlas.packs.questions.retrieval.scoring import WEIGHTS, WORDS_ONLY
from atlas.packs.questions.retrieval.version_facts import facts_of_versions
from atlas.packs.questions.retrieval.vocabulary import Vocabulary, read_vocabulary
from atlas.packs.questions.texts import NO_PROPERTIES, properties_of, read_passages
from atlas.packs.questions.values import Hit, PackReader, QuestionOptions, Stage
from atlas.packs.questions.versions import of_other_versions, sections_of_versions

RERANKED = 20
"""Best sections that a cross-encoder or the graph reorders."""
RERANKED_CHARACTERS = 1_600


@dataclass(frozen=True, slots=True)
class FoundSections:
    """What retrieval found: all sections that were looked at, best first."""

    question: Question
    sections: tuple[RankedSection, ...]
    stages: tuple[Stage, ...]
    notes: tuple[str, ...]
    vocabulary: Vocabulary
    links: tuple[tuple[str, str], ...] = ()
    """Links that the best sections have: uids of source and target."""
    version_facts: frozenset[str] = frozenset()
    """Uids of the facts of the versions of which the changes are asked for."""


class Stages:
    """Records stages and their times."""

    def __init__(self) -> None:
        self.done: list[Stage] = []
        self._since = time.perf_counter()

    def add(self, name: str, on: bool, detail: str = "", state: str = "") -> None:
        """Record a stage that has ended."""
        now = time.perf_counter()
        spent = round((now - self._since) * 1000, 2)
        self.done.append(Stage(name, state or ("on" if on else "off"), detail, spent))
        self._since = now


async def search(reader: PackReader, question: str, options: QuestionOptions) -> tuple[Hit, ...]:
    """Return the best sections for a question. Raises store errors."""
    found = await find(reader, question, options)
    return await hits_of(reader, found.sections[: max(options.limit, 0)])


async def find(reader: PackReader, text: str, options: QuestionOptions) -> FoundSections:
    """Return all sections that the pipeline considers, best first; empty for a question without words."""
    stages, notes = Stages(), list[str]()
    vocabulary = read_vocabulary(reader.vocabulary)
    question = analyse(text, vocabulary, multi_query=options.multi_query)
    if options.multi_query and options.vectors:
        near = await near_words(reader, question.text, frozenset(question.stems), vocabulary)
        question = with_near(question, near, vocabulary)
    shown = ", ".join(" ".join(phrase).replace("0", "") for phrase in question.alternatives[:12])
    stages.add("multi-query", options.multi_query, f"{counted(len(question.alternatives), 'alternative')}: {shown}")
    candidates, vector = await find_candidates(reader, question, vocabulary, options)
    detail = counted(len(candidates), "passage") + ("" if any(vector) else ", words only")
    stages.add("search", True, detail)
    with_facts, passages = await sections_with_facts(reader, question) if options.facts else (frozenset[str](), [])
    versions, of_versions = await sections_of_versions(reader, question) if options.facts else (dict[str, float](), [])
    of_version = await facts_of_versions(reader, question) if options.facts else {}
    sections_of = [uid for uid in dict.fromkeys(of_version.values()) if uid not in with_facts]
    found = await read_passages(reader, [f"{uid}/0" for uid in sections_of])
    with_facts |= frozenset(sections_of)
    of_versions += found.values()
    known = {each.passage.uid for each in candidates}
    passages = list({one.uid: one for one in (*passages, *of_versions) if one.uid not in known}.values())
    plain = replace(options, sentences=False)
    candidates += await features_of(reader, question, vector, passages, vocabulary, plain)
    stages.add(
        "facts",
        options.facts,
        f"{counted(len(with_facts), 'section')} with a fact that is asked for, {len(versions)} of a version",
    )
    weights = WEIGHTS if options.multi_query or options.vectors else WORDS_ONLY
    sections = rank_sections(candidates, weights)
    links: tuple[tuple[str, str], ...] = ()
    if options.neighbours:
        linked = await read_linked(reader, question, vector, sections)
        added = await features_of(reader, question, vector, linked.passages, vocabulary, plain)
        sections = rank_sections([*candidates, *added], weights)
        sections = with_links(sections, with_rest(question, sections, linked.links), SOURCES)
        links = tuple(linked.links)
        detail = counts((len(linked.links), "link"), (len(linked.passages), "passage"))
    if versions:
        headings = {section.uid: section.passages[0].passage.headings[-1] for section in sections}
        versions |= of_other_versions(question, reader.name, headings)
    sections = with_gain(sections, {**dict.fromkeys(with_facts, FACT_GAIN), **versions})
    stages.add("neighbours", options.neighbours, detail if options.neighbours else "")
    sections, state = await _cross_encoded(reader, question, sections, options, notes)
    stages.add("cross-encoder", options.cross_encoder, state=state)
    if options.centrality:
        degrees = await link_degrees(reader, sections[:RERANKED])
        sections = [*with_centrality(sections[:RERANKED], degrees), *sections[RERANKED:]]
    stages.add("centrality", options.centrality)
    before = len(sections)
    sections = with_quality(sections) if options.quality else sections
    stages.add("quality", options.quality, f"{before - len(sections)} of {counted(before, 'section')} dropped")
    most = options.sections_per_article
    sections = few_per_article(sections, most) if most else sections
    stages.add("sections per article", most > 0, f"at most {most} first" if most else "")
    done = tuple(stages.done)
    return FoundSections(question, tuple(sections), done, tuple(notes), vocabulary, links, frozenset(of_version))


async def hits_of(reader: PackReader, sections: Sequence[RankedSection]) -> tuple[Hit, ...]:
    """Return sections as hits, with the properties of their nodes."""
    nodes = {node.row.uid: node.row for node in await reader.store.symbols([section.uid for section in sections])}
    hits: list[Hit] = []
    for section in sections:
        headings = section.passages[0].passage.headings
        row = nodes.get(section.uid)
        said = properties_of(row) if row is not None else NO_PROPERTIES
        passages = sorted(section.passages, key=lambda each: each.passage.row.start_byte)
        hits.append(
            Hit(
                uid=section.uid,
                article=section.article.partition(":")[2],
                title=headings[0],
                section=" > ".join(headings[1:]),
                anchor=section.uid.rpartition("#")[2],
                url=str(said.get("url", "")),
                score=round(section.score, 4),
                why=section.why,
                text="\n\n".join(each.passage.text for each in passages),
            )
        )
    return tuple(hits)


async def _cross_encoded(
    reader: PackReader, question: Question, sections: list[RankedSection], options: QuestionOptions, notes: list[str]
) -> tuple[list[RankedSection], str]:
    """Return the sections, of which the best are ordered with the help of the cross-encoder, and what it did."""
    if not options.cross_encoder or not sections:
        return sections, ""
    if reader.reranker is None:
        return sections, "not configured"
    best = sections[:RERANKED]
    texts = [
        f"{' > '.join(each.passages[0].passage.headings)}\n{each.passages[0].passage.text}"[:RERANKED_CHARACTERS]
        for each in best
    ]
    try:
        scores = await reader.reranker.rerank(question.text, texts)
    except AtlasError as error:
        notes.append(f"The cross-encoder did not answer, so its stage was skipped: {error}")
        return sections, "failed"
    if len(scores) != len(best):
        notes.append("The cross-encoder did not score every text, so its stage was skipped.")
        return sections, "failed"
    return [*with_reranked(best, scores), *sections[RERANKED:]], ""
