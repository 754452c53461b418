"""Makes `atlas/packs/questions/background.txt`: how often stems stand in documentation at large.

`python -m tests.bench.pack_background FOLDER ...` takes folders of packs. A stem's share is the mean over the packs of
the share of passages that have it. Packs on which the gate is judged must not be among them
(`docs/measurements/packs.md` names those that are).
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from atlas.packs.questions import background
from atlas.packs.questions.retrieval.vocabulary import MARK

LEAST = 1 / 12_000
"""A rarer stem is not expected in a pack, so its absence says nothing."""
IN_PACKS = 2
"""A stem of a single documentation may be a name of its own."""


def usual(folders: list[Path]) -> dict[str, background.Usual]:
    """Return the mean share of passages by stem, and how topical it is."""
    total: dict[str, float] = {}
    most: dict[str, float] = {}
    packs: dict[str, int] = {}
    for folder in folders:
        raw = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
        for stem, count in raw["stems"].items():
            share = count / raw["passages"]
            total[stem] = total.get(stem, 0.0) + share / len(folders)
            most[stem] = max(most.get(stem, 0.0), share)
            packs[stem] = packs.get(stem, 0) + 1
    kept = (stem for stem, share in total.items() if share >= LEAST and packs[stem] >= IN_PACKS)
    return {
        stem.removeprefix(MARK): background.Usual(total[stem], min(most[stem] / total[stem] / background.TOPICAL, 1.0))
        for stem in kept
        if stem.removeprefix(MARK).isalpha()
    }


def text_of(found: dict[str, background.Usual]) -> str:
    """Return the table: each line has a step, the topicality, and the stems with the share 2 ** (-step / 2)."""
    steps: dict[tuple[int, int], list[str]] = {}
    for stem, (share, topical) in found.items():
        steps.setdefault((round(-2 * math.log2(share)), round(topical * background.TOPICAL)), []).append(stem)
    return "".join(f"{step} {topical} {' '.join(sorted(stems))}\n" for (step, topical), stems in sorted(steps.items()))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    found = usual(sorted(parser.parse_args().folders))
    background.FILE.write_text(text_of(found), encoding="utf-8")
    print(f"{len(found):,} stems")


if __name__ == "__main__":
    main()
