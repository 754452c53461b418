"""The watcher on real trees: whatever happens to files, looking only at what it names keeps a picture of the tree true."""

import asyncio
import contextlib
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

import atlas
from atlas._parser import Languages
from atlas.code.index.watch.watcher import Debounce, WatchedChanges, Watcher
from atlas.parsing.scanning import scan_project

LANGUAGES = Languages([str(Path(atlas.__file__).parent / "languages")])
DEADLINE = 5.0
linux = pytest.mark.skipif(sys.platform != "linux", reason="watches on single folders are there on Linux only")


def write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def git(root: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.excludesFile=/dev/null"]
    subprocess.run(["git", *settings, *arguments], cwd=root, check=True, capture_output=True)


class Picture:
    """What a consumer knows of a tree: it looks only where it is told to."""

    def __init__(self, watcher: Watcher, root: Path) -> None:
        self.watcher, self.root = watcher, root
        self.files: dict[str, tuple[int, int]] = {}
        self.reports: list[WatchedChanges] = []
        self.news = asyncio.Event()

    def look(self, noticed: WatchedChanges) -> None:
        """Look where the report says."""
        self.reports.append(noticed)
        self.news.set()
        if not self.root.is_dir():
            return
        only = None if noticed.everything else noticed.paths
        scan = scan_project(self.root, LANGUAGES, only=only)
        kept = {
            path: known
            for path, known in self.files.items()
            if only is not None and not any(path == looked or path.startswith(looked + "/") for looked in only)
        }
        self.files = kept | {file.path: (file.size, file.mtime_ns) for file in scan.files}
        self.watcher.on_scanned(only, scan.folders, 0.001)

    def is_true(self) -> bool:
        """Does it show what is there?"""
        scan = scan_project(self.root, LANGUAGES)
        return self.files == {file.path: (file.size, file.mtime_ns) for file in scan.files}

    async def until(self, wanted: Callable[[], bool]) -> None:
        """Wait for reports until something holds."""
        async with asyncio.timeout(DEADLINE):
            while not wanted():
                self.news.clear()
                await self.news.wait()

    async def settled(self) -> list[WatchedChanges]:
        """Wait until the picture is true; return the reports since the last time."""
        try:
            await self.until(self.is_true)
        except TimeoutError:
            pytest.fail(f"not noticed; reports: {self.reports}")
        reports, self.reports = self.reports, []
        return reports

    async def reported(self, everything: str) -> None:
        """Wait for a report with this reason."""
        await self.until(lambda: any(report.everything == everything for report in self.reports))

    def mark(self) -> Callable[[], bool]:
        """Change a file of its own; return whether that was noticed, and so all that happened before."""
        write(self.root, {"mark.py": f"{time.time_ns()}"})
        return self.is_true


@contextlib.asynccontextmanager
async def watched(root: Path, **settings: Any) -> AsyncGenerator[Picture]:
    """Watch a tree, and wait until the picture of it is true and all watches are set."""
    watcher = Watcher(root, **settings)
    picture, stop = Picture(watcher, root), asyncio.Event()

    async def consume() -> None:
        async for noticed in watcher.changes(stop):
            picture.look(noticed)

    consumer = asyncio.create_task(consume())
    try:
        await picture.until(lambda: bool(picture.reports))
        if watcher.mode == "watching":
            # Reported together with the folders that the first look found.
            await picture.until(picture.mark())
        picture.reports.clear()
        yield picture
    finally:
        stop.set()
        async with asyncio.timeout(DEADLINE):
            await consumer


@pytest.fixture(params=[pytest.param(True, marks=linux), False], ids=["folders", "tree"])
def single_folders(request: pytest.FixtureRequest) -> bool:
    return request.param


def only_paths(reports: list[WatchedChanges]) -> set[str]:
    """Return the paths reported; fails if the whole tree was to be looked at."""
    assert [report.everything for report in reports if report.everything] == []
    return {path for report in reports for path in report.paths}


# --- what people and programs do ---


async def test_every_way_of_saving_a_file(tmp_path: Path, single_folders: bool) -> None:
    write(tmp_path, {"a/x.py": "1", "a/y.py": "1", "z.py": "1"})
    async with watched(tmp_path, single_folders=single_folders) as picture:
        write(tmp_path, {"a/x.py": "22"})
        assert only_paths(await picture.settled()) == {"a/x.py"}
        write(tmp_path, {"a/y.py.tmp": "333"})
        (tmp_path / "a/y.py.tmp").replace(tmp_path / "a/y.py")
        assert "a/y.py" in only_paths(await picture.settled())
        (tmp_path / "z.py").rename(tmp_path / "z.py~")
        write(tmp_path, {"z.py": "4444"})
        assert "z.py" in only_paths(await picture.settled())
        os.utime(tmp_path / "z.py", ns=(1, 1))
        assert only_paths(await picture.settled()) == {"z.py"}
        (tmp_path / "z.py").unlink()
        assert only_paths(await picture.settled()) == {"z.py"}
        (tmp_path / "a/x.py").rename(tmp_path / "a/X.py")
        assert only_paths(await picture.settled()) == {"a/x.py", "a/X.py"}
        with (tmp_path / "open.py").open("w") as file:
            for _ in range(3):
                file.write("more\n")
                file.flush()
                assert only_paths(await picture.settled()) == {"open.py"}


@linux
async def test_files_written_at_once_into_new_folders_are_not_missed(tmp_path: Path) -> None:
    async with watched(tmp_path) as picture:
        for number in range(10):
            write(tmp_path, {f"{number}/b/c/d.py": "", f"{number}/b/e.py": ""})
            await asyncio.sleep(0.003 * number)
            write(tmp_path, {f"{number}/b/c/late.py": ""})
        only_paths(await picture.settled())
        write(tmp_path, {"3/b/c/d.py": "changed"})
        assert only_paths(await picture.settled()) >= {"3/b/c/d.py"}


@linux
async def test_folders_that_are_moved_swapped_deleted_and_made_again_stay_watched(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(["a/deep/er/x.py", "b/deep/y.py", "c/z.py"], ""))
    async with watched(tmp_path) as picture:
        (tmp_path / "a").rename(tmp_path / "old")
        (tmp_path / "b").rename(tmp_path / "a")
        (tmp_path / "old").rename(tmp_path / "b")
        only_paths(await picture.settled())
        write(tmp_path, {"b/deep/er/x.py": "changed", "a/deep/y.py": "changed"})
        assert only_paths(await picture.settled()) >= {"b/deep/er/x.py", "a/deep/y.py"}
        for text in ("1", "22"):
            shutil.rmtree(tmp_path / "c")
            write(tmp_path, {"c/z.py": text})
            only_paths(await picture.settled())
            write(tmp_path, {"c/z.py": text * 3})
            assert "c/z.py" in only_paths(await picture.settled())
        (tmp_path / "b").rename(tmp_path / "c/b")
        (tmp_path / "c").rename(tmp_path / "C")
        only_paths(await picture.settled())
        write(tmp_path, {"C/b/deep/er/x.py": "again"})
        assert only_paths(await picture.settled()) >= {"C/b/deep/er/x.py"}


@linux
async def test_a_checkout_of_thousands_of_files(tmp_path: Path) -> None:
    write(tmp_path, {f"p{number % 50}/m{number}.py": "x = 1\n" for number in range(1200)})
    git(tmp_path, "init", "-q", "-b", "one")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "checkout", "-qb", "two")
    shutil.rmtree(tmp_path / "p7")
    write(tmp_path, {f"p{number % 40}/m{number}.py": "x = 22\n" for number in range(1200)})
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "two")
    async with watched(tmp_path, debounce=Debounce(burst=1000)) as picture:
        git(tmp_path, "checkout", "-q", "one")
        assert "burst" in {report.everything for report in await picture.settled()}
        write(tmp_path, {"p7/m7.py": "x = 333\n"})
        await picture.settled()


