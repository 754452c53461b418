"""Markdown of CommonMark, GitHub, MkDocs and MyST: `pulldown-cmark` reads the text between admonitions.

Admonitions (`!!! note`, `/// note`, `:::{note}`, fenced directives) hold Markdown themselves, which is read by
recursion with a limit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from atlas import _parser
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind, Link
from atlas.packs.documentation.formats.components import without_components
from atlas.packs.documentation.formats.draft import page_link
from atlas.packs.documentation.formats.restructured.signatures import described, role_of, stated_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from atlas.packs.documentation.formats.draft import Draft

MAX_NESTING = 8
SECONDS = 20.0
"""CPU time for one text; a page of 1 MB takes 0.05 s."""

FENCE = lazy_regex(r" {0,3}(?P<fence>`{3,}+|~{3,}+)\s*+(?:\{(?P<name>[\w:.+-]++)\})?(?P<rest>[^`]*+)$")
INDENTED_NOTE = lazy_regex(r"(?:!!!|\?\?\?\+?+)\s++(?P<kind>[\w-]++)[^\"]*+(?:\"(?P<title>[^\"]*+)\")?\s*+$")
TAB = lazy_regex(r"===[!+]?+ \"(?P<title>[^\"]*+)\"\s*+$")
SLASH_NOTE = lazy_regex(r"(?P<marker>/{3,}+)\s*+(?P<kind>[\w-]++)\s*+(?:\|\s*+(?P<title>.*+))?$")
COLON_NOTE = lazy_regex(
    r"(?P<marker>:{3,}+)\s*+\{?+(?P<kind>[\w-]++)\}?+\s*+(?:\[(?P<named>[^\]]*+)\])?\s*+(?P<title>.*+)$"
)
SYMBOL_PAGE = lazy_regex(r"::: +(?P<name>[\w.]+)\s*$")
MYST_OPTION, MOST_OPTIONS = lazy_regex(r":([\w-]++):\s*+(.*+)$"), 12
TARGET = lazy_regex(r"\((?P<name>[\w.:-]+)\)=\s*$")
INCLUDE = lazy_regex(
    r"\s*+(?:\{\*\s++(?P<star>\S++).*\*\}|--8<--\s++\"(?P<snippet>[^\"]++)\"|\{!\s*+>?+\s*+(?P<bang>[^\s!]++)\s*+!\})\s*+$"
)
DEFINITION = lazy_regex(r" {0,3}\[[^\]]{1,200}\]:\s+\S")
BACKTICKS = lazy_regex(r"`+")
ROLE_NAME = lazy_regex(r"\{([\w:-]{1,40})\}$")
CROSS_REFERENCE = lazy_regex(r"\[(?P<text>[^\[\]]{1,200})\]\[(?P<target>[A-Za-z_][\w.]{0,200})?\]")
KRAMDOWN = lazy_regex(r"\{:?\s{0,20}[.#][^}\n]{0,200}\}$")

CONTAINERS = frozenset((
    "tab", "details", "dropdown", "grid", "card", "tabs", "tab-set", "tab-item", "example", "container", "div",
))  # fmt: skip
MAX_FRAGMENTS = 10_000
"""Blocks of HTML that are read; each is parsed as a page of its own."""
VERBATIM = frozenset((
    "code-block", "code", "sourcecode", "code-cell", "ipython", "mermaid", "math", "literalinclude",
))  # fmt: skip


def read_markdown(text: str, draft: Draft, path: str = "") -> None:
    """Read a text into a draft."""
    lines = text.split("\n")
    start = _front_matter(lines, draft)
    if path.lower().endswith(".mdx"):
        lines = without_components(lines)
    definitions = [line for line in lines if DEFINITION.match(line)][:2000]
    _MarkdownReader(draft, definitions).read(lines[start:], start + 1, "", 0)
    if re.search(r"(?:^|/)(?:summary|_sidebar)\.md$", path, re.I):
        _read_contents(draft)


def _front_matter(lines: list[str], draft: Draft) -> int:
    """Read title, description and language of a YAML or TOML front matter. Return the index after it."""
    fence = lines[0].rstrip()
    if fence not in ("---", "+++"):
        return 0
    for number, line in enumerate(lines[1:200], start=1):
        if line.rstrip() in (fence, "..."):
            return number + 1
        if found := re.match(r"(title|lang|language|license|licence)\s*+[:=]\s*+(.{1,300})$", line):
            value = found[2].strip().strip("\"'")
            if found[1] == "title":
                draft.title = value
            elif found[1].startswith("lang"):
                draft.language = value
            else:
                draft.licence = value
    draft.title = draft.language = draft.licence = ""
    return 0


def _read_contents(draft: Draft) -> None:
    for section in draft.sections():
        for block in section.blocks:
            draft.children.extend(link.target.partition("#")[0] for link in block.links if link.kind == "page")


class _MarkdownReader:
    def __init__(self, draft: Draft, definitions: list[str]) -> None:
        self._draft, self._definitions = draft, definitions
        self._signature_depth = self._fragments = 0
        self._closings: dict[int, int] = {}

    def read(self, lines: list[str], first: int, note: str, nesting: int) -> None:
        """Read lines; `first` is the 1-based number of the first one, `note` the admonition around them."""
        outer, self._closings = self._closings, _closings(lines)
        plain: list[str] = []
        start, at = first, 0
        while at < len(lines) and not self._draft.is_full:
            end = self._special(lines, at, first, note, nesting, plain, start)
            if end:
                plain, at = [], end
                start = first + at
                continue
            if (fence := FENCE.match(lines[at])) and not fence["name"]:
                end = _fence_end(lines, at, fence["fence"])
                plain.extend(lines[at:end])
                at = end
                continue
            plain.append(lines[at])
            at += 1
        self._plain(plain, start, note)
        self._closings = outer

    def _special(
        self, lines: list[str], at: int, first: int, note: str, nesting: int, plain: list[str], start: int
    ) -> int:
        """Read what pulldown-cmark does not know, after the plain lines in front. Return the index after it, or 0."""
        line = lines[at]
        head = line.lstrip(" ")[:3]
        if not head or head[0] not in "!?/:`~({-=" or nesting >= MAX_NESTING:
            return 0
        if found := INCLUDE.match(line):
            self._plain(plain, start, note)
            path = found["star"] or found["snippet"] or found["bang"]
            self._draft.problem(first + at, "file-not-read", f"include of {path}")
            return at + 1
        if found := TARGET.match(line):
            self._plain(plain, start, note)
            self._draft.label(found["name"].lower())
            return at + 1
        if found := SYMBOL_PAGE.match(line):
            self._plain(plain, start, note)
            end = _indented_end(lines, at + 1)
            self._draft.add(BlockKind.SIGNATURE, found["name"], found["name"], role="object", line=first + at)
            return end
        body = _admonition_body(lines, at, self._closings)
        if not body:
            return 0
        kind, title, inside, offset, end = body
        self._plain(plain, start, note)
        self._admonition(kind.lower(), title, inside, first + offset, note, nesting)
        return end

    def _admonition(self, kind: str, title: str, lines: list[str], line: int, note: str, nesting: int) -> None:
        kind = kind.rpartition(":")[2]
        if kind == "eval-rst":
            from atlas.packs.documentation.formats.restructured.text import read_lines

            read_lines(lines, line, self._draft)
            return
        if role := role_of(kind):
            self._signatures(kind, role, title, lines, line, nesting)
            return
        if kind in VERBATIM:
            code = [one for one in lines if not re.match(r":[\w-]+:", one)]
            self._draft.add(BlockKind.CODE, "\n".join(code), title, line=line)
            return
        if kind == "toctree":
            self._draft.children.extend(
                one.strip().removesuffix(">").rpartition("<")[2] if one.rstrip().endswith(">") else one.strip()
                for one in lines
                if one.strip() and not one.startswith(":") and "://" not in one
            )
            return
        version = re.match(r"v?\d[\w.+-]*$", title.split(" ")[0]) if title else None
        if kind in ("versionadded", "versionchanged", "deprecated", "versionremoved") and version:
            label, title = f"{kind} {version[0]}", title.removeprefix(version[0]).strip()
        else:
            label = note if kind in CONTAINERS else kind
        lines = [one for number, one in enumerate(lines) if number > 5 or not re.match(r":[\w-]+:", one)]
        if title and title.lower() != kind:
            self._text(title if title[-1] in ".!?:" else f"{title}.", line, label)
        self.read(lines, line, label, nesting + 1)

    def _signatures(self, kind: str, role: str, title: str, lines: list[str], line: int, nesting: int) -> None:
        """Add the signatures of a directive and read its description below them."""
        depth, last = self._signature_depth, title
        for one in described(kind, [title], "", "", role):
            self._draft.add(BlockKind.SIGNATURE, one.text, one.name, role=one.role, depth=depth, line=line - 1)
            last = one.name.rpartition(".")[2]
        found = [MYST_OPTION.match(one) for one in lines[:MOST_OPTIONS]]
        count = next((number for number, one in enumerate(found) if one is None), len(found))
        said = stated_options(last, {one[1]: one[2] for one in found[:count] if one is not None})
        for label, text in (("", said.sentence), *said.notices):
            self._text(text.replace("``", "`"), line, label)
        lines, line = lines[count:], line + count
        self._signature_depth += 1
        self.read(lines, line, "", nesting + 1)
        self._signature_depth = depth

    def _plain(self, lines: list[str], first: int, note: str) -> None:
        """Read lines without admonitions."""
        if not any(line.strip() for line in lines):
            return
        text = "\n".join(lines)
        if self._definitions and "[" in text:
            text += "\n\n" + "\n".join(self._definitions)
        blocks, cut = _parser.read_markdown(text, SECONDS)
        for kind, plain, label, depth, line, targets in blocks:
            if self._draft.is_full:
                break
            links = [link for target, shown in targets if (link := page_link(target, shown))]
            self._block(kind, plain, label, depth, first + line - 1, links, note)
        if cut:
            self._draft.problem(first + cut - 1, "timeout", "the rest is not read")

    def _text(self, text: str, line: int, note: str) -> None:
        kind = BlockKind.NOTE if note else BlockKind.PARAGRAPH
        self._draft.add(kind, text, note, line=line)

    def _block(self, kind: str, text: str, label: str, depth: int, line: int, links: list[Link], note: str) -> None:
        if kind == "html":
            self._html(text, line, note)
            return
        if kind == "code":
            self._draft.add(BlockKind.CODE, text, re.split(r"[\s,{]", label.strip(), maxsplit=1)[0], line=line)
            return
        text = _references(text, links)
        if kind == "heading":
            if note:
                self._text(text, line, note)
            else:
                self._draft.heading(depth, KRAMDOWN.sub("", text.rstrip()).rstrip(), line, label)
        elif kind == "paragraph" and note:
            self._draft.add(BlockKind.NOTE, text, note, line=line, links=links)
        elif kind != "paragraph" or not KRAMDOWN.fullmatch(text.strip()):
            self._draft.add(BlockKind(kind), text, label, depth=depth, line=line, links=links)

    def _html(self, text: str, line: int, note: str) -> None:
        from atlas.packs.documentation.formats.html.page import read_fragment

        self._fragments += 1
        if self._fragments > MAX_FRAGMENTS:
            if self._fragments == MAX_FRAGMENTS + 1:
                self._draft.problem(line, "too-much-html", f"more than {MAX_FRAGMENTS:,} blocks of HTML")
            return
        read_fragment(text, self._draft, line, note)


def _admonition_body(
    lines: list[str], at: int, closings: dict[int, int]
) -> tuple[str, str, list[str], int, int] | None:
    """Return kind, title, body, offset of the body and the index after an admonition that starts here."""
    line = lines[at]
    if found := INDENTED_NOTE.match(line):
        end = _indented_end(lines, at + 1)
        body = [one[4:] if one[:4].isspace() else one.lstrip() for one in lines[at + 1 : end]]
        return found["kind"], found["title"] or "", body, at + 1, end
    if found := TAB.match(line):
        end = _indented_end(lines, at + 1)
        body = [one[4:] if one[:4].isspace() else one.lstrip() for one in lines[at + 1 : end]]
        return "tab", found["title"], body, at + 1, end
    if (found := FENCE.match(line)) and found["name"]:
        end = _fence_end(lines, at, found["fence"])
        last = end - 1 if end - 1 > at and lines[end - 1].strip().startswith(found["fence"]) else end
        return found["name"], found["rest"].strip(), lines[at + 1 : last], at + 1, end
    if at not in closings:
        return None
    found, end = SLASH_NOTE.match(line) or COLON_NOTE.match(line), closings[at]
    if not found:
        return None
    title = found["title"] or (found["named"] if line.startswith(":") else "") or ""
    return found["kind"], title.strip(), lines[at + 1 : end], at + 1, end + 1


def _closings(lines: list[str]) -> dict[int, int]:
    """Return the closing line of each admonition between markers, by its first line."""
    found: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    waiting: dict[str, int] = {}
    for number, line in enumerate(lines):
        if not line.startswith((":::", "///")):
            continue
        stripped = line.strip()
        if stripped.strip(stripped[0]):
            match = SLASH_NOTE.match(line) or COLON_NOTE.match(line)
            if match:
                opened.append((match["marker"], number))
                waiting[match["marker"]] = waiting.get(match["marker"], 0) + 1
            continue
        while waiting.get(stripped, 0):
            marker, start = opened.pop()
            waiting[marker] -= 1
            if marker == stripped:
                found[start] = number
                break
    return found


def _fence_end(lines: list[str], at: int, fence: str) -> int:
    closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    for number in range(at + 1, len(lines)):
        if closing.match(lines[number]):
            return number + 1
    return len(lines)


def _indented_end(lines: list[str], at: int) -> int:
    end = at
    for number in range(at, len(lines)):
        if lines[number].startswith(("    ", "\t")):
            end = number + 1
        elif lines[number].strip():
            break
    return end


def _references(text: str, links: list[Link]) -> str:
    """Replace roles of MyST and cross-references of mkdocstrings by their text, and add their links."""
    if "}`" in text:
        text = "".join(_roles(text, links))
    if "][" in text:
        text = CROSS_REFERENCE.sub(lambda found: _cross_reference(found, links), text)
    return text


def _roles(text: str, links: list[Link]) -> Iterator[str]:
    """Yield the parts of a text with roles replaced; inline code stays: `/{key}` is followed by text and no role."""
    runs = [found.span() for found in BACKTICKS.finditer(text)]
    closing: dict[int, int] = {}
    same: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        closing[number] = same.get(end - start, number)
        same[end - start] = number
    at = number = 0
    while number < len(runs):
        start, end = runs[number]
        role = ROLE_NAME.search(text, max(at, start - 42), start)
        if role and end - start == 1 and number + 1 < len(runs):
            yield text[at : role.start()]
            yield _role(role[1], text[end : runs[number + 1][0]], links)
            at = runs[number + 1][0] + 1
            number += 2
        else:
            number = closing[number] + 1
    yield text[at:]


def _role(role: str, content: str, links: list[Link]) -> str:
    from atlas.packs.documentation.formats.restructured.inline import read_role

    return read_role(role, content, links)


def _cross_reference(found: re.Match[str], links: list[Link]) -> str:
    target = found["target"] or found["text"].strip("`")
    if "." not in target and not found["text"].startswith("`"):
        return found[0]
    links.append(Link(target, found["text"].strip("`"), "symbol"))
    return found["text"]
