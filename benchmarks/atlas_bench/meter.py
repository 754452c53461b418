"""CPU seconds and resident memory of a running process of this user, on Linux and macOS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROC = Path("/proc/self").exists()


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process so far; 0 if it has ended."""
    if PROC:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    days, _, clock = _ps("time", pid).rpartition("-")
    seconds = 86400.0 * int(days or 0)
    for unit, part in zip((1, 60, 3600), reversed(clock.split(":")), strict=False):
        seconds += unit * float(part or 0)
    return seconds


def children_cpu_seconds() -> float:
    """Return user and system time of the ended child processes of this process."""
    spent = os.times()
    return spent.children_user + spent.children_system


def rss_mb(pid: int) -> float:
    """Return the current resident memory of a process in MB; 0 if it has ended."""
    if PROC:
        return _status_kb(pid, "VmRSS") / 1024
    return int(_ps("rss", pid) or 0) / 1024


def forget_peak(pid: int) -> bool:
    """Reset the recorded peak memory of a process; False if the system cannot."""
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_rss_mb(pid: int) -> float:
    """Return the peak resident memory since the start or `forget_peak`, or the current one if none is recorded."""
    return _status_kb(pid, "VmHWM") / 1024 if PROC else rss_mb(pid)


def load_average() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0] if sys.platform != "win32" else 0.0


def _status_kb(pid: int, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


def _ps(column: str, pid: int) -> str:
    done = subprocess.run(["ps", "-o", f"{column}=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()
