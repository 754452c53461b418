"""What `atlas index` prints of a pass, from the summary as a JSON object. Imports nothing heavy."""

from __future__ import annotations

import sys

from atlas.cli import output
from atlas.core.errors import AtlasError
from atlas.core.wording import counted

TYPE_CHECKING = False  # `typing` is not imported for a pass of the daemon
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ROWS = (
    ("files", "files"),
    ("changed since the last pass", "changed"),
    ("parsed", "parsed"),
    ("units written", "written"),
    ("removed", "removed"),
    ("skipped (atlas status --skipped)", "skipped"),
    ("partially read (atlas status --skipped)", "problems"),
    ("vectors made", "vectors"),
)
NEXT_STEPS = """next:  atlas search "where are sessions expired"   ask in words, or for "callers of NAME"
       atlas connect                               connect a coding agent
       atlas daemon start                          keep the index current while files change"""


def print_summary(summary: Mapping[str, Any], *, as_json: bool) -> int:
    """Print the fields of an `IndexSummary`, with `phases` as an object, and return the exit code."""
    if as_json:
        output.print_json(summary)
    else:
        sys.stdout.write("\n".join(_lines(summary)) + "\n")
    if not summary["unread"]:
        return 0
    first, *others = summary["unread"]
    more = f"; and {counted(len(others), 'more such folder')}" if others else ""
    hint = "Shorten that file, or leave the folder out with scope.exclude; then run `atlas index` again."
    output.print_error(AtlasError(first + more, hint), as_json=False)
    return AtlasError.exit_code


def _lines(summary: Mapping[str, Any]) -> list[str]:
    by = f", by the {summary['by']} that runs here" if summary["by"] else ""
    lines = [output.one_line(f"{summary['project']} at {summary['root']}, generation {summary['generation']}{by}")]
    if summary["seeded_from"]:
        lines.append(output.one_line(f"made from the index of {summary['seeded_from']}, of the same repository"))
    rows = [(name, f"{summary[field]:,}") for name, field in ROWS]
    if summary["quality_vectors"]:
        rows.append(("vectors of the sentence transformer", f"{summary['quality_vectors']:,}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines += [f"{name:<{widths[0]}}  {count:>{widths[1]}}" for name, count in rows]
    phases = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in summary["phases"].items())
    lines.append(f"{summary['seconds']:.2f} s, {summary['cpu_seconds']:.2f} CPU s{f' ({phases})' if phases else ''}")
    if summary["cut_texts"]:
        lines.append(f"Truncated to the limit of the embedding model: {counted(summary['cut_texts'], 'text')}.")
    if summary["unembedded"]:
        lines.append(f"Without a vector: {counted(summary['unembedded'], 'text')} that the embedding server rejects.")
    if summary["given_up"]:
        failed = counted(summary["given_up"], "event")
        lines.append(f"{failed} failed permanently; `atlas dead-letters list` shows why.")
    none = "No file was indexed; `atlas status --skipped` shows why."
    return [*lines, NEXT_STEPS if summary["files"] else none]
