"""`make run`: builds with the output in a log, indexes Python's own library, and asks it three questions.

Needs nothing but the standard library, because it runs before anything is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(".demo")
LOG = FOLDER / "run.log"
BIN = Path(".venv/bin")
SHOWN_LINES = 30
"""Last lines of the log that a failure shows."""

QUESTIONS = (
    (
        "path from json.dumps to JSONEncoder.iterencode",
        ("JSONEncoder.encode", "JSONEncoder.iterencode"),
        5,
        "over which calls one function reaches another: grep has no answer",
    ),
    (
        "where is the cache of compiled regular expressions purged",
        ("purge() re/__init__.py",),
        2,
        "in words that are not the code's; each hit says how sure it is",
    ),
    (
        "subclasses of logging.Handler",
        ("StreamHandler", "RotatingFileHandler", "through logging.StreamHandler"),
        4,
        "directly and through others: of 156 lines for `class .+\\(.*Handler.*\\):` in Python 3.11, 11 are direct ones",
    ),
)
"""A question, what its answer must contain, how many lines of it are shown, and what is special about it."""


def main() -> int:
    """Return the exit code: 0 if everything was built and all three answers are right."""
    FOLDER.mkdir(exist_ok=True)
    LOG.write_text("")
    make = [os.environ.get("MAKE") or "make", ".venv/built", f"PYTHON={sys.executable}"]
    if not run_logged("build and install into .venv", make):
        return 1
    asked = [str(BIN / "python"), "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]
    library = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    options = ["--data-dir", str(FOLDER / "index"), "--project", library]
    if not run_logged("index Python's own library", [str(BIN / "atlas"), *options, "index"]):
        return 1
    wrong = 0
    for number, (question, expected, lines, why) in enumerate(QUESTIONS, 1):
        began = time.monotonic()
        command = [str(BIN / "atlas"), *options, "search", question, "--no-tests", "--token-budget", "900"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        seconds = time.monotonic() - began
        is_right = done.returncode == 0 and all(part in done.stdout for part in expected)
        wrong += not is_right
        print(f"\n{number}. {question}   ({seconds:.1f} s{'' if is_right else ', NOT the expected answer'})\n   {why}")
        for line in done.stdout.splitlines()[1 : 1 + lines] if is_right else (done.stdout + done.stderr).splitlines():
            print(f"   | {line[:110]}")
    print("\nOn your own project:  . .venv/bin/activate && cd my-project && atlas index")
    print('then:                 atlas search "callers of NAME"   or connect your agent: atlas connect')
    return 1 if wrong else 0


def run_logged(what: str, command: list[str]) -> bool:
    """Run a command with its output in the log and its time on one line; show the end of the log if it fails."""
    began = time.monotonic()
    is_terminal = sys.stdout.isatty()
    print(f"{what} (output: {LOG}) ...", end="", flush=True)
    with LOG.open("a") as log:
        log.write(f"$ {' '.join(command)}\n")
        log.flush()
        with subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment()) as process:
            while True:
                try:
                    code = process.wait(1)
                    break
                except subprocess.TimeoutExpired:
                    seconds = round(time.monotonic() - began)
                    if is_terminal:
                        print(f"\r{what} (output: {LOG}) ... {seconds} s", end="", flush=True)
                    elif seconds % 60 == 0:  # keeps a CI job that shows no terminal from looking dead
                        print(".", end="", flush=True)
    print(
        f"{chr(13) if is_terminal else ' '}{what if is_terminal else ''} {'done' if code == 0 else 'FAILED'} in", end=""
    )
    print(f" {time.monotonic() - began:.0f} s".ljust(40 if is_terminal else 0))
    if code:
        print("\n".join(LOG.read_text(errors="replace").splitlines()[-SHOWN_LINES:]))
        print(f"failed: {' '.join(command)}; all of its output is in {LOG}")
    return code == 0


def environment() -> dict[str, str]:
    """Return the environment without what the outer make passes on; no daemon stays behind."""
    kept = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return {**kept, "ATLAS_MCP_START_DAEMON": "false"}


if __name__ == "__main__":
    sys.exit(main())
