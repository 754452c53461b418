"""Files that reStructuredText includes: of the same source only, within limits, and never twice."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from atlas.packs.documentation.article import Article, BlockKind
from atlas.packs.documentation.formats.document import chosen_lines
from atlas.packs.documentation.sources.collecting import collect
from atlas.packs.documentation.sources.spec import parse_source
from atlas.packs.documentation.sources.values import CollectOptions

PYTHON = "import os\n\n\n@cached\ndef spin():\n    return 1\n\n\nclass Widget:\n    def turn(self):\n        return 2\n"


def articles(root: Path) -> dict[str, Article]:
    async def read() -> dict[str, Article]:
        found = collect([parse_source(str(root))], CollectOptions(), None, lambda progress: None)
        return {article.key: article async for article in found}

    return asyncio.run(read())


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def texts(article: Article) -> list[str]:
    return [block.text for section in article.sections for block in section.blocks]


def test_text_and_code_of_the_source_are_read_in_place(tmp_path: Path) -> None:
    guide = (
        "Guide\n=====\n\nBefore.\n\n.. include:: parts/common.inc\n\n.. literalinclude:: /code/demo.py\n   :pyobject: spin\n\n"
        "* item\n\n  .. include:: parts/common.inc\n\nAfter `the site`_.\n"
    )
    root = write(
        tmp_path / "docs",
        guide_dot_rst=guide,
        parts__common_dot_inc="Shared\n------\n\n*Common* words.\n\n.. _the site: https://example.org/\n",
        code__demo_dot_py=PYTHON,
    )
    article = articles(root)["guide.rst"]
    assert [section.title for section in article.sections][:2] == ["Guide", "Shared"]
    blocks = [block for section in article.sections for block in section.blocks]
    (code,) = [block for block in blocks if block.kind is BlockKind.CODE]
    assert (code.text, code.label) == ("@cached\ndef spin():\n    return 1", "python")
    assert texts(article).count("Common words.") == 2
    assert any(link.target == "https://example.org/" for block in blocks for link in block.links)
    assert article.problems == ()


@pytest.mark.parametrize(
    "target",
    [
        "../secret.inc",
        "/etc/hostname",
        "../../../../etc/hostname",
        "parts/../../secret.inc",
        "link.inc",
        "away/secret.inc",
    ],
)
def test_nothing_outside_of_the_source_is_read(tmp_path: Path, target: str) -> None:
    root = write(
        tmp_path / "docs", guide_dot_rst=f"Guide\n=====\n\n.. include:: {target}\n\n.. literalinclude:: {target}\n"
    )
    write(tmp_path, secret_dot_inc="the secret of the host")
    (root / "link.inc").symlink_to(tmp_path / "secret.inc")
    (root / "away").symlink_to(tmp_path)
    article = articles(root)["guide.rst"]
    assert not any("secret of" in text for text in texts(article))
    assert [problem.split(": ")[1] for problem in article.problems] == ["file-not-read"] * 2


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    line = "Again.\n\n.. include:: a.inc\n\n.. include:: b.inc\n\n"
    root = write(tmp_path, guide_dot_rst=f"Guide\n=====\n\n{line}", a_dot_inc=line * 3, b_dot_inc=line * 3)
    article = articles(root)["guide.rst"]
    assert len(texts(article)) < 1_000
    assert article.problems


def test_an_article_of_its_own_is_linked_and_not_repeated(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        guide_dot_rst="Guide\n=====\n\n.. include:: changes.rst\n",
        changes_dot_rst="Changes\n=======\n\nMuch.\n",
    )
    found = articles(root)
    assert texts(found["guide.rst"]) == ["See changes.rst."]
    assert texts(found["changes.rst"]) == ["Much."]


def test_an_article_changes_with_what_it_includes(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        guide_dot_rst="Guide\n=====\n\n.. include:: a.inc\n",
        a_dot_inc=".. include:: b.inc\n",
        b_dot_inc="One.\n",
    )
    before = articles(root)["guide.rst"]
    assert texts(before) == ["One."]
    os.utime(root / "b.inc", (1, 1))
    assert articles(root)["guide.rst"].digest == before.digest
    (root / "b.inc").write_text("Two.\n")
    assert articles(root)["guide.rst"].digest != before.digest


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({"lines": "1,5-6"}, ["import os", "def spin():", "    return 1"]),
        ({"lines": "10-"}, ["    def turn(self):", "        return 2"]),
        ({"lines": "5-99999999999,x,-"}, None),
        ({"start-after": "class", "end-before": "return"}, ["    def turn(self):"]),
        ({"start-at": "class", "end-at": "turn"}, ["class Widget:", "    def turn(self):"]),
        ({"start-line": "0", "end-line": "1"}, ["import os"]),
        ({"pyobject": "Widget.turn"}, ["    def turn(self):", "        return 2"]),
        ({"pyobject": "Nobody"}, []),
        ({"start-after": "absent"}, []),
    ],
)
def test_options_choose_lines(options: dict[str, str], lines: list[str] | None) -> None:
    found = chosen_lines(PYTHON, options)
    assert found == (PYTHON.splitlines()[4:] if lines is None else lines)
