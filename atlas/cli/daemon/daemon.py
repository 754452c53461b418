"""`atlas daemon start|stop|restart|status|logs|install`: the process that keeps indexes current while files change."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from atlas import __version__
from atlas.cli import output
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, settings_of
from atlas.cli.run import run
from atlas.core.errors import AtlasError, ConfigError, NotFound
from atlas.core.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from atlas.app.session_host import SessionHost
    from atlas.runtime.config.load import Settings
    from atlas.runtime.process.daemon import RunningDaemon, ServedSession, ServingDaemon
    from atlas.server.sessions import Inherited

START_SECONDS = 60.0
AWAY = " (away: watched again once it is back)"

READY_SECONDS = 2.0
"""Seconds to wait for an index to become current; a longer first index continues in the daemon."""

Roots = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ROOT]...", help="Project folders that share one index; as --project.", show_default=False),
]
Systemd = Annotated[bool, typer.Option("--systemd", help="A systemd user unit.")]
Launchd = Annotated[bool, typer.Option("--launchd", help="A launchd agent.")]


def register(app: typer.Typer) -> None:
    """Add the command family."""
    family = typer.Typer(help="The background process that keeps the index current.", no_args_is_help=True)
    for command in (start, stop, restart, status, logs, install):
        family.command(command.__name__)(command)
    app.add_typer(family, name="daemon")


def start(
    roots: Roots = None,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay in the foreground and log to standard error, too.")
    ] = False,
    detached: Annotated[bool, typer.Option("--detached", hidden=True, help="Log to the file only.")] = False,
    for_sessions: Annotated[
        int | None, typer.Option("--for-sessions", hidden=True, help="Serve sessions; they say when to watch.")
    ] = None,
    resumed: Annotated[str, typer.Option("--resumed", hidden=True, help="Go on after a rest with these files.")] = "",
    away: Annotated[
        list[Path] | None, typer.Option("--away", hidden=True, help="Watch this root, too, once it is there.")
    ] = None,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Watch these projects and keep their index current; returns once they are. The first project's settings apply."""
    missing: list[Path] = []
    if resumed or away:  # a tree that is away does not keep the others waiting
        roots, missing = _divided([*(roots or ()), *map(str, away or ())])
    all_settings = _all_settings(roots, project, data_dir)
    if for_sessions is not None:
        from atlas.app.session_host import SessionHost
        from atlas.server.sessions import Inherited

        host = SessionHost(all_settings[0].data_dir, for_sessions=True)
        _serve_sessions(all_settings, Inherited(for_sessions), host)
    if foreground:
        running = _watch(all_settings, resumed, missing, echo=not detached)
        if running is not None:
            _already(running, all_settings, explicit=bool(roots), as_json=json)
        return
    from atlas.runtime.process.daemon import find_running, find_serving, keep_serving, stop_serving

    data_folder = all_settings[0].data_dir
    running = find_running(data_folder)
    if running is not None:
        keep_serving(data_folder)
        _warn_of_version(find_serving(data_folder))
        _already(running, all_settings, explicit=bool(roots), as_json=json)
    else:
        if (serving := find_serving(data_folder)) is not None:
            stop_serving(data_folder, serving)  # it watches nothing yet; its sessions find the new one
        _start(all_settings, data_dir, as_json=json)


def stop(project: ProjectOption = "", data_dir: DataDirOption = "", json: JsonOption = False) -> None:
    """Stop the daemon after the current batch; queued work continues after the next start."""
    settings = settings_of(project, data_dir)
    stopped, killed, left = _stop(settings)
    if json:
        output.print_json({"stopped": stopped is not None, "pid": stopped.pid if stopped else 0, "killed": killed})
        return
    if stopped is None:
        print(f"not running (data folder {settings.data_dir})")
    else:
        print(f"{'killed' if killed else 'stopped'}: process {stopped.pid}")
    if left:
        print("ended a bus server that a killed daemon had left")


