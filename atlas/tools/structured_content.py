"""Convert answers to the structured content of MCP: typed, complete, and about as short as the text.

Some clients pass the text of an answer to their model, others the structured content, so each form alone is complete
and fits the token budget. To keep it short, edges are rows `[name, at, strategy, confidence]`, values that follow from
another field are not repeated, and empty values are omitted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from atlas.contracts import TokenCounter
from atlas.tools.answers import (
    Answer,
    ContextAnswer,
    Described,
    Evidence,
    HealthAnswer,
    Hit,
    Lookup,
    NodeAnswer,
    ProjectStatus,
    RelationAnswer,
    ReportAnswer,
    SchemaAnswer,
    SearchAnswer,
    Section,
    StatusAnswer,
    Symbol,
    TableAnswer,
)
from atlas.tools.citations import shown_name
from atlas.tools.render import related_line, render, subject_lines, to_dict
from atlas.tools.reports import report_structure
from atlas.tools.status.daemon import DaemonStatus, TierStatus
from atlas.tools.status.report import problem_line, watch_line, work_line, worker_lines

Structure = dict[str, object]


def structure(answer: Answer) -> Structure:
    """Return the structured content of an answer; `catalogue` declares its schema."""
    body = _body(answer)
    if answer.evidence.below_floor:
        body = {key: value for key, value in body.items() if key in _ALWAYS}
    flag: Structure = {"stale": answer.evidence.freshness == "stale"} if isinstance(answer, _CITING) else {}
    return {**flag, **_kept(body), **_evidence(answer)}


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
            body: Structure = {
                "hits": [_hit(hit) for hit in answer.hits],
                "found": answer.found,
                "more": answer.more or None,
            }
        case RelationAnswer():
            body = _relation(answer)
        case ReportAnswer():
            body = {"report": report_structure(answer.report)}
            if answer.tool == "hybrid_search":
                body["found"] = answer.report.found
        case NodeAnswer():
            body = {**_lookup(answer.lookup), **_node(answer)}
        case ContextAnswer():
            body = {**_lookup(answer.lookup), **_context(answer)}
        case TableAnswer():
            body = {
                "columns": list(answer.columns),
                "rows": to_dict(answer.rows),
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
            body = {"state": answer.state, "checks": [to_dict(check) for check in answer.checks]}
    return body


def _kept(body: Structure) -> Structure:
    """Omit empty values, except keys such as `hits`, where an empty list is the answer."""
    return {key: value for key, value in body.items() if key in _ALWAYS or value not in (None, "", [], (), {})}


_CITING = (SearchAnswer, RelationAnswer, ReportAnswer, NodeAnswer, ContextAnswer, TableAnswer)
"""Answers that cite files start with a flag that is true if a file of the project is newer than the index."""
_ALWAYS = frozenset(("hits", "found", "outcome", "columns", "rows", "projects", "state", "checks"))


def _evidence(answer: Answer) -> Structure:
    evidence: Evidence = answer.evidence
    body: Structure = {
        "project": evidence.project,
        "generation": evidence.generation,
        "indexed_at": evidence.indexed_at,
        "freshness": evidence.freshness,
        "stale_files": {file.path: file.reason for file in evidence.stale},
        "notes": list(evidence.notes),
        "withheld": list(evidence.withheld),
        "cursor": evidence.cursor,
        "below_floor": evidence.below_floor or None,
    }
    return {"evidence": _kept(body)}


def _symbol(symbol: Symbol) -> Structure:
    return _kept(
        {
            "uid": symbol.uid,
            "kind": symbol.kind,
            "place": symbol.place,
            "digest": symbol.digest,
            "signature": symbol.signature,
            "summary": symbol.summary,
        }
    )


def _hit(hit: Hit) -> Structure:
    why = [*hit.reasons, *(channel for channel in hit.channels if channel in ("words", "meaning"))]
    body: Structure = {
        "rank": hit.rank,
        **_symbol(hit.symbol),
        "score": hit.score,
        "why": ", ".join(why),
        "words": " ".join(hit.words),
        "also": list(hit.also),
        **_sections(hit.around),
    }
    return _kept(body)


def _relation(answer: RelationAnswer) -> Structure:
    """Return the edges as lines by file: the same lines as the text, because rows of JSON cost twice the tokens."""
    relation: Structure = {
        "kind": answer.kind,
        "outcome": answer.outcome,
        "of": list(subject_lines(answer)),
        "to": answer.other if answer.kind == "path" else "",
        "edges": {group.path: [related_line(symbol) for symbol in group.symbols] for group in answer.files},
        "missing": answer.missing,
        "near": [f"{each.qualified_name} {each.place}" for each in answer.near],
        "diagnosis": list(answer.diagnosis),
    }
    lines = {"lines": answer.places} if answer.places > answer.found else {}
    return {"relation": _kept(relation), "found": answer.found, **lines}


def _sections(sections: Iterable[Section]) -> Structure:
    """Return rows by kind of neighbour; a kind with unlisted neighbours also gets a `<kind>_total`."""
    body: Structure = {}
    for section in sections:
        body[section.kind] = [
            [each.uid.partition(":")[2], each.at or each.place, each.strategy, each.confidence]
            for each in section.neighbours
        ]
        if section.total > len(section.neighbours):
            body[f"{section.kind}_total"] = section.total
    return body


def _lookup(lookup: Lookup) -> Structure:
    return {
        "outcome": lookup.outcome,
        "how": lookup.how,
        "candidates": [_symbol(symbol) for symbol in lookup.candidates],
        "near": [_symbol(symbol) for symbol in lookup.near],
        "diagnosis": list(lookup.diagnosis),
    }


def _node(answer: NodeAnswer) -> Structure:
    node = answer.node
    if node is None:
        return {}
    detail: Structure = {
        **{key: value for key, value in _symbol(node.symbol).items() if key != "summary"},
        "label": node.label,
        "language": node.language,
        "lines": f"{node.start_line}-{node.end_line}" if node.start_line else "",
        "modifiers": " ".join(node.modifiers),
        "exported": node.exported or None,
        "is_test": node.is_test or None,
        "is_generated": node.is_generated or None,
        "docstring": node.docstring,
        "degrees": dict(node.degrees),
    }
    return {"node": _kept(detail)}


def _context(answer: ContextAnswer) -> Structure:
    if answer.symbol is None:
        return {}
    symbol = {key: value for key, value in _symbol(answer.symbol).items() if key != "summary"}
    source: Structure = {}
    if answer.source is not None:
        symbol.pop("signature", None)
        span = f"{answer.source.start_line}-{answer.source.end_line} of {answer.source.last_line}"
        source = {"lines": span, "text": answer.source.text}
    else:
        symbol["docstring"] = answer.docstring
    return {
        "node": _kept(symbol),
        "in": [f"{parent.kind} {shown_name(parent)}" for parent in answer.parents],
        "source": source,
        "edges": _sections(answer.sections),
    }


def _counts(entries: Iterable[Described]) -> dict[str, int]:
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
    def described(entries: Iterable[Described]) -> list[str]:
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
