"""How long questions about many notes take: p50 and p95 of wall time and CPU time, and the memory of the process.

`python -m tests.bench.notes [--notes 50000] [--folder FOLDER]` writes claims, and entities with observations, into a
temporary folder (or a given one, which is kept and used again), indexes them, and asks in a process of its own, as a
server would.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.index.events import no_progress
from atlas.core.model import Direction, Label
from atlas.core.short_term import ShortTermEntry
from atlas.knowledge.notes.ids import IdSource
from atlas.knowledge.retrieval.hits import NOTE_LABELS, NoteFilter
from atlas.knowledge.retrieval.lineage import find_lineage
from atlas.knowledge.retrieval.retrieval import clashing_notes, concept_notes, find_notes, similar_notes
from atlas.knowledge.retrieval.short_term import merge_short_term
from atlas.runtime.config.load import load_settings

OBSERVATIONS = 100
"""Observations of an entity; two fifths of all notes are observations."""
SEED = 20260131
_SUBJECTS = [
    "the billing service",
    "the parser",
    "our cache",
    "the nightly job",
    "the search index",
    "the mobile app",
    "the gateway",
    "the scheduler",
    "the vector store",
    "the login page",
    "the export tool",
    "the payment queue",
    "the report generator",
    "the proxy",
    "the build",
    "the staging cluster",
    "the mail relay",
    "the audit log",
    "the importer",
    "the dashboard",
]
_VERBS = [
    "needs",
    "drops",
    "retries",
    "rejects",
    "stores",
    "loses",
    "copies",
    "compresses",
    "validates",
    "blocks",
    "releases",
    "measures",
    "doubles",
    "halves",
    "rotates",
    "encrypts",
    "renames",
    "splits",
    "merges",
    "delays",
]
_OBJECTS = [
    "large requests",
    "old sessions",
    "duplicate rows",
    "broken links",
    "expired tokens",
    "invoices",
    "snapshots",
    "partial files",
    "timestamps",
    "customer names",
    "unused indexes",
    "slow queries",
    "empty batches",
    "certificates",
    "foreign keys",
    "images",
    "log lines",
    "retries",
    "temporary tables",
    "signatures",
]
_CIRCUMSTANCES = [
    "during deployments",
    "after midnight",
    "in the Frankfurt region",
    "when the disk is full",
    "for new customers",
    "under load",
    "on Fridays",
    "without a warning",
    "because of a timeout",
    "since the last upgrade",
    "in version 3",
    "for every tenant",
    "behind the firewall",
    "at the end of the month",
    "while the backup runs",
    "if the cache is cold",
]
_NAMES = [
    "Maria",
    "Tomas",
    "Greta",
    "Samir",
    "Olga",
    "Hiro",
    "Nia",
    "Felix",
    "Clara",
    "Ravi",
    "Ines",
    "Malik",
    "Nora",
    "Theo",
    "Leila",
    "Jonas",
]
_FAMILIES = [
    "Lopez",
    "Nowak",
    "Rossi",
    "Carter",
    "Tanaka",
    "Okafor",
    "Dubois",
    "Patel",
    "Ivanova",
    "Lindqvist",
    "Haddad",
    "Berg",
    "Costa",
    "Weber",
]


def write_notes(folder: Path, count: int) -> None:
    """Write `count` notes as files."""
    source, ids = random.Random(SEED), IdSource()
    claims: list[str] = []
    for number in range(count * 3 // 5):
        claim = ids.new("claim")
        relations = [
            {"type": source.choice(("supports", "refutes", "implies", "extends")), "to": source.choice(claims)}
            for _ in range(source.randint(0, 2) if claims else 0)
        ]
        claims.append(claim)
        front = {"id": claim, "kind": "claim", "confidence": round(source.random(), 2), "created": _time(source)}
        _write(folder / f"claims/{number // 1000}/{number}.md", {**front, "relations": relations}, _sentence(source))
    for number in range(count * 2 // 5 // OBSERVATIONS):
        name = f"{source.choice(_NAMES)} {source.choice(_FAMILIES)} {number}"
        body = "\n".join(
            f"- {_time(source)} [{ids.new('observation')}] {_sentence(source)} (client: bench/1)"
            for _ in range(OBSERVATIONS)
        )
        _write(folder / f"entities/{number}.md", {"id": ids.new("entity"), "kind": "entity", "name": name}, body)


def _sentence(source: random.Random) -> str:
    parts = (source.choice(words) for words in (_SUBJECTS, _VERBS, _OBJECTS, _CIRCUMSTANCES))
    return f"{' '.join(parts).capitalize()}, measured as {source.randint(2, 9999)} by {source.choice(_NAMES)}."


def _time(source: random.Random) -> str:
    return f"20{source.randint(23, 26)}-{source.randint(1, 12):02}-{source.randint(1, 28):02}T09:{source.randint(0, 59):02}:00Z"


def _write(path: Path, front: dict[str, object], body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}: {json.dumps(value)}" for key, value in front.items()]
    path.write_text("\n".join(("---", *lines, "---", body, "")), encoding="utf-8")


def _question(source: random.Random) -> str:
    forms = (
        "Why does {s} {v} {o}?",
        "{o} {c}",
        "What did {n} say about {o}?",
        "when was {s} changed {c}",
        "{s} {v} {o} {c}",
    )
    return source.choice(forms).format(
        s=source.choice(_SUBJECTS),
        v=source.choice(_VERBS),
        o=source.choice(_OBJECTS),
        c=source.choice(_CIRCUMSTANCES),
        n=f"{source.choice(_NAMES)} {source.choice(_FAMILIES)}",
    )


async def ask(root: Path, data: Path, rounds: int) -> None:
    """Ask each kind of question `rounds` times and print the times."""
    source = random.Random(SEED)
    async with open_atlas(load_settings(str(root), str(data))) as atlas:
        reader = atlas.reader
        await find_notes(reader, "warm up", NoteFilter(), 5)
        rows = await reader.store.vectors(reader.project, 2000, f"{reader.project}:c-", "prose")
        uids = [row.uid for row in rows]
        print(f"after the first question: {_memory('VmRSS')} MB")

        async def lineage() -> None:
            await find_lineage(reader.store, source.choice(uids), source.choice(uids), 3)

        async def unit() -> None:
            uid = source.choice(uids)
            await reader.store.symbols([uid])
            await asyncio.gather(*(reader.store.edges([uid], direction) for direction in Direction))

        claims = NoteFilter(labels=(Label.CLAIM, Label.DECISION))
        kinds: dict[str, Callable[[], Awaitable[object]]] = {
            "recall": lambda: find_notes(reader, _question(source), NoteFilter(), 10),
            "recall since": lambda: find_notes(reader, _question(source), NoteFilter(since="2026-01-01"), 10),
            "semantic_search": lambda: find_notes(reader, _question(source), claims, 10),
            "semantic_search, min_confidence": lambda: find_notes(
                reader, _question(source), NoteFilter(labels=claims.labels, min_confidence=0.8), 10
            ),
            "similar at the write": lambda: similar_notes(reader, _sentence(source), NOTE_LABELS),
            "clashing": lambda: clashing_notes(reader, _sentence(source), claims.labels),
            "concept": lambda: concept_notes(reader, _question(source), 5),
            "lineage": lineage,
            "get by id": unit,
        }
        for name, call in kinds.items():
            await _time_of(name, call, rounds)
        await _short_term(atlas, rounds)
    print(f"peak memory: {_memory('VmHWM')} MB")


async def _short_term(atlas: Atlas, rounds: int) -> None:
    assert atlas.reader.prose_embedder is not None
    source, now = random.Random(SEED), time.time()
    vectors = [await atlas.reader.prose_embedder.embed_query(_sentence(source)) for _ in range(10_000)]
    entries = [ShortTermEntry(str(at), f"{at}", now, now + 60, "", vector) for at, vector in enumerate(vectors)]

    async def merge() -> None:
        merge_short_term(source.choice(vectors), b"", entries, (), 10, now)

    await _time_of("merge 10,000 short-term entries", merge, max(1, rounds // 4))


async def _time_of(name: str, call: Callable[[], Awaitable[object]], rounds: int) -> None:
    walls: list[float] = []
    start = time.process_time()
    for _ in range(rounds):
        began = time.perf_counter()
        await call()
        walls.append(1000 * (time.perf_counter() - began))
    cpu = 1000 * (time.process_time() - start) / rounds
    walls.sort()
    p50, p95 = walls[len(walls) // 2], walls[int(len(walls) * 0.95)]
    print(f"{name:<34} p50 {p50:6.1f} ms   p95 {p95:6.1f} ms   CPU {cpu:6.1f} ms a call")


def _memory(key: str) -> int:
    """Return VmRSS or VmHWM (the peak) of this process in MB; `ru_maxrss` would include that of its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(f"{key}:")[2].split()[0]) // 1024


def main() -> None:
    """Write and index the notes, then ask in another process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=200, help="questions of each kind")
    parser.add_argument("--folder", type=Path, help="kept, and used again if it is there")
    parser.add_argument("--ask", action="store_true", help="ask only; for the process that answers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        root, data = folder / "notes", folder / "data"
        if options.ask:
            asyncio.run(ask(root, data, options.rounds))
            return
        if not root.exists():
            began = time.perf_counter()
            write_notes(root / ".knowledge", options.notes)
            print(f"{options.notes} notes written in {time.perf_counter() - began:.1f} s")
        began, cpu = time.perf_counter(), time.process_time()
        asyncio.run(index_project(load_settings(str(root), str(data)), no_progress))
        peak = _memory("VmHWM")
        print(
            f"indexed in {time.perf_counter() - began:.1f} s, {time.process_time() - cpu:.1f} s of CPU, peak {peak} MB"
        )
        command = [sys.executable, "-m", "tests.bench.notes", "--ask", "--folder", str(folder)]
        subprocess.run([*command, "--rounds", str(options.rounds)], check=True)


if __name__ == "__main__":
    main()
