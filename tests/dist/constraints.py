"""Write constraints.txt: one version of every package that an installation may need, for each Python and platform.

    python -m tests.dist.constraints

Versions are the newest ones that exist as wheels. uv resolves: unlike pip, it can do so for other platforms.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
from collections import defaultdict
from collections.abc import Collection
from itertools import product
from pathlib import Path

from tests.dist.sources import ROOT

FILE = ROOT / "constraints.txt"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "x86_64-manylinux_2_28": ("linux", "x86_64"),
    "aarch64-manylinux_2_28": ("linux", "aarch64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
    "x86_64-apple-darwin": ("darwin", "x86_64"),
}
"""Name of a platform for uv -> its values of `sys_platform` and `platform_machine`."""
NO_WHEELS = {("3.14", "x86_64-apple-darwin"): frozenset(("quality", "rerank"))}
"""Extras that cannot be installed somewhere: onnxruntime has no wheel for Intel Macs since Python 3.14."""
HEAD = """\
# One version of every dependency of Code Atlas and its extras, for Python {} to {} on Linux and macOS 14:
#
#   pip install -c constraints.txt code_atlas-*.whl
#
# Written by `make constraints`; do not edit.
"""

Environment = tuple[str, str]
"""A Python and a platform."""


def main() -> None:
    pins: dict[str, dict[str, set[Environment]]] = defaultdict(lambda: defaultdict(set))
    for environment in product(PYTHONS, PLATFORMS):
        for line in resolve(*environment).splitlines():
            name, _, version = line.partition(";")[0].strip().partition("==")
            assert name and version, line
            pins[name][version].add(environment)
    lines = [line for name, versions in sorted(pins.items()) for line in pinned(name, versions)]
    FILE.write_text(HEAD.format(PYTHONS[0], PYTHONS[-1]) + "".join(f"{line}\n" for line in lines))
    print(f"{FILE.name}: {len(pins)} packages, {sum(len(one) > 1 for one in pins.values())} with several versions")


def pins() -> list[tuple[str, str]]:
    """Return name and version, with its condition, of every line of the file."""
    lines = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    return [(name, version) for name, _, version in (line.partition("==") for line in lines)]


def extras(python: str, platform: str) -> list[str]:
    """Return the extras that can be installed with a Python on a platform."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return sorted(set(document["project"]["optional-dependencies"]) - NO_WHEELS.get((python, platform), frozenset()))


def resolve(python: str, platform: str) -> str:
    """Return the versions for one environment, as lines of a requirements file."""
    command = [str(Path(sysconfig.get_path("scripts"), "uv")), "pip", "compile", "pyproject.toml", "--quiet"]
    command += ["--no-header", "--no-annotate", "--no-emit-index-url", "--only-binary", ":all:"]
    command += ["--python-version", python, "--python-platform", platform]
    command += [word for name in extras(python, platform) for word in ("--extra", name)]
    variables = os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        sys.exit(f"Python {python} on {platform}:\n{done.stderr}")
    return done.stdout


def pinned(name: str, versions: dict[str, set[Environment]]) -> list[str]:
    """Return the lines of one package: one line without a condition where it has one version."""
    if len(versions) == 1:
        return [f"{name}=={version}" for version in versions]
    lines: list[str] = []
    for version, environments in sorted(versions.items()):
        by_platforms: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for python in PYTHONS:
            if platforms := tuple(one for one in PLATFORMS if (python, one) in environments):
                by_platforms[platforms].append(python)
        lines += [f"{name}=={version} ; {condition(*where)}" for where in by_platforms.items()]
    return lines


def condition(platforms: Collection[str], pythons: Collection[str]) -> str:
    """Return the marker that holds for these platforms with these Pythons."""
    parts: list[str] = []
    if len(pythons) < len(PYTHONS):
        parts.append(" or ".join(f"python_version == '{one}'" for one in pythons))
    if len(platforms) < len(PLATFORMS):
        values = (PLATFORMS[one] for one in platforms)
        parts.append(" or ".join(f"sys_platform == '{a}' and platform_machine == '{b}'" for a, b in values))
    return " and ".join(f"({one})" for one in parts)


if __name__ == "__main__":
    main()
