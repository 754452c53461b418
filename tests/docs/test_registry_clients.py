"""The clients of registries obey the user's own configuration, and nobody else's (ADR 0047).

Real clients download a package from a registry on this machine. Whatever others put into the shared temporary folder,
into the current folder, above them or above the cache, may neither run nor redirect a request.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.registry_server import NAME, VERSION, registry
from tests.docs.web_server import Site, serve

CHILD = """
import sys
from atlas.packs.documentation.sources.registries import download, download_folder
from atlas.packs.documentation.sources.spec import parse_source
from atlas.core.errors import AtlasError
try:
    with download_folder() as folder:
        print(download(parse_source(sys.argv[1]), folder).version)
except AtlasError as error:
    print(type(error).__name__, error.message, error.hint)
"""


@dataclass
class Machine:
    """A home and a project below a folder that everybody can write, as in a shared temporary folder."""

    shared: Path
    home: Path
    project: Path
    mirror: Site
    thief: Site

    def run(self, source: str, **variables: str) -> str:
        tools = [str(Path(found).parent) for one in ("npm", "node", "cargo") if (found := shutil.which(one))]
        environment = {
            "HOME": str(self.home),
            "TMPDIR": str(self.shared),
            "PATH": os.pathsep.join([*tools, "/usr/bin", "/bin"]),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
            "PIP_RETRIES": "0",
            "npm_config_fetch_retries": "0",
            "CARGO_NET_RETRY": "0",
            **variables,
        }
        return subprocess.run(
            [sys.executable, "-P", "-c", CHILD, source],
            cwd=self.project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    shared = tmp_path / "shared"
    project = shared / "project"
    project.mkdir(parents=True)
    (shared / "home").mkdir(mode=0o700)
    shared.chmod(0o1777)
    with registry() as mirror, serve({}) as thief:
        for folder in (shared, project):
            plant(folder, thief.url, tmp_path / "ran")
        yield Machine(shared, shared / "home", project, mirror, thief)
    assert not (tmp_path / "ran").exists()
    assert not thief.requests


def plant(folder: Path, thief: str, ran: Path) -> None:
    """Put every configuration that a client looks for into a folder."""
    toolchain = folder / "toolchain" / "bin"
    toolchain.mkdir(parents=True)
    for name in ("cargo", "rustc", "npm", "node", "pip", "python"):
        (toolchain / name).write_text(f"#!/bin/sh\necho {name} >>{ran}\n")
        (toolchain / name).chmod(0o755)
        shutil.copy(toolchain / name, folder / name)
    (folder / "rust-toolchain.toml").write_text(f'[toolchain]\npath = "{toolchain.parent}"\n')
    (folder / "Cargo.toml").write_text("[workspace]\nmembers = []\n")
    (folder / ".cargo").mkdir()
    (folder / ".cargo" / "config.toml").write_text(
        f'[registry]\ndefault = "x"\n[registries]\nx.index = "sparse+{thief}/"\nmirror.index = "sparse+{thief}/"\n'
        f'[build]\nrustc = "{toolchain}/rustc"\n[alias]\ninfo = "!{toolchain}/cargo"\n'
    )
    (folder / "package.json").write_text('{"name": "x", "version": "1.0.0", "workspaces": ["*"]}')
    (folder / ".npmrc").write_text(
        f"registry={thief}/\n//{thief.removeprefix('http://')}/:_authToken=${{NPM_TOKEN}}\nscript-shell={toolchain}/npm\n"
    )
    for name in ("pip.conf", "setup.cfg", "pip.ini"):
        (folder / name).write_text(f"[global]\nindex-url = {thief}/simple\n")
    (folder / "pyproject.toml").write_text(f'[tool.pip]\nindex-url = "{thief}/simple"\n')
    for module in ("pip", "json", "sitecustomize", "hashlib"):
        (folder / f"{module}.py").write_text(f"open({str(ran)!r}, 'a').write('module')\n")


def needs(client: str) -> None:
    if not shutil.which(client):
        assert not os.environ.get("CI"), f"{client} is not installed"
        pytest.skip(f"{client} is not installed")


def test_pip_reads_the_users_index_and_no_planted_one(machine: Machine) -> None:
    mirror = {"PIP_INDEX_URL": f"{machine.mirror.url}/pypi/simple"}
    assert machine.run(f"pypi:{NAME}=={VERSION}", **mirror).split() == [VERSION]
    settings = machine.home / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[global]\nindex-url = {machine.mirror.url}/pypi/simple\n")
    assert machine.run(f"pypi:{NAME}=={VERSION}").split() == [VERSION]


@pytest.mark.slow
def test_npm_reads_the_users_registry_and_no_planted_one(machine: Machine) -> None:
    needs("npm")
    mirror = {"npm_config_registry": f"{machine.mirror.url}/npm/"}
    assert machine.run(f"npm:{NAME}@{VERSION}", **mirror, NPM_TOKEN="t0ken").split() == [VERSION]
    (machine.home / ".npmrc").write_text(f"registry={machine.mirror.url}/npm/\n")
    assert machine.run(f"npm:{NAME}@{VERSION}", NPM_TOKEN="t0ken").split() == [VERSION]


@pytest.mark.slow
def test_npm_gets_the_variables_that_the_users_own_settings_name(machine: Machine) -> None:
    needs("npm")
    tokens: list[str | None] = []
    found = machine.mirror.routes[f"/npm/{NAME}"]

    def packument(_: str, headers: Mapping[str, str]) -> object:
        tokens.append(headers.get("Authorization"))
        return found

    machine.mirror.routes[f"/npm/{NAME}"] = packument  # type: ignore[assignment]
    host = machine.mirror.url.removeprefix("http:")
    (machine.home / ".npmrc").write_text(f"registry={machine.mirror.url}/npm/\n{host}/npm/:_authToken=${{MY_TOKEN}}\n")
    assert machine.run(f"npm:{NAME}@{VERSION}", MY_TOKEN="t0ken").split() == [VERSION]
    assert set(tokens) == {"Bearer t0ken"}


@pytest.mark.slow
def test_cargo_reads_the_users_registry_and_no_planted_one(machine: Machine) -> None:
    needs("cargo")
    settings = machine.home / ".cargo" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(
        f'[registry]\ndefault = "mirror"\n[registries.mirror]\nindex = "sparse+{machine.mirror.url}/crates/"\n'
    )
    assert machine.run(f"crate:{NAME}@{VERSION}").split() == [VERSION]
    kept = machine.home / "elsewhere"
    shutil.copytree(settings.parent, kept)
    shutil.rmtree(settings.parent)
    assert machine.run(f"crate:{NAME}", CARGO_HOME=str(kept)).split() == [VERSION]


DUMP = """#!/bin/sh
pwd >{0}.cwd
env -0 >{0}.env
exit 1
"""


@pytest.mark.parametrize("client", ["npm", "cargo"])
def test_a_client_gets_named_variables_in_the_root_folder(machine: Machine, client: str) -> None:
    tools = machine.home / "tools"
    tools.mkdir()
    (tools / client).write_text(DUMP.format(machine.home / client))
    (tools / client).chmod(0o755)
    secrets = (
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "OPENAI_API_KEY",
        "SSH_AUTH_SOCK",
        "NODE_OPTIONS",
        "RUSTC_WRAPPER",
    )
    secrets += (
        "RUSTC",
        "CARGO_BUILD_RUSTC_WRAPPER",
        "LD_PRELOAD",
        "PYTHONPATH_X",
        "BASH_ENV",
        "npm_config_script_shell",
    )
    secrets += ("npm_config_node_options", "CARGO_REGISTRY_TOKEN", "PREFIX", "INIT_CWD", "GIT_SSH_COMMAND")
    given = {name: "" if name == "LD_PRELOAD" else "x" for name in secrets}
    path = os.pathsep.join(["", ".", "toolchain/bin", str(machine.shared), str(tools), "/usr/bin", "/bin"])
    machine.run(
        f"{client}:{NAME}".replace("cargo", "crate"),
        **given,
        PATH=path,
        HTTPS_PROXY="http://proxy",
        XDG_CACHE_HOME="cache",
    )
    raw = (machine.home / f"{client}.env").read_text().split("\0")
    found = dict(line.split("=", 1) for line in raw if line)
    assert not found.keys() & given.keys()
    allowed = {"HOME", "PATH", "TMPDIR", "HTTPS_PROXY", "NO_UPDATE_NOTIFIER", "PIP_DISABLE_PIP_VERSION_CHECK", "PWD"}
    allowed |= {"npm_config_fetch_retries", "_"} if client == "npm" else {"RUSTUP_HOME", "CARGO_NET_RETRY", "_"}
    assert found.keys() <= allowed | {"OLDPWD", "SHLVL", "LC_CTYPE"}
    assert found["PATH"] == os.pathsep.join([str(tools), "/usr/bin", "/bin"])
    assert Path(found["TMPDIR"]).is_relative_to(machine.home / ".cache" / "code-atlas" / "downloads")
    assert (machine.home / f"{client}.cwd").read_text() == "/\n"
    assert (machine.home / ".cache" / "code-atlas" / "downloads").stat().st_mode & 0o777 == 0o700
    assert not list((machine.home / ".cache" / "code-atlas" / "downloads").iterdir())


def test_a_client_that_others_can_change_is_not_run(machine: Machine) -> None:
    tools = machine.home / "tools"
    tools.mkdir()
    (tools / "npm").symlink_to(machine.project / "toolchain" / "bin" / "npm")
    machine.project.chmod(0o777)
    found = machine.run(f"npm:{NAME}", PATH=f"{machine.shared}{os.pathsep}{tools}")
    assert found.startswith("ConfigError npm:") and "other users can change" in found
    tools.chmod(0o777)
    (tools / "npm").unlink()
    shutil.copy(machine.shared / "npm", tools / "npm")
    assert "other users can change" in machine.run(f"npm:{NAME}", PATH=str(tools))


@pytest.mark.parametrize("client", ["npm", "cargo"])
def test_a_program_of_the_project_is_not_run(machine: Machine, client: str) -> None:
    """`npm run` and direnv put such folders at the start of PATH."""
    (machine.project / ".git").mkdir()
    tools = machine.project / "node_modules" / ".bin"
    tools.mkdir(parents=True)
    (tools / client).write_text(f"#!/bin/sh\ntouch {machine.home}/ran\n")
    (tools / client).chmod(0o755)
    source = {"npm": f"npm:{NAME}", "cargo": f"crate:{NAME}"}[client]
    assert f"{tools / client} lies in the project" in machine.run(source, PATH=str(tools))
    assert not (machine.home / "ran").exists()


@pytest.mark.parametrize("home", [".cargo", "shared"])
def test_a_configuration_that_others_can_change_is_refused(machine: Machine, home: str) -> None:
    needs("cargo")
    value = str(machine.shared / ".cargo") if home == "shared" else home
    (machine.shared / ".cargo").chmod(0o777)
    found = machine.run(f"crate:{NAME}", CARGO_HOME=value)
    assert found.startswith("ConfigError CARGO_HOME")


def test_a_home_that_others_can_change_configures_nothing(machine: Machine) -> None:
    mirror = {"PIP_INDEX_URL": f"{machine.mirror.url}/pypi/simple", "XDG_CACHE_HOME": str(machine.home)}
    (machine.shared / ".config" / "pip").mkdir(parents=True)
    shutil.copy(machine.shared / "pip.conf", machine.shared / ".config" / "pip" / "pip.conf")
    assert machine.run(f"pypi:{NAME}=={VERSION}", HOME=str(machine.shared), **mirror).split() == [VERSION]


def test_a_cache_that_others_can_change_is_refused(machine: Machine) -> None:
    machine.home.chmod(0o777)
    assert "other users can change" in machine.run(f"pypi:{NAME}=={VERSION}")
    answer = json.dumps(sorted(str(one) for one in machine.home.rglob("download-*")))
    assert answer == "[]"
