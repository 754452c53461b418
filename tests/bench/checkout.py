"""A real `git checkout` under a real daemon: `python -m tests.bench.checkout [--files N]`.

Makes a repository of N tiny files that are all different on another branch, starts a daemon, and checks out the one
branch and the other. Prints the seconds until graph and vectors are fresh, the peak of the daemon's memory, and what
differs from a clean index; exits with 1 when anything does.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from atlas_bench import meter
from atlas_bench.compose import AgentProbe, compare_indexes
from atlas_bench.observer import behind, until, waiting_vectors
from atlas_bench.process import run

from atlas.parsing import content_digest
from atlas.runtime.config.load import load_settings

PATIENCE = 300.0
REST_SECONDS = 5.0


def source(number: int, files: int, branch: int) -> str:
    following = (number + 1 + branch) % files
    return (
        f"from part{following // 100}.m{following} import f{following}\n\n\n"
        f'def f{number}(value):\n    """Number {number} of branch {branch}."""\n    return f{following}(value + {branch})\n'
    )


def write_tree(root: Path, files: int, branch: int) -> None:
    for number in range(files):
        path = root / f"part{number // 100}" / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source(number, files, branch))


def git(root: Path, *words: str) -> None:
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **names}
    subprocess.run(["git", *words], cwd=root, env={**os.environ, **quiet}, check=True, capture_output=True)


def make_repository(root: Path, files: int) -> None:
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=b0")
    for branch in (0, 1):
        if branch:
            git(root, "checkout", "--quiet", "-b", "b1")
        write_tree(root, files, branch)
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", f"branch {branch}")
    git(root, "checkout", "--quiet", "b0")


async def check_out(probe: AgentProbe, root: Path, data: Path, branch: int) -> bool:
    """Check out a branch, wait, tell, compare; return whether the index is the clean one."""
    pid = probe.daemon()[0]
    meter.forget_peak(pid)
    started = time.perf_counter()
    await asyncio.to_thread(git, root, "checkout", "--quiet", f"b{branch}")
    took = time.perf_counter() - started
    digests = _digests(root)

    async def graph() -> bool:
        return not await behind(probe, digests)

    async def vectors() -> bool:
        return not await waiting_vectors(probe)

    await until(graph, "graph", PATIENCE)
    fresh = time.perf_counter() - started
    await until(vectors, "vectors", PATIENCE)
    embedded = time.perf_counter() - started
    print(
        f"checkout of {len(digests)} files took {took:.1f} s; graph and text fresh {fresh:.1f} s, vectors {embedded:.1f} s "
        f"after its start; peak {meter.peak_rss_mb(pid):.0f} MB",
        flush=True,
    )
    await asyncio.sleep(REST_SECONDS)
    clean = data.with_name(f"clean{branch}")
    await asyncio.to_thread(run, ["index", str(root), "--data-dir", str(clean)])
    differing = [kind for kind in compare_indexes(data, clean).kinds if kind.kind != "vectors" and not kind.equal]
    await asyncio.to_thread(run, ["index", str(root), "--data-dir", str(data)])
    after = compare_indexes(data, clean)
    print(
        f"  equal to a clean index: {not differing}, with all vectors: {after.equal}",
        *after.lines(),
        sep="\n  ",
        flush=True,
    )
    return not differing and after.equal


def _digests(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): content_digest(path.read_bytes()) for path in root.rglob("*.py")}


async def main(files: int) -> int:
    with tempfile.TemporaryDirectory(prefix="atlas-checkout-") as scratch:
        root, data = Path(scratch) / "many", Path(scratch) / "data"
        make_repository(root, files)
        place = ["--project", str(root), "--data-dir", str(data)]
        await asyncio.to_thread(run, ["index", str(root), "--data-dir", str(data)])
        await asyncio.to_thread(run, ["daemon", "start", *place])
        probe = AgentProbe(load_settings(str(root), str(data), environment={}))
        try:
            await asyncio.sleep(2 * REST_SECONDS)
            return int(not all([await check_out(probe, root, data, branch) for branch in (1, 0)]))
        finally:
            await probe.aclose()
            await asyncio.to_thread(run, ["daemon", "stop", *place])


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("--files", type=int, default=10_000)
    sys.exit(asyncio.run(main(asked.parse_args().files)))
