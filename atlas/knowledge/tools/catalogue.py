"""Definitions of the toolsets `claims` and `memory`; each costs at most 1,300 tokens of schemas."""

from __future__ import annotations

from functools import partial

from atlas.answers.items import ITEMS_SCHEMA
from atlas.answers.tool import FLAG, Schema, Tool, list_of, place, text, whole

_BUDGET = {"token_budget": whole("", 1, 200_000)}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_ID = {"id": text("", 200)}
_KEY = {"idempotency_key": text("Same key, same answer", 200)}
_ABOUT = {"about": list_of(place("", 1000), 50)}
_LONG = 100_000

_tool = partial(Tool, output=ITEMS_SCHEMA)

CLAIM_INSTRUCTIONS = (
    "Before you state something about the project, ask semantic_search and find_contradictions. "
    "Store what you found out with ingest_hypothesis. "
    "Relate it to similar units with connect_propositions."
)
MEMORY_INSTRUCTIONS = (
    "Call refresh first in a session, recall and get_entity when something may be known. "
    "Store what should last with remember. "
    "Store how things belong together with relate, such as PART_OF."
)

CLAIM_TOOLS: tuple[Tool, ...] = (
    _tool(
        "ingest_hypothesis",
        "Store a claim or decision with its evidence. Shows similar units and possible contradictions; merges none.",
        {
            "hypothesis": {**text("One atomic proposition", _LONG), "minLength": 1},
            "source": text("DOI, URL, citation or path:line", 2000),
            "confidence": _SHARE,
            "about": {**_ABOUT["about"], "description": "Symbols, files, package:NAME, route:PATH"},
            "kind": {"enum": ["claim", "decision"]},
            "personal": {**FLAG, "description": "The user's notes, not the project's"},
            **_KEY,
        },
        required=("hypothesis",),
        read_only=False,
        idempotent=False,
        handler="atlas.knowledge.tools.claims:ingest_hypothesis",
    ),
    _tool(
        "connect_propositions",
        "Relate two units: supports, refutes, extends, implies, contradicts, supersedes.",
        {
            "from": text("Id", 200),
            "to": text("Id", 200),
            "relation": text("", 200),
            "reasoning": text("", 10_000),
            "confidence": _SHARE,
            **_KEY,
        },
        required=("from", "to", "relation"),
        read_only=False,
        handler="atlas.knowledge.tools.claims:connect_propositions",
        parameters={"from": "source_id"},
    ),
    _tool(
        "semantic_search",
        "Find stored claims and decisions by meaning and words; each with score and why.",
        {
            "query": {**text("", _LONG), "minLength": 1},
            "limit": whole("", 1, 50),
            "min_confidence": _SHARE,
            "status": text("", 40),
            **_BUDGET,
        },
        required=("query",),
        handler="atlas.knowledge.tools.claim_queries:semantic_search",
    ),
    _tool(
        "find_scientific_lineage",
        "How two concepts are connected: shortest chains of relations between claims, also over their papers.",
        {
            "start_concept": text("Id or words", 10_000),
            "end_concept": text("", 10_000),
            "max_paths": whole("", 1, 10),
            **_BUDGET,
        },
        required=("start_concept", "end_concept"),
        handler="atlas.knowledge.tools.claim_queries:find_scientific_lineage",
    ),
    _tool(
        "find_contradictions",
        "What contradicts a claim: stated, inherited over implies, and possible (clashing words).",
        {"claim": {**text("Id or text", _LONG), "minLength": 1}, **_BUDGET},
        required=("claim",),
        handler="atlas.knowledge.tools.contradictions:find_contradictions",
    ),
    _tool(
        "list_propositions",
        "List claims and decisions.",
        {
            "filter": text("status:accepted source:doi author:NAME suspect words", 1000),
            "order": {"enum": ["newest", "oldest", "confidence"]},
            "limit": whole("", 1, 200),
            "cursor": text("", 200),
            **_BUDGET,
        },
        handler="atlas.knowledge.tools.lists:list_propositions",
        parameters={"filter": "filter_text"},
    ),
    _tool(
        "get_unit",
        "One unit: text, relations both ways, anchors to code with their state, history.",
        {**_ID, **_BUDGET},
        required=("id",),
        handler="atlas.knowledge.tools.whole_unit:get_unit",
        parameters={"id": "unit_id"},
    ),
    _tool(
        "update_unit",
        "Amend a unit; reaffirm: it still holds for the code as it is now.",
        {
            **_ID,
            "text": text("", _LONG),
            "confidence": _SHARE,
            "status": text("proposed accepted disputed", 40),
            "source": text("", 2000),
            **_ABOUT,
            "reaffirm": FLAG,
        },
        required=("id",),
        read_only=False,
        handler="atlas.knowledge.tools.claims:update_unit",
        parameters={"id": "unit_id"},
    ),
    _tool(
        "retract_unit",
        "Withdraw a unit; it stays readable.",
        {**_ID, "reason": text("", 10_000), "superseded_by": text("", 200)},
        required=("id", "reason"),
        read_only=False,
        handler="atlas.knowledge.tools.claims:retract_unit",
        parameters={"id": "unit_id"},
    ),
)

