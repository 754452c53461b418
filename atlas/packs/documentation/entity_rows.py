"""Rows and edges of entities, facts and relations. Pure.

Properties of entities: aliases besides its name, section (`key#anchor` of the one that defines it), code (file:line of
the package's own code), since, deprecated, removed, and origin if a language model has found it.
Properties of facts: subject, value, origin as above, the version as since, deprecated or removed, and `whole` if that
is about the subject itself and not about an argument of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from atlas.core.ids import make_uid
from atlas.core.model import EdgeRow, EdgeType, Label, NodeRow
from atlas.packs.documentation.article_rows import section_uid
from atlas.packs.documentation.entity_table import Entity, EntityTable
from atlas.packs.documentation.extract.found import Extract, FoundFact
from atlas.packs.documentation.extract.names import last_part
from atlas.packs.documentation.rows import digest, node_row, properties_text

_VERSIONS = {"added": "since", "deprecated": "deprecated", "removed": "removed"}
_CONFIDENCE = {"signature": 1.0, "heading": 0.95, "term": 0.95, "docstring": 1.0, "code": 0.9, "model": 0.7}


def entity_uid(pack: str, name: str) -> str:
    """Return the uid of an entity."""
    return make_uid(pack, f"entity:{name}")


def fact_uid(pack: str, key: str, fact: FoundFact) -> str:
    """Return the uid of a fact; it depends on what the fact says and on its section."""
    return make_uid(pack, _fact_name(key, fact))


def entity_rows(
    pack: str, table: EntityTable, facts: Mapping[str, Sequence[FoundFact]]
) -> Iterator[tuple[str, NodeRow]]:
    """Yield the article that owns each entity, and its row."""
    versions = _versions(table, facts)
    for name, entity in table.entities.items():
        owner = entity.owner
        aliases = sorted({one.found.name for one in entity.mentions} - {name, last_part(name)})[:20]
        said: dict[str, object] = {
            **{"aliases": aliases, "section": f"{owner.article}#{owner.found.section}"},
            "code": entity.code,
            **versions.get(name, {}),
            "origin": _origin(entity),
        }
        row = node_row(
            *(pack, Label.ENTITY, entity.kind, last_part(name) if entity.kind != "term" else name),
            *(f"entity:{name}", owner.article),
            line=owner.found.line,
            span=(owner.found.start, owner.found.end),
            signature=entity.signature,
            docstring=entity.summary,
            properties=said,
        )
        yield owner.article, row


def entity_edges(pack: str, table: EntityTable) -> Iterator[tuple[str, EdgeRow]]:
    """Yield the article that owns each HAS_ENTITY edge, and the edge."""
    for name, entity in table.entities.items():
        target = entity_uid(pack, name)
        for one in entity.mentions:
            source = section_uid(pack, one.article, one.found.section)
            strategy = one.found.strategy
            edge = EdgeRow(
                source, target, EdgeType.HAS_ENTITY, one.found.line, strategy, _CONFIDENCE.get(strategy, 0.7)
            )
            yield one.article, edge


def fact_rows(pack: str, key: str, facts: Sequence[FoundFact], table: EntityTable) -> list[NodeRow]:
    """Return the rows of the facts of an article."""
    rows: dict[str, NodeRow] = {}
    for fact in facts:
        subject = fact.subject if fact.is_option else _entity_of(fact, key, table) or fact.subject
        said: dict[str, object] = {
            **{"subject": subject, "value": fact.value, "origin": "model" if fact.origin == "model" else ""},
            **({_VERSIONS[fact.kind]: fact.value} if fact.kind in _VERSIONS else {}),
            **({"whole": True} if fact.of_whole and fact.kind in _VERSIONS else {}),
        }
        name = " ".join(part for part in (subject, fact.kind, fact.value) if part)
        row = node_row(
            *(pack, Label.FACT, fact.kind, name, _fact_name(key, fact), key),
            line=fact.line,
            span=(fact.start, fact.end),
            docstring=fact.sentence,
            properties=said,
        )
        rows.setdefault(row.uid, row)
    return list(rows.values())


def relation_edges(pack: str, extracts: Mapping[str, Extract], table: EntityTable) -> Iterator[tuple[str, EdgeRow]]:
    """Yield the owner and edge of every HAS_FACT and of every relation whose ends are known."""
    for key, found in extracts.items():
        for fact in found.facts:
            target, line = fact_uid(pack, key, fact), fact.line
            by_model = fact.origin == "model"
            said = ("model", _CONFIDENCE["model"]) if by_model else ("sentence", 1.0)
            yield key, EdgeRow(section_uid(pack, key, fact.section), target, EdgeType.HAS_FACT, line, *said)
            subject = _entity_of(fact, key, table)
            if subject:
                owner = table.entities[subject].owner.article
                yield (
                    owner,
                    EdgeRow(
                        entity_uid(pack, subject),
                        target,
                        EdgeType.HAS_FACT,
                        line,
                        *(said if by_model else ("subject", 0.9)),
                    ),
                )
        for relation in found.relations:
            source, target = table.resolve(relation.source, key), table.resolve(relation.target, key)
            if source and target and source != target:
                yield (
                    table.entities[source].owner.article,
                    _relation(pack, source, target, relation.type, relation.line, relation.strategy),
                )


def _entity_of(fact: FoundFact, key: str, table: EntityTable) -> str:
    """Return the entity that a fact tells something of, "" for none."""
    name = fact.owner if fact.is_option else fact.subject
    return table.resolve(name, key) if name else ""


def _relation(pack: str, source: str, target: str, kind: str, line: int, strategy: str) -> EdgeRow:
    said = properties_text({"type": kind})
    ends = entity_uid(pack, source), entity_uid(pack, target)
    return EdgeRow(*ends, EdgeType.ENTITY_RELATION, line, strategy, _CONFIDENCE.get(strategy, 0.9), (), said)


def _versions(table: EntityTable, facts: Mapping[str, Sequence[FoundFact]]) -> dict[str, dict[str, str]]:
    """Return since, deprecated and removed of the entities, from notices at their descriptions; the first counts."""
    found: dict[str, dict[str, str]] = {}
    for key, listed in facts.items():
        for fact in listed:
            name = table.resolve(fact.subject, key) if fact.of_whole and fact.kind in _VERSIONS else ""
            if name:
                found.setdefault(name, {}).setdefault(_VERSIONS[fact.kind], fact.value or "yes")
    return found


def _fact_name(key: str, fact: FoundFact) -> str:
    return f"{key}#{fact.section}/fact:{digest(fact.kind, fact.subject, fact.value, fact.sentence)}"


def _origin(entity: Entity) -> str:
    strategies = {one.found.strategy for one in entity.mentions}
    return "model" if strategies == {"model"} else ""
