"""The answer of status: projects, files that are not indexed whole, and the daemon; as lines of text and as values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from atlas.answers.answer import Answer, to_dict
from atlas.answers.evidence import Evidence, Structure, index_state, without_empty
from atlas.code.tools.cypher_answers import SchemaEntry
from atlas.code.tools.state.daemon import DaemonStatus, TierStatus, WatchStatus, WorkerStatus
from atlas.core.wording import counted, counts

LETTERS = "atlas dead-letters list"

SILENT = 4.0
"""Seconds. A worker reports every second; one that is silent for longer stays listed for some more seconds."""


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    """The counts of one project."""

    project: str
    root: str
    generation: int
    indexed_at: str
    files: int
    nodes: int
    edges: int
    resolved: int
    unresolved: int
    """References that no rule could resolve. They stay unknown; no target is guessed."""
    chunks: int
    vectors: int
    model: str
    problems: int
    """Files that could only be read in part."""
    bytes_on_disk: int
    labels: tuple[SchemaEntry, ...]
    languages: tuple[SchemaEntry, ...]
    skipped: tuple[SchemaEntry, ...]
    """Skipped files by reason."""
    began_from: str = ""
    """What the index was copied from when it was made: a tree, or a published commit; "" if it was made from files."""
    documents_model: str = ""
    """Model of the vectors of documents; "" if there are none."""
    prose_model: str = ""
    """Model of the vectors of notes; "" if there are none."""
    quality_model: str = ""
    """Sentence transformer of the second vectors; "" if there are none."""
    quality_chunks: int = 0
    """Texts that it embeds; 0 if there is no such vector yet."""
    quality_vectors: int = 0
    symbols: int = 0
    """Nodes that are definitions: classes, functions, methods, values."""
    stale_files: int = 0
    """Files that differ from the index: those of the next three counts, or those that the store knows of."""
    new_files: int = 0
    changed_files: int = 0
    deleted_files: int = 0
    stale_symbols: int = 0
    """Texts whose vector is missing or was computed from an older text."""
    decisions: tuple[SchemaEntry, ...] = ()
    """Changed symbols so far, by the reason of the significance gate's decision."""
    documents: int = 0
    """Files that are documents; the others are parsed, or indexed as windows of lines."""
    text_files: int = 0
    """Files without definitions, indexed as windows of lines."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not indexed, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class PartialFile:
    """An indexed file that could only be read in part."""

    path: str
    problem: str
    """The first problem, as `line: code: message`; if secrets are masked, the first of those, separated by `; `."""
    problems: int
    """Total number of problems."""
    shown: int = 1
    """Number of problems in `problem`."""


@dataclass(frozen=True, slots=True)
class StatusAnswer(Answer):
    """Answer of status."""

    tool: str
    projects: tuple[ProjectStatus, ...]
    skipped_files: tuple[SkippedFile, ...]
    evidence: Evidence
    daemon: DaemonStatus | None = None
    """None if the daemon's state was not requested."""
    partial_files: tuple[PartialFile, ...] = ()
    """Unlike `skipped_files` these are indexed, but both are listed together."""

    def lines(self) -> Iterable[str]:
        """Yield the text."""
        return status_lines(self)

    def content(self) -> Structure:
        """Return daemon, projects, tiers and files."""
        watched = {watch.project: watch_line(watch) for watch in self.daemon.projects} if self.daemon else {}
        return without_empty(
            {
                "daemon": _daemon(self.daemon) if self.daemon else {},
                "projects": [_project(project, watched.get(project.project, "")) for project in self.projects],
                "tiers": [_tier(tier) for tier in self.daemon.tiers] if self.daemon else [],
                "partial_files": {each.path: problem_line(each) for each in self.partial_files},
                "skipped_files": {skip.path: skip.reason for skip in self.skipped_files},
            }
        )


def status_lines(answer: StatusAnswer) -> Iterator[str]:
    """Yield the daemon, each project's counts, the tiers and workers, then partially read and skipped files."""
    daemon = answer.daemon
    if daemon is not None:
        yield daemon_line(daemon)
    if not answer.projects:
        yield "nothing is indexed yet"
    watched = {watch.project: watch for watch in daemon.projects} if daemon else {}
    for project in answer.projects:
        yield from project_lines(project, watched.get(project.project))
    if daemon is not None:
        yield from tier_lines(daemon.tiers)
        yield from worker_lines(daemon.workers)
    for partial in answer.partial_files:
        yield f"partially read {partial.path}: {problem_line(partial)}"
    for skipped in answer.skipped_files:
        yield f"skipped {skipped.path}: {skipped.reason}"