def restart(
    roots: Roots = None, project: ProjectOption = "", data_dir: DataDirOption = "", json: JsonOption = False
) -> None:
    """Restart the daemon, with its previous roots unless others are given."""
    from atlas.runtime.process.daemon import find_running

    all_settings = _all_settings(roots, project, data_dir)
    running, away = find_running(all_settings[0].data_dir), list[Path]()
    if running is not None and running.roots and not roots:
        data_dir = str(all_settings[0].data_dir)
        roots, away = _divided(running.roots)
        all_settings = _all_settings(roots, "", data_dir)
    _stop(all_settings[0])
    _start(all_settings, data_dir, away, as_json=json)


def status(project: ProjectOption = "", data_dir: DataDirOption = "", json: JsonOption = False) -> None:
    """Show whether the daemon runs, and its state; exits with 3 when it does not. More: atlas status."""
    from atlas.runtime.process.daemon import RunningDaemon, find_running, find_serving, is_resting
    from atlas.runtime.process.memory import resident_of

    settings = settings_of(project, data_dir)
    running, serving = find_running(settings.data_dir), find_serving(settings.data_dir)
    if running is None and serving is not None:
        running = RunningDaemon(serving.pid, serving.since, phase="serving")
    if running is None:
        if json:
            output.print_json({"running": False, "data_dir": str(settings.data_dir)})
        else:
            print(f"not running (data folder {settings.data_dir})")
        raise typer.Exit(NotFound.exit_code)
    _warn_of_version(serving)
    told = {"resident_bytes": resident_of(running.pid)} if is_resting(running) else run(_told(settings))
    document = _described(running, settings.data_dir) | {
        "resident_bytes": told.get("resident_bytes", 0),
        "projects": told.get("projects", []),
        "stays": running.stays if serving is None else serving.stays,
        "sessions": [] if serving is None else [_session(one) for one in serving.sessions],
    }
    if json:
        output.print_json({"running": True} | document)
    else:
        _print_status(document)


def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, metavar="N", help="Number of last lines.")] = 20,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow the log until Ctrl-C.")] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: Annotated[bool, typer.Option("--json", help="Print the raw lines, one JSON document each.")] = False,
) -> None:
    """Show the daemon's log."""
    import json as jsonlib

    from atlas.runtime.process.log import read_log, readable

    for line in read_log(settings_of(project, data_dir).data_dir, lines, follow=follow):
        try:
            text = line if json else readable(jsonlib.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError):
            text = line
        print(output.plain(text), flush=follow)


def install(
    roots: Roots = None,
    print_: Annotated[bool, typer.Option("--print", help="Print the file on standard output.")] = False,
    systemd: Systemd = False,
    launchd: Launchd = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
) -> None:
    """Print a service file that starts the daemon at login: a systemd user unit or a launchd agent."""
    from atlas.app.daemon_process import daemon_command
    from atlas.cli.daemon import service_files

    if systemd and launchd:
        raise ConfigError("both --systemd and --launchd are given", "Give one of them.")
    all_settings = _all_settings(roots, project, data_dir)
    kind = (
        service_files.launchd_unit
        if launchd or (sys.platform == "darwin" and not systemd)
        else service_files.systemd_unit
    )
    unit = kind(all_settings[0].project_name, daemon_command(all_settings, data_dir))
    if not print_:
        raise ConfigError(
            "atlas does not edit your files; it only prints what to save where",
            f"Run `atlas daemon install --print` and save it as {unit.place}.",
        )
    print(unit.text)
    print(f"save it as {unit.place}, then run:", *unit.commands, sep="\n  ", file=sys.stderr)
    variables = sorted(name for name in os.environ if name.startswith("ATLAS_") and name != "ATLAS_DEBUG")
    if variables:
        print(f"set here, but not in the file: {', '.join(variables)}", file=sys.stderr)


def _divided(roots: Sequence[str]) -> tuple[list[str], list[Path]]:
    """Return the roots whose folders are there, and those that are away; all of them if none is there."""
    there = [root for root in roots if Path(root).is_dir()]
    return (there, [Path(root) for root in roots if root not in there]) if there else (list(roots), [])


