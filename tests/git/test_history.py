"""The history of real repositories: differences, commits, the last change of lines, files that changed together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.adapters.git.history import GitHistory
from atlas.core.errors import NotFound
from atlas.core.history import BRANCH_BASE, STAGED, ChangeKind, CommitSpan, Diff
from atlas.parsing import positions_that_differ

from .repositories import HOUR, START, GitRepository, chain_of_commits

CART = "def total():\n    return 1\n\n\ndef save():\n    return 2\n\n\ndef load():\n    return 3\n"


@pytest.fixture
def shop(tmp_path: Path) -> GitRepository:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"shop/cart.py": CART, "shop/store.py": "KEPT = 1\n", "README.md": "# Shop\n"})
    return repository


@pytest.fixture
async def history(shop: GitRepository) -> AsyncIterator[GitHistory]:
    history = GitHistory(shop.root, positions_that_differ)
    yield history
    await history.aclose()
    shop.close()


def summary(diff: Diff) -> list[tuple[str, str]]:
    return [(change.kind.value, change.path) for change in diff.changes]


async def test_changes_of_the_working_tree_staged_or_not(shop: GitRepository, history: GitHistory) -> None:
    assert (await history.diff("HEAD")).changes == ()
    shop.put({"shop/cart.py": CART.replace("return 2", "return 20"), "new.py": "x = 1\n", "README.md": None})
    shop.stage("shop/cart.py")
    shop.put({"shop/cart.py": CART.replace("return 2", "return 200")})
    diff = await history.diff(
        "HEAD", candidates=["new.py", "shop/cart.py", "gone.py", "../shop/cart.py", "/etc/passwd"]
    )
    assert summary(diff) == [("deleted", "README.md"), ("added", "new.py"), ("modified", "shop/cart.py")]
    change = diff.changes[2]
    assert change.old == CART.encode() and change.new is not None and b"return 200\n" in change.new
    staged = await history.diff("HEAD", STAGED)
    assert summary(staged) == [("modified", "shop/cart.py")]
    assert staged.changes[0].new is not None and b"return 20\n" in staged.changes[0].new


async def test_a_file_that_is_touched_or_has_other_line_ends_is_unchanged(
    shop: GitRepository, history: GitHistory
) -> None:
    file = shop.root / "shop/cart.py"
    file.write_bytes(CART.replace("\n", "\r\n").encode())
    (shop.root / "README.md").touch()
    assert (await history.diff("HEAD")).changes == ()


async def test_differences_of_revisions_with_renames(shop: GitRepository, history: GitHistory) -> None:
    moved = {"shop/cart.py": None, "shop/basket.py": CART.replace("return 2", "return 5"), "shop/store.py": None}
    shop.commit("Move", {**moved, "lib/store.py": "KEPT = 1\n"})
    diff = await history.diff("HEAD~1..HEAD")
    assert [(change.kind, change.old_path, change.path) for change in diff.changes] == [
        (ChangeKind.RENAMED, "shop/store.py", "lib/store.py"),
        (ChangeKind.RENAMED, "shop/cart.py", "shop/basket.py"),
    ]
    assert diff.old.subject == "Begin" and diff.old.author == "Ada Lovelace" and diff.old.time == START + HOUR


async def test_revisions_are_found_as_git_finds_them(shop: GitRepository, history: GitHistory) -> None:
    first = (await history.log(1)).commits[0].id
    shop.tag("v1.0")
    shop.branch("topic")
    second = shop.commit("Next", {"shop/store.py": "KEPT = 2\n"})
    for name, wanted in {
        "v1.0": first, "main": first, "topic": second, "@": second, "HEAD~": first, "HEAD^1": first, "topic~1": first,
        second[:7]: second, first: first, "refs/tags/v1.0^{commit}": first, "HEAD^0": second,
    }.items():  # fmt: skip
        assert (await history.diff(name)).old.id == wanted, name
    shop.pack()
    assert (await history.diff("v1.0")).old.id == first, "from packed objects and references"
    config = shop.repo.get_config()
    config.set((b"branch", b"topic"), b"remote", b".")
    config.set((b"branch", b"topic"), b"merge", b"refs/heads/main")
    config.write_to_path()
    assert (await history.diff("@{upstream}")).old.id == first
    for wrong in ("HEAD~2", "", "a b", "--output=x", "main:file", "deadbeef", "@{-1}", "HEAD@{1}"):
        with pytest.raises(NotFound):
            await history.diff(wrong)
    with pytest.raises(NotFound) as found:
        await history.diff("mian")
    assert found.value.near == ("main",)


async def test_the_base_of_a_branch(shop: GitRepository, history: GitHistory) -> None:
    shop.branch("topic")
    one = shop.commit("One", {"shop/store.py": "KEPT = 2\n"})
    two = shop.commit("Two", {"shop/store.py": "KEPT = 3\n"})
    assert summary(await history.diff(BRANCH_BASE)) == [("modified", "shop/store.py")]
    assert [commit.id for commit in (await history.log(9, since=BRANCH_BASE)).commits] == [two, one]
    # main goes on, so that the base is no longer its tip
    shop.repo.refs.set_symbolic_ref(b"HEAD", b"refs/heads/main")
    shop.commit("Meanwhile", {"README.md": "# Other\n", "shop/store.py": "KEPT = 1\n"})
    shop.repo.refs.set_symbolic_ref(b"HEAD", b"refs/heads/topic")
    assert [commit.id for commit in (await history.log(9, since=BRANCH_BASE)).commits] == [two, one]
    assert summary(await history.diff("main...topic")) == [("modified", "shop/store.py")]
    assert summary(await history.diff("main..topic")) == [("modified", "README.md"), ("modified", "shop/store.py")]


async def test_the_last_commits_with_their_files(shop: GitRepository, history: GitHistory) -> None:
    second = shop.commit("Change two", {"shop/cart.py": "x = 1\n", "shop/store.py": "x = 1\n"}, b"Bo <bo@example.org>")
    log = await history.log(1)
    assert [(one.id, one.author, one.paths, one.more_paths) for one in log.commits] == [
        (second, "Bo", ("shop/cart.py", "shop/store.py"), 0)
    ]
    assert log.more
    assert [(one.paths, one.more_paths) for one in (await history.log(5, paths=1)).commits] == [
        (("shop/cart.py",), 1), (("README.md",), 2),
    ]  # fmt: skip
    assert [one.subject for one in (await history.log(5, after=START + 2 * HOUR)).commits] == ["Change two"]
    assert [one.subject for one in (await history.log(5, until=START + HOUR)).commits] == ["Begin"]
    assert (await history.log(5, since="HEAD")).commits == ()


async def test_the_last_change_of_lines_is_followed_through_other_commits(
    shop: GitRepository, history: GitHistory
) -> None:
    edit = shop.commit("Edit save", {"shop/cart.py": CART.replace("return 2", "return 20")})
    later = "import os\n\n\n" + CART.replace("return 2", "return 20").replace("return 3", "return 30")
    shop.commit("Edit load", {"shop/cart.py": later})
    shop.commit("Move", {"shop/cart.py": None, "shop/basket.py": later})
    shop.commit("Elsewhere", {"README.md": "# More\n"})
    assert (await history.last_change("shop/basket.py", 8, 9)).commit == await commit_of(history, edit)
    shop.put({"shop/basket.py": "# a line before\n" + later})
    assert (await history.last_change("shop/basket.py", 9, 10)).commit == await commit_of(history, edit)
    found = await history.last_change("shop/basket.py", 13, 14)
    assert found.by_lines and found.commit is not None and found.commit.subject == "Edit load"
    assert (await history.last_change("shop/basket.py")).commit.subject == "Edit load"  # pyright: ignore
    shop.put({"shop/basket.py": later.replace("return 20", "return 21")})
    unsaved = await history.last_change("shop/basket.py", 8, 9)
    assert unsaved.commit == await commit_of(history, edit) and "not committed" in unsaved.notes[0]
    shop.put({"shop/basket.py": later + "\n\ndef new():\n    return 4\n"})
    unsaved = await history.last_change("shop/basket.py", 16, 17)
    assert unsaved.commit is None and "not committed" in unsaved.notes[0]
    with pytest.raises(NotFound, match="not committed"):
        await history.last_change("shop/nothing.py")


async def commit_of(history: GitHistory, identity: str) -> object:
    return (await history.diff(identity)).old


async def test_files_that_changed_together(shop: GitRepository, history: GitHistory) -> None:
    for number in range(3):
        shop.commit("Both", {"shop/cart.py": f"x = {number}\n", "shop/store.py": f"x = {number}\n"})
    shop.commit("With a test", {"shop/cart.py": "y = 1\n", "test.py": "y = 1\n"})
    shop.commit("Alone", {"shop/store.py": "z = 1\n"})
    shop.commit("Everything", {f"many/{number}.py": "" for number in range(120)} | {"shop/cart.py": "many\n"})
    found = await history.changed_with("shop/cart.py")
    assert [(one.path, one.times) for one in found.files] == [("shop/store.py", 4), ("README.md", 1), ("test.py", 1)]
    assert (found.commits, found.seen) == (5, 6)
    assert found.notes == ("not counted: 1 commit of more than 100 files",)
    bounded = await history.changed_with("shop/cart.py", commits=3)
    assert (bounded.commits, bounded.seen) == (1, 2) and "the last 3 commits" in bounded.notes[0]


async def test_a_project_below_the_root_of_its_repository_sees_itself_only(
    shop: GitRepository, history: GitHistory
) -> None:
    below = GitHistory(shop.root / "shop", positions_that_differ)
    shop.commit("Outside", {"README.md": "# Other\n"})
    shop.put({"shop/cart.py": "x = 1\n", "README.md": "# Changed\n"})
    assert summary(await below.diff("HEAD")) == [("modified", "cart.py")]
    assert [commit.subject for commit in (await below.log(5)).commits] == ["Begin"]
    assert (await below.last_change("store.py")).commit.subject == "Begin"  # pyright: ignore
    await below.aclose()
    (shop.root / "strange").mkdir()
    with pytest.raises(NotFound, match="never recorded"):
        await GitHistory(shop.root / "strange", positions_that_differ).log(1)


async def test_without_a_repository_without_a_commit_and_with_a_detached_head(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for question in ("diff", "log"):
        with pytest.raises(NotFound, match="no Git repository"):
            await getattr(GitHistory(tmp_path / "plain", positions_that_differ), question)(
                5 if question == "log" else "HEAD"
            )
    empty = GitRepository(tmp_path / "empty")
    with pytest.raises(NotFound, match="no commit yet"):
        await GitHistory(empty.root, positions_that_differ).diff("HEAD")
    first = empty.commit("First", {"a.py": "x = 1\n"})
    empty.commit("Second", {"a.py": "x = 2\n"})
    (empty.root / ".git/HEAD").write_text(first + "\n")
    detached = GitHistory(empty.root, positions_that_differ)
    assert [commit.subject for commit in (await detached.log(5)).commits] == ["First"]
    await detached.aclose()
    empty.close()


async def test_a_shallow_clone_ends_where_it_ends(shop: GitRepository, history: GitHistory) -> None:
    shop.commit("Second", {"shop/cart.py": "x = 2\n"})
    third = shop.commit("Third", {"shop/store.py": "x = 3\n"})
    second = (await history.diff("HEAD~1")).old.id
    (shop.root / ".git/shallow").write_text(second + "\n")
    log = await history.log(9)
    assert [commit.id for commit in log.commits] == [third] and "shallow" in log.notes[0]
    found = await history.last_change("README.md")
    assert found.commit is not None and found.commit.id == second and "may be older" in found.notes[0]


async def test_packs_that_appear_between_two_questions_are_read(shop: GitRepository, history: GitHistory) -> None:
    chain_of_commits(shop, 40, "a.py")
    assert len((await history.log(100)).commits) == 41
    shop.pack()
    chain_of_commits(shop, 3, "a.py")
    assert len((await history.log(100)).commits) == 44
    assert (await history.changed_with("a.py")).commits == 43


async def test_questions_at_the_same_time_are_answered_one_after_the_other(
    shop: GitRepository, history: GitHistory
) -> None:
    answers = await asyncio.gather(*(history.log(5) for _ in range(8)), history.diff("HEAD"))
    assert len({str(answer) for answer in answers}) == 2


async def test_binary_and_large_files_are_named_but_not_compared(shop: GitRepository, history: GitHistory) -> None:
    (shop.root / "shop/store.py").write_bytes(b"\0\1\2")
    (shop.root / "README.md").write_bytes(b"long\n" * 600_000)
    diff = await history.diff("HEAD")
    assert [(change.path, change.compared) for change in diff.changes] == [
        ("README.md", False),
        ("shop/store.py", False),
    ]
    assert diff.notes == ("not compared: 2 of 2 changed files, which are binary, too large or too many",)


async def test_the_last_tag_is_the_newest_that_head_descends_from(shop: GitRepository, history: GitHistory) -> None:
    with pytest.raises(NotFound, match="no tag"):
        await history.last_tag()
    shop.tag("v1")
    shop.commit("More", {"more.py": "x = 1\n"})
    shop.tag("v2")
    shop.commit("Still more", {"more.py": "x = 2\n"})
    assert await history.last_tag() == "v2"


async def test_texts_of_a_revision(shop: GitRepository) -> None:
    history = GitHistory(shop.root, positions_that_differ, lambda text: text.replace(b"secret", b"******"))
    (shop.root / "image.bin").write_bytes(b"\0\1")
    shop.stage("image.bin")
    shop.commit("more", {"folder/a.py": "key = 'secret'\n"})
    shop.put({"folder/a.py": "key = ''\n"})
    wanted = ["folder/a.py", "folder", "missing.py", "../folder/a.py", "image.bin", ""]
    assert await history.content("HEAD", wanted) == {"folder/a.py": b"key = '******'\n"}
    assert await history.content("HEAD~1", wanted) == {}
    with pytest.raises(NotFound):
        await history.content("nowhere", wanted)
    await history.aclose()


async def test_commits_are_found_by_the_words_of_their_messages_the_rare_ones_first(
    shop: GitRepository, history: GitHistory
) -> None:
    cart = {"shop/cart.py": CART + "A = 1\n"}
    shop.commit("Fix the cart", cart)
    shop.commit("Fix TestCart_StartAsGuest (#3)", {"shop/cart.py": CART + "A = 2\n"})
    shop.commit("Forbid traversal ('.' and '..') of paths\n\nThey leave the\nfolder.\n", {"shop/a.py": "x = 1\n"})
    shop.commit("Fix the cart again.. and", {"shop/cart.py": CART + "A = 3\n"})
    found = await history.commits_about(("fix", "cart", "guest", "nowhere"), 2)
    assert found.commits[0].commit.subject == "Fix TestCart_StartAsGuest (#3)"
    assert found.commits[0].words == ("fix", "cart", "guest") and len(found.commits) == 2
    assert found.weights["guest"] > found.weights["cart"] and found.looked == 5
    assert found.commits[0].commit.paths == ("shop/cart.py",)
    [dots] = (await history.commits_about(("..",), 5)).commits
    assert dots.commit.subject.startswith("Forbid")
    assert await history.messages([dots.commit.id, found.commits[0].commit.id]) == {
        dots.commit.id: "They leave the folder."
    }
    assert (await history.commits_about(("fix",), 5, CommitSpan(until=shop.time - 10))).looked == 4


async def test_added_lines_are_those_of_commits_with_one_parent_and_few_files(
    shop: GitRepository, history: GitHistory
) -> None:
    begun = (await history.log(1)).commits[0].id
    grown = shop.commit("Grow", {"shop/cart.py": CART.replace("    return 2\n", "    if x:\n        return 2\n")})
    (shop.root / "image.bin").write_bytes(b"\0\1\n")
    shop.stage("image.bin")
    shop.put({"README.md": None, "unwanted.py": "z = 1\n"})
    shop.stage("README.md", "unwanted.py")
    mixed = shop.commit("Mix", {"shop/store.py": "KEPT = 1\nNEW = 2\r\n"})
    many = shop.commit("Spread", {f"shop/part{each}.py": "x = 1\n" for each in range(11)})
    shop.branch("side")
    aside = shop.commit("Aside", {"shop/aside.py": "y = 1\n"})
    shop.merge(aside, "main", "Merge the side")
    commits = await history.last_commits(10)
    assert [each.subject for each in commits] == ["Aside", "Spread", "Mix", "Grow"]
    assert [each.id for each in await history.last_commits(2)] == [aside, many]
    assert await history.added_lines([begun, many, grown, mixed], lambda path: path != "unwanted.py") == {
        grown: {"shop/cart.py": frozenset({"if x:", "return 2"})},
        mixed: {"shop/store.py": frozenset({"NEW = 2"})},
    }


async def test_the_first_tag_of_a_commit_is_the_oldest_that_contains_it(
    shop: GitRepository, history: GitHistory
) -> None:
    first = shop.commit("One", {"a.py": "x = 1\n"})
    shop.tag("v1")
    second = shop.commit("Two", {"a.py": "x = 2\n"})
    shop.tag("v2")
    third = shop.commit("Three", {"a.py": "x = 3\n"})
    assert await history.first_tags([first, second, third]) == {first: "v1", second: "v2"}
    assert await history.first_tags([]) == {}
