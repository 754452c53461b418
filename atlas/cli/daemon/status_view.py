"""The status on a terminal: the daemon, its tiers with a sparkline of their work, and the projects."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from atlas.answers.answer import Answer
from atlas.answers.evidence import index_state
from atlas.cli import output
from atlas.code.tools.state.daemon import DaemonStatus, TierStatus, WatchStatus
from atlas.code.tools.state.report import (
    LETTERS,
    ProjectStatus,
    StatusAnswer,
    ago,
    daemon_line,
    last_batch,
    named_counts,
    problem_line,
    stale_line,
    status_samples,
    watch_line,
)
from atlas.core.wording import counted
from atlas.runtime.process.metrics import prometheus_text

DAEMON_STYLES = {"running": "green", "starting": "yellow", "off": "yellow", "gone": "red", "stuck": "red"}
CURVE = "▁▂▃▄▅▆▇█"
PLAIN_CURVE = "_.:-=+*#"
"""For terminals limited to ASCII."""
CURVE_LENGTH = 30
WIDE, VERY_WIDE = 120, 140
"""Terminal width from which the live view names the streams and draws full-length sparklines."""
LEFT = frozenset(("tier", "stream", "", "last batch", "project", "by"))
"""Columns for words."""
SAME_STATE_SECONDS = 0.3
"""The daemon reports its state every second: two states closer than this are one state, read twice."""


class Rates:
    """Events per second of each tier between two states of a daemon; the last `CURVE_LENGTH` form its sparkline."""

    def __init__(self) -> None:
        self._rates: dict[str, deque[float]] = {}
        self._seen: dict[str, tuple[int, float, int]] = {}
        """Tier -> process id of the daemon, time of its state, number of events then."""

    def take(self, daemon: DaemonStatus, now: float) -> None:
        """Add a state read at `now` (seconds of any clock); a known state adds nothing."""
        heartbeat_at = now - max(daemon.told_ago, 0.0)
        for tier in daemon.tiers:
            rates = self._rates.setdefault(tier.tier, deque(maxlen=CURVE_LENGTH))
            pid, seen_at, events = self._seen.get(tier.tier, (0, 0.0, 0))
            if pid == daemon.pid and heartbeat_at - seen_at < SAME_STATE_SECONDS:
                continue
            if pid == daemon.pid:
                rates.append(max(tier.events - events, 0) / (heartbeat_at - seen_at))
            self._seen[tier.tier] = (daemon.pid, heartbeat_at, tier.events)

    def curve(self, tier: str, signs: str = CURVE) -> str:
        """Return one character per state, the newest last, scaled to the highest visible value."""
        rates = self._rates.get(tier, ())
        top = max(rates, default=0.0)
        levels = (0 if rate == 0 else 1 + round((len(signs) - 2) * rate / top) for rate in rates)
        return "".join(signs[level] for level in levels)


def status_parts(answer: StatusAnswer) -> Iterator[RenderableType]:
    """Yield the lines of `atlas status`."""
    daemon = answer.daemon
    if daemon is not None:
        yield _daemon(daemon)
        if daemon.tiers:
            yield Text()
            yield tier_table(daemon.tiers, WIDE)
            yield from _troubles(daemon)
        yield Text()
    if not answer.projects:
        yield Text("nothing is indexed yet", "yellow")
    watched = _watched(daemon)
    for project in answer.projects:
        rows = _project_rows(project, watched.get(project.project))
        yield output.table(("", ""), rows, title=f"{project.project} at {project.root}")
    if answer.partial_files:
        partly = ((partial.path, problem_line(partial)) for partial in answer.partial_files)
        yield output.table(("partially read", "problem"), partly)
    if answer.skipped_files:
        yield output.table(("skipped", "reason"), ((skip.path, skip.reason) for skip in answer.skipped_files))


def live_parts(
    answer: StatusAnswer, rates: Rates, clock: str, width: int, *, ascii_only: bool
) -> Iterator[RenderableType]:
    """Yield the lines of `atlas status --watch`: live values on few lines of `width` columns."""
    daemon = answer.daemon
    if daemon is not None:
        yield Text.assemble(f"{clock}  ", _daemon(daemon))
        if daemon.tiers:
            signs = PLAIN_CURVE if ascii_only else CURVE
            yield Text()
            yield tier_table(daemon.tiers, width, lambda tier: rates.curve(tier, signs))
            yield from _troubles(daemon)
    watched = _watched(daemon)
    if answer.projects:
        yield Text()
        yield _project_table(answer.projects, watched, width)
    for project in answer.projects:
        if project.decisions:
            yield _text(f"{project.project}: changes by reason: {named_counts(project.decisions, ',')}", "dim")
    for watch in watched.values():
        if watch.mode != "watching" and watch.ready:
            yield _text(f"{watch.project}: {watch_line(watch)}", "yellow")
    for note in answer.evidence.notes:
        yield _text(note, "yellow")


def tier_table(tiers: Sequence[TierStatus], width: int, curve: Callable[[str], str] | None = None) -> RenderableType:
    """Return one line per tier, with its `curve` if there is one; a narrow terminal omits the streams' names."""
    wide = width >= WIDE
    names = ["length", "waiting", "pending", "dead"] if wide else ["len", "wait", "pend", "dead"]
    columns = [
        "tier",
        *(["stream"] if wide else []),
        *names,
        "events/s",
        *([""] if curve else []),
        "last batch",
        "errors",
    ]
    rows: list[list[object]] = []
    for tier in tiers:
        row: list[object] = [tier.tier, *([tier.stream.removeprefix("atlas:")] if wide else [])]
        row += [tier.length, tier.waiting, tier.pending, tier.dead, f"{tier.rate:,.1f}" if tier.told else ""]
        if curve:
            length = CURVE_LENGTH if width >= VERY_WIDE else CURVE_LENGTH // (2 if wide else 3)
            row.append(curve(tier.tier)[-length:].rjust(length))
        row += [_batch(tier), tier.errors if tier.told else ""]
        rows.append(row)
    return _table(columns, rows, wide=wide)


