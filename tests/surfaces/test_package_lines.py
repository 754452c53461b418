"""Questions about a package that ask for more than versions: what for, since when, what changed, which extra, who not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

_FIRST = """[project]
name = "shop"
version = "1"
dependencies = ["attrs>=20"]

[project.optional-dependencies]
fast = ["Twisted[http2]>=21.7"]
images = ["Pillow>=8.3"]
"""
_FOLDERS = '''"""Folders."""

from platformdirs import user_state_dir


def state_folder():
    """Return where the state is kept."""
    return user_state_dir("shop")
'''
_FUZZ = """module example.org/shop/fuzz

go 1.22

require github.com/example/raft-boltdb v1.0.0
"""
_NODE = 'package main\n\nimport rdb "github.com/example/raft-boltdb"\n\nfunc open() { rdb.NewStore("x") }\n'


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"pyproject.toml": _FIRST, "shop/__init__.py": "import attrs\n"})
    second = _FIRST.replace('"attrs>=20"', '"attrs>=20",\n    "platformdirs>=2"')
    repository.commit("Remember the state (#12)", {"pyproject.toml": second, "shop/folders.py": _FOLDERS})
    repository.tag("v1.1")
    changes = "# 1.1\n\n* Require platformdirs 2, whose folders have other names on macOS\n* Faster carts\n"
    files: dict[str, str | None] = {"CHANGELOG.md": changes, "fuzz/go.mod": _FUZZ, "fuzz/node.go": _NODE}
    repository.commit("Fuzz", files)
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_what_a_package_is_for_and_since_when(atlas: Atlas) -> None:
    asked = "What do we need platformdirs for, and since which change is it a dependency?"
    said = (await hybrid_search(atlas, asked)).render()
    assert "shop.folders.state_folder" in said and "used_by:" in said
    assert "Remember the state (#12)" in said and "first in v1.1" in said
    said = (
        await hybrid_search(atlas, "platformdirs: what do we use it for, and since when is it a dependency?")
    ).render()
    assert "used_by:" in said and "declared_since:" in said, "no topic of messages"
    said = (await hybrid_search(atlas, "who imports platformdirs")).render()
    assert "used_by" not in said and "declared_since" not in said, "it is not asked for"


async def test_what_a_changelog_says_of_a_version(atlas: Atlas) -> None:
    asked = "Which version of platformdirs do we require, and what was special about the version bump?"
    said = (await hybrid_search(atlas, asked)).render()
    assert "CHANGELOG.md:3: [1.1]" in said and "Faster carts" not in said and "2)" not in said


async def test_extras_by_what_they_are_for(atlas: Atlas) -> None:
    asked = "Which optional extras give me HTTP/2, and what do they install at which minimum version?"
    said = (await hybrid_search(atlas, asked)).render()
    assert "Twisted" in said and ">=21.7" in said and "Pillow" not in said and "2)" not in said
    said = (await hybrid_search(atlas, "which optional extras are there")).render()
    assert "Twisted" in said and "Pillow" in said


async def test_a_package_by_a_part_of_its_name_that_the_root_does_not_declare(atlas: Atlas) -> None:
    asked = "Does the main module need BoltDB? If not, which part of this repository pulls it in and for what?"
    said = (await hybrid_search(atlas, asked)).render()
    assert "raft-boltdb: declared by 1 project, not by the root project; imported by 1 file" in said
    assert "fuzz/node.go" in said and "2)" not in said


async def test_several_packages_by_a_name_that_all_have_as_a_part(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    build = """dependencies {
  compileOnly 'org.example.kite:kite-stdlib:2.0'
  testImplementation 'org.example.kite:kite-test:2.0'
  api 'org.example:core:1.0'
}
"""
    root.mkdir()
    (root / "build.gradle").write_text(build)
    (root / "Main.java").write_text("class Main {}\n")
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "Does a user of the core artifact get Kite on the classpath?")).render()
    assert "Kite: declared by 1 project" in said and "kite-stdlib 2.0 [provided compileOnly]" in said
    assert "org.example:core" not in said, "the artifact is no package that is asked for"


async def test_why_a_package_is_required_stands_in_comments_and_in_what_a_polyfill_supplies(tmp_path: Path) -> None:
    composer = '{\n  "name": "shop/shop",\n  "require": {\n    "symfony/polyfill-php80": "^1.29"\n  }\n}\n'
    cargo = (
        '[package]\nname = "cart"\nversion = "1.0.0"\n\n[dependencies]\nserde = "1"\n# Kept at the old version:\n'
        '# the new one rounds prices.\nroundish = "0.2"\nlibm = "0.2" # no floats without std\n'
    )
    files = {
        "composer.json": composer,
        "src/Cart.php": "<?php\n// str_contains is fast\nfunction a($b) { return str_contains($b, 'x') || $b->fdiv(); }\n",
        "tests/CartTest.php": "<?php\nstr_starts_with('a', 'b');\n",
        "cart/Cargo.toml": cargo,
        "deny.toml": '[bans]\nskip = [\n  # both versions are meant\n  { name = "roundish" },\n]\n',
    }
    for name, text in files.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    await indexed(tmp_path / "shop", tmp_path / "data")
    settings = load_settings(str(tmp_path / "shop"), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        said = (await hybrid_search(atlas, "Why does Shop need symfony/polyfill-php80?")).render()
        assert "supplies:" in said and "str_contains: src/Cart.php:3" in said
        assert "fdiv" not in said and "str_starts_with" not in said, "a method, and a test"
        said = (await hybrid_search(atlas, "why do we depend on roundish")).render()
        assert "cart/Cargo.toml:7: Kept at the old version: the new one rounds prices." in said
        assert "deny.toml:3: both versions are meant" in said
        said = (await hybrid_search(atlas, "why do we depend on libm")).render()
        assert "cart/Cargo.toml:10: no floats without std" in said
        said = (await hybrid_search(atlas, "why do we depend on serde")).render()
        assert "comment:" not in said, "the comment below is of another package"
        said = (await hybrid_search(atlas, "which version of roundish is declared")).render()
        assert "comment:" not in said, "it is not asked for"


async def test_where_code_touches_a_package_and_what_lives_without_it(tmp_path: Path) -> None:
    manifest = '[package]\nname = "post"\nversion = "0.1.0"\n\n[dependencies]\nsocket2 = { version = "0.6", optional = true }\n'
    files: dict[str, str | None] = {
        "setup.py": "from setuptools import setup\n\nsetup(name='queue')\n",
        "queue/guarded.py": "try:\n    import gevent\nexcept ImportError:\n    gevent = None\n",
        "queue/bare.py": "import gevent\n\n\ndef wait():\n    gevent.sleep(1)\n",
        "net/Cargo.toml": f'{manifest}\n[features]\nsmtp = ["dep:socket2"]\n',
        "net/src/lib.rs": "use socket2::Socket;\n\npub fn bind() { Socket::new(); }\n\npub fn on(a: &socket2::Socket) {}\n",
    }
    repository = GitRepository(tmp_path / "both")
    repository.commit("Begin", files)
    await indexed(repository.root, tmp_path / "data2")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data2"), environment=QUICK)) as atlas:
        for asked in (
            "which modules import gevent and which of those would break without it installed?",
            "who imports gevent",
        ):
            said = (await hybrid_search(atlas, asked)).render()
            assert "queue/guarded.py: :2 import gevent (inside of try)" in said, asked
            assert "queue/bare.py: :1 import gevent: takes sleep 5\n" in f"{said}\n" and "2)" not in said, (
                "a fallback is no definition"
            )
        said = (await hybrid_search(atlas, "what is socket2 needed for? could we do without")).render()
        assert 'smtp = ["dep:socket2"]' in said and "net/src/lib.rs:5" in said and "2)" not in said
        said = (await hybrid_search(atlas, "where exactly do we touch socket2 in net?")).render()
        assert "imported by 1 file" in said and "use socket2::Socket" in said
    repository.close()


async def test_a_feature_is_meant_by_its_name_or_what_a_list_says_of_it(tmp_path: Path) -> None:
    manifest = (
        '[package]\nname = "post"\nversion = "0.1.0"\n\n[dependencies]\nsha2 = { version = "1", optional = true }\n'
        'own_rsa = { package = "rsa", version = "2", optional = true }\nurl = { version = "3", optional = true }\n\n'
        '[features]\ndkim = ["dep:sha2", "keys"]\nkeys = ["dep:own_rsa"]\nsmtp = ["dep:url", "sha2?/fast"]\n'
    )
    root = tmp_path / "post"
    docs = "//! * **dkim**: Sign email\n//! * **smtp**: Talk to servers\n\npub fn send() {}\n"
    for path, text in {"Cargo.toml": manifest, "src/lib.rs": docs}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    await indexed(root, tmp_path / "data3")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data3"), environment=QUICK)) as atlas:
        for asked in (
            "Which crates come in when I turn on mail signing?",
            "Which crates come in with the dkim feature?",
        ):
            said = (await hybrid_search(atlas, asked)).render()
            assert "feature `dkim` (Cargo.toml:11) dependencies: 2 optional" in said, asked
            assert "sha2 1" in said and "rsa 2" in said and "url" not in said, asked
        said = (await hybrid_search(atlas, "Which crates come in with the smtp feature?")).render()
        assert "url 3" in said and "sha2" not in said, "a weak feature brings nothing in"
        said = (await hybrid_search(atlas, "which dependencies are optional?")).render()
        assert "feature" not in said


async def test_what_an_object_with_defaults_is_passed_to(tmp_path: Path) -> None:
    code = (
        "/// Configuration of the pool\npub struct PoolConfig {\n    max_size: u32,\n    min_idle: u32,\n}\n\nimpl Default for PoolConfig {\n"
        "    fn default() -> Self {\n        Self {\n            max_size: 10,\n            min_idle: 0,\n        }\n    }\n}\n\npub struct Builder;\n\n"
        "impl Builder {\n    pub fn pool_config(self, pool: PoolConfig) -> Self {\n        self\n    }\n}\n"
    )
    root = tmp_path / "pool"
    for path, text in {"Cargo.toml": '[package]\nname = "pool"\nversion = "0.1.0"\n', "src/lib.rs": code}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    await indexed(root, tmp_path / "data4")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data4"), environment=QUICK)) as atlas:
        said = (
            await hybrid_search(atlas, "What are the defaults of the pool (size, idle) and how do I change them?")
        ).render()
        assert "max_size: 10" in said and "takes it: pub fn pool_config(self, pool: PoolConfig)" in said
        said = (await hybrid_search(atlas, "What are the defaults of the pool (size, idle)?")).render()
        assert "max_size: 10" in said and "takes it" not in said
