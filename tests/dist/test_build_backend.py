"""Building from source without the tools for it ends in one line that says what to install."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATE = ROOT / "rust-parser"
NEEDED = tomllib.loads((CRATE / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
HOOKS = ("get_requires_for_build_wheel", "get_requires_for_build_editable", "get_requires_for_build_sdist")


def programs(folder: Path, **scripts: str) -> dict[str, str]:
    """Return variables with a PATH that holds only these programs."""
    for name, script in scripts.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return {"PATH": str(folder)}


def refusal(variables: dict[str, str], *command: str) -> str:
    """Return the error output of a command that must fail."""
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, ""), done
    return done.stderr


def check(variables: dict[str, str]) -> str:
    return refusal(variables, sys.executable, str(CRATE / "build_backend.py"))


def rust(version: str) -> dict[str, str]:
    return {"cargo": "exit 0", "rustc": f"echo 'rustc {version} (0123abcd 2026-01-01)'"}


@pytest.mark.parametrize("hook", HOOKS)
def test_every_build_begins_with_the_check(hook: str, tmp_path: Path) -> None:
    script = f"import sys; sys.path.insert(0, 'rust-parser'); import build_backend; build_backend.{hook}()"
    error = refusal(programs(tmp_path), sys.executable, "-c", script)
    assert (
        error == f"cargo is not on PATH: to build Code Atlas, install Rust {NEEDED} or newer from https://rustup.rs\n"
    )


def test_a_compiler_that_is_too_old_or_does_not_run(tmp_path: Path) -> None:
    error = check(programs(tmp_path, **rust("1.70.0"), cc="exit 0"))
    assert error == f"Code Atlas needs Rust {NEEDED} or newer, found 1.70.0: run `rustup update stable`\n"
    error = check(programs(tmp_path, cargo="exit 1", rustc="exit 1"))
    assert error.endswith("found no toolchain that works: run `rustup update stable`\n")


def test_a_missing_c_compiler(tmp_path: Path) -> None:
    assert check(programs(tmp_path, **rust(f"{NEEDED}.0"))).startswith("no C compiler on PATH: ")


def test_nothing_is_missing(tmp_path: Path) -> None:
    variables = programs(tmp_path, **rust("2.1.0"), cc="exit 0")
    done = subprocess.run([sys.executable, str(CRATE / "build_backend.py")], env=variables, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_make_stops_before_it_sets_anything_up(tmp_path: Path) -> None:
    """In a fresh clone, whose folder has no environment yet."""
    clone = tmp_path / "clone"
    for name in ("Makefile", "pyproject.toml", "rust-parser/build_backend.py", "rust-parser/Cargo.toml"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "bin").mkdir()
    variables = programs(tmp_path / "bin")
    for name in ("sh", "find", "make"):
        found = subprocess.run(["which", name], capture_output=True, text=True, check=True, timeout=10).stdout.strip()
        (tmp_path / "bin" / name).symlink_to(found)
    command = [str(tmp_path / "bin" / "make"), "-C", str(clone), "run", f"PYTHON={sys.executable}"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    first, *others = done.stderr.splitlines()
    assert first.startswith("cargo is not on PATH: ") and all(line.startswith("make") for line in others), done.stderr
    assert not (clone / ".venv").exists()
