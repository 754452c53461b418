"""Questions about packages, from an indexed tree to the answer: places, versions, importers; none where it is not."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.symbol.node import get_node
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "pyproject.toml": (
        "[project]\nname = 'shop'\ndependencies = [\n  'PyYAML>=6',\n  'requests',\n]\n"
        "[dependency-groups]\ndev = ['pytest']\n"
    ),
    "poetry.lock": '[[package]]\nname = "pyyaml"\nversion = "6.0.2"\n\n[[package]]\nname = "requests"\nversion = "2.32.3"\n',
    "shop/__init__.py": "",
    "shop/read.py": "import json\nfrom yaml import safe_load\n\n\ndef read():\n    return safe_load('')\n",
    "web/package.json": '{\n  "name": "web",\n  "dependencies": {"left-pad": "^1"}\n}\n',
}


async def test_questions_about_packages_are_answered_with_places(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said: dict[str, str] = {}
        for question in (
            "what does this project depend on",
            "which dev dependencies are there",
            "dependencies of web",
            "which version of PyYAML is locked",
            "who imports yaml",
            "does this project depend on serde",
            "unused dependencies",
        ):
            answer = await hybrid_search(atlas, question)
            assert isinstance(answer, ReportAnswer), question
            facts = [
                f"{group.name} {file.path} {line}"
                for group in answer.report.groups
                for file in group.files
                for line in file.lines
            ]
            said[question] = "\n".join((answer.report.title, *facts))
        node = await get_node(atlas, "yaml")
    everything = said["what does this project depend on"]
    assert "runtime pyproject.toml PyYAML (import yaml) >=6 locked 6.0.2 (poetry.lock:2) :4" in everything
    assert "runtime web/package.json left-pad ^1 :3" in everything
    assert said["which dev dependencies are there"].endswith("development pyproject.toml pytest [dev] :8")
    assert "left-pad" in said["dependencies of web"] and "PyYAML" not in said["dependencies of web"]
    assert said["which version of PyYAML is locked"].startswith("PyYAML: declared >=6; locked 6.0.2")
    assert "imported_by shop/read.py :2" in said["who imports yaml"]
    assert said["does this project depend on serde"] == "no package `serde` is declared or imported"
    assert "requests" in said["unused dependencies"] and "PyYAML" not in said["unused dependencies"]
    assert node.node is not None and "imported by shop/read.py:2" in node.node.docstring
