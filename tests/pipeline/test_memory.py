"""I10: the resident set of a process that keeps an index true does not grow with the number of edits."""

from __future__ import annotations

import platform
import random
import subprocess
import sys
from pathlib import Path

import pytest
from atlas_bench import meter

from tests.pipeline.polyglot import tree
from tests.pipeline.trees import write_tree

ROOT = Path(__file__).parents[2]

ALLOCATE = """
import ctypes, sys, threading
from atlas.runtime.process.memory import limit_malloc_arenas

limit_malloc_arenas()
barrier = threading.Barrier(12)


def allocate():
    kept = [bytearray(5000) for _ in range(100)]
    barrier.wait()
    assert kept


threads = [threading.Thread(target=allocate) for _ in range(12)]
for one in threads:
    one.start()
for one in threads:
    one.join()
library = ctypes.CDLL(None)
library.malloc_info(0, ctypes.c_void_p.in_dll(library, "stdout"))
library.fflush(None)
"""


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not meter.PROC, reason="the resident set is read from /proc")
def test_many_edits_need_no_more_memory_than_a_few(tmp_path: Path) -> None:
    write_tree(tmp_path / "p", tree(300, random.Random(3)))
    edits = ("--edits", "1500", "--every", "300", "--growth", "15")
    told = run("-m", "tests.bench.daemon_memory", str(tmp_path / "p"), *edits)
    assert told.count(" edits:") == 5


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives threads pools of their own")
def test_threads_share_few_pools_of_memory() -> None:
    assert run("-c", ALLOCATE).count("<heap nr=") <= 2
