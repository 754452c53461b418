"""`atlas pack`: every command over one small documentation, as its entry point runs it."""

from __future__ import annotations

import asyncio
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas.cli import main
from atlas.packs.documentation.pack.folder import load_manifest
from atlas.packs.documentation.pack.skill import skill_name
from atlas.packs.questions.questions import FEW_SHOT, read_questions
from tests.surfaces.test_notes_cli import Done, Run
from tests.surfaces.test_tools_impact import indexed

from .library import DOCUMENTATION, OUTDATED, PROJECT, write_tree
from .test_reranker import rerank_server

OPTIONS = ("--version", "2.0", "--library", "widget", "--ecosystem", "python")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with documentation, a project, and the folder of installed packs."""
    folder = tmp_path_factory.mktemp("commands")
    write_tree(folder / "docs", DOCUMENTATION)
    write_tree(folder / "shop", PROJECT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATLAS_PACKS", str(folder / "packs"))
        patch.chdir(folder)
        patch.setattr("sys.argv", ["atlas", "pack", "build", "widget", "--from", "docs", *OPTIONS])
        assert main._run() == 0  # type: ignore[reportPrivateUsage]
        yield folder


@pytest.fixture
def run(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `atlas pack` in this process, in the folder of the documentation."""

    def run(*arguments: str) -> Done:
        monkeypatch.setattr("sys.argv", ["atlas", "pack", *arguments])
        code = main._run()  # type: ignore[reportPrivateUsage]
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return Done(code, shown.out, shown.err)

    return run


def test_a_dry_run_names_what_would_be_read(run: Run, place: Path) -> None:
    found = run("build", "other", "--from", "docs", "--dry-run")
    assert (found.code, sorted(found.out.split())) == (0, sorted(DOCUMENTATION))
    assert not (place / "packs" / "other").exists()


