"""What the options of a command line mean: settings, and the form of the output. Imports nothing heavy."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from atlas.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atlas.runtime.config.load import Settings

MAX_WARNINGS = 3
"""Ignored settings that a command names."""


def settings_of(project: str, data_dir: str) -> Settings:
    """Return the current settings for the options of a command. Raises ConfigError.

    Settings of the project's own file that are ignored are printed on stderr.
    """
    from atlas.runtime.config.load import load_settings

    settings = load_settings(project, data_dir)
    warn_of([each.line for each in settings.ignored])
    return settings


def warn_of(ignored: Sequence[str]) -> None:
    """Print on stderr why settings are ignored."""
    for why in ignored[:MAX_WARNINGS]:
        print(f"warning: ignored: {output.one_line(why)}", file=sys.stderr)
    if len(ignored) > MAX_WARNINGS:
        print(f"warning: ignored: {len(ignored) - MAX_WARNINGS} more; see: atlas config show", file=sys.stderr)


def wants_json() -> bool:
    """Return whether the command line asks for JSON; used before a command runs, to report errors in that form."""
    given = sys.argv[1:]
    return "--json" in (given[: given.index("--")] if "--" in given else given)
