"""Compare the dependencies in the graph with independent readers: `python -m tests.bench.manifests FOLDER...`.

Every folder is a source tree. Its manifests are parsed and linked; the edges of the outermost project are compared with
`PKG-INFO` (read by `packaging`), `package.json` (the JSON module), `go mod edit -json`, `cargo metadata --no-deps` and
Maven's effective pom, where there are such files and programs. Kinds and ranges count as well as names.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from atlas import _parser
from atlas.code.index.detectors import built_in
from atlas.parsing import load_languages

ECOSYSTEMS = {"cargo": "rust"}
Row = tuple[str, str, str, str]
"""Name, kind, group, range."""
LANGUAGES = load_languages(detectors=built_in())
MANIFEST = re.compile(
    r"(^|/)(setup\.(py|cfg)|pyproject\.toml|package\.json|go\.mod|Cargo\.toml|pom\.xml)$|require|/extras/"
)
MAVEN = "{http://maven.apache.org/POM/4.0.0}"


def declared(folder: Path, ecosystem: str) -> set[Row]:
    """Return what the graph says about the outermost project of a tree."""
    paths = [file.path for file in _parser.scan(str(folder), LANGUAGES, git_rules=False).files]
    parsed = [
        _parser.parse_bytes(LANGUAGES, path, (folder / path).read_bytes()) for path in paths if MANIFEST.search(path)
    ]
    linker = _parser.Linker("p", LANGUAGES)
    linker.update(parsed)
    unit = linker.unit("")
    nodes = {row[0]: row for row in unit.nodes()}
    rows: set[Row] = set()
    for source, target, kind, _line, _strategy, _confidence, _further, properties in unit.edges():
        if kind != "DEPENDS_ON" or nodes[source][1] != "Project":
            continue
        said = json.loads(properties)
        # Only manifests of the outermost folder have an independent reading; `requirements/` belongs to Python's.
        outer = "/" not in said["path"] or (ecosystem == "python" and said["path"].startswith("requirements/"))
        if said["ecosystem"] != ECOSYSTEMS.get(ecosystem, ecosystem) or not outer:
            continue
        name = nodes[target][3] if nodes[target][1] == "ExternalPackage" else nodes[target][4].removeprefix("project:")
        rows.add((name, said["kind"], said.get("group", ""), said.get("range", "")))
        rows.update(further(name, text) for text in said.get("also", ()))
    return rows


def further(name: str, text: str) -> Row:
    """Return the row of a further declaration: `path:line kind [group] [range]`."""
    _, kind, *found = text.split(" ", 2)
    tail = found[0] if found else ""
    # A group such as `cfg(all(unix, target_os = "linux"))` holds spaces; a range begins after the last parenthesis.
    rest = (
        [tail] if tail.endswith(")") else tail.rsplit(") ", 1) if ") " in tail else tail.split(" ", 1) if tail else []
    )
    has_group = len(rest) > 1 or bool(rest and rest[0][0].isalpha())
    return (name, kind, rest[0] if has_group else "", rest[-1] if len(rest) > has_group else "")


def python_rows(folder: Path) -> Iterator[tuple[list[str], set[Row]]]:
    """`Requires-Dist` of the archive's own metadata; dependency groups are not part of it."""
    files = [name for name in ("pyproject.toml", "setup.cfg", "setup.py") if (folder / name).is_file()]
    if not files or not (folder / "PKG-INFO").is_file():
        return
    rows: set[Row] = set()
    message = HeaderParser().parsestr((folder / "PKG-INFO").read_text("utf-8"))
    for text in message.get_all("Requires-Dist") or []:
        required = Requirement(text)
        extras = extras_of(str(required.marker or ""))
        for extra in extras or [""]:
            place = str(required.specifier) or required.url or ""
            rows.add((canonicalize_name(required.name), "optional" if extra else "runtime", extra, ordered(place)))
    yield files, rows


def extras_of(marker: str) -> list[str]:
    """Return the extras that a marker names."""
    words = marker.replace("(", " ").replace(")", " ").split()
    return [words[at + 2].strip("\"'") for at, word in enumerate(words[:-2]) if word == "extra"]


def ordered(range_text: str) -> str:
    """Return a version specifier with its parts in order, as far as it is one."""
    parts = [part.replace(" ", "") for part in range_text.split(",")]
    return ",".join(sorted(parts))


def npm_rows(folder: Path) -> Iterator[tuple[list[str], set[Row]]]:
    """`package.json` as JSON."""
    kinds = {
        "dependencies": "runtime",
        "devDependencies": "development",
        "peerDependencies": "peer",
        "optionalDependencies": "optional",
    }
    if not (folder / "package.json").is_file():
        return
    read = _json((folder / "package.json").read_text("utf-8-sig"))
    optional = _table(read, "optionalDependencies")
    rows = {
        (name, kind, "", text)
        for key, kind in kinds.items()
        for name, text in _table(read, key).items()
        if not (key == "dependencies" and name in optional)
    }
    yield ["package.json"], {row for row in rows if row[0] != read.get("name")}