def test_a_dry_run_says_that_it_downloads_no_archive(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    for source in ("pypi:widget==2.0", "npm:widget@2.0.0", "crate:widget@2.0.0", "crate:widget"):
        found = run("build", "other", "--from", source, "--dry-run")
        assert (found.code, found.out) == (0, "")
        assert found.err == f"{source}: a dry run does not download the archive, so its documents are not known\n"
        document = run("build", "other", "--from", source, "--dry-run", "--json").json["documents"]
        assert [one["is_archive"] for one in document] == [True]
    kept = tmp_path / "registry" / "cache" / "index" / "widget-2.0.0.crate"
    kept.parent.mkdir(parents=True)
    write_tree(tmp_path / "widget-2.0.0", {"Cargo.toml": "[package]\n", "README.md": "# Widget\n\nTurns.\n"})
    with tarfile.open(kept, "w:gz") as archive:
        archive.add(tmp_path / "widget-2.0.0", "widget-2.0.0")
    found = run("build", "other", "--from", "crate:widget@2.0.0", "--dry-run")
    assert found.out == "README.md\n"
    assert "1 document would be read" in found.err


def test_the_summary_of_one_of_each_is_singular(run: Run, place: Path, tmp_path: Path) -> None:
    write_tree(tmp_path / "one", {"page.md": "# Lever\n\nTurn the lever.\n"})
    built = run("build", "lever", "--from", str(tmp_path / "one"), "--version", "1", "-o", str(tmp_path / "lever"))
    assert built.code == 0
    first = built.out.splitlines()[0]
    assert first.startswith("lever 1: 1 article, 1 section, "), first
    assert re.findall(r"\b1 (?:articles|sections|entities|facts)\b", built.out) == []
    counts = load_manifest(tmp_path / "lever").counts
    page = (tmp_path / "lever" / "skill.md").read_text()
    assert (counts["Article"], counts["Section"]) == (1, 1) and "with 1 article, 1 section, " in page


def test_a_pack_is_not_replaced_unasked(run: Run) -> None:
    refused = run("build", "widget", "--from", "docs", *OPTIONS)
    assert refused.code == 2
    assert "--replace" in refused.err
    assert run("build", "nothing", "--from", "no-such-folder").code == 2


def test_a_name_that_is_none_and_an_empty_question_are_wrong_arguments(run: Run) -> None:
    for arguments in (("Bad/Name",), ("widget", "--version", "a/b"), ("Bad/Name", "--dry-run")):
        refused = run("build", *arguments, "--from", "docs")
        assert (refused.code, "is not a pack " in refused.err) == (2, True)
    for question in ("", " \n"):
        refused = run("query", "widget", question)
        assert (refused.code, "the question is empty" in refused.err) == (2, True)


def test_list_and_info_describe_the_pack(run: Run, place: Path) -> None:
    (listed,) = run("list", "--json").json["packs"]
    assert listed["manifest"]["counts"]["Article"] == len(DOCUMENTATION)
    assert "widget" in run("list").out
    told = run("info", "widget", "--json").json
    assert (told["folder"], told["library"], told["version"]) == (str(place / "packs/widget/2.0"), "widget", "2.0")
    assert "docs" in run("info", "widget@2.0").out
    unknown = run("info", "gadget")
    assert (unknown.code != 0, "no pack gadget" in unknown.err) == (True, True)


def test_an_unknown_pack_has_only_similar_names_near(run: Run) -> None:
    assert "near:  widget" in run("info", "wigdet").err
    assert "near" not in run("info", "nosuch").err


def test_query_answers_with_sources_and_refuses(run: Run) -> None:
    found = run("query", "widget", "What is the default of SPIN_TIMEOUT?")
    assert found.code == 0
    assert found.out.count("Default: `30`. [1]") == 1
    document = run("query", "widget", "What is the default of SPIN_TIMEOUT?", "--json", "--no-model").json
    assert document["sources"][0]["article"] == "settings.md"
    assert "stages" not in document
    explained = run("query", "widget", "What is the default of SPIN_TIMEOUT?", "--explain")
    assert "cross-encoder" in explained.out
    assert run("query", "widget", "How do I deploy a Helm chart to Kubernetes?").code == 3
    sections = run("search", "seconds of a turn", "--pack", "widget", "-n", "1")
    assert "settings.md#timeouts" in sections.out and "1 section" in sections.out
    assert "At most 120 seconds" in run("article", "settings.md#timeouts").out


def test_the_pack_stands_in_front_or_behind_an_option(run: Run) -> None:
    behind = run("search", "seconds of a turn", "--pack", "widget", "-n", "1")
    assert run("search", "widget", "seconds of a turn", "-n", "1").out == behind.out
    assert "At most 120 seconds" in run("article", "widget", "settings.md#timeouts").out
    unknown = run("search", "wigdet", "seconds of a turn")
    assert unknown.code == 3 and "near:  widget" in unknown.err
    for words in (("seconds", "of", "a", "turn"), ("widget", "turn", "--pack", "widget")):
        many = run("search", *words)
        assert many.code == 2 and "atlas pack search" in many.err and "quotes" in many.err
    loose = run("article", "Time", "outs")
    assert loose.code == 3 and "quotes" in loose.err


def test_an_article_is_near_by_the_stem_or_the_beginning_of_its_name(run: Run) -> None:
    for name, key in (("guide", "guide.md"), ("Widget gui", "guide.md"), ("settin", "settings.md")):
        missed = run("article", name, "--pack", "widget")
        assert missed.code == 3 and f"near:  {key}" in missed.err
    assert "near:" not in run("article", "nosuchthing", "--pack", "widget").err


def test_the_graph_of_a_pack_answers_cypher(run: Run) -> None:
    query = "MATCH (f:Fact {kind: 'default'}) RETURN f.subject, f.value"
    found = run("cypher", "widget", query)
    assert found.code == 0 and found.out.splitlines()[0] == "f.subject | f.value" and " | 30" in found.out
    document = run("cypher", "widget", query, "-n", "1", "--json").json
    assert document["columns"] == ["f.subject", "f.value"] and len(document["rows"]) == 1
    wrong = run("cypher", "widget", "MATCH (f:Facts) RETURN f")
    assert wrong.code == 4 and "earest: Fact" in wrong.err
    assert run("cypher", "widget", "CREATE (f:Fact)").code == 4
    assert run("article", "no such page", "--pack", "widget").code == 3


def test_a_reranker_of_the_settings_orders_the_sections(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = ("query", "widget", "How does one turn a widget?", "--profile", "maximum", "--json", "--explain")
    with rerank_server(None) as (url, asked):
        monkeypatch.setenv("ATLAS_PACKS_RERANKER_URL", f"{url}/")
        found = run(*question).json
        assert [each["path"] for each in asked] == ["/rerank"]
        assert asked[0]["query"] == "How does one turn a widget?"
        stages = {stage["name"]: stage["state"] for stage in found["stages"]}
        assert stages["cross-encoder"] == "on"
        run(*question, "--no-model")
        assert len(asked) == 1
    down = run(*question)
    assert "cross-encoder did not answer" in " ".join(down.json["notes"])
    monkeypatch.setenv("ATLAS_PACKS_RERANKER_URL", "http://user:secret@127.0.0.1:1")
    refused = run(*question)
    assert refused.code != 0
    assert "secret" not in refused.out + refused.err
    monkeypatch.delenv("ATLAS_PACKS_RERANKER_URL")
    shared = write_tree(tmp_path, {"atlas.toml": "[packs]\nreranker_url = 'http://127.0.0.1:1'\n"})
    answered = run(*question, "--project", str(shared))
    assert answered.code == 0
    assert "cannot be set by a project" in answered.err
    assert "cross-encoder did not answer" not in answered.out


def test_verify_finds_a_damaged_file(run: Run, place: Path) -> None:
    assert run("verify", "widget").code == 0
    file = place / "packs" / "widget" / "2.0" / "skill.md"
    text = file.read_text()
    file.write_text(text + "more")
    try:
        found = run("verify", "widget", "--json")
        assert (found.code, found.json["problems"]) == (5, ["skill.md differs from its checksum"])
    finally:
        file.write_text(text)


def test_update_and_diff_name_what_has_changed(run: Run, place: Path, tmp_path: Path) -> None:
    assert run("update", "widget", "--json").json["added"] == []
    assert "no article differs" in run("update", "widget").out
    old = tmp_path / "old"
    assert run("build", "widget", "--from", "docs", *OPTIONS, "--output", str(old)).code == 0
    page = place / "docs" / "more.md"
    page.write_text("# More\n\n## Stopping\n\n`STOP_TIMEOUT` is the number of seconds. Default: `9`.\n")
    try:
        assert run("update", "widget", "--json").json["added"] == ["more.md"]
        assert run("diff", str(old), "widget", "--json").json["added"] == ["more.md"]
        assert "more.md" in run("diff", str(old), "widget").out
    finally:
        page.unlink()
    assert run("update", "widget", "--json").json["removed"] == ["more.md"]


def test_export_remove_and_install(run: Run, place: Path, tmp_path: Path) -> None:
    archive = tmp_path / "widget.tar.zst"
    assert run("export", "widget", "--output", str(archive), "--json").json["bytes"] == archive.stat().st_size
    folder = place / "packs" / "widget" / "2.0"
    assert run("remove", "widget", "--dry-run").code == 0
    assert folder.exists()
    assert run("remove", "widget").code == 0
    assert not folder.exists()
    assert run("install", str(archive), "--dry-run").code == 0
    assert not folder.exists()
    assert run("install", str(archive)).code == 0
    assert run("install", str(archive)).code != 0
    assert run("install", str(archive), "--replace").code == 0
    assert run("verify", "widget").code == 0


def test_two_places_give_the_same_bytes(run: Run, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []
    for name in ("here", "there"):
        write_tree(tmp_path / name / "docs", DOCUMENTATION)
        monkeypatch.chdir(tmp_path / name)
        assert run("build", "widget", "--from", "docs", *OPTIONS, "--output", "pack").code == 0
        folders.append(tmp_path / name / "pack")
    first, second = (load_manifest(folder) for folder in folders)
    assert first.files == second.files
    for folder in folders:
        assert str(tmp_path) not in (folder / "manifest.json").read_text()
    # the machine that built it updates it from any folder
    monkeypatch.chdir(place)
    (tmp_path / "here" / "docs" / "guide.md").unlink()
    assert run("update", str(folders[0]), "--json").json["removed"] == ["guide.md"]
    assert run("verify", str(folders[0])).code == 0


def test_deprecated_names_the_uses_of_outdated_apis(run: Run, place: Path, tmp_path: Path) -> None:
    asyncio.run(indexed(place / "shop", tmp_path / "data"))
    places = ("--project", str(place / "shop"), "--data-dir", str(tmp_path / "data"))
    uses = run("deprecated", "--json", *places)
    found = {(one["symbol"], one["line"]): one["state"] for one in uses.json["uses"]}
    assert found == OUTDATED
    halt = next(one for one in uses.json["uses"] if one["symbol"] == "widget.halt")
    assert halt["evidence"] == "The `widget.halt()` function was removed in version 2.1."
    assert (halt["user"], halt["path"], halt["pack"]) == ("app.run", "app.py", "widget@2.0")


def test_eval_asks_held_out_questions_and_foreign_ones(run: Run, place: Path, tmp_path: Path) -> None:
    asked = read_questions((place / "packs/widget/2.0/eval/questions.jsonl").read_text())
    held_out = {one.id for one in asked if one.split != FEW_SHOT}
    assert 0 < len(held_out) < len(asked)
    found = run("eval", "widget", "--json", "--output", str(tmp_path)).json
    outcomes = [one for one in found["outcomes"] if one["profile"] == "balanced"]
    assert {one["id"] for one in outcomes if one["kind"] != "foreign"} == held_out
    assert sum(one["kind"] == "foreign" for one in outcomes) == 30
    summary = next(one for one in found["summaries"] if (one["profile"], one["kind"]) == ("balanced", "all"))
    assert summary["refused_unanswerable"] >= 0.5
    assert summary["gate_precision"] is not None


def test_what_people_edit_stays(run: Run, place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "edited"
    page = place / "docs" / "more.md"
    assert run("build", "widget", "--from", "docs", *OPTIONS, "--output", str(folder)).code == 0
    config, questions = folder / "kg_config.json", folder / "eval" / "questions.jsonl"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"pipeline": {"limit": 1, "centrality": False}}))
    own = {"id": "mine", "question": "How do I turn?", "gold": [{"article": "guide.md"}], "fact": "spin"}
    questions.write_text(questions.read_text() + json.dumps(own) + "\n")
    verified = run("verify", str(folder), "--json")
    assert (verified.code, verified.json["edited"]) == (0, ["eval/questions.jsonl", "kg_config.json"])
    page.write_text("# More\n\n## Stopping\n\nIt stops.\n")
    try:
        assert run("update", str(folder), "--json").json["added"] == ["more.md"]
    finally:
        page.unlink()
    assert "mine" in {one.id for one in read_questions(questions.read_text())}
    answer = run("query", str(folder), "How do I turn a widget?", "--json", "--explain").json
    assert len(answer["sources"]) == 1
    assert next(one["state"] for one in answer["stages"] if one["name"] == "centrality") == "off"
    config.write_text(json.dumps({"pipeline": {"limit": 2, "centralty": False, "gate": "no"}}))
    archive = tmp_path / "edited.tar.zst"
    assert run("export", str(folder), "--output", str(archive)).code == 0
    assert run("install", str(archive), "--replace").code == 0
    assert run("verify", "widget", "--json").json == {
        "folder": str(place / "packs/widget/2.0"), "problems": [], "edited": []
    }  # fmt: skip
    answer = run("query", "widget", "How do I turn a widget?", "--json").json
    assert [note.partition(":")[2][:24] for note in answer["notes"]] == [
        " there is no stage 'cent",
        " gate must be of the typ",
    ]
    (place / "packs/widget/2.0/kg_config.json").write_text("{broken")
    assert "no JSON object" in run("query", "widget", "How do I turn a widget?").err


def test_a_skill_is_written_where_a_client_looks(run: Run, tmp_path: Path) -> None:
    shown = run("skill", "widget").out
    assert "name: widget-docs" in shown
    assert run("skill", "widget", "--output", str(tmp_path / "skills")).code == 0
    assert (tmp_path / "skills" / "widget-docs" / "SKILL.md").read_text().strip() == shown.strip()
    assert skill_name("My.pack_2") == "my-pack-2-docs"
