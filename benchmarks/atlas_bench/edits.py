"""Edits of a copied tree as editors, programs and git make them: a saved function, many written files, a checkout.

This module knows nothing about indexes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FUNCTIONS = {
    "python": '\n\ndef {name}(value):\n    """{text}"""\n    return value\n',
    "javascript": "\n/** {text} */\nfunction {name}(value) {{ return value; }}\n",
    "typescript": "\n/** {text} */\nfunction {name}(value: number) {{ return value; }}\n",
    "go": "\n// {text}\nfunc {name}(value int) int {{ return value }}\n",
    "rust": "\n/// {text}\nfn {name}(value: u32) -> u32 {{ value }}\n",
}
"""A function by language; files of other languages get a line of text."""

LINE = "\n// {name}: {text}\n"

_WORDS = """
account archive array audio balance binary bitmap block branch browser bucket buffer bytes cache calendar
camera canvas chart checksum client clock cluster color column commit compress cookie counter cursor database
deadline decimal decode device diagram digest disk document domain draft driver email encoder error event
exchange export feature fetch filter folder font forecast gateway gradient graph grid header histogram image
import index inventory invoice job journal keyboard label latency layout ledger library license lock log
mailbox market matrix memory merge message meter migrate mirror monitor motor mouse network notify number
order packet page palette password patch payment permission pixel player plugin pointer polygon price printer
profile query queue random receipt record region render report request retry robot route sample schedule
schema screen search sensor server session shader shipping signal socket sort spectrum speech sprite stack
storage stream subscription table tensor terminal thread ticket timer token topic trace transaction transfer
translate tree upload vector version video volume voucher wallet weather webhook widget window worker zone
"""
WORDS = tuple(_WORDS.split())
"""Words of programs: a static model has no vectors for other words, so it could not find the function at all."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of the tree."""

    path: str
    language: str
    size: int


@dataclass(frozen=True, slots=True)
class AddedFunction:
    """A function that did not exist before."""

    path: str
    name: str
    text: str
    """Its documentation: a combination of words that no other function has."""


def code_files(files: Sequence[TreeFile], count: int) -> list[TreeFile]:
    """Return files that a function can be added to, from smallest to largest, evenly distributed over the sizes."""
    code = sorted((file for file in files if file.language in FUNCTIONS), key=lambda file: (file.size, file.path))
    step = max(1.0, len(code) / count)
    return [code[int(number * step)] for number in range(min(count, len(code)))]


def added(file: TreeFile, number: int, chance: random.Random) -> AddedFunction:
    """Generate a function for a file; `number` makes it unique."""
    words = chance.sample(WORDS, 5)
    return AddedFunction(file.path, f"atlas_live_{number}_{'_'.join(words[:2])}", " ".join(words))


def source_of(one: AddedFunction, language: str) -> bytes:
    """Return the text of a function in a language."""
    return FUNCTIONS.get(language, LINE).format(name=one.name, text=one.text).encode()


def save(tree: Path, one: AddedFunction, language: str, *, by_rename: bool) -> None:
    """Append a function, in place or like editors that write a new file and rename it over the old one."""
    path = tree / one.path
    if not by_rename:
        with path.open("ab") as file:
            file.write(source_of(one, language))
        return
    fresh = path.with_name(f"{path.name}.atlas-new~")
    fresh.write_bytes(path.read_bytes() + source_of(one, language))
    fresh.replace(path)


def check_out(tree: Path, files: Sequence[TreeFile], events: int, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Write files one after the other until `events` files are written, unlinking each first as git does.

    Each round over the files appends a different ending to each. Yields path and new content after each file.
    """
    lengths = {file.path: (tree / file.path).stat().st_size for file in files}
    for number in range(events):
        file = files[number % len(files)]
        path = tree / file.path
        end = source_of(added(file, number, chance), file.language)
        content = path.read_bytes()[: lengths[file.path]] + end
        path.unlink()
        path.write_bytes(content)
        yield file.path, content
