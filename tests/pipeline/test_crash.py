"""A killed index pass leaves a store that the next pass completes: kill -9 at random points, then compare whole."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.pipeline.trees import dump, index, write_tree

KILLS = int(os.environ.get("ATLAS_TEST_KILLS", "8"))


def project(files: int, version: int) -> dict[str, str]:
    """A project in which every file calls into its neighbours, so that one change touches several units."""
    return {
        f"pkg/m{number}.py": "\n".join(
            [
                f"from pkg.m{(number + 1) % files} import f{(number + 1) % files}_v{version}",
                f"from pkg.m{(number + 7) % files} import C{(number + 7) % files}",
                f"class C{number}(C{(number + 7) % files}):",
                *(
                    f'    def m{k}(self):\n        """Method {k}."""\n        return self.m{(k + 1) % 20}()'
                    for k in range(20)
                ),
                f"def f{number}_v{version}():",
                f"    return f{(number + 1) % files}_v{version}()",
            ]
        )
        for number in range(files)
    }


def test_kill_at_random_points(tmp_path: Path) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, project(120, 0))
    started = time.monotonic()
    asyncio.run(index(root, data))
    whole = time.monotonic() - started
    chance = random.Random(20261121)
    killed = 0
    for version in range(1, KILLS + 1):
        write_tree(root, project(120, version))
        process = subprocess.Popen(
            [sys.executable, "-m", "atlas.cli.main", "index", str(root), "--data-dir", str(data)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance.uniform(0.15, 0.3 + whole))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        if version % 2:  # every other time the tree changes again before the pass that completes it
            write_tree(root, project(120, version - 1))
        asyncio.run(index(root, data))
        fresh = tmp_path / f"fresh{version}"
        asyncio.run(index(root, fresh))
        assert dump(data) == dump(fresh)
    assert killed, "no pass lived long enough to be killed"


def test_kills_of_passes_that_continue_from_a_snapshot(tmp_path: Path) -> None:
    """Few files change, so that a pass restores the linker of the one before, at whatever point that one was killed."""
    root, data = tmp_path / "p", tmp_path / "d"
    files = project(40, 0)
    write_tree(root, files)
    asyncio.run(index(root, data))
    snapshot = next(data.glob("facts-*.links"))
    chance = random.Random(20261125)
    killed = restorable = 0
    for version in range(1, KILLS + 1):
        for number in chance.sample(range(40), 3):
            path = f"pkg/m{number}.py"
            files[path] = project(40, version if chance.random() < 0.5 else 0)[path]
            (root / path).write_text(files[path])
        restorable += snapshot.exists()
        process = subprocess.Popen(
            [sys.executable, "-m", "atlas.cli.main", "index", str(root), "--data-dir", str(data)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not (data / "atlas.db-wal").exists():
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.6))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        if version % 3 == 0:
            asyncio.run(index(root, data))
    assert killed and restorable
    asyncio.run(index(root, data))
    fresh = tmp_path / "fresh"
    asyncio.run(index(root, fresh))
    assert dump(data) == dump(fresh)
