"""Build backend (PEP 517): maturin, once a Rust toolchain and a C compiler are known to be there.

Without this check maturin downloads a Rust toolchain unasked, or the build ends in pages of compiler output. Run as a
program, it only checks; the Makefile does so before it sets anything up.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

if __name__ != "__main__":
    # the other hooks are maturin's own; each frontend calls a `get_requires_for_*` hook first
    from maturin import (
        build_editable,
        build_sdist,
        build_wheel,
        prepare_metadata_for_build_editable,
        prepare_metadata_for_build_wheel,
    )

    __all__ = [
        "build_editable",
        "build_sdist",
        "build_wheel",
        "get_requires_for_build_editable",
        "get_requires_for_build_sdist",
        "get_requires_for_build_wheel",
        "prepare_metadata_for_build_editable",
        "prepare_metadata_for_build_wheel",
    ]

COMPILERS = ("cc", "gcc", "clang")


def get_requires_for_build_wheel(config_settings: Mapping[str, object] | None = None) -> list[str]:
    """Return no further requirements. Ends the process with one line when the toolchain is incomplete."""
    if problem := missing():
        sys.exit(problem)
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


def missing() -> str:
    """Return what has to be installed before Code Atlas can be built, as one line; "" when nothing."""
    needed = _needed_rust()
    if not (shutil.which("cargo") and shutil.which("rustc")):
        return f"cargo is not on PATH: to build Code Atlas, install Rust {needed} or newer from https://rustup.rs"
    installed = _installed_rust()
    if _numbers(installed) < _numbers(needed):
        found = installed or "no toolchain that works"
        return f"Code Atlas needs Rust {needed} or newer, found {found}: run `rustup update stable`"
    if sys.platform != "win32" and not (os.environ.get("CC") or any(map(shutil.which, COMPILERS))):
        return "no C compiler on PATH: to build Code Atlas, install gcc or clang (macOS: xcode-select --install)"
    return ""


def _needed_rust() -> str:
    manifest = Path(__file__).with_name("Cargo.toml").read_text(encoding="utf-8")
    found = re.search(r'^rust-version = "([\d.]+)"', manifest, re.MULTILINE)
    return found[1] if found else "1"


def _installed_rust() -> str:
    try:
        done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""  # rustup without a default toolchain
    found = re.match(r"rustc ([\d.]+)", done.stdout)
    return found[1] if found else ""


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".") if number]


if __name__ == "__main__":
    sys.exit(missing() or None)
