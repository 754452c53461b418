"""Lines of a text: where paragraphs and indented bodies end, and bodies without their indentation. Pure."""

from __future__ import annotations


def joined(lines: list[str]) -> str:
    """Return the lines of a paragraph as one line."""
    return " ".join(line.strip() for line in lines)


def literal_lead(text: str) -> str:
    """Return a paragraph without the mark of the literal block behind it."""
    return text[:-1].rstrip(":").rstrip() + ("" if text.endswith(" ::") else ":") if text.endswith("::") else text


def language_of(code: str) -> str:
    """Return `pycon` for an interactive session, "" otherwise."""
    return "pycon" if code.startswith(">>> ") else ""


def paragraph_end(lines: list[str], at: int) -> int:
    """Return the index of the first blank line from here."""
    while at < len(lines) and lines[at] and not lines[at].isspace():
        at += 1
    return at


def indented_end(lines: list[str], at: int) -> int:
    """Return the index after the indented lines that begin here, without trailing blank lines."""
    end = at
    while at < len(lines):
        line = lines[at]
        if line and not line.isspace():
            if not line[0].isspace():
                break
            end = at + 1
        at += 1
    return end


def dedent(lines: list[str]) -> list[str]:
    """Return the lines without their common indentation."""
    indents = [len(line) - len(line.lstrip()) for line in lines if line and not line.isspace()]
    return dedent_by(lines, min(indents, default=0))


def dedent_by(lines: list[str], width: int) -> list[str]:
    """Return the lines without up to `width` blanks in front."""
    return [line[width:] if line[:width].isspace() or not line[:width] else line.lstrip() for line in lines]


def body_of(text: str, rest: list[str]) -> list[str]:
    """Return the lines of a body whose first line stands behind its marker."""
    return [text, *dedent(rest)]
