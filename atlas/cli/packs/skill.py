"""`atlas pack skill --output DIR`: writes a pack's skill as `atlas connect --skill` writes its own.

A repository can plant links and files where a user writes skills, so no link is followed, and only a page that Code
Atlas wrote itself is replaced.
"""

from __future__ import annotations

import os
from pathlib import Path

from atlas.cli.clients.change import ConfigEntry, make, plan
from atlas.core.errors import ConfigError
from atlas.packs.documentation.pack.skill import SKILL_FILE


def write_skill(folder: str, name: str, text: str) -> Path:
    """Write a skill to its own folder below the folder of an agent client's skills; return the file.

    Raises ConfigError for a link on the way and for a page that is not from here; nothing is written then.
    """
    base = Path(os.path.abspath(Path(folder).expanduser()))  # noqa: PTH100 - `resolve` follows links
    path = base / name / SKILL_FILE
    real = Path(os.path.realpath(path))
    if real != path:
        raise ConfigError(
            f"{path} leads through a link to {real}",
            f"Nothing was written. If that is the place you mean: --output {os.path.realpath(base)}",
        )
    change = plan(ConfigEntry(path, (), base, "page"), text)
    is_ours = change.record is not None and not change.record["before"]  # it replaces what it has written itself
    if change.action == "replace" and not is_ours:
        raise ConfigError(f"{path} is not from here, or was edited", "Nothing was written. Move it away, or keep it.")
    if change.action != "none":
        make(change)
    return path
