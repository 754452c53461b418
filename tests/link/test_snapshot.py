"""A linker that continues from a snapshot, and the snapshots that it refuses."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from atlas import _parser

LANGUAGES = _parser.Languages([str(Path(__file__).parents[2] / "atlas" / "languages")])
TEXTS = {
    "a.py": "import json\nclass A:\n    def step(self): return json.dumps(self)\n",
    "b.py": "from a import A\ndef run(): return A().step()\n",
    "c.py": "import b\nb.run()\n",
    "d.md": "# Note\n\nSee `A.step`.\n",
    "tests/test_b.py": "import pytest\nfrom b import run\n@pytest.fixture\ndef ran(): return run()\n\ndef test_run(ran): run()\n",
}
Units = list[tuple[str, str, str]]


def parse(path: str, text: str) -> _parser.ParsedFile:
    return _parser.parse_bytes(LANGUAGES, path, text.encode())


def linked(texts: dict[str, str], project: str = "p") -> _parser.Linker:
    linker = _parser.Linker(project, LANGUAGES)
    linker.update([parse(path, text) for path, text in texts.items()])
    return linker


def units_of(linker: _parser.Linker, texts: dict[str, str]) -> Units:
    digest = {path: _parser.content_digest(text.encode()) for path, text in texts.items()}
    return [(path, digest.get(path, ""), unit) for path, unit in linker.digests().items()]


def rows(linker: _parser.Linker) -> dict[str, tuple[list[object], list[object]]]:
    return {path: ([*unit.nodes()], [*unit.edges()]) for path in linker.digests() for unit in [linker.unit(path)]}


class Saved:
    """The snapshot of a linked project with its facts."""

    def __init__(self, folder: Path) -> None:
        self.facts, self.file = folder / "facts.bin", folder / "facts.bin.links"
        self.cache = _parser.FactsCache(str(self.facts))
        self.cache.put([parse(path, text) for path, text in TEXTS.items()])
        self.linker = linked(TEXTS)
        self.units = units_of(self.linker, TEXTS)
        assert self.linker.save(self.cache, "made")

    def restored(self, *, made_with: str = "made", units: Units | None = None) -> bool:
        """Whether a new linker continues; if it does not, it is still empty."""
        linker = _parser.Linker("p", LANGUAGES)
        is_restored = linker.restore(self.cache, made_with, self.units if units is None else units)
        assert bool(linker.digests()) == is_restored
        return is_restored


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    return Saved(tmp_path)


def test_it_continues_as_the_other_one(saved: Saved) -> None:
    linker = _parser.Linker("p", LANGUAGES)
    assert linker.restore(saved.cache, "made", saved.units)
    assert linker.digests() == saved.linker.digests()
    assert rows(linker) == rows(saved.linker)
    assert linker.update([]) == []
    newer = parse("a.py", "class A:\n    def other(self): pass\n")
    assert linker.update([newer], ["d.md"]) == saved.linker.update([newer], ["d.md"])
    assert rows(linker) == rows(saved.linker)


def test_a_name_that_was_looked_up_in_vain_is_found_later(tmp_path: Path) -> None:
    """The snapshot holds only a hash of `late.thing`, on which `b.py` depends."""
    texts = {"b.py": "import late\nlate.thing.work()\nfrom late.deep import more\nmore()\n", "a.py": "x = 1\n"}
    late = {"late/__init__.py": "class thing:\n    def work(): pass\n", "late/deep.py": "def more(): pass\n"}
    cache = _parser.FactsCache(str(tmp_path / "facts.bin"))
    cache.put([parse(path, text) for path, text in texts.items()])
    first = linked(texts)
    assert first.save(cache, "")
    second = _parser.Linker("p", LANGUAGES)
    assert second.restore(cache, "", units_of(first, texts))
    second.update([parse(path, text) for path, text in late.items()])
    assert rows(second) == rows(linked({**texts, **late}))
    second.update([], list(late))
    assert rows(second) == rows(linked(texts))


@pytest.mark.parametrize("number", range(1, 5))
def test_deleted_names_leave_the_bytes(saved: Saved, number: int) -> None:
    """Also after several processes that continued from each other."""
    linker, texts, units = saved.linker, dict(TEXTS), saved.units
    for step in range(number):
        name = f"hunter{step}correcthorse"
        texts["a.py"] = f"class A:\n    def {name}(self): pass\n"
        linker = _parser.Linker("p", LANGUAGES)
        assert linker.restore(saved.cache, "made", units)
        file = parse("a.py", texts["a.py"])
        linker.update([file])
        saved.cache.put([file])
        saved.cache.replace([("a.py", file.digest)])
        assert not saved.file.exists(), "it holds names of the erased facts"
        assert linker.save(saved.cache, "made")
        units = units_of(linker, texts)
        content = saved.file.read_bytes()
        assert name.encode() in content
        assert not any(f"hunter{earlier}correcthorse".encode() in content for earlier in range(step))
    assert rows(linker) == rows(linked(texts))


def test_words_belong_to_the_nodes_of_their_project() -> None:
    linker = linked(TEXTS, "q")
    for path, text in TEXTS.items():
        unit = linker.unit(path)
        named = [row[0] for row in unit.texts(text.encode())]
        assert named == [row[0] for row in unit.nodes()]
        assert all(str(uid).startswith("q:") for uid in named)


def test_it_continues_under_another_name(saved: Saved) -> None:
    """Units of files have the digests of before; that of the structure has the project's name."""
    linker, clean = _parser.Linker("q", LANGUAGES), linked(TEXTS, "q")
    assert linker.restore(saved.cache, "made", saved.units)
    assert linker.update([]) == [""]
    assert rows(linker) == rows(clean)
    assert linker.digests() == clean.digests()
    before = dict(saved.linker.digests())
    assert {path for path, digest in linker.digests().items() if digest != before[path]} == {""}
    newer = parse("a.py", "class A:\n    def other(self): pass\n")
    linker.update([newer], ["d.md"])
    clean.update([newer], ["d.md"])
    assert rows(linker) == rows(clean)


