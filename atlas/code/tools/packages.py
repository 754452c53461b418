"""Answers of hybrid_search to questions about packages; what get_node says about a package."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from atlas.code.atlas import Atlas
from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.graph.declarations import Declaration, other_places, read_declarations
from atlas.code.graph.packages import ImportingFile, PackageReport, files_importing
from atlas.code.question.package_questions import PackageAspect
from atlas.code.tools.envelope import Envelope, fit_aside
from atlas.code.tools.reports import Report, ReportAnswer, ReportLine, grouped
from atlas.core.invisible import one_line
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label, Node
from atlas.core.wording import counted

KINDS = ("runtime", "optional", "peer", "provided", "build", "development", "indirect")
_ORDER = (
    *KINDS,
    "declared",
    "shaded",
    "comment",
    "configured",
    "supplies",
    "computed_by",
    "declared_since",
    "enabled_by",
    "test_environment",
    "used_by",
    "without_it",
    "named_by",
    "commands",
    "changelog",
    "imported_by",
    "near",
)
_LINES = 12
"""Lines of one importing file that are listed."""
ASIDE = lazy_regex(r"(?:^|/)(?:tests?|specs?|examples?|fixtures?|bench|benchmarks?|vendor(?:-bin)?|sandbox)/")
"""Projects that belong to tests or examples come last."""
_DOCUMENTS = lazy_regex(r"(?:docs?|documentation|examples?|tutorials?)/")
"""Folders whose code shows how the project is used; many files of them that import a package are one line."""
_FEW_FILES = 6
"""Files that import a package whose first import is shown."""
_IMPORT_CHARACTERS = 80
_LINE_CHARACTERS, _MEMBERS = 1_000, 6
_AS_WHOLE = lazy_regex(
    r"^import (?:type )?(?:\w+, ?)?\* as (\w+) from\b|^import (?:type )?(\w+) from\b|^import [\w.]+ as (\w+)$"
    r"|^import (\w+)$|^(?:const|let|var) (\w+) ?= ?require\("
)
"""Imports of all of a package under one name."""
_MANY_ALIKE = 5
"""Manifests that declare a package alike are one line."""
_MANY = 25
"""Declarations of a list that leaves out the locked versions."""
_TOOL = "hybrid_search"
_NOT_IMPORTED = "(commands, plugins and generators are not imported)"
_NO_IMPORT_KNOWN = f"no file under its own name; it is not known under which other name {_NOT_IMPORTED}"
_OWN_NAME = lazy_regex(r"(?:^|/)(?:package\.json|go\.mod|Cargo\.toml)$")
"""Manifests whose packages are imported by the name that they are declared by."""
_NOT_SEEN = (
    "commands, plugins and configuration are not imports: a package that only they use, or that code has under another"
    " name, is listed as well"
)


async def packages_answer(atlas: Atlas, envelope: Envelope, found: PackageReport, notes: Sequence[str]) -> ReportAnswer:
    """Return the answer to a question about packages, within the budget."""
    lines, title = _said(found, await _import_texts(atlas, found.importing))
    outcome = "found" if lines or found.package else "not_found"
    more = (_NOT_SEEN,) if found.question.asks == PackageAspect.UNUSED and lines else ()

    def build(count: int) -> ReportAnswer:
        left = len(lines) - count
        report = Report(
            kind="packages", title=title, outcome=outcome, groups=grouped(lines, count, _ORDER), found=len(lines)
        )
        cut = f"{left} of {counted(len(lines), 'line')} by token_budget {envelope.token_budget}" if left else ""
        return ReportAnswer(_TOOL, report, envelope.evidence(notes=(*notes, *more), withheld=(cut,)))

    return await fit_aside(atlas, envelope.token_budget, build, len(lines))


async def lines_about_package(atlas: Atlas, node: Node) -> tuple[str, ...]:
    """Return who declares and who imports an external package, a line each; () for other nodes."""
    if node.row.label != Label.EXTERNAL_PACKAGE:
        return ()
    declared = await read_declarations(atlas.reader, node.project)
    importing = await files_importing(atlas.reader, [node.row.uid])
    said = [
        f"declared: {each.path} {declared_line(each, with_project=True, with_kind=True)}"
        for each in declared
        if each.target == node.row.uid
    ]
    return (*said, *(f"imported by {each.path}{importing_line(each)}" for each in importing))


def declared_line(
    each: Declaration, *, with_project: bool = False, with_kind: bool = False, is_short: bool = False
) -> str:
    """Return a declaration on one line: name, range, group, locked version, place."""
    package = each.name if each.is_inner else each.package or each.name
    parts = [package + (" (project of this repository)" if each.is_inner else "")]
    if each.import_name and not each.is_inner and each.import_name.lower() != package.lower().replace("-", "_"):
        parts.append(f"(import {each.import_name})")
    parts.append(each.range)
    kind = [each.kind] if with_kind and each.kind != "runtime" else []
    if kind or each.group or each.section:
        parts.append(f"[{' '.join([*kind, each.group or each.section]).strip()}]")
    if each.marker:
        parts.append(f"if {each.marker}")
    if is_short:
        pass
    elif each.locked and each.locked not in (each.range, each.range.lstrip("=")):
        parts.append(f"locked {each.locked}" + (f" ({each.lock})" if each.lock else ""))
    elif each.lock:
        parts.append(f"locked ({each.lock})")
    if with_project:
        parts.append(f"by {each.project}")
    parts.append(f":{each.line}")
    if each.also:
        parts.append(f"also {', '.join(each.also[:3])}" + (" ..." if len(each.also) > 3 else ""))
    return " ".join(part for part in parts if part)


def importing_line(each: ImportingFile) -> str:
    """Return the lines of imports in a file."""
    lines = ",".join(map(str, each.lines[:_LINES]))
    return f":{lines}{'...' if len(each.lines) > _LINES else ''}" if lines else ""


async def _import_texts(atlas: Atlas, importing: Sequence[ImportingFile]) -> dict[str, str]:
    """Return the text of the first import of each file, where few files import a package."""
    if not 0 < len(importing) <= _FEW_FILES:
        return {}
    texts = await atlas.reader.store.content(atlas.reader.project, [each.path for each in importing])
    found: dict[str, str] = {}
    for each in importing:
        lines = texts.get(each.path, b"").decode("utf-8", "replace").splitlines()
        if each.lines and each.lines[0] <= len(lines):
            text = one_line(" ".join(lines[each.lines[0] - 1].split()), _IMPORT_CHARACTERS)
            text += _taken(text, lines)
            found[each.path] = f"{text} (inside of try)" if _is_tried(lines, each.lines[0]) else text
    return found


def _taken(imported: str, lines: Sequence[str]) -> str:
    """Return what a file takes from what it imports as a whole: `typeFest.MergeExclusive` of `* as typeFest`."""
    named = _AS_WHOLE.search(imported)
    if named is None:
        return ""
    member = re.compile(rf"(?<![\w.$\"'`/@-]){re.escape(next(filter(None, named.groups())))}\.([A-Za-z_]\w*)")
    found: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if len(line) <= _LINE_CHARACTERS and not is_comment(line):
            for match in member.finditer(line):
                found.setdefault(match[1], number)
    said = ", ".join(f"{name} {number}" for name, number in [*found.items()][:_MEMBERS])
    more = f" and {len(found) - _MEMBERS} more" if len(found) > _MEMBERS else ""
    return f": takes {said}{more}" if found else ""


def _is_tried(lines: Sequence[str], number: int) -> bool:
    """Return whether the block of a line begins with `try`: an import that may fail."""
    inside = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for line in reversed(lines[: number - 1]):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < inside:
            return re.match(r"(?:\} ?)?try\b", line.lstrip()) is not None
    return False


def _said(found: PackageReport, texts: Mapping[str, str]) -> tuple[list[ReportLine], str]:
    question = found.question
    of = f" of {question.project}" if question.project else ""
    if question.asks in (PackageAspect.LIST, PackageAspect.UNUSED):
        said = _counts(found.declared) or "none declared"
        if question.asks == PackageAspect.UNUSED:
            said = f"{len(found.declared)} that no file imports" if found.declared else "none: each one is imported"
            title = f"declared packages{of}: {said}"
        else:
            wanted = " ".join(
                filter(
                    None, (" and ".join(question.kinds), question.topic, _quoted(question.groups), question.platform)
                )
            )
            wanted = f"{wanted} " if wanted else ""
            said = str(len(found.declared)) if question.kinds and found.declared else said
            said = said if found.declared or not found.every else f"{said} ({_counts(found.every)} declared)"
            if question.platform:
                free = sum(not each.marker and "cfg" not in each.group for each in found.every)
                said = f"{len(found.declared)} by their condition, {free} for every platform"
            title = f"{'tools of that kind known by name' if question.names else f'{wanted}dependencies{of}'}: {said}"
            if found.projects > 1 and not question.project:
                own = sum(not each.folder for each in found.declared)
                title += f" ({found.projects} projects; `dependencies of NAME` lists one)"
                title += f", {own or 'none'} of the root project"
        ordered = sorted(
            found.declared,
            key=lambda each: (KINDS.index(each.kind) if each.kind in KINDS else 0, bool(ASIDE.search(each.path))),
        )
        lines = [
            ReportLine(each.kind, each.path, declared_line(each, is_short=len(ordered) > _MANY)) for each in ordered
        ]
        return [*lines, *(ReportLine(*each) for each in found.beside)], title
    if not found.package:
        title = f"no package `{question.package}` is declared or imported{of}"
        return [ReportLine("near", "", name) for name in found.near], title
    # the versions that few projects have are those that somebody looks for
    common = Counter(each.range for each in found.declared)
    ordered = sorted(found.declared, key=lambda each: common[each.range]) if len(common) > 1 else found.declared
    lines = _alike(
        ReportLine("declared", each.path, declared_line(each, with_project=found.projects > 1, with_kind=True))
        for each in ordered
    )
    lines += [ReportLine("computed_by", *_parted(place, text)) for place, text in found.computed]
    shown = [each for each in found.importing if not _DOCUMENTS.match(each.path)]
    beside = [each for each in found.importing if _DOCUMENTS.match(each.path)]
    few = beside if len(beside) < _MANY_ALIKE else []
    lines += [
        ReportLine("imported_by", each.path, f"{importing_line(each)} {texts.get(each.path, '')}".rstrip())
        for each in (*shown, *few)
    ]
    if beside and not few:
        folder = os.path.commonpath([each.path for each in beside])
        lines.append(ReportLine("imported_by", "", f"{counted(len(beside), 'file')} below {folder}"))
    lines += [ReportLine(*each) for each in found.beside]
    lines += [ReportLine("near", "", name) for name in found.near]
    lines += [ReportLine("named_by", *each) for each in found.named]
    lines += [ReportLine("commands", *_parted(*each)) for each in found.commanded]
    by_word = f" (no package is named: its name is nearest, by `{question.by_word}`)" if question.by_word else ""
    return lines, f"{found.package}{by_word}: {_title(found, of)}"


def _alike(lines: Iterable[ReportLine]) -> list[ReportLine]:
    """Return the lines, those of many files that say the same as one: the manifests of examples."""
    by_text: dict[str, list[ReportLine]] = {}
    for each in lines:
        by_text.setdefault(each.text, []).append(each)
    kept: list[ReportLine] = []
    for same in by_text.values():
        if len(same) < _MANY_ALIKE:
            kept += same
            continue
        folder = os.path.commonpath([each.path for each in same])
        inside = f" below {folder}" if folder else ""
        kept.append(replace(same[0], text=f"{same[0].text}, and so {len(same) - 1} more manifests{inside}"))
    return kept


def _parted(place: str, text: str) -> tuple[str, str]:
    path, _, line = place.rpartition(":")
    return path, f":{line} {text}"


def _counts(declared: Sequence[Declaration]) -> str:
    counts = {kind: sum(each.kind == kind for each in declared) for kind in KINDS}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _quoted(groups: Sequence[str]) -> str:
    return " and ".join(f"`{group}`" for group in groups)


def _ranges(declared: Sequence[Declaration]) -> tuple[str, ...]:
    """Return the declared ranges, those of branches too; of packages that differ in them, each with its name."""
    known: dict[str, dict[str, None]] = {}
    for each in declared:
        own = known.setdefault(each.name, {})
        own.update(dict.fromkeys(other.range for other in (each, *other_places(each)) if other.range))
    said = {name: " or ".join(own) for name, own in known.items() if own}
    every = tuple(dict.fromkeys(said.values()))
    return every if len(every) < 2 else tuple(f"{name} {ranges}" for name, ranges in said.items())


def _title(found: PackageReport, of: str) -> str:
    if found.standard:
        return f"standard library ({found.standard}), imported by {counted(len(found.importing), 'file')}"
    versions = dict.fromkeys(each.locked for each in found.declared if each.locked)
    ranges = _ranges(found.declared)
    parts: list[str] = []
    if found.question.asks == PackageAspect.DEPENDS:
        kinds = ", ".join(dict.fromkeys(each.kind for each in found.declared))
        article = "an" if kinds[:1] in "aeiou" else "a"
        asked = [each for each in found.question.kinds if all(each != other.kind for other in found.declared)]
        yes = f"no {asked[0]} dependency{of}, but" if asked else "yes,"
        parts.append(
            f"{yes} {article} {kinds} dependency{'' if asked else of}" if found.declared else f"not declared{of}"
        )
    elif not found.declared and found.every:
        said = ", ".join(dict.fromkeys(each.range or each.locked or "no version" for each in found.every))
        parts.append(f"no project declares version {found.question.version}{of}; declared {said}")
    elif not found.declared:
        parts.append(f"not declared in any manifest{of}")
    elif found.question.asks == PackageAspect.VERSION:
        said = ", ".join(ranges) + (" (computed)" if found.computed else "")
        parts.append(f"declared {said}" if ranges else "declared, without a version that is a literal")
        parts.append(f"locked {', '.join(versions)}" if versions else "no lock file has it")
    else:
        version = f"version {found.question.version} " if found.question.version else ""
        of_root = any(not each.folder for each in found.declared)
        others = "" if of_root or not found.has_root else ", not by the root project"
        parts.append(
            f"{version}declared by {counted(len({each.source for each in found.declared}), 'project')}{others}"
        )
    is_inner = bool(found.declared) and all(each.is_inner for each in found.declared)
    asks_importers = found.question.asks != PackageAspect.VERSION and not found.question.version
    if found.importing or (not is_inner and asks_importers):
        of_project = " outside of it" if is_inner else ""
        lacking = f"no file, but named in code of {counted(len(found.named), 'file')}" if found.named else ""
        lacking = "no file, but a word of commands (below)" if found.commanded else lacking
        is_known = all(each.import_name or _OWN_NAME.search(each.path) for each in found.declared if not each.is_inner)
        lacking = lacking or (f"no file {_NOT_IMPORTED}" if is_known else _NO_IMPORT_KNOWN)
        said = counted(len(found.importing), "file") if found.importing else lacking
        parts.append(f"imported by {said}{of_project}")
    return "; ".join(parts)
