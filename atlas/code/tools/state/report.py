"""Format the status of projects and daemon as lines of text for agents, pipes and logs. Stable and short."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from atlas.code.tools.answers import PartialFile, ProjectStatus, SchemaEntry, StatusAnswer, index_state
from atlas.code.tools.state.daemon import DaemonStatus, TierStatus, WatchStatus, WorkerStatus
from atlas.core.wording import counted, counts

LETTERS = "atlas dead-letters list"

SILENT = 4.0
"""Seconds. A worker reports every second; one that is silent for longer stays listed for some more seconds."""


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
