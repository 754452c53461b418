"""Dispatch of the tools of claims and memory by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from atlas.answers.items import ItemsAnswer
from atlas.knowledge.tools.catalogue import CLAIM_TOOLS, MEMORY_TOOLS
from atlas.knowledge.tools.claim_queries import (
    find_scientific_lineage,
    semantic_search,
)
from atlas.knowledge.tools.claims import connect_propositions, ingest_hypothesis, retract_unit, update_unit
from atlas.knowledge.tools.contradictions import find_contradictions
from atlas.knowledge.tools.lists import list_entities, list_propositions
from atlas.knowledge.tools.memory import forget, promote, relate, remember, remember_shortterm
from atlas.knowledge.tools.memory_queries import recall, refresh
from atlas.knowledge.tools.note_base import Knowledge
from atlas.knowledge.tools.whole_unit import get_unit

FUNCTIONS: Mapping[str, Callable[..., Awaitable[ItemsAnswer]]] = {
    "ingest_hypothesis": ingest_hypothesis,
    "connect_propositions": connect_propositions,
    "semantic_search": semantic_search,
    "find_scientific_lineage": find_scientific_lineage,
    "find_contradictions": find_contradictions,
    "list_propositions": list_propositions,
    "get_unit": get_unit,
    "update_unit": update_unit,
    "retract_unit": retract_unit,
    "refresh": refresh,
    "recall": recall,
    "remember": remember,
    "relate": relate,
    "remember_shortterm": remember_shortterm,
    "forget": forget,
    "list_entities": list_entities,
    "promote": promote,
}

PARAMETERS = {
    "connect_propositions": {"from": "source_id"},
    "get_unit": {"id": "unit_id"},
    "update_unit": {"id": "unit_id"},
    "retract_unit": {"id": "unit_id"},
    "list_propositions": {"filter": "filter_text"},
    "list_entities": {"type": "entity_type"},
    "remember": {"type": "entity_type"},
    "forget": {"id": "note_id"},
    "promote": {"id": "note_id"},
}
"""Parameters that are not called like the argument, whose name Python uses itself."""

WRITING = frozenset(tool.name for tool in (*CLAIM_TOOLS, *MEMORY_TOOLS) if not tool.read_only)


async def call_knowledge(knowledge: Knowledge, name: str, arguments: Mapping[str, object]) -> ItemsAnswer:
    """Call a tool with arguments that match its schema. Raises what the tool raises, and KeyError for another name."""
    names = PARAMETERS.get(name, {})
    return await FUNCTIONS[name](knowledge, **{names.get(key, key): value for key, value in arguments.items()})
