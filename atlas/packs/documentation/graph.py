"""Articles -> the units of a pack's graph: one unit per article, and the structure unit with the categories. Pure.

Names and links are resolved over all articles; the units of the same articles are always the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.core.model import STRUCTURE_PATH, EdgeRow, EdgeType, FileRecord, GraphDelta, NodeRow, SearchText
from atlas.packs.documentation.article import DOCSTRING, Article
from atlas.packs.documentation.article_rows import article_rows, article_uid, part_edges, passage_texts, section_uid
from atlas.packs.documentation.categories import Categories
from atlas.packs.documentation.entity_rows import entity_edges, entity_rows, fact_rows, relation_edges
from atlas.packs.documentation.entity_table import EntityTable
from atlas.packs.documentation.extract.entities import find_entities
from atlas.packs.documentation.extract.facts import find_facts
from atlas.packs.documentation.extract.found import Extract
from atlas.packs.documentation.extract.relations import error_entities, error_relations, find_relations
from atlas.packs.documentation.links import LinkTable
from atlas.packs.documentation.rendering import RenderedArticle, render
from atlas.packs.documentation.rows import PROSE_LANGUAGE, digest
from atlas.packs.documentation.title_mentions import CONFIDENCE, TitleMentions

Extender = Callable[[RenderedArticle, Extract], Extract]
"""Adds to what rules have found in an article, such as a language model's findings."""


@dataclass(frozen=True, slots=True)
class PackGraph:
    """The units of a pack, by path, and its counts."""

    units: tuple[GraphDelta, ...]
    counts: Mapping[str, int]
    """Nodes by label, edges by type and facts by kind (`fact:default`)."""


def build_graph(
    pack: str,
    articles: Iterable[Article],
    extend: Extender | None = None,
    progress: Callable[[int], None] | None = None,
) -> PackGraph:
    """Return the graph of a pack. Articles are taken in the order of their keys; of equal keys the first one.

    `progress` is told the number of articles that are done.
    """
    by_key = {article.key: article for article in reversed(list(articles))}
    rendered = {key: render(by_key[key]) for key in sorted(by_key)}
    extracts: dict[str, Extract] = {}
    for number, (key, one) in enumerate(rendered.items(), 1):
        found = extract(one)
        extracts[key] = extend(one, found) if extend is not None else found
        if progress is not None:
            progress(number)
    builder = _Builder(pack, rendered, extracts)
    return PackGraph(tuple(builder.units()), builder.counts)


