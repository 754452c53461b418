"""The flow page: which of several symbols a chain begins at, what a route or an event leads to, and conditions of calls."""

from __future__ import annotations

import html
import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from .served import explorer


@contextmanager
def opened(folder: Path, files: dict[str, str], *, history: bool = False) -> Generator[httpx2.Client]:
    """A browser in the explorer of a project with these files, each committed by itself if it has a history."""
    root = folder / "shop"
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=a@example.org"]
    root.mkdir()
    if history:
        subprocess.run([*git, "init", "-q"], cwd=root, check=True)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        if history:
            subprocess.run([*git, "add", "-A"], cwd=root, check=True)
            subprocess.run([*git, "commit", "-q", "-m", f"Write {path}"], cwd=root, check=True)
    with explorer(root, folder / "data") as served, served.client() as client:
        served.enter(client)
        yield client


def text_of(client: httpx2.Client, path: str) -> str:
    """A page as text, one line for each element of a list."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    body = re.sub(r"(?s)<head>.*?</head>|<header.*?</header>", "", answer.text)
    return html.unescape(re.sub(r"<[^>]+>", "", body))


TWO_MAINS = {
    "examples/demo.c": "int helper(void) { return 1; }\n\nint main(void) {\n  return helper();\n}\n",
    "src/server.c": "int serve(void) { return 2; }\n\nint main(void) {\n  return serve();\n}\n",
}


def test_a_chain_names_the_symbol_of_several_that_it_begins_at(tmp_path: Path) -> None:
    with opened(tmp_path, TWO_MAINS) as client:
        page = text_of(client, "/flow?of=main&to=serve")
        assert "from function main src/server.c:3: 1" in page
        assert "several symbols are called `main`" in page
        assert "from function main examples/demo.c:3: 1" in text_of(client, "/flow?of=main&to=helper")


def test_why_a_symbol_is_here_is_asked_of_its_own_lines(tmp_path: Path) -> None:
    """Two symbols of a name: each uid holds the path of its file."""
    with opened(tmp_path, TWO_MAINS, history=True) as client:
        found = client.get("/symbol?name=src/server.c:3&view=history").text
        assert "changed the lines of function" in found
        assert "Write src/server.c" in found
        assert "Write examples/demo.c" not in found
