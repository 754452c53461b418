"""A symbol in the forms in which people write its name: exact, suffix, bare, other case, one typo, no underscores."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from atlas_bench.search.facts import CONTAINERS, SECTION, TreeFile
from atlas_bench.search.questions import SearchQuestion, Target, sample

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MIN_TYPO = 6
"""A name with fewer letters is another name after one change."""

Named = tuple[Target, str]
"""A definition and its qualified name."""


def ask_symbols(files: Iterable[TreeFile], limit: int, seed: int) -> Iterator[SearchQuestion]:
    """Yield up to `limit` questions of each form, about definitions of code that is neither test nor generated.

    Every definition of the tree that the form fits as well is gold, too.
    """
    everything, askable = list[Named](), list[Named]()
    for file in files:
        for each in file.definitions:
            if each.kind not in CONTAINERS and each.kind != SECTION and re.fullmatch(r"[\w$.]+", each.qualified):
                named = (Target(file.path, each.line, each.qualified), each.qualified)
                everything.append(named)
                if file.usable and len(each.name) > 2 and not each.name.startswith("__"):
                    askable.append(named)
    chooser = random.Random(seed)
    for kind, (write, fold) in FORMS.items():
        keys = _grouped(everything, fold)
        yield from sample(_asked(kind, askable, write, keys, chooser), limit, seed)


def _asked(
    kind: str,
    askable: Sequence[Named],
    write: Callable[[str, random.Random], tuple[str, str]],
    keys: Mapping[str, Sequence[Target]],
    chooser: random.Random,
) -> Iterator[SearchQuestion]:
    seen: set[str] = set()
    for _, qualified in sorted(askable, key=lambda each: (each[1], each[0].path, each[0].line)):
        text, key = write(qualified, chooser)
        if text and text not in seen and key in keys and not (kind != "symbol exact" and text in keys):
            seen.add(text)
            yield SearchQuestion(kind, text, tuple(keys[key]))


def _grouped(named: Iterable[Named], fold: Callable[[str], Sequence[str]]) -> dict[str, list[Target]]:
    found: dict[str, list[Target]] = {}
    for target, qualified in named:
        for key in fold(qualified):
            found.setdefault(key, []).append(target)
    return found


def _exact(qualified: str, _: random.Random) -> tuple[str, str]:
    return (qualified, qualified) if "." in qualified else ("", "")


def _suffix(qualified: str, _: random.Random) -> tuple[str, str]:
    parts = qualified.split(".")
    text = ".".join(parts[-2:])
    return (text, text + ".") if len(parts) > 2 else ("", "")


def _name(qualified: str, _: random.Random) -> tuple[str, str]:
    name = qualified.rpartition(".")[2]
    return name, name + "."


def _case(qualified: str, _: random.Random) -> tuple[str, str]:
    name = qualified.rpartition(".")[2]
    text = name.lower() if name.lower() != name else name.upper()
    return (text, name.casefold() + ".") if text != name else ("", "")


def _typo(qualified: str, chooser: random.Random) -> tuple[str, str]:
    """Drop, double, replace or swap one letter, never the first."""
    name = qualified.rpartition(".")[2]
    if len(name) < MIN_TYPO:
        return "", ""
    at, way = chooser.randrange(1, len(name) - 1), chooser.randrange(4)
    one, two = name[at], name[at + 1]
    changed = (two, one + one + two, chooser.choice(LETTERS) + two, two + one)[way]
    text = name[:at] + changed + name[at + 2 :]
    return (text, name + ".") if text != name else ("", "")


def _joined(qualified: str, _: random.Random) -> tuple[str, str]:
    name = qualified.rpartition(".")[2]
    text = name.replace("_", "")
    return (text, name + ".") if text != name and "_" in name.strip("_") else ("", "")


def _last(qualified: str) -> tuple[str]:
    return (qualified.rpartition(".")[2] + ".",)


FORMS: Mapping[str, tuple[Callable[[str, random.Random], tuple[str, str]], Callable[[str], Sequence[str]]]] = {
    "symbol exact": (_exact, lambda qualified: (qualified,)),
    "symbol suffix": (_suffix, lambda qualified: (".".join(qualified.split(".")[-2:]) + ".",)),
    "symbol name": (_name, _last),
    "symbol case": (_case, lambda qualified: (qualified.rpartition(".")[2].casefold() + ".",)),
    "symbol typo": (_typo, _last),
    "symbol joined": (_joined, _last),
}
"""Form -> how it is written, with the key of what it names, and the keys that a qualified name has."""
