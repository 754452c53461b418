"""status: what is indexed, what was skipped and why, and the state of the daemon."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from atlas.answers.evidence import NewerFiles
from atlas.answers.schema import check_range
from atlas.code.atlas import Atlas, TreeReport
from atlas.code.conflicts import conflicts
from atlas.code.tools.cypher_answers import SchemaEntry
from atlas.code.tools.envelope import MAX_BUDGET, Envelope, aside, can_fit, fit_aside, not_indexed, unread_notes
from atlas.code.tools.state.daemon import DaemonStatus
from atlas.code.tools.state.report import PartialFile, ProjectStatus, SkippedFile, StatusAnswer
from atlas.core.errors import AtlasError, ConfigError, NotFound
from atlas.core.invisible import escaped
from atlas.core.model import DOCUMENTS, PROSE, QUALITY, EdgeType, FileRecord, Label, ModelInfo, Skipped
from atlas.core.project_state import ProjectState, ProjectStats
from atlas.core.wording import counted
from atlas.parsing import secrets_of

MAX_CONFLICTS = 5
"""Files with conflict markers that are named."""
MAX_PAIRS = 3
"""Pairs of notes that contradict each other that are named."""
MAX_STATED = 1000
STATED_SECONDS = 5.0
CONTRADICTIONS = (
    "MATCH (a)-[:CONTRADICTS|REFUTES]->(b) WHERE (a:Claim OR a:Decision) AND (b:Claim OR b:Decision) "
    "AND coalesce(a.status, 'accepted') IN ['proposed', 'accepted'] "
    "AND coalesce(b.status, 'accepted') IN ['proposed', 'accepted'] AND a.uid <> b.uid "
    "RETURN a.qualified_name, b.qualified_name"
)
_FEW = 1000
"""Up to this many paths, matching a glob takes less time than starting a thread."""

SYMBOLS = (Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE)
"""Labels of code definitions, which `symbols` counts."""

MAX_SECRETS = 5
"""Number of secrets that are named per file; further ones are counted."""

SECRET = "secret"
"""Reason of files that hold secrets: skipped because of their name, or masked because of their content."""

PARTIAL = "partial"
"""Value of `skipped_filter` for indexed files that could only be read in part."""


async def status(
    atlas: Atlas,
    *,
    project: str = "",
    everything: bool = False,
    skipped: bool = False,
    skipped_filter: str = "",
    token_budget: int = 2000,
    daemon: Awaitable[DaemonStatus] | None = None,
    newer: Awaitable[NewerFiles | None] | None = None,
    places: Sequence[str] = (),
) -> StatusAnswer:
    """Return the counts of a project, or of all projects with `everything`.

    `skipped` also lists skipped files with reasons, and partially read files with their first problem or masked
    secrets. `skipped_filter` keeps files whose reason equals it (`partial`: partially read; `secret`: also those with
    masked secrets) or whose path starts with it or matches it as a glob. `daemon` gives the daemon's state and is
    awaited after the store's counts, and so is `newer`: the files of the reader's project that differ from the index,
    None if that is unknown. `places` are notes on the location of the index.

    An index without projects is a valid answer. Raises NotFound if `project` is given and not indexed, or if no file
    has the reason or path of `skipped_filter`, and ConfigError for invalid arguments.
    """
    check_range("token_budget", token_budget, 1, MAX_BUDGET)
    if skipped_filter and not skipped:
        raise ConfigError("skipped_filter needs skipped", "set skipped to true")
    states = {state.project: state for state in await atlas.reader.store.projects()}
    name = project or atlas.reader.project
    if name not in states and project:
        raise not_indexed(name, states)
    wanted = "" if everything else name
    stats = await atlas.reader.store.stats(wanted) if everything or name in states else []
    differing = await newer if newer is not None else None
    forms = atlas.reader.languages.forms
    shown = tuple(
        _project_status(each, differing if each.project == atlas.reader.project else None, forms) for each in stats
    )
    found = await daemon if daemon is not None else None
    files, partial = await _incomplete_files(atlas, name, skipped_filter) if skipped and name in states else ((), ())
    state, encoding = states.get(name, ProjectState(name, "", 0, "")), atlas.reader.counter.encoding
    is_own = name in states and name == atlas.reader.project
    unread = await unread_notes(atlas.reader.store, state)
    envelope = Envelope(state, encoding, token_budget, atlas.tree if is_own else TreeReport(), "", unread)
    note = "" if name in states else f"project `{name}` is not indexed: run `atlas index` in its folder"
    sent = _sent_note(atlas)
    tiers = found.tiers if found else ()
    marked = await _marks(atlas, next((each for each in stats if each.project == name), None))
    parts = len(shown) + bool(tiers) + len(partial) + len(files)

    def build(kept: int) -> StatusAnswer:
        """Keep projects, tiers, partially read files, skipped files, in this order; the daemon's state always stays."""
        left = max(0, kept - len(shown) - bool(tiers))
        told = replace(found, tiers=()) if found and kept <= len(shown) else found
        cut = f"{parts - kept} of the projects, tiers and files by token_budget {token_budget}; filter them"
        evidence = envelope.evidence(notes=(note, sent, *marked, *places), withheld=(cut,) if kept < parts else ())
        rest = max(0, left - len(partial))
        return StatusAnswer("status", shown[:kept], files[:rest], evidence, told, partial[:left])

    sizes = (len(each.path) + len(each.reason) for each in files)
    return await fit_aside(atlas, token_budget, build, parts - len(files) + can_fit(sizes, token_budget))


