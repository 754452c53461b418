"""The tool that shows one unit in full: its text, relations, anchors, observations and history."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from atlas.answers.items import Action, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.code.notes.anchors import AnchorCondition, AnchorState, anchor_states, target_uid
from atlas.code.notes.facts import facts_of, unix_time
from atlas.code.notes.note import Anchor
from atlas.core.errors import AtlasError, NotFound
from atlas.core.history import Commit
from atlas.core.ids import make_uid
from atlas.core.invisible import escaped
from atlas.core.model import PROSE, Direction, Edge, EdgeType, Label, Node
from atlas.core.paper_source import PaperLinks
from atlas.core.threads import in_thread
from atlas.core.wording import counted
from atlas.knowledge.notes.checks import MAX_NAME, MAX_TEXT, check_line
from atlas.knowledge.notes.front_matter import read_text
from atlas.knowledge.notes.marks import Attachment
from atlas.knowledge.retrieval.lineage import RELATIONS
from atlas.knowledge.retrieval.papers import paper_rows
from atlas.knowledge.tools.note_base import Knowledge, NoteBase, aliases_of, find_entity, properties_of
from atlas.knowledge.tools.open_notes import NOT_READ, Opened, find_unit, opened_bases, project_atlas
from atlas.knowledge.tools.relations import anchor_item, relation_item
from atlas.knowledge.tools.units import answer, no_entity, quoted_text, shown_text, uid_of, unit_item

UNIT_BUDGET = 2000
COMMITS = 5
MAX_UNITS = 10
"""Further units of a paper that are named."""
MAX_TWINS = 10
CLOCKS_DIFFER = 86_400
"""Seconds by which the clock of a committer may be behind that of the note's author."""


async def get_entity(knowledge: Knowledge, *, entity: str, token_budget: int = UNIT_BUDGET) -> ItemsAnswer:
    """Return one entity by name, alias or id: its relations both ways, and its newest observations. Raises NotFound."""
    name = check_line("entity", entity)
    notes: list[str] = []
    await opened_bases(knowledge, notes)  # the index has to know an alias that another session has just given
    place = await find_entity(knowledge, name)
    if place is None:
        raise await no_entity(knowledge, name, notes)
    whole = await get_unit(knowledge, unit_id=place.note_id, token_budget=token_budget)
    return replace(whole, tool="get_entity")


async def get_unit(knowledge: Knowledge, *, unit_id: str, token_budget: int = UNIT_BUDGET) -> ItemsAnswer:
    """Return one note: its text, its relations both ways, what it is about with the state, its history in git.

    Raises NotFound.
    """
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    found = await find_unit(opened, check_line("id", unit_id, 1000))
    if found is None:
        is_short = unit_id.startswith("s-")
        hint = "list_propositions and list_entities name those there are."
        hint = "It is a short-term memory, which recall and refresh show." if is_short else hint
        raise _not_found(f"no unit {shown_text(unit_id, 80)}", notes, hint)
    one, node = found
    reader, uid = one.atlas.reader, node.row.uid
    twins, commits = await _twins(one, node), await _history(one, node)
    states = (await anchor_states(reader, [uid])).get(uid, ())
    item = unit_item(node, states, characters=MAX_TEXT, **_details(one.base, node))
    outgoing = await reader.store.edges([uid], Direction.OUT, RELATIONS)
    incoming = await reader.store.edges([uid], Direction.IN, RELATIONS)
    groups = [
        ItemGroup.of("unit", [_with_details(item, commits)]),
        ItemGroup.of("same_id", [unit_item(twin) for twin in twins]),
        ItemGroup.of("relations", [relation_item(edge) for edge in (*outgoing, *incoming)]),
        ItemGroup.of("about", [anchor_item(state) for state in states]),
        ItemGroup.of("papers", await _paper_items(one, node, knowledge.papers)),
        ItemGroup.of("dangling", _dangling(one.base, node, outgoing)),
        ItemGroup.of("entity", await _entity(one, node)),
        ItemGroup.of("observations", await _observations(one, node)),
        ItemGroup.of("history", [_commit_item(commit) for commit in commits]),
    ]
    groups = [group for group in groups if group.total]
    if twins:
        paths = ", ".join(escaped(each.row.path) for each in (node, *twins))
        notes.append(f"several files have this id: {paths}; give all but one a new id")
    notes += [f"a file of the project has this id, too: {escaped(path)}" for path in await _shadowed(opened, found)]
    actions = [*_if_suspect(node, states), *_after_reading(node)]
    body = ItemsBody("ok", f"{node.row.kind} {escaped(node.row.qualified_name)}", tuple(groups), tuple(actions))
    return await answer(knowledge, "get_unit", body, token_budget, notes, project_atlas(opened))


