"""What each directive of docutils, Sphinx and its usual extensions contributes. Unknown ones give their body.

No directive opens a file or an address: `include` and `literalinclude` take a file of the same source that was read
before (`Inclusion`), `raw` and their like give nothing but a problem.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import Block, BlockKind, Link
from atlas.packs.documentation.formats.decoding import decode
from atlas.packs.documentation.formats.document import chosen_lines
from atlas.packs.documentation.formats.restructured import signatures, tables
from atlas.packs.documentation.formats.restructured.inline import split_title
from atlas.packs.documentation.formats.restructured.lines import language_of
from atlas.packs.documentation.formats.restructured.reader import (
    MAX_NESTING,
    Directive,
    LinePosition,
    RstReader,
    read_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from atlas.packs.documentation.formats.restructured.reader import Directive, RstReader

ADMONITIONS = frozenset((
    "note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "error", "seealso", "admonition",
    "topic", "sidebar",
))  # fmt: skip
VERSIONS = {
    "versionadded": "Added in version",
    "version-added": "Added in version",
    "versionchanged": "Changed in version",
    "version-changed": "Changed in version",
    "deprecated": "Deprecated since version",
    "version-deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
    "version-removed": "Removed in version",
    "deprecated-removed": "Deprecated since version",
    "soft-deprecated": "Soft deprecated since version",
}
VERSION_LABELS = {
    "version-added": "versionadded",
    "version-changed": "versionchanged",
    "version-deprecated": "deprecated",
    "version-removed": "versionremoved",
    "deprecated-removed": "deprecated",
    "soft-deprecated": "deprecated",
}
CODE = frozenset((
    "code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode", "testsetup", "testoutput",
    "testcleanup", "math", "productionlist", "prompt", "ipython", "console", "graphviz", "mermaid", "highlight-block",
    "snippet", "code-tab", "click:example", "click:run", "plot",
))  # fmt: skip
SILENT = frozenset((
    "index", "contents", "sectnum", "section-numbering", "meta", "tabularcolumns", "default-role", "rst-class", "class",
    "role", "highlightlang", "image", "target-notes", "date", "unicode", "header", "footer", "title", "sectionauthor",
    "codeauthor", "moduleauthor", "autosummary-list", "py:currentmodule-end", "inheritance-diagram", "digraph", "graph",
    "uml", "impl-detail-end", "audit-event-table",
)) - {"class"}  # fmt: skip
FILES = frozenset((
    "include", "literalinclude", "raw", "csv-file", "mdinclude", "rinclude", "cinclude", "program-output",
    "command-output",
))  # fmt: skip
WHOLE_SECTIONS = frozenset(["only", "ifconfig", "container", "tab-set", "tab-item", "tabs", "tab"])

VERSION_ARGUMENT = lazy_regex(r"(?P<version>next|[\w.|+-]{0,9}?\d[\w.+-]{0,25}|\|[^|]++\|)\s*+(?P<text>[\s\S]*+)")

TAB_SIZE = 8
MAX_INCLUDED = 8 << 20
"""Bytes that one document includes, so that files which include each other end."""
_LANGUAGES = {"py": "python", "js": "javascript", "rs": "rust", "sh": "bash"}

OPTION_LINE = lazy_regex(r":(?P<name>[\w-]++):(?:\s++(?P<value>.*+)|\s*+)$")


def run_directive(reader: RstReader, directive: Directive) -> None:
    """Add what a directive contributes to the reader's draft."""
    name = directive.name.removeprefix("py:") if directive.name.startswith("py:") else directive.name
    if name in ADMONITIONS:
        _admonition(reader, directive, name)
    elif name in VERSIONS:
        _version(reader, directive, name)
    elif name in CODE:
        _code(reader, directive, name)
    elif name in SILENT:
        return
    elif name in FILES:
        if directive.argument:
            include(reader, directive, name)
    elif special := SPECIAL.get(name):
        special(reader, directive)
    elif role := signatures.role_of(directive.name):
        _signature(reader, directive, role)
    else:
        _unknown(reader, directive, name)


