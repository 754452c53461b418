"""Units as items of an answer, and the parts that the tools of knowledge share: envelopes, notes, answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from atlas.answers.assemble import fit_counted
from atlas.answers.items import Item, ItemsAnswer, ItemsBody
from atlas.code.atlas import Atlas
from atlas.code.notes.anchors import AnchorState, anchor_states
from atlas.code.notes.facts import facts_of
from atlas.code.notes.note_lines import cut, note_kind, note_line
from atlas.code.reader import Reader
from atlas.code.tools.envelope import Envelope
from atlas.core.errors import AtlasError, NotFound
from atlas.core.ids import is_personal, make_uid
from atlas.core.invisible import escaped, quoted
from atlas.core.model import Filter, Label, Match, Node
from atlas.core.project_state import ProjectState
from atlas.core.wording import counted
from atlas.knowledge.notes.marks import Marked, read_marks
from atlas.knowledge.retrieval.hits import NoteHit
from atlas.knowledge.retrieval.short_term import scaled
from atlas.knowledge.tools.note_base import Knowledge, NoteBase
from atlas.knowledge.tools.open_notes import NOT_READ

MAX_NEAR = 3
"""Names that an error adds."""
SHOWN_TEXT = 700
"""Characters of a unit's text in a list; `get_unit` shows all of it."""
SHOWN_SOURCE = 120
PERSONAL = "personal"
PROJECT_FILE = "project file"
"""Origin of a note whose author, status, confidence and time are what a file of the project claims."""
LEAST_MEANING = 0.1
"""Cosine of the prose model below which a hit that shares no word with the question is left out."""
_REASONS = frozenset({"words", "name", "related", "conversation"})
"""Reasons other than its own meaning for which a hit has to do with the question."""
LEAST_SCORE = 0.02
"""Relevance below which a hit is left out."""
WORDS_ONLY = 0.5
"""Relevance of the best hit if it shares words or a name with the question, but its meaning is not near."""


def unit_item(
    node: Node,
    states: Sequence[AnchorState] = (),
    *,
    score: float | None = None,
    why: Sequence[str] = (),
    characters: int = SHOWN_TEXT,
    **more: Any,
) -> Item:
    """Return a unit as an item: what it says, who wrote it, its state, and why it is shown.

    The author of a project's note is what its file claims; `origin` says that status and confidence are, too.
    """
    row = node.row
    own = is_personal(row.uid)
    facts = facts_of(row)
    said = row.name if row.label == Label.ENTITY else row.docstring
    marked = read_marks(said) if row.label == Label.OBSERVATION else Marked(said)
    said = marked.text
    if row.label == Label.ADR:
        # its text begins with its status and date as a rule: the title says what was decided
        said = f"{row.name}. {row.docstring}"
    line = note_line(row, states, text=said, characters=characters)
    if facts.source:
        line = f"{line}; source {quoted_text(facts.source, SHOWN_SOURCE)}"
    if own:
        line = f"{line}; {PERSONAL}"
    file = marked.attachment
    if file is not None:
        line = f"{line}; attachment {quoted_text(file.path, SHOWN_SOURCE)} {file.type}"
    if marked.importance is not None and score is None:
        line = f"{line}; importance {marked.importance:.2f}"
    if score is not None:
        line = f"{line}; {score_text(score, why)}"
    data: dict[str, Any] = {
        "id": row.qualified_name,
        "kind": note_kind(row),
        "text": shown_text(said, characters),
        "status": escaped(facts.status),
        "confidence": round(facts.confidence, 4),
    }
    optional = {
        "source": escaped(facts.source),
        "origin": "" if own else PROJECT_FILE,
        "client" if own else "claimed_client": escaped(facts.client),
        "created": escaped(facts.created),
        "path": escaped(row.path),
        "suspect": [_doubt(one) for one in states if one.is_suspect],
        "score": None if score is None else round(score, 4),
        "why": list(why),
        PERSONAL: own or None,
        "importance": marked.importance,
        "attachment": asdict(replace(file, path=escaped(file.path))) if file is not None else None,
        **more,
    }
    return Item(line, {**data, **{name: value for name, value in optional.items() if value not in ("", None, [])}})


def score_text(score: float, why: Sequence[str]) -> str:
    """Return a score with its reasons, with the two digits that the rounded score of the structured item has."""
    reasons, shown = ", ".join(why), f"score {round(score, 4):.2f}"
    return f"{shown} ({reasons})" if reasons else shown