@linux
@pytest.mark.parametrize("seed", range(4))
async def test_random_changes(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    places = ["", "a", "b", "a/b", "a/c", "a/b/c", "a/b/c/d", "b/e", "node_modules/x"]

    def change() -> None:
        place, other = tmp_path / dice.choice(places), tmp_path / dice.choice(places[1:])
        file = place / f"{dice.choice('xyz')}.py"
        action = dice.randrange(8)
        with contextlib.suppress(OSError, shutil.Error):
            if action < 4:
                place.mkdir(parents=True, exist_ok=True)
                file.write_text("x" * dice.randrange(9))
            elif action == 4:
                file.unlink()
            elif action == 5:
                file.rename(other / file.name)
            elif action == 6 and place != tmp_path:
                shutil.rmtree(place)
            elif action == 7 and place != tmp_path:
                place.rename(other)

    async with watched(tmp_path) as picture:
        for _ in range(400):
            change()
            if dice.random() < 0.2:
                await asyncio.sleep(dice.random() * 0.01)
        only_paths(await picture.settled())
        # Every folder is still watched.
        last = {f"{folder}/last.py".lstrip("/"): "x" for folder in scan_project(tmp_path, LANGUAGES).folders}
        write(tmp_path, last)
        assert only_paths(await picture.settled()) >= last.keys()


# --- rules, and what is none of ours ---


@linux
async def test_changed_rules_mean_everything(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(["a/x.py", "b/y.py"], ""))
    git(tmp_path, "init", "-q")
    async with watched(tmp_path, debounce=Debounce(index=0.1)) as picture:
        for path, text in [("a/.gitignore", "x.py"), (".atlasignore", "b/"), (".git/info/exclude", "*.py")]:
            write(tmp_path, {path: text})
            assert "rules changed" in {report.everything for report in await picture.settled()}
        assert picture.files == {}
        git(tmp_path, "add", "-f", "a/x.py")
        await picture.reported("rules changed")
        assert list(picture.files) == ["a/x.py"]
        shutil.rmtree(tmp_path / ".git")
        await picture.settled()
        git(tmp_path, "init", "-q")
        write(tmp_path, {".git/info/exclude": "mark.py"})
        await picture.settled()
        assert "mark.py" not in picture.files


@linux
async def test_rules_of_the_repository_around_the_root_and_of_linked_work_trees(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    write(main, dict.fromkeys(["part/x.py", "part/y.py"], ""))
    git(main, "init", "-q")
    git(main, "add", ".")
    git(main, "commit", "-qm", "first")
    git(main, "worktree", "add", "-q", str(linked))
    for root, outside in [(main / "part", main / ".gitignore"), (linked, main / ".git/info/exclude")]:
        write(root, {"new.py": ""})
        async with watched(root) as picture:
            assert "new.py" in picture.files
            outside.write_text("new.py\n", encoding="utf-8")
            await picture.settled()
            assert "new.py" not in picture.files


async def test_what_git_and_the_index_itself_write_is_not_reported(tmp_path: Path, single_folders: bool) -> None:
    write(tmp_path, {"a.py": "", ".atlas/index.db": "", "state/x": "", "sub/.atlas/y": ""})
    git(tmp_path, "init", "-q")
    async with watched(tmp_path, single_folders=single_folders, data=tmp_path / "state") as picture:
        write(tmp_path, {".atlas/index.db": "1", ".atlas/new/.gitignore": "", "state/x": "1", "state/y": ""})
        write(tmp_path, {".git/HEAD": "ref: refs/heads/x\n", ".git/objects/aa/b": "", ".git/index.lock": ""})
        write(tmp_path, {"sub/.atlas/y": "2", "a.py": "1"})
        reports = await picture.settled()
        await picture.until(picture.mark())
        assert {path.split("/")[0] for path in only_paths([*reports, *picture.reports])} <= {"a.py", "mark.py", "sub"}


@linux
async def test_ignored_folders_cost_no_watches(tmp_path: Path) -> None:
    write(tmp_path, {f"node_modules/{number}/x.js": "" for number in range(50)})
    write(
        tmp_path, {".gitignore": "out/\n", "a/b/x.py": "", "out/deep/y.py": "", "env/pyvenv.cfg": "", "env/l/z.py": ""}
    )
    async with watched(tmp_path) as picture:
        # The root, a, a/b, and env for the file that makes it a folder of dependencies.
        assert picture.watcher.watches == 4
        write(tmp_path, {"out/deep/y.py": "1", "node_modules/3/x.js": "1", "env/l/z.py": "1"})
        await picture.until(picture.mark())
        assert only_paths(picture.reports) == {"mark.py"}
        write(tmp_path, {f"a/node_modules/{number}/x.js": "" for number in range(50)})
        write(tmp_path, {"c/d/x.py": ""})
        await picture.settled()
        await picture.until(lambda: picture.watcher.watches == 6)
        shutil.rmtree(tmp_path / "a")
        await picture.settled()
        await picture.until(lambda: picture.watcher.watches == 4)


@linux
async def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"root/a/x.py": "", "outside/y.py": ""})
    (tmp_path / "root/link").symlink_to("../outside")
    (tmp_path / "root/a/up").symlink_to("..")
    async with watched(tmp_path / "root") as picture:
        write(tmp_path, {"outside/y.py": "1"})
        (tmp_path / "root/other").symlink_to("../outside")
        await picture.until(picture.mark())
        write(tmp_path, {"outside/y.py": "22"})
        await picture.until(picture.mark())
        assert only_paths(picture.reports) <= {"mark.py", "other"}


