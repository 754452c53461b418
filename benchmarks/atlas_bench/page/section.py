"""A section of the page: what was run, its table, its charts, or why it was skipped. Pure values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Section:
    """One measurement. `charts`: file name -> SVG. A skipped one has a reason and nothing else."""

    name: str
    title: str
    command: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    charts: Mapping[str, str] = field(default_factory=dict[str, str])
    skipped: str = ""


def to_markdown(section: Section, folder: str) -> str:
    """Return the section as Markdown; `folder` is where its charts are, relative to the page."""
    parts = [f"## {section.title}"]
    if section.skipped:
        return f"{parts[0]}\n\nSkipped: {section.skipped}\n"
    if section.command:
        parts.append(f"```\n{section.command}\n```")
    if section.rows:
        lines = [section.columns, ["---"] * len(section.columns), *section.rows]
        parts.append("\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines))
    parts += [f"![{section.title}: {name.removesuffix('.svg')}]({folder}/{name})" for name in section.charts]
    parts += section.notes
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
