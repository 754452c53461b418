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
        for question in (
            "where are circular dependencies between tasks detected",
            "how are the dependencies of a task sorted",
            "when do dependencies run",
            "what is a cyclic dependency between steps reported as",
        ):
            assert not isinstance(await hybrid_search(atlas, question), ReportAnswer), question
        assert isinstance(await hybrid_search(atlas, "where are the dependencies declared"), ReportAnswer)
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


MONOREPO = {
    "package.json": (
        '{"name": "all", "private": true, "workspaces": ["packages/*"],\n'
        ' "dependencies": {"left-pad": "^1"}, "devDependencies": {"vitest": "^3.1", "husky": "^9"}}\n'
    ),
    "packages/core/package.json": (
        '{\n  "name": "@shop/core",\n  "dependencies": {"zod": "^4.2.0"},\n  "peerDependencies": {"react": ">=17",'
        ' "preact": "*"},\n  "peerDependenciesMeta": {"preact": {"optional": true}}\n}\n'
    ),
    "packages/core/index.ts": "export type StepKind = 'a' | 'b'\n",
    "packages/web/package.json": '{\n  "name": "@shop/web",\n  "dependencies": {"zod": "npm:zod@^3.1.0", "@shop/core": "*"}\n}\n',
    "packages/web/use.ts": "import { StepKind } from '@shop/core'\n\nexport const first: StepKind = 'a'\n",
    "packages/web/is-stream.js": "module.exports = (x) => x && x.pipe\n",
    "packages/web/body.js": "const isStream = require('./is-stream.js')\n",
    "tool/setup.py": "from setuptools import setup\nsetup(\n  python_requires='>=3.9',\n  name='tool', install_requires=['kombu>=5.6'],\n)\n",
    "tool/requirements/extras/auth.txt": "cryptography==48.0\n",
    "tool/requirements/security.txt": "cryptography>=47\n",
    "plug/mix.exs": (
        "defmodule P do\n  defp deps do\n    [\n      {:plug_crypto, crypto_version()}\n    ]\n  end\n\n"
        '  if System.get_env("OLD") == "1" do\n    defp crypto_version, do: "~> 1.2"\n  end\nend\n'
    ),
    "k/build.gradle.kts": 'dependencies {\n  api("io.ktor:ktor-client-core:3.5.1")\n  api("io.ktor:ktor-server:3.5.1")\n}\n',
}


async def test_first_answers_about_packages_say_what_is_asked(tmp_path: Path) -> None:
    root = tmp_path / "all"
    for name, text in MONOREPO.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    said: dict[str, str] = {}
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for question in (
            "Which package in the monorepo is still on zod 3?",
            "peer dependencies of @shop/core and which of them are optional",
            "who depends on @shop/core",
            "type alias StepKind: what is it and which file outside @shop/core uses it",
            "What does `pip install tool[auth]` pull in, and which version?",
            "which plug_crypto versions are allowed",
            "Which Ktor version do we build against?",
            "minimum python and minimum kombu",
            "which test framework is used, and what version?",
            "what do I get when I install all",
            "what Modules require is-stream",
        ):
            said[question] = "\n".join((await hybrid_search(atlas, question)).lines())
    zod, peers, inner, alias, extra, computed, family, two, framework, installed, own = said.values()
    assert zod.startswith("zod: version 3 declared by 1 project") and "^4" not in zod
    assert "react >=17" in peers and "preact * [optional]" in peers
    assert "imported by 1 file outside of it" in inner and "packages/web/use.ts" in inner
    assert "type_alias StepKind packages/core/index.ts:1" in alias and "packages/web/use.ts" in alias
    assert "cryptography ==48.0 [auth]" in extra and "47" not in extra
    assert 'System.get_env("OLD")' in computed and 'defp crypto_version, do: "~> 1.2"' in computed
    assert family.startswith("Ktor: declared 3.5.1") and "ktor-server 3.5.1" in family
    assert two.startswith("Python: >=3.9 (tool/setup.py); kombu: >=5.6")
    assert framework.startswith("tools of that kind known by name: 1 development") and "vitest ^3.1" in framework
    assert "left-pad ^1" in installed and "vitest" not in installed
    assert own.startswith("importers of module") and "packages/web/body.js" in own and "left-pad" not in own