def _batch(tier: TierStatus) -> str:
    if not tier.told:
        return ""
    return ("busy; " if tier.busy else "") + last_batch(tier).removeprefix("last batch ")


def _project_table(projects: Sequence[ProjectStatus], watched: Mapping[str, WatchStatus], width: int) -> RenderableType:
    columns = [
        "project",
        "files",
        "symbols",
        "edges",
        "stale\nfiles",
        "stale\nsymbols",
        "gen",
        "looked",
        "by",
    ]
    rows: list[list[object]] = []
    for project in projects:
        watch = watched.get(project.project)
        # The daemon's state is a second old; the counts may be older.
        stale = watch.stale_files if watch else project.stale_files
        row: list[object] = [project.project, project.files, project.symbols, project.edges, stale]
        row += [project.stale_symbols, project.generation, *_look(watch)]
        rows.append(row)
    return _table(columns, rows, wide=width >= WIDE)


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, wide: bool) -> Table:
    """Return a table whose cells stay on one line, so that it does not move between updates."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1) if wide else 0)
    for column in columns:
        right = column not in LEFT
        table.add_column(column, justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*(_text(output.cell_text(cell)) for cell in row))
    return table


def _look(watch: WatchStatus | None) -> tuple[str, str]:
    """Return the time of the last full scan and how changes are detected."""
    if watch is None:
        return "-", "nobody"
    return ago(watch.looked_ago) if watch.looked_ago >= 0 else "-", watch.mode if watch.ready else "not yet"


def _troubles(daemon: DaemonStatus) -> Iterator[Text]:
    for tier in daemon.tiers:
        if tier.waits_for:
            yield _text(f"{tier.tier} waits for: {tier.waits_for}", "yellow")
        if tier.errors and tier.last_error:
            yield _text(f"{tier.tier}: last error: {tier.last_error}", "yellow")
    dead = sum(tier.dead for tier in daemon.tiers)
    if dead:
        yield _text(f"{counted(dead, 'dead letter')}: {LETTERS}", "red")


def _project_rows(project: ProjectStatus, watch: WatchStatus | None) -> list[tuple[str, object]]:
    languages, labels = named_counts(project.languages, ","), named_counts(project.labels, ",")
    return [
        ("generation", f"{project.generation}, {index_state(project.generation, project.indexed_at)}"),
        *([("began from", project.began_from)] if project.began_from else []),
        *([("kept true", watch_line(watch))] if watch else []),
        ("files", f"{project.files:,} ({languages})"),
        ("symbols", f"{project.symbols:,}"),
        ("nodes", f"{project.nodes:,} ({labels})"),
        ("edges", f"{project.edges:,}"),
        ("stale", stale_line(project)),
        ("references", f"{project.resolved:,} resolved, {project.unresolved:,} unresolved"),
        ("vectors", f"{project.vectors:,} of {project.chunks:,} ({project.model or 'no model'})"),
        *([("second vectors", _second_vectors(project))] if project.quality_model else []),
        ("changes by reason", named_counts(project.decisions, ",") or "none"),
        ("partially read", counted(project.problems, "file", ",")),
        ("skipped", named_counts(project.skipped, ",") or "none"),
        ("on disk", f"{project.bytes_on_disk / 1e6:,.1f} MB" if project.bytes_on_disk else "on a server"),
    ]


def _second_vectors(project: ProjectStatus) -> str:
    return f"{project.quality_vectors:,} of {project.quality_chunks:,} ({project.quality_model})"


def _watched(daemon: DaemonStatus | None) -> dict[str, WatchStatus]:
    return {watch.project: watch for watch in daemon.projects} if daemon else {}


def _daemon(daemon: DaemonStatus) -> Text:
    return _text(daemon_line(daemon), DAEMON_STYLES[daemon.state])


def _text(text: str, style: str = "") -> Text:
    return Text(output.plain(text), style)


def metrics_of(answer: Answer) -> str:
    """Return the counts of a status as Prometheus reads them."""
    assert isinstance(answer, StatusAnswer)
    return prometheus_text(status_samples(answer))
