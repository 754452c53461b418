"""Mine pairs of documentation and code from packages: `python -m training.code_model.mine POOL... --out pairs.jsonl`.

A pool is a folder of packages: wheels, npm archives, sources jars, Debian packages, source archives, unpacked folders.
Every language that Code Atlas parses is mined in the same way: its own parser names definitions and documentation, and
`atlas_bench.search` takes the documentation out of the code. One JSON line a definition: {pkg, lang, kind, cls, name,
path, code, docs}; `code` does not contain documentation, `docs` are its sentences, kind is function, class or file.
`--eval-set` writes the functions of held-out packages and the queries instead. The same inputs give the same output.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from atlas_bench.search.docstrings import without_docstrings
from atlas_bench.search.facts import Definition, TreeFile, read_file

from atlas.parsing import Languages, load_languages
from training.code_model.licences import LICENCE_FILE, licences_of
from training.code_model.packages import identify, list_packages, read_files
from training.code_model.sentences import usable_sentences

HELD_OUT = Path(__file__).with_name("held_out.txt")
MAX_CODE = 4000
MAX_PAIRS = 5000
"""Pairs of a package, from files in the order of their digests, if `--most` does not say otherwise."""
MIN_LINES = 2
METHODS = frozenset(("Method", "Constructor", "Property"))
FUNCTIONS = METHODS | {"Function"}
CLASSES = frozenset(("Class", "Struct", "Interface", "Trait", "Enum", "TypeAlias"))
FILES = frozenset(("Module", "File"))
QUERIES_OF_PACKAGE = 450
QUERIES = 3000
SOURCE = re.compile(r"\.(py|go|rs|m?js|cjs|jsx|tsx?|java|cs|c|h|cc|cpp|hpp|cxx|php|rb|kts?|scala|swift|lua|sh|ex|exs)$")
NOTHING = re.compile(r"(?!)")
PYTHON_SOURCE = re.compile(r"\.py$")

Pair = dict[str, Any]


def mine_package(path: Path, most: int = MAX_PAIRS) -> tuple[Path, str, list[Pair]]:
    """Return a package, its licence ("" if it is not established as permissive), and its pairs."""
    package, languages = identify(path), load_languages()
    pairs: list[Pair] = []
    try:
        found = licences_of(package.name, _texts(path))
        if not found.package:
            return path, "", []
        for name, data in _sources(path):
            if not _excluded(f"/{name}") and found.allow(name, data[:4000].decode("utf-8", "ignore")):
                source = f"{package.ecosystem}:{package.name}"
                pairs += [{"pkg": source, **pair} for pair in pairs_of(name, data, languages)]
            if len(pairs) >= most:
                break
    except (OSError, ValueError, EOFError) as error:
        print(f"{path.name}: {error}", flush=True)
        return path, "", []
    return path, found.package, pairs[:most]


def pairs_of(path: str, data: bytes, languages: Languages) -> Iterator[Pair]:
    """Yield a pair for each documented definition of a file that is neither test nor generated code."""
    file = read_file(path, data, languages)
    bare, lost = without_docstrings(file, data, languages)
    lines = bare.decode("utf-8", "replace").split("\n")
    for definition in lost if file.usable else ():
        sentences = usable_sentences(definition.docstring, definition.name)
        if sentences and (record := _record(file, definition, lines)):
            yield {**record, "docs": sentences}


def _record(file: TreeFile, definition: Definition, lines: Sequence[str]) -> Pair | None:
    kind = _kind(definition)
    first = 0 if kind == "file" else definition.start - 1
    body = [line for line in lines[first : definition.end] if line.strip() and line.strip() != "..."]
    if not kind or len(body) < MIN_LINES:
        return None
    indent = len(body[0]) - len(body[0].lstrip())
    code = "\n".join(line[indent:] if not line[:indent].strip() else line for line in body)
    # As in the index: a file is named by its path, a method by its class and its own name
    name = file.path if kind == "file" else definition.name
    around = definition.qualified.split(".")[-2:-1] if definition.kind in METHODS else []
    record = {"lang": file.language, "kind": kind, "cls": "".join(around), "name": name}
    return {**record, "path": file.path, "code": code[:MAX_CODE]}


def _kind(definition: Definition) -> str:
    kinds = (("function", FUNCTIONS), ("class", CLASSES), ("file", FILES))
    return next((kind for kind, names in kinds if definition.kind in names), "")


def _texts(path: Path) -> dict[str, str]:
    return {name: data.decode("utf-8", "ignore") for name, data in read_files(path, LICENCE_FILE, NOTHING)}


def _sources(path: Path) -> list[tuple[str, bytes]]:
    # Other files of a wheel are often bundled third-party headers and scripts
    files = list(read_files(path, PYTHON_SOURCE if path.suffix == ".whl" else SOURCE))
    return sorted(files, key=lambda each: hashlib.md5(each[1], usedforsecurity=False).digest())


@cache
def _patterns() -> list[str]:
    lines = HELD_OUT.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _excluded(name: str) -> bool:
    """Whether a package by this name, or a file by this path, must not be trained on."""
    if name.startswith("/"):
        return any(each.startswith("path:") and fnmatch.fnmatch(name, f"*{each[5:]}*") for each in _patterns())
    return any(fnmatch.fnmatch(name.replace("_", "-"), each.replace("_", "-")) for each in _patterns())


def _digest(pair: Pair) -> str:
    return hashlib.md5(pair["code"].encode(), usedforsecurity=False).hexdigest()


def write_pairs(packages: Sequence[Path], arguments: argparse.Namespace) -> None:
    """Mine the packages; identical code is kept once, and nothing that the held-out set contains."""
    out, evaluation = arguments.out, arguments.evaluation
    mine = partial(mine_package, most=arguments.most)
    seen, sentences = set[str](), set[str]()
    if evaluation and evaluation.is_file():
        held_out = json.loads(evaluation.read_text())["functions"]
        seen = {_digest(each) for each in held_out}
        sentences = {sentence for each in held_out for sentence in each["docs"]}
    languages: Counter[str] = Counter()
    rows = ["name\tversion\tlicence\tecosystem\tpairs"]
    with out.open("w") as lines, Pool(arguments.jobs) as pool:
        for path, licence, pairs in pool.imap(mine, packages, chunksize=1):
            kept = 0
            for pair in pairs:
                pair["docs"] = [each for each in pair["docs"] if each not in sentences]
                if pair["docs"] and (digest := _digest(pair)) not in seen:
                    seen.add(digest)
                    kept += 1
                    languages[f"{pair['lang']} {pair['kind']}"] += 1
                    lines.write(json.dumps(pair) + "\n")
            package = identify(path)
            if kept:
                rows.append(f"{package.name}\t{package.version}\t{licence}\t{package.ecosystem}\t{kept}")
            print(f"{path.name}: {kept} pairs, {licence or 'licence not established as permissive'}", flush=True)
    arguments.sources.write_text("\n".join(rows) + "\n")
    print(dict(languages.most_common()))


def write_evaluation(packages: Sequence[Path], out: Path, seed: int = 7) -> None:
    """Write {"functions": all functions of the packages, "queries": [[sentence, position of its function], ...]}."""
    languages, functions, seen = load_languages(), list[Pair](), set[str]()
    for path in packages:
        for name, data in read_files(path, PYTHON_SOURCE):
            file = read_file(name, data, languages)
            bare, lost = without_docstrings(file, data, languages)
            lines = bare.decode("utf-8", "replace").split("\n")
            for definition in file.definitions if file.usable else ():
                record = _record(file, definition, lines) if _kind(definition) == "function" else None
                if record and _digest(record) not in seen:
                    seen.add(_digest(record))
                    documented = usable_sentences(definition.docstring, definition.name) if definition in lost else []
                    functions.append({"pkg": identify(path).name, **record, "docs": documented})
    counts = Counter(each["docs"][0] for each in functions if each["docs"])
    asked = [
        at
        for at, each in enumerate(functions)
        if each["docs"] and counts[each["docs"][0]] == 1 and each["code"].count("\n") >= 2 and each["name"][:2] != "__"
    ]
    random.Random(seed).shuffle(asked)
    per_package: Counter[str] = Counter()
    queries: list[tuple[str, int]] = []
    for at in asked:
        per_package[functions[at]["pkg"]] += 1
        if per_package[functions[at]["pkg"]] <= QUERIES_OF_PACKAGE:
            queries.append((functions[at]["docs"][0], at))
    out.write_text(json.dumps({"functions": functions, "queries": queries[:QUERIES]}))
    print(f"{len(functions)} functions, {len(queries[:QUERIES])} queries")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", nargs="+", type=Path, help="folders of packages")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sources", type=Path, default=Path("sources.tsv"), help="where the table of packages goes")
    parser.add_argument("--evaluation", type=Path, help="held-out set: its code and sentences are dropped")
    parser.add_argument("--eval-set", action="store_true", help="write the held-out set and stop")
    parser.add_argument("--most", type=int, default=MAX_PAIRS, help="pairs of a package")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    packages = [path for pool in arguments.pools for path in list_packages(pool)]
    if arguments.eval_set:
        write_evaluation(packages, arguments.out)
        return
    named = {identify(path).name: path for path in packages if not _excluded(identify(path).name)}
    write_pairs(list(named.values()), arguments)


if __name__ == "__main__":
    main()
