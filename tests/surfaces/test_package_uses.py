"""What a package is for, which targets take it, which versions test environments demand, and what is patched locally."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.lines.packages.target_products import read_target_manifest
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

_SWIFT = """// swift-tools-version: 6.0
let package = Package(
    name: "shop",
    dependencies: [
        // Test-only: pins the roots of trust.
        .package(url: "https://example.org/swift-parcel-tls.git", from: "2.37.2"),
        .package(url: "https://example.org/swift-heaps", from: "1.2.1"),
        .package(url: "https://example.org/swift-stamps.git", revision: "13b8e725"),
        // .package(url: "https://example.org/swift-gone.git", from: "1.0.0"),
        .package(url: "https://example.org/Slips", from: "3.0.0"),
    ],
    targets: [
        .target(
            name: "Shop",
            dependencies: [
                .product(name: "Stamps", package: "swift-stamps"),
                "Slips",
            ]
        ),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                .product(name: "ParcelTLS", package: "swift-parcel-tls"),
            ]
        ),
    ]
)
"""
_FILES = {
    "ios/Package.swift": _SWIFT,
    "ios/Tests/ShopTests/TrustTests.swift": "import ParcelTLS\n\nfinal class TrustTests {}\n",
    "package.json": (
        '{\n  "name": "shop",\n  "repository": {\n    "url": "https://example.org/shop.git"\n  },\n  "dependencies": {\n'
        '    "copytree": "^2.0.0",\n    "@ship/labels": "^11.0.4",\n    "ours": "github:shop/ours"\n  }\n}\n'
    ),
    "build/index.js": (
        "const { promisify } = require('util')\nconst { copytree } = require('copytree')\n"
        "const copy = promisify(copytree)\n\ncopy('./types/', './')\n"
    ),
    "patches/@ship+labels+11.0.4.patch": (
        "--- a/node_modules/@ship/labels/lib/print.js\n+++ b/node_modules/@ship/labels/lib/print.js\n"
        "@@ -1,2 +1,3 @@\n const x = 1\n+if (number < 2000) return false\n const y = 2\n"
    ),
    ".github/workflows/release.yml": "jobs:\n  release:\n    steps:\n      - run: npx patch-package\n",
    "api/pyproject.toml": '[project]\nname = "api"\nversion = "1"\ndependencies = ["checkers>=0.34.0"]\n',
    "api/tox.ini": "[testenv]\ndeps =\n    checkers>=0.13.0\n    checkers-more>=5\n",
    "api/api.py": "from checkers import domain as is_domain\n\n\ndef check(name):\n    return is_domain(name)\n",
}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Atlas]:
    root = tmp_path / "shop"
    for name, text in _FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        yield atlas


async def _said(atlas: Atlas, asked: str) -> str:
    return (await hybrid_search(atlas, asked)).render()


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "Does the shop itself depend on swift-parcel-tls, or what is that package in the manifest for?",
            ("only test targets take a product of it: ShopTests", "pins the roots of trust", "TrustTests.swift:1"),
        ),
        (
            "swift-heaps: minimum version, and which target declares a product of it?",
            ('from: "1.2.1"', "no target declares a product of it"),
        ),
        ("which version of swift-stamps do we use", ('revision: "13b8e725"', "taken by target Shop")),
        ("which target needs the package Slips?", ("of a form that is not read", "ios/Package.swift:17")),
    ],
)
async def test_targets_of_a_swift_package_say_who_depends_on_it(
    shop: Atlas, asked: str, parts: tuple[str, ...]
) -> None:
    said = await _said(shop, asked)
    assert all(part in said for part in parts), said
    assert "\n2)" not in said


def test_a_commented_line_of_a_swift_manifest_declares_nothing() -> None:
    manifest = read_target_manifest("Package.swift", _SWIFT.split("\n"))
    assert [each.name for each in manifest.packages] == ["swift-parcel-tls", "swift-heaps", "swift-stamps", "Slips"]
    assert [(each.name, each.target, each.is_test) for each in manifest.products] == [
        ("Stamps", "Shop", False),
        ("ParcelTLS", "ShopTests", True),
    ]


@pytest.mark.parametrize(
    "asked",
    [
        "does api itself depend on checkers?",
        "Does api itself depend on checkers, or is it for tests only?",
        "checkers: minimum version, and which kind of dependency is it?",
        "checkers - which version, and who imports it?",
    ],
)
async def test_what_stands_around_the_name_of_a_package_asks_about_it(shop: Atlas, asked: str) -> None:
    said = await _said(shop, asked)
    assert "checkers >=0.34.0" in said and "dependencies of" not in said and "\n2)" not in said, said


async def test_what_a_package_is_needed_for_are_the_lines_that_use_its_names(shop: Atlas) -> None:
    for asked in ("What is copytree needed for in this repo?", "what do we use copytree for and which version?"):
        assert "build/index.js:5: copy('./types/', './')" in await _said(shop, asked), asked


async def test_a_test_environment_declares_a_version_too(shop: Atlas) -> None:
    said = await _said(shop, "the checkers library - minimum versions demanded and where is it used?")
    assert "checkers >=0.34.0" in said and "api/tox.ini:3: checkers>=0.13.0" in said, said
    assert "checkers-more" not in said


async def test_a_patched_package_is_told_with_its_version_change_and_when_it_is_applied(shop: Atlas) -> None:
    for asked in (
        "Is any third-party package patched locally? Say which version, what the patch changes, and when it gets applied.",
        "are any dependencies forked or patched?",
    ):
        said = await _said(shop, asked)
        assert "@ship/labels 11.0.4, declared ^11.0.4 (package.json:8)" in said, said
        assert "lib/print.js" in said and "+ if (number < 2000) return false" in said
        assert ".github/workflows/release.yml:4: - run: npx patch-package" in said
        assert '"ours": "github:shop/ours"' in said and "shop.git" not in said, "the project's own address is no fork"
    assert "patched or come from" not in await _said(shop, "which methods patch the packages table?")


_BRANCHES = {
    "till.gemspec": 'Gem::Specification.new do |s|\n  s.name = "till"\n  s.add_runtime_dependency "coin", "~> 2.0"\nend\n',
    "Gemfile": (
        'gemspec\n\nif ENV[\'OLD\']\n  gem "stand"  , "~> 2.2"\n  gem "standup", "~> 1.0"\nelse\n'
        '  gem "stand"  , "~> 3.2"\n  gem "standup", "~> 2.3"\nend\n'
    ),
    "lib/till.rb": "require 'coin'\n\nmodule Till\nend\n",
}


async def test_both_branches_of_a_condition_declare_a_version(tmp_path: Path) -> None:
    root = tmp_path / "till"
    for path, text in _BRANCHES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    await indexed(root, tmp_path / "data")
    asked = "stand and standup versions the test bundle pulls in - and how does one switch it to Stand 2?"
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        both = (await hybrid_search(atlas, asked)).render()
        one = (await hybrid_search(atlas, "which version of standup is required?")).render()
    assert "declared stand ~> 2.2 or ~> 3.2, standup ~> 1.0 or ~> 2.3" in both, both
    assert "standup: declared ~> 1.0 or ~> 2.3" in one, one
    assert "runtime" not in both, "a Gemfile beside a gemspec is for developers, in each branch"
