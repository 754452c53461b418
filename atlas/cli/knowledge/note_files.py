"""`atlas notes list`, `show`, `export`, `import` and `doctor`: the files of notes, without an index."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.code.export import opened
from atlas.cli.options import DataDirOption, JsonOption, PersonalOption, ProjectOption, examples, settings_of
from atlas.core.errors import AtlasError, ConfigError
from atlas.core.wording import counted, counts

if TYPE_CHECKING:
    from atlas.knowledge.notes.doctor import Examination
    from atlas.knowledge.notes.exporting import ExportReport
    from atlas.knowledge.notes.folder import KnowledgeFolder
    from atlas.knowledge.notes.importing.items import ImportReport
    from atlas.knowledge.notes.listing import FoundNote
    from atlas.knowledge.notes.notebook import Notebook
    from atlas.runtime.config.load import Settings

SHOWN = 50
"""Notes and problems that are printed unless more are asked for."""

KindOption = Annotated[str, typer.Option("--kind", metavar="KIND", help="claim, decision or entity.")]

EXAMPLES = {
    "list": examples(
        "atlas notes list", "atlas notes list --kind decision --status accepted", "atlas notes list --text cache"
    ),
    "show": examples("atlas notes show c-01JD2V9Q7K4M8N3P5R6S7T8V9A", 'atlas notes show "Billing team"'),
    "export": examples("atlas notes export > notes.jsonld", "atlas notes export --format graphml -o notes.graphml"),
    "import": examples(
        "atlas notes import old/ --dry-run",
        "atlas notes import units.csv relations.json",
        "atlas notes import memory.jsonl",
        "atlas notes import docs/adr --kind decision",
    ),
    "doctor": examples("atlas notes doctor", "atlas notes doctor --fix --json"),
}


def register(family: typer.Typer) -> None:
    """Add the commands to `atlas notes`."""
    for name, command in (
        ("list", list_notes),
        ("show", show),
        ("export", export),
        ("import", import_files),
        ("doctor", doctor),
    ):
        family.command(name, epilog=EXAMPLES[name])(command)


def list_notes(
    kind: KindOption = "",
    status: Annotated[
        str, typer.Option("--status", metavar="STATUS", help="proposed, accepted, disputed, retracted or superseded.")
    ] = "",
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="Only files with this text, in any case.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, metavar="N", help="Number of notes; 0 = all.")] = SHOWN,
    personal: PersonalOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """List notes in the order of their paths. Reads the files: no index is needed."""
    from atlas.knowledge.notes.checks import check_status
    from atlas.knowledge.notes.listing import notes

    folder = folder_of(notes_settings(project, data_dir, personal=personal))
    _check_kind(kind)
    if status:
        check_status(status)
    shown: list[FoundNote] = []
    total = 0
    for found in notes(folder, kind, status, text):
        total += 1
        if not limit or len(shown) < limit:
            shown.append(found)
    if json:
        output.print_json({"folder": folder.path, "total": total, "notes": [_line(one) for one in shown]})
        return
    if not total:
        print(f"no notes in {output.one_line(str(folder.root / folder.path))}")
        return
    columns = ("id", "kind", "status", "confidence", "name", "path")
    rows = ([one.note.id, *(_line(one)[name] for name in columns[1:])] for one in shown)
    output.console().print(output.table(columns, rows))
    more = f"; {total - len(shown):,} more: --limit 0" if total > len(shown) else ""
    print(f"{counted(total, 'note', ',')}{more}")


def show(
    name: Annotated[str, typer.Argument(metavar="NOTE", help="Id, path, or name or alias of an entity.")],
    personal: PersonalOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show the file of a note and what relates to it. Reads the files: no index is needed."""
    from atlas.knowledge.notes.documents import to_document
    from atlas.knowledge.notes.listing import find_note, notes

    folder = folder_of(notes_settings(project, data_dir, personal=personal))
    found = find_note(folder, name)
    naming = list(notes(folder, text=found.note.id))
    related = [
        {"from": one.note.id, "type": relation.type, "reasoning": relation.reasoning, "path": one.path}
        for one in naming
        for relation in one.note.relations
        if relation.to == found.note.id
    ]
    problems = [{"line": one.line, "code": one.code, "message": one.message} for one in found.note.problems]
    twins = [one.path for one in naming if one.note.id == found.note.id and one.path != found.path]
    problems += [{"line": 1, "code": "note-duplicate-id", "message": f"{path} has this id, too"} for path in twins]
    if json:
        document = to_document(found, folder.path)
        output.print_json({**document, "path": _printable(found.path), "related": related, "problems": problems})
        return
    print(output.one_line(found.path))
    print(output.plain(found.data.decode("utf-8", "replace")).rstrip("\n"))
    for one in related:
        reason = f": {one['reasoning']}" if one["reasoning"] else ""
        print(output.one_line(f"<- {one['type']} {one['from']}{reason}"))
    for problem in problems:
        print(output.one_line(f"line {problem['line']}: {problem['message']}"), file=sys.stderr)


