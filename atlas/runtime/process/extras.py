"""Optional parts of the installation: what each is for, which packages it lacks, and the command that adds them.

The command names the packages, not `code-atlas[extra]`: it is right wherever this installation came from.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex

DISTRIBUTION = "code-atlas"
EXTENSION = "atlas._parser"

PURPOSES: Mapping[str, str] = {
    "chat": "atlas chat: talk to a language model that uses the tools",
    "litellm": "statements by a language model, and embeddings of one that LiteLLM reaches",
    "lsp": "atlas lsp: definitions, references and calls in an editor",
    "packs": "knowledge packs of web pages (HTML, robots.txt), and their archives",
    "papers": "atlas papers: search arXiv, write PDF files",
    "pdf": "reading PDF files into knowledge packs",
    "quality": "a sentence transformer as a third signal of search",
    "rerank": "a model that orders answers of knowledge packs",
    "servers": "the index on Memgraph or Neo4j",
    "tracing": "spans of calls, sent to a collector of OpenTelemetry",
}
"""What each extra is for; without one, everything else works."""

MODULES: Mapping[str, str] = {
    "neo4j": "servers",
    "protego": "packs",
    "reportlab": "papers",
    "selectolax": "packs",
    "zstandard": "packs",
}
"""Modules that are imported where they are needed, without a check of their own -> the extra that has them."""

_NAME = lazy_regex(r"[A-Za-z0-9._-]+")
_MARKER = lazy_regex(r"""extra\s*==\s*["']([\w-]+)["']""")


@dataclass(frozen=True, slots=True)
class ExtraState:
    """One extra of this installation."""

    name: str
    purpose: str
    missing: tuple[str, ...]
    """Requirements of packages that are not installed."""

    @property
    def command(self) -> str:
        """The command that installs what is missing, "" if nothing is."""
        return shlex.join([sys.executable, "-m", "pip", "install", *self.missing]) if self.missing else ""


def requirements_of(extra: str) -> list[str]:
    """Return what an extra requires, as this installation states it; [] for an unknown extra."""
    try:
        stated = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    split = (requirement.partition(";") for requirement in stated)
    return [
        requirement.strip()
        for requirement, _, marker in split
        if (found := _MARKER.search(marker)) is not None and found[1] == extra
    ]


def extra_states() -> list[ExtraState]:
    """Return all extras, with what each lacks."""
    return [
        ExtraState(name, purpose, tuple(one for one in requirements_of(name) if not _is_installed(one)))
        for name, purpose in PURPOSES.items()
    ]


def how_to_install(extra: str) -> str:
    """Return how to add an extra: its name and the command."""
    wanted = requirements_of(extra)
    command = shlex.join([sys.executable, "-m", "pip", "install", *wanted]) if wanted else "install the package again"
    return f"It is the extra {DISTRIBUTION}[{extra}]: {command}"


def missing_extra(error: BaseException) -> ConfigError | None:
    """Return the error for a module of an extra that is not installed; None for any other error."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    extra = MODULES.get((name or "").partition(".")[0])
    if extra is None:
        return None
    return ConfigError(f"the package {name} is not installed; it is for {PURPOSES[extra]}", how_to_install(extra))


def missing_package(error: BaseException) -> ConfigError | None:
    """Return the error for a module of an extra, or of any other package, that this Python lacks; None for others."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name == EXTENSION:
        return ConfigError(
            f"the compiled part of Code Atlas is missing ({name})",
            "In a checkout `make run` or `pip install .` builds it; else install the package again.",
        )
    if name is None or name.partition(".")[0] == "atlas":
        return None
    version = ".".join(map(str, sys.version_info[:2]))
    return missing_extra(error) or ConfigError(
        f"the package {name} is not installed for this Python ({version}, {sys.executable})",
        "Run the `atlas` of the environment that Code Atlas is installed in. It needs Python 3.11 or newer.",
    )


def _is_installed(requirement: str) -> bool:
    name = _NAME.match(requirement)
    try:
        return name is not None and bool(metadata.version(name[0]))
    except metadata.PackageNotFoundError:
        return False
