"""The first index from a published one: equal to a clean one, whoever lies, breaks off or is gone meanwhile.

Clones are real ones of git, the server is a process of its own, and a publisher and a user have caches of their own.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.file.seeding import began_from
from atlas.app.main import index_project
from atlas.app.published import shelf, starting
from atlas.app.published.body import pack
from atlas.app.published.manifest import Entry, Part, read_entry, read_manifest
from atlas.app.published.shelf import IndexShelf
from atlas.app.seeding import STAGING
from atlas.code.index.events import IndexSummary, no_progress
from atlas.core.errors import ConfigError, StoreError
from atlas.packs.documentation.pack.minisign import new_secret, secret_file
from atlas.runtime.config.load import load_settings
from tests.pipeline.moves import git
from tests.pipeline.polyglot import tree
from tests.pipeline.published import Server, answering
from tests.pipeline.test_seeding import FILES, data_of, is_clean, no_file_larger_than
from tests.pipeline.work_trees import Trees, age
from tests.raw_database import raw
from tests.surfaces.processes import COMMAND, atlas, environment

CHANGED = {
    "shop/money.py": FILES["shop/money.py"].replace("net", "sum"),
    "shop/cart.py": FILES["shop/cart.py"].replace("Cart", "Basket"),
    "shop/new.py": "import shop.cart\n",
}


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user who starts from what is published; the publisher has another cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    made = Trees(tmp_path / "trees")
    made.begin(FILES)
    return made


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path / "server")


def published(root: Path, place: str, *options: str, token: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Publish the index of a tree as the user of another machine."""
    cache = str(root.parents[1] / "publisher")
    more = {"ATLAS_PUBLISHED_TOKEN": token, "XDG_CACHE_HOME": cache, **env}
    return atlas("index", str(root), "--publish-to", place, *options, env=more)


def changed_clone(trees: Trees, name: str = "laptop") -> Path:
    """A clone with a commit of its own, three files ahead."""
    root = trees.clone(name)
    for path, text in CHANGED.items():
        (root / path).write_text(text)
    git(root, "add", "--all")
    git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "ahead")
    age(root)
    return root


async def started(root: Path, place: str, token: str = "", **more: str) -> IndexSummary:
    names = {"ATLAS_PUBLISHED_SOURCE": place, "ATLAS_PUBLISHED_TOKEN": token, **more}
    return await index_project(load_settings(str(root), environment=names), no_progress)


async def test_a_laptop_starts_from_what_ci_has_published_on_a_server(trees: Trees, server: Server) -> None:
    ci, laptop = server.token("ci", "main", publish=True), server.token("laptop", "main")
    with server.running():
        done = published(trees.main, server.url, token=ci)
        assert done.returncode == 0, done.stderr
        assert "published main at commit" in done.stdout
        root = changed_clone(trees)
        found = await started(root, server.url, laptop)
    assert (found.parsed, found.project) == (3, "laptop")
    commit = git_head(trees.main)
    assert found.seeded_from == f"commit {commit[:12]} at {server.url}"
    assert began_from(data_of(root) / "atlas.db") == found.seeded_from
    assert f"began from the index of commit {commit[:12]}" in atlas("status", "--project", str(root)).stdout
    assert await is_clean(root)


def git_head(root: Path) -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


async def test_a_folder_does_as_well_and_the_nearest_ancestor_is_taken(trees: Trees, tmp_path: Path) -> None:
    place = str(tmp_path / "share")
    assert published(trees.main, place).returncode == 0
    trees.commit("second", {**FILES, **CHANGED})
    assert published(trees.main, place).returncode == 0
    second = git_head(trees.main)
    trees.commit("third", {**FILES, "unrelated.py": ""})  # published, but no ancestor of the clone's commit
    git(trees.main, "checkout", "--quiet", "-B", "aside", "first")
    (trees.main / "aside.py").write_text("aside = 1\n")
    git(trees.main, "add", "--all")
    git(trees.main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "aside")
    age(trees.main)
    assert published(trees.main, place).returncode == 0
    git(trees.main, "checkout", "--quiet", "third")
    found = await started(root := trees.clone("laptop"), place)
    assert second[:12] in found.seeded_from
    assert await is_clean(root)
    listed = json.loads(atlas("published", "list", "--json", env={"ATLAS_PUBLISHED_SOURCE": place}).stdout)
    assert [one["project"] for one in listed] == ["main"] * 3


