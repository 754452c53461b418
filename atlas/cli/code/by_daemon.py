"""`atlas index` and the commands that ask, by the daemon that runs: one line to its socket, two lines back.

Imports as little as `server.proxy`: the daemon reads the settings, and refuses what is not about an index of its own or
what it would answer otherwise than this process. Whatever else happens, the caller does the work itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from atlas.cli.requests import CURSOR_OPTION
from atlas.core.errors import ConfigError, NotFound, QueryError
from atlas.runtime.process import places, session_socket

TYPE_CHECKING = False  # `typing` takes as long as the rest
if TYPE_CHECKING:
    import socket
    from typing import Any

    from atlas.cli.requests import AskRequest

WELCOME_SECONDS = 20.0
"""The daemon says within this time whether it makes the pass."""
ANSWER_WELCOME_SECONDS, ANSWER_SECONDS = 2.0, 30.0
"""And within these whether it answers, and what: this process would have an answer of its own after them."""
_ERRORS = {kind.__name__: kind for kind in (ConfigError, NotFound, QueryError)}


def index_by_daemon(project: str, data_dir: str, *, as_json: bool) -> int | None:
    """Have the daemon make the pass, print its summary and return the exit code; None if it does not.

    The caller then makes the pass itself or says why there is none. Raises KeyboardInterrupt at SIGTERM, too.
    """
    said = _ask("index", project, data_dir, {}, (WELCOME_SECONDS, None))
    summary = said.get("summary") if said else None
    if summary is None:
        return None
    from atlas.cli.code.index_summary import print_summary

    return print_summary(summary, as_json=as_json)


def answer_by_daemon(project: str, data_dir: str, request: AskRequest, *, as_json: bool) -> int | None:
    """Have the daemon answer, print what this process would print and return the exit code; None if it does not.

    Not on a terminal, whose form this process makes. Raises AtlasError as the tool does.
    """
    if os.name != "posix" or sys.stdout.isatty() or os.environ.get("ATLAS_DEBUG", "0") not in ("", "0"):
        return None
    tool, arguments = request
    asked: dict[str, object] = {"tool": tool, "arguments": arguments, "json": as_json, "cursor": CURSOR_OPTION}
    said = _ask("answer", project, data_dir, asked, (ANSWER_WELCOME_SECONDS, ANSWER_SECONDS))
    if not said:
        return None
    if error := said.get("error"):
        raised = _ERRORS[error["kind"]](error["message"], error["hint"])
        vars(raised).update(error["more"])
        raise raised
    sys.stdout.write(said["text"])
    return said["code"]


def _ask(
    asks: str, project: str, data_dir: str, more: dict[str, object], seconds: tuple[float, float | None]
) -> dict[str, Any] | None:
    """Return what the daemon says after its welcome, None if there is none, it refuses, or it ends before.

    `seconds`: how long to wait for its first and for its second line.
    """
    try:
        here = os.getcwd()
        folder = places.data_folder_of(
            project or os.environ.get("ATLAS_PROJECT", ""), data_dir or os.environ.get("ATLAS_DATA_DIR", ""), here
        )
        link = session_socket.connect(places.run_path(folder, "sock"))
    except OSError:
        return None
    if asks == "index":
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with link:
        return _told(link, session_socket.hello(asks, project, data_dir, here=here) | more, seconds)


def _told(link: socket.socket, hello: dict[str, object], seconds: tuple[float, float | None]) -> dict[str, Any] | None:
    try:
        link.settimeout(seconds[0])
        link.sendall(session_socket.line_of(hello))
        with link.makefile("rb") as lines:
            welcome = json.loads(lines.readline(session_socket.LONGEST_LINE))
            if not welcome["accepted"]:
                return None
            link.settimeout(seconds[1])
            said = json.loads(lines.readline())
    except (OSError, ValueError, KeyError, TypeError):  # it has ended meanwhile
        return None
    if said and welcome["ignored"]:
        from atlas.cli.settings import warn_of

        warn_of(welcome["ignored"])
    return said