async def test_a_name_that_is_no_text_does_no_harm(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("")
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    async with watched(tmp_path) as picture:
        (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("1")
        (tmp_path / os.fsdecode(b"f\xe9")).mkdir()
        write(tmp_path, {"a.py": ""})
        assert only_paths(await picture.settled()) >= {"a.py"}
        assert all(path.isprintable() for report in picture.reports for path in report.paths)


# --- roots ---


async def test_a_root_that_vanishes_and_comes_back(tmp_path: Path, single_folders: bool) -> None:
    root = tmp_path / "root"
    write(root, {"a/x.py": ""})
    async with watched(root, single_folders=single_folders, root_seconds=0.1) as picture:
        root.rename(tmp_path / "away")
        await picture.reported("root is gone")
        assert (picture.watcher.mode, picture.watcher.reason) == ("polling", "root is gone")
        assert list(picture.files) == ["a/x.py", "mark.py"]
        write(root, {"b/y.py": ""})
        await picture.reported("root is back")
        await picture.settled()
        assert (list(picture.files), picture.watcher.mode) == (["b/y.py"], "watching")
        write(root, {"b/y.py": "1"})
        assert only_paths(await picture.settled()) >= {"b/y.py"}


async def test_a_root_that_is_replaced_at_once(tmp_path: Path, single_folders: bool) -> None:
    root = tmp_path / "root"
    write(tmp_path, {"root/a/x.py": "", "next/a/y.py": ""})
    async with watched(root, single_folders=single_folders, root_seconds=0.1) as picture:
        root.rename(tmp_path / "away")
        (tmp_path / "next").rename(root)
        await picture.settled()
        assert list(picture.files) == ["a/y.py"]
        write(root, {"a/y.py": "1"})
        await picture.settled()
        shutil.rmtree(root)
        write(root, {"a/z.py": ""})
        await picture.settled()
        assert list(picture.files) == ["a/z.py"]


async def test_a_linked_root_is_followed_also_to_another_place(tmp_path: Path, single_folders: bool) -> None:
    write(tmp_path, {"one/a/x.py": "", "two/a/y.py": ""})
    (tmp_path / "root").symlink_to("one")
    async with watched(tmp_path / "root", single_folders=single_folders, root_seconds=0.1) as picture:
        write(tmp_path, {"one/a/x.py": "1"})
        assert only_paths(await picture.settled()) >= {"a/x.py"}
        (tmp_path / "link").symlink_to("two")
        (tmp_path / "link").rename(tmp_path / "root")
        await picture.reported("root was replaced")
        write(tmp_path, {"two/a/y.py": "1"})
        await picture.settled()


async def test_a_root_that_is_not_there_yet(tmp_path: Path) -> None:
    async with watched(tmp_path / "root", root_seconds=0.05) as picture:
        assert picture.watcher.reason == "root is gone"
        write(tmp_path / "root", {"a.py": ""})
        await picture.reported("root is back")
        await picture.settled()


# --- limits ---


@linux
async def test_events_that_the_kernel_dropped_are_made_up_for(tmp_path: Path) -> None:
    queue = queue_length()
    write(tmp_path, {"a/x.py": "", "b/y.py": ""})
    async with watched(tmp_path) as picture:
        # Nobody reads while this loop runs: each round is two events that the kernel cannot merge.
        for _ in range(queue // 2 + 1000):
            (tmp_path / "b/y.py").touch()
            (tmp_path / "a/x.py").touch()
        # Seen by nobody: b is another folder now.
        shutil.rmtree(tmp_path / "b")
        write(tmp_path, {"b/y.py": "1", "b/c/z.py": "1"})
        await picture.reported("overflow")
        await picture.settled()
        assert picture.watcher.overflows == 1
        write(tmp_path, {"b/y.py": "22", "b/c/z.py": "22"})
        assert only_paths(await picture.settled()) >= {"b/y.py", "b/c/z.py"}


def queue_length() -> int:
    return int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


@contextlib.contextmanager
def no_more_files() -> Generator[None]:
    """Let this process open no file more than it has now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    probe = os.open(os.devnull, os.O_RDONLY)
    os.close(probe)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@linux
async def test_folders_that_changed_places_while_the_kernel_dropped_events(tmp_path: Path) -> None:
    """The watches go with the folders: each must be found again under the path that it has now."""
    queue = queue_length()
    write(tmp_path, {"a/in/x.py": "", "b/in/y.py": "", "c/z.py": ""})
    async with watched(tmp_path) as picture:
        for _ in range(queue // 2 + 1000):
            (tmp_path / "c/z.py").touch()
            (tmp_path / "a/in/x.py").touch()
        (tmp_path / "a").rename(tmp_path / "between")
        (tmp_path / "b").rename(tmp_path / "a")
        (tmp_path / "between").rename(tmp_path / "b")
        (tmp_path / "c").rename(tmp_path / "a/in/c")
        await picture.reported("overflow")
        await picture.settled()
        write(tmp_path, {"a/in/y.py": "1", "b/in/x.py": "1", "a/in/c/z.py": "1", "b/new.py": "1"})
        assert only_paths(await picture.settled()) >= {"a/in/y.py", "b/in/x.py", "a/in/c/z.py", "b/new.py"}
        assert picture.watcher.watches == 6


@linux
async def test_without_a_queue_it_polls_and_tries_again(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    watcher, stop = Watcher(tmp_path, poll_seconds=0.01, retry_seconds=0.1), asyncio.Event()
    reasons: list[str] = []
    async with asyncio.timeout(DEADLINE):
        with no_more_files():
            changes = watcher.changes(stop)
            reasons += [(await anext(changes)).everything for _ in range(3)]
            assert watcher.mode == "polling"
            assert "too many open files" in watcher.reason
        while watcher.mode == "polling":
            reasons.append((await anext(changes)).everything)
        await changes.aclose()
    assert set(reasons[:-1]) == {"polling"}
    assert reasons[-1] == "watch started"


SMALL = """
import asyncio, sys
from pathlib import Path
from atlas.code.index.watch.watcher import Watcher

async def main(root):
    watcher = Watcher(root, poll_seconds=0.01)
    changes = watcher.changes(asyncio.Event())
    print((await anext(changes)).everything, watcher.mode)
    watcher.on_scanned(None, ["", *(f"f{number}" for number in range(50))])
    print((await anext(changes)).everything, watcher.mode, watcher.reason, watcher.watches)

asyncio.run(main(Path(sys.argv[1])))
"""


@linux
def test_too_few_watches_mean_polling(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"f{number}").mkdir()
    command = 'echo 20 > /proc/sys/user/max_inotify_watches && exec "$@"'
    child = ["unshare", "--user", "--map-root-user", "sh", "-c", command, "sh", sys.executable, "-c", SMALL, tmp_path]
    try:
        ran = subprocess.run(child, capture_output=True, text=True, timeout=DEADLINE * 2, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if ran.returncode and "unshare" in ran.stderr:
        pytest.skip("user namespaces are not allowed here")
    assert ran.stdout.splitlines() == [
        "watch started watching",
        "polling polling too few inotify watches (fs.inotify.max_user_watches) 0",
    ], ran.stderr


async def test_polling_takes_a_twentieth_of_the_time_at_most(tmp_path: Path) -> None:
    watcher, stop = Watcher(tmp_path, poll="slow disk", poll_seconds=0.001), asyncio.Event()
    async with asyncio.timeout(DEADLINE), contextlib.aclosing(watcher.changes(stop)) as changes:
        await anext(changes)
        watcher.on_scanned(None, [""], seconds=0.02)
        await anext(changes)
        started = time.monotonic()
        assert await anext(changes) == WatchedChanges((), "polling")
        assert time.monotonic() - started > 0.3
    assert (watcher.mode, watcher.reason) == ("polling", "slow disk")


# --- start and stop ---


def open_files() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


async def test_it_ends_at_once_and_leaves_nothing_open(tmp_path: Path, single_folders: bool) -> None:
    write(tmp_path, {"a/x.py": ""})
    before = open_files()
    async with watched(tmp_path, single_folders=single_folders) as picture:
        assert picture.watcher.mode == "watching"
        started = time.monotonic()
    assert time.monotonic() - started < 1
    assert picture.watcher.watches == 0
    # The notifier's own thread ends a little later.
    deadline = time.monotonic() + DEADLINE
    while open_files() > before and time.monotonic() < deadline:
        time.sleep(0.01)  # noqa: ASYNC251
    assert open_files() <= before


@linux
async def test_known_folders_are_watched_before_the_first_look(tmp_path: Path) -> None:
    write(tmp_path, {"a/b/x.py": "", "gone/y.py": ""})
    watcher, stop = Watcher(tmp_path, folders=["", "a", "a/b", "never/was"]), asyncio.Event()
    async with asyncio.timeout(DEADLINE), contextlib.aclosing(watcher.changes(stop)) as changes:
        assert await anext(changes) == WatchedChanges((), "watch started")
        assert watcher.watches == 3
        write(tmp_path, {"a/b/x.py": "1"})
        assert await anext(changes) == WatchedChanges(("a/b/x.py",))
