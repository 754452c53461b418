"""The evidence of an answer: the state of the index behind it, what it costs, and what it omits; as text and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Structure = dict[str, object]

ALWAYS = frozenset(
    ("hits", "found", "outcome", "columns", "rows", "projects", "state", "checks", "status", "available_actions")
)
"""Keys of structured content that stay if they are empty: an empty list is the answer."""


LINES_HEADING = "other lines with words of the question:"


@dataclass(frozen=True, slots=True)
class StaleFile:
    """A cited file whose indexed content differs from the content on disk."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class NewerFiles:
    """Files whose content on disk is not that of the index, each group sorted by path."""

    new: tuple[str, ...] = ()
    """Not in the index yet."""
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    """In the index, but no longer on disk or no longer in the scope of the project."""

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them; those that exist on disk first."""
        return (*self.new, *self.changed, *self.deleted)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The state of the project behind an answer, the answer's token cost, and what it omits."""

    project: str
    generation: int
    indexed_at: str
    freshness: str
    """`fresh`: cited files match the index; `stale`: one of them or another file of the project is newer; `unknown`: no
    project root; "": no file is cited."""
    stale: tuple[StaleFile, ...]
    """Cited files that differ from the index, with the reason."""
    encoding: str
    tokens: int
    """Tokens of the text or of the structured content, whichever is larger: both fit the budget."""
    token_budget: int
    notes: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    """What the budget, the limit or a cap omitted, and how to get it."""
    cursor: str = ""
    """Argument that requests the next page."""
    below_floor: bool = False
    """The budget is below the shortest complete answer; the answer is the floor: one line that says so."""
    lines: tuple[str, ...] = ()
    """Lines of files with names and rare words of the question that the answer does not show, by file."""


def index_state(generation: int, indexed_at: str) -> str:
    """Return `indexed TIME`, `first index not finished` or `not indexed yet`.

    A generation without a time belongs to an unfinished index.
    """
    if indexed_at:
        return f"indexed {indexed_at}"
    return "first index not finished" if generation else "not indexed yet"


def evidence_head(evidence: Evidence) -> str:
    """Return the first line: project, generation, time, freshness."""
    state = index_state(evidence.generation, evidence.indexed_at)
    freshness = f", {evidence.freshness}" if evidence.freshness else ""
    return f"[{evidence.project or 'no project'} @{evidence.generation}, {state}{freshness}]"


def evidence_tail(evidence: Evidence, cursor_prefix: str = "cursor=") -> Iterator[str]:
    """Yield the last lines: stale files, notes, omissions, and the cursor as the argument of the next call."""
    if evidence.lines:
        yield LINES_HEADING
        yield from evidence.lines
    if evidence.stale:
        yield f"stale: {', '.join(f'{file.path} ({file.reason})' for file in evidence.stale)}"
    for note in evidence.notes:
        yield f"note: {note}"
    for item in evidence.withheld:
        yield f"withheld: {item}"
    if evidence.cursor:
        yield f"next: {cursor_prefix}{evidence.cursor}"


def evidence_structure(evidence: Evidence, *, is_flagged: bool) -> Structure:
    """Return the evidence; fresh files need no date. `is_flagged`: the flag `stale` says the freshness, if known."""
    is_told = is_flagged and evidence.freshness != "unknown"
    return without_empty(
        {
            "project": evidence.project,
            "generation": evidence.generation,
            "indexed_at": evidence.indexed_at if evidence.freshness in ("stale", "unknown") else "",
            "freshness": "" if is_told else evidence.freshness,
            "stale_files": {file.path: file.reason for file in evidence.stale},
            "other_lines": list(evidence.lines),
            "notes": list(evidence.notes),
            "withheld": list(evidence.withheld),
            "cursor": evidence.cursor,
            "below_floor": evidence.below_floor or None,
        }
    )


def where(evidence: Evidence) -> str:
    """Return what `none` is restricted to: newer files may hold some, and other projects of a workspace do."""
    if any(note.startswith(IN_PROJECT) for note in evidence.notes):
        return " in this project"
    return " in the index" if evidence.freshness == "stale" else ""


IN_PROJECT = "in project "
"""Begins the lines about what another project of the workspace has."""


def without_empty(body: Structure) -> Structure:
    """Omit empty values, except keys such as `hits`, where an empty list is the answer."""
    return {key: value for key, value in body.items() if key in ALWAYS or value not in (None, "", [], (), {})}