def _all_settings(roots: Sequence[str] | None, project: str, data_dir: str) -> list[Settings]:
    """Return the settings of every root; all share the first one's data folder. Raises ConfigError."""
    if roots and project:
        raise ConfigError("both ROOT and --project are given", "Give one of them.")
    first = settings_of(roots[0] if roots else project, data_dir)
    found = {first.root: first}
    for root in roots or ():
        settings = settings_of(root, str(first.data_dir))
        found.setdefault(settings.root, settings)
    names: dict[str, Settings] = {}
    for settings in found.values():
        other = names.setdefault(settings.project_name, settings)
        if other is not settings:
            raise ConfigError(
                f"two projects are named {settings.project_name}: {other.root} and {settings.root}",
                'Give one of them another name in its atlas.toml: [project] name = "..."',
            )
    return list(found.values())


def _watch(all_settings: Sequence[Settings], resumed: str, away: Sequence[Path], *, echo: bool) -> RunningDaemon | None:
    """Watch these projects and serve their sessions; return as `run_foreground`.

    `resumed`: what a process that has rested holds, as JSON; "" for a new one. `away`: roots to watch when they are
    there.
    """
    from json import loads

    from atlas.app.daemon_main import run_foreground
    from atlas.app.session_host import SessionHost
    from atlas.server.sessions import Inherited, serving

    first, held = all_settings[0], loads(resumed or "null")
    if held is None:
        host, inherited = SessionHost(first.data_dir, all_settings, away=away), Inherited()
    else:
        from atlas.runtime.process.resting import take_signals

        inherited = Inherited(held["serving"], held["listening"], held["leaves_at"])
        for_sessions = inherited.leaves_at is not None
        host = SessionHost(first.data_dir, all_settings, for_sessions=for_sessions, away=away)
        host.inherited_lock = held["lock"]
        take_signals(lambda number, frame: host.leave())
    if host.for_sessions:
        _serve_sessions(all_settings, inherited, host)
    with serving(first, host, inherited):
        return run_foreground(all_settings, echo=echo, host=host)


def _serve_sessions(all_settings: Sequence[Settings], inherited: Inherited, host: SessionHost) -> NoReturn:
    """Serve sessions and watch what they ask for, and what the host watches already, then exit."""
    from atlas.app.daemon_main import run_for_sessions
    from atlas.server.sessions import serving

    with serving(all_settings[0], host, inherited):
        run_for_sessions(host)
    # a thread may still wait for a disk or a query
    os._exit(0)


def _warn_of_version(serving: ServingDaemon | None) -> None:
    """Say that a daemon of another version keeps the index and answers nobody."""
    if serving is not None and serving.version != __version__:
        print(
            f"warning: the daemon is Code Atlas {serving.version} and this is {__version__}: to update it, run"
            " `atlas daemon restart`",
            file=sys.stderr,
        )


def _already(running: RunningDaemon, all_settings: Sequence[Settings], *, explicit: bool, as_json: bool) -> None:
    """Report a running daemon; raise AtlasError if it does not serve the requested projects."""
    asked = {str(settings.root) for settings in all_settings}
    if asked - set(running.roots) or (explicit and asked != set(running.roots)):
        raise AtlasError(
            f"the daemon (process {running.pid}) of this data folder serves {', '.join(running.roots)}",
            f"to change that: atlas daemon restart {' '.join(sorted(asked))} --data-dir {all_settings[0].data_dir}",
        )
    _print_started(running, all_settings[0].data_dir, started=False, as_json=as_json)


def _start(all_settings: Sequence[Settings], data_dir: str, away: Sequence[Path] = (), *, as_json: bool) -> None:
    from atlas.app.daemon_process import launch_daemon
    from atlas.runtime.process.daemon import wait_until_working

    first = all_settings[0]
    process, printed = launch_daemon(all_settings, data_dir, away=away)
    running = wait_until_working(first.data_dir, process, printed, START_SECONDS, READY_SECONDS, _say)
    _print_started(running, first.data_dir, started=running.pid == process.pid, as_json=as_json)


