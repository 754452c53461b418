"""Which files of a package are its own code, and what their modules are called from outside. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from atlas.core.lazy_regex import lazy_regex

ENDINGS = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript",
    "ts": "javascript", "mts": "javascript", "cts": "javascript", "rs": "rust", "go": "go",
}  # fmt: skip
"""Family of languages by the ending of a file."""
NOT_CODE = frozenset((
    "test", "tests", "testing", "testsuite", "spec", "specs", "__tests__", "example", "examples", "benchmark",
    "benchmarks", "bench", "benches", "asv_bench", "script", "scripts", "tools", "ci", "doc", "docs", "docs_src",
    "migrations", "vendor", "_vendor", "vendored", "node_modules", "third_party", "fixtures", "locale", "conf",
    "dist", "build", "site-packages", "__pycache__", "versioneer", "fuzz",
))  # fmt: skip
"""Folders whose code is not an interface of a package."""
_NOT_FILES = lazy_regex(
    r"(?:setup|conftest|noxfile|tasks|versioneer|_?version|test_.*|.*_test|.*[._-](?:test|spec)|.*\.min|.*\.config|"
    r"gulpfile|gruntfile|build|__main__)\.\w+|.*\.d\.(?:mts|cts)"
)
_ROOTS = lazy_regex(r"^(?:src|lib|source|python)/")


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file of a package's code."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Package:
    """What is known of a package besides its code."""

    name: str = ""
    version: str = ""
    licence: str = ""
    source: str = ""


def code_files(paths: Sequence[str]) -> list[str]:
    """Return the files that hold the public interface of a package, in their order.

    Of one stem the source is read and not the declarations next to it, but for compiled modules that have only those.
    """
    found = [path for path in paths if _is_code(path)]
    present = frozenset(found)
    return [path for path in found if not _has_source(path, present)]


def family_of(path: str) -> str:
    """Return the family of languages of a file, "" for a file of another one."""
    return ENDINGS.get(path.rpartition(".")[2].lower(), "")


def module_name(path: str, package: str) -> str:
    """Return the name under which a module is reached: dotted, for JavaScript and Rust below the package's name."""
    stem = _ROOTS.sub("", path.rpartition(".")[0].removesuffix(".d"))
    parts = [part for part in stem.split("/") if part]
    if family_of(path) == "python":
        return ".".join(parts[:-1] if parts and parts[-1] == "__init__" else parts)
    if parts and parts[-1] in ("index", "mod", "lib", "main"):
        parts.pop()
    own = package.rpartition("/")[2]
    return ".".join([own, *(part for part in parts if part != own)] if own else parts)


def is_public(names: Iterable[str]) -> bool:
    """Return whether none of the names is private by convention."""
    return not any(name.startswith(("_", "#", "[")) or "#" in name for name in names)


def _is_code(path: str) -> bool:
    *folders, name = path.split("/")
    if not family_of(path) or _NOT_FILES.fullmatch(name.lower()):
        return False
    return not any(part.lower() in NOT_CODE or part.startswith(".") for part in folders)


def _has_source(path: str, present: frozenset[str]) -> bool:
    if path.endswith(".pyi"):
        return path[:-1] in present
    return path.endswith(".d.ts") and any(f"{path[:-5]}.{ending}" in present for ending in ("js", "ts", "mjs", "cjs"))
