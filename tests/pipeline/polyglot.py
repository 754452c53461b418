"""A project in Python, TypeScript and Go whose files call into each other, with manifests, documents, configuration,
routes and a rules file; and everything that may happen to it on disk."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

PYTHON = """{doc}from {neighbour} import {name}, {base}
from {other} import *


class {own_class}({base}):
    \"\"\"Number {version} of what {path} holds.\"\"\"

    def run(self, count: int = {version}):
        return {name}(count) + self.stop()

    def stop(self):
        return super().stop() or {own}({version})


def {own}(value, more={version}):
    \"\"\"Passes the value on.\"\"\"
    held = value + {version}
    return {name}(held)
"""

TYPESCRIPT = """import {{ {name}, {base} }} from './{neighbour}';

export class {own_class} extends {base} {{
  run(count: number): number {{ return {name}(count) + this.stop() + {version}; }}
  stop(): number {{ return {own}({version}); }}
}}

export function {own}(value: number): number {{ return {name}(value + {version}); }}
"""

GO = """package svc

type {own_class} struct{{ count int }}

func (s {own_class}) Run() int {{ return {name}(s.count) + {version} }}

func {own}(value int) int {{ return {name}(value + {version}) }}
"""

RULES = """languages = ["python"]
words = ["consumer("]

