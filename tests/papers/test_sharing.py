"""Papers that go on: a reading list as PDF, a folder that two people keep in git, and notifications of topics."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.subscriptions import ResourceUpdated
from pypdf import PdfReader

from atlas.core.paper_source import Paper
from atlas.papers.json_files import sides_of_conflicts
from atlas.papers.library import PAPERS_FILE, PaperLibrary
from atlas.papers.pdf import reading_list

COMMAND = ("-P", "-m", "atlas", "papers")
ATTENTION = Paper(
    "1706.03762", "Attention Is All You Need", authors=("Ashish Vaswani",), summary="We propose a network."
)
BERT = Paper("1810.04805", "BERT: Pre-training", authors=("Jacob Devlin",), url="https://arxiv.org/abs/1810.04805")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ATLAS_PAPERS_FOLDER": str(folder), "ATLAS_PROJECT": str(folder.parent)}
    return subprocess.run(
        [sys.executable, *COMMAND, *arguments], capture_output=True, text=True, timeout=60, env=environment, check=False
    )


def test_a_reading_list_is_a_pdf_file(tmp_path: Path) -> None:
    PaperLibrary(tmp_path / "papers").add("attention", [ATTENTION, BERT])
    target = tmp_path / "reading.pdf"
    made = run(tmp_path / "papers", "export", "--format", "pdf", "--topic", "attention", "--output", str(target))
    assert made.returncode == 0, made.stderr
    pages = PdfReader(target).pages
    text = "".join(page.extract_text() for page in pages)
    assert "1. Attention Is All You Need" in text and "Ashish Vaswani" in text and "We propose a network." in text
    links = [one.get_object()["/A"]["/URI"] for page in pages for one in page.get("/Annots", ())]
    assert links == ["https://arxiv.org/abs/1810.04805"]
    first = target.read_bytes()
    run(tmp_path / "papers", "export", "--format", "pdf", "--topic", "attention", "--output", str(target))
    assert target.read_bytes() == first, "the same papers give the same file"


def test_a_pdf_file_needs_a_name_and_a_place(tmp_path: Path) -> None:
    PaperLibrary(tmp_path / "papers").add("attention", [ATTENTION])
    unnamed = run(tmp_path / "papers", "export", "--format", "pdf")
    assert unnamed.returncode == 2 and "--output FILE" in unnamed.stderr
    nowhere = run(tmp_path / "papers", "export", "--format", "pdf", "--output", str(tmp_path / "no" / "x.pdf"))
    assert nowhere.returncode == 2 and "cannot be written" in nowhere.stderr
    assert "Traceback" not in nowhere.stderr
    text = run(tmp_path / "papers", "export", "--output", str(tmp_path / "x.bib"))
    assert text.returncode == 0 and not text.stdout
    assert "Attention Is All You Need" in (tmp_path / "x.bib").read_text()


def test_markup_of_a_title_is_text(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"secret")
    title = f'<img src="{secret}"/> <font color="[[].append(1) for none in [1]]">x</font> </para> & < \u0000 漢'
    made = reading_list([Paper("2401.00001", title, url="javascript:alert(1)", summary=title)], "<b>List</b>")
    (tmp_path / "list.pdf").write_bytes(made.content)
    text = "".join(page.extract_text() for page in PdfReader(tmp_path / "list.pdf").pages)
    assert "<b>List</b>" in text and "<img src=" in text.replace("\n", " ") and "</para>" in text
    assert b"javascript" not in made.content and b"secret.png" not in made.content
    assert made.missing == 2, "a Han character in the title and one in the abstract"


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    names = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *names, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_two_people_add_papers_to_a_folder_in_git(tmp_path: Path, style: str) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    PaperLibrary(mine).add("attention", [Paper("1409.0473", "Alignment", updated="2014")])
    (mine / ".gitignore").write_text(".write.lock\n")
    git(mine, "init", "-q", "-b", "main")
    git(mine, "add", ".")
    git(mine, "commit", "-qm", "a")
    shutil.copytree(mine, other)
    PaperLibrary(mine).add("attention", [ATTENTION, Paper("1409.0473", "Alignment, with a typo", updated="2015")])
    PaperLibrary(other).add("attention", [BERT, Paper("1409.0473", "Alignment, corrected", updated="2016")])
    for folder in (mine, other):
        git(folder, "commit", "-qam", "b")
    git(mine, "fetch", "-q", str(other), "main")
    assert git(mine, "-c", f"merge.conflictStyle={style}", "merge", "FETCH_HEAD").returncode == 1, "it has conflicts"
    library = PaperLibrary(mine)
    papers = library.papers("attention")
    assert set(papers) == {"1409.0473", "1706.03762", "1810.04805"}
    assert papers["1409.0473"].title == "Alignment, corrected"
    assert "conflicts of git: both sides are read" in library.take_problems()[0]
    assert b"<<<<<<<" in (mine / "attention" / PAPERS_FILE).read_bytes(), "a question changes nothing"
    library.add("attention", [ATTENTION])
    stored = json.loads((mine / "attention" / PAPERS_FILE).read_text())
    assert set(stored) == set(papers) and stored["1409.0473"]["title"] == "Alignment, corrected"


def test_half_a_conflict_is_a_damaged_file(tmp_path: Path) -> None:
    assert sides_of_conflicts(b'{"a": 1}\n') is None
    assert sides_of_conflicts(b"<<<<<<< a\n{}\n=======\n") is None
    assert sides_of_conflicts(b'{"a": "<<<<<<< x ======= >>>>>>> y"}\n') is None
    library = PaperLibrary(tmp_path)
    library.add("attention", [ATTENTION])
    (tmp_path / "attention" / PAPERS_FILE).write_bytes(b"<<<<<<< a\n{}\n=======\n")
    assert not library.papers("attention")
    assert "is damaged" in library.take_problems()[0]


def served(folder: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=[*COMMAND, "serve"],
        env={**os.environ, "ATLAS_PAPERS_FOLDER": str(folder), "ATLAS_PROJECT": str(folder.parent)},
    )  # fmt: skip


async def test_a_client_hears_what_another_process_stores(tmp_path: Path) -> None:
    library = PaperLibrary(tmp_path / "papers")
    library.add("attention", [ATTENTION])
    async with (
        asyncio.timeout(60),
        Client(stdio_client(served(tmp_path / "papers"))) as client,
        client.listen(resource_subscriptions=["papers://attention"]) as events,
    ):
        library.add("attention", [BERT])
        event = await anext(aiter(events))
        assert event == ResourceUpdated(uri="papers://attention")
        assert "BERT" in (await client.read_resource("papers://attention")).contents[0].text


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_client_of_an_older_revision_subscribes_to_a_topic(tmp_path: Path) -> None:
    library = PaperLibrary(tmp_path / "papers")
    library.add("attention", [ATTENTION])
    told: asyncio.Queue[str] = asyncio.Queue()

    async def take(message: Any) -> None:
        root = getattr(message, "root", message)
        if isinstance(root, types.ResourceUpdatedNotification):
            told.put_nowait(str(root.params.uri))

    async with (
        asyncio.timeout(60),
        Client(stdio_client(served(tmp_path / "papers")), mode="legacy", message_handler=take) as client,
    ):
        await client.subscribe_resource("papers://attention")
        library.add("other", [ATTENTION])
        library.add("attention", [BERT])
        assert await told.get() == "papers://attention"
        await client.unsubscribe_resource("papers://attention")
        await client.subscribe_resource("papers://other")
        library.add("attention", [Paper("1409.0473", "Alignment")])
        library.add("other", [BERT])
        assert await told.get() == "papers://other", "the first subscription has ended"
        assert told.empty()
