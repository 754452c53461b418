"""Check an sdist: it holds every source that a build needs and nothing else; with --build, a wheel is built from it.

    python -m tests.dist.check_sdist DIST [--build] [--tag v1.2.3]

Building reuses the compiled dependencies of `rust-parser/target`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

from tests.dist.check_wheel import check_contents
from tests.dist.sources import ROOT, explain_difference, only, tracked

BESIDE = {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO"}
"""Files that the sdist has at its top."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Check an sdist.")
    parser.add_argument("dist", type=Path)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--tag", default="", help="the release's tag, which must name the version")
    arguments = parser.parse_args()
    sdist = only(arguments.dist, "*.tar.gz")
    if arguments.tag:
        stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["code-atlas"]["published"]
        # README and docs then say `pip install code-atlas`: tests/surfaces/test_installation.py
        assert stated, "published = true under [tool.code-atlas], and the pages that say how to install, come first"
    assert arguments.tag in ("", f"v{sdist.name[len('code_atlas-') : -len('.tar.gz')]}"), (arguments.tag, sdist.name)
    with tarfile.open(sdist) as archive:
        check_names({member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()})
        print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, every source and nothing else")
        if arguments.build:
            with tempfile.TemporaryDirectory(prefix="atlas-sdist-") as folder:
                archive.extractall(folder, filter="data")
                check_build(only(Path(folder), "*"), Path(folder) / "wheels")


def check_names(names: set[str]) -> None:
    """Fail when the sdist lacks a source or holds a file that is none."""
    expected = BESIDE | {name for name in tracked("atlas", "rust-parser") if not name.startswith("rust-parser/parse/tests/")}
    found = {name for name in names if not name.startswith("rust-parser/parse/tests/")}
    assert found == expected, explain_difference(expected, found)


def check_build(source: Path, wheels: Path) -> None:
    """Build a wheel from the unpacked sdist the way that pip does, and check what it holds."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "rust-parser" / "target")}
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(source)]
    subprocess.run(command, env=environment, check=True, timeout=1800)
    check_contents(only(wheels, "*.whl"))
    print("a wheel builds from the unpacked sdist")


if __name__ == "__main__":
    main()
