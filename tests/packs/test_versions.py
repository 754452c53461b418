"""Questions about versions: the version that is asked for is cited, and no fact of another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.opening import OpenPack, open_pack
from atlas.packs.questions.answer import ask
from atlas.packs.questions.values import BALANCED
from atlas.packs.questions.versions import EXACT, WITHIN, asks_for_changes, heading_version, nearness, versions_in

CHANGES = (
    ("3.0.1", "Fix slow parsing of multipart bodies. Changed the release of locks."),
    ("3.0.0", "Remove previously deprecated code. Restrict the cookie parser."),
    ("2.3.0", "Drop support for Python 3.7. Changes in the release of scopes. Remove the reader."),
    ("0.10.5", "Reloader: changes of files are found in this release. Dropped the version of the client."),
    ("0.4.1", "Dropped support for Python 2.3 in this version. What changed: `url_encode()` takes options."),
    ("0.3", "Changes in this version: dropped the old store."),
)
PAGES = {
    "CHANGES.rst": "".join(f"Version {number}\n-------------\n\n{text}\n\n" for number, text in CHANGES),
    "security.rst": (
        "Security\n========\n\n.. module:: web\n\n"
        ".. function:: hash_password(password)\n\n   Store a password safely as a hash.\n\n"
        "   .. versionchanged:: 2.3\n      Storing a password safely needs scrypt.\n\n"
        "   .. versionchanged:: 3.0\n      The salt of a password was removed.\n"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("versions")
    (root / "docs").mkdir()
    for name, text in PAGES.items():
        (root / "docs" / name).write_text(text, encoding="utf-8")
    asyncio.run(build_pack(BuildRequest("web", (str(root / "docs"),), "1.0", ""), root / "pack"))
    return root / "pack"


@pytest_asyncio.fixture
async def pack(folder: Path) -> AsyncIterator[OpenPack]:
    opened = open_pack(folder)
    yield opened
    await opened.aclose()


@pytest.mark.parametrize(
    "question",
    [
        "what was dropped in version 3.0",
        "what changed in 3.0.0",
        "changes in release 3.0.0",
        "what was changed in web 3.0",
        "3.0 changes",
    ],
)
async def test_the_version_that_is_asked_for_comes_first(pack: OpenPack, question: str) -> None:
    answer = await ask(pack.reader, question, BALANCED)
    assert not answer.is_refused
    assert answer.sources[0].section.endswith("Version 3.0.0")
    assert not any(number in fact.text for fact in answer.facts for number in ("0.4.1", "0.10", "2.3"))


async def test_what_a_version_did_opens_no_answer_to_another_question(pack: OpenPack) -> None:
    answer = await ask(pack.reader, "how do I store a password safely", BALANCED)
    assert not answer.is_refused
    assert not answer.facts
    for question in ("how has storing a password safely changed", "how does hash_password store a password safely"):
        answer = await ask(pack.reader, question, BALANCED)
        assert any("Changed in version 2.3" in fact.text for fact in answer.facts), question


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("what was dropped in version 3.0", [(3, 0)]),
        ("what changed between 2.3 and 3.0.0?", [(2, 3), (3, 0, 0)]),
        ("changes of web v3.0", [(3, 0)]),
        ("breaking changes in version 3", [(3,)]),
        ("how do I install it in 3 steps", []),
        ("is HTTP/1.1 changed for Python 3.8", []),
        ("does it listen on 127.0.0.1", []),
    ],
)
def test_versions_of_a_question(text: str, versions: list[tuple[int, ...]]) -> None:
    assert list(versions_in(text, "web")) == versions


def test_versions_are_compared_by_their_parts() -> None:
    assert nearness((3, 0), heading_version("Version 3.0.0")) == EXACT
    assert nearness((3, 0, 0), heading_version("[3.0] - 2023-09-30")) == EXACT
    assert nearness((3, 0), heading_version("3.0.1")) == WITHIN
    for other in ("Version 0.3.0", "Version 3.1", "Version 30.0", "Three ways", "HTTP/3.0"):
        assert nearness((3, 0), heading_version(other)) == 0
    assert nearness((3, 0, 0), (3, 0, 1)) == 0


def test_a_question_about_changes() -> None:
    assert asks_for_changes("When was the flag added?")
    assert asks_for_changes("what has changed in the parser")
    assert not asks_for_changes("how do I change a new password")