[[rules]]
kind = "handles"
shape = "plain-decorator"
names = ["consumer"]
on = "function"
event = [0]
event_kind = "message"
"""

SETTINGS = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "go.mod": "module example.org/shop\n\ngo 1.22\n",
    "web/package.json": '{"name": "@shop/web"}\n',
    "requirements.txt": "PyYAML>=6\nrequests\n",
    "web/package-lock.json": '{"lockfileVersion": 3, "packages": {"node_modules/zod": {"version": "3.1.0"}}}\n',
    "Dockerfile": "FROM python:3.12 AS build\nRUN pip install .\n\nFROM build AS test\nRUN pytest\n",
    ".github/workflows/ci.yml": "name: ci\non: push\njobs:\n  test:\n    steps:\n      - run: pytest\n",
    "sql/tables.sql": "CREATE TABLE users (id int);\n\nCREATE TABLE orders (id int);\n",
    "templates/base.html": "<html>\n{% block content %}\n<h1>Shop</h1>\n{% endblock %}\n</html>\n",
    "docs/guide.rst": "Guide\n=====\n\nStart with :func:`part0.m0.f0` and :class:`part1.m1.C1`.\n\nParts\n-----\n\nAll of them.\n",
    "adr/0001-parts.md": "# 1 Parts\n\nStatus: accepted\n\n`part0.m0.f0` decides.\n",
    "part0/routes.py": "from flask import Flask\n\nfrom part0.m0 import f0\n\napp = Flask(__name__)\n\n\n"
    '@app.route("/users/<int:number>")\ndef show(number):\n    return f0(number)\n\n\n'
    '@consumer("orders")\ndef on_order(message):\n    return f0(message)\n',
    ".atlas/detectors.toml": RULES,
    "README.md": "# Shop\n\nStart at `part0.m0.f0`, then see [the web](web/v1.ts).\n\n## Parts\n\n`part1.m1.C1` runs.\n",
    ".gitignore": "build/\n",
}

VARIANTS: dict[str, tuple[str, ...]] = {
    "requirements.txt": ("PyYAML>=7\n", "-r more/requirements.txt\nattrs\n", "-c constraints.txt\n==\n"),
    "more/requirements.txt": ("flask\n", "-r ../requirements.txt\n"),
    "constraints.txt": ("attrs==23.1\n", ""),
    "web/package.json": (
        '{"name": "@shop/web", "dependencies": {"zod": "^3"}}',
        '{"name": "@shop/web"',
        '{"name": "zod"}',
    ),
    "go.mod": ("module example.org/shop\n\nrequire example.org/x v1.2.3\n", "module example.org/other\n"),
    "Dockerfile": ("FROM scratch\n", "FROM a AS one\nFROM b AS two\nRUN make\n"),
    ".github/workflows/ci.yml": ("jobs:\n  lint:\n    steps: []\n", "jobs: [\n"),
    "sql/tables.sql": ("CREATE TABLE users (name text);\n", "-- nothing\n"),
    "templates/base.html": ("{% block head %}{% endblock %}\n" * 70, "<p>\n"),
    "docs/guide.rst": ("Guide\n=====\n\n:func:`part0.m0.f0`\n", "No heading, :class:`part2.m2.C2`.\n"),
    "adr/0001-parts.md": ("# 1 Parts\n\n`part1.m1.C1` and `part2.m2.f2` decide.\n", "# 1 Parts\n"),
    "part0/routes.py": (
        'from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.post("/orders")\ndef order():\n    return ""\n',
    ),
    ".atlas/detectors.toml": (
        RULES.replace('"message"', '"signal"'),
        RULES.replace("[0]", '["$handler"]'),
        RULES.replace("consumer", "app.route"),
        f'{RULES}\n[[files]]\nlanguages = ["python"]\nroots = ["part1"]\nhandlers = "f1"\nmethods = "GET"\n',
        "languages = [\n",
        "",
    ),
}
"""Further contents of these files."""

PARTS = 4


def source(path: str, files: int, chance: random.Random) -> str:
    """Return a text for a file: what it defines is always the same, what it calls and how it looks is not."""
    number = int("".join(letter for letter in Path(path).stem if letter.isdigit()) or 0)
    near = chance.choice((number + 1, number + 7, number - 1)) % files
    names = {"path": path, "version": chance.randrange(1000), "doc": chance.choice(("", '"""A module."""\n\n'))}
    if path.endswith(".py"):
        other = f"part{(near + 2) % PARTS}.m{(near + 2) % files}"
        names |= {"neighbour": f"part{near % PARTS}.m{near}", "other": other, "name": f"f{near}", "base": f"C{near}"}
        text = PYTHON.format(**names, own=f"f{number}", own_class=f"C{number}")
    elif path.endswith(".ts"):
        names |= {"neighbour": f"v{near}", "name": f"draw{near}", "base": f"View{near}"}
        text = TYPESCRIPT.format(**names, own=f"draw{number}", own_class=f"View{number}")
    else:
        text = GO.format(**names, name=f"Serve{near}", own=f"Serve{number}", own_class=f"Desk{number}")
    return text


def tree(files: int, chance: random.Random) -> dict[str, str]:
    """Return about this number of files: six of ten are Python, two TypeScript, two Go."""
    python, web, service = files * 6 // 10, files * 2 // 10, files * 2 // 10
    paths = [f"part{number % PARTS}/m{number}.py" for number in range(python)]
    made = {path: source(path, python, chance) for path in paths}
    made |= {f"web/v{number}.ts": source(f"web/v{number}.ts", web, chance) for number in range(web)}
    made |= {f"svc/s{number}.go": source(f"svc/s{number}.go", service, chance) for number in range(service)}
    return made | SETTINGS


class Life:
    """What people, editors and git do to a tree, at random; the same seed does the same to the same tree."""

    def __init__(self, root: Path, first: dict[str, str], chance: random.Random) -> None:
        self._root, self._first, self._chance = root, first, chance
        self._code = [path for path in first if path.endswith((".py", ".ts", ".go"))]
        self._aside = root.parent / "aside"
        self._edits: list[Callable[[], None]] = [
            *(3 * [self._write, self._restore]),
            *(2 * [self._touch_up, self._insignificant, self._append]),
            *(self._delete, self._rename, self._swap, self._break, self._add, self._away_and_back),
            *(self._ignore, self._settings, self._folder_for_file),
            *(2 * [self._vary]),
        ]
        self._rare = [self._drop_folder, self._swap_folders, self._move_folder]

    def live(self, edits: int) -> None:
        """Make this number of random edits, one in twenty of whole folders."""
        for _ in range(edits):
            self._chance.choice(self._rare if self._chance.randrange(20) == 0 else self._edits)()

    def _file(self) -> Path:
        return self._root / self._chance.choice(self._code)

    def _existing(self) -> Path | None:
        file = self._file()
        return file if file.is_file() and not file.is_symlink() else None

    def _put(self, file: Path, text: str) -> None:
        if file.parent.is_file():
            file.parent.unlink()
        if file.is_symlink():
            file.unlink()
        elif file.is_dir():
            shutil.rmtree(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        if self._chance.random() < 0.5:
            file.write_text(text)
            return
        fresh = file.with_name(f".{file.name}.new~")
        fresh.write_text(text)
        fresh.replace(file)

    def _write(self) -> None:
        file = self._file()
        self._put(file, source(str(file.relative_to(self._root)), 70, self._chance))

    def _restore(self) -> None:
        file = self._file()
        self._put(file, self._first[str(file.relative_to(self._root))])

    def _append(self) -> None:
        if file := self._existing():
            with file.open("a") as end:
                end.write("\n\ndef added():\n    return f1(f2(3))\n")

    def _touch_up(self) -> None:
        """A body changes by less than the gate lets through."""
        if file := self._existing():
            self._put(file, file.read_text().replace("held = value + ", "held = value - "))

    def _insignificant(self) -> None:
        if file := self._existing():
            mark = "#" if file.suffix == ".py" else "//"
            self._put(file, f"{mark} {self._chance.random()}\n{file.read_text()}\n\n")

    def _break(self) -> None:
        if file := self._existing():
            text = file.read_text()
            self._put(file, text[: len(text) // 2] + "(((\n")

    def _delete(self) -> None:
        if file := self._existing():
            file.unlink()

    def _rename(self) -> None:
        if file := self._existing():
            other = self._root / self._chance.choice([*self._code, f"part1/moved{self._chance.randrange(5)}.py"])
            if not other.is_dir() and not other.parent.is_file():
                other.parent.mkdir(parents=True, exist_ok=True)
                file.replace(other)

    def _swap(self) -> None:
        one, other = self._existing(), self._existing()
        if one and other and one != other:
            between = one.with_name("between.tmp")
            one.rename(between)
            other.rename(one)
            between.rename(other)

    def _away_and_back(self) -> None:
        """Another content for a moment; then the same file with its old time."""
        if file := self._existing():
            kept = file.with_name("kept.tmp")
            file.rename(kept)
            file.write_text("def for_a_moment():\n    return 1\n")
            kept.replace(file)

    def _add(self) -> None:
        folder = self._chance.choice(("new", "new/deep/er", "part2"))
        number = self._chance.randrange(6)
        name = self._chance.choice(
            (f"n{number}.py", f"n{number}.ts", f"n{number}.md", f"n{number}.bin", f"n{number}.png")
        )
        if name.endswith(".bin"):
            self._put(self._root / folder / name.replace(".bin", ".py"), "\0binary\0")
        else:
            self._put(self._root / folder / name, f"def n{number}():\n    return f{number}(C1())\n")

    def _ignore(self) -> None:
        rules = self._chance.choice(("build/\n", "", "part3/m3.py\n", "web/\n!web/v1.ts\n", "*.go\n", "new/\nmoved*\n"))
        place = self._chance.choice((".gitignore", ".gitignore", ".atlasignore", "part1/.gitignore"))
        (self._root / place).parent.mkdir(parents=True, exist_ok=True)
        (self._root / place).write_text(rules)

    def _settings(self) -> None:
        name = self._chance.choice(("shop", "store", "stall"))
        (self._root / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')

    def _vary(self) -> None:
        """A manifest, document, template, workflow or route changes, goes, or comes back."""
        path = self._chance.choice(sorted(VARIANTS))
        text = self._chance.choice((*VARIANTS[path], self._first.get(path), None))
        if text is not None:
            self._put(self._root / path, text)
        elif (self._root / path).is_file():
            (self._root / path).unlink()

    def _folder_for_file(self) -> None:
        if file := self._existing():
            file.unlink()
            if self._chance.random() < 0.5:
                file.mkdir()
                (file / "inside.py").write_text("from part0.m0 import f0\n\nf0(1)\n")
            else:
                file.symlink_to(self._root / self._chance.choice(self._code))

    def _folder(self) -> Path:
        return self._root / self._chance.choice([f"part{number}" for number in range(PARTS)] + ["web", "svc"])

    def _drop_folder(self) -> None:
        shutil.rmtree(self._folder(), ignore_errors=True)

    def _swap_folders(self) -> None:
        one, other = self._folder(), self._folder()
        if one.is_dir() and other.is_dir() and one != other:
            between = self._root.parent / "between"
            one.rename(between)
            other.rename(one)
            between.rename(other)

    def _move_folder(self) -> None:
        """Out of the tree, or into it, or elsewhere in it."""
        one, other = self._folder(), self._chance.choice((self._folder(), self._root / "elsewhere", self._aside))
        if one.is_dir() and not other.exists():
            one.rename(other)
        elif self._aside.is_dir() and not one.exists():
            self._aside.rename(one)
