"""Random moves of folders on a small tree that holds everything a move can break: manifests, rules, markers, repositories."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

WRITTEN_NS = 1_700_000_000_000_000_000
"""Time of all files at first, as after the unpacking of an archive: sizes and times alone do not tell them apart."""

TREE = {
    ".gitignore": "build/\n*.log\n",
    "pyproject.toml": "[project]\nname = 'shop'\n",
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": "from shop.pricing.tax import taxed\nfrom util import helper\n\n\nclass Cart:\n    def total(self):\n        return taxed(helper())\n",
    "shop/pricing/__init__.py": "",
    "shop/pricing/tax.py": "def taxed(value):\n    return value * 2\n",
    "shop/pricing/.gitignore": "old/\n",
    "shop/pricing/old/tax.py": "def before():\n    return 1\n",
    "libs/util/pyproject.toml": "[project]\nname = 'util'\n",
    "libs/util/src/util/__init__.py": "from .deep import helper\n",
    "libs/util/src/util/deep.py": "def helper():\n    return 1\n",
    "libs/twin/setup.cfg": "[metadata]\nname = twin\n",
    "libs/twin/src/util/__init__.py": "from .deep import helper\n",
    "libs/twin/src/util/deep.py": "def helped():\n    return 2\n",
    "web/core/package.json": '{"name": "@shop/core"}\n',
    "web/core/src/index.ts": "export function draw(): void {}\n",
    "web/view/package.json": '{"name": "@shop/view"}\n',
    "web/view/src/index.ts": "export function show(): void {}\n",
    "web/app/main.ts": "import { draw } from '@shop/core';\nimport { show } from '@shop/view';\nimport { near } from './near';\nimport { far } from '../core/src/far';\n\nexport function main(): void {\n  draw();\n  show();\n  near();\n  far();\n}\n",
    "web/app/near.ts": "export function near(): void {}\n",
    "web/core/src/far.ts": "export function far(): void {}\n",
    "svc/go.mod": "module example.org/svc\n\ngo 1.22\n",
    "svc/main.go": 'package main\n\nimport "example.org/svc/stock"\n\nfunc main() { stock.New() }\n',
    "svc/stock/stock.go": "package stock\n\nfunc New() int { return 1 }\n",
    "rs/one/Cargo.toml": '[package]\nname = "one"\n',
    "rs/one/src/lib.rs": "pub mod inner;\npub fn first() { inner::deep(); }\n",
    "rs/one/src/inner.rs": "pub fn deep() {}\n",
    "rs/two/Cargo.toml": '[package]\nname = "two"\n',
    "rs/two/src/lib.rs": "use one::first;\npub fn second() { first(); }\n",
    "java/pom.xml": "<project><artifactId>store</artifactId></project>\n",
    "java/src/main/java/store/Shelf.java": "package store;\n\npublic class Shelf { public int left() { return 1; } }\n",
    "php/composer.json": '{"name": "shop/php"}\n',
    "php/src/Line.php": "<?php\nnamespace Shop;\nclass Line { function price() { return 1; } }\n",
    "net/Net.csproj": "<Project><PropertyGroup></PropertyGroup></Project>\n",
    "net/Port.cs": "namespace Net { class Port { void Open() {} } }\n",
    "docs/guide/README.md": "# Guide\n\nSee `shop.cart.Cart.total` and [tax](../../shop/pricing/tax.py).\n",
    "notes/.atlasignore": "draft/\n",
    "notes/draft/idea.py": "def idea():\n    return 1\n",
    "notes/plan.py": "def plan():\n    return 1\n",
    "env/lib/kept.py": "def kept():\n    return 1\n",
    "env/pyvenv.cfg": "home = /usr\n",
    "node_modules/left/index.js": "export function pad() {}\n",
    "build/made.py": "def made():\n    return 1\n",
}
REPOSITORY = {
    ".gitignore": "*.gen.py\n",
    "pyproject.toml": "[project]\nname = 'nested'\n",
    "nested/__init__.py": "",
    "nested/tracked.gen.py": "def tracked():\n    return 1\n",
    "nested/other.gen.py": "def other():\n    return 1\n",
}
HIDDEN = ("build", "node_modules", ".hidden")
"""Names of folders that are not indexed."""
NAMES = (
    "a",
    "b",
    "core",
    "util",
    "shop",
    "Shop",
    "src",
    "lib",
    "pkg",
    "build",
    "node_modules",
    "draft",
    ".hidden",
    "old",
)
DEEPEST = 6
FEWEST, MOST = 30, 150
"""With fewer visible files than this in the tree something comes in before anything else is done; with more files than
this, something goes."""


def write_all(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        os.utime(root / path, ns=(WRITTEN_NS, WRITTEN_NS))


def git(folder: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=folder, env={**environment, **quiet}, check=True, capture_output=True)


def make_tree(root: Path) -> None:
    """Write the tree: a repository that holds another one."""
    write_all(root, TREE)
    git(root, "init", "--quiet")
    make_repository(root / "vendor/nested")


def make_repository(folder: Path) -> None:
    """Write a repository that tracks one of the files that it ignores."""
    write_all(folder, REPOSITORY)
    git(folder, "init", "--quiet")
    git(folder, "add", "--force", "nested/tracked.gen.py")


class Mover:
    """Moves folders of a tree at random; the same seed does the same. `outside` is a folder next to the tree."""

    def __init__(self, root: Path, outside: Path, seed: int) -> None:
        self.root, self.outside, self.dice = root, outside, random.Random(seed)
        self.done: list[str] = []
        """What was done, in words, for whoever looks for the cause of a difference."""
        self._number = 0
        outside.mkdir(parents=True, exist_ok=True)
        self._kinds: list[tuple[int, Callable[[], str]]] = [
            (5, self._rename),
            (5, self._into),
            (3, self._out),
            (4, self._back),
            (4, self._swap),
            (3, self._over),
            (3, self._twice),
            (3, self._again),
            (2, self._as_file),
            (3, self._ignored),
            (2, self._case),
            (4, self._edited),
            (3, self._follow),
            (2, self._prepared),
        ]

    def move(self) -> str:
        """Do one thing; return what it was."""
        weights, kinds = zip(*self._kinds, strict=True)
        said = ""
        while not said:
            visible = [file for file in self._files() if not set(HIDDEN).intersection(self._parts(file))]
            if len(visible) < FEWEST:
                said = self._prepared()
            elif len(self._files()) > MOST:
                said = self._gone()
            else:
                said = self.dice.choices(kinds, weights)[0]()
        self.done.append(said)
        return said

    def edit(self) -> None:
        """Write to one file at random; now and then to a manifest or to ignore rules."""
        files = self._files()
        chosen = self.dice.choice([file for file in files if file.suffix in (".py", ".ts", ".go", ".rs")] or files)
        self._number += 1
        if self.dice.random() < 0.04:
            rules = self.dice.choice(["build/\n", "build/\n*.log\nold/\n", "build/\nutil/\n", ""])
            (self.root / ".gitignore").write_text(rules)
            self.done.append(f"rules {rules!r}")
        elif chosen.suffix == ".py":
            chosen.write_text(f"{chosen.read_text()}\n\ndef f{self._number}():\n    return {self._number}\n")
            self.done.append(f"edit {self._at(chosen)}")
        else:
            chosen.write_text(f"{chosen.read_text()}\n// {self._number}\n")
            self.done.append(f"edit {self._at(chosen)}")

    # --- kinds of moves ---

    def _rename(self) -> str:
        folder = self._folder()
        return self._to(folder, folder.with_name(self._name()))

    def _into(self) -> str:
        return self._to(self._folder(), self._folder() / self._name())

    def _out(self) -> str:
        self._number += 1
        kept = sorted(self.outside.iterdir())
        if len(kept) > 5:
            shutil.rmtree(self.dice.choice(kept))
        return self._to(self._folder(), self.outside / f"{self._number}")

    def _back(self) -> str:
        kept = sorted(self.outside.iterdir())
        if kept:
            folder = self.dice.choice(kept)
            return self._to(folder, self._free(self._folder() / self._name()))
        return self._prepared()

    def _gone(self) -> str:
        folder = self._folder()
        shutil.rmtree(folder)
        return f"delete {self._at(folder)}"

    def _prepared(self) -> str:
        """A folder made elsewhere comes in whole: a part of the tree as it was at first, or a repository."""
        made = self.outside / "made"
        part = self.dice.choice([*sorted({path.split("/")[0] for path in TREE if "/" in path}), "repository"])
        if part == "repository":
            make_repository(made)
        else:
            prefix = f"{part}/"
            write_all(made, {path.removeprefix(prefix): text for path, text in TREE.items() if path.startswith(prefix)})
        return self._to(made, self._free(self.root / self.dice.choice([part, self._name()])))

    def _swap(self) -> str:
        one, two = self._folder(), self._folder()
        if one == two or one in two.parents or two in one.parents:
            return ""
        between = self._free(self.dice.choice([self.outside, self.root]) / "between")
        return " ".join((self._to(one, between), self._to(two, one), self._to(between, two)))

    def _over(self) -> str:
        """One folder takes the place of another, emptied before or renamed over when it is empty."""
        one, two = self._folder(), self._folder()
        if one == two or one in two.parents or two in one.parents:
            return ""
        shutil.rmtree(two)
        if self.dice.random() < 0.5:
            two.mkdir()
        one.rename(two)
        return f"{self._at(one)} over {self._at(two)}"

    def _twice(self) -> str:
        folder = self._folder()
        between = self._free(folder.with_name("between"))
        return " ".join((self._to(folder, between), self._to(between, folder.with_name(self._name()))))

    def _again(self) -> str:
        """A folder is deleted and made again, as it was or with what another one holds, all times kept."""
        folder, other = self._folder(), self._folder()
        if other in folder.parents or folder in other.parents:
            other = folder
        copy = self._free(self.outside / "copy")
        shutil.copytree(other, copy, symlinks=True)
        shutil.rmtree(folder)
        shutil.copytree(copy, folder, symlinks=True)
        shutil.rmtree(copy)
        return f"{self._at(folder)} again from {self._at(other)}"

    def _as_file(self) -> str:
        """A folder becomes a file or a link, and sometimes a folder again."""
        folder = self._folder()
        away = self._free(self.outside / "away")
        folder.rename(away)
        if self.dice.random() < 0.5:
            folder.write_text("def f():\n    return 1\n")
        else:
            folder.symlink_to(away, target_is_directory=True)
        if self.dice.random() < 0.6:
            folder.unlink()
            away.rename(folder)
        return f"{self._at(folder)} as a file"

    def _ignored(self) -> str:
        folder = self._folder()
        name = self.dice.choice(HIDDEN)
        hidden = [place for place in self._folders() if place.name in HIDDEN]
        if hidden and self.dice.random() < 0.6:
            return self._to(self.dice.choice(hidden), self._free(self.root / self._name()))
        return self._to(folder, folder.with_name(name))

    def _case(self) -> str:
        folder = self._folder()
        return self._to(folder, folder.with_name(folder.name.swapcase()))

    def _edited(self) -> str:
        """A folder moves while a file in it is being written."""
        folder = self._folder()
        files = [file for file in self._files() if folder in file.parents and file.suffix == ".py"]
        if not files:
            return ""
        file, place = self.dice.choice(files), self._free(folder.with_name(self._name()))
        self._number += 1
        with file.open("a") as writing:
            writing.write(f"\n\ndef g{self._number}():\n")
            writing.flush()
            said = self._to(folder, place)
            writing.write("    return 1\n")
        self._number += 1
        (place / "late.py").write_text(f"def late{self._number}():\n    return 1\n")
        return f"{said} while written"

    def _follow(self) -> str:
        """A folder moves into another, which moves at once."""
        one, two = self._folder(), self._folder()
        if one == two or one in two.parents:
            return ""
        said = self._to(one, self._free(two / self._name()))
        return f"{said} {self._to(two, self._free(two.with_name(self._name())))}"

    # --- places ---

    def _to(self, old: Path, new: Path) -> str:
        if new == old or new.exists() or new.is_symlink() or old in new.parents:
            return ""
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
        return f"{self._at(old)} -> {self._at(new)};"

    def _free(self, place: Path) -> Path:
        while place.exists() or place.is_symlink():
            self._number += 1
            place = place.with_name(f"{place.name}{self._number}")
        return place

    def _at(self, place: Path) -> str:
        return os.path.relpath(place, self.root)

    def _name(self) -> str:
        return self.dice.choice(NAMES)

    def _folder(self) -> Path:
        return self.dice.choice([place for place in self._folders() if len(self._parts(place)) < DEEPEST])

    def _parts(self, place: Path) -> tuple[str, ...]:
        return place.relative_to(self.root).parts

    def _folders(self) -> list[Path]:
        return [Path(place) for place, _, _ in self._walk() if Path(place) != self.root]

    def _files(self) -> list[Path]:
        return [
            file for place, _, names in self._walk() for name in names if not (file := Path(place, name)).is_symlink()
        ]

    def _walk(self) -> list[tuple[str, list[str], list[str]]]:
        found: list[tuple[str, list[str], list[str]]] = []
        for place, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name != ".git")
            found.append((place, folders, sorted(names)))
        return found
