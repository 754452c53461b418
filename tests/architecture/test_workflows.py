"""The workflows are what GitHub reads, run the Pythons that the project names, and call only what exists.

No runner is here: the files are read, and their commands looked up.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from atlas.cli.app import create_app
from tests.architecture.test_compose import SERVICES, address
from tests.neo4j.memgraph import VARIABLE, memgraph_uri

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS: dict[str, dict[Any, Any]] = {path.name: yaml.safe_load(path.read_text()) for path in FILES}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def steps() -> Iterator[dict[str, Any]]:
    for document in WORKFLOWS.values():
        for job in document["jobs"].values():
            yield from job["steps"]


PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")

COMMANDS = [line.strip() for step in steps() for line in step.get("run", "").splitlines()]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_has_what_github_asks_for(name: str) -> None:
    document = WORKFLOWS[name]
    # YAML 1.1 reads `on` as true
    assert set(document) == {"name", True, "permissions", "concurrency", "jobs"}
    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job)
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            assert "run" in step or PINNED.fullmatch(step["uses"]), "a tag can be moved, a commit cannot"
            assert "${{" not in step.get("run", ""), "what is put into a script may be somebody else's text"


def test_only_the_job_that_publishes_has_rights_and_nothing_has_a_secret() -> None:
    for name, document in WORKFLOWS.items():
        for title, job in document["jobs"].items():
            allowed = {"contents": "read", "id-token": "write", "attestations": "write"}
            assert ("permissions" in job) == ((name, title) == ("release.yml", "publish"))
            assert job.get("permissions", allowed) == allowed
        assert "secrets." not in (ROOT / ".github" / "workflows" / name).read_text()


def test_a_release_is_pinned_checked_and_published_for_every_platform() -> None:
    release = WORKFLOWS["release.yml"]
    assert release[True] == {"push": {"tags": ["v*"]}}
    jobs = release["jobs"]
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert all(PINNED.fullmatch(one) for one in used)
    platforms = {one["name"] for one in jobs["wheels"]["strategy"]["matrix"]["include"]}
    assert platforms == {"linux-x86_64", "linux-aarch64", "macos-arm64", "macos-x86_64"}
    assert set(jobs["publish"]["needs"]) == {"wheels", "sdist"} == set(jobs) - {"publish"}
    assert not any("run" in step for step in jobs["publish"]["steps"]), "what has rights runs no code of the tree"
    order = [one.partition("@")[0] for one in used[-3:]]
    assert order == ["actions/download-artifact", "actions/attest-build-provenance", "pypa/gh-action-pypi-publish"]


def test_an_action_is_one_commit_everywhere_and_its_version_is_named() -> None:
    used = [line.strip() for path in FILES for line in path.read_text().splitlines() if "uses:" in line]
    found = {line.partition("uses: ")[2] for line in used}
    assert all(re.fullmatch(rf"{PINNED.pattern} # v\d+\.\d+\.\d+", one) for one in found)
    assert len(found) == len({one.partition("@")[0] for one in found})


def test_unreachable_lists_of_vulnerabilities_are_a_failure() -> None:
    assert "make audit AUDIT=--required" in COMMANDS
    assert {"schedule", "pull_request"} <= set(WORKFLOWS["supply.yml"][True])


def test_every_python_runs_on_both_systems() -> None:
    matrix = WORKFLOWS["checks.yml"]["jobs"]["checks"]["strategy"]["matrix"]
    named = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line) for line in PROJECT["project"]["classifiers"]
    ]
    assert matrix["python"] == [found[1] for found in named if found]
    assert [system.partition("-")[0] for system in matrix["system"]] == ["ubuntu", "macos"]


def test_the_checks_are_those_of_this_repository() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "bash .ci/run" in COMMANDS
    assert [line for line in script.splitlines() if line.startswith("make ")] == [
        "make -j2 check test dist",
    ]
    assert "\ntest: test-rust test-python\n" in (ROOT / "Makefile").read_text()
    assert {"make check", "make test", "make dist"} <= set(COMMANDS)


def test_the_hooks_before_a_commit_are_targets_of_make() -> None:
    document = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = {hook["entry"]: hook["stages"] for repository in document["repos"] for hook in repository["hooks"]}
    assert hooks == {"make lint": ["pre-commit"], "make quick": ["pre-push"]}
    assert {repository["repo"] for repository in document["repos"]} == {"local"}


@pytest.mark.parametrize("command", sorted(set(COMMANDS)))
def test_a_command_exists(command: str) -> None:
    program, *words = shlex.split(command)
    if program == "make":
        done = subprocess.run(["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    elif program == "bash":
        assert (ROOT / words[0]).is_file()
    elif program == "docker":
        names = {word for word in words[2:] if not word.startswith("-")}
        assert words[0] == "compose" and words[1] in ("up", "logs", "down") and names <= SERVICES.keys()
    elif program == ".venv/bin/atlas":
        family: Any = typer.main.get_command(create_app())
        while hasattr(family, "commands"):
            family = family.commands[words.pop(0)]
    elif program == "python":
        assert words[0] == "-m" and (ROOT / Path(*words[1].split("."))).with_suffix(".py").is_file()
    elif program == ".venv/bin/python":
        assert words[:3] == ["-m", "pytest", "-m"]
        markers = [line.partition(":")[0] for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"]]
        assert words[3] in markers
    else:
        assert program == "rustup" or command == "cargo install --locked cargo-audit"


def test_the_memgraph_that_is_started_is_the_one_that_is_tested() -> None:
    job = WORKFLOWS["servers.yml"]["jobs"]["memgraph"]
    assert job["env"] == {VARIABLE: address("memgraph", "bolt")}
    product = next(step["env"] for step in job["steps"] if "env" in step)
    assert product["ATLAS_STORE_URL"] == address("memgraph", "bolt")
    assert product["ATLAS_BUS_URL"].startswith(address("valkey", "valkey"))


def test_without_an_address_the_memgraph_tests_fail_and_are_not_run_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(pytest.fail.Exception, match=f"{VARIABLE} is not set"):
        memgraph_uri()
    assert "-m 'not memgraph'" in PROJECT["tool"]["pytest"]["ini_options"]["addopts"]
