"""Examples below a command's options in `--help`. A test parses each of them with the command line's own parser."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """Return an epilog that shows each command line on a line of its own."""
    # the first character stops Click from joining the lines
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
