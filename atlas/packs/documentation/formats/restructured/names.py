"""Targets and substitutions of a document, which its text may use before they are defined. Pure."""

from __future__ import annotations

import re

from atlas.packs.documentation.formats.restructured.inline import Names, normal, unescape
from atlas.packs.documentation.formats.restructured.reader import ANONYMOUS, SUBSTITUTION, TARGET

_ROLE = re.compile(r"(?<![\w:]):[\w:]*+(?<=:)`~?+([^`<]*+)[^`]*+`")


def read_names(lines: list[str]) -> Names:
    """Return the targets and substitutions that lines define."""
    names = Names()
    chained: list[str] = []
    for number, raw in enumerate(lines):
        line = raw.lstrip()
        if not line.startswith((".. ", "__ ")):
            continue
        if found := TARGET.match(line):
            name, target = normal(unescape(found["name"])), (found["target"] or "").strip()
            follows = lines[number + 1 : number + 3]
            if not target and follows and follows[0].startswith("   ") and not follows[0].lstrip().startswith(".. "):
                target = "".join(one.strip() for one in follows if one.startswith("   "))
            names.targets[name] = target
            chained.append(name)
            if target and "://" in target:
                names.targets[name] = target.replace(" ", "")
        elif found := ANONYMOUS.match(line):
            names.anonymous.append(found["target"].strip())
        elif found := SUBSTITUTION.match(line):
            kind, value = found["kind"], found["value"].strip()
            if kind == "replace":
                names.substitutions[found["name"].lower()] = _ROLE.sub(r"`\1`", value)
            elif kind in ("unicode", "image"):
                names.substitutions[found["name"].lower()] = ""
    return names
