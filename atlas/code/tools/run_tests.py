"""Tests -> command lines that run them with the project's own runner, as its manifests name it. Nothing is executed.

The nearest manifest above a test decides. Manifests are a stranger's text: they choose among the commands below, and
only names of tests, files and folders enter a command, quoted.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import NodeRow

MAX_FILES = 20
"""Files or names in one command."""
MAX_COMMANDS = 4
MAX_FOLDERS = 40
"""Folders above tests that are looked at."""
MAX_MANIFEST = 200_000
"""Bytes of a manifest that are read."""
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
_JVM = (".java", ".kt", ".kts", ".groovy", ".scala")
_NATIVE = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
_FAMILIES = {ending: family[0] for family in (_SCRIPTS, _JVM, _NATIVE) for ending in family}

_GRADLE, _GRADLE_ROOT = ("build.gradle", "build.gradle.kts"), ("settings.gradle", "settings.gradle.kts")
_GRADLE_WRAPPER, _MAVEN_WRAPPER = "gradle/wrapper/gradle-wrapper.properties", ".mvn/wrapper/maven-wrapper.properties"
_TOX = ("pyproject.toml", "setup.cfg", "tox.ini", "tox.toml")
_SETTINGS = ("noxfile.py", "manage.py", *_TOX)
_MANAGERS = (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile", "pipenv"))
_LOCKS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"), ("bun.lock", "bun"))
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")

_READ = (*_SETTINGS, *_MAKEFILES, "justfile", "package.json", "composer.json")
"""Manifests whose text says something."""
_SEEN = (
    *(lock for lock, _ in (*_MANAGERS, *_LOCKS)), *_GRADLE, *_GRADLE_ROOT, _GRADLE_WRAPPER, _MAVEN_WRAPPER,
    "Cargo.toml", ".config/nextest.toml", "go.mod", "pom.xml", "build.sbt", "mix.exs", "Package.swift", "Gemfile",
    "config/application.rb", "CMakeLists.txt", "meson.build", "pytest.ini",
)  # fmt: skip
"""Manifests of which only the existence matters."""


@dataclass(frozen=True, slots=True)
class RunnerFiles:
    """The manifests of a project by path: the texts of those that say something, and the paths of all."""

    texts: Mapping[str, str]
    paths: frozenset[str]

    def nearest(self, path: str, *names: str) -> str | None:
        """Return the folder nearest to a file that has one of these manifests, "" for the root, None for none."""
        return next((each for each in _above(path) if any(_in(each, name) in self.paths for name in names)), None)

    def top(self, path: str, *names: str) -> str | None:
        """Return the outermost such folder."""
        return next((each for each in _above(path)[::-1] if any(_in(each, name) in self.paths for name in names)), None)

    def text(self, folder: str, *names: str) -> str:
        """Return the texts of the manifests of a folder."""
        return "\n".join(self.texts.get(_in(folder, name), "") for name in names)

    def has(self, folder: str, *names: str) -> bool:
        """Return whether a folder has one of the manifests."""
        return any(_in(folder, name) in self.paths for name in names)


NO_MANIFESTS = RunnerFiles({}, frozenset())


def manifest_paths(tests: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return where manifests of these tests may be: those to read, and those of which only the existence matters."""
    folders = list(dict.fromkeys(each for path in tests for each in _above(path)))[:MAX_FOLDERS]
    return [_in(each, name) for each in folders for name in _READ], [
        _in(each, name) for each in folders for name in _SEEN
    ]


def test_commands(
    tests: Sequence[NodeRow], read: Callable[[str], bytes], files: RunnerFiles = NO_MANIFESTS
) -> tuple[str, ...]:
    """Return one command per language and package, in the order of the tests.

    `read` returns the text of an indexed file, b"" if it is not at hand.
    """
    parts: dict[tuple[str, str | None], list[NodeRow]] = {}
    for row in tests:
        ending = "." + row.path.rpartition(".")[2]
        ending = _FAMILIES.get(ending, ending)
        parts.setdefault((ending, files.nearest(row.path, *_SEPARATE.get(ending, ()))), []).append(row)
    commands: list[str] = []
    for (ending, _), rows in list(parts.items())[:MAX_COMMANDS]:
        maker = _MAKERS.get(ending)
        text = read(rows[0].path)[:MAX_MANIFEST].decode("utf-8", "replace")
        command = maker(rows, files, text) if maker is not None else ""
        if command := command or _make(rows, files):
            commands.append(command)
    return tuple(dict.fromkeys(commands))


