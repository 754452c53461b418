"""The page that teaches an agent when to ask which tool, and where each client discovers it.

The page follows the Agent Skills format (agentskills.io/specification): a folder named as the skill with a SKILL.md
whose front matter has `name` and `description`. A client without skills gets the page as a section of AGENTS.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from atlas.cli.clients.recipes import RECIPES, Client, skill_folder
from atlas.cli.clients.record import ConfigEntry
from atlas.core.errors import ConfigError

SKILL_NAME = "code-atlas"


def skill_page() -> str:
    """Return the page with its front matter."""
    return (Path(__file__).parent / "SKILL.md").read_text(encoding="utf-8")


def skill_section() -> str:
    """Return the page without front matter, for a file that agents always read."""
    return skill_page().split("---\n", 2)[2].strip()


def skill_place(
    client: Client, root: Path, environment: Mapping[str, str], home: Path, *, user: bool
) -> tuple[ConfigEntry, str]:
    """Return where the client discovers the skill, and what belongs there. Raises ConfigError if it has no place."""
    folder = skill_folder(client, root, environment, home, user=user)
    inside = None if user else root
    if folder is not None:
        return ConfigEntry(folder / SKILL_NAME / "SKILL.md", (), inside, "page"), skill_page()
    if user:
        title = RECIPES[client].title
        raise ConfigError(
            f"{title} has no skills of the user", "Leave out --user: the project's AGENTS.md gets a section."
        )
    return ConfigEntry(root / "AGENTS.md", (), inside, "section"), skill_section()
