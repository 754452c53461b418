"""For all tests: settings and cache folders of their own, interrupts, and Django's source package, fetched once.

It comes from the package index, as the development tools do.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from tests.kept_models import KEPT_MODELS as KEPT_MODELS

collect_ignore_glob = ["bench/data/*"]
"""Projects that are measured; some contain tests."""

PACKAGE = "django==5.2"
DJANGO_PARTS = ("core", "db", "http", "middleware", "urls", "utils")

LONGEST_FILES = (
    # the first one fetches Django, the second one needs none of it
    "e2e/test_django.py",
    "conformance/test_model_based.py",
    "security/test_hostile_repository.py",
    "surfaces/test_hostile_clients.py",
    "e2e/test_django_on_a_server.py",
    "neo4j/test_workers.py",
    "neo4j/test_product.py",
    "papers/test_hostile_service.py",
    "surfaces/test_sessions.py",
    "chat/test_terminal.py",
    "pipeline/test_shared_blocks.py",
    "surfaces/test_resting.py",
    "docs/test_hostile_sources.py",
    "explorer/test_library.py",
    "unit/test_hostile_files.py",
    "packs/test_strangers_rows.py",
    "surfaces/test_warm_index.py",
    "surfaces/test_installation.py",
    "chat/test_servers.py",
    "docs/test_crawl_limits.py",
    "packs/test_strangers_sources.py",
    "surfaces/test_mcp_stdio.py",
    "conformance/test_embedded_processes.py",
    "surfaces/test_asking_commands.py",
    "pipeline/test_published.py",
    "surfaces/test_http_token.py",
    "surfaces/test_cli.py",
    "surfaces/test_daemon.py",
    "surfaces/test_index.py",
    "surfaces/test_freshness.py",
    "conformance/test_reading.py",
    "pipeline/test_moves.py",
    "pipeline/test_replay.py",
    "surfaces/test_parallel_calls.py",
    "pipeline/test_seeding.py",
    "bench/test_live.py",
    "neo4j/test_hosts.py",
    "pipeline/test_kills.py",
    "pipeline/test_crash.py",
    "pipeline/test_memory.py",
    "conformance/mcp/test_official_suite.py",
    "conformance/bus/test_model_based.py",
    "conformance/test_agreement.py",
    "bench/test_retrieval.py",
    "embedders/test_litellm.py",
    "neo4j/test_isolation.py",
    "neo4j/test_plans.py",
    "pipeline/test_incremental.py",
    "pipeline/test_faults_bus.py",
    "pipeline/test_live.py",
    "architecture/test_patterns.py",
    "pipeline/test_interrupt.py",
    "security/test_other_users.py",
    "unit/test_client_costs.py",
)
"""Files whose few tests take long. When one of them runs last, the other processes of the run wait for it."""

NEEDS_NEO4J = re.compile(r"\bneo4j\b|test_neo4j|on_a_server|BoltAgrees|test_agreement|test_cypher_projects")
"""Part of the name of each test that asks the Neo4j of its process."""

# neither the user's settings nor the user's cache takes part; processes that tests start inherit both folders
_USER = tempfile.mkdtemp(prefix="atlas-user-")
atexit.register(shutil.rmtree, _USER, ignore_errors=True)
for _name in ("CONFIG", "CACHE", "DATA"):
    os.environ[f"XDG_{_name}_HOME"] = f"{_USER}/{_name.lower()}"

# no session of a test leaves a daemon behind, unless the test asks for one and ends it
os.environ["ATLAS_MCP_START_DAEMON"] = "false"

# whatever imports LiteLLM first, also the process that reads reports of others: it must not fetch a list of prices
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

# hundreds of processes are started: each compiles the package again where the machine's settings keep it from storing
# what it compiled
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# machines are shared: a slow one must not fail a test, and all tests together take little time; `make fuzz` tries more
settings.register_profile("shared", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

# a run that was started in the background ignores interrupts, and so would every program that a test interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a run of several processes, begin with the longest files, then those with the most tests."""
    if not hasattr(config, "workerinput"):
        return
    tests = Path(__file__).parent
    rank = {tests / name: place for place, name in enumerate(LONGEST_FILES)}
    counts = Counter(item.path for item in items)
    items.sort(key=lambda item: (rank.get(item.path, len(rank)), -counts[item.path], item.path))


class OneGraphServer(LoadFileScheduling):
    """By file, but whatever needs a Neo4j in one process: each server takes 14 s of CPU until its first plans are made."""

    def _split_scope(self, nodeid: str) -> str:
        return "neo4j" if NEEDS_NEO4J.search(nodeid) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Choose the scheduler of `--dist loadfile`."""
    return OneGraphServer(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(report: pytest.TestReport | pytest.CollectReport) -> Iterator[Any]:
    """Make a report of a failure one that its process can send: half a surrogate pair would end the whole run."""
    data = yield
    return _sendable(data) if report.failed else data


def _sendable(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {key: _sendable(one) for key, one in value.items()}
        case list() | tuple():
            return [*map(_sendable, value)]
        case _:
            return value if value is None or type(value) in (bool, int, float) else str(value)


@pytest.fixture(scope="session")
def django(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of Django 5.2 with its tests: some 2,800 Python files."""
    return _extracted(tmp_path_factory.mktemp("django"), "")


@pytest.fixture(scope="session")
def django_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the packages of `DJANGO_PARTS` only, in a fifth of the time."""
    return _extracted(tmp_path_factory.mktemp("django"), tuple(f"django/{name}/" for name in DJANGO_PARTS))


def _extracted(folder: Path, below: str | tuple[str, ...]) -> Path:
    with tarfile.open(_archive()) as archive:
        # `extractall(filter=...)` came with Python 3.11.4
        archive.extraction_filter = getattr(tarfile, "data_filter", _as_it_is)
        wanted = [member for member in archive if member.name.partition("/")[2].startswith(below)]
        archive.extractall(folder, wanted)
    return next(folder.iterdir())


def _as_it_is(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo:
    return member


def _archive() -> Path:
    cache = Path(__file__).parents[1] / ".cache" / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    # the processes of a run ask at the same time: one of them fetches it
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found := sorted(cache.glob("[Dd]jango-5.2.tar.gz")):
            return found[0]
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            subprocess.run([*download, "-d", scratch, PACKAGE], check=True, timeout=300)
            (fetched,) = Path(scratch).iterdir()
            return fetched.replace(cache / fetched.name)
