"""Convert answers to the structured content of MCP: typed, complete, and about as short as the text.

Some clients pass the text of an answer to their model, others the structured content, so each form alone is complete
and fits the token budget. It costs at most a tenth more than the text: keys stand once, lists hold the lines of the
text, values that follow from others are not repeated, and empty values are omitted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from atlas.answers.cells import cell_value
from atlas.answers.items import body_structure
from atlas.code.tools.answers import (
    Answer,
    ContextAnswer,
    Evidence,
    HealthAnswer,
    KnowledgeAnswer,
    NodeAnswer,
    ProjectStatus,
    RelationAnswer,
    ReportAnswer,
    SchemaAnswer,
    SchemaEntry,
    SearchAnswer,
    StatusAnswer,
    TableAnswer,
)
from atlas.code.tools.citations import hit_name, parents_line
from atlas.code.tools.render import OTHER_PACKAGES, check_line, render, to_dict
from atlas.code.tools.reports import report_structure
from atlas.code.tools.state.daemon import DaemonStatus, TierStatus
from atlas.code.tools.state.report import problem_line, watch_line, work_line, worker_lines
from atlas.code.tools.symbol.symbol_lines import (
    beside_line,
    candidate_line,
    neighbour_line,
    node_degrees,
    node_traits,
    others_line,
    related_line,
    source_lines,
    subject_lines,
)
from atlas.code.tools.symbol.symbols import Lookup, NeighbourSection, Symbol, SymbolHit
from atlas.core.contracts import TokenCounter

Structure = dict[str, object]


def structure(answer: Answer) -> Structure:
    """Return the structured content of an answer; `catalogue` declares its schema."""
    body = _body(answer)
    if answer.evidence.below_floor:
        body = {key: value for key, value in body.items() if key in _ALWAYS}
    flag: Structure = {"stale": answer.evidence.freshness == "stale"} if isinstance(answer, _CITING) else {}
    kept = body if isinstance(answer, KnowledgeAnswer) else _kept(body)
    return {**flag, **kept, **_evidence(answer)}


def structure_text(answer: Answer) -> str:
    """Return the structured content as the JSON text that a client passes to its model."""
    return json.dumps(structure(answer), ensure_ascii=False, separators=(",", ":"))


def tokens_of(counter: TokenCounter, answer: Answer) -> int:
    """Return the token cost of an answer: its text or its structured content, whichever is larger."""
    return max(counter.count(render(answer)), counter.count(structure_text(answer)))


def tokens_until(counter: TokenCounter, answer: Answer, budget: int) -> int:
    """Return `tokens_of`, or any number above the budget if the answer exceeds it.

    The structured content is usually the larger form, so it is counted first.
    """
    tokens = counter.count(structure_text(answer))
    return tokens if tokens > budget else max(tokens, counter.count(render(answer)))


def _body(answer: Answer) -> Structure:
    match answer:
        case SearchAnswer():
            body: Structure = {"hits": [_hit(hit) for hit in answer.hits]}
        case RelationAnswer():
            body = _relation(answer)
        case ReportAnswer():
            body = {"report": report_structure(answer.report)}
            if answer.tool == "hybrid_search" and answer.report.outcome == "found":
                body["found"] = answer.report.found
        case NodeAnswer():
            body = {**_lookup(answer.lookup), **_node(answer)}
        case ContextAnswer():
            body = {**_lookup(answer.lookup), **_context(answer)}
        case TableAnswer():
            body = {
                "columns": list(answer.columns),
                "rows": [[cell_value(value) for value in row] for row in answer.rows],
                "truncated": answer.truncated or None,
            }
        case StatusAnswer():
            skipped = {skip.path: skip.reason for skip in answer.skipped_files}
            watched = {watch.project: watch_line(watch) for watch in answer.daemon.projects} if answer.daemon else {}
            body = {
                "daemon": _daemon(answer.daemon) if answer.daemon else {},
                "projects": [_project(project, watched.get(project.project, "")) for project in answer.projects],
                "tiers": [_tier(tier) for tier in answer.daemon.tiers] if answer.daemon else [],
                "partial_files": {each.path: problem_line(each) for each in answer.partial_files},
                "skipped_files": skipped,
            }
        case SchemaAnswer():
            body = _schema(answer)
        case HealthAnswer():
            body = {"state": answer.state, "checks": {check.name: check_line(check) for check in answer.checks}}
        case KnowledgeAnswer():
            body = body_structure(answer.body)
    return body


def _kept(body: Structure) -> Structure:
    """Omit empty values, except keys such as `hits`, where an empty list is the answer."""
    return {key: value for key, value in body.items() if key in _ALWAYS or value not in (None, "", [], (), {})}


_CITING = (SearchAnswer, RelationAnswer, ReportAnswer, NodeAnswer, ContextAnswer, TableAnswer)
"""Answers that cite files start with a flag that is true if a file of the project is newer than the index."""
_ALWAYS = frozenset(
    ("hits", "found", "outcome", "columns", "rows", "projects", "state", "checks", "status", "available_actions")
)


def _evidence(answer: Answer) -> Structure:
    """Return the evidence. The flag `stale` says the freshness unless it is unknown; fresh files need no date."""
    evidence: Evidence = answer.evidence
    is_told = isinstance(answer, _CITING) and evidence.freshness != "unknown"
    body: Structure = {
        "project": evidence.project,
        "generation": evidence.generation,
        "indexed_at": evidence.indexed_at if evidence.freshness in ("stale", "unknown") else "",
        "freshness": "" if is_told else evidence.freshness,
        "stale_files": {file.path: file.reason for file in evidence.stale},
        "notes": list(evidence.notes),
        "withheld": list(evidence.withheld),
        "cursor": evidence.cursor,
        "below_floor": evidence.below_floor or None,
    }
    return {"evidence": _kept(body)}


def _symbol(symbol: Symbol) -> Structure:
    return {"uid": symbol.uid, "kind": symbol.kind, "place": symbol.place, "digest": symbol.digest}


def _hit(hit: SymbolHit) -> list[str]:
    """Return `[kind, name and signature, place, summary, lines ..., other hits of its file, callers and callees ...]`.

    Hits are in order of rank.
    """
    head = (hit_name(hit.symbol), hit.symbol.place, hit.marks, hit.symbol.summary)
    parts = (*head, *source_lines(hit.lines), beside_line(hit), others_line(hit), *hit.near)
    return [part for part in parts if part]


def _relation(answer: RelationAnswer) -> Structure:
    """Return the edges as lines by file: the same lines as the text, because rows of JSON cost twice the tokens.

    A file stands once; the depth in the lines says in which order a path runs.
    """
    edges: dict[str, list[str]] = {}
    for group in answer.files:
        edges.setdefault(group.path or OTHER_PACKAGES, []).extend(map(related_line, group.symbols))
    relation: Structure = {
        "kind": answer.kind,
        **({} if answer.outcome == "found" else {"outcome": answer.outcome}),
        "title": answer.title,
        "of": list(subject_lines(answer)),
        "to": answer.other if answer.kind == "path" else "",
        "edges": edges,
        "missing": answer.missing,
        "near": [f"{each.qualified_name} {each.place}" for each in answer.near],
        "diagnosis": list(answer.diagnosis),
    }
    lines = {"lines": answer.places} if answer.places > answer.found else {}
    found = {} if answer.outcome == "not_found" else {"found": answer.found, **lines}
    return {"relation": _kept(relation), **found}


def _sections(sections: Iterable[NeighbourSection]) -> Structure:
    """Return the lines of the text by kind of neighbour; `withheld` counts those that are not listed."""
    return {section.kind: [neighbour_line(each) for each in section.neighbours] for section in sections}


def _lookup(lookup: Lookup) -> Structure:
    return {
        "outcome": lookup.outcome,
        "candidates": [candidate_line(symbol) for symbol in lookup.candidates],
        "near": [candidate_line(symbol) for symbol in lookup.near],
        "diagnosis": list(lookup.diagnosis),
    }


def _node(answer: NodeAnswer) -> Structure:
    node = answer.node
    if node is None:
        return {}
    detail: Structure = {
        **{key: value for key, value in _symbol(node.symbol).items() if key != "kind"},  # in the traits
        "signature": node.symbol.signature,
        "traits": node_traits(node),
        "marks": node.marks,
        "degrees": node_degrees(node),
        "docstring": _lines(node.docstring),
    }
    return {"node": _kept(detail)}


def _context(answer: ContextAnswer) -> Structure:
    if answer.symbol is None:
        return {}
    symbol = {**_symbol(answer.symbol), "marks": answer.marks}
    source: Structure = {}
    if answer.source is not None:
        span = f"{answer.source.start_line}-{answer.source.end_line} of {answer.source.last_line}"
        source = {"lines": span, "text": answer.source.text.split("\n")}  # escaped line ends cost more
    else:
        symbol |= {"signature": answer.symbol.signature, "docstring": _lines(answer.docstring)}
    return {
        "node": _kept(symbol),
        "in": parents_line(answer.parents),
        "source": source,
        "notes": [line for note in answer.notes for line in note],
        "edges": _sections(answer.sections),
    }


def _lines(text: str) -> str | list[str]:
    """Return a text as its lines, because escaped line ends cost more; a single line as it is."""
    lines = text.splitlines()
    return lines if len(lines) > 1 else text


def _counts(entries: Iterable[SchemaEntry]) -> dict[str, int]:
    return {entry.name: entry.count for entry in entries}


def _project(project: ProjectStatus, watch: str) -> Structure:
    body = to_dict(project)
    assert isinstance(body, dict)
    tables = {
        "labels": project.labels,
        "languages": project.languages,
        "skipped": project.skipped,
        "decisions": project.decisions,
    }
    return _kept({**body, **{name: _counts(entries) for name, entries in tables.items()}, "watch": watch})


def _daemon(daemon: DaemonStatus) -> Structure:
    body: Structure = {
        "state": daemon.state,
        "detail": daemon.detail,
        "fix": daemon.fix,
        "pid": daemon.pid or None,
        "version": daemon.version,
        "started_at": daemon.started_at,
        "resident_mb": daemon.resident_bytes >> 20 or None,
        "workers": list(worker_lines(daemon.workers)),
    }
    return _kept(body)


def _tier(tier: TierStatus) -> Structure:
    body: Structure = {
        "tier": tier.tier,
        "stream": tier.stream,
        "length": tier.length,
        "waiting": tier.waiting,
        "pending": tier.pending,
        "dead": tier.dead,
        "work": work_line(tier) if tier.told else "",
        "waits_for": tier.waits_for,
        "errors": tier.errors or None,
        "last_error": tier.last_error,
    }
    return _kept(body)


def _schema(answer: SchemaAnswer) -> Structure:
    def described(entries: Iterable[SchemaEntry]) -> list[str]:
        return [
            entry.name
            + (f" {entry.count}" if entry.count >= 0 else "")
            + (f": {entry.description}" if entry.description else "")
            for entry in entries
        ]

    return {
        "labels": described(answer.labels),
        "edge_types": described(answer.edge_types),
        "node_properties": described(answer.node_properties),
        "edge_properties": described(answer.edge_properties),
        "strategies": described(answer.strategies),
        "languages": described(answer.languages),
        "examples": described(answer.examples),
    }
