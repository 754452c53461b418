"""Articles of a package's modules: one section per public class or function, with the docstrings of its members.

Nothing of the package is imported or run: files are parsed, and docstrings are read as reStructuredText or Markdown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label, NodeRow
from atlas.packs.documentation.article import DOCSTRING, Article, Block, BlockKind, Section
from atlas.packs.documentation.code.docstrings import google_fields
from atlas.packs.documentation.code.exports import Exports
from atlas.packs.documentation.code.files import CodeFile, Package, family_of, is_public, module_name
from atlas.packs.documentation.formats.draft import Draft
from atlas.packs.documentation.formats.markdown import read_markdown
from atlas.packs.documentation.formats.restructured.text import read_restructured
from atlas.parsing.outline import OutlineReader

MAX_MEMBERS = 400
MAX_DOCSTRING = 20_000
"""Characters of one docstring that are read."""
_ROLES = {"constructor": "method", "struct": "class", "enum": "class", "interface": "class", "trait": "class"}
_CONSTRUCTOR = lazy_regex(r"def __init__\(\s*+self\s*+,?+\s*+(?P<arguments>.*)\)(?:\s*+->[^)]*+)?", re.DOTALL)
_START = lazy_regex(r"def __init__\(\s*+self\s*+,\s*+(?P<arguments>[^#]*),")
"""Of a constructor that the parser has cut, or that has comments in its signature."""
_RUSTDOC = lazy_regex(r"|rust|should_panic|no_run|ignore.*|compile_fail|test_harness|standalone_crate|edition\d+")
"""What stands behind the fence of an example in Rust, up to the first comma."""
_HIDDEN = lazy_regex(r"[ \t]*+#(?:[ \t]|$)")
_ESCAPED = lazy_regex(r"^([ \t]*)##", re.M)
"""How an example writes a line that begins with `#` and is shown."""
_BASES = lazy_regex(r"^class \w+")


def code_articles(files: Sequence[CodeFile], package: Package, outline: OutlineReader) -> Iterator[Article]:
    """Yield the article of each file that has a public symbol with a docstring, or a public class or function."""
    exports = Exports()
    for file in files:
        if file.path.endswith("/__init__.py"):
            exports.read(module_name(file.path, package.name), file.data)
    names = exports.public_names()
    for file in files:
        rows = outline(file.path, file.data)
        module = module_name(file.path, package.name)
        sections = list(_sections(rows, module, names, exports.exporter(module), file.path))
        if not sections:
            continue
        lead = next((row.docstring for row in rows if row.label in (Label.MODULE, Label.PACKAGE)), "")
        yield Article(
            key=file.path,
            title=module or file.path,
            sections=(Section("", module or file.path, 1, _described(lead, file.path, 1), 1), *sections),
            format=DOCSTRING,
            licence=package.licence,
            source=package.source,
            source_version=package.version,
            digest=hashlib.blake2b(file.data, digest_size=16).hexdigest(),
        )


def _sections(
    rows: Sequence[NodeRow], module: str, names: Mapping[str, str], exporter: str, path: str
) -> Iterator[Section]:
    """Yield a section per public symbol of the first level, with its public members."""
    prefix = next((row.qualified_name for row in rows if row.label in (Label.MODULE, Label.PACKAGE)), "")
    known: dict[str, NodeRow] = {}
    members: dict[str, list[NodeRow]] = {}
    for row in rows:
        inner = row.qualified_name.removeprefix(f"{prefix}.") if prefix else row.qualified_name
        if row.label not in (Label.CLASS, Label.FUNCTION, Label.METHOD) or row.is_test or not inner:
            continue
        first, _, member = inner.partition(".")
        if not member and (row.exported or row.docstring) and is_public([first]):
            known.setdefault(first, row)
        elif member:
            members.setdefault(first, []).append(row)
    for name, row in known.items():
        full = f"{module}.{name}" if module else name
        public = names.get(full) or (f"{exporter}.{name}" if exporter else full)
        if not is_public(public.split(".")) or not _is_interface(row, path):
            continue
        own = members.get(name, []) if row.label == Label.CLASS else []
        yield Section(name, public, 2, tuple(_blocks(row, own, public, path)), row.line, (full,))


def _is_interface(row: NodeRow, path: str) -> bool:
    """Return whether others may use a symbol: in Rust `pub`, in JavaScript what is exported."""
    if family_of(path) == "rust":
        return row.signature.startswith("pub ")
    return row.exported or bool(row.docstring)


def _blocks(row: NodeRow, members: Sequence[NodeRow], public: str, path: str) -> Iterator[Block]:
    own = public.rpartition(".")[2]
    yield _signature(row, _class_signature(row, members, own), public, 0)
    yield from _described(row.docstring, path, row.line)
    seen: set[str] = set()
    for member in members[:MAX_MEMBERS]:
        name = member.qualified_name.rpartition(".")[2]
        parents = member.qualified_name.split(".")[-2:-1]
        if name in seen or parents != [row.name] or not is_public([name]) or not member.docstring:
            continue
        seen.add(name)
        yield _signature(member, member.signature, f"{public}.{name}", 1)
        yield from _described(member.docstring, path, member.line)


def _signature(row: NodeRow, text: str, name: str, depth: int) -> Block:
    role = _ROLES.get(row.kind, row.kind)
    return Block(BlockKind.SIGNATURE, " ".join((text or name).split()), name, role, depth, row.line)


def _class_signature(row: NodeRow, members: Iterable[NodeRow], name: str) -> str:
    """Return how a Python class is called, from its constructor; the signature as written for everything else."""
    if row.label != Label.CLASS or not row.signature.startswith("class "):
        return row.signature
    for member in members:
        if not member.qualified_name.endswith(".__init__"):
            continue
        if "#" not in member.signature and (found := _CONSTRUCTOR.fullmatch(member.signature)):
            return f"class {name}({found['arguments'].strip().rstrip(',')})"
        if found := _START.match(member.signature):
            return f"class {name}({found['arguments'].strip()}, …)"
    return _BASES.sub(f"class {name}", row.signature)


def _described(docstring: str, path: str, line: int) -> tuple[Block, ...]:
    """Return the blocks of a docstring; its headings become paragraphs, since sections belong to symbols."""
    if not docstring.strip():
        return ()
    draft = Draft()
    text = docstring[:MAX_DOCSTRING]
    if family_of(path) == "python":
        read_restructured(google_fields(text), draft)
    else:
        read_markdown(text, draft, path)
    blocks: list[Block] = []
    for section in draft.sections():
        if section.title:
            blocks.append(Block(BlockKind.PARAGRAPH, f"{section.title}:", line=line))
        # a signature within a docstring would start the description of another symbol
        blocks += [replace(block, line=line) for block in section.blocks if block.kind is not BlockKind.SIGNATURE]
    return tuple(_without_hidden(blocks)) if family_of(path) == "rust" else tuple(blocks)


def _without_hidden(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks without the lines of examples that rustdoc compiles and does not show."""
    for block in blocks:
        if block.kind is not BlockKind.CODE or not _RUSTDOC.fullmatch(block.label):
            yield block
            continue
        shown = "\n".join(line for line in block.text.split("\n") if not _HIDDEN.match(line)).strip("\n")
        if shown:
            yield replace(block, text=_ESCAPED.sub(r"\1#", shown))
