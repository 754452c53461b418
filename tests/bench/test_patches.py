"""Questions from patches: headers of git, DEP-3 and Mercurial, hunks in the tree without patches, and what is left out."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

import pytest
from atlas_bench.search.patches import Change, Hunk, find_hunk, find_series, is_telling, read_patch, read_series
from atlas_bench.search.questions import Target
from atlas_bench.search.sets import Plan, make_sets

from atlas.core.errors import ConfigError
from atlas.parsing import load_languages

from .fetch_patches import SourcePackage, fetch, read_list

LISTS = Path(__file__).parent / "search" / "patches"
SOURCE = """import os


class Basket:
    def add_item(self, item):
        if item.sold_out:
            raise ValueError(item)
        self.items.append(item)

    def total(self):
        return sum(self.items)
"""
DIFF = """--- a/shop/basket.py
+++ b/shop/basket.py
@@ -40,5 +40,6 @@ class Basket:
         if item.sold_out:
             raise ValueError(item)
         self.items.append(item)
+        self.changed = True

     def total(self):
"""
MESSAGE = "Baskets that are shown while an article is put into them do not notice it.\n" * 3
GIT = f"""From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001
From: A B <a@example.org>
Date: Mon, 1 Jan 2024 00:00:00 +0000
Subject: [PATCH 2/3] basket: notice articles that are
 put into it later

{MESSAGE}
Fixes: 0123456
Signed-off-by: A B <a@example.org>
(cherry picked from commit 0123456789abcdef)
---
 shop/basket.py | 1 +

diff --git a/shop/basket.py b/shop/basket.py
index 1..2 100644
{DIFF}"""
DEP3 = f"""Description: Notice articles that are put into a basket
 The basket does not know.
 .
 It should.
Author: A B <a@example.org>
Bug-Debian: https://bugs.example.org/1
Forwarded: not-needed

{DIFF}"""
MERCURIAL = f"""# HG changeset patch
# User A B <a@example.org>
# Date 1700000000 0
Notice articles that are put into a basket

More about it.

{DIFF}"""


def test_headers_of_git_keep_subject_and_message_without_trailers() -> None:
    patch = read_patch(GIT)
    assert patch.subject == "basket: notice articles that are put into it later"
    assert patch.body == MESSAGE.strip()
    assert patch.fields["signed-off-by"].startswith("A B")
    assert list(patch.files) == ["shop/basket.py"]


def test_headers_of_dep3_and_mercurial_are_read() -> None:
    patch = read_patch(DEP3)
    assert (patch.subject, patch.body) == (
        "Notice articles that are put into a basket",
        "The basket does not know.\n\nIt should.",
    )
    assert not is_telling(patch)  # a packager's own change
    other = read_patch(MERCURIAL)
    assert (other.subject, other.body) == ("Notice articles that are put into a basket", "More about it.")
    assert is_telling(other)


def test_the_notes_of_whoever_carried_a_patch_over_are_no_message() -> None:
    patch = read_patch(GIT.replace("\nFixes:", "\nBackported by: C D\n* shop/basket.py: another name\nFixes:"))
    assert patch.body == MESSAGE.strip()


@pytest.mark.parametrize(
    "subject",
    ["Fix spelling errors in messages", "Use paths of Debian in it", "Release version 1.2 of it", "Too short"],
)
def test_patches_that_change_no_behaviour_are_left_out(subject: str) -> None:
    assert not is_telling(read_patch(f"Subject: {subject}\n\n{DIFF}"))


def test_a_hunk_is_found_where_its_lines_are_now() -> None:
    (hunk,) = read_patch(DIFF).files["shop/basket.py"]
    assert hunk == Hunk(40, tuple(SOURCE.split("\n")[5:10]), (Change(3, 3, 8),))
    lines = SOURCE.split("\n")
    assert find_hunk(lines, hunk) == 6
    assert find_hunk(["x = 1", *lines], hunk) == 7
    assert find_hunk([line.replace("if item.sold_out", "if item.gone") for line in lines], hunk) == 6  # fuzz
    assert find_hunk([line.replace("self.items.append", "self.items.add") for line in lines], hunk) == 0


def test_hunks_with_removed_lines_missing_ends_and_other_paths_are_read() -> None:
    text = (
        "--- old/a.c.orig\t2020\n+++ new/a.c\n@@ -3 +3,2 @@\n-int a;\n+int b;\n+int c;\n\\ No newline at end of file\n"
    )
    assert read_patch(text).files == {"a.c": (Hunk(3, ("int a;",), (Change(0, 1),)),)}
    assert read_patch(text, strip=0).files.keys() == {"old/a.c"}
    assert read_patch("--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+int a;\n").files.keys() == {"new.c"}
    assert read_patch("Subject: nothing\n").files == {}


def test_patches_ask_for_what_they_change(tmp_path: Path) -> None:
    root, patches = tmp_path / "shop", tmp_path / "patches" / "shop"
    (root / "shop").mkdir(parents=True)
    (root / "shop/basket.py").write_text(SOURCE)
    patches.mkdir(parents=True)
    (patches / "series").write_text("a.patch -p1 # why\n\ngone.patch\n../out.patch\nb.patch\n")
    (patches / "a.patch").write_text(GIT)
    (patches / "b.patch").write_text(f"Subject: Count the articles in no basket\n\n{DIFF.replace('append', 'push')}")
    (tmp_path / "patches/out.patch").write_text(GIT)
    assert len([*read_series(patches / "series")]) == 2
    (asked,) = make_sets(root, tmp_path / "scratch", load_languages(), Plan(), (), patches)
    gold = (Target("shop/basket.py", 5, "shop.basket.Basket.add_item"),)
    found = {question.kind: question for question in asked.questions if question.kind.startswith("commit")}
    assert found["commit"].text == "basket: notice articles that are put into it later"
    assert found["commit issue"].text == f"{found['commit'].text}\n\n{MESSAGE.strip()}"
    assert {question.gold for question in found.values()} == {gold}
    assert len([question for question in asked.questions if question.kind == "commit"]) == 1
    assert find_series(tmp_path) is None


def test_sources_and_patches_are_unpacked_apart_and_checked(tmp_path: Path) -> None:
    names = ("p_1.orig.tar.gz", "p_1-1.debian.tar.gz")
    for name, member in zip(names, ("p-of-1/src/a.c", "debian/patches/series"), strict=True):
        (tmp_path / "file").write_text("x")
        with tarfile.open(tmp_path / name, "w:gz") as archive:
            archive.add(tmp_path / "file", member)
    digests = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names]
    package = SourcePackage("p", "1-1", "c", names[0], digests[0], names[1], digests[1])
    tree = fetch(package, tmp_path / "made", tmp_path)
    assert (tree / "src/a.c").is_file() or (tree / "a.c").is_file()
    assert (tmp_path / "made/patches/p/series").is_file()
    other = SourcePackage("q", "1-1", "c", names[0], "0" * 64, names[1], digests[1])
    with pytest.raises(ConfigError, match="has the digest"):
        fetch(other, tmp_path / "made", tmp_path)


def test_the_halves_are_disjoint_and_none_of_their_packages_is_in_another_part() -> None:
    halves = [[each.name for each in read_list(LISTS / f"{half}.toml")] for half in ("tune", "final")]
    named = [name for half in halves for name in half]
    assert len(named) == len(set(named)) >= 40
    others = {path.stem for path in LISTS.parent.rglob("*.toml") if path.parent != LISTS}
    assert others.isdisjoint(named)
