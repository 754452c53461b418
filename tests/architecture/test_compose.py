"""The compose file serves what the settings expect, and nothing of it is open, unbounded, unpinned or talkative.

No container runs here: the file is read. The workflow `servers.yml` starts it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from atlas.adapters.buses.valkey.server import server_program
from atlas.adapters.stores.bolt.dialect import MemgraphDialect, dialect_of
from atlas.cli.app import create_app
from atlas.runtime.config.settings import TEI_URL, McpSettings, StoreSettings

ROOT = Path(__file__).parents[2]
DOCUMENT: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = DOCUMENT["services"]
LISTENS = {"memgraph": 7687, "valkey": 6379, "tei": 80}
"""Port inside of each server's container."""
OWN = ("daemon", "mcp", "worker")
"""The programs of Code Atlas, which run from one image."""
EXAMPLE = (ROOT / "atlas.toml.example").read_text()
each_service = pytest.mark.parametrize("name", SERVICES)
each_server = pytest.mark.parametrize("name", LISTENS)
each_program = pytest.mark.parametrize("name", OWN)


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
    assert set(SERVICES) == {*LISTENS, *OWN}
    assert address("tei", "http") == TEI_URL
    assert address("valkey", "valkey") in EXAMPLE
    assert address("memgraph", "bolt") in EXAMPLE


def address(name: str, scheme: str) -> str:
    host, port, _ = SERVICES[name]["ports"][0].split(":")
    return f"{scheme}://{host}:{port}"


@each_service
def test_a_service_listens_on_loopback_only(name: str) -> None:
    ports = [re.fullmatch(r"127\.0\.0\.1:(\d+):(\d+)", port) for port in SERVICES[name].get("ports", ())]
    listens = {server: [port] for server, port in LISTENS.items()} | {"mcp": [McpSettings().port]}
    assert [int(port[2]) if port else None for port in ports] == listens.get(name, [])
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
    volumes = [volume.rpartition(":") for volume in service["volumes"] if not volume.endswith(":ro")]
    assert [(source in DOCUMENT["volumes"], target.startswith("/")) for source, _, target in volumes] == [(True, True)]
    assert service["restart"] == "unless-stopped"


@each_service
def test_a_service_can_be_left_out(name: str) -> None:
    """Without a profile the servers start, as docs/servers.md says; each program has a profile of its own."""
    assert SERVICES[name].get("profiles") == (None if name in LISTENS else [name])
    said = (ROOT / "docs" / "servers.md").read_text()
    line = next(line for line in said.splitlines() if line.startswith("`docker compose up -d --wait` starts"))
    assert all(str(port) in line for port in LISTENS.values())
    assert "depends_on" not in SERVICES[name]


@each_program
def test_a_program_runs_confined_from_the_image_of_this_repository(name: str) -> None:
    service = SERVICES[name]
    assert (service["build"], service["image"], service["read_only"]) == (".", "code-atlas", True)
    assert service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"] == ["/tmp"]
    assert sorted(volume.rpartition("/")[2] for volume in service["volumes"]) == ["data", "project:ro"]
    assert not {"user", "privileged", "cap_add", "pid"} & set(service)


@each_program
def test_a_program_is_called_with_options_that_it_knows(name: str) -> None:
    family: Any = typer.main.get_command(create_app())
    words = list(SERVICES[name]["command"])
    while hasattr(family, "commands"):
        family = family.commands[words.pop(0)]
    options = {option for parameter in family.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


@each_program
def test_a_program_gets_only_variables_that_exist(name: str) -> None:
    for variable, value in SERVICES[name].get("environment", {}).items():
        section, _, key = variable.removeprefix("ATLAS_").lower().partition("_")
        assert (f"[{section}]" in EXAMPLE and re.search(rf"^{key} =", EXAMPLE, re.MULTILINE)) or key == "token", (
            variable
        )
        assert re.fullmatch(r"\$\{(\w+):-[^}]*\}", value)[1] == variable  # pyright: ignore


def test_the_image_runs_without_root_and_writes_to_its_volume_only() -> None:
    lines = (ROOT / "Dockerfile").read_text().partition("FROM ${PYTHON_IMAGE}\n")[2].splitlines()
    assert "USER 10001:10001" in lines and "VOLUME /data" in lines and 'ENTRYPOINT ["atlas"]' in lines
    variables = dict(re.findall(r"(\w+)=(\S+)", "\n".join(lines)))
    folders = [variables[name] for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")]
    assert all(folder == "/data" or folder.startswith("/data/") for folder in folders)
    assert variables["ATLAS_PROJECT"] == "/project"


def test_the_image_is_built_from_what_the_wheel_needs() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignored
    copied = {line[1:] for line in ignored if line.startswith("!")}
    assert copied == {"LICENSE", "README.md", "constraints.txt", "pyproject.toml", "atlas", "rust-parser"}


@each_server
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


def test_compose_reads_the_file_as_this_test_does() -> None:
    compose = ["docker", "compose", "--project-directory", str(ROOT)]
    if not shutil.which("docker") or subprocess.run([*compose, "version"], capture_output=True).returncode:
        pytest.skip("docker compose is not here")
    done = subprocess.run([*compose, "config", "--services"], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == set(LISTENS)