def _admonition(reader: RstReader, directive: Directive, name: str) -> None:
    place = replace(directive.place.inner(), note=name)
    if name in ("admonition", "topic", "sidebar"):
        arguments, _, body, line = divide(directive)
        title = " ".join([directive.argument, *arguments]).strip()
        if title:
            reader.emit(title.rstrip(".") + ".", directive.line, place)
    else:
        body, line = _plain_body(directive)
    reader.read(body, line, place)


def _plain_body(directive: Directive) -> tuple[list[str], int]:
    """Return the body of a directive whose argument is the start of its text."""
    content, skipped = directive.content, 0
    while not directive.argument and skipped < len(content) and OPTION_LINE.match(content[skipped]):
        skipped += 1
    if directive.argument:
        return [directive.argument, *content], directive.line
    return content[skipped:], directive.line + 1 + skipped


def _version(reader: RstReader, directive: Directive, name: str) -> None:
    """Add a notice whose text starts with the words that Sphinx prints in front of it."""
    found = VERSION_ARGUMENT.match(directive.argument)
    version, rest = (found["version"], found["text"]) if found else ("", directive.argument)
    words = f"{VERSIONS[name]} {version}".strip()
    if name == "deprecated-removed":
        removed, _, rest = rest.partition(" ")
        words += f", will be removed in version {removed}"
        if removed:
            reader.draft.add(BlockKind.NOTE, f"{words}.", f"versionremoved {removed}", line=directive.line)
    label = f"{VERSION_LABELS.get(name, name)} {version}".strip()
    place = replace(directive.place.inner(), note=label)
    content = [one for one in directive.content if not one.startswith(":class:")]
    end = 0
    while end < len(content) and content[end].strip():
        end += 1
    is_text = not _opens_block(content)
    first = " ".join([rest, *(line.strip() for line in content[:end])]) if is_text else rest
    if is_text and not rest and not end:
        start = next((number for number, line in enumerate(content) if line.strip()), len(content))
        if not _opens_block(content[start:]):
            end = start
            while end < len(content) and content[end].strip():
                end += 1
            first = " ".join(line.strip() for line in content[start:end])
    reader.emit(f"{words}: {first.strip()}" if first.strip() else f"{words}.", directive.line, place)
    body = content[end:] if is_text else content
    reader.read(body, directive.line + 1 + (end if is_text else 0), place)


def _opens_block(content: list[str]) -> bool:
    return bool(content) and content[0].startswith((".. ", "* ", "- ", "+-", "==", ":", "#."))


def _code(reader: RstReader, directive: Directive, name: str) -> None:
    content, argument = directive.content, directive.argument
    at = 0
    while at < len(content) and OPTION_LINE.match(content[at]):
        at += 1
    body = content[at:]
    if name in ("math", "productionlist", "parsed-literal") and argument:
        body, argument = [argument, *body], ""
    text = "\n".join(body)
    language = (
        argument.split(" ")[0]
        if argument
        else {"math": "math", "ipython": "ipython", "console": "console"}.get(name, "")
    )
    reader.draft.add(
        BlockKind.CODE, text, language or reader.language or language_of(text.lstrip("\n")), line=directive.line
    )


def _signature(reader: RstReader, directive: Directive, role: str) -> None:
    arguments, options, body, line = divide(directive)
    place = directive.place
    module = options.get("module", reader.module)
    holder = place.holder
    if role == "method" and not holder and options.get("class"):
        holder = options["class"]
    found = signatures.described(directive.name, [directive.argument, *arguments], module, holder, role)
    if not found:
        reader.read(body, line, place.inner())
        return
    if role in signatures.UNQUALIFIED:
        fields, read = leading_fields(body)
        options, body, line = {**options, **fields}, body[read:], line + read
    said = signatures.stated_options(found[0].name.rpartition(".")[2], options)
    has_body = any(one.strip() for one in body) or bool(said.sentence or said.notices)
    for one in found:
        block = Block(BlockKind.SIGNATURE, one.text, one.name, one.role, place.signatures, directive.line)
        # only a description by hand stands for the heading that follows; what autodoc describes is complete
        if has_body or place.signatures or directive.name.startswith("auto"):
            reader.draft.add(block.kind, block.text, block.label, role=block.role, depth=block.depth, line=block.line)
        else:
            reader.draft.hold(block)
    if role == "module":
        reader.module = found[0].name
    inner = replace(place.inner(), signatures=place.signatures + 1, note="")
    _state(reader, said, directive.line, inner)
    holds = found[0].name if role in signatures.HOLDERS else place.holder
    reader.read(body, line, replace(inner, holder=holds))