def test_other_rules_and_units_are_refused(saved: Saved) -> None:
    assert saved.restored()
    assert not saved.restored(made_with="others")
    assert not saved.restored(units=saved.units[1:])
    assert not saved.restored(units=[*saved.units, ("z.py", "0" * 32, "0" * 32)])
    for at, (path, content, unit) in enumerate(saved.units):
        other = ("0" if unit[0] != "0" else "1") + unit[1:]
        assert not saved.restored(units=[*saved.units[:at], (path, content, other), *saved.units[at + 1 :]])
        if path:
            changed = (path, other, unit)
            assert not saved.restored(units=[*saved.units[:at], changed, *saved.units[at + 1 :]])
        assert not saved.restored(units=[*saved.units[:at], (path, content, f"pending:{unit}"), *saved.units[at + 1 :]])
    assert saved.restored()


def flip(at: float) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        position = min(int(len(data) * at), len(data) - 1)
        return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]

    return change


DAMAGES = [
    *(flip(number / 40) for number in range(41)),
    lambda data: data[: len(data) // 2],
    lambda data: data[:20],
    lambda data: b"",
    lambda data: data + b"x",
    lambda data: b"\0" * len(data),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_ones_are_refused(saved: Saved, damage: Callable[[bytes], bytes]) -> None:
    saved.file.write_bytes(damage(saved.file.read_bytes()))
    assert not saved.restored()


def test_without_all_facts_it_is_refused(saved: Saved) -> None:
    """The facts are not part of the snapshot; a damaged record counts as missing."""
    saved.cache.close()
    content = bytearray(saved.facts.read_bytes())
    content[content.index(b"json.dumps") if b"json.dumps" in content else content.index(b"dumps")] ^= 1
    saved.facts.write_bytes(content)
    saved.cache = _parser.FactsCache(str(saved.facts))
    assert not saved.restored()
    saved.file.unlink()
    assert not saved.restored()


SAVING = """
import sys
from tests.link.test_snapshot import TEXTS, linked
from atlas import _parser
cache, linker = _parser.FactsCache(sys.argv[1]), linked(TEXTS)
while True:
    assert linker.save(cache, "made")
    print("saved", flush=True)
"""


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.003])
def test_a_process_killed_while_it_saves_leaves_the_last_one(saved: Saved, seconds: float) -> None:
    saved.cache.close()
    command = [sys.executable, "-c", SAVING, str(saved.facts)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        time.sleep(seconds)
        process.kill()
    saved.cache = _parser.FactsCache(str(saved.facts))
    assert saved.restored()


def test_new_facts_remove_it(saved: Saved) -> None:
    """A pass that dies after other rules have made other facts of the same content must not leave it."""
    saved.cache.put([parse(path, text) for path, text in TEXTS.items()])
    assert saved.file.exists(), "the same facts"
    saved.cache.put([parse("new.py", "x = 1\n")])
    assert not saved.file.exists()
    assert not saved.restored()


def test_what_is_not_linked_is_not_saved(saved: Saved) -> None:
    saved.linker.take([parse("new.py", "x = 1\n")])
    assert not saved.linker.save(saved.cache, "made")
    assert not saved.file.exists()
    assert not _parser.Linker("p", LANGUAGES).save(saved.cache, "made")


def test_only_the_process_with_the_lock_writes(saved: Saved) -> None:
    other = _parser.FactsCache(str(saved.facts))
    before = saved.file.read_bytes()
    assert not saved.linker.save(other, "other")
    other.replace([("a.py", "")])
    assert saved.file.read_bytes() == before
    assert saved.restored()


def test_a_link_in_its_place_is_not_followed(saved: Saved, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_bytes(saved.file.read_bytes())
    saved.file.unlink()
    saved.file.symlink_to(target)
    assert not saved.restored()
    before = target.read_bytes()
    assert saved.linker.save(saved.cache, "again")
    assert target.read_bytes() == before
    assert not saved.file.is_symlink()