class _Builder:
    """Makes the units once names and links of all articles are known."""

    def __init__(self, pack: str, rendered: Mapping[str, RenderedArticle], extracts: Mapping[str, Extract]) -> None:
        articles = [one.article for one in rendered.values()]
        self._pack, self._rendered, self._extracts = pack, rendered, extracts
        facts = [fact for found in extracts.values() for fact in found.facts]
        subjects = [fact.subject for fact in facts if not fact.is_option]
        subjects += [fact.value for fact in facts if fact.kind == "error"]
        self._table = EntityTable({key: found.entities for key, found in extracts.items()}, subjects)
        self._links = LinkTable(articles)
        self._mentions = TitleMentions(articles)
        self._categories = Categories(pack, articles)
        self._rows = {key: article_rows(pack, one) for key, one in rendered.items()}
        self._edges: dict[str, dict[tuple[str, str, str], EdgeRow]] = {key: {} for key in rendered}
        """By article that owns the source, then by source, target and type."""
        self.counts: dict[str, int] = {}

    def units(self) -> Iterator[GraphDelta]:
        """Yield the structure unit, then those of the articles by key."""
        nodes = self._nodes()
        self._connect()
        yield self._unit(STRUCTURE_PATH, self._categories.nodes(), self._categories.edges(), (), b"", "")
        for key, one in self._rendered.items():
            edges = sorted(self._edges[key].values(), key=lambda row: row[:4])
            texts = passage_texts(self._rows[key], one.content)
            yield self._unit(key, nodes[key], edges, texts, one.content, one.article.digest)

    def _nodes(self) -> dict[str, list[NodeRow]]:
        nodes = {key: list(rows) for key, rows in self._rows.items()}
        versions = {key: found.facts for key, found in self._extracts.items()}
        for owner, row in entity_rows(self._pack, self._table, versions):
            nodes[owner].append(row)
        for key, found in self._extracts.items():
            nodes[key] += fact_rows(self._pack, key, found.facts, self._table)
        return nodes

    def _connect(self) -> None:
        for key, one in self._rendered.items():
            self._add(key, self._categories.of_article(key))
            self._add(key, part_edges(self._rows[key]))
            self._add(key, self._links_of(one))
            self._add(key, self._mentions_in(one))
        for owner, edge in entity_edges(self._pack, self._table):
            self._add(owner, [edge])
        for owner, edge in relation_edges(self._pack, self._extracts, self._table):
            self._add(owner, [edge])

    def _add(self, owner: str, edges: Iterable[EdgeRow]) -> None:
        """Add edges; several with the same ends and type become one with all lines."""
        known = self._edges[owner]
        for edge in edges:
            place = edge[:3]
            lines = tuple(sorted({*edge.lines, *(known[place].lines if place in known else ())}))[:200]
            best = known.get(place, edge)
            best = edge if edge.confidence > best.confidence else best
            known[place] = best._replace(line=lines[0] if lines else 0, further_lines=lines[1:])

    def _mentions_in(self, one: RenderedArticle) -> Iterator[EdgeRow]:
        key = one.article.key
        for anchor, target, line in self._mentions.of(one.article):
            ends = section_uid(self._pack, key, anchor), article_uid(self._pack, target)
            yield EdgeRow(*ends, EdgeType.LINKS_TO, line, "mention", CONFIDENCE)
            ends = article_uid(self._pack, key), article_uid(self._pack, target)
            yield EdgeRow(*ends, EdgeType.LINKS_TO, line, "mention", CONFIDENCE)

    def _links_of(self, one: RenderedArticle) -> Iterator[EdgeRow]:
        key = one.article.key
        for section in one.sections:
            source = section_uid(self._pack, key, section.section.anchor)
            for block in section.blocks:
                for link in block.block.links:
                    place = self._links.resolve(one.article, link)
                    if place is None and link.kind == "symbol":
                        entity = self._table.entities.get(self._table.resolve(link.target.strip("~!() "), key))
                        owner = entity.owner if entity is not None else None
                        place = (
                            (owner.article, owner.found.section) if owner and owner.found.strategy != "code" else None
                        )
                    if place is None or place == (key, section.section.anchor):
                        continue
                    line = block.block.line
                    target = section_uid(self._pack, *place) if place[1] else article_uid(self._pack, place[0])
                    yield EdgeRow(source, target, EdgeType.LINKS_TO, line, link.kind, 1.0)
                    if place[0] != key:
                        ends = article_uid(self._pack, key), article_uid(self._pack, place[0])
                        yield EdgeRow(*ends, EdgeType.LINKS_TO, line, link.kind, 1.0)

    def _unit(
        self,
        path: str,
        nodes: Sequence[NodeRow],
        edges: Sequence[EdgeRow],
        texts: Sequence[SearchText],
        content: bytes,
        source_digest: str,
    ) -> GraphDelta:
        for row in nodes:
            self._count(row.label)
            if row.label == "Fact":
                self._count(f"fact:{row.kind}")
        for edge in edges:
            self._count(edge.type)
        record = FileRecord(
            path,
            language=PROSE_LANGUAGE if path else "",
            digest=hashlib.blake2b(content, digest_size=16).hexdigest() if path else "",
            size=len(content),
            lines=content.count(b"\n"),
            unit_digest=digest(nodes, edges, texts, source_digest),
            problems=self._rendered[path].article.problems if path else (),
        )
        return GraphDelta(self._pack, path, record, list(nodes), list(edges), list(texts), content if path else None)

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def extract(rendered: RenderedArticle) -> Extract:
    """Return the entities, facts and relations of an article."""
    entities = find_entities(rendered)
    if rendered.article.format == DOCSTRING:
        # headings are the symbols themselves, and inline code of docstrings names arguments
        entities = (replace(one, strategy="docstring") for one in entities if one.strategy == "signature")
    facts = tuple(find_facts(rendered))
    entities = (*entities, *error_entities(facts))
    return Extract(entities, facts, (*find_relations(rendered), *error_relations(facts)))
