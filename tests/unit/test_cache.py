"""The facts cache gives back what was put, or nothing: whatever happens to its file, and whoever else uses it."""

import multiprocessing
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atlas
from atlas._parser import FactsCache, Languages, ParsedFile, parse_bytes

LANGUAGES = Languages([str(Path(atlas.__file__).parent / "languages")])
ABSENT = "0" * 32


def parsed(path: str, text: str = "") -> ParsedFile:
    return parse_bytes(LANGUAGES, path, (text or f"def f():\n    return {path!r}\n").encode())


def key(file: ParsedFile) -> tuple[str, str]:
    return file.path, file.digest


def filled(place: Path, count: int = 20) -> list[ParsedFile]:
    files = [parsed(f"pkg/m{number}.py", f"def f{number}(): pass\n" * (number + 1)) for number in range(count)]
    cache = FactsCache(str(place))
    cache.put(files)
    cache.close()
    return files


def found(place: Path, files: list[ParsedFile]) -> list[bool]:
    """Which files a new cache gives; every one that it gives must be right."""
    cache = FactsCache(str(place))
    result = cache.get([key(file) for file in files])
    cache.close()
    for file, cached in zip(files, result, strict=True):
        assert cached is None or cached.to_bytes() == file.to_bytes()
    return [cached is not None for cached in result]


def test_facts_survive_the_process(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "facts"
    files = filled(place)
    assert found(place, files) == [True] * len(files)


def test_path_and_digest_must_both_agree(tmp_path: Path) -> None:
    cache = FactsCache(str(tmp_path / "facts"))
    one, twin = parsed("a.py", "x = 1\n"), parsed("b.py", "x = 1\n")
    cache.put([one])
    assert one.digest == twin.digest
    assert cache.get([key(twin), ("a.py", ABSENT), ("a.py", ""), ("a.py", "é" * 16)]) == [None] * 4
    cache.put([twin])
    assert [file.path for file in cache.get([key(twin), key(one)]) if file] == ["b.py", "a.py"]


def test_several_versions_of_a_file_are_kept(tmp_path: Path) -> None:
    cache = FactsCache(str(tmp_path / "facts"))
    versions = [parsed("a.py", f"x = {number}\n") for number in range(5)]
    for version in versions:
        cache.put([version])
    assert all(file is not None for file in cache.get([key(version) for version in versions]))


def test_putting_again_does_not_grow_the_file(tmp_path: Path) -> None:
    place = tmp_path / "facts"
    files = filled(place)
    size = place.stat().st_size
    cache = FactsCache(str(place))
    cache.put(files)
    assert place.stat().st_size == size


def test_facts_of_other_languages_replace_those_of_the_same_content(tmp_path: Path) -> None:
    file = parsed("a.py", "def f(): pass\n")
    own = tmp_path / "languages"
    shutil.copytree(Path(atlas.__file__).parent / "languages", own)
    rules = own / "python" / "language.toml"
    rules.write_text(rules.read_text().replace('extensions = ["py"', 'extensions = ["py", "py9"'))
    (own / "python" / "tags.scm").write_text("(module) @definition.module\n")
    other = parse_bytes(Languages([str(own)]), "a.py", b"def f(): pass\n")
    assert (other.digest, other.to_bytes() == file.to_bytes()) == (file.digest, False)
    cache = FactsCache(str(tmp_path / "facts"))
    for latest in (file, other, file):
        cache.put([latest])
        (kept,) = cache.get([key(file)])
        assert kept is not None
        assert kept.to_bytes() == latest.to_bytes()


def test_refused_files_keep_their_reason(tmp_path: Path) -> None:
    cache = FactsCache(str(tmp_path / "facts"))
    refused = parse_bytes(LANGUAGES, "a.unknown", b"")
    assert refused.skip_reason
    cache.put([refused])
    [cached] = cache.get([key(refused)])
    assert cached is not None and cached.skip_reason == refused.skip_reason


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(["cut", "flip", "append", "zero"]))
def test_damage_costs_records_but_never_truth(tmp_path_factory: pytest.TempPathFactory, seed: int, damage: str) -> None:
    place = tmp_path_factory.mktemp("cache") / "facts"
    files = filled(place, 12)
    data, chance = bytearray(place.read_bytes()), random.Random(seed)
    at = chance.randrange(len(data))
    if damage == "cut":
        del data[at:]
    elif damage == "flip":
        data[at] ^= 1 << chance.randrange(8)
    elif damage == "zero":
        data[at:] = bytes(len(data) - at)
    else:
        data += chance.randbytes(chance.randrange(1, 200))
    place.write_bytes(data)
    before = found(place, files)
    if damage == "append":
        assert all(before)
    # What is missing can be put again, and then all is there.
    cache = FactsCache(str(place))
    cache.put([file for file, there in zip(files, before, strict=True) if not there])
    cache.close()
    after = found(place, files)
    if damage != "flip":
        assert all(after)
    assert sum(after) >= sum(before)


