"""Files of the same source that `include` and `literalinclude` name; see `documentation.formats.inclusion`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atlas.packs.documentation.article import BlockKind, Link
from atlas.packs.documentation.formats.decoding import decode
from atlas.packs.documentation.formats.inclusion import chosen_lines
from atlas.packs.documentation.formats.restructured.arguments import divide
from atlas.packs.documentation.formats.restructured.lines import language_of
from atlas.packs.documentation.formats.restructured.names import read_names

if TYPE_CHECKING:
    from atlas.packs.documentation.formats.restructured.reader import Directive, RstReader

TAB_SIZE = 8
MAX_INCLUDED = 8 << 20
"""Bytes that one document includes, so that files which include each other end."""
_LANGUAGES = {"py": "python", "js": "javascript", "rs": "rust", "sh": "bash"}


def include(reader: RstReader, directive: Directive, name: str) -> None:
    """Read an included file in place of its directive; one that is not in the source is a problem."""
    _, options, _, _ = divide(directive)
    inclusion = reader.inclusion
    path = inclusion.resolve(directive.argument) if name in ("include", "literalinclude") else ""
    if not path:
        reader.draft.problem(directive.line, "file-not-read", f"{name}:: {directive.argument}")
        return
    is_text = name == "include" and not options.keys() & {"literal", "code"}
    if is_text and path in inclusion.articles:
        link = Link(directive.argument, path, "page")
        reader.draft.add(BlockKind.PARAGRAPH, f"See {path}.", line=directive.line, links=(link,))
        return
    if path not in inclusion.files:
        reader.draft.problem(directive.line, "file-not-read", f"{name}:: {directive.argument}")
        return
    reader.included += len(inclusion.files[path])
    if reader.included > MAX_INCLUDED:
        reader.draft.problem(directive.line, "too-large", f"more than {MAX_INCLUDED:,} bytes are included")
        return
    text, _ = decode(inclusion.files[path], "")
    lines = chosen_lines(text, options)
    if is_text:
        lines = [line.expandtabs(TAB_SIZE).rstrip() for line in lines]
        added = read_names(lines)
        reader.names.targets.update(added.targets)
        reader.names.substitutions.update(added.substitutions)
        reader.inclusion = inclusion.inner(path)
        reader.read(lines, directive.line, directive.place)
        reader.inclusion = inclusion
        return
    code = "\n".join(lines)
    language = options.get("language", options.get("code", "")) or _language(path) or language_of(code)
    reader.draft.add(BlockKind.CODE, code, language, line=directive.line)


def _language(path: str) -> str:
    ending = path.rpartition(".")[2]
    return _LANGUAGES.get(ending, ending if ending.isalpha() else "")
