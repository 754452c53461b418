"""`atlas index` by the daemon that runs: one line to its socket, one with the summary back.

Imports as little as `server.proxy`: the daemon reads the settings, and refuses a pass of an index that is not its own.
"""

from __future__ import annotations

import json
import os
import signal

from atlas.runtime.process import places, session_socket

TYPE_CHECKING = False  # `typing` takes as long as the rest
if TYPE_CHECKING:
    import socket
    from typing import Any

WELCOME_SECONDS = 20.0
"""The daemon says within this time whether it makes the pass."""


def index_by_daemon(project: str, data_dir: str, *, as_json: bool) -> int | None:
    """Have the daemon make the pass, print its summary and return the exit code; None if it does not.

    The caller then makes the pass itself or says why there is none. Raises KeyboardInterrupt at SIGTERM, too.
    """
    try:
        here = os.getcwd()
        folder = places.data_folder_of(
            project or os.environ.get("ATLAS_PROJECT", ""), data_dir or os.environ.get("ATLAS_DATA_DIR", ""), here
        )
        link = session_socket.connect(places.run_path(folder, "sock"))
    except OSError:
        return None
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with link:
        summary = _summary(link, session_socket.hello("index", project, data_dir, here=here))
    if summary is None:
        return None
    from atlas.cli.code.index_summary import print_summary

    return print_summary(summary, as_json=as_json)


def _summary(link: socket.socket, hello: dict[str, object]) -> dict[str, Any] | None:
    from atlas.cli.settings import warn_of

    try:
        link.settimeout(WELCOME_SECONDS)
        link.sendall(session_socket.line_of(hello))
        with link.makefile("rb") as lines:
            answer = json.loads(lines.readline(session_socket.LONGEST_LINE))
            if not answer["accepted"]:
                return None
            warn_of(answer["ignored"])
            link.settimeout(None)
            return json.loads(lines.readline(session_socket.LONGEST_LINE))["summary"]
    except (OSError, ValueError, KeyError):  # it has ended meanwhile
        return None