def _doubt(state: AnchorState) -> str:
    return " ".join((f"{state.state}:", escaped(state.target), *state.changed))


def shown_text(text: str, characters: int = SHOWN_TEXT) -> str:
    """Return a text on one line with invisible characters escaped, cut at a number of characters."""
    line = " ".join(text[: 4 * characters].split())
    return escaped(line if len(line) <= characters else f"{line[: characters - 3].rstrip()}...")


async def no_entity(knowledge: Knowledge, name: str, notes: Sequence[str] = ()) -> NotFound:
    """Return the error for a name that no entity has, with what could not be read, and with the names nearest to it."""
    near: list[str] = []
    for base in knowledge.own_first:
        atlas = await base.opened()
        if atlas is not None:
            where = Filter(project=base.project, labels=(Label.ENTITY,))
            near += [node.row.name for node in await atlas.reader.store.find(name, Match.NEAR, where, MAX_NEAR)]
    unread = (note for note in notes if note.startswith(NOT_READ))
    message = "; ".join((f"no entity {shown_text(name, 80)!r}", *unread))
    return NotFound(
        message, "list_entities names those there are.", [shown_text(one, 80) for one in dict.fromkeys(near)]
    )


def quoted_text(text: str, characters: int = SHOWN_TEXT) -> str:
    """Return a text as `shown_text` does, in quotes that it cannot end."""
    return quoted(cut(text, characters))


async def hit_items(reader: Reader, hits: Sequence[NoteHit], **more: Any) -> list[Item]:
    """Return hits as items with the state of what they are about."""
    states = await anchor_states(reader, [hit.node.row.uid for hit in hits])
    return [unit_item(hit.node, states.get(hit.node.row.uid, ()), score=hit.score, why=hit.why, **more) for hit in hits]


def comparable(hits: Sequence[NoteHit]) -> list[NoteHit]:
    """Return the hits of one folder with scores that can be compared with those of another one.

    The best hit scores by how near its meaning is, the others in proportion; what has nothing in common with the
    question is left out.
    """
    kept = [hit for hit in hits if hit.meaning >= LEAST_MEANING or set(hit.why) & _REASONS]
    top = max((hit.score for hit in kept), default=0.0)
    best = max((scaled(hit.meaning) for hit in kept), default=0.0)
    floor = WORDS_ONLY if any({"words", "name", "related"} & set(hit.why) for hit in kept) else 0.0
    scale = max(best, floor) / top if top > 0 else 0.0
    scaled_hits = (replace(hit, score=hit.score * scale) for hit in kept)
    return [hit for hit in scaled_hits if hit.score >= LEAST_SCORE]


async def envelope_of(knowledge: Knowledge, atlas: Atlas | None, token_budget: int) -> Envelope:
    """Return the evidence of the project's index; one that says so if there is none."""
    name, counter = knowledge.project.project, knowledge.counter
    if atlas is not None:
        for state in await atlas.reader.store.projects():
            if state.project == name:
                return Envelope(state, counter.encoding, token_budget, atlas.tree)
    return Envelope(ProjectState(name, "", 0, ""), counter.encoding, token_budget)


async def answer(
    knowledge: Knowledge,
    tool: str,
    body: ItemsBody,
    token_budget: int,
    notes: Sequence[str] = (),
    atlas: Atlas | None = None,
) -> ItemsAnswer:
    """Return as many items as fit the budget; what is left out is counted in the groups and in `withheld`.

    None is unknown if some of the notes could not be read.
    """
    if body.status == "none" and any(note.startswith(NOT_READ) for note in notes):
        body = replace(body, status="unknown", title=f"{body.title}, as far as notes could be read")
    envelope = await envelope_of(knowledge, atlas or await knowledge.project.opened(), token_budget)

    def build(shown: int) -> ItemsAnswer:
        part = body.cut(shown)
        withheld = [f"{counted(body.size - shown, 'item')}; raise token_budget"] if shown < body.size else []
        return ItemsAnswer(tool, part, envelope.evidence(notes=notes, withheld=withheld, cursor=part.cursor))

    return fit_counted(knowledge.counter, token_budget, build, body.size)


async def degraded(work: Any, notes: list[str], what: str, otherwise: Any) -> Any:
    """Return the result of a coroutine; a failure becomes a note and `otherwise`."""
    try:
        return await work
    except AtlasError as error:
        notes.append(f"{what}: {error.message}")
        return otherwise


def uid_of(base: NoteBase, note_id: str) -> str:
    """Return the uid of a note."""
    return make_uid(base.project, note_id)