def export(
    form: Annotated[str, typer.Option("--format", metavar="jsonld|json|graphml", help="Output format.")] = "jsonld",
    target: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Default: standard output.")] = "",
    personal: PersonalOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON; needs --output.")] = False,
) -> None:
    """Write all notes. JSON-LD and JSON can be imported again and give the same files.

    Files that are no notes are left out and named on standard error; the exit code is then 1.
    """
    from atlas.cli.code.index_pass import progress_shown
    from atlas.knowledge.notes.exporting import ExportReport, NoteFormat, export_lines

    folder = folder_of(notes_settings(project, data_dir, personal=personal))
    if form not in tuple(NoteFormat):
        raise ConfigError(f"unknown format {form!r}", f"Use one of: {', '.join(NoteFormat)}.")
    if json and not target:
        raise ConfigError("--json needs --output", "The notes themselves go to standard output: use --format json.")
    report = ExportReport()
    with progress_shown() as progress, opened(target) if target else nullcontext(sys.stdout) as file:
        for line in export_lines(folder, NoteFormat(form), report):
            file.write(f"{output.plain(line) if file.isatty() else line}\n")
            if target:
                progress("export", report.notes, 0)
    _end_export(report, target, form, json=json)


def import_files(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files and folders: .json, .jsonl, .jsonld, .csv, .md.")
    ],
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="Kind of what does not say it: claim, decision or entity.")
    ] = "",
    origin: Annotated[
        str, typer.Option("--origin", metavar="NAME", help="Name of the source if its ids could equal another one's.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be added.")] = False,
    personal: PersonalOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Import claims, memories and Markdown files of other programs, or an export. Repeating it adds nothing.

    What cannot be imported is named with file and line; the exit code is then 1.
    """
    from atlas.cli.code.index_pass import progress_shown
    from atlas.knowledge.notes.importing.run import import_notes

    book = book_of(notes_settings(project, data_dir, personal=personal), writes=not dry_run)
    with progress_shown() as progress:
        report = import_notes(
            book, paths, kind, origin, dry_run=dry_run, progress=lambda done, total: progress("import", done, total)
        )
    _end_import(report, json=json)


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Remove drafts that interrupted writes left an hour ago.")] = False,
    personal: PersonalOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Find problems of note files: unreadable ones, contradictions, cycles, dangling relations, secrets.

    Exits with 1 if there are any.
    """
    from atlas.knowledge.notes.doctor import examine

    folder = folder_of(notes_settings(project, data_dir, personal=personal))
    done = examine(folder, fix=fix)
    if json:
        problems = [
            {"path": _printable(one.path), "line": one.line, "code": one.code, "message": one.message, "fix": one.fix}
            for one in done.findings
        ]
        removed = [_printable(one) for one in done.removed]
        output.print_json({"notes": done.notes, "problems": problems, "removed": removed})
    else:
        _print_problems(done)
    if done.findings:
        raise typer.Exit(AtlasError.exit_code)


def notes_settings(project: str, data_dir: str, *, personal: bool) -> Settings:
    """Return the settings of the project, or those of the user's own notes. Raises ConfigError."""
    settings = settings_of(project, data_dir)
    if not personal:
        return settings
    from atlas.runtime.config.load import personal_settings

    return personal_settings(settings)


def folder_of(settings: Settings) -> KnowledgeFolder:
    """Return the knowledge folder, which need not exist. Raises ConfigError."""
    from atlas.knowledge.notes.folder import KnowledgeFolder

    return KnowledgeFolder(settings.root, settings.knowledge.folder, settings.data_dir)


