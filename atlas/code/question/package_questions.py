"""Questions about packages and versions: `what does this project depend on`, `which version of X is locked`. Pure.

A question that names something is only about a package if the index has one of that name: whoever answers it decides.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType

from atlas.core.lazy_regex import lazy_regex


class PackageAspect(StrEnum):
    """What is asked about packages."""

    LIST = "dependencies"
    """Everything that a project declares."""
    VERSION = "version"
    DEPENDS = "depends"
    """Whether a project depends on a package."""
    DEPENDENTS = "dependents"
    """Which projects declare a package, and which files import it."""
    UNUSED = "unused"
    """Declared packages that nothing imports."""


@dataclass(frozen=True, slots=True)
class PackageQuestion:
    """A question about packages."""

    asks: PackageAspect
    package: str = ""
    """Name of a package or import; "" for `LIST` and `UNUSED`."""
    project: str = ""
    """Name or folder of a project of the repository; "" for all of them."""
    kinds: tuple[str, ...] = ()
    """Kinds of dependencies that are asked for; () for all."""
    certain: bool = False
    """Whether the question can only be about packages."""
    groups: tuple[str, ...] = ()
    """Extras or groups of dependencies that are asked for; () for all."""
    topic: str = ""
    """What the dependencies are for, where that is no kind: `docs`."""
    platform: str = ""
    """The platform or condition that the dependencies are asked for: `windows`; "" for all."""
    version: str = ""
    """The version that is asked for: `3` of `still on zod 3`."""
    names: frozenset[str] = frozenset()
    """Names of known packages for a purpose, the last part of each: of a list, only these are meant."""
    importers: bool = False
    """Whether a question for versions also asks who imports the package."""
    by_word: str = ""
    """The words of what it is for by which the package is taken, where the question names none."""


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "dev": "development",
        "development": "development",
        "developer": "development",
        "test": "development",
        "testing": "development",
        "non-runtime": "development",
        "build": "build",
        "build-time": "build",
        "optional": "optional",
        "extra": "optional",
        "peer": "peer",
        "provided": "provided",
        "runtime": "runtime",
        "run-time": "runtime",
        "production": "runtime",
        "prod": "runtime",
        "main": "runtime",
        "indirect": "indirect",
    }
)
_POLITE = lazy_regex(
    r"^(?:please |(?:can|could|would) you |(?:find|show|list|give|get|tell|print|display|report|enumerate|check)"
    r"(?: me| us)?(?: out)?(?: whether| if)? |(?:all|any) (?:of )?(?:the )?|are there (?:any |some )?"
    r"|is there (?:any |an? )?"
    r"|(?:do|does) (?:we|it) have (?:any )?(?=unused|dead))",
    re.IGNORECASE,
)
_ENDING = lazy_regex(
    r" (?:please|right now|currently|here|at the moment|at all|anywhere|in (?:this|the|our) (?:project|repo|repository"
    r"|code ?base|workspace|code))$",
    re.IGNORECASE,
)
_HINT = lazy_regex(
    r"depend|deps\b|requirement|version|librar|libs\b|packages?\b|crates?\b|gems\b|pinned|locked|import|\buse|usage|require|declare|\bneed",
    re.IGNORECASE,
)
_SURE = lazy_regex(
    r"dependenc|\bdeps\b|requirements|\bversions?\b|third[- ]party|locked|pinned|\b(?:package|library|crate|gem)s?\b",
    re.IGNORECASE,
)
_BESIDE = lazy_regex(
    r" (?:itself|themselves)(?= (?:depend|rel[yi]|need|use|require|declare|import)\w*\b)"
    r"|,? or (?:is|are) (?:it|that|this|they|those)\b[^?.!]{0,60}$",
    re.IGNORECASE,
)
"""What the answer to `does X itself depend on Y, or is it for tests only` says anyway."""
MAX_CHARACTERS = 200


def find_package_question(text: str) -> PackageQuestion | None:
    """Return the question about packages that a text asks; None for other texts."""
    if len(text) > MAX_CHARACTERS or not _HINT.search(text):
        return None
    for part in _shorter(_BESIDE.sub("", text.strip(" .!?:;"))):
        for asks, pattern in _patterns():
            if (match := pattern.fullmatch(part)) is not None and (found := _question(asks, match)) is not None:
                return found
    return None


def _shorter(text: str) -> Iterator[str]:
    for _ in range(5):
        yield text
        shorter = _POLITE.sub("", text, count=1)
        if shorter == text:
            shorter = _ENDING.sub("", text)
        if shorter in (text, ""):
            return
        text = shorter


def _question(asks: PackageAspect, match: re.Match[str]) -> PackageQuestion | None:
    groups = match.groupdict()
    package = groups.get("x") or ""
    project = next((value for name, value in groups.items() if value and name.startswith("y")), "")
    if package.lower() in _NO_NAMES or project.lower() in _NO_NAMES - {""}:
        return None
    purpose = (groups.get("purpose") or "").lower()
    later = (groups.get("purpose2") or "").lower().split(" ")[0].rstrip("s")
    kind = KINDS.get(purpose) or KINDS.get("runtime" if later == "run" else later)
    if project.lower() in KINDS:
        kind, project = kind or KINDS[project.lower()], ""
    if groups.get("major"):
        package = f"{package}/{groups['major']}"
    if asks == PackageAspect.DEPENDS and package.lower() in KINDS:
        # `does it have runtime dependencies`
        return PackageQuestion(PackageAspect.LIST, project=project, kinds=(KINDS[package.lower()],), certain=True)
    if asks == PackageAspect.DEPENDS and groups.get("here") and "depend" in match[0].lower():
        return PackageQuestion(asks, package.rstrip("."), kinds=(kind,) if kind else (), certain=True)
    certain = bool(_SURE.search(match[0].replace(package, "") if package else match[0]))
    return PackageQuestion(asks, package.rstrip("."), project, (kind,) if kind else (), certain=certain)


_ROLE = lazy_regex(
    r"\b(?P<role>test(?:s|ing|ed)?|lint(?:ing|s|er)?|format(?:ting|ter)?|typ(?:es|ing|ings|e[- ]?check\w*)"
    r"|bundl(?:e|es|ing|er)|bench(?:mark\w*)?|docs|documentation)\b",
    re.IGNORECASE,
)
_ROLE_THING = lazy_regex(
    r"\b(?:which|what)\b.{0,80}\b(?:frameworks?|librar(?:y|ies)|runners?|tools?|packages?|linters?|formatters?|bundlers?"
    r"|type ?checkers?)\b",
    re.IGNORECASE,
)


def read_roles(text: str) -> dict[str, frozenset[str]]:
    """Return the purposes of tools that a text asks for, with the names of known ones: `which test framework`."""
    if len(text) > MAX_CHARACTERS or not _ROLE_THING.search(text):
        return {}
    said = {match["role"].lower() for match in _ROLE.finditer(text)}
    return {role: names for role, names in _roles().items() if any(each.startswith(role[:3]) for each in said)}


@cache
def _roles() -> Mapping[str, frozenset[str]]:
    data = tomllib.loads((Path(__file__).parent / "package_phrases.toml").read_text("utf-8"))
    return {role: frozenset(names.split("|")) for role, names in data["roles"].items()}


_NO_NAMES = frozenset(
    """
    it this that these those them they he she we you i me us what which who whom where when how why there here a an
    the of to in on at by from for with is are be and or not any all some none used locked version versions project
    dependency dependencies package packages library libraries code file files something anything
    """.split()  # noqa: SIM905
)


@cache
def _patterns() -> tuple[tuple[PackageAspect, re.Pattern[str]], ...]:
    """Return the patterns of `package_phrases.toml` in their order; read once."""
    data = tomllib.loads((Path(__file__).parent / "package_phrases.toml").read_text("utf-8"))
    words: dict[str, str] = {}
    for name, text in data["words"].items():
        words[name] = _expanded(text, words)
    return tuple(
        (
            PackageAspect[entry["asks"].upper()],
            re.compile(_named_once(_expanded(entry["pattern"], words)), re.IGNORECASE),
        )
        for entry in data["patterns"]
    )


def _expanded(text: str | list[str], words: Mapping[str, str]) -> str:
    whole = text if isinstance(text, str) else "".join(text)
    return re.sub(r"<([A-Z]+)>", lambda match: words[match[1]], whole)


def _named_once(pattern: str) -> str:
    """Return a pattern in which groups of the same name are numbered: `y`, `y_1`."""
    seen: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        name = match[1]
        count = seen[name] = seen.get(name, -1) + 1
        return f"(?P<{name}_{count}>" if count else match[0]

    return re.sub(r"\(\?P<(\w+)>", numbered, pattern)
