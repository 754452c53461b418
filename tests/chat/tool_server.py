"""An MCP server with well-behaved and badly behaved tools, as a process: `python tool_server.py [--noise] [--hang]`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.utilities.types import Image
from mcp_types import Completion, ToolAnnotations

server = MCPServer("tools", version="1.0", instructions="Use echo for echoes.")
READS = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READS)
def echo(text: str) -> str:
    """Return the text."""
    print(f"echo {text}", file=sys.stderr, flush=True)
    return f"echo: {text}"


@server.tool(annotations=READS)
async def slow(seconds: float, mark: str = "") -> str:
    """Wait; `mark` is a file that says whether it runs or was cancelled."""
    started = time.monotonic()
    if mark:
        Path(mark).write_text("running")  # noqa: ASYNC240
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        if mark:
            Path(mark).write_text("cancelled")  # noqa: ASYNC240
        raise
    return f"waited {time.monotonic() - started:.1f} s"


@server.tool(structured_output=False)
async def slow_change(seconds: float, mark: str = "") -> str:
    """Wait as `slow` does, without the declaration that nothing changes."""
    return await slow(seconds, mark)


@server.tool(annotations=READS)
async def counted(context: Context, steps: int) -> str:
    """Report progress."""
    for step in range(steps):
        await context.report_progress(step + 1, steps, f"step {step + 1}")
    return "counted"


@server.tool(annotations=READS)
def crash() -> str:
    """End the process."""
    os._exit(3)


@server.tool(annotations=READS)
def big(megabytes: int) -> str:
    """Return much text."""
    return "word " * (megabytes * 200_000)


@server.tool(annotations=READS)
def picture() -> Image:
    """Return an image."""
    return Image(data=b"\x89PNG\r\n\x1a\n" + b"0" * 2000, format="png")


@server.tool(annotations=READS)
def fails() -> str:
    """Fail."""
    raise ValueError("on purpose \x1b[31m")


@server.tool(structured_output=False)
def write(path: str, text: str) -> str:
    """Write a file."""
    Path(path).write_text(text)
    return "written"


@server.resource("notes://readme", name="readme")
def readme() -> str:
    """What this is."""
    return "The magic word is xyzzy."


@server.resource("notes://{topic}", name="topic")
def topic(topic: str) -> str:
    """Notes on a topic."""
    return f"All about {topic}."


@server.prompt()
def review(name: str, tone: str = "kind") -> str:
    """Ask for a review."""
    return f"Review {name} in a {tone} tone."


@server.completion()
async def complete(ref: object, argument: object, context: object) -> Completion:
    value = str(getattr(argument, "value", ""))
    return Completion(values=[one for one in ("physics", "philosophy", "biology") if one.startswith(value)])


if __name__ == "__main__":
    if "--hang" in sys.argv:
        time.sleep(3600)
    if "--noise" in sys.argv:
        sys.stdout.write("this is no message\n")
        sys.stdout.flush()
    server.run()
