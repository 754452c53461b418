"""Docstrings in Google's style as fields of reStructuredText, line by line. Pure."""

from __future__ import annotations

from atlas.core.lazy_regex import lazy_regex

_FIELDS = {
    **dict.fromkeys(("args", "arguments", "parameters", "keyword args", "keyword arguments"), "param"),
    "other parameters": "param",
    "raises": "raises",
}
_ENTRY = lazy_regex(
    r"(?P<name>\*{0,2}[A-Za-z_][\w.]*+(?:, [A-Za-z_][\w.]*+)*+)(?:[ ]?(?P<type>\([^()]*+\)))?"
    r"(?::(?:[ ]++(?P<text>.*+))?)?"
)


def google_fields(text: str) -> str:
    """Return a docstring with the entries below "Args:" and "Raises:" as fields; the number of lines stays.

    A list with an entry that names nothing stays as it is.
    """
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        field = _FIELDS.get(lines[at].strip()[:-1].casefold(), "") if lines[at].rstrip().endswith(":") else ""
        end = _end(lines, at) if field else at + 1
        if field and (entries := _entries(lines[at + 1 : end], field, _margin(lines[at]))):
            lines[at:end] = ["", *entries]
        at = end
    return "\n".join(lines)


def _end(lines: list[str], title: int) -> int:
    """Return the index after what is indented below a title."""
    margin = _margin(lines[title])
    inside = (at for at in range(title + 1, len(lines)) if lines[at].strip() and _margin(lines[at]) <= margin)
    return next(inside, len(lines))


def _entries(lines: list[str], field: str, margin: int) -> list[str]:
    """Return lines with their entries as fields at a margin, [] if there is one that is none."""
    inner = next((_margin(line) for line in lines if line.strip()), 0)
    changed: list[str] = []
    for line in lines:
        if not line.strip() or _margin(line) > inner:
            changed.append(line)
        elif _margin(line) == inner and (found := _ENTRY.fullmatch(line.strip())):
            said = " ".join(part for part in (found["type"], found["text"]) if part)
            changed.append(f"{' ' * margin}:{field} {found['name']}: {said}".rstrip())
        else:
            return []
    return changed if inner > margin else []


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())