@pytest.mark.parametrize(
    "content", [b"", b"atlas", b"atlasfct\xff\xff\xff\xff" + bytes(100), b"SQLite format 3\0" * 50]
)
def test_foreign_files_are_started_anew(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "facts"
    place.write_bytes(content)
    files = filled(place, 3)
    assert found(place, files) == [True] * 3


def test_a_cache_that_cannot_be_written_is_empty(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "facts"):
        cache = FactsCache(str(place))
        file = parsed("a.py")
        cache.put([file])
        cache.keep([])
        assert cache.get([key(file)]) == [None]


def run_with_full_disk(place: Path, script: str) -> None:
    """Run code where `limit(bytes)` makes files stop growing, which fails writes as a full disk does."""
    head = """
import resource, signal, sys
from pathlib import Path
from tests.unit.test_cache import FactsCache, parsed, key
place = Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
cache = FactsCache(str(place))
first, second = parsed("a.py"), parsed("b.py", "def f(): pass\\n" * 2000)
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", head + script, str(place)], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_full_disk_costs_only_what_was_not_written(tmp_path: Path) -> None:
    script = """
cache.put([first])
size = place.stat().st_size
limit(size + 1000)
cache.put([second])
assert place.stat().st_size == size
assert [file is not None for file in cache.get([key(first), key(second)])] == [True, False]
"""
    run_with_full_disk(tmp_path / "facts", script)
    assert found(tmp_path / "facts", [parsed("a.py")]) == [True]


def test_a_disk_that_takes_nothing_costs_facts_rather_than_keeping_what_must_go(tmp_path: Path) -> None:
    script = """
cache.put([first, second])
limit(100)
cache.keep([key(first)])
assert second.path.encode() not in place.read_bytes()
assert [file is not None for file in cache.get([key(first), key(second)])] == [True, False]
limit(resource.RLIM_INFINITY)
cache.put([second])
cache.close()
cache = FactsCache(str(place))
assert [file is not None for file in cache.get([key(first), key(second)])] == [True, False]
"""
    run_with_full_disk(tmp_path / "facts", script)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts", "facts.lock"]


def test_erasure_copies_the_file_only_when_that_halves_it(tmp_path: Path) -> None:
    place = tmp_path / "facts"
    files = filled(place)
    before = place.stat()
    cache = FactsCache(str(place))
    cache.keep([key(file) for file in files[1:]])
    assert (place.stat().st_size, place.stat().st_ino) == (before.st_size, before.st_ino)
    cache.keep([key(file) for file in [*files[:3], *files[:3]]])
    assert place.stat().st_size < before.st_size / 2
    cache.put([files[7]])
    cache.close()
    assert found(place, files) == [number in (1, 2, 7) for number in range(len(files))]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts", "facts.lock"]


SECRET = b"hunter2correcthorse"


def holding_secret(path: str) -> ParsedFile:
    return parsed(path, f"def {SECRET.decode()}(): pass\n")


@pytest.mark.parametrize("others", [0, 1, 30])
@pytest.mark.parametrize("how", ["keep", "replace", "deleted"])
def test_what_is_forgotten_leaves_the_bytes(tmp_path: Path, others: int, how: str) -> None:
    place = tmp_path / "facts"
    files = filled(place, others)
    secret, clean = holding_secret("pkg/secret_name.py"), parsed("pkg/secret_name.py", "def f(): pass\n")
    cache = FactsCache(str(place))
    cache.put([secret, clean])
    assert SECRET in place.read_bytes()
    if how == "keep":
        cache.keep([key(file) for file in [*files, clean]])
    elif how == "replace":
        cache.replace([key(clean)])
    else:
        cache.replace([("pkg/secret_name.py", ""), ("never/seen.py", "")])
    content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert SECRET not in content
    assert bytes.fromhex(secret.digest) not in content
    assert (b"secret_name" in content) == (how != "deleted")
    cache.put([parsed("later.py")])
    cache.close()
    assert found(place, [*files, clean, secret, parsed("later.py")]) == [
        *[True] * others,
        how != "deleted",
        False,
        True,
    ]


def test_older_records_of_the_same_content_are_erased_too(tmp_path: Path) -> None:
    place = tmp_path / "facts"
    secret = holding_secret("a.py")
    filled(place, 5)
    cache = FactsCache(str(place))
    cache.put([secret])
    cache.close()
    damaged = bytearray(place.read_bytes())
    damaged[-1] ^= 1
    place.write_bytes(damaged)
    cache = FactsCache(str(place))
    cache.put([secret])
    assert place.read_bytes().count(SECRET) >= 2
    cache.replace([("a.py", "")])
    assert SECRET not in place.read_bytes()


def test_an_interrupted_erasure_is_finished_by_the_next_process(tmp_path: Path) -> None:
    """The payload is overwritten first, so that the record is still found; its path and digest follow."""
    place = tmp_path / "facts"
    files = filled(place, 10)
    secret = parsed("secret_name.py", "x = 1\n")
    cache = FactsCache(str(place))
    cache.put([secret, parsed("after.py")])
    cache.close()
    data = bytearray(place.read_bytes())
    start = data.index(b"secret_name.py") + len(b"secret_name.py")
    data[start : start + 10] = bytes(10)
    place.write_bytes(data)
    cache = FactsCache(str(place))
    cache.keep([*map(key, files), key(parsed("after.py"))])
    cache.close()
    assert b"secret_name" not in place.read_bytes()
    assert found(place, [*files, secret, parsed("after.py")]) == [*[True] * 10, False, True]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["facts", "facts.lock", "facts.new"])
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "hard", "zero"])
def test_files_that_somebody_put_there_are_not_written_through(tmp_path: Path, name: str, kind: str) -> None:
    victim, place = tmp_path / "victim", tmp_path / "data" / "facts"
    place.parent.mkdir()
    victim.write_bytes(b"precious")
    trap = place.with_name(name)
    if kind == "link":
        trap.symlink_to(victim)
    elif kind == "dangling":
        trap.symlink_to(tmp_path / "made")
    elif kind == "pipe":
        os.mkfifo(trap)
    elif kind == "hard":
        trap.hardlink_to(victim)
    else:
        trap.symlink_to("/dev/zero")
    script = """
import sys
from pathlib import Path
from tests.unit.test_cache import FactsCache, parsed, key
cache = FactsCache(sys.argv[1])
files = [parsed(f"m{number}.py") for number in range(9)]
cache.put(files)
cache.keep([key(files[0])])
print(cache.get([key(files[0])])[0] is not None)
"""
    root = Path(__file__).parents[2]
    run = [sys.executable, "-c", script, str(place)]
    printed = subprocess.run(run, cwd=root, check=True, capture_output=True, text=True, timeout=30).stdout.strip()
    # a copy that is in the way is replaced; without its file or its lock there is no cache
    assert printed == str(name == "facts.new")
    assert victim.read_bytes() == b"precious"
    assert not (tmp_path / "made").exists()


def test_a_linked_folder_holds_no_cache(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    cache = FactsCache(str(tmp_path / "link" / "facts"))
    cache.put([parsed("a.py")])
    assert cache.get([key(parsed("a.py"))]) == [None]
    assert not list((tmp_path / "real").iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_no_cache(tmp_path: Path) -> None:
    place = tmp_path / "facts"
    files = filled(place, 3)
    os.chown(place, 12345, -1)
    content = place.read_bytes()
    assert found(place, files) == [False] * 3
    cache = FactsCache(str(place))
    cache.put([parsed("new.py")])
    cache.keep([])
    assert place.read_bytes() == content


def test_the_files_are_private(tmp_path: Path) -> None:
    place = tmp_path / "facts"
    place.touch(mode=0o644)
    files = filled(place)
    cache = FactsCache(str(place))
    for wanted in (files, files[:1]):
        cache.keep([key(file) for file in wanted])
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_second_user_reads_and_does_not_write(tmp_path: Path) -> None:
    place = tmp_path / "facts"
    files = filled(place, 5)
    writer, reader = FactsCache(str(place)), FactsCache(str(place))
    extra = parsed("extra.py")
    reader.put([extra])
    reader.keep([])
    assert reader.get([key(extra)]) == [None]
    assert all(reader.get([key(file) for file in files]))
    # The writer may replace the file below the reader.
    writer.keep([key(files[0])])
    writer.put([extra])
    assert all(reader.get([key(file) for file in files]))
    writer.close()
    assert found(place, [*files, extra]) == [True, False, False, False, False, True]


def fill_shared(place: str, name: str) -> None:
    """Put files as often as the lock is free; note those that are there afterwards."""
    kept: list[str] = []
    for number in range(30):
        cache = FactsCache(place)
        file = parsed(f"{name}{number}.py")
        cache.put([file])
        (held,) = cache.get([key(file)])
        if held is not None:
            assert held.to_bytes() == file.to_bytes()
            kept.append(file.path)
        cache.close()
    Path(f"{place}.{name}.kept").write_text("\n".join(kept))


def test_processes_together_lose_nothing_that_they_kept(tmp_path: Path) -> None:
    place = tmp_path / "facts"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=fill_shared, args=(str(place), name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    # how many is a matter of luck: who does not get the lock keeps nothing, but only while the other one writes
    kept = [name for one in "ab" for name in Path(f"{place}.{one}.kept").read_text().split()]
    assert kept
    assert all(found(place, [parsed(name) for name in kept]))


def test_a_closed_cache_says_so(tmp_path: Path) -> None:
    cache = FactsCache(str(tmp_path / "facts"))
    cache.close()
    cache.close()
    with pytest.raises(ValueError, match="closed"):
        cache.get([])