def book_of(settings: Settings, *, writes: bool) -> Notebook:
    """Return the knowledge folder for writing, as the command line. Raises ConfigError for an unusable data folder."""
    from atlas.adapters.opening.data_folder import prepare_data_folder
    from atlas.cli.run import CLIENT
    from atlas.knowledge.notes.ids import IdSource
    from atlas.knowledge.notes.notebook import Notebook
    from atlas.runtime.process.files import make_private_folder

    if writes:
        try:
            if not settings.root.exists():
                make_private_folder(settings.root)
        except OSError as error:
            raise ConfigError(f"cannot create {settings.root}: {error.strerror}", "Check the folder above.") from error
        prepare_data_folder(settings)
    return Notebook(folder_of(settings), IdSource(), settings.data_dir, CLIENT)


def _end_export(report: ExportReport, target: str, form: str, *, json: bool) -> None:
    """Print what an export has not written as it is; exits with 1 if there is any."""
    others = [*report.left_out, *report.changed]
    if json:
        output.print_json(
            {
                "output": target,
                "format": form,
                "notes": report.notes,
                "left_out": [{"path": _printable(path), "reason": why} for path, why in report.left_out],
                "changed": [{"path": _printable(path), "reason": why} for path, why in report.changed],
            }
        )
    else:
        for path, why in others[:SHOWN]:
            print(output.one_line(f"{_printable(path)}: {why}"), file=sys.stderr)
        if others:
            hint = "`atlas notes doctor` names the problems"
            print(f"{counted(len(others), 'file')} left out or changed; {hint}", file=sys.stderr)
    if others:
        raise typer.Exit(AtlasError.exit_code)


def _end_import(report: ImportReport, *, json: bool) -> None:
    """Print what an import has added and what not; exits with 1 if something could not be imported."""
    if json:
        problems = [
            {"path": one.place.file, "line": one.place.line, "message": one.message, "hint": one.hint}
            for one in report.problems
        ]
        summary = {"added": report.added, "present": report.present, "refused": report.refused}
        summary["left_out"] = report.left_out
        output.print_json({**summary, "dry_run": report.dry_run, "problems": problems})
    else:
        for one in report.problems[:SHOWN]:
            print(output.one_line(f"{one.place}: {one.message}. {one.hint}"), file=sys.stderr)
        if report.refused > SHOWN:
            print(f"... {report.refused - min(len(report.problems), SHOWN):,} more: --json", file=sys.stderr)
        added = counts(*((number, kind) for kind, number in report.added.items())) or "nothing"
        print(f"{'would add' if report.dry_run else 'added'} {added}; {report.present:,} there already")
        if report.left_out:
            endings = ", ".join(f"{count:,} {ending}" for ending, count in sorted(report.left_out.items()))
            print(f"files left out: {endings}", file=sys.stderr)
        if report.refused:
            print(f"{counted(report.refused, 'row', ',')} not imported", file=sys.stderr)
    if report.refused:
        raise typer.Exit(AtlasError.exit_code)


def _print_problems(done: Examination) -> None:
    for one in done.findings:
        place = f"{_printable(one.path)}:{one.line}" if one.line else _printable(one.path)
        print(output.one_line(f"{place}: {one.code}: {one.message}. {one.fix}"))
    for path in done.removed:
        print(output.one_line(f"removed {_printable(path)}"))
    problems = counted(len(done.findings), "problem", ",") if done.findings else "no problems"
    print(f"{counted(done.notes, 'note', ',')}, {problems}")


def _line(found: FoundNote) -> dict[str, object]:
    note = found.note
    return {
        "id": note.id,
        "kind": note.kind,
        "status": note.status,
        "confidence": note.confidence,
        "name": note.name,
        "path": _printable(found.path),
        "observations": len(note.observations),
        "relations": len(note.relations),
    }


def _check_kind(kind: str) -> None:
    from atlas.code.notes.note import KINDS

    if kind and kind not in KINDS:
        raise ConfigError(f"unknown kind {kind!r}", f"Use one of: {', '.join(KINDS)}.")


def _printable(path: str) -> str:
    """Return a path without bytes that are not UTF-8."""
    return path.encode("utf-8", "backslashreplace").decode()