async def _marks(atlas: Atlas, own: ProjectStats | None) -> tuple[str, ...]:
    """Return notes on conflict markers in files and on stated contradictions; none for a project without an index."""
    if own is None:
        return ()
    marked = await _conflict_notes(atlas, own.project) if own.problems else ()
    if own.edges.get(EdgeType.CONTRADICTS) or own.edges.get(EdgeType.REFUTES):
        marked += await _contradictions(atlas, own.project)
    return marked


async def _conflict_notes(atlas: Atlas, project: str) -> tuple[str, ...]:
    manifest = await atlas.reader.store.manifest(project)
    marked = await conflicts(atlas.reader.store, project, manifest.values())
    return tuple(f"{path} {reason}" for path, reason in sorted(marked.items())[:MAX_CONFLICTS])


async def _contradictions(atlas: Atlas, project: str) -> tuple[str, ...]:
    """Return a note that counts the stated contradictions between notes that are both held to be true."""
    try:
        found = await atlas.reader.store.cypher(CONTRADICTIONS, {}, MAX_STATED, STATED_SECONDS, project)
    except AtlasError:
        return ()
    pairs = {tuple(sorted((str(one), str(other)))) for one, other in found.rows}
    if not pairs:
        return ()
    shown = "; ".join(f"{escaped(one)} and {escaped(other)}" for one, other in sorted(pairs)[:MAX_PAIRS])
    more = ", ..." if len(pairs) > MAX_PAIRS else ""
    return (
        f"{counted(len(pairs), 'stated contradiction')} between notes that are both held to be true: {shown}{more}",
    )


def _sent_note(atlas: Atlas) -> str:
    """Return the servers that code is sent to, "" if it stays on this machine."""
    embedders = (atlas.reader.embedder, atlas.reader.quality_embedder)
    servers = dict.fromkeys(each.place for each in embedders if each is not None and each.place)
    return f"code is sent to {' and '.join(servers)} for embedding" if servers else ""


async def _incomplete_files(
    atlas: Atlas, project: str, wanted: str
) -> tuple[tuple[SkippedFile, ...], tuple[PartialFile, ...]]:
    """Return the skipped and the partially read files of a project. Raises NotFound as `_check_filter` does."""
    listed = await atlas.reader.store.skipped(project)
    files = await aside(len(listed) > _FEW, _skipped_files, listed, wanted)
    partial = await _partial_files(atlas, project, wanted)
    if wanted and not files and not partial:
        await _check_filter(atlas, project, wanted, listed)
    return files, partial


