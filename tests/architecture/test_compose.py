"""The compose file serves what the settings expect, and nothing of it is open, unbounded, unpinned or talkative.

No container runs here: the file is read. The workflow `servers.yml` starts it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from atlas.buses.valkey_server import server_program
from atlas.config.settings import TEI_URL, StoreSettings
from atlas.stores.bolt.dialect import MemgraphDialect, dialect_of

ROOT = Path(__file__).parents[2]
DOCUMENT: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = DOCUMENT["services"]
LISTENS = {"memgraph": 7687, "valkey": 6379, "tei": 80}
"""Port inside of each container."""
EXAMPLE = (ROOT / "atlas.toml.example").read_text()
each_service = pytest.mark.parametrize("name", SERVICES)


def options(name: str) -> dict[str, str]:
    """The service's `--option=value` and `--option value`."""
    words = " ".join(str(word) for word in SERVICES[name]["command"])
    return dict(re.findall(r"--([\w-]+)[= ](\S+)", words))


def image(name: str) -> tuple[str, str]:
    """Name and tag of the image that is taken when the environment says nothing."""
    said = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", SERVICES[name]["image"])
    repository, _, tag = said.rpartition(":")
    return repository, tag


def bytes_of(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(kb|mb|gb|k|m|g)", text, re.IGNORECASE).groups()  # pyright: ignore
    return int(number) << {"k": 10, "m": 20, "g": 30}[unit[0].lower()]


def version(tag: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", tag)))


def test_the_services_are_those_of_the_settings() -> None:
    assert set(SERVICES) == set(LISTENS)
    assert address("tei", "http") == TEI_URL
    assert address("valkey", "valkey") in EXAMPLE
    assert address("memgraph", "bolt") in EXAMPLE


def address(name: str, scheme: str) -> str:
    host, port, _ = SERVICES[name]["ports"][0].split(":")
    return f"{scheme}://{host}:{port}"


@each_service
def test_a_service_listens_on_loopback_only(name: str) -> None:
    ports = [re.fullmatch(r"127\.0\.0\.1:(\d+):(\d+)", port) for port in SERVICES[name]["ports"]]
    assert [int(port[2]) if port else None for port in ports] == [LISTENS[name]]
    assert "network_mode" not in SERVICES[name], "the host's network knows no bound ports"


@each_service
def test_a_service_is_watched_bounded_and_kept(name: str) -> None:
    service = SERVICES[name]
    kind, *command = service["healthcheck"]["test"]
    assert kind in ("CMD", "CMD-SHELL") and command
    for wait in ("interval", "timeout", "start_period"):
        assert re.fullmatch(r"\d+s", service["healthcheck"][wait])
    assert service["healthcheck"]["retries"] >= 3
    assert bytes_of(service["mem_limit"]) >= 1 << 29
    volumes = [volume.partition(":") for volume in service["volumes"]]
    assert [(source in DOCUMENT["volumes"], target.startswith("/")) for source, _, target in volumes] == [(True, True)]
    assert service["restart"] == "unless-stopped"


@each_service
def test_a_service_can_be_left_out(name: str) -> None:
    """Nothing starts unasked, `all` starts everything, and each has a profile of its own."""
    own = {profile for profile in SERVICES[name]["profiles"] if profile != "all"}
    others = {profile for other in SERVICES if other != name for profile in SERVICES[other]["profiles"]}
    assert "all" in SERVICES[name]["profiles"] and own and not own & others
    assert "depends_on" not in SERVICES[name]


@each_service
def test_an_image_is_pinned_to_a_release(name: str) -> None:
    assert re.fullmatch(r"(cpu-)?\d+\.\d+\.\d+", image(name)[1])


def test_versions_are_those_that_the_adapters_are_written_for() -> None:
    assert image("memgraph") == ("memgraph/memgraph", "3.12.0")
    assert "Memgraph 3.12" in (MemgraphDialect.__doc__ or "")
    assert dialect_of("Neo4j/v5.11.0 compatible graph database server - Memgraph").name == "memgraph"
    assert image("valkey")[0] == "valkey/valkey" and version(image("valkey")[1]) >= (7, 2)
    assert image("tei")[0].endswith("/text-embeddings-inference") and version(image("tei")[1])[:2] == (1, 9)


def test_valkey_is_the_release_that_the_tests_run() -> None:
    """The wheel's server, which every test of the bus ran against, is of the same minor version."""
    said = subprocess.run([server_program(), "--version"], capture_output=True, text=True, timeout=10).stdout
    found = re.search(r"v=(\d+)\.(\d+)", said)
    assert found and (int(found[1]), int(found[2])) == version(image("valkey")[1])[:2]


def test_memgraph_tells_nobody_and_forgets_nothing() -> None:
    flags = options("memgraph")
    assert flags["telemetry-enabled"] == "false"
    assert (flags["storage-wal-enabled"], flags["storage-wal-file-flush-every-n-tx"]) == ("true", "1")
    assert flags["data-recovery-on-startup"] == "true"
    assert flags["storage-properties-on-edges"] == "true", "edges carry line, strategy and confidence"
    assert "storage-mode" not in flags, "text indexes need the transactional mode"
    assert all("=" in word for word in SERVICES["memgraph"]["command"]), "a boolean flag without = is always true"


def test_memgraphs_limits_leave_ours_alone() -> None:
    """The shorter of the server's limit and the transaction's own counts."""
    flags = options("memgraph")
    assert int(flags["query-execution-timeout-sec"]) >= StoreSettings().write_seconds
    assert int(flags["storage-access-timeout-sec"]) >= 10
    assert int(flags["memory-limit"]) << 20 < bytes_of(SERVICES["memgraph"]["mem_limit"])


def test_valkey_keeps_every_event() -> None:
    flags = options("valkey")
    assert (flags["appendonly"], flags["maxmemory-policy"]) == ("yes", "noeviction")
    assert 2 * bytes_of(flags["maxmemory"]) <= bytes_of(SERVICES["valkey"]["mem_limit"])


def test_the_embedding_model_stays_the_same() -> None:
    """Another revision would make other vectors under the same name; texts are never cut off unasked."""
    flags = options("tei")
    assert re.fullmatch(r"[0-9a-f]{40}", flags["revision"])
    assert flags["auto-truncate"] == "false"
    assert "otlp-endpoint" not in flags
