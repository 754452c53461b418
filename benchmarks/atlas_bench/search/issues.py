"""Issue-like prose -> definition: a title and a long body about a documented definition, written by rules.

Every issue has the first sentence of the documentation as its title, in words of a report, and then boilerplate of
issue templates. A third carries a traceback that passes through the definition, a third names of its body among
unrelated ones, a third only the rest of the documentation. The copy that is searched has none of this documentation.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from atlas_bench.search.docstrings import first_sentence
from atlas_bench.search.facts import CALLABLE, Definition, TreeFile
from atlas_bench.search.questions import SearchQuestion, Target

MIN_LINES = 4
"""A shorter definition has nothing that could be wrong."""
FRAMES, NAMES = 3, 4
TITLES = (
    "{} does not work as expected",
    "Wrong result: {}",
    "Unexpected behaviour since the last update: {}",
    "{} fails in some cases",
    "{}?",
)
OPENINGS = (
    "I upgraded last week and since then one of our services misbehaves.",
    "We see this in production about once a day, and I could reproduce it locally.",
    "I am not sure whether this is a bug or whether I am using it incorrectly.",
    "This used to work before, so I suspect a regression.",
    "Thanks for the great project! I ran into the following problem.",
)
CLOSINGS = (
    "### Environment\n- OS: Ubuntu 22.04, x86_64\n- version: latest release\n- installed from the package registry",
    "### Checklist\n- [x] I searched the existing issues\n- [x] I read the documentation\n- [x] I tried the latest one",
    "Expected: the documented behaviour.\nActual: see above. It happens with a minimal configuration as well.",
    "Let me know if you need a test case, I am happy to send a pull request with a test.",
)
KINDS = ("traceback", "names", "prose")


def ask_issues(
    lost: Sequence[tuple[TreeFile, Definition]], files: Sequence[TreeFile], seed: int
) -> Iterator[SearchQuestion]:
    """Yield an issue for each definition whose documentation was taken out of the copy and is long enough."""
    frames = [
        (file.path, each)
        for file in files
        if file.usable
        for each in file.definitions
        if each.kind in CALLABLE and each.end > each.line
    ]
    for file, definition in lost:
        sentence = first_sentence(definition)
        if not file.usable or not sentence or definition.end - definition.line < MIN_LINES:
            continue
        chooser = random.Random(f"{seed} {file.path} {definition.qualified}")
        body = [chooser.choice(OPENINGS), _rest(definition), _detail(file, definition, files, frames, chooser)]
        text = "\n\n".join(
            part for part in (chooser.choice(TITLES).format(sentence), *body, *chooser.sample(CLOSINGS, 2)) if part
        )
        yield SearchQuestion("issue", text, (Target(file.path, definition.line, definition.qualified),))


def _rest(definition: Definition) -> str:
    """Return the documentation after its first sentence, without markup of parameters."""
    parts = re.split(r"(?<=[.!?])\s|\n\s*\n", definition.docstring.strip(), maxsplit=1)
    lines = (line.strip() for line in (parts[1] if len(parts) > 1 else "").splitlines())
    return " ".join(line for line in lines if line and not re.match(r"[@:>\-=~.]|\w+:$", line))[:600]


def _detail(
    file: TreeFile,
    definition: Definition,
    files: Sequence[TreeFile],
    frames: Sequence[tuple[str, Definition]],
    chooser: random.Random,
) -> str:
    kind = chooser.choice(KINDS)
    if kind == "traceback":
        passed = [*chooser.sample(frames, min(FRAMES, len(frames)))]
        passed.insert(chooser.randrange(len(passed) + 1), (file.path, definition))
        lines = [
            f'  File "/srv/app/lib/{path}", line {chooser.randint(each.line, each.end)}, in {each.name}'
            for path, each in passed
        ]
        return "\n".join(["```", "Traceback (most recent call last):", *lines, "RuntimeError: unexpected state", "```"])
    if kind == "names":
        others = [name for _, each in chooser.sample(frames, min(NAMES, len(frames))) for name in (each.name,)]
        own = [*file.names]
        named = [definition.name, *chooser.sample(own, min(2, len(own))), *others]
        chooser.shuffle(named)
        return "I looked at " + ", ".join(f"`{name}`" for name in named) + " but could not find the cause."
    return ""
