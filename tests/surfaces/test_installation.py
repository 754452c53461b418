"""What a new user meets first: help, version, manual page, doctor, and errors that name an extra."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer.main

from atlas import __version__
from atlas.cli.app import create_app, create_help_app
from atlas.cli.manual import manual_page
from atlas.cli.summaries import SUMMARIES
from atlas.runtime.process import extras

from .processes import REPOSITORY, atlas, environment


def commands_of(app: typer.Typer) -> dict[str, str]:
    found = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return {name: " ".join((one.help or "").split("\n\n")[0].split()) for name, one in found.items() if not one.hidden}


def test_the_overview_says_what_the_commands_say() -> None:
    full = commands_of(create_app())
    full.pop("bench", None)  # of a distribution of its own
    assert full == dict(SUMMARIES)
    assert list(full) == list(SUMMARIES)
    overview = commands_of(create_help_app())
    overview.pop("bench", None)
    assert overview == full


def test_help_imports_no_command() -> None:
    code = (
        "import sys; sys.argv = ['atlas', '--help']\n"
        "from atlas.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('atlas.') and not name.startswith('atlas.cli')])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, env=environment())
    loaded = done.stdout.splitlines()[-1]
    for room in ("atlas.app", "atlas.code", "atlas.packs", "atlas.adapters"):
        assert f"'{room}'" not in loaded
    assert "  connect " in done.stdout


def test_version_for_people_and_for_programs() -> None:
    assert atlas("--version").stdout == f"atlas {__version__}\n"
    for words in (("--version", "--json"), ("--json", "--version")):
        document = json.loads(atlas(*words).stdout)
        assert (document["version"], document["executable"]) == (__version__, sys.executable)


def test_doctor_names_what_is_missing_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    done = atlas("doctor", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["broken"] == []
    assert {one["name"] for one in document["extras"]} == set(extras.PURPOSES)
    stated = ["arxiv-that-is-not-there>=4.0,<5 ; extra == 'papers'", "typer>=0.1; extra == 'papers'", "other>=1"]
    monkeypatch.setattr(extras.metadata, "requires", lambda _: stated)
    (papers,) = [one for one in extras.extra_states() if one.name == "papers"]
    assert papers.missing == ("arxiv-that-is-not-there>=4.0,<5",)
    assert papers.command == f"{sys.executable} -m pip install 'arxiv-that-is-not-there>=4.0,<5'"


def test_every_extra_has_a_purpose_and_a_hint_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    document = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    stated = document["project"]["optional-dependencies"]
    assert set(extras.PURPOSES) == set(stated)
    built = [f"{one}; extra == '{name}'" for name, wanted in stated.items() for one in wanted]
    monkeypatch.setattr(extras.metadata, "requires", lambda _: built)
    for name, wanted in stated.items():
        hint = extras.how_to_install(name)
        assert f"code-atlas[{name}]" in hint
        assert all(requirement in hint for requirement in wanted), hint


WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


def test_the_main_job_needs_no_extra_and_other_commands_name_theirs(tmp_path: Path) -> None:
    modules = {*extras.MODULES, "litellm", "onnxruntime", "tokenizers", "pypdf", "pygls", "arxiv", "prompt_toolkit"}
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text(WITHOUT.replace("{modules!r}", repr(modules)))
    root = tmp_path / "p"
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return f()\n")
    env = {"PYTHONPATH": f"{blocked}:{REPOSITORY}", "XDG_DATA_HOME": str(tmp_path / "share")}
    place = ["--project", str(root), "--data-dir", str(tmp_path / "data")]
    for words in (["index"], ["search", "callers of f"], ["context", "f"], ["impact", "f"], ["status"], ["health"]):
        done = atlas(*words, *place, env=env)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    far = atlas("search", "f", *place, env={**env, "ATLAS_STORE_URL": "bolt://127.0.0.1:1"})
    assert far.returncode == 2
    assert "code-atlas[servers]" in far.stderr
    editor = atlas("lsp", *place, env=env)
    assert editor.returncode == 2
    assert "code-atlas[lsp]" in editor.stderr
    page = tmp_path / "page.html"
    page.write_text("<html><body><h1>Title</h1><p>Words of a page.</p></body></html>")
    built = atlas("pack", "build", "one", "--from", str(page), "--output", str(tmp_path / "one"), env=env)
    assert "code-atlas[packs]" in built.stdout + built.stderr


def test_the_manual_page_has_every_command_and_option() -> None:
    page = manual_page()
    for name in SUMMARIES:
        assert f".SS atlas {name}".replace("-", r"\-") in page
    assert r"\fB\-\-portable\fR" in page
    assert r"\-\-project\fR PATH" in page
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".B"}
    if shutil.which("man"):
        shown = subprocess.run(["man", "-l", "-"], input=page, capture_output=True, text=True)
        assert shown.returncode == 0, shown.stderr


def test_a_shell_completes_commands() -> None:
    script = Path(sys.executable).with_name("atlas")
    if not script.exists():
        pytest.skip("completion is that of the installed script")
    asked = environment(_ATLAS_COMPLETE="complete_bash", COMP_WORDS="atlas conn", COMP_CWORD="1")
    done = subprocess.run([script], capture_output=True, text=True, timeout=60, env=asked)
    assert done.stdout.split() == ["connect"]


@pytest.mark.slow
def test_help_starts_quickly() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    atlas("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"atlas --help: {seconds:.2f} CPU s")
    assert seconds < 0.6, "0.14 on an idle machine; four times that on a busy one"


def test_no_page_installs_from_an_index_that_has_no_package() -> None:
    """`published` in pyproject.toml says whether it is there; the release workflow demands that it does."""
    is_published = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["code-atlas"]["published"]
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), REPOSITORY / "atlas.toml.example"]
    named = [
        path.name
        for path in pages
        if path.name != "CHANGELOG.md" and re.search(r"pip install ['\"]?code-atlas\b", path.read_text())
    ]
    assert bool(named) == is_published, named
    assert "check_sdist dist --build --tag" in (REPOSITORY / ".github/workflows/release.yml").read_text()


def test_the_demonstration_is_what_make_runs(tmp_path: Path) -> None:
    """A failure shows the end of the log and where the rest is; nothing is built here."""
    make = tmp_path / "make"
    make.write_text("#!/bin/sh\necho building\necho 'error: no compiler'\nexit 2\n")
    make.chmod(0o755)
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "benchmarks/demonstration.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(MAKE=str(make)),
    )
    assert done.returncode == 1
    assert "FAILED" in done.stdout
    assert "error: no compiler" in done.stdout
    assert ".demo/run.log" in done.stdout
    text = (REPOSITORY / "Makefile").read_text()
    assert "$(PYTHON) benchmarks/demonstration.py" in text


def test_a_python_that_is_too_old_is_named() -> None:
    """A checkout can be run by any Python; an extension for a newer one fails in words that help nobody."""
    old = "import sys; sys.version_info = (3, 10, 13); sys.argv = ['{}', 'index']; import atlas"
    for first, said in (("-m", "error: "), ("script.py", "ImportError: ")):
        code = [sys.executable, "-P", "-c", old.format(first)]
        done = subprocess.run(code, capture_output=True, text=True, env=environment())
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert last == f"{said}Code Atlas needs Python 3.11 or newer, and this is 3.10 ({sys.executable})"
        assert first != "-m" or done.stderr.count("\n") == 1