def _not_found(message: str, notes: Sequence[str], hint: str) -> NotFound:
    """Return the error for a name, with what could not be read: the name may be there."""
    return NotFound("; ".join((message, *(note for note in notes if note.startswith(NOT_READ)))), hint)


async def _twins(one: Opened, node: Node) -> list[Node]:
    """Return the notes of other files with the id of this one, found by their vectors, which are in order of uids."""
    first, store = make_uid(one.base.project, node.row.qualified_name), one.atlas.reader.store
    # the uid of a second file is ID@path, and "?" is the character before "@"
    rows = await store.vectors(one.base.project, MAX_TWINS, f"{first}?", PROSE)
    uids = [first, *(row.uid for row in rows if row.uid.startswith(f"{first}@"))]
    return [each for each in await store.symbols(uids) if each.row.uid != node.row.uid]


async def _shadowed(opened: Sequence[Opened], found: tuple[Opened, Node]) -> list[str]:
    """Return the paths of notes of other folders with the id of this one, which is the user's own."""
    one, node = found
    others = [each for each in opened if each is not one]
    nodes = [await each.atlas.reader.store.symbols([uid_of(each.base, node.row.qualified_name)]) for each in others]
    return [each.row.path for each in chain(*nodes)]


def _details(base: NoteBase, node: Node) -> dict[str, Any]:
    """Return further values of a note's front matter, escaped."""
    details = properties_of(node)
    if details.get("status") in ("retracted", "superseded"):
        # the index does not hold why: only this answer shows it
        with suppress(AtlasError):
            details["reason"] = read_text(*base.read(node.row.path), "reason")
    found = {name: shown_text(str(details[name])) for name in ("updated", "agent", "reason") if details.get(name)}
    aliases = [shown_text(one, MAX_NAME) for one in aliases_of(node)]
    return {**found, **({"aliases": aliases} if aliases else {})}


def _with_details(item: Item, commits: Sequence[Commit]) -> Item:
    """Return a unit with further values of its file, and who committed it last as far as git knows."""
    parts = [f"{name} {quoted_text(item.data[name])}" for name in ("updated", "agent", "reason") if name in item.data]
    parts = [f"per its file: {', '.join(parts)}"] if parts and "origin" in item.data else parts
    parts += [f"alias {quoted_text(one)}" for one in item.data.get("aliases", ())]
    data = dict(item.data)
    if commits:
        data["committed_by"] = shown_text(commits[0].author, MAX_NAME)
        parts.append(f"committed by {quoted_text(commits[0].author, MAX_NAME)}")
    return Item("; ".join((item.line, *parts)), data)


def _if_suspect(node: Node, states: Sequence[AnchorState]) -> list[Action]:
    """Return how to mend a note whose code has changed: code that is gone cannot be reaffirmed."""
    suspect = [state for state in states if state.is_suspect]
    if any(state.state is not AnchorCondition.GONE for state in suspect):
        fix = {"id": node.row.qualified_name, "reaffirm": True}
        return [Action("update_unit", fix, "if it still holds; else update its text, or retract_unit")]
    if suspect:
        why = {"id": node.row.qualified_name, "reason": f"{suspect[0].target} is gone"}
        return [Action("retract_unit", why, "unless it holds for other code: then update_unit with about")]
    return []


def _after_reading(node: Node) -> list[Action]:
    if node.row.label == Label.ENTITY:
        return [Action("recall", {"query": node.row.name[:MAX_NAME]}, "what is known about it")]
    if node.row.label == Label.OBSERVATION:
        return []
    return [Action("find_contradictions", {"claim": node.row.qualified_name}, "what speaks against it")]


