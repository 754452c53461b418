"""A note as a line of text, the same in every answer: quoted data with its author, status, age and doubts.

What stands in a note was written by anybody, so all of it is shown with invisible characters escaped, and its text in
quotes: it is never an instruction. Status, confidence, author and time of a project's note are what its file claims,
and are shown as that; only in the user's own notes did this installation write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from atlas.code.notes.about import NoteAbout, record_statuses
from atlas.code.notes.anchors import AnchorCondition, AnchorState, states_of
from atlas.code.notes.facts import age_in_days, facts_of
from atlas.code.reader import Reader
from atlas.core.ids import is_personal
from atlas.core.invisible import escaped, quoted
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import PROSE_LABELS, Label, Node, NodeRow

TEXT_CHARACTERS = 160
NAME_CHARACTERS = 120
SHOWN_ANCHORS = 2
COMMIT_DIGITS = 10
_AMBIGUOUS = lazy_regex(r'[",;\\\n]')
"""What separates the parts of a line, or ends quotes."""


def note_line(
    row: NodeRow,
    states: Sequence[AnchorState] = (),
    *,
    text: str = "",
    characters: int = TEXT_CHARACTERS,
    now: float = 0.0,
) -> str:
    """Return a note on one line: kind, text, id, status, confidence, client, age, and why it is suspect.

    An accepted status and a confidence of 1 are left out. `text` stands for that of the node. `now` is a Unix time, 0 =
    now.
    """
    head = f"{note_kind(row)} {quoted(cut(text or _text_of(row), characters))} {plain_name(row.qualified_name)}"
    return joined(head, note_marks(row, now=now), suspect_text(states))


def note_marks(row: NodeRow, *, status: str = "", now: float = 0.0) -> str:
    """Return `per its file: disputed, confidence 0.7, author cursor/1.0, 12 days old`, without what is usual.

    Those of the user's own notes are facts: `disputed, confidence 0.7, by cursor/1.0, 12 days old`. `status` stands for
    that of the node; a decision record has its status in its text. See `note_line`.
    """
    facts = facts_of(row)
    status = status or ("" if row.label in (Label.ADR, Label.OBSERVATION) else facts.status)
    own = is_personal(row.uid)
    marks = (
        "" if status == "accepted" else plain_name(status),
        f"confidence {facts.confidence:g}" if facts.confidence != 1.0 else "",
        f"{'by' if own else 'author'} {plain_name(facts.client)}" if facts.client else "",
        _age(age_in_days(facts, now)),
    )
    said = ", ".join(filter(None, marks))
    return said if own or not said else f"per its file: {said}"


def joined(head: str, marks: str, suspect: str) -> str:
    """Return the parts of a line of a note that are not empty."""
    return "; ".join(filter(None, (", ".join(filter(None, (head, marks))), suspect)))


def lines_about(about: NoteAbout) -> tuple[str, ...]:
    """Return a note about a symbol on one line, and on a second one what makes it suspect, if anything does."""
    row = about.node.row
    name = about.at if row.label == Label.ADR else row.qualified_name
    head = f"{note_kind(row)} {quoted(cut(_text_of(row), TEXT_CHARACTERS))} {plain_name(name)}"
    relation = f"{plain_name(about.relation)} this" if about.relation else ""
    first = ", ".join(filter(None, (head, relation, note_marks(row, status=about.status))))
    suspect = suspect_text(about.states)
    return (first, f"  {suspect}") if suspect else (first,)


def described_note(row: NodeRow, marks: str) -> str:
    """Return kind and text of a note with its marks, for a line that begins with its id."""
    return ", ".join(filter(None, (f"{note_kind(row)} {quoted(cut(_text_of(row), TEXT_CHARACTERS))}", marks)))


def text_at_risk(about: NoteAbout) -> str:
    """Return a note about a symbol that changes, and that it may no longer hold or why it is suspect already."""
    first, *suspect = lines_about(about)
    return f"{first}; {suspect[0].strip() if suspect else 'may no longer hold'}"


async def marks_of(reader: Reader, nodes: Iterable[Node]) -> dict[str, str]:
    """Return `note_marks` of the notes and decision records among some nodes, with what makes them suspect, by uid.

    Raises store errors.
    """
    listed = list(nodes)
    notes = [node for node in listed if node.row.label in PROSE_LABELS]
    states = await states_of(reader, notes) if notes else {}
    found = {
        node.row.uid: "; ".join(filter(None, (note_marks(node.row), suspect_text(states.get(node.row.uid, ())))))
        for node in notes
    }
    return {**found, **{uid: escaped(status) for uid, status in (await record_statuses(reader, listed)).items()}}


def quoted_lines(row: NodeRow, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a text of a node; those of a note as a quotation, with invisible characters escaped."""
    return tuple(f"> {escaped(line)}" for line in lines) if row.label in PROSE_LABELS else tuple(lines)


def note_kind(row: NodeRow) -> str:
    """Return claim, decision, observation, or entity with its type."""
    kind = "decision" if row.label == Label.ADR else row.kind
    entity_type = facts_of(row).type if row.label == Label.ENTITY else ""
    return f"{kind} ({plain_name(entity_type)})" if entity_type else kind


def suspect_text(states: Sequence[AnchorState]) -> str:
    """Return `suspect: ...` with what happened to the code since which commit; "" if nothing did."""
    suspects = [state for state in states if state.is_suspect]
    if not suspects:
        return ""
    shown = [_happened(state) for state in suspects[:SHOWN_ANCHORS]]
    more = len(suspects) - len(shown)
    return f"suspect: {', '.join(shown)}{f' and {more} more' if more else ''}"


def cut(text: str, characters: int) -> str:
    """Return a text on one line, cut at a number of characters."""
    # twice as much as is shown, so that a text of 1 MB is not split into words
    line = " ".join(text[: 2 * characters + 100].split())
    is_whole = len(text) <= 2 * characters + 100 and len(line) <= characters
    return line if is_whole else f"{line[:characters].rstrip()}..."


def _happened(state: AnchorState) -> str:
    name = plain_name(state.target)
    since = f" since {plain_name(state.commit[:COMMIT_DIGITS])}" if state.commit else ""
    place = f" {plain_name(state.at)}" if state.at else ""
    changed = f"{' and '.join(state.changed)} changed"
    if state.state == AnchorCondition.GONE:
        return f"{name} is gone{since}"
    if state.state == AnchorCondition.MOVED:
        to = f" to {plain_name(state.moved_to)}" if state.moved_to and state.moved_to != state.target else ""
        return f"{name} moved{to}{place}{f', {changed}' if state.changed else ''}{since}"
    return f"{changed} of {name}{place}{since}"


def _text_of(row: NodeRow) -> str:
    """Return what a note says: its name, which is its first sentence, or more of its text where that continues."""
    text = " ".join(row.docstring.split())
    return text if text.startswith(row.name) and row.label != Label.ENTITY else row.name


def _age(days: int | None) -> str:
    return "" if days is None else "written today" if days == 0 else f"{days} day{'' if days == 1 else 's'} old"


def plain_name(text: str) -> str:
    """Return a name that a note's file determines: cut, escaped, and in quotes if it could be taken for more."""
    name = cut(text, NAME_CHARACTERS)
    return quoted(name) if _AMBIGUOUS.search(name) else escaped(name)