def daemon_line(daemon: DaemonStatus) -> str:
    """Return `daemon running, idle (pid 7 since ..., 180 MB, version 0.1.0)`, or the problem and its fix."""
    there = daemon.pid > 0 and daemon.state != "gone"
    facts = [
        f"pid {daemon.pid} since {daemon.started_at}" if there else "",
        megabytes(daemon.resident_bytes) if daemon.resident_bytes else "",
        f"version {daemon.version}" if daemon.version else "",
    ]
    known = ", ".join(fact for fact in facts if fact)
    fix = f" -> {daemon.fix}" if daemon.fix else ""
    return f"daemon {daemon.detail}{f' ({known})' if known else ''}{fix}"


def project_lines(project: ProjectStatus, watch: WatchStatus | None) -> Iterator[str]:
    """Yield the counts of one project."""
    yield f"project {project.project} at {project.root}"
    yield f"  generation {project.generation}, {index_state(project.generation, project.indexed_at)}"
    if watch is not None:
        yield f"  {watch_line(watch)}"
    graph = counts((project.symbols, "symbol"), (project.nodes, "node"), (project.edges, "edge"))
    parsed = project.files - project.documents - project.text_files
    forms = ((parsed, "parsed"), (project.documents, "documents"), (project.text_files, "as text"))
    shown = ", ".join(f"{count} {form}" for count, form in forms if count)
    forms_line = f" ({shown})" if parsed < project.files else ""
    yield f"  {counted(project.files, 'file')}{forms_line}, {graph}"
    if project.began_from:
        yield f"  began from the index of {project.began_from}"
    yield f"  stale: {stale_line(project)}"
    if project.bytes_on_disk:  # unknown for server stores
        yield f"  {counted(project.bytes_on_disk, 'byte')} on disk"
    yield f"  references: {project.resolved} resolved, {project.unresolved} unresolved"
    made_by = dict.fromkeys((project.model, project.documents_model, project.prose_model))
    models = "".join(f", {model}" for model in made_by if model)
    yield f"  vectors: {project.vectors} of {project.chunks} up to date{models}"
    if project.quality_model:
        share = f"{project.quality_vectors} of {project.quality_chunks}"
        yield f"  vectors of the sentence transformer: {share} up to date, {project.quality_model}"
    for title, entries in (
        ("nodes", project.labels),
        ("languages", project.languages),
        ("skipped", project.skipped),
        ("changes by reason", project.decisions),
    ):
        if entries:
            yield f"  {title}: {named_counts(entries)}"
    if project.problems:
        yield f"  only partially read: {counted(project.problems, 'file')} (status with skipped lists them)"


def problem_line(partial: PartialFile) -> str:
    """Return the problem of a partially read file, `line: code: message`, and the number of further ones."""
    more = partial.problems - partial.shown
    return f"{partial.problem} (and {more} more)" if more else partial.problem


def stale_line(project: ProjectStatus) -> str:
    """Return how many files and symbols of a project are known to be outdated."""
    counts = ((project.new_files, "new"), (project.changed_files, "changed"), (project.deleted_files, "deleted"))
    kinds = ", ".join(f"{count} {kind}" for count, kind in counts if count)
    files = f"{counted(project.stale_files, 'file')}{f' ({kinds})' if kinds else ''}"
    return f"{files}, {counted(project.stale_symbols, 'symbol')} without an up-to-date vector"


def watch_line(watch: WatchStatus) -> str:
    """Return how a project is watched."""
    if not watch.looked_at:
        return "not scanned yet"
    looked = f"last full scan {watch.looked_at} in {seconds(watch.look_seconds)}"
    folders = counted(watch.folders, "folder")
    how = f"watching {folders}" if watch.mode == "watching" else f"{watch.mode}: {watch.reason}"
    return f"{how}; {looked}" if watch.ready else f"starting; {looked}"


def tier_lines(tiers: Iterable[TierStatus]) -> Iterator[str]:
    """Yield each tier's position in its stream and its work, and the command that handles dead letters."""
    dead = 0
    for tier in tiers:
        dead += tier.dead
        work = f"; {work_line(tier)}" if tier.told else ""
        yield f"tier {tier.tier} of {tier.stream}: {stream_line(tier)}{work}"
        if tier.waits_for:
            yield f"  waits for: {tier.waits_for}"
        if tier.errors:
            yield f"  {counted(tier.errors, 'error')}, the last: {tier.last_error}"
    if dead:
        yield f"{counted(dead, 'dead letter')} -> {LETTERS}"