def _dangling(base: NoteBase, node: Node, outgoing: Sequence[Edge]) -> list[Item]:
    """Return relations of the file whose target is not in the index."""
    if node.row.label == Label.ADR or not node.row.path:
        return []
    try:
        _, note = base.read(node.row.path)
    except AtlasError:
        return []
    if note.id != node.row.qualified_name:
        return []
    known = {edge.row.target for edge in outgoing}
    missing = [one for one in note.relations if _target_uid(base, one.to) not in known]
    return [
        Item(f"{kind} -> {to}, which is not there", {"type": kind, "to": to})
        for kind, to in ((escaped(one.type), escaped(one.to)) for one in missing[:20])
    ]


def _target_uid(base: NoteBase, target: str) -> str:
    kind, colon, name = target.partition(":")
    return target_uid(base.project, Anchor(kind, name)) if colon else make_uid(base.project, target)


async def _entity(one: Opened, node: Node) -> list[Item]:
    """Return the entity that an observation is about."""
    if node.row.label != Label.OBSERVATION:
        return []
    edges = await one.atlas.reader.store.edges([node.row.uid], Direction.IN, [EdgeType.HAS_OBSERVATION])
    return [unit_item(edge.node) for edge in edges]


async def _observations(one: Opened, node: Node) -> list[Item]:
    if node.row.label != Label.ENTITY:
        return []
    edges = await one.atlas.reader.store.edges([node.row.uid], Direction.OUT, [EdgeType.HAS_OBSERVATION], limit=10_000)
    newest = sorted(edges, key=lambda edge: str(properties_of(edge.node).get("created", "")), reverse=True)
    items = [unit_item(edge.node) for edge in newest[:50]]
    root = one.base.notebook.folder.root
    return [await in_thread(_with_state, root, item) if "attachment" in item.data else item for item in items]


def _with_state(root: Path, item: Item) -> Item:
    """Return an observation with the state of the file that it describes."""
    file = item.data["attachment"]
    state = Attachment(**file).state(root)
    return Item(f"{item.line}; file {state}", {**item.data, "attachment": {**file, "state": state}})


def _commit_item(commit: Commit) -> Item:
    subject = shown_text(commit.subject, 100)
    line = f"{commit.id[:10]} by {quoted_text(commit.author, MAX_NAME)}: {quoted_text(commit.subject, 100)}"
    return Item(line, {"commit": commit.id, "author": shown_text(commit.author, MAX_NAME), "subject": subject})


async def _history(one: Opened, node: Node) -> Sequence[Commit]:
    """Return the last commits of the note's file; none without git."""
    history = one.atlas.reader.history
    if history is None or not node.row.path:
        return []
    # earlier commits cannot hold the note, and to walk all of them takes seconds
    created = unix_time(facts_of(node.row).created)
    after = max(int(created - CLOCKS_DIFFER), 0) if created else 0
    try:
        log = await history.log(COMMITS, path=node.row.path, paths=0, after=after)
        if after and not log.commits and await history.content("HEAD", [node.row.path]):
            # the file claims a time after its own commit, which does not hide who committed it
            log = await history.log(COMMITS, path=node.row.path, paths=0)
    except AtlasError:
        return []
    return log.commits


async def _paper_items(one: Opened, node: Node, papers: PaperLinks | None) -> list[Item]:
    """Return the papers of a unit, each with its title if it is stored, and the other units from it."""
    store, uid = one.atlas.reader.store, node.row.uid
    targets = [edge.row.target for edge in await store.edges([uid], Direction.OUT, [EdgeType.SOURCE])]
    if not targets:
        return []
    rows = await paper_rows(papers, one.base.project, targets)
    others: dict[str, list[str]] = {}
    for edge in await store.edges(targets, Direction.IN, [EdgeType.SOURCE]):
        if edge.row.source != uid:
            others.setdefault(edge.row.target, []).append(escaped(edge.node.row.qualified_name))
    items: list[Item] = []
    for target, row in rows.items():
        ids = others.get(target, [])
        more = f" and {counted(len(ids) - MAX_UNITS, 'unit')} more" if len(ids) > MAX_UNITS else ""
        said = f"; also the source of {', '.join(ids[:MAX_UNITS])}{more}" if ids else ""
        title = f" {quoted_text(row.docstring)}" if row.docstring else ""
        fields = {"id": escaped(row.qualified_name), "title": shown_text(row.docstring), "units": ids[:MAX_UNITS]}
        items.append(Item(f"paper {fields['id']}{title}{said}", {name: one for name, one in fields.items() if one}))
    return items