async def test_a_kin_on_this_machine_that_is_nearer_is_copied(trees: Trees, tmp_path: Path) -> None:
    place = str(tmp_path / "share")
    assert published(trees.main, place).returncode == 0
    await started(trees.main, "")
    found = await started(trees.clone("laptop"), place)
    assert found.seeded_from == str(trees.main)


def test_nothing_that_is_not_committed_is_published(trees: Trees, tmp_path: Path) -> None:
    place = tmp_path / "share"
    (trees.main / "private.py").write_text("password = 1\n")
    done = published(trees.main, str(place))
    assert done.returncode == 2
    assert "1 indexed file with other content than in commit" in done.stderr and "private.py" in done.stderr
    assert not place.exists()
    (trees.main / "private.py").unlink()
    assert published(trees.main, str(place)).returncode == 0
    for file in [one for one in place.rglob("*") if one.is_file()]:
        assert str(trees.main).encode() not in file.read_bytes()
    assert not list((tmp_path / "publisher").rglob("published-*"))


def test_tokens_are_for_their_projects_and_rights(trees: Trees, server: Server) -> None:
    ci, reader = server.token("ci", "main", publish=True), server.token("reader", "main")
    other = server.token("other", "billing", publish=True)
    with server.running():
        for token, why in (("", "401"), ("wrong" * 8, "401"), (reader, "no right to publish"), (other, "no right to")):
            done = published(trees.main, server.url, token=token)
            assert done.returncode == 2 and why in done.stderr, done.stderr
        assert published(trees.main, server.url, token=ci).returncode == 0

        def seen(token: str) -> list[object]:
            env = {"ATLAS_PUBLISHED_SOURCE": server.url, "ATLAS_PUBLISHED_TOKEN": token}
            return json.loads(atlas("published", "list", "--json", env=env).stdout or "[]")

        assert len(seen(reader)) == len(seen(ci)) == 1
        assert not seen(other)
        text = server.tokens.read_text()
        server.tokens.write_text(text[: text.index("[reader]")] + text[text.index("[other]") :])
        done = atlas(
            "published",
            "list",
            env={"ATLAS_PUBLISHED_SOURCE": server.url, "ATLAS_PUBLISHED_TOKEN": reader},
        )
        assert "401" in done.stderr, "a token that is taken out ends at once"
    assert not any(token in server.tokens.read_text() for token in (ci, reader, other))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("harm", [flip, cut, Path.unlink], ids=["forged", "truncated", "gone"])
async def test_a_body_that_is_not_the_stated_one_is_not_used(
    trees: Trees, server: Server, caplog: pytest.LogCaptureFixture, harm: object
) -> None:
    assert published(trees.main, str(server.shelf)).returncode == 0
    harm(server.body("main"))  # type: ignore[operator]
    with caplog.at_level(logging.WARNING):
        found = await started(root := changed_clone(trees), str(server.shelf))
    assert not found.seeded_from
    assert "the index is made without that of commit" in caplog.text
    assert await is_clean(root)


