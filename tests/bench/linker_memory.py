"""Memory of a warm linker over many edits: `python tests/bench/linker_memory.py ROOT [EDITS]`.

Parses every file below ROOT that a language claims, links them, then applies random edits of one file each as a daemon
does and prints resident set and CPU seconds. Exits with 1 when memory grew by more than a tenth after the first hundred.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from atlas.parsing import Linker, ParsedFile, load_languages, parse_bytes, scan

WARM_UP = 100
MAX_GROWTH = 1.10


def resident_mb() -> float:
    """Resident set now; Linux only."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def edited(text: bytes, number: int, dice: random.Random) -> bytes:
    """One random edit: a function more, a name changed, a block moved away, or the file as it was."""
    lines = text.splitlines(keepends=True)
    kind = dice.randrange(4)
    if kind == 0 or not lines:
        return text + b"\ndef added_%d(value):\n    return added_%d(value)\n" % (number, number % 50)
    if kind == 1:
        return text.replace(b"def ", b"def renamed_%d_" % (number % 200), 1)
    if kind == 2:
        start = dice.randrange(len(lines))
        return b"".join(lines[:start] + lines[start + 20 :])
    return text


def main(root: Path, edits: int) -> int:
    languages = load_languages()
    paths = [file.path for file in scan(str(root), languages).files]
    linker = Linker("bench", languages)
    parsed: list[ParsedFile] = [parse_bytes(languages, path, (root / path).read_bytes()) for path in paths]
    linker.update(parsed)
    parsed.clear()
    linker.rest()
    print(f"{len(paths)} files, linked and at rest: {resident_mb():.0f} MB")
    dice = random.Random(20)
    started, first = time.process_time(), 0.0
    for number in range(1, edits + 1):
        path = dice.choice(paths)
        linker.update([parse_bytes(languages, path, edited((root / path).read_bytes(), number, dice))])
        linker.rest()
        if number == min(WARM_UP, edits):
            first = resident_mb()
        if number % max(1, edits // 10) == 0:
            spent = (time.process_time() - started) / number * 1000
            print(f"{number} edits: {resident_mb():.0f} MB, {spent:.1f} CPU ms each", flush=True)
    return int(resident_mb() > first * MAX_GROWTH)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000))