def _stop(settings: Settings) -> tuple[RunningDaemon | None, bool, bool]:
    """Return the stopped daemon, whether it had to be killed, and whether an orphaned bus server was stopped."""
    from atlas.app.daemon import stop_orphaned_server
    from atlas.runtime.process import daemon
    from atlas.runtime.process.daemon import RunningDaemon

    serving = daemon.find_serving(settings.data_dir)
    stopped = daemon.stop(settings.data_dir, _say)
    if serving is not None and (stopped is None or stopped[0].pid != serving.pid):
        daemon.stop_serving(settings.data_dir, serving)
        stopped = stopped or (RunningDaemon(serving.pid, serving.since), False)
    killed = stopped is not None and stopped[1]
    left = stop_orphaned_server(settings.data_dir) if stopped is None or killed else False
    return stopped[0] if stopped else None, killed, left


async def _told(settings: Settings) -> dict[str, Any]:
    """Return the state that the daemon reports on its bus, empty if it does not."""
    from atlas.app.bus import connect_bus_of_running_daemon
    from atlas.code.index.daemon_client import read_state

    try:
        bus = await connect_bus_of_running_daemon(settings)
        if bus is None:
            return {}
        try:
            return await read_state(bus) or {}
        finally:
            await bus.aclose()
    except AtlasError as error:
        _say(error.message)
        return {}


def _described(running: RunningDaemon, data_dir: Path) -> dict[str, Any]:
    from atlas.runtime.process.log import FILE, log_folder

    return {
        "pid": running.pid,
        "since": _moment(running.since),
        "phase": running.phase,
        "detail": running.detail,
        "roots": list(running.roots),
        "away": [root for root in running.roots if not Path(root).is_dir()],
        "bus": running.bus,
        "data_dir": str(data_dir),
        "log": str(log_folder(data_dir) / FILE),
    }


def _session(one: ServedSession) -> dict[str, str]:
    return {"client": one.client, "project": one.project, "since": _moment(one.since)}


def _print_started(running: RunningDaemon, data_dir: Path, *, started: bool, as_json: bool) -> None:
    document = _described(running, data_dir)
    if as_json:
        output.print_json({"started": started} | document)
        return
    print(f"{'started' if started else 'already running'}: process {running.pid}")
    _print_places(document)
    print(_phase(document))


def _print_status(document: Mapping[str, Any]) -> None:
    print(f"running: process {document['pid']} since {document['since']}, {document['resident_bytes'] >> 20} MB")
    _print_places(document)
    for one in document["projects"]:
        state = "ready" if one["ready"] else "not ready"
        watch = one["watch"] + (f" ({one['watch_reason']})" if one["watch_reason"] else "")
        print(f"{one['project']}: {state}, {counted(one['files'], 'file', ',')}, {one['stale_files']:,} stale, {watch}")
    _print_sessions(document)
    print(_phase(document))


def _print_sessions(document: Mapping[str, Any]) -> None:
    sessions = document["sessions"]
    users = Counter((one["client"] or "a client without a name", one["project"]) for one in sessions)
    shown = [f"{client} ({project}){f' x {count}' if count > 1 else ''}" for (client, project), count in users.items()]
    print("sessions", f"{len(sessions)}{': ' if shown else ''}{', '.join(map(output.one_line, shown))}")
    if not document["stays"]:
        print("         a session has started it; it ends some time after the last one (daemon.idle_seconds)")


def _print_places(document: Mapping[str, Any]) -> None:
    roots = [output.one_line(root) + (AWAY if root in document["away"] else "") for root in document["roots"]]
    print("roots   ", "\n         ".join(roots))
    print("bus     ", document["bus"] or "its own server")
    print("data    ", output.one_line(document["data_dir"]))
    print("log     ", output.one_line(document["log"]))


def _phase(document: Mapping[str, Any]) -> str:
    phase, detail = document["phase"], document["detail"]
    if phase == "serving":
        return "serving sessions; the first question begins to watch"
    if phase == "resting":
        return "resting: the next change or question brings it back (daemon.rest_seconds)"
    if phase == "ready":
        return f"ready{f': {detail}' if detail else ''}"
    return f"{phase}{f' {detail}' if detail else ''}, see: atlas status --watch"


def _moment(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _say(text: str) -> None:
    print(output.one_line(text), file=sys.stderr, flush=True)
