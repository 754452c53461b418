"""Record a chat for the documentation: `python -m tests.bench.chat_recording FILE.svg`.

The model is scripted; the papers server, the server of Code Atlas, the paper service's format and the screen are real.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from atlas.adapters.language_models.chat import LiteLlmChatModel
from atlas.app.chat import make_limits, open_chat
from atlas.chat.server_spec import ServerSpec
from atlas.cli.chat.screen import TerminalScreen
from atlas.runtime.config.load import load_settings
from tests.chat.model_server import Say, model_server
from tests.papers.arxiv_server import ATTENTION, BERT, arxiv_server

WIDTH = 104
CLAIM = "Self-attention costs time and memory quadratic in the sequence length."
ANSWER = """## Attention

**Attention Is All You Need** (2017, arXiv:1706.03762) replaces recurrence by self-attention.

* Main finding: attention alone is enough for translation.
* Cost: quadratic in the sequence length. I have stored this as a claim with `source: arxiv:1706.03762`.

**BERT** (2018, arXiv:1810.04805) trains such layers on both directions of a text.
"""
STEPS = (
    Say("", [("search_papers", json.dumps({"topic": "attention", "max_results": 2}))]),
    Say("", [("read_resource", json.dumps({"uri": "papers://attention"}))]),
    Say(
        "",
        [
            (
                "ingest_hypothesis",
                json.dumps({"hypothesis": CLAIM, "source": "arxiv:1706.03762", "confidence": 0.9}),
            )
        ],
    ),
    Say(ANSWER),
)


async def record(folder: Path, address: str, console: Console) -> None:
    """Run the prompt of the papers server in a chat with two servers."""
    project = folder / "project"
    project.mkdir()
    (project / "app.py").write_text("def forward(tokens):\n    return tokens\n")
    kept = {"XDG_DATA_HOME": str(folder / "share"), "XDG_CACHE_HOME": str(folder / "cache")}
    environment = {**kept, "PATH": os.environ["PATH"], "ATLAS_PAPERS_URL": address, "ATLAS_PAPERS_PAUSE_MS": "0"}
    command = (sys.executable, "-P", "-m", "atlas", "--project", str(project))
    servers = [
        ServerSpec("papers", command[0], (*command[1:4], "papers", "serve"), environment),
        ServerSpec("atlas", command[0], (*command[1:4], "mcp", "--toolsets", "code,claims"), environment, str(project)),
    ]
    with model_server(*STEPS) as stub:
        settings = load_settings(str(project))

        async def ask(question: str) -> str:
            console.print(f"{question}y")
            return "y"

        screen = TerminalScreen(console, ask, allow_all=False)
        model = LiteLlmChatModel("openai/scripted", stub.openai, "key", 30.0)
        limits = make_limits(settings, 0, 0, 0.0)
        async with open_chat(settings, servers, model, screen, screen, limits, lambda _: None) as session:
            console.print("» /generate_search_prompt topic=attention num_papers=2")
            await session.ask_prompt("generate_search_prompt", ["topic=attention", "num_papers=2"])
            console.print("» /quit")


def main(target: Path) -> None:
    """Write the recording."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False, markup=False, emoji=False)
    with tempfile.TemporaryDirectory() as place, arxiv_server(ATTENTION, BERT) as service:
        asyncio.run(record(Path(place), service.url, console))
    target.parent.mkdir(parents=True, exist_ok=True)
    svg = console.export_svg(title="atlas chat", unique_id="atlas-chat")
    assert "error:" not in svg.replace("&#160;", " "), "a call failed: the recording would not be true"
    # fonts of the reader's machine: an image must not fetch any
    target.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