async def test_the_body_of_another_project_is_not_used(
    trees: Trees, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Its digests are right, and it is a whole index, but not the one that the manifest describes."""
    other = Trees(trees.folder / "billing")
    other.begin({"bill.py": "def bill(): pass\n"})
    other.main.rename(other.folder / "billing")
    assert published(trees.main, str(server.shelf)).returncode == 0
    assert published(other.folder / "billing", str(server.shelf)).returncode == 0
    theirs = json.loads(read_entry(server.entry("billing").read_bytes()).manifest)
    shutil.copyfile(server.body("billing"), server.shelf / "main" / "bodies" / theirs["body"])
    server.forge("main", lambda values: values.update(body=theirs["body"], parts=theirs["parts"]))
    found = await started(root := changed_clone(trees), str(server.shelf))
    assert not found.seeded_from and "not the one that its manifest describes" in caplog.text
    assert await is_clean(root)


async def test_an_index_of_another_state_under_the_name_of_a_commit_is_made_equal(trees: Trees, server: Server) -> None:
    """The commit only says which index is likely to be near: each file is compared by its digest."""
    trees.commit("other", {**FILES, **CHANGED, "more.py": "def more(): pass\n"})
    assert published(trees.main, str(server.shelf)).returncode == 0
    git(trees.main, "checkout", "--quiet", "first")
    server.forge("main", lambda values: values.update(commit=git_head(trees.main)))
    age(root := trees.clone("laptop"))
    found = await started(root, str(server.shelf))
    assert found.seeded_from
    assert await is_clean(root)


async def test_a_manifest_of_another_version_is_not_used(
    trees: Trees, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    assert published(trees.main, str(server.shelf)).returncode == 0
    root = changed_clone(trees)
    for change, why in (
        ({"read_by": "another parser"}, "by other versions of Code Atlas only"),
        ({"format": 99}, "its format is 99"),
        ({"parts": [{"name": "database", "size": 1 << 40, "packed": 9}]}, "larger than those"),
        ({"project": "../../etc"}, "a name or digest"),
    ):
        server.forge("main", lambda values, change=change: values.update(change))
        caplog.clear()
        found = await started(root, str(server.shelf))
        assert not found.seeded_from and why in caplog.text, change
        shutil.rmtree(data_of(root))
        shutil.rmtree(server.shelf)
        assert published(trees.main, str(server.shelf)).returncode == 0


async def test_an_index_with_another_schema_a_view_or_too_many_bytes_is_not_opened(
    trees: Trees, server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = changed_clone(trees)
    assert published(trees.main, str(server.shelf)).returncode == 0
    (original,) = (tmp_path / "publisher").rglob("atlas.db")
    for number, (statement, why) in enumerate(
        (
            ("UPDATE meta SET value = '99' WHERE key = 'schema'", "has schema 99"),
            ("CREATE VIEW trap AS SELECT 1", "was not created by this program: trap"),
            ("CREATE TRIGGER trap AFTER UPDATE ON meta BEGIN SELECT 1; END", "was not created by this program: trap"),
        )
    ):
        made = tmp_path / f"made{number}.db"
        shutil.copyfile(original, made)
        connection = raw(made)
        connection.execute(statement)
        connection.close()
        plant(server, [("database", made)], tmp_path / f"body{number}")
        caplog.clear()
        found = await started(root, str(server.shelf))
        assert not found.seeded_from and why in caplog.text
        assert await is_clean(root)
        shutil.rmtree(data_of(root))


def plant(server: Server, files: list[tuple[str, Path]], body: Path) -> tuple[Part, ...]:
    """Give the only entry another body, with digests that are right."""
    parts, digest = pack(files, body)
    body.replace(server.shelf / "main" / "bodies" / digest)
    listed = [{"name": one.name, "size": one.size, "packed": one.packed} for one in parts]
    server.forge("main", lambda values: values.update(body=digest, parts=listed))
    return parts


async def test_a_bomb_is_refused_before_it_fills_the_disk(
    trees: Trees, server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert published(trees.main, str(server.shelf)).returncode == 0
    (tmp_path / "zeros").write_bytes(bytes(64 << 20))
    (part,) = plant(server, [("database", tmp_path / "zeros")], tmp_path / "body")
    root = changed_clone(trees)
    assert not (await started(root, str(server.shelf))).seeded_from
    assert "larger than those of an index" in caplog.text
    shutil.rmtree(data_of(root))
    lie = {"name": "database", "size": 1000, "packed": part.packed}
    server.forge("main", lambda values: values.update(parts=[lie]))
    assert not (await started(root, str(server.shelf))).seeded_from
    assert "its database is longer than stated" in caplog.text
    assert await is_clean(root)


async def test_only_the_demanded_signer_is_believed(
    trees: Trees, server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = {name: new_secret() for name in ("ci", "stranger")}
    for name, secret in secrets.items():
        (tmp_path / name).write_text(secret_file(secret, ""))
        (tmp_path / name).chmod(0o600)
    wanted = secrets["ci"].public.text
    root = changed_clone(trees)
    for options, why in (([], "it is not signed"), (["--sign", str(tmp_path / "stranger")], "it is signed by the key")):
        done = published(trees.main, str(server.shelf), *options)
        assert done.returncode == 0, done.stderr
        found = await started(root, str(server.shelf), ATLAS_PUBLISHED_SIGNER=wanted)
        assert not found.seeded_from and why in caplog.text
        shutil.rmtree(data_of(root))
    assert published(trees.main, str(server.shelf), "--sign", str(tmp_path / "ci")).returncode == 0
    honest = server.entry("main").read_bytes()
    server.forge("main", lambda values: values.update(made_at="2999"))
    assert not (await started(root, str(server.shelf), ATLAS_PUBLISHED_SIGNER=wanted)).seeded_from
    assert "is bad" in caplog.text
    shutil.rmtree(data_of(root))
    server.entry("main").write_bytes(honest)
    assert (await started(root, str(server.shelf), ATLAS_PUBLISHED_SIGNER=wanted)).seeded_from
    assert await is_clean(root)


async def test_a_server_that_is_gone_redirects_or_breaks_off_costs_nothing_but_the_start(
    trees: Trees, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    assert published(trees.main, str(server.shelf)).returncode == 0
    listed = json.dumps([json.loads(server.entry("main").read_text())]).encode()
    root = changed_clone(trees)
    asked: list[str] = []

    def elsewhere(headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        asked.append(headers.get("authorization", ""))
        return 200, {}, listed

    with answering(elsewhere) as other:
        replies = {
            "which is not followed": lambda headers: (307, {"location": f"{other}/published"}, b""),
            "no complete answer": lambda headers: (
                (200, {}, listed) if headers["atlas-action"] == "list" else (200, {"content-length": "9999"}, b"x")
            ),
            "ends early": lambda headers: (200, {}, listed if headers["atlas-action"] == "list" else b""),
            "sent more than": lambda headers: (
                200,
                {},
                listed if headers["atlas-action"] == "list" else bytes(5 << 20),
            ),
            "did not send a list": lambda headers: (200, {}, b"[" * 100_000),
            "answered 500": lambda headers: (500, {}, b'{"error": {"message": "\\u001b[31m out"}}'),
        }
        for why, reply in replies.items():
            with answering(reply) as url:
                found = await started(root, url, "secret-token-of-this-server")
            assert not found.seeded_from and why in caplog.text, caplog.text
            shutil.rmtree(data_of(root))
        assert not asked and "\x1b" not in caplog.text
    found = await started(root, "http://127.0.0.1:9")
    assert not found.seeded_from and "cannot be reached" in caplog.text
    assert await is_clean(root)


def test_who_may_be_asked_is_the_users_choice_alone(trees: Trees) -> None:
    (trees.main / "atlas.toml").write_text('[published]\nsource = "https://evil.example"\n')
    settings = load_settings(str(trees.main), environment={})
    assert not settings.published.source and settings.ignored
    with pytest.raises(ConfigError, match="asked unencrypted"):
        load_settings(str(trees.main), environment={"ATLAS_PUBLISHED_SOURCE": "http://index.example:8767"})
    with pytest.raises(ConfigError, match="must be an absolute path"):
        load_settings(str(trees.main), environment={"ATLAS_PUBLISHED_SOURCE": "shared"})


def publish_with_small_files(root: Path, place: str) -> subprocess.CompletedProcess[str]:
    """Publish as `published` does, by a process that can write no file of more than 64 KB."""
    command = ["bash", "-c", 'ulimit -f 64; exec "$@"', "-", *COMMAND, "index", str(root), "--publish-to", place]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)


async def test_a_full_disk_loses_nothing(trees: Trees, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    assert published(trees.main, str(server.shelf)).returncode == 0
    root = changed_clone(trees)
    with no_file_larger_than(20_000), pytest.raises(StoreError):  # nor is there room for a clean one
        await started(root, str(server.shelf))
    assert "File too large" in caplog.text
    assert not (data_of(root) / STAGING).exists()
    for left in data_of(root).glob("atlas.db*"):
        left.unlink()
    assert (await started(root, str(server.shelf))).seeded_from
    assert await is_clean(root)
    done = publish_with_small_files(root, str(server.shelf))
    assert done.returncode == 5 and "File too large" in done.stderr, done.stderr
    assert len(list((server.shelf / "main" / "entries").iterdir())) == 1
    assert not list(data_of(root).glob("published-*"))


async def test_too_little_room_is_said_before_anything_is_fetched(
    trees: Trees, server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert published(trees.main, str(server.shelf)).returncode == 0
    small = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr("atlas.app.published.starting.shutil.disk_usage", lambda path: small)  # type: ignore[misc]
    assert not (await started(root := changed_clone(trees), str(server.shelf))).seeded_from
    assert "MB are free" in caplog.text
    assert await is_clean(root)


def kill_once(reached: threading.Event, root: Path, url: str) -> None:
    """Start `atlas index` and kill it when a server is reached."""
    process = subprocess.Popen(
        [*COMMAND, "index", str(root)],
        env=environment(ATLAS_PUBLISHED_SOURCE=url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert reached.wait(60)
    process.send_signal(signal.SIGKILL)
    process.wait()


async def test_a_process_that_is_killed_in_the_middle_leaves_what_the_next_one_removes(
    trees: Trees, server: Server
) -> None:
    assert published(trees.main, str(server.shelf)).returncode == 0
    entry = server.entry("main").read_text()
    root = changed_clone(trees)
    reached, over = threading.Event(), threading.Event()

    def slow(headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        if headers["atlas-action"] == "list":
            return 200, {}, json.dumps([json.loads(entry)]).encode()
        reached.set()
        over.wait(60)
        return 200, {}, b""

    with answering(slow) as url:
        kill_once(reached, root, url)
        over.set()
    assert (data_of(root) / STAGING).exists()
    assert not (data_of(root) / "atlas.db").exists()
    assert (await started(root, str(server.shelf))).seeded_from
    assert await is_clean(root)


async def test_a_branch_that_is_switched_during_the_copy(
    trees: Trees, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert published(trees.main, str(server.shelf)).returncode == 0
    root = changed_clone(trees)
    fill = starting.PublishedStart.fill

    def switched(self: starting.PublishedStart, folder: Path, project: str) -> object:
        found = fill(self, folder, project)
        git(root, "checkout", "--quiet", "--detach", "HEAD~1")
        return found

    monkeypatch.setattr(starting.PublishedStart, "fill", switched)
    assert (await started(root, str(server.shelf))).seeded_from
    assert await is_clean(root)


async def test_many_files_in_several_pieces(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Polyglot trees, a shallow clone, and a body that takes many requests."""
    import random

    monkeypatch.setattr(starting, "PIECE", 10_000)
    trees = Trees(tmp_path / "trees")
    trees.begin(tree(40, random.Random(1)))
    assert published(trees.main, str(server.shelf)).returncode == 0
    root = trees.clone("laptop", "--depth=1")
    assert (found := await started(root, str(server.shelf))).seeded_from and found.parsed == 0
    assert await is_clean(root)


def test_a_shelf_keeps_whole_bodies_and_its_newest_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "KEPT", 2)
    monkeypatch.setattr(shelf, "LEFT_SECONDS", -1)
    place = IndexShelf(tmp_path)
    (tmp_path / "file").write_bytes(b"content")
    _, digest = pack([("database", tmp_path / "file")], tmp_path / "packed")
    data = (tmp_path / "packed").read_bytes()
    assert not place.write("shop", digest, 0, len(data), data[:5])
    with pytest.raises(StoreError, match="missing before"):
        place.write("shop", digest, 9, len(data), b"x")
    assert place.write("shop", digest, 5, len(data), data[5:])
    assert place.write("shop", digest, 0, len(data), data), "it is there already"
    with pytest.raises(StoreError, match="does not have the digest"):
        place.write("shop", "0" * 64, 0, 3, b"abc")
    for name in ("..", "a/b", "", ".hidden"):
        with pytest.raises(StoreError, match="not the name of a project"):
            place.write(name, digest, 0, len(data), data)
    values = {"format": 1, "project": "shop", "prefix": "", "read_by": "p", "program": "1", "body": digest}
    part = {"name": "database", "size": 7, "packed": len(data)}
    more: dict[str, object] = {}
    for number in range(4):
        more = {"commit": f"{number:040x}", "made_at": str(number), "parts": [part]}
        place.enter("shop", Entry(json.dumps({**values, **more})))
    assert [read_manifest(one.manifest).made_at for one in place.entries()] == ["3", "2"]
    assert (tmp_path / "shop" / "bodies" / digest).exists()
    with pytest.raises(StoreError, match="not of billing"):
        place.enter("billing", Entry(json.dumps({**values, **more})))
    with pytest.raises(StoreError, match="the body of this index is not there"):
        place.enter("shop", Entry(json.dumps({**values, **more, "body": "1" * 64})))