def worker_lines(workers: Iterable[WorkerStatus]) -> Iterator[str]:
    """Yield the activity of each worker process on shared servers."""
    for worker in workers:
        work = [
            f"leads {', '.join(worker.keeps)}" if worker.keeps else "",
            f"standby for {', '.join(worker.stands_by)}" if worker.stands_by else "",
            f"embeds ({worker.embedded} so far)" if worker.embeds else "",
            f"waits for {worker.waits_for}" if worker.waits_for else "",
            f"silent for {seconds(worker.told_ago)}: killed, paused or disconnected?"
            if worker.told_ago > SILENT
            else "",
        ]
        yield f"worker {worker.worker} ({megabytes(worker.resident_bytes)}): {'; '.join(filter(None, work))}"


def stream_line(tier: TierStatus) -> str:
    """Return the position of the tier's group in the stream."""
    return f"length {tier.length}, {tier.waiting} waiting, {tier.pending} pending, {tier.dead} dead"


def work_line(tier: TierStatus) -> str:
    """Return the work counters of the tier."""
    busy = "busy, " if tier.busy else ""
    return f"{busy}{tier.rate:.3g} events/s, {counted(tier.events, 'event')} so far, {last_batch(tier)}"


def last_batch(tier: TierStatus) -> str:
    """Return size, duration and age of the last batch."""
    if tier.last_ago < 0:
        return "no batch yet"
    return f"last batch {tier.last_events} in {seconds(tier.last_seconds)}, {ago(tier.last_ago)}"


def named_counts(entries: Iterable[SchemaEntry], spec: str = "") -> str:
    """Return `name count, name count`; `spec` is the format specification of the counts."""
    return ", ".join(f"{entry.name} {entry.count:{spec}}" for entry in entries)


def seconds(value: float) -> str:
    """Return a duration in milliseconds or seconds."""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def ago(value: float) -> str:
    """Return an age in the largest unit that gives at least 2."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if value >= 2 * size:
            return f"{value / size:.0f} {unit} ago"
    return f"{value:.0f} s ago"


def megabytes(size: int) -> str:
    """Return a size in MB of 2**20 bytes."""
    return f"{size / 2**20:.0f} MB"


def _project(project: ProjectStatus, watch: str) -> Structure:
    body = to_dict(project)
    assert isinstance(body, dict)
    tables = {
        "labels": project.labels,
        "languages": project.languages,
        "skipped": project.skipped,
        "decisions": project.decisions,
    }
    return without_empty({**body, **{name: _counts(entries) for name, entries in tables.items()}, "watch": watch})


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
    return without_empty(body)


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
    return without_empty(body)


def _counts(entries: Iterable[SchemaEntry]) -> dict[str, int]:
    return {entry.name: entry.count for entry in entries}


_COUNTS = ("files", "nodes", "edges", "resolved", "unresolved", "chunks", "vectors", "problems", "generation")


def status_samples(answer: StatusAnswer) -> Iterable[tuple[str, Mapping[str, str], float]]:
    """Yield (name, labels, value) of the counts of an answer, for Prometheus."""
    for project in answer.projects:
        named = {"project": project.project}
        for name in (
            "files",
            "nodes",
            "edges",
            "resolved",
            "unresolved",
            "chunks",
            "vectors",
            "problems",
            "generation",
        ):
            yield f"atlas_index_{name}", named, getattr(project, name)
        yield "atlas_index_bytes", named, project.bytes_on_disk
        for label in project.labels:
            yield "atlas_index_label_nodes", {**named, "label": label.name}, max(label.count, 0)
    if answer.daemon is None:
        return
    yield "atlas_daemon_up", {}, float(answer.daemon.state == "running")
    yield "atlas_daemon_resident_bytes", {}, answer.daemon.resident_bytes
    for tier in answer.daemon.tiers:
        named = {"tier": tier.tier}
        for name in ("waiting", "pending", "dead"):
            yield f"atlas_tier_{name}", named, getattr(tier, name)
        if tier.told:
            yield "atlas_tier_events_total", named, tier.events
            yield "atlas_tier_errors_total", named, tier.errors