MEMORY_TOOLS: tuple[Tool, ...] = (
    _tool(
        "refresh",
        "Call first in a session: who the user is, recent short-term memory, and what the greeting is about.",
        {"greeting": text("", _LONG), **_BUDGET},
        handler="atlas.knowledge.tools.memory_queries:refresh",
    ),
    _tool(
        "recall",
        "Search memory by meaning, words, name and time.",
        {
            "query": {**text("", _LONG), "minLength": 1},
            "limit": whole("", 1, 50),
            "include_shortterm": FLAG,
            "since": text("Date, or 7d", 40),
            "entity": text("Name or id", 200),
            **_BUDGET,
        },
        required=("query",),
        handler="atlas.knowledge.tools.memory_queries:recall",
    ),
    _tool(
        "get_entity",
        "One entity: its relations both ways and its observations.",
        {"entity": {**text("Name, alias or id", 200), "minLength": 1}, **_BUDGET},
        required=("entity",),
        handler="atlas.knowledge.tools.whole_unit:get_entity",
    ),
    _tool(
        "remember",
        "Store an observation about an entity (person, team, system, topic); creates the entity.",
        {
            "entity": {**text("Name or id", 200), "minLength": 1},
            "observation": text("", _LONG),
            "type": text("Type of the entity", 200),
            "aliases": list_of(text("", 200), 50),
            "when": text("Date of the event; default now", 40),
            "importance": _SHARE,
            "attachment": text("Path of an image or sound that it describes", 1000),
            "personal": {**FLAG, "description": "The user's notes, not the project's"},
            **_KEY,
        },
        required=("entity",),
        read_only=False,
        idempotent=False,
        handler="atlas.knowledge.tools.memory:remember",
        parameters={"type": "entity_type"},
    ),
    _tool(
        "relate",
        "Relate an entity to another one, to a unit, or to code.",
        {
            "entity": text("Name or id", 200),
            "relation": text("Such as OWNS", 200),
            "other": text("Name, id or symbol:NAME", 1000),
        },
        required=("entity", "relation", "other"),
        read_only=False,
        handler="atlas.knowledge.tools.memory:relate",
    ),
    _tool(
        "remember_shortterm",
        "Note something that expires; shows related memories by meaning and emotion.",
        {"content": {**text("", _LONG), "minLength": 1}, "ttl": {"type": "number", "description": "Hours; default 72"}},
        required=("content",),
        read_only=False,
        idempotent=False,
        handler="atlas.knowledge.tools.memory:remember_shortterm",
    ),
    _tool(
        "forget",
        "Delete an observation or short-term memory by id.",
        _ID,
        required=("id",),
        read_only=False,
        destructive=True,
        handler="atlas.knowledge.tools.memory:forget",
        parameters={"id": "note_id"},
    ),
    _tool(
        "list_entities",
        "Entities by type with their numbers of observations.",
        {"type": text("", 200), "limit": whole("", 1, 200), "cursor": text("", 200), **_BUDGET},
        handler="atlas.knowledge.tools.lists:list_entities",
        parameters={"type": "entity_type"},
    ),
    _tool(
        "promote",
        "Turn a short-term memory into an observation about an entity.",
        {**_ID, "entity": text("", 200), "personal": FLAG},
        required=("id", "entity"),
        read_only=False,
        handler="atlas.knowledge.tools.memory:promote",
        parameters={"id": "note_id"},
    ),
)
