"""Compare the pinned Python packages and the Rust crates with lists of known vulnerabilities.

    python -m tests.dist.audit [--required]

The lists come from the network. Where they cannot be reached, that is said; with --required it is a failure, since
"nothing found" must not mean "nothing asked".
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.dist.sources import ROOT


@dataclass(frozen=True, slots=True)
class Audit:
    """What was compared: how many packages were, lines about the vulnerable ones, and why others were not."""

    checked: int
    vulnerable: tuple[str, ...] = ()
    unchecked: str = ""


def main() -> None:
    audits = {"Python": python_audit(), "Rust": rust_audit()}
    for name, audit in audits.items():
        print(f"{name}: {audit.checked} packages compared, {len(audit.vulnerable)} known vulnerabilities")
        for line in audit.vulnerable:
            print(f"  {line}")
        if audit.unchecked:
            print(f"  not checked: {audit.unchecked}")
    required = "--required" in sys.argv
    sys.exit(any(audit.vulnerable or (required and audit.unchecked) for audit in audits.values()))


def python_audit() -> Audit:
    """Compare what constraints.txt pins for this Python and platform."""
    program = Path(sysconfig.get_path("scripts"), "pip-audit")
    if not program.exists():
        return Audit(0, unchecked="pip-audit is not installed")
    command = [str(program), "-r", "constraints.txt", "--no-deps", "--disable-pip", "-f", "json"]
    return read_python(*_run([*command, "--progress-spinner", "off"], ROOT))


def read_python(report: str, error: str) -> Audit:
    """Read the report of pip-audit, which exits with 0 when it could look up nothing."""
    try:
        packages: list[dict[str, Any]] = json.loads(report)["dependencies"]
    except (ValueError, KeyError):
        return Audit(0, unchecked=_last_line(error))
    skipped = [one for one in packages if "skip_reason" in one]
    vulnerable = tuple(
        f"{one['name']} {one['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or 'no version'}"
        for one in packages
        for found in one.get("vulns", ())
    )
    why = f"{len(skipped)} packages, the first: {skipped[0]['skip_reason']}" if skipped else ""
    return Audit(len(packages) - len(skipped), vulnerable, why or ("" if packages else "the report is empty"))


def rust_audit() -> Audit:
    """Compare the crates of Cargo.lock."""
    if not shutil.which("cargo-audit"):
        return Audit(0, unchecked="cargo-audit is not installed: cargo install --locked cargo-audit")
    return read_rust(*_run(["cargo", "audit", "--json"], ROOT / "rust-parser"))


def read_rust(report: str, error: str) -> Audit:
    """Read the report of cargo-audit; without its database there is none."""
    try:
        document: dict[str, Any] = json.loads(report)
        count = document["lockfile"]["dependency-count"]
        found = document["vulnerabilities"]["list"]
    except (ValueError, KeyError):
        return Audit(0, unchecked=_last_line(error))
    lines = (f"{one['package']['name']} {one['package']['version']}: {one['advisory']['id']}" for one in found)
    return Audit(count, tuple(lines))


def _run(command: list[str], folder: Path) -> tuple[str, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    return done.stdout, done.stderr


def _last_line(error: str) -> str:
    return (error.strip().splitlines() or ["it gave no report"])[-1]


if __name__ == "__main__":
    main()
