"""A project's own rules for routes and events change: what they concern is read again, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.app.main import make_tree_check, open_atlas
from atlas.runtime.config.load import load_settings
from tests.pipeline.polyglot import RULES
from tests.pipeline.test_daemon_run import project, running, until
from tests.pipeline.trees import dump, index, write_tree

RULES_FILE = ".atlas/detectors.toml"
FILES = {
    "orders.py": '@consumer("orders")\ndef on_order(message):\n    return 1\n',
    "mails.py": '@subscriber("mails")\ndef on_mail(message):\n    return 1\n',
    "other.py": "def plain():\n    return 1\n",
    "ui.ts": "export function draw() { consumer(1); }\n",
}
OTHER_RULES = RULES.replace("consumer", "subscriber")


def events(data: Path) -> set[str]:
    return {str(edge[0]).partition(":")[2] for edge in dump(data)["edges"] if edge[2] == "HANDLES_EVENT"}


@pytest.mark.parametrize(
    ("rules", "handlers", "parsed"),
    [
        (RULES, {"orders.on_order"}, 1),
        (OTHER_RULES, {"mails.on_mail"}, 2),
        (f"# A comment changes nothing.\n{OTHER_RULES}", {"mails.on_mail"}, 0),
        ("languages = [", set[str](), 1),
        (None, set[str](), 0),
    ],
)
async def test_a_pass_reads_only_what_the_rules_concern(
    tmp_path: Path, rules: str | None, handlers: set[str], parsed: int
) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    steps = [RULES, OTHER_RULES, f"# A comment changes nothing.\n{OTHER_RULES}", "languages = [", None]
    write_tree(root, FILES)
    await index(root, data)
    summary = None
    for step in steps[: steps.index(rules) + 1]:
        put_rules(root, step)
        summary = await index(root, data)
    assert summary is not None
    assert (events(data), summary.parsed) == (handlers, parsed)
    await index(root, tmp_path / "fresh")
    assert dump(data) == dump(tmp_path / "fresh")


async def test_facts_of_an_interrupted_pass_with_other_rules_are_not_used(tmp_path: Path) -> None:
    """The cache holds facts that other rules made, as after a killed pass; the index has the first ones again."""
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, FILES)
    await index(root, data)
    before = dump(data)
    kept = (data / "atlas.db").read_bytes()
    put_rules(root, RULES)
    await index(root, data)
    (data / "atlas.db").write_bytes(kept)
    put_rules(root, None)
    (root / "other.py").write_text("def other():\n    return 2\n")
    await index(root, data)
    await index(root, tmp_path / "fresh")
    assert dump(data) == dump(tmp_path / "fresh")
    assert not events(data)
    assert before["edges"] != []


async def test_a_running_daemon_follows_the_rules(tmp_path: Path) -> None:
    """Also where their folder appears, is replaced, and goes."""
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, FILES)
    async with running(root, data) as (daemon, _, _):
        await until(lambda: project(daemon)["parsed"] == len(FILES))
        for rules, handlers in ((RULES, {"orders.on_order"}), (OTHER_RULES, {"mails.on_mail"}), (None, set[str]())):
            parsed = int(str(project(daemon)["parsed"]))
            put_rules(root, rules)
            await until(lambda wanted=handlers: events(data) == wanted)
            assert int(str(project(daemon)["parsed"])) - parsed <= 2
        put_rules(root, "languages = [")
        await until(lambda: "rules in .atlas/detectors.toml are ignored" in str(project(daemon)["problem"]))
        put_rules(root, RULES)
        await until(lambda: events(data) == {"orders.on_order"} and not project(daemon)["problem"])
    await index(root, tmp_path / "fresh")
    assert dump(data) == dump(tmp_path / "fresh")


async def test_an_answer_waits_for_changed_rules(tmp_path: Path) -> None:
    """The check before an answer names the rules as newer than the index until a pass has used them."""
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, FILES)
    await index(root, data)
    settings = load_settings(project=str(root), data_dir=str(data))
    check = make_tree_check(settings)

    async def newer() -> tuple[str, ...]:
        async with open_atlas(settings) as atlas:
            (state,) = await atlas.reader.store.projects()
            return tuple((await check.compare(atlas.reader.store, state)).paths)

    try:
        assert await newer() == ()
        for rules in (RULES, OTHER_RULES, None):
            put_rules(root, rules)
            assert await newer() == (RULES_FILE,)
            assert next(iter(check.identities([RULES_FILE])))[1] or rules is None
            await index(root, data)
            assert await newer() == ()
    finally:
        await check.aclose()


def put_rules(root: Path, rules: str | None) -> None:
    file = root / RULES_FILE
    if rules is None:
        file.unlink()
        file.parent.rmdir()
        return
    file.parent.mkdir(exist_ok=True)
    file.write_text(rules)
