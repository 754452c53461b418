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
from atlas.packs.questions.versions import (
    EXACT,
    WITHIN,
    asks_for_changes,
    heading_version,
    nearness,
    spellings,
    versions_in,
)

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
    "client.rst": (
        "Talking to servers\n==================\n\nClient\n------\n\n.. versionadded:: 2.1\n\nThe client talks.\n\n"
        "Retries\n~~~~~~~\n\nFailed requests are sent again, at most three times.\n\n"
        "Pools\n~~~~~\n\n.. class:: Pool(size)\n\n   .. versionadded:: 2.4\n\n   A pool keeps connections.\n\n"
        "   .. method:: drain(timeout)\n\n      Closes all idle connections.\n\n"
        "   .. method:: warm()\n\n      Opens connections.\n\n      .. versionadded:: 2.6\n\n"
        "Streams\n~~~~~~~\n\n.. versionadded:: 2.5\n\nA stream reads in parts.\n"
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
    ("question", "fact"),
    [
        (
            "Since which version are retries of failed requests available?",
            "Client, of which Retries is a part: Added in version 2.1.",
        ),
        ("Which version introduced Pool.drain?", "Pool, of which Pool.drain is a part: Added in version 2.4."),
    ],
)
async def test_what_says_nothing_about_versions_has_that_of_its_parent(
    pack: OpenPack, question: str, fact: str
) -> None:
    assert (await ask(pack.reader, question, BALANCED)).facts[0].text == fact


@pytest.mark.parametrize(
    ("question", "stranger"),
    [
        ("Since which version are streams available?", "2.1"),
        ("Which version introduced Pool.warm?", "2.4"),
        ("How often are failed requests sent again by retries?", "2.1"),
        ("In which version were retries removed?", "Added"),
    ],
)
async def test_a_parent_says_nothing_that_its_part_says_or_that_is_not_asked(
    pack: OpenPack, question: str, stranger: str
) -> None:
    assert not any(stranger in fact.text for fact in (await ask(pack.reader, question, BALANCED)).facts)


async def test_notes_of_a_version_answer_what_it_brought(pack: OpenPack) -> None:
    for question in ("What is new in 2.4?", "What was added in version 2.4.0?"):
        answer = await ask(pack.reader, question, BALANCED)
        assert [fact.text for fact in answer.facts] == ["Pool: Added in version 2.4."], question
    assert not any("2.4" in fact.text for fact in (await ask(pack.reader, "What was removed in 2.4?", BALANCED)).facts)
    assert (await ask(pack.reader, "What is new in 7.7?", BALANCED)).is_refused


def test_spellings_of_a_version() -> None:
    assert spellings((3,)) == ["3", "3.0", "3.0.0"]
    assert spellings((2, 4, 0)) == ["2.4", "2.4.0"]
    assert spellings((2, 4, 1)) == ["2.4.1"]


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
