"""A session without a daemon keeps what an index pass has read: later passes cost what changed, and see everything.

Each test compares the index with a clean one, or asks for what was changed behind the session's back.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.code.index.index import Indexer
from atlas.runtime.process.lock import WriterLock
from tests.pipeline.trees import differences, dump, index

from .knowledge import Desk, Said, desk, project
from .processes import Place

ROOMY = "16384"
"""A process of many tests is large, and would keep nothing."""
CLAIM = "---\nid: {id}\nkind: claim\n---\n{text}\n"
FOLDER = ".knowledge/claims/by-hand"


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path

sys.path.insert(0, sys.argv[3])
from atlas.code.index.index import Indexer
from tests.surfaces.knowledge import desk
from tests.surfaces.processes import Place


async def main():
    async with desk(Place(Path(sys.argv[1]), Path(sys.argv[2]))) as opened:
        for text in ("Bees make honey.", "Wasps build nests."):
            await opened.say("ingest_hypothesis", hypothesis=text)
            await opened.say("semantic_search", query=text)
        await opened.say("ingest_hypothesis", hypothesis="Hornets hunt at dusk.")

        async def killed(*given):
            os.kill(os.getpid(), signal.SIGKILL)

        Indexer.update = killed
        await opened.say("semantic_search", query="hornets")


asyncio.run(main())
"""