async def _check_filter(atlas: Atlas, project: str, wanted: str, listed: Sequence[Skipped]) -> None:
    """Raise NotFound for a filter that is neither a reason in use nor matches any file, skipped or indexed."""
    reasons = sorted({PARTIAL, SECRET, *(each.reason for each in listed)})
    manifest = await atlas.reader.store.manifest(project)
    if wanted not in reasons and not await aside(len(manifest) > _FEW, _any_wanted, tuple(manifest), wanted):
        raise NotFound(
            f"no file is skipped for the reason `{wanted}`, and no path begins with it or matches it",
            f"Reasons here: {', '.join(reasons)}.",
            difflib.get_close_matches(wanted, reasons, 3),
        )


def _any_wanted(paths: Sequence[str], wanted: str) -> bool:
    return any(_wanted(path, "", wanted) for path in paths)


def _skipped_files(listed: Sequence[Skipped], wanted: str) -> tuple[SkippedFile, ...]:
    return tuple(SkippedFile(each.path, each.reason) for each in listed if _wanted(each.path, each.reason, wanted))


async def _partial_files(atlas: Atlas, project: str, wanted: str) -> tuple[PartialFile, ...]:
    manifest = await atlas.reader.store.manifest(project)
    return tuple(
        _partial_file(record)
        for path, record in sorted(manifest.items())
        if record.problems and (_wanted(path, PARTIAL, wanted) or (wanted == SECRET and secrets_of(record.problems)))
    )


def _partial_file(record: FileRecord) -> PartialFile:
    """Describe a file by its masked secrets if it has any, else by its first problem."""
    shown = secrets_of(record.problems)[:MAX_SECRETS] or record.problems[:1]
    return PartialFile(record.path, "; ".join(shown), len(record.problems), len(shown))


def _described(model: ModelInfo | None) -> str:
    return f"{model.provider} {model.model} {model.dimension}" if model else ""


def _wanted(path: str, reason: str, wanted: str) -> bool:
    return not wanted or reason == wanted or path.startswith(wanted) or fnmatchcase(path, wanted)


def _project_status(stats: ProjectStats, newer: NewerFiles | None, forms: Mapping[str, str]) -> ProjectStatus:
    def of_form(form: str) -> int:
        return sum(count for language, count in stats.languages.items() if forms.get(language) == form)

    return ProjectStatus(
        project=stats.project,
        root=stats.root,
        generation=stats.generation,
        indexed_at=stats.indexed_at,
        files=stats.files,
        nodes=sum(stats.nodes.values()),
        edges=sum(stats.edges.values()),
        resolved=stats.resolved,
        unresolved=stats.unresolved,
        chunks=stats.chunks,
        vectors=stats.vectors,
        model=_described(stats.model()),
        documents_model=_described(stats.model(DOCUMENTS)),
        prose_model=_described(stats.model(PROSE)),
        quality_model=_described(stats.model(QUALITY)),
        quality_chunks=stats.quality_chunks if stats.model(QUALITY) else 0,
        quality_vectors=stats.quality_vectors,
        problems=stats.problems,
        bytes_on_disk=stats.bytes_on_disk,
        began_from=stats.began_from,
        labels=_counts(stats.nodes),
        languages=_counts(stats.languages),
        skipped=_counts(stats.skipped),
        symbols=sum(stats.nodes.get(label, 0) for label in SYMBOLS),
        stale_files=stats.stale_files if newer is None else len(newer.paths),
        new_files=len(newer.new) if newer else 0,
        changed_files=len(newer.changed) if newer else 0,
        deleted_files=len(newer.deleted) if newer else 0,
        stale_symbols=max(stats.chunks - stats.vectors, 0),
        decisions=_counts(stats.decisions),
        documents=of_form("document"),
        text_files=of_form("text") + of_form("source"),
    )


def _counts(counts: Mapping[str, int]) -> tuple[SchemaEntry, ...]:
    return tuple(SchemaEntry(name, "", counts[name]) for name in sorted(counts, key=lambda key: (-counts[key], key)))
