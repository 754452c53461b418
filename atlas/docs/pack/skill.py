"""`skill.md`: the description by which agent clients discover a pack, in the format of Agent Skills. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from atlas.docs.pack.manifest import Manifest

MAX_TOPICS = 12
MAX_DESCRIPTION = 900
MAX_NAME = 58
SKILL_FILE = "SKILL.md"
"""Name under which clients look for it, in a folder with the name of the skill."""


def skill_text(manifest: Manifest, topics: Sequence[str]) -> str:
    """Return the page: front matter with name and description, what the pack knows, and how to ask it."""
    subject = _subject(manifest)
    known = ", ".join(topics[:MAX_TOPICS])
    description = (
        f"Documentation of {subject}, offline, with sources. Use it before you write code that calls {subject} or when "
        f"a question is about its API, settings, defaults, errors or deprecations."
    )
    counts = manifest.counts
    lines = [
        "---",
        f"name: {skill_name(manifest.name)}",
        f"description: {json.dumps(description[:MAX_DESCRIPTION], ensure_ascii=False)}",
        "---",
        "",
        f"# {_one_line(subject)}",
        "",
        f"A knowledge pack with {counts.get('Article', 0):,} articles, {counts.get('Section', 0):,} sections, "
        f"{counts.get('Entity', 0):,} API symbols and terms, and {counts.get('Fact', 0):,} facts.",
        *(["", f"Topics: {known}."] if known else []),
        "",
        "## How to ask",
        "",
        f'* MCP (toolset `packs`): `ask_pack(question, pack="{manifest.name}")` answers with quotes and sources in at '
        "most 700 tokens; `search_pack` lists sections; `pack_article` reads one.",
        f'* Shell: `atlas pack query {manifest.name} "your question"`; `--explain` shows every stage.',
        "* An answer that says that the pack does not know is not evidence that something does not exist.",
        "",
    ]
    return "\n".join(lines)


def skill_name(pack: str) -> str:
    """Return the name of a pack's skill, which is that of its folder: lower-case letters, digits and hyphens."""
    return f"{re.sub(r'[^a-z0-9]+', '-', pack.lower()).strip('-')[:MAX_NAME]}-docs"


def _subject(manifest: Manifest) -> str:
    name = manifest.library or manifest.description or manifest.name
    return _one_line(f"{name} {manifest.library_version or manifest.version}".strip())


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
