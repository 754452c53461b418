"""Questions whose words are near those for packages, and what packages ask for that no manifest declares."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

_NUSPEC = """<?xml version="1.0"?>
<package>
  <metadata>
    <id>Shop</id>
    <version>$version$</version>
    <dependencies>
      <group targetFramework="net462">
        <dependency id="System.ValueTuple" version="4.4.0" exclude="Build" />
        <dependency id="System.Tasks" version="4.6.0" />
      </group>
      <group targetFramework="net8.0" />
    </dependencies>
  </metadata>
</package>
"""
_EXAMPLES = {
    f"docs/{name}/pyproject.toml": (
        '[build-system]\nrequires = ["setuptools"]\n\n[project]\nname = "tutorial"\nversion = "1"\n'
    )
    for name in ("one", "two", "three", "four", "five", "six")
}
FILES = {
    "pyproject.toml": (
        '[project]\nname = "shop"\nversion = "1"\ndependencies = [\n    "setuptools < 82",  # require pkg_resources\n'
        '    "mysql >= 2",\n]\n'
    ),
    **_EXAMPLES,
    **{f"docs/{name.split('/')[1]}/setup.py": "import setuptools\n\nsetuptools.setup()\n" for name in _EXAMPLES},
    "docs/package/setup.py": "from setuptools import setup\n\nsetup(name='package', install_requires=['waitress'])\n",
    "shop/__init__.py": "",
    "shop/asset.py": "import setuptools\n\n\ndef find():\n    return setuptools.find_packages()\n",
    "shop/static.py": "import setuptools\n\n\ndef serve():\n    return setuptools.find_packages()\n",
    "shop/query.py": (
        "import mysql\n\n\ndef limit(rows, skipped):\n    # rows to skip need a row cap\n"
        "    return '18446744073709551615' if skipped and not rows else rows\n"
    ),
    "nuget/shop.nuspec": _NUSPEC,
    "src/Shop.Tests.csproj": (
        '<Project Sdk="Microsoft.NET.Sdk">\n  <ItemGroup>\n    <PackageReference Include="Shop.Analyzers" Version="4.1.0" />\n'
        "  </ItemGroup>\n</Project>\n"
    ),
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question, token_budget=4_000)).render()


async def test_the_library_is_the_project_in_a_sentence_that_names_a_package(atlas: Atlas) -> None:
    asked = (
        "MySQL has no way to skip rows without a row cap. What does the library emit when I only give the rows to skip?"
    )
    answer = await said(atlas, asked)
    assert "declared by" not in answer and "18446744073709551615" in answer, answer
    asked = "We want to get rid of some dependencies soon, so tell me which files still import mysql today please?"
    assert "mysql: declared by 1 project; imported by 1 file" in await said(atlas, asked)


@pytest.mark.parametrize(
    "asked",
    [
        "Why is setuptools pinned below 82, and which modules of the package are the reason?",
        "Why is setuptools pinned below 82 and what files are to blame?",
    ],
)
async def test_the_modules_that_are_the_reason_are_those_that_import_it(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "setuptools: declared < 82" in answer and "require pkg_resources" in answer
    assert answer.index("shop/asset.py: :1") < answer.index("shop/static.py: :1") < answer.index("7 files below docs")
    assert "and so 5 more manifests below docs" in answer and "waitress" not in answer, answer


async def test_what_a_published_package_asks_for_stands_in_its_specification(atlas: Atlas) -> None:
    answer = await said(atlas, "Which NuGet packages does the published Shop package pull in for net462 and net8.0?")
    assert "package Shop (nuget/shop.nuspec): 2 dependencies by 2 target frameworks" in answer
    assert "net462: System.ValueTuple 4.4.0 :8; System.Tasks 4.6.0 :9" in answer
    assert "net8.0: none :11" in answer and "Analyzers" not in answer, answer
    assert "net462" not in await said(atlas, "what does the Shop package need on net8.0?")
    assert "Shop.Analyzers: declared by 1 project" in await said(atlas, "which projects depend on Shop.Analyzers?")