def _state(reader: RstReader, said: signatures.StatedOptions, line: int, place: LinePosition) -> None:
    """Add what the options of a description say."""
    for label, text in (("", said.sentence), *said.notices):
        if text:
            reader.emit(text, line, replace(place, note=label))


def _current_module(reader: RstReader, directive: Directive) -> None:
    reader.module = "" if directive.argument == "None" else directive.argument


def _module(reader: RstReader, directive: Directive) -> None:
    _, options, body, line = divide(directive)
    reader.module = directive.argument
    text = f"module {directive.argument}"
    reader.draft.hold(Block(BlockKind.SIGNATURE, text, directive.argument, "module", 0, directive.line))
    synopsis = options.get("synopsis", "")
    if synopsis:
        plain, links = reader.inline(synopsis)
        reader.draft.hold(Block(BlockKind.PARAGRAPH, plain, line=directive.line, links=links))
    if "deprecated" in options:
        reader.draft.hold(
            Block(BlockKind.NOTE, f"Module {directive.argument} is deprecated.", "deprecated", line=directive.line)
        )
    reader.read(body, line, directive.place.inner())


def _toctree(reader: RstReader, directive: Directive) -> None:
    _, _, body, line = divide(directive)
    for number, entry in enumerate(body):
        title, target = split_title(entry)
        path = target or title
        if not path or path == "self" or path.startswith(".. "):
            continue
        if "://" in path:
            reader.draft.add(BlockKind.ITEM, title, line=line + number, links=(Link(path, title, "url"),))
        else:
            reader.draft.children.append(path)


def _glossary(reader: RstReader, directive: Directive) -> None:
    """Add the entries: terms at the margin, maybe several, each with the definition below them."""
    _, _, body, line = divide(directive)
    terms: list[str] = []
    at = 0
    while at < len(body):
        if not body[at].strip() or body[at].startswith(".. "):
            at += 1
        elif body[at][0].isspace():
            end = at
            while end < len(body) and (not body[end].strip() or body[end][0].isspace()):
                end += 1
            definition = body[at:end]
            indent = min(len(one) - len(one.lstrip()) for one in definition if one.strip())
            reader.term(", ".join(terms), [one[indent:] for one in definition], line + at, directive.place)
            terms, at = [], end
        else:
            terms.append(body[at].partition(" : ")[0].strip())
            at += 1
    for term in terms:
        reader.draft.add(BlockKind.TERM, "", term, line=line)


def _csv_table(reader: RstReader, directive: Directive) -> None:
    _, options, body, line = divide(directive)
    if "file" in options or "url" in options:
        reader.draft.problem(directive.line, "file-not-read", f"csv-table:: {options.get('file', options.get('url'))}")
    _caption(reader, directive)
    reader.table(*tables.read_csv_table(body, options), line)


def _list_table(reader: RstReader, directive: Directive) -> None:
    _, options, body, line = divide(directive)
    _caption(reader, directive)
    reader.table(*tables.read_list_table(body, options), line)


def _caption(reader: RstReader, directive: Directive) -> None:
    if directive.argument:
        reader.emit(directive.argument, directive.line, directive.place)


def _table(reader: RstReader, directive: Directive) -> None:
    _, _, body, line = divide(directive)
    _caption(reader, directive)
    reader.read(body, line, directive.place.inner())


def _rubric(reader: RstReader, directive: Directive) -> None:
    if directive.argument and directive.argument.lower() != "footnotes":
        reader.emit(directive.argument, directive.line, directive.place)


def _figure(reader: RstReader, directive: Directive) -> None:
    _, _, body, line = divide(directive)
    reader.read(body, line, directive.place.inner())


