"""Secrets that are indexed, and alarms that are none: `python -m tests.bench.secrets [--alarms FOLDER ...]`.

Without options: seeds a tree with every kind of `secret_kinds` in several languages and ways to write it, runs the real
`atlas index` on it, and looks for each literal in every byte of the data folder, its compressed contents included
(`tests/surfaces/test_secrets.py` asks the tools). Prints the kinds that were found again and the share that was not;
exits with 1 below 97 %.

With `--alarms`: runs the scanner over every text file of the folders and prints each alarm with its place, for a person
to judge, and the rate per 10,000 files.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas._parser import VectorIndex, find_secrets
from atlas.adapters.stores.sqlite.store import EmbeddedStore

from .secret_kinds import KEYS, KINDS, Kind

WANTED = 0.97
BINARY_SUFFIXES = frozenset(
    [
        ".png",
        ".jpg",
        ".gif",
        ".so",
        ".pyc",
        ".gz",
        ".zip",
        ".whl",
        ".woff",
        ".woff2",
        ".ttf",
        ".ico",
        ".mo",
        ".node",
        ".wasm",
        ".a",
        ".o",
        ".npy",
    ]
)

WRITTEN = {
    "py": ('{name} = "{text}"', "connect({name}='{text}')", 'settings["{name}"] = """{text}"""'),
    "js": ('const {name} = "{text}";', "export default {{ {name}: '{text}' }};", "client.set('{name}', `{text}`);"),
    "ts": ('const {name}: string = "{text}";', "export const config = {{ '{name}': \"{text}\" }};"),
    "go": ('package a\n\nvar {name} = "{text}"', 'package a\n\nfunc init() {{\n\tos.Setenv("{name}", "{text}")\n}}'),
    "java": ('class A {{\n    static final String {name} = "{text}";\n}}',),
    "rs": ('pub const {name}: &str = "{text}";',),
    "rb": ("{name} = '{text}'", "options = {{ {name}: '{text}' }}"),
    "php": ("<?php\n${name} = '{text}';", "<?php\nreturn ['{name}' => '{text}'];"),
    "cs": ('class A {{ string {name} = "{text}"; }}',),
    "md": (
        "# Set-up\n\n```sh\nexport {name}={text}\n```",
        "# Set-up\n\n```yaml\n{name}: {text}\n```",
        "Use `{text}` as {name}.",
    ),
}
"""Ways to write a literal under a name, by extension. The last one of Markdown names it too late for a generic rule."""
QUOTE_BY_LINES = {"py": '"""', "js": "`", "ts": "`", "go": "`", "md": "```"}


@dataclass(frozen=True)
class Seed:
    """One literal in one file."""

    kind: str
    path: str
    literal: str


def seeds(root: Path, chance: random.Random) -> list[Seed]:
    """Write the tree; each kind in every language that can hold it."""
    made: list[Seed] = []
    for number, kind in enumerate(KINDS):
        for extension in QUOTE_BY_LINES if kind in KEYS else WRITTEN:
            literal = kind.literal(chance)
            path = f"part{number % 7}/{kind.id.replace('-', '_')}_{extension}.{extension}"
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(_source(kind, literal, extension, chance) + "\n", "utf-8")
            made.append(Seed(kind.id, path, literal))
    return made


def _source(kind: Kind, literal: str, extension: str, chance: random.Random) -> str:
    text = kind.line.replace("{}", literal) or literal
    if kind in KEYS:
        quote = QUOTE_BY_LINES[extension]
        head = {
            "py": "KEY = ",
            "js": "const key = ",
            "ts": "const key = ",
            "go": "package a\n\nconst key = ",
            "md": "# Key\n\n",
        }
        return f"{head[extension]}{quote}\n{text}\n{quote}"
    ways = WRITTEN[extension]
    shapes = ways if _has_shape(kind) or extension != "md" else ways[:-1]
    name = "endpoint" if kind.line else kind.name
    return chance.choice(shapes).format(name=name, text=text)


def _has_shape(kind: Kind) -> bool:
    """Is the literal known by itself, wherever it stands?"""
    return bool(kind.line) or kind.name == "credential"


def index(root: Path, data: Path) -> None:
    """Run the real command."""
    environment = {**os.environ, "ATLAS_EMBEDDER_PROVIDER": "none"}
    command = [sys.executable, "-m", "atlas", "index", str(root), "--data-dir", str(data)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


async def stored(data: Path) -> bytes:
    """Return every byte of a data folder, and the contents that lie compressed in its store."""
    files = _bytes_below(data)
    store = EmbeddedStore.open(data, writing=False, vector_index=VectorIndex)
    for state in await store.projects():
        paths = list(await store.manifest(state.project))
        files += (await store.content(state.project, paths)).values()
    await store.aclose()
    return b"\0".join(files)


def _bytes_below(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]


def leaked(made: Sequence[Seed], kept: bytes) -> list[Seed]:
    """Return the seeds whose literal, or a line of it, is in what an index keeps."""
    return [seed for seed in made if any(line.encode() in kept for line in seed.literal.split("\n"))]


def run_seeds(seed: int) -> bool:
    """Print what is found again of the kinds that were seeded, and the share that is not."""
    with tempfile.TemporaryDirectory() as folder:
        root, data = Path(folder) / "tree", Path(folder) / "data"
        made = seeds(root, random.Random(seed))
        index(root, data)
        kept = asyncio.run(stored(data))
        missed = leaked(made, kept)
        # A tree that was not indexed leaks nothing: what stands beside the literals must be there.
        assert b"export const config" in kept and b"DefaultEndpointsProtocol" in kept
    per_kind, missed_of = Counter(each.kind for each in made), Counter(each.kind for each in missed)
    for each in missed:
        print(f"missed {each.kind} in {each.path}")
    whole = sum(missed_of[kind] == 0 for kind in per_kind)
    share = 1 - len(missed) / len(made)
    print(
        f"{len(per_kind)} kinds, {whole} found in every file; {len(made) - len(missed)} of {len(made)} literals = {share:.3f}"
    )
    return share >= WANTED


def texts(root: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the text files of a folder that an index would not find too large."""
    for path in sorted(root.rglob("*")):
        if path.suffix in BINARY_SUFFIXES or path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if len(data) <= 1 << 20 and b"\0" not in data[:4096]:
            yield path, data


def run_alarms(root: Path) -> None:
    """Print every alarm of a folder, masked after its first six characters, and their rate."""
    files = alarms = size = 0
    spent = 0.0
    alarmed: set[Path] = set()
    for path, data in texts(root):
        files, size = files + 1, size + len(data)
        started = time.process_time()
        found = find_secrets(data)
        spent += time.process_time() - started
        for start, end, rule, line in found:
            alarms += 1
            alarmed.add(path)
            before = data[max(0, start - 40) : start].decode("utf-8", "replace").replace("\n", " ")
            print(
                f"{path.relative_to(root)}:{line}: {rule}: {before}|{data[start : start + 6].decode('utf-8', 'replace')}... ({end - start})"
            )
    rate = 10_000 * len(alarmed) / max(files, 1)
    print(
        f"{root.name}: {files} files, {size >> 20} MiB, {spent:.2f} s; {alarms} alarms in {len(alarmed)} files = {rate:.1f} per 10,000 files before judging"
    )


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alarms", nargs="*", type=Path, default=[])
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    for root in arguments.alarms:
        run_alarms(root)
    return 0 if arguments.alarms or run_seeds(arguments.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
