"""Whether a package, or a file of it, is under a permissive licence.

A package whose licence is not established as permissive yields nothing. Sources: License-Expression, classifiers and
the licence field of wheels, `package.json`, `Cargo.toml`, the stanzas of `debian/copyright` file by file, the text of a
licence file, and `stated_licences.tsv` for archives that contain none of these.
"""

from __future__ import annotations

import email
import fnmatch
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

COPYLEFT = re.compile(r"GNU (Lesser |Affero |Library )?General Public|Mozilla Public License|Eclipse Public License")
LICENCE_FILE = re.compile(
    r"(^|/)(debian/copyright|usr/share/doc/[^/]+/copyright|[^/]+\.dist-info/METADATA|package/package\.json)$"
    r"|^[^/]*/?Cargo\.toml$|^([^/]*/|[^/]+\.dist-info/(licenses/)?|META-INF/)?(LICEN[SC]E|COPYING)[^/]*$"
)
STATED = Path(__file__).with_name("stated_licences.tsv")

_IDS = [
    (r"mit-0|mit no attribution.*", "MIT-0"),
    (r"(the )?(mit|expat|x11)([/ -]*(x11|expat|licen[sc]e))*", "MIT"),
    (
        r"(the )?apache( software)?( licen[sc]e)?[, -]*(version )?v?(2(\.0)?)?( licen[sc]e)?|asl[ -]2(\.0)?"
        r"|apache-2(\.0)?-llvm-exceptions?",
        "Apache-2.0",
    ),
    (r"0bsd|.*\(0bsd\)|zero-clause bsd.*", "0BSD"),
    (r"isc([ -]licen[sc]e.*)?", "ISC"),
    (r"cc0.*", "CC0-1.0"),
    (
        r"(?!.*(4|patent|gpl|protection)).*bsd.*3.*|(?!.*(4|gpl)).*3.clause bsd.*|go|(new|modified) bsd.*",
        "BSD-3-Clause",
    ),
    (r"(?!.*(4|patent|gpl)).*bsd.*2.*|(?!.*(4|gpl)).*2.clause bsd.*|freebsd|simplified bsd.*", "BSD-2-Clause"),
    (r"(the )?bsd([ -](licen[sc]e|style|like))*", "BSD"),
    (r"psf.*|python software foundation.*|python-2\.0.*", "PSF-2.0"),
    (r"zlib( licen[sc]e)?", "Zlib"),
    (r"(the )?unlicense", "Unlicense"),
]
_TEXTS = [
    (r"Apache License\s+Version 2\.0", "Apache-2.0"),
    (r"Permission is hereby granted, free of charge", "MIT"),
    (r"Redistribution and use in source and binary\s+forms", "BSD"),
    (r"Permission to use, copy, modify,? and/?o?r? ?distribute", "ISC"),
    (r"released into the public domain", "Unlicense"),
]


@dataclass(frozen=True, slots=True)
class Licences:
    """The licence of a package, "" if it is not permissive, and those of its files where the package states them."""

    package: str
    stanzas: tuple[tuple[tuple[str, ...], str], ...] = ()

    def allow(self, path: str, head: str) -> bool:
        """Whether a file may be used; `head` is the start of its text."""
        if not self.package or COPYLEFT.search(head):
            return False
        for globs, licence in reversed(self.stanzas):
            if any(fnmatch.fnmatch(path, glob) or fnmatch.fnmatch(path, f"*/{glob}") for glob in globs):
                return bool(licence)
        return not self.stanzas


def permissive(expression: str) -> str:
    """Return the permissive licences of an expression, classifier or name, "" if it asks for another one.

    Of "A OR B" one must be permissive, of "A AND B" both.
    """
    text = re.sub(r"zlib/libpng", "zlib", expression.strip().lower())
    text = re.sub(r"\((mit|iscl?|unlicense|bsd|psf|apache[^)]*)\)", "", text)
    text = re.sub(r"\bwith\s+llvm-exceptions?\b", "", text).replace("(", " ").replace(")", " ")
    found: list[str] = []
    for alternative in re.split(r"\bor\b|\|", text):
        parts = [part.strip() for part in re.split(r"\band\b|[,/;]", alternative) if part.strip()]
        ids = [next((name for rule, name in _IDS if re.fullmatch(rule, part)), "") for part in parts]
        if ids and all(ids):
            found.append(" AND ".join(ids))
    # Brackets were dropped: an expression with both operators is only taken if every part of it is permissive
    mixed = re.search(r"\bor\b", text) and re.search(r"\band\b", text)
    return "" if mixed and len(found) < len(re.split(r"\bor\b", text)) else " OR ".join(dict.fromkeys(found))


def licence_of_text(text: str) -> str:
    """Return the licence of a full licence text, "" when mixed, copyleft or unknown."""
    if re.search(r"GNU|General Public|Mozilla Public|Eclipse Public|proprietary|CC-BY", text):
        return ""
    return next((name for pattern, name in _TEXTS if re.search(pattern, text)), "")


def licences_of(name: str, files: Mapping[str, str]) -> Licences:
    """Return the licences of a package; `files`: the texts of its files that bear licences, by path."""
    if stated := _stated().get(name):
        return Licences(permissive(stated))
    for path, text in files.items():
        if path.endswith("copyright"):
            return _of_debian(text)
    for path, text in files.items():
        if path.endswith("METADATA"):
            return Licences(_of_metadata(email.message_from_string(text.split("\n\n")[0])))
        if path == "package/package.json":
            licence = json.loads(text).get("license")
            return Licences(permissive(licence) if isinstance(licence, str) else "")
        if path.endswith("Cargo.toml") and (match := re.search(r'^license\s*=\s*"([^"]+)"', text, re.M)):
            return Licences(permissive(match[1]))
    found = [licence_of_text(text) for text in files.values()]
    return Licences(" OR ".join(sorted(set(found))) if found and all(found) else "")


def _of_debian(text: str) -> Licences:
    pattern = r"^Files:[ \t]*((?:.*\n)(?:[ \t]+.*\n)*)(?:(?!\n\n)[\s\S])*?^License:[ \t]*(.*)$"
    stanzas: list[tuple[tuple[str, ...], str]] = []
    for match in re.finditer(pattern, text, re.M):
        globs = tuple(match[1].replace(",", " ").split())
        if globs and not globs[0].startswith("debian/"):
            stanzas.append((globs, permissive(match[2])))
    whole = [licence for globs, licence in stanzas if "*" in globs] or [licence for _, licence in stanzas if licence]
    return Licences(whole[0] if whole else "", tuple(stanzas))


def _of_metadata(header: Message) -> str:
    if header["License-Expression"]:
        return permissive(header["License-Expression"])
    classifiers: Sequence[str] = header.get_all("Classifier", [])
    named = [each.split("::")[-1].strip() for each in classifiers if each.startswith("License ::")]
    if named := [each for each in named if each != "OSI Approved"]:
        found = [permissive(each) for each in named]
        return " OR ".join(sorted(set(found))) if all(found) else ""
    licence = header["License"] or ""
    if not licence or licence.upper() == "UNKNOWN":
        return ""
    return permissive(licence) if len(licence) < 80 else licence_of_text(licence)


def _stated() -> dict[str, str]:
    rows = [line.split("\t") for line in STATED.read_text(encoding="utf-8").splitlines() if line]
    return {row[0]: row[1] for row in rows if len(row) > 1}