def _highlight(reader: RstReader, directive: Directive) -> None:
    reader.language = directive.argument if directive.argument not in ("none", "default") else ""


def _summary(reader: RstReader, directive: Directive) -> None:
    """Add the names that `autosummary` lists, each a link to its symbol; with `:toctree:` they are pages."""
    _, options, body, line = divide(directive)
    for number, entry in enumerate(body):
        name = entry.strip().lstrip("~")
        if not re.fullmatch(r"[\w.]+", name):
            continue
        qualified = f"{reader.module}.{name}" if reader.module and not name.startswith(reader.module) else name
        if "toctree" in options:
            reader.draft.children.append(f"{options['toctree'].strip('/')}/{qualified}".lstrip("/"))
        link = Link(qualified, name, "symbol")
        reader.draft.add(BlockKind.ITEM, f"`{name}`", line=line + number, links=(link,))


def _unknown(reader: RstReader, directive: Directive, name: str) -> None:
    """Add title and body of a directive that is not known; whole sections may be in those that only group."""
    arguments, options, body, line = divide(directive)
    if name in WHOLE_SECTIONS:
        place = directive.place
        if name in ("tab-item", "tab") and directive.argument:
            reader.emit(directive.argument, directive.line, place)
        inner = LinePosition(place.nesting + 1, place.note, place.items, place.signatures, place.holder, place.titles)
        reader.read([*arguments, *body], line - len(arguments), inner)
        return
    named = directive.argument or options.get("keys", "")
    if named and options.keys() & {"default", "type"}:
        found = signatures.described("confval", [named], "", "", "setting")[0]
        place = directive.place
        reader.draft.add(
            BlockKind.SIGNATURE, found.text, found.name, role=found.role, depth=place.signatures, line=line
        )
        inner = replace(place.inner(), signatures=place.signatures + 1)
        fields, read = leading_fields(body)
        _state(reader, signatures.stated_options(found.name, {**options, **fields}), directive.line, inner)
        reader.read(body[read:], line + read, inner)
        return
    title = " ".join([directive.argument, *arguments]).strip()
    if title and not re.fullmatch(r"[\w./:#-]+", title) and directive.place.nesting < MAX_NESTING:
        reader.emit(title, directive.line, directive.place)
    elif arguments and not directive.argument:
        body = [*arguments, *body]
    reader.read(body, line, directive.place.inner())


SPECIAL: dict[str, Callable[[RstReader, Directive], None]] = {
    "currentmodule": _current_module,
    "module": _module,
    "toctree": _toctree,
    "glossary": _glossary,
    "csv-table": _csv_table,
    "list-table": _list_table,
    "flat-table": _list_table,
    "table": _table,
    "rubric": _rubric,
    "centered": _rubric,
    "figure": _figure,
    "highlight": _highlight,
    "autosummary": _summary,
}


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


def divide(directive: Directive) -> tuple[list[str], dict[str, str], list[str], int]:
    """Return further argument lines, options, body and the number of the body's first line."""
    content = directive.content
    at = 0
    arguments: list[str] = []
    while at < len(content) and content[at].strip() and not OPTION_LINE.match(content[at]):
        arguments.append(content[at])
        at += 1
    options: dict[str, str] = {}
    last = ""
    while at < len(content) and content[at].strip():
        if found := OPTION_LINE.match(content[at]):
            last = found["name"]
            options[last] = found["value"] or ""
        elif last:
            options[last] += f" {content[at].strip()}"
        at += 1
    return arguments, options, content[at:], directive.line + 1 + at


def leading_fields(body: list[str]) -> tuple[dict[str, str], int]:
    """Return the fields in front of a description behind a blank line, which say what options do, and their lines."""
    fields: dict[str, str] = {}
    at = next((number for number, line in enumerate(body) if line.strip()), len(body))
    while at < len(body) and (found := OPTION_LINE.match(body[at])):
        fields[found["name"]] = found["value"] or ""
        at += 1
        while at < len(body) and body[at][:1].isspace() and body[at].strip():
            fields[found["name"]] += f" {body[at].strip()}"
            at += 1
    return fields, at if fields else 0
