"""Questions that list or compare packages, bare names of packages, and artifacts that a build bundles."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

_GO = {
    "go.mod": (
        "module example.org/shop\n\ngo 1.22\n\nrequire (\n\tgithub.com/example/fasthash v1.1.0\n"
        "\tgithub.com/example/dotread v1.5.1\n\tgithub.com/example/treehash/v2 v2.0.2\n)\n"
    ),
    "cart.go": (
        'package shop\n\nimport "github.com/example/fasthash"\n\n// Sum hashes a cart.\n'
        "func Sum(cart []byte) uint64 {\n\treturn fasthash.New(cart)\n}\n"
    ),
    "order.go": (
        'package shop\n\nimport (\n\t"github.com/example/dotread"\n\t"github.com/example/treehash/v2"\n)\n\n'
        "func Key(order any) uint64 {\n\tdotread.Read()\n\treturn treehash.Hash(order)\n}\n"
    ),
    "install.sh": "usage() {\n  echo dotread\n}\nusage\n",
}
_POM = """<project>
  <groupId>org.example</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.proxies</groupId>
      <artifactId>kaori</artifactId>
      <version>3.1</version>
      <optional>true</optional>
    </dependency>
    <dependency>
      <groupId>oldproxy</groupId>
      <artifactId>oldproxy</artifactId>
      <version>2.0</version>
      <optional>true</optional>
    </dependency>
    <dependency>
      <groupId>org.logs4</groupId>
      <artifactId>logs4-api</artifactId>
      <version>1.0</version>
    </dependency>
  </dependencies>
  <build><plugins><plugin>
    <artifactId>maven-shade-plugin</artifactId>
    <configuration>
      <artifactSet><includes><include>org.proxies:kaori</include></includes></artifactSet>
      <relocations>
        <relocation>
          <pattern>kaori</pattern>
          <shadedPattern>org.example.kaori</shadedPattern>
        </relocation>
      </relocations>
    </configuration>
  </plugin></plugins></build>
</project>
"""
_JAVA = {
    "pom.xml": _POM,
    "src/main/java/org/example/Makes.java": (
        "package org.example;\n\nimport kaori.util.Maker;\n\npublic class Makes {\n"
        "  Object make() {\n    return new Maker().make();\n  }\n}\n"
    ),
    "src/main/java/org/example/oldproxy/Old.java": (
        "package org.example.oldproxy;\n\nimport net.oldproxy.Enhancer;\n\npublic class Old {\n"
        "  Object make() {\n    return new Enhancer();\n  }\n}\n"
    ),
    "src/main/java/org/example/Logs.java": (
        "package org.example;\n\nimport org.logs4.Logger;\n\npublic class Logs {\n  Logger logger;\n}\n"
    ),
}


@asynccontextmanager
async def _opened(files: Mapping[str, str], folder: Path) -> AsyncGenerator[Atlas]:
    root = folder / "shop"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, folder / "data")
    async with open_atlas(load_settings(str(root), str(folder / "data"), environment=QUICK)) as atlas:
        yield atlas


@pytest.fixture
async def go(tmp_path: Path) -> AsyncIterator[Atlas]:
    async with _opened(_GO, tmp_path) as atlas:
        yield atlas


@pytest.fixture
async def java(tmp_path: Path) -> AsyncIterator[Atlas]:
    async with _opened(_JAVA, tmp_path) as atlas:
        yield atlas


async def test_packages_that_a_question_lists_are_told_each(go: Atlas) -> None:
    for asked in (
        "we pull two hashing modules, fasthash and treehash. What is each of them for?",
        "fasthash vs treehash: which of them do we use for what",
        "difference between treehash and fasthash",
    ):
        said = (await hybrid_search(go, asked)).render()
        assert "github.com/example/fasthash" in said and "github.com/example/treehash/v2" in said, asked
        assert "cart.go: 7 shop.Sum (github.com/example/fasthash)" in said, asked
        assert "shop.Key (github.com/example/treehash/v2)" in said, asked


async def test_names_that_no_package_has_are_not_listed(go: Atlas) -> None:
    said = (await hybrid_search(go, "difference between Sum and Key")).render()
    assert "declared" not in said


async def test_usage_behind_the_name_of_a_package(go: Atlas) -> None:
    for asked in ("dotread usage", "dotread uses", "dotread usages?", "the dotread module usages"):
        said = (await hybrid_search(go, asked)).render()
        assert "github.com/example/dotread: declared by 1 project; imported by 1 file" in said, asked
        assert "install.sh" not in said, asked
    said = (await hybrid_search(go, "Sum usage")).render()
    assert "declared by" not in said, "a function of the project"


async def test_packages_whose_imports_their_names_do_not_tell(java: Atlas) -> None:
    said = (await hybrid_search(java, "oldproxy still needed? kaori vs oldproxy for proxies")).render()
    assert "org.proxies:kaori and oldproxy:oldproxy: declared by 1 project; imported by 2 files" in said
    assert "src/main/java/org/example/Makes.java" in said and "src/main/java/org/example/oldproxy/Old.java" in said
    assert "relocated: kaori -> org.example.kaori" in said and "bundled: org.proxies:kaori" in said
    assert "bundled: oldproxy" not in said
    said = (await hybrid_search(java, "is logs4 a dependency")).render()
    assert "imported by 1 file" in said and "src/main/java/org/example/Logs.java" in said


async def test_an_artifact_that_users_may_have_to_add(java: Atlas) -> None:
    asked = "KAORI: does a user of the jar have to add it himself, and which of our classes touch the library directly?"
    said = (await hybrid_search(java, asked)).render()
    assert "[optional]" in said and "relocated: kaori -> org.example.kaori" in said
    assert "src/main/java/org/example/Makes.java" in said and "2)" not in said
    said = (await hybrid_search(java, "which of our classes touch kaori directly")).render()
    assert "src/main/java/org/example/Makes.java" in said and "relocated" not in said, "it is not asked for"
    said = (await hybrid_search(java, "does a user of shop have to add oldproxy himself?")).render()
    assert "oldproxy:oldproxy" in said and "logs4" not in said, "all that the project needs is not asked for"


async def test_what_the_program_does_with_a_package_is_searched(java: Atlas) -> None:
    asked = "oldproxy and logs5 are both on my classpath, which one will the shop take for its proxies?"
    assert "declared by" not in (await hybrid_search(java, asked)).render()
    said = (await hybrid_search(java, "which of our classes touch oldproxy directly")).render()
    assert "src/main/java/org/example/oldproxy/Old.java" in said and "imported by 1 file" in said
