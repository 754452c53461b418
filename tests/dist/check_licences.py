"""Check that every dependency has a permissive licence: Python packages of all extras, and Rust crates.

    python -m tests.dist.check_licences

What is installed in this environment counts, and what `Cargo.lock` names.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.dist.sources import ROOT

PERMISSIVE = frozenset(
    ("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU")
    + ("PSF-2.0", "Python-2.0", "Unicode-3.0", "Unlicense", "Zlib")
)
"""Names of the SPDX list."""
NAMES = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
    "The MIT License (MIT)": "MIT",
}
"""How metadata from before SPDX calls them."""
EXCEPTIONS = {
    "apsw": ("any-OSI", "its licence file is the text of Zlib"),
    "certifi": ("MPL-2.0", "a list of certificates, used as it is; MPL covers its own files only"),
    "tqdm": ("MPL-2.0 AND MIT", "extras only, used as it is; MPL covers its own files only"),
}
"""Package -> what its metadata says, and why it may be used all the same. Another licence of it fails."""


def main() -> None:
    found = {**dict(python_licences()), **dict(rust_licences())}
    wrong = problems(found)
    print(f"{len(found)} dependencies, {len(EXCEPTIONS)} exceptions from the list of permissive licences")
    sys.exit("\n".join(wrong) if wrong else None)


def problems(found: dict[str, str]) -> list[str]:
    """Return a line for each dependency whose licence is neither permissive nor a named exception."""
    return [
        f"{name}: {licence or 'no licence'} is not on the list of permissive licences"
        for name, licence in sorted(found.items())
        if not is_permissive(licence) and (name not in EXCEPTIONS or EXCEPTIONS[name][0] != licence)
    ]


def is_permissive(licence: str) -> bool:
    """Return whether an SPDX expression can be met with permissive licences only; false for what is no expression."""
    tokens = re.findall(r"[()]|[^\s()]+", licence.replace("/", " OR "))

    def either() -> bool:
        met = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met |= both()
        return met

    def both() -> bool:
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met &= one()
        return met

    def one() -> bool:
        token = tokens.pop(0) if tokens else ""
        if token == "(":
            met = either()
            return tokens[:1] == [")"] and bool(tokens.pop(0)) and met
        if tokens and tokens[0] == "WITH":  # an exception permits more
            del tokens[:2]
        return token in PERMISSIVE

    return either() and not tokens


def python_licences() -> Iterator[tuple[str, str]]:
    """Yield name and licence of what Code Atlas needs with every extra. Ends the process if something is not there."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    left = [Requirement(line) for line in document["dependencies"]]
    left += [Requirement(line) for lines in document["optional-dependencies"].values() for line in lines]
    seen: set[tuple[str, str]] = set()
    while left:
        needed = left.pop()
        name = canonicalize_name(needed.name)
        for extra in sorted({"", *needed.extras} - {one for other, one in seen if other == name}):
            try:
                package = distribution(name)
            except PackageNotFoundError:
                sys.exit(f"{name} is not installed: make .venv/extras")
            yield name, licence_of(package)
            seen.add((name, extra))
            further = [Requirement(line) for line in package.requires or ()]
            left += [one for one in further if one.marker is None or one.marker.evaluate({"extra": extra})]


def licence_of(package: Distribution) -> str:
    """Return the licence that a package states, as an SPDX expression where it can be read as one."""
    about = package.metadata
    stated = (about.get("License-Expression") or about.get("License") or "").strip().partition("\n")[0].strip()
    stated = NAMES.get(stated, stated)
    classes = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or () if line.startswith("License :: ")]
    try:
        canonicalize_license_expression(stated)
    except InvalidLicenseExpression:
        return " AND ".join(NAMES.get(one, one) for one in classes) or stated
    return stated


def rust_licences() -> Iterator[tuple[str, str]]:
    """Yield name and licence of every crate that Cargo.lock names."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    done = subprocess.run(command, cwd=ROOT / "rust-parser", capture_output=True, text=True, timeout=600, check=True)
    for package in json.loads(done.stdout)["packages"]:
        yield f"{package['name']} {package['version']}", package["license"] or ""


if __name__ == "__main__":
    main()
