"""Mine questions from packages: `python -m training.code_model.mine_questions POOL... --out questions.jsonl`.

Lines as those of `mine`, with `docs` of one question and `source`: where it comes from (test, prose, comment, message).
A pool is a folder of packages, as for `mine`, or the module cache of Go (folders `NAME@VERSION`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from atlas.bench.search.docstrings import without_docstrings
from atlas.bench.search.facts import CALLABLE, Definition, TreeFile, read_file
from atlas.parsing import Languages, load_languages
from training.code_model.licences import LICENCE_FILE, licences_of
from training.code_model.mine import CLASSES, FUNCTIONS, NOTHING, SOURCE, Pair, excluded, record_of
from training.code_model.packages import GENERATED, identify, list_packages, read_files
from training.code_model.questions import (
    CALL,
    ask,
    comments_of,
    gives_away,
    messages_of,
    prose_of,
    title_words,
    titles_of,
    without_names,
)
from training.code_model.words import words_of

PROSE = re.compile(r"\.(md|rst|markdown)$|(^|/)(changes|changelog|history|news|readme)[^/]*$", re.I)
MAX_FILES = 400
MAX_PAIRS = 2500
MOST_OF_SOURCE = {"test": 1000, "prose": 600, "comment": 600, "message": 400}
RARE = 4
"""Tests of a package that may call a function that a title asks for."""
CALLEES = 1
TITLE_LINES = 40
MAX_LINES = 70
"""A longer function says too much besides what a comment or message of it says."""
_TEST_STEM = re.compile(r"(?:tests?_(\w+)|(\w+?)[._-]?(?:tests?|spec|Tests?|Spec))")


@dataclass(slots=True)
class Source:
    """A file, its lines without documentation, and as it is."""

    file: TreeFile
    lines: list[str]
    original: list[str]


@dataclass(slots=True)
class PackageFiles:
    """The files of a package and where names are defined in those that are no tests."""

    sources: list[Source] = field(default_factory=list[Source])
    pages: list[str] = field(default_factory=list[str])
    places: dict[str, list[tuple[Source, Definition]]] = field(default_factory=lambda: defaultdict(list))

    def target(self, name: str) -> Pair | None:
        """Return the only definition of a name."""
        places = self.places.get(name, ())
        return record_of(places[0][0].file, places[0][1], places[0][0].lines) if len(places) == 1 else None


def read_package(path: Path, languages: Languages, name: str) -> tuple[str, PackageFiles]:
    """Return the licence of a package ("" if not established as permissive) and its files."""
    texts = {each: data.decode("utf-8", "ignore") for each, data in read_files(path, LICENCE_FILE, NOTHING)}
    found, files = licences_of(name, texts), PackageFiles()
    if not found.package:
        return "", files
    listed = sorted(read_files(path, re.compile(f"{SOURCE.pattern}|{PROSE.pattern}", re.I), GENERATED))
    chosen = sorted(listed, key=lambda each: hashlib.md5(each[0].encode(), usedforsecurity=False).digest())
    kept = 0
    for at, data in chosen:
        text = data.decode("utf-8", "replace")
        if excluded(f"/{at}") or not found.allow(at, text[:4000]):
            continue
        if PROSE.search(at):
            files.pages.append(text)
        elif kept < MAX_FILES and SOURCE.search(at):
            kept += 1
            _add(files, at, data, languages)
    return found.package, files


def _add(files: PackageFiles, path: str, data: bytes, languages: Languages) -> None:
    file = read_file(path, data, languages)
    bare = without_docstrings(file, data, languages)[0] if file.usable else data
    source = Source(file, bare.decode("utf-8", "replace").split("\n"), data.decode("utf-8", "replace").split("\n"))
    files.sources.append(source)
    for definition in file.definitions if file.usable else ():
        if definition.kind in FUNCTIONS | CLASSES:
            files.places[definition.name].append((source, definition))


def of_tests(files: PackageFiles) -> Iterator[Pair]:
    """Yield titles of tests with the functions that they call and few other tests do, and the file under test."""
    stems: dict[str, list[Source]] = defaultdict(list)
    for source in files.sources:
        if source.file.usable:
            stems[_stem(source.file.path)].append(source)
    titled = [(source, *each) for source in files.sources if source.file.is_test for each in _titled(source)]
    calls: Counter[str] = Counter()
    called = [list(dict.fromkeys(CALL.findall("\n".join(lines)))) for _, _, lines in titled]
    for names in called:
        calls.update(names)
    for (source, title, _), names in zip(titled, called, strict=True):
        known = [name for name in names if len(files.places.get(name, ())) == 1 and (words_of(name)[1:] or name[6:])]
        known.sort(key=lambda name: calls[name])
        for name in known[:CALLEES]:
            target = files.target(name) if calls[name] <= RARE else None
            if target and not gives_away(title, f"{target['cls']} {name}"):
                yield {**target, "docs": [ask(title)], "source": "test"}
        match = _TEST_STEM.fullmatch(_stem(source.file.path))
        under_test = stems.get((match[1] or match[2]) if match else "", ())
        if len(under_test) == 1 and not gives_away(title, under_test[0].file.path):
            yield {**_whole(under_test[0]), "docs": [ask(title)], "source": "test"}


def _titled(source: Source) -> Iterator[tuple[str, list[str]]]:
    for number, title in titles_of(source.original):
        yield title, source.original[number : number + TITLE_LINES]
    for definition in source.file.definitions:
        if definition.kind in CALLABLE and definition.name.lower().startswith("test"):
            if title := title_words(definition.name):
                yield title, source.original[definition.start - 1 : definition.end]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _whole(source: Source) -> Pair:
    body = "\n".join(line for line in source.lines if line.strip())
    file = source.file
    return {"lang": file.language, "kind": "file", "cls": "", "name": file.path, "path": file.path, "code": body[:4000]}


def of_prose(files: PackageFiles) -> Iterator[Pair]:
    """Yield sentences of pages with the definition that they name."""
    for page in files.pages:
        for sentence, names in prose_of(page):
            for name in dict.fromkeys(names):
                target = files.target(name)
                question = without_names(sentence, [name])
                if target and not gives_away(question, name):
                    yield {**target, "docs": [ask(question)], "source": "prose"}


def of_bodies(files: PackageFiles) -> Iterator[Pair]:
    """Yield comments inside of functions, and messages in their strings, with the function without them."""
    for source in files.sources:
        for definition in source.file.definitions if source.file.usable else ():
            is_test = re.search(r"(^|[._])tests?([._]|$)", definition.qualified, re.I)
            if definition.kind in CALLABLE and not is_test and 4 <= definition.end - definition.start <= MAX_LINES:
                yield from _of_body(source, definition)


def _of_body(source: Source, definition: Definition) -> Iterator[Pair]:
    lines = source.lines[definition.start - 1 : definition.end]
    for comment, taken in list(comments_of(lines))[:2]:
        left = list(source.lines)
        for number in taken:
            left[definition.start - 1 + number] = ""
        target = record_of(source.file, definition, left)
        if target:
            yield {**target, "docs": [ask(comment)], "source": "comment"}
    target = record_of(source.file, definition, source.lines)
    for message, written in list(messages_of(target["code"]))[:1] if target else ():
        yield {**target, "code": target["code"].replace(written, '""'), "docs": [ask(message)], "source": "message"}


def mine_package(item: tuple[Path, str, str], most: int = MAX_PAIRS) -> tuple[str, str, list[Pair]]:
    """Return a package, its licence and its pairs, the same number of each source at most."""
    path, ecosystem, name = item
    pairs: list[Pair] = []
    try:
        licence, files = read_package(path, load_languages(), name)
        counts: Counter[str] = Counter()
        found = [*of_tests(files), *of_prose(files), *of_bodies(files)]
        found.sort(key=lambda pair: hashlib.md5(pair["docs"][0].encode(), usedforsecurity=False).digest())
        for pair in found:
            counts[pair["source"]] += 1
            if counts[pair["source"]] <= MOST_OF_SOURCE[pair["source"]]:
                pairs.append({"pkg": f"{ecosystem}:{name}", **pair})
    except (OSError, ValueError, EOFError) as error:
        print(f"{path.name}: {error}", flush=True)
        return name, "", []
    return name, licence, pairs[:most]


def packages_in(pool: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield path, ecosystem and name of each package that may be trained on."""
    modules = [each for each in sorted(pool.rglob("*@v*")) if each.is_dir() and "cache" not in each.parts]
    if modules:
        named = [(each, "go", re.sub(r"!(\w)", lambda m: m[1].upper(), str(each.relative_to(pool)))) for each in modules]
        listed = [(path, kind, name.partition("@")[0]) for path, kind, name in named]
    else:
        listed = [(each, identify(each).ecosystem, identify(each).name) for each in list_packages(pool)]
    for path, ecosystem, name in listed:
        if not excluded(name) and not excluded(f"/{name}/") and not excluded(name.rpartition("/")[2]):
            yield path, ecosystem, name


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sources", type=Path, help="where the table of packages goes")
    parser.add_argument("--most", type=int, default=MAX_PAIRS)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    packages = [each for pool in given.pools for each in packages_in(pool)]
    write(packages, given)


def write(packages: Sequence[tuple[Path, str, str]], given: argparse.Namespace) -> None:
    """Write the pairs; a question is kept once for the same code."""
    seen, counts = set[str](), Counter[str]()
    rows: list[str] = []
    with given.out.open("w") as lines, Pool(given.jobs) as pool:
        for name, licence, pairs in pool.imap(partial(mine_package, most=given.most), packages):
            kept = 0
            for pair in pairs:
                digest = hashlib.md5((pair["code"] + pair["docs"][0]).encode(), usedforsecurity=False).hexdigest()
                if digest not in seen:
                    seen.add(digest)
                    kept += 1
                    counts[f"{pair['lang']} {pair['source']}"] += 1
                    lines.write(json.dumps(pair) + "\n")
            rows.append(f"{name}\t{licence}\t{kept}")
            print(f"{name}: {kept} pairs, {licence or 'licence not established as permissive'}", flush=True)
    if given.sources:
        given.sources.write_text("\n".join(rows) + "\n")
    print(dict(counts.most_common()))


if __name__ == "__main__":
    main()