def _pytest(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    path = rows[0].path
    folder = files.nearest(path, *_SETTINGS)
    home = folder or ""
    settings = files.text(home, *_TOX)
    nox = files.text(home, "noxfile.py")
    session = re.search(r"^def (\w{0,40}test\w{0,40})\(", nox, re.MULTILINE)
    if session and "posargs" in nox:
        return _at(home, f"nox -s {session[1]} -- {_paths(rows, home)}")
    if "posargs" in settings and re.search(
        r"^\[(tox|testenv|tool\.tox|env_run_base|tox:tox)\b", settings, re.MULTILINE
    ):
        return _at(home, f"tox -- {_paths(rows, home)}")
    if "[tool.hatch.envs.hatch-test" in settings:
        return _at(home, f"hatch test {_paths(rows, home)}")
    uses_pytest = "pytest" in settings or "pytest" in text or files.nearest(path, "pytest.ini") is not None
    if not uses_pytest and files.has(home, "manage.py"):
        return _at(home, "python manage.py test " + " ".join(shlex.quote(one) for one in _modules(rows, home)))
    manager = next((name for lock, name in _MANAGERS if files.nearest(path, lock) is not None), "")
    started = f"{manager} run " if manager else ""
    kind = "unittest" if not uses_pytest and "import unittest" in text and folder is not None else "pytest"
    return f"{started}python -m {kind} {_paths(rows)}"


def _modules(rows: Sequence[NodeRow], home: str) -> list[str]:
    paths = dict.fromkeys(_under(row.path, home) for row in rows)
    return [path.removesuffix(".py").replace("/", ".") for path in paths][:MAX_FILES]


def _go_test(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    home = files.nearest(rows[0].path, "go.mod") or ""
    folders = list(dict.fromkeys("./" + _under(row.path, home).rpartition("/")[0] for row in rows))[:MAX_FILES]
    names = list(dict.fromkeys(row.name for row in rows if row.name.startswith(("Test", "Fuzz", "Example"))))
    run = f" -run {shlex.quote('^(' + '|'.join(names) + ')$')}" if 0 < len(names) <= MAX_FILES else ""
    return _at(home, "go test " + " ".join(map(shlex.quote, folders)) + run)


def _cargo(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    home = files.top(rows[0].path, "Cargo.toml") or ""
    names = list(dict.fromkeys(row.name for row in rows if row.label in ("Function", "Method")))
    chosen = " ".join(map(shlex.quote, names)) if 0 < len(names) <= MAX_FILES else ""
    if files.has(home, ".config/nextest.toml"):
        return _at(home, f"cargo nextest run {chosen}".rstrip())
    return _at(home, f"cargo test -- {chosen}" if chosen else "cargo test")


_SCRIPT_RUNNERS = (
    ("vitest", "vitest run"), ("@playwright/test", "playwright test"), ("jest", "jest"), ("mocha", "mocha"),
    ("ava", "ava"), ("jasmine", "jasmine"), ("cypress", "cypress run --spec"),
)  # fmt: skip
"""Package of a runner, and its command."""
_IN_TESTS = (("vitest", "vitest run"), ("@playwright/test", "playwright test"), ("jest", "jest"))
_EXECUTE = {"npm": "npx ", "pnpm": "pnpm exec ", "yarn": "yarn ", "bun": "bunx "}


def _script(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    path = rows[0].path
    home = files.nearest(path, "package.json") or ""
    package = _document(files.text(home, "package.json"))
    named = str(package.get("packageManager", "")).partition("@")[0]
    manager = named if named in _EXECUTE else ""
    manager = manager or next((name for lock, name in _LOCKS if files.nearest(path, lock) is not None), "npm")
    test = str(_part(package, "scripts").get("test", ""))
    chosen = _paths(rows, home)
    if "node:test" in text:
        return _at(home, f"node --test {chosen}")
    if "bun:test" in text:
        return _at(home, f"bun test {chosen}")
    runner = next((command for word, command in _IN_TESTS if word in text), "")
    words = set(re.findall(r"[\w@/-]{1,60}", test))
    runner = runner or next((command for word, command in _SCRIPT_RUNNERS if word in words), "")
    if not runner and test and "no test specified" not in test:
        return _at(home, f"{manager} test {'-- ' if manager == 'npm' else ''}{chosen}")
    needed = _part(package, "devDependencies") | _part(package, "dependencies")
    runner = runner or next((command for word, command in _SCRIPT_RUNNERS if word in needed), "jest")
    return _at(home, f"{_EXECUTE[manager]}{runner} {chosen}")


def _jvm(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    path = rows[0].path
    classes = _classes(rows)
    module = files.nearest(path, *_GRADLE)
    if module is not None:
        home = files.nearest(path, *_GRADLE_ROOT)
        home = module if home is None else home
        wrapped = files.has(home, _GRADLE_WRAPPER)
        task = "".join(f":{part}" for part in _under(module, home).split("/") if part) + ":test"
        chosen = [f"--tests {name}" for name in classes]
        words = ["./gradlew" if wrapped else "gradle", shlex.quote(task) if module != home else "test", *chosen]
        return _at(home, " ".join(words))
    module = files.nearest(path, "pom.xml")
    if module is not None:
        home = files.top(path, "pom.xml") or ""
        wrapped = files.has(home, _MAVEN_WRAPPER)
        within = [f"-pl {shlex.quote(_under(module, home))}"] if module != home else []
        only = [f"-Dtest={','.join(classes)}"] if classes else []
        return _at(home, " ".join(["./mvnw" if wrapped else "mvn", "test", *within, *only]))
    home = files.top(path, "build.sbt")
    if home is not None:
        only = shlex.quote("testOnly " + " ".join(f"*{name}" for name in classes))
        return _at(home, f"sbt {only if classes else 'test'}")
    return ""


def _rspec(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    home = files.nearest(rows[0].path, "Gemfile") or ""
    bundled = "bundle exec " if files.has(home, "Gemfile") else ""
    chosen = _paths(rows, home)
    if rows[0].path.endswith("_spec.rb"):
        return _at(home, f"{bundled}rspec {chosen}")
    if files.has(home, "config/application.rb"):
        return _at(home, f"bin/rails test {chosen}")
    one = len({row.path for row in rows}) == 1  # the interpreter runs one file
    return _at(home, bundled + (f"ruby -Itest {chosen}" if one else "rake test"))


def _phpunit(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    home = files.nearest(rows[0].path, "composer.json") or ""
    composer = files.text(home, "composer.json")
    installed = "vendor/bin/" if composer.strip() else ""
    if "pestphp/pest" in composer:
        return _at(home, f"vendor/bin/pest {_paths(rows, home)}")
    test = _part(_document(composer), "scripts").get("test")
    if test and "phpunit/phpunit" not in composer:
        return _at(home, f"composer test -- {_paths(rows, home)}")
    one = len({row.path for row in rows}) == 1  # the runner takes one file
    return _at(home, f"{installed}phpunit {_paths(rows, home)}" if one else f"{installed}phpunit {_filter(rows, '')}")


def _mix(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    home = files.top(rows[0].path, "mix.exs") or ""
    return _at(home, f"mix test {_paths(rows, home)}")


def _dotnet(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    return f"dotnet test {_filter(rows, 'FullyQualifiedName~')}".rstrip()


def _package_tests(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    home = files.nearest(rows[0].path, "Package.swift") or ""
    return _at(home, f"swift test {_filter(rows, '')}".rstrip())


def _filter(rows: Sequence[NodeRow], before: str) -> str:
    classes = _classes(rows)
    return "--filter " + shlex.quote("|".join(before + name for name in classes)) if classes else ""


def _classes(rows: Sequence[NodeRow]) -> list[str]:
    """Return the names of the files as those of classes: runners read their arguments as patterns or as code."""
    stems = dict.fromkeys(row.path.rpartition("/")[2].partition(".")[0] for row in rows)
    return [stem for stem in stems if _IDENTIFIER.fullmatch(stem)][:MAX_FILES]


def _native(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    home = files.top(rows[0].path, "CMakeLists.txt", "meson.build")
    if home is None:
        return ""
    return _at(home, "meson test -C build" if files.has(home, "meson.build") else "ctest --test-dir build")


def _bats(rows: Sequence[NodeRow], files: RunnerFiles, text: str) -> str:
    return f"bats {_paths(rows)}"


def _make(rows: Sequence[NodeRow], files: RunnerFiles) -> str:
    """Return the target that runs all tests, for languages whose runner has no manifest here."""
    home = files.nearest(rows[0].path, *_MAKEFILES, "justfile")
    if home is None:
        return ""
    for program, text in (("make", files.text(home, *_MAKEFILES)), ("just", files.text(home, "justfile"))):
        if found := re.search(r"^(test|tests|check)(?: [^:\n]{0,200})?:(?!=)", text, re.MULTILINE):
            return _at(home, f"{program} {found[1]}")
    return ""


_MAKERS: Mapping[str, Callable[[Sequence[NodeRow], RunnerFiles, str], str]] = {
    ".py": _pytest, ".go": _go_test, ".rs": _cargo, _SCRIPTS[0]: _script, _JVM[0]: _jvm, ".rb": _rspec,
    ".php": _phpunit, ".exs": _mix, ".ex": _mix, ".cs": _dotnet, ".swift": _package_tests, _NATIVE[0]: _native,
    ".bats": _bats,
}  # fmt: skip

_SEPARATE: Mapping[str, tuple[str, ...]] = {
    ".py": _SETTINGS, ".go": ("go.mod",), _SCRIPTS[0]: ("package.json",), ".rb": ("Gemfile",),
    ".php": ("composer.json",), _JVM[0]: (*_GRADLE, "pom.xml"), ".swift": ("Package.swift",),
}  # fmt: skip
"""Manifests below which a command of its own is needed."""
_IDENTIFIER = lazy_regex(r"[A-Za-z_]\w{0,200}", re.ASCII)


def _document(text: str) -> dict[str, Any]:
    try:
        found: object = json.loads(text) if len(text) <= MAX_MANIFEST else None
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _part(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _above(path: str) -> list[str]:
    """Return the folders above a file, nearest first; the root is ""."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


def _in(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _under(path: str, folder: str) -> str:
    return path[len(folder) :].lstrip("/")


def _at(folder: str, command: str) -> str:
    """Return a command that starts in a folder of the project."""
    return f"cd {_argument(folder)} && {command}" if folder else command


def _paths(rows: Sequence[NodeRow], folder: str = "") -> str:
    """Return the files as arguments, relative to a folder."""
    paths = dict.fromkeys(_under(row.path, folder) for row in rows)
    return " ".join(_argument(path) for path in list(paths)[:MAX_FILES])


def _argument(path: str) -> str:
    """Return a path that cannot pass for an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)