async def test_packages_are_known_by_short_names_sections_and_submodules(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    files = {
        "composer.json": """{
    "name": "acme/shop",
    "require": {"php": ">=8"},
    "require-dev": {
        "predis/predis": "^2",
        "acme/generator": "^1"
    },
    "suggest": {
        "ext-mbstring": "to work with unicode"
    }
}
""",
        "src/Queue.php": "<?php\nnamespace Shop;\nuse Predis\\Client as Predis;\nclass Queue { public Predis $p; }\n",
        "src/Other.php": "<?php\nnamespace Shop;\nclass Other { public function predis(): int { return 1; } }\n",
        ".gitmodules": (
            '[submodule "third_party/bench"]\n\tpath = third_party/bench\n\turl = https://example.org/bench.git\n'
        ),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "where's the predis package used and is it required at runtime?")).render()
        assert "predis/predis ^2 [development]" in said
        assert "src/Queue.php: :3 use Predis\\Client as Predis;" in said
        said = (await hybrid_search(atlas, "what are predis and acme/generator needed for?")).render()
        assert "acme/generator ^1 [development]" in said, said
        said = (await hybrid_search(atlas, "does the library need ext-mbstring")).render()
        assert "composer.json:9: suggest:" in said and "unicode" in said
        said = (await hybrid_search(atlas, "which repositories come in as git submodules?")).render()
        assert "submodules of git: 1" in said and "https://example.org/bench.git" in said
        said = (await hybrid_search(atlas, "which generator package and version do we depend on")).render()
        assert "acme/generator" in said and "^1" in said and "predis" not in said
        said = (await hybrid_search(atlas, "who imports acme/generator")).render()
        assert "imported by no file under its own name; it is not known under which other name" in said


async def test_what_is_taken_from_a_package_that_is_imported_as_a_whole(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    files = {
        "package.json": '{"name": "shop", "dependencies": {"type-fest": "^4", "yaml": "^2"}}\n',
        "src/types.ts": (
            "import type * as typeFest from 'type-fest'\n// typeFest.Simplify is no use\n"
            "export type One = typeFest.MergeExclusive<A, B>\nexport type Two = typeFest.MergeExclusive<B, C>\n"
        ),
        "src/read.ts": "import yaml from 'yaml'\nexport const read = (text) => yaml.parse(text) ?? my.yaml.dump\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "type-fest is a runtime dependency; what do we take from it?")).render()
        assert "src/types.ts: :1 import type * as typeFest from 'type-fest': takes MergeExclusive 3\n" in f"{said}\n"
        said = (await hybrid_search(atlas, "who imports the yaml package")).render()
        assert "src/read.ts: :1 import yaml from 'yaml': takes parse 2\n" in f"{said}\n", said


async def test_extras_that_install_nothing_are_listed_too(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "setup.py").write_text(
        "from setuptools import setup\nsetup(\n    name='shop',\n    keywords=[],\n    extras_require={\n"
        "        'testing': [],  # nothing special\n        'pytest': ['pytest>=7'],\n    },\n    scripts=[],\n    data=[],\n)\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "shop's pip extras: names and what each installs")).render()
        assert "setup.py: pytest >=7 [pytest] :7; nothing [testing] :6" in said, said
        assert "scripts" not in said and "keywords" not in said and "data" not in said.replace("data-", ""), said


async def test_the_name_of_the_project_is_no_topic_of_its_optional_dependencies(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "pyproject.toml").write_text(
        '[project]\nname = "shop"\nversion = "1"\n\n[project.optional-dependencies]\n'
        'view = ["shop-view>=2"]\nfast = ["rapid>=1"]\n'
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "optional dependencies of shop")).render()
        assert "shop-view" in said and "rapid >=1 [fast]" in said, said


async def test_a_package_is_named_behind_its_kind(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / "lib").mkdir(parents=True)
    (root / "package.json").write_text(
        '{\n  "name": "shop",\n  "dependencies": {\n    "atomic-nap": "^1"\n  },\n'
        '  "devDependencies": {\n    "versioner": "^7",\n    "tape": "^5"\n  }\n}\n'
    )
    (root / "lib" / "stop.js").write_text("const nap = require('atomic-nap')\nexports.stop = () => nap(100)\n")
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        used = (await hybrid_search(atlas, "What does shop use the package atomic-nap for?")).render()
        unused = (await hybrid_search(atlas, "Can the devDependency versioner go - does anything use it?")).render()
        every = (await hybrid_search(atlas, "which devDependencies are there")).render()
    assert "atomic-nap: declared by 1 project; imported by 1 file" in used and "tape" not in used, used
    assert "versioner: declared by 1 project; imported by no file" in unused, unused
    assert "versioner" in every and "tape" in every and "atomic-nap" not in every, every