def go_rows(folder: Path) -> Iterator[tuple[list[str], set[Row]]]:
    """`go mod edit -json`."""
    if not (folder / "go.mod").is_file():
        return
    read = _json(output(["go", "mod", "edit", "-json", str(folder / "go.mod")], folder))
    replaced: dict[str, Any] = {each["Old"]["Path"]: each["New"] for each in _list(read, "Replace")}
    rows: set[Row] = set()
    for each in _list(read, "Require"):
        new = replaced.get(each["Path"])
        shown = f"{each['Version']} => {new['Path']} {new.get('Version', '')}".strip() if new else each["Version"]
        rows.add((each["Path"], "indirect" if each.get("Indirect") else "runtime", "", shown))
    yield ["go.mod"], rows


def cargo_rows(folder: Path) -> Iterator[tuple[list[str], set[Row]]]:
    """`cargo metadata --no-deps`."""
    if not (folder / "Cargo.toml").is_file():
        return
    read = _json(output(["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"], folder))
    rows: set[Row] = set()
    for package in read["packages"]:
        if Path(package["manifest_path"]).parent != folder.resolve():
            continue
        for each in package["dependencies"]:
            kind = {"dev": "development", "build": "build"}.get(
                each["kind"], "optional" if each["optional"] else "runtime"
            )
            rows.add((each["name"], kind, each["target"] or "", each["req"]))
    yield ["Cargo.toml"], rows


def maven_rows(folder: Path) -> Iterator[tuple[list[str], set[Row]]]:
    """The effective pom, of which only the declared artifacts count: inherited ones are in no file of the tree."""
    if not (folder / "pom.xml").is_file():
        return
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "effective.xml"
        output(["mvn", "-q", "help:effective-pom", f"-Doutput={target}", "-f", str(folder / "pom.xml")], folder)
        effective = ElementTree.parse(target).getroot()
    if effective.tag == "projects":
        effective = effective[0]
    written = {key for key, _ in artifacts(ElementTree.parse(folder / "pom.xml").getroot())}
    rows: set[Row] = set()
    for key, element in artifacts(effective):
        if key.rpartition(":")[2] not in {each.rpartition(":")[2] for each in written}:
            continue
        scope = element.findtext(MAVEN + "scope") or "compile"
        kind = {"test": "development", "provided": "provided", "system": "provided"}.get(scope, "runtime")
        optional = element.findtext(MAVEN + "optional") == "true" and kind == "runtime"
        rows.add((key, "optional" if optional else kind, "", element.findtext(MAVEN + "version") or ""))
    yield ["pom.xml"], rows


def artifacts(root: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    """Yield `group:artifact` and element of every direct dependency."""
    for element in root.findall(f"{MAVEN}dependencies/{MAVEN}dependency"):
        yield f"{element.findtext(MAVEN + 'groupId')}:{element.findtext(MAVEN + 'artifactId')}", element


def _table(read: Any, key: str) -> dict[str, str]:
    return read.get(key) or {}


def _list(read: Any, key: str) -> list[Any]:
    return read.get(key) or []


def _json(text: str) -> Any:
    return json.loads(text)


def output(command: list[str], folder: Path) -> str:
    """Return what a program prints."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


READERS: dict[str, Callable[[Path], Iterator[tuple[list[str], set[Row]]]]] = {
    "python": python_rows,
    "npm": npm_rows,
    "go": go_rows,
    "cargo": cargo_rows,
    "maven": maven_rows,
}


def comparable(ecosystem: str, row: Row) -> Row:
    """Return a row without spellings that mean the same: names of PyPI, the order of specifiers, groups elsewhere."""
    name, kind, group, text = row
    if ecosystem == "python":
        return (canonicalize_name(name), kind, canonicalize_name(group) if group else "", ordered(text))
    if ecosystem == "cargo":
        parts = [part.strip().replace(" ", "") for part in text.split(",") if part.strip()]
        bare = [f"^{part}" if part[0].isdigit() and "*" not in part else part for part in parts]
        return (name, kind, "", ",".join(bare))
    return (name, kind, "", text)


def main() -> None:
    """Print the manifests that differ, with the rows, and the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", choices=sorted(READERS), action="append")
    given = parser.parse_args()
    same = total = 0
    for folder in given.folders:
        for ecosystem in given.only or READERS:
            try:
                compared = list(READERS[ecosystem](folder.resolve()))
            except (subprocess.CalledProcessError, OSError, ValueError) as error:
                print(f"{folder} {ecosystem}: no independent reading: {error}", file=sys.stderr)
                continue
            for manifests, expected in compared:
                wanted = {comparable(ecosystem, row) for row in expected}
                found = {
                    comparable(ecosystem, row)
                    for row in declared(folder, ecosystem)
                    if not (ecosystem == "python" and row[1] in {"build", "development"})
                }
                total += 1
                same += wanted == found
                for sign, rows in (("missing", wanted - found), ("extra", found - wanted)):
                    for row in sorted(rows):
                        print(f"{folder.name}/{manifests[0]}: {sign} {' | '.join(row)}")
    print(f"{same} of {total} manifests agree")


if __name__ == "__main__":
    main()
