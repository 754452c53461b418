"""Lists of claims, decisions and entities, by page. A cursor names the last item, so that new notes shift nothing."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atlas.answers.items import Action, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.code.notes.anchors import anchor_states
from atlas.code.notes.facts import NoteFacts, facts_of
from atlas.code.notes.note import STATUSES
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label, Node
from atlas.core.wording import counted
from atlas.knowledge.notes.checks import check_question, check_share
from atlas.knowledge.retrieval.hits import NoteFilter
from atlas.knowledge.retrieval.retrieval import find_notes
from atlas.knowledge.tools.note_base import Knowledge, properties_of
from atlas.knowledge.tools.open_notes import Opened, opened_bases, project_atlas
from atlas.knowledge.tools.units import answer, comparable, quoted_text, unit_item
from atlas.parsing import stem_words

LIST_BUDGET = 2000
PAGE = 200
MAX_PAGES = 25
"""Pages that are read for a list of suspects: their state is not stored."""
SECONDS = 10.0
ABOUT_CODE = "s.qualified_name ENDS WITH $about OR s.path = $about OR s.path ENDS WITH '/' + $about"
"""What `about:` takes: the end of a name, or a file for all symbols in it."""
ENTITY_QUERY = (
    "MATCH (n:Entity) WHERE (n.name > $name OR (n.name = $name AND n.qualified_name > $id)) "
    "AND ($type = '' OR toLower(n.type) = $type) "
    "OPTIONAL MATCH (n)-[:HAS_OBSERVATION]->(o) "
    "RETURN n.uid, n.name, n.qualified_name, count(o) ORDER BY n.name, n.qualified_name"
)
_KINDS = {"claim": Label.CLAIM, "decision": Label.DECISION, "adr": Label.ADR}
ORDERS = {
    "newest": ("coalesce(n.created, '')", "DESC", "<"),
    "oldest": ("coalesce(n.created, '')", "", ">"),
    "confidence": ("coalesce(n.confidence, 1.0)", "DESC", "<"),
}
_TERM = lazy_regex(r'(\w+):("[^"]*"|\S+)|(\S+)')
_NAMES = ("status", "source", "author", "kind", "about", "min_confidence")


@dataclass(frozen=True, slots=True)
class ListFilter:
    """What `filter` says: terms `name:value`, `suspect`, and further words, all of which a unit contains."""

    status: str = ""
    source: str = ""
    author: str = ""
    kind: str = ""
    about: str = ""
    min_confidence: float = 0.0
    is_suspect: bool = False
    words: str = ""


def parse_filter(text: str) -> ListFilter:
    """Read a filter. Raises ConfigError for an unknown name, status or kind."""
    values: dict[str, Any] = {}
    words: list[str] = []
    for name, value, word in _TERM.findall(check_question("filter", text) if text.strip() else ""):
        if word:
            words.append(word)
        elif name in _NAMES:
            values[name] = value.strip('"')
        elif name == "suspect" and value.lower() in ("true", "yes", "1"):
            words.append(name)
        else:
            raise ConfigError(f"unknown filter {name}:", f"Filters: {', '.join(_NAMES)}, suspect, and words.")
    if values.get("status", STATUSES[0]) not in STATUSES:
        raise ConfigError(f"unknown status {values['status'][:40]!r}", f"Use one of: {', '.join(STATUSES)}.")
    if values.get("kind", "claim") not in _KINDS:
        raise ConfigError(f"unknown kind {values['kind'][:40]!r}", f"Use one of: {', '.join(_KINDS)}.")
    kind, mark, target = str(values.get("about", "")).partition(":")
    if mark and kind in ("symbol", "file", "package", "route"):
        values["about"] = target
    if "min_confidence" in values:
        try:
            values["min_confidence"] = check_share("min_confidence", float(values["min_confidence"]))
        except ValueError as error:
            raise ConfigError("min_confidence must be a number", "Write min_confidence:0.8, for example.") from error
    is_suspect = "suspect" in words
    return ListFilter(**values, is_suspect=is_suspect, words=" ".join(one for one in words if one != "suspect"))


async def list_propositions(
    knowledge: Knowledge,
    *,
    filter_text: str = "",
    order: str = "newest",
    limit: int = 20,
    cursor: str = "",
    token_budget: int = LIST_BUDGET,
) -> ItemsAnswer:
    """Return a page of claims and decisions, those of the project first, then personal ones."""
    wanted = parse_filter(filter_text)
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    if wanted.words:
        pages = [(one, await _searched(one, wanted, limit)) for one in opened]
    else:
        pages = await _pages(opened, wanted, order, limit, cursor)
    items = [
        replace(
            unit_item(node, states, characters=300),
            cursor="" if wanted.words else _cursor(at, node, order),
        )
        for at, (one, page) in enumerate(pages)
        for node, states in await _with_states(one, page, wanted)
    ][:limit]
    more = items[-1].cursor if len(items) == limit else ""
    actions = [Action("get_unit", {"id": items[0].data["id"]}, "relations and anchors")] if items else []
    title = f"{counted(len(items), 'unit')}{', there may be more' if more else ''}" if items else "no unit fits"
    body = ItemsBody("ok" if items else "none", title, (ItemGroup.of("units", items),), tuple(actions), more)
    return await answer(knowledge, "list_propositions", body, token_budget, notes, project_atlas(opened))


async def list_entities(
    knowledge: Knowledge,
    *,
    entity_type: str = "",
    limit: int = 50,
    cursor: str = "",
    token_budget: int = LIST_BUDGET,
) -> ItemsAnswer:
    """Return a page of entities by name with the number of their observations."""
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    after = _read_cursor(cursor)
    kind = check_question("type", entity_type).lower() if entity_type.strip() else ""
    items: list[Item] = []
    for at, one in enumerate(opened):
        if after and at < int(after[0]):
            continue
        place = [str(part) for part in after[1:]] if after and at == int(after[0]) else ["", ""]
        rows = await _rows(
            one,
            ENTITY_QUERY,
            {"name": place[0], "id": place[1], "type": kind},
            limit - len(items),
        )
        nodes = {node.row.uid: node for node in await one.atlas.reader.store.symbols([str(row[0]) for row in rows])}
        for uid, name, note_id, count in rows:
            node = nodes.get(str(uid))
            if node is None:
                continue
            item = unit_item(node, observations=count)
            line = f"{item.line}; {counted(count, 'observation')}"
            items.append(replace(item, line=line, cursor=_write_cursor([at, name, note_id])))
        if len(items) >= limit:
            break
    more = items[-1].cursor if len(items) >= limit else ""
    title = f"{counted(len(items), 'entity')}{', there may be more' if more else ''}"
    why = "its observations and relations"
    actions = [Action("get_entity", {"entity": items[0].data["id"]}, why)] if items else []
    body = ItemsBody("ok" if items else "none", title, (ItemGroup.of("entities", items),), tuple(actions), more)
    return await answer(knowledge, "list_entities", body, token_budget, notes, project_atlas(opened))


Page = list[Node]


async def _pages(
    opened: Sequence[Opened], wanted: ListFilter, order: str, limit: int, cursor: str
) -> list[tuple[Opened, Page]]:
    """Return up to `limit` units in order; those of the project come before personal ones."""
    after = _read_cursor(cursor)
    found: list[tuple[Opened, Page]] = []
    left = limit
    for at, one in enumerate(opened):
        if left <= 0 or (after and at < int(after[0])):
            found.append((one, []))
            continue
        place = list(after[1:]) if after and at == int(after[0]) else []
        page: Page = []
        for _ in range(MAX_PAGES if wanted.is_suspect else 1):
            rows = await _rows(
                one, *list_query(one.base.project, wanted, order, place), PAGE if wanted.is_suspect else left
            )
            nodes = await one.atlas.reader.store.symbols([str(row[0]) for row in rows])
            if wanted.is_suspect:
                states = await anchor_states(one.atlas.reader, [node.row.uid for node in nodes])
                nodes = [node for node in nodes if any(each.is_suspect for each in states.get(node.row.uid, ()))]
            page += nodes
            if len(page) >= left or not rows or not wanted.is_suspect:
                break
            place = [rows[-1][1], rows[-1][2]]
        found.append((one, page[:left]))
        left -= len(page)
    return found


def list_query(
    project: str, wanted: ListFilter, order: str, after: Sequence[object] = ()
) -> tuple[str, dict[str, object]]:
    """Return a query for (uid, order value, id) of the units behind `after`, (order value, id), and its parameters."""
    value, direction, beyond = ORDERS[order]
    conditions = ["n.project = $project"]
    parameters: dict[str, object] = {"project": project}
    labels = [_KINDS[wanted.kind]] if wanted.kind else list(_KINDS.values())
    conditions.append(f"({' OR '.join(f'n:{label}' for label in labels)})")
    for name, text in (
        ("status", "coalesce(n.status, 'accepted') = $status"),
        ("source", "n.source CONTAINS $source"),
        ("author", "(n.client CONTAINS $author OR n.agent CONTAINS $author)"),
    ):
        if getattr(wanted, name):
            conditions.append(text)
            parameters[name] = getattr(wanted, name)
    if wanted.min_confidence:
        conditions.append("coalesce(n.confidence, 1.0) >= $least")
        parameters["least"] = wanted.min_confidence
    if wanted.about:
        conditions.append(f"EXISTS {{ MATCH (n)-[:ABOUT]->(s) WHERE {ABOUT_CODE} }}")
        parameters["about"] = wanted.about
    if after:
        conditions.append(f"({value} {beyond} $value OR ({value} = $value AND n.qualified_name {beyond} $id))")
        parameters |= {"value": after[0], "id": after[1]}
    text = (
        f"MATCH (n) WHERE {' AND '.join(conditions)} "
        f"RETURN n.uid, {value} AS value, n.qualified_name ORDER BY value {direction}, n.qualified_name {direction}"
    )
    return text, parameters


async def _rows(one: Opened, text: str, parameters: Mapping[str, object], limit: int) -> Sequence[Sequence[Any]]:
    table = await one.atlas.reader.store.cypher(text, parameters, limit, SECONDS, one.base.project)
    return table.rows


async def _searched(one: Opened, wanted: ListFilter, limit: int) -> Page:
    """Return the best units for the words of a filter that fit its terms, best first."""
    labels = (_KINDS[wanted.kind],) if wanted.kind else tuple(_KINDS.values())
    statuses = (wanted.status,) if wanted.status else ()
    where = NoteFilter(labels=labels, min_confidence=wanted.min_confidence, statuses=statuses)
    is_plain = not (wanted.source or wanted.author or wanted.about or wanted.is_suspect)
    hits = await find_notes(one.atlas.reader, wanted.words, where, limit if is_plain else max(limit, PAGE))
    asked = set(stem_words(wanted.words).split())
    nodes = [hit.node for hit in comparable(hits) if asked <= set(stem_words(hit.node.row.docstring).split())]
    if wanted.about:
        rows = await _rows(
            one,
            f"MATCH (n)-[:ABOUT]->(s) WHERE n.uid IN $uids AND ({ABOUT_CODE}) RETURN DISTINCT n.uid",
            {"uids": [node.row.uid for node in nodes], "about": wanted.about},
            len(nodes),
        )
        about = {str(row[0]) for row in rows}
        nodes = [node for node in nodes if node.row.uid in about]
    return [node for node in nodes if _fits(facts_of(node.row), wanted)]


def _fits(facts: NoteFacts, wanted: ListFilter) -> bool:
    return wanted.source in facts.source and (wanted.author in facts.client or wanted.author in facts.agent)


async def _with_states(one: Opened, page: Page, wanted: ListFilter) -> list[tuple[Node, Sequence[Any]]]:
    states = await anchor_states(one.atlas.reader, [node.row.uid for node in page])
    pairs = [(node, states.get(node.row.uid, ())) for node in page]
    return [(node, found) for node, found in pairs if not wanted.is_suspect or any(each.is_suspect for each in found)]


def _cursor(at: int, node: Node, order: str) -> str:
    """Return a cursor behind a unit of the folder at a position."""
    details = properties_of(node)
    value = details.get("confidence", 1.0) if order == "confidence" else details.get("created", "")
    return _write_cursor([at, value, node.row.qualified_name])


def _write_cursor(parts: Sequence[object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def _read_cursor(text: str) -> list[Any]:
    if not text:
        return []
    try:
        found: Any = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError):
        found = None
    match found:
        case [int(at), str() | int() | float() as value, str(last)] if at >= 0:
            return [at, value, last]
        case _:
            raise ConfigError(f"{quoted_text(text, 40)} is no cursor of this list", "Use the cursor of an answer.")
