"""`atlas dead-letters`: events that were given up, seen, published again and forgotten, on a real bus server."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from atlas.code.index.events import AST_DIRTY
from atlas.core.events import Event

from .processes import COMMAND, atlas, environment
from .stage import Stage, stage

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the daemon needs Linux or macOS")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(tmp_path) as one:
        yield one


def letters(here: Stage, *words: str, code: int = 0, **env: str) -> dict[str, Any]:
    """Run a command of the family with --json."""
    done = atlas("dead-letters", *words, "--json", *here.options, env=env)
    assert (done.returncode, done.stderr) == (code, ""), done
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


def ids(here: Stage) -> list[str]:
    return [letter["id"] for letter in letters(here, "list")["dead_letters"]]


async def test_the_list_for_people_and_for_programs(here: Stage) -> None:
    assert atlas("dead-letters", "list", *here.options).stdout == "no dead letters\n"
    first, second = await here.bury("shop/cart.py", "", reason="ValueError: two\nlines")
    document = letters(here, "list")["dead_letters"]
    at = document[0].pop("at")
    assert at.endswith("+00:00")
    assert document[0] == {
        "id": first,
        "tier": "ast",
        "stream": AST_DIRTY,
        "project": "shop",
        "key": "shop/cart.py",
        "attempts": 1,
        "reason": "ValueError: two lines",
    }
    shown = atlas("dead-letters", "list", *here.options).stdout.splitlines()
    heading, _, row, other = [line for line in shown if line.strip()]
    assert heading.split() == ["id", "tier", "project", "path", "or", "symbol", "attempts", "when", "reason"]
    assert row.split()[:5] == [first, "ast", "shop", "shop/cart.py", "1"]
    assert row.rstrip().endswith("ago   ValueError: two lines")
    assert other.split()[:4] == [second, "ast", "shop", "(everything)"]


async def test_paths_that_are_no_text_and_reasons_that_drive_terminals(here: Stage) -> None:
    await here.bury(os.fsdecode(b"caf\xe9.py"), reason="\x1b[2Jboom")
    shown = atlas("dead-letters", "list", *here.options)
    assert shown.returncode == 0, shown.stderr
    assert "caf\\udce9.py" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert letters(here, "list")["dead_letters"][0]["key"] == "caf\\udce9.py"
    assert letters(here, "retry", "--all") == {"retried": 1}
    (delivery,) = await here.bus.take(AST_DIRTY, "ast", 10, 1)
    assert os.fsencode(delivery.event.key) == b"caf\xe9.py", "the event itself is as it was"


async def test_retry_publishes_again_and_forgets_the_letter(here: Stage) -> None:
    first, second, third = await here.bury("a.py", "b.py", "c.py")
    assert atlas("dead-letters", "retry", second, *here.options).stdout == "1 retried\n"
    (delivery,) = await here.bus.take(AST_DIRTY, "ast", 10, 1)
    assert (delivery.event, delivery.attempt) == (Event("shop", "b.py"), 1)
    assert ids(here) == [first, third]
    assert letters(here, "retry", "--all") == {"retried": 2}
    assert [one.event.key for one in await here.bus.take(AST_DIRTY, "ast", 10, 1)] == ["a.py", "c.py"]
    assert ids(here) == []
    assert letters(here, "retry", "--all") == {"retried": 0}


async def test_drop_forgets(here: Stage) -> None:
    first, second, third = await here.bury("a.py", "b.py", "c.py")
    assert letters(here, "drop", first, third, first) == {"dropped": 2}
    assert ids(here) == [second]
    assert atlas("dead-letters", "drop", "--all", *here.options).stdout == "1 dropped\n", "nobody to ask in a pipe"
    assert ids(here) == []
    assert await here.bus.take(AST_DIRTY, "ast", 10, 0) == []


@pytest.mark.parametrize("verb", ["retry", "drop"])
async def test_an_unknown_id_stops_all_of_it(here: Stage, verb: str) -> None:
    known = await here.bury("a.py")
    for unknown in ("1-1", "nonsense", "-1"):
        done = atlas("dead-letters", verb, *here.options, "--", known[0], unknown)
        assert done.returncode == 3
        assert f"no dead letter {unknown}; nothing was done" in done.stderr
        assert "hint:  `atlas dead-letters list`" in done.stderr
    assert ids(here) == known
    error = letters(here, verb, "1-1", code=3)["error"]
    assert (error["kind"], error["exit_code"]) == ("NotFound", 3)


@pytest.mark.parametrize("words", [("retry",), ("drop",), ("retry", "--all", "1-1"), ("drop", "--all", "1-1")])
async def test_either_ids_or_all(here: Stage, words: tuple[str, ...]) -> None:
    await here.bury("a.py")
    done = atlas("dead-letters", *words, *here.options)
    assert done.returncode == 2
    assert "name dead letters by their ids, or give --all" in done.stderr
    assert len(ids(here)) == 1


async def test_what_finds_no_room_stays_a_letter(here: Stage) -> None:
    await here.bury("a.py", "b.py")
    await here.bus.publish(AST_DIRTY, [Event("shop", f"{n}.py") for n in range(99)])
    done = atlas("dead-letters", "retry", "--all", *here.options, env={"ATLAS_BUS_CAPACITY": "100"})
    assert done.returncode == 7
    assert "1 of 2 published again; the stream is full" in done.stderr
    assert len(ids(here)) == 1


async def test_without_a_bus_it_says_so(here: Stage) -> None:
    here.server.stop()
    for words in (("list",), ("retry", "--all"), ("drop", "--all", "--yes")):
        done = atlas("dead-letters", *words, *here.options)
        assert (done.returncode, done.stdout) == (7, "")
        assert "no daemon is running" in done.stderr
        assert "atlas daemon start" in done.stderr
    assert not (here.place.data / "valkey" / "valkey.sock").exists(), "nothing was started"


@pytest.mark.parametrize(("reply", "code", "left"), [("n\n", 1, 2), ("\n", 1, 2), ("y\n", 0, 0)])
async def test_a_person_is_asked_before_all_is_dropped(here: Stage, reply: str, code: int, left: int) -> None:
    await here.bury("a.py", "b.py")
    ended, shown = _answer_on_terminal(reply, "dead-letters", "drop", "--all", *here.options)
    assert "Drop 2 dead letters? [y/N]" in shown
    assert (ended, len(ids(here))) == (code, left)


async def test_a_person_who_says_yes_beforehand_is_not_asked(here: Stage) -> None:
    await here.bury("a.py")
    ended, shown = _answer_on_terminal("", "dead-letters", "drop", "--all", "--yes", *here.options)
    assert (ended, "[y/N]" in shown, ids(here)) == (0, False, [])


def _answer_on_terminal(reply: str, *words: str) -> tuple[int, str]:
    """Run a command on a terminal and type a reply to its question."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *words], stdin=follower, stdout=follower, stderr=follower, env=environment(TERM="xterm-256color")
    )
    os.close(follower)
    shown = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            block = os.read(leader, 65_536)
        except OSError:  # the end of a terminal on Linux
            break
        shown += block
        if not block:
            break
        if reply and b"[y/N]" in shown:
            os.write(leader, reply.encode())
            reply = ""
    os.close(leader)
    return process.wait(60), shown.decode()