class Passes:
    """Counts the passes over everything and the warm ones."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.whole = self.warm = 0
        index_all, update = Indexer.index, Indexer.update

        async def whole(*given: object, **named: object) -> object:
            self.whole += 1
            return await index_all(*given, **named)  # pyright: ignore[reportArgumentType]

        async def warm(*given: object, **named: object) -> None:
            self.warm += 1
            await update(*given, **named)  # pyright: ignore[reportArgumentType]

        patch.setattr(Indexer, "index", whole)
        patch.setattr(Indexer, "update", warm)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Passes:
    return Passes(monkeypatch)


@pytest.fixture
async def warm(tmp_path: Path, passes: Passes) -> AsyncIterator[Desk]:
    """A session that has made its first index and one pass after it."""
    async with desk(project(tmp_path), ATLAS_DAEMON_MEMORY_MB=ROOMY) as opened:
        write(opened.place, "first", "The gateway retries failed requests.")
        assert await finds(opened, "gateway retries", "gateway")
        write(opened.place, "second", "The parser reads tables.")
        assert await finds(opened, "parser reads tables", "parser")
        assert passes.whole >= 1
        yield opened


def write(place: Place, name: str, text: str) -> Path:
    file = place.root / FOLDER / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    last = f"{sum(name.encode()):04}".replace("0", "X")[-4:]
    file.write_text(CLAIM.format(id=f"c-01JD2V9Q7K4M8N3P5R6S7T{last}", text=text))
    return file


async def finds(opened: Desk, query: str, word: str) -> bool:
    found = await opened.say("semantic_search", query=query)
    assert not newer(found), found.text
    return any(word in str(unit) for unit in found.data["units"])


def newer(found: Said) -> bool:
    """Whether an answer says that files are newer than the index."""
    return "newer than the index" in str(found.data.get("evidence"))


async def test_changes_of_other_programs_are_seen_by_warm_passes(warm: Desk, passes: Passes) -> None:
    before, place = passes.whole, warm.place
    first = place.root / FOLDER / "first.md"
    old = first.stat()
    first.write_text(first.read_text().replace("retries", "delays"))
    assert await finds(warm, "what delays requests", "delays"), "edited by hand"
    first.rename(first.with_name("renamed.md"))
    found = await warm.say("semantic_search", query="what delays requests")
    assert "renamed.md" in str(found.data), "renamed"
    first.with_name("renamed.md").unlink()
    assert not await finds(warm, "what delays requests", "delays"), "deleted"
    text = write(place, "first", "The gateway retries failed requests.").read_text()
    assert await finds(warm, "gateway retries", "retries")
    first.write_text(text.replace("retries", "queries"))
    os.utime(first, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert await finds(warm, "gateway queries", "queries"), "restored with an old time and the same size"
    (place.root / "app/late.py").write_text("def warm_function():\n    return 1\n")
    node = await warm.say("semantic_search", query="gateway")
    assert not newer(node)
    assert passes.whole == before, "no pass over everything"
    assert passes.warm >= 5


async def test_a_note_that_is_deleted_again_leaves_the_index_again(warm: Desk) -> None:
    for _ in range(2):
        file = write(warm.place, "third", "The crane lifts boxes.")
        assert await finds(warm, "crane lifts boxes", "crane")
        file.unlink()
        assert not await finds(warm, "crane lifts boxes", "crane")


async def test_own_writes_cost_warm_passes(warm: Desk, passes: Passes) -> None:
    before = passes.whole
    made = await warm.say("ingest_hypothesis", hypothesis="Lighthouses need lamps at night.")
    assert await finds(warm, "lamps of lighthouses", "Lighthouses")
    await warm.say("remember", entity="Harbour", observation="It opens at six.")
    recalled = await warm.say("recall", query="When does the harbour open?")
    assert "six" in recalled.text
    await warm.say("retract_unit", id_=made.id, reason="no longer")
    shown = await warm.say("get_unit", id_=made.id)
    assert "retracted" in shown.text
    assert passes.whole == before


async def test_a_pass_of_another_process_ends_the_warm_one(warm: Desk, passes: Passes) -> None:
    place, before = warm.place, passes.whole
    write(place, "other", "The kettle boils water.")
    command = [sys.executable, "-m", "atlas", "index", str(place.root), "--data-dir", str(place.data)]
    environment = {**os.environ, "ATLAS_MCP_START_DAEMON": "false"}
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True, env=environment)
    write(place, "own", "The oven bakes bread.")
    assert await finds(warm, "oven bakes bread", "oven")
    assert await finds(warm, "kettle boils water", "kettle")
    assert passes.whole == before + 1, "the store had another generation"
    write(place, "again", "The fridge cools milk.")
    assert await finds(warm, "fridge cools milk", "fridge")
    assert passes.whole == before + 1


async def test_between_passes_others_may_write(warm: Desk) -> None:
    lock = WriterLock(warm.place.data)
    write(warm.place, "busy", "The crane lifts boxes.")
    found = await warm.say("semantic_search", query="crane lifts boxes")
    assert newer(found)
    lock.release()
    write(warm.place, "free", "The mill grinds corn.")
    assert await finds(warm, "mill grinds corn", "mill")
    assert await finds(warm, "crane lifts boxes", "crane")


async def test_a_writer_killed_between_file_and_index_loses_nothing(tmp_path: Path) -> None:
    place = project(tmp_path)
    checkout = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", KILLED, str(place.root), str(place.data), checkout]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    async with desk(place, ATLAS_DAEMON_MEMORY_MB=ROOMY) as opened:
        assert await finds(opened, "hornets hunt at dusk", "Hornets")
        assert await finds(opened, "bees make honey", "Bees")
    # what the killed process has read is parsed again
    await index(place.root, tmp_path / "clean")
    assert not differences(dump(place.data), dump(tmp_path / "clean"))


async def test_facts_of_deleted_notes_are_erased_at_the_end(tmp_path: Path) -> None:
    place, secret = project(tmp_path), "zyxwvutsrq"
    async with desk(place, ATLAS_DAEMON_MEMORY_MB=ROOMY) as opened:
        write(place, "first", "The gateway retries failed requests.")
        assert await finds(opened, "gateway", "gateway")
        file = write(place, "secret", f"The word is {secret} here.")
        assert await finds(opened, secret, secret)
        file.unlink()
        assert not await finds(opened, secret, secret)
    kept = b"".join(path.read_bytes() for path in place.data.glob("facts-*"))
    assert kept
    assert secret.encode() not in kept


async def test_the_next_process_links_nothing_again(warm: Desk, tmp_path: Path) -> None:
    write(warm.place, "third", "The crane lifts boxes.")
    assert await finds(warm, "crane lifts boxes", "crane")
    await warm.session.guard.aclose()
    summary = await index(warm.place.root, warm.place.data)
    assert (summary.parsed, summary.written) == (0, 0)


@pytest.mark.parametrize("seed", range(4))
async def test_random_changes_give_the_index_of_a_clean_pass(tmp_path: Path, passes: Passes, seed: int) -> None:
    source, place = random.Random(seed), project(tmp_path)
    async with desk(place, ATLAS_DAEMON_MEMORY_MB=ROOMY) as opened:
        write(place, "first", "The gateway retries failed requests.")
        assert await finds(opened, "gateway retries", "gateway")
        for step in range(14):
            change(source, place)
            found = await opened.say("semantic_search", query="gateway")
            assert not newer(found), (step, found.text)
        assert passes.warm
        folder = tmp_path / "clean"
        shutil.rmtree(folder, ignore_errors=True)
        await index(place.root, folder)
        assert not differences(dump(place.data), dump(folder))


def change(source: random.Random, place: Place) -> None:
    """Change notes, code, a manifest or the rules of the scope."""
    name = source.choice("abcdef")
    number = source.randint(1, 9)
    file = place.root / FOLDER / f"{name}.md"
    match source.choice(("note", "note", "remove", "move", "code", "manifest", "ignore", "folder")):
        case "note":
            write(place, name, f"Fact {number} of `load_settings` is about {source.choice(('tea', 'milk'))}.")
        case "remove":
            file.unlink(missing_ok=True)
        case "move" if file.exists():
            file.rename(file.with_name(f"{name}{number}.md"))
        case "code":
            (place.root / f"app/{name}.py").write_text(
                f"from app.core import load_settings\n\n\ndef use_{number}():\n    return load_settings({number})\n"
            )
        case "manifest":
            (place.root / "app/package.json").write_text(f'{{"name": "package-{number}", "version": "1.0.0"}}\n')
        case "ignore":
            (place.root / ".atlasignore").write_text(f"app/{name}.py\n")
        case _:
            shutil.rmtree(place.root / "extra", ignore_errors=True)
            write_file = place.root / f"extra/{name}/m.py"
            write_file.parent.mkdir(parents=True)
            write_file.write_text(f"def extra_{number}():\n    return {number}\n")
