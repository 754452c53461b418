"""What the page measures, and how a step runs a command of `atlas bench`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atlas.core.errors import AtlasError
from atlas_bench.process import ATLAS, ENVIRONMENT


@dataclass(frozen=True, slots=True)
class Plan:
    """What the page measures. `tree` is measured by all steps, `others` by the lookups and the retrieval, too."""

    tree: Path
    others: Sequence[Path]
    answers: Sequence[Path]
    packages: Path | None
    questions: Sequence[Path]
    limit: int
    peers: Sequence[str]
    scratch: Path


def run_bench(arguments: Sequence[str]) -> Any:
    """Return the JSON document of a command of `atlas bench`, also if it reports failures. Raises AtlasError."""
    done = subprocess.run([*ATLAS, "bench", *arguments, "--json"], capture_output=True, env=ENVIRONMENT)
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise AtlasError(f"atlas bench {arguments[0]}: {said[-1] if said else 'no output'}") from error


def command(name: str, tree: Path) -> str:
    """Return the command as the page shows it."""
    return f"atlas bench {name} {tree.name}"
