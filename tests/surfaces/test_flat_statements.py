"""What is stated flatly: raisers, what catches, unused contracts, packages without an import, first commits of a name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.trees import QUICK, indexed

FILES = {
    "mix.exs": (
        'defmodule Shop.MixProject do\n  use Mix.Project\n\n  def project do\n    [app: :shop, version: "0.1.0", deps: deps()]\n'
        '  end\n\n  defp deps do\n    [\n      {:telemetry, "~> 1.0"},\n      {:jason, "~> 1.0", optional: true},\n'
        '      {:decimal, "~> 2.0"},\n      {:mint_web_socket, "~> 1.0"}\n    ]\n  end\nend\n'
    ),
    "lib/shop.ex": (
        "defmodule Shop.StaleError do\n  defexception [:message]\nend\n\n"
        "defmodule Shop do\n  def save(item) do\n    :telemetry.execute([:shop, :save], %{})\n"
        "    raise Shop.StaleError, message: Jason.encode!(item)\n  end\n\n"
        "  def try_save(item) do\n    save(item)\n  rescue\n    e in [Shop.StaleError] -> e\n  end\nend\n"
    ),
    "test/shop_test.exs": (
        'defmodule ShopTest do\n  use ExUnit.Case\n\n  test "stale" do\n    assert_raise Shop.StaleError, fn -> Shop.save(1) end\n'
        "  end\nend\n"
    ),
    "lib/client.ex": "defmodule Shop.Client do\n  def open(conn), do: Mint.WebSocket.new(conn)\n  def new(c), do: c\nend\n",
    "Gemfile": 'source "https://rubygems.org"\ngem "activesupport"\ngem "active_model"\n',
    "app/store.rb": "# ActiveModel::Error is no use\nclass Store\n  def cache\n    ActiveSupport::Cache.lookup(:file)\n  end\nend\n",
    "draw/renderer.go": (
        "package draw\n\ntype renderer interface {\n\tflush() error\n\twriteString(s string) int\n\tclose()\n}\n\n"
        "type plain struct{}\n\nfunc (plain) flush() error { return nil }\n\nfunc (plain) writeString(s string) int { return 0 }\n\n"
        "func (plain) close() {}\n\nfunc run(r renderer) error {\n\tp := plain{}\n\tp.close()\n\treturn r.flush()\n}\n\n"
        "func Main() error { return run(plain{}) }\n"
    ),
    "draw/go.mod": "module acme.org/draw\n\ngo 1.22\n",
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


async def test_what_rescues_or_expects_an_exception_does_not_raise_it(atlas: Atlas) -> None:
    answer = await said(atlas, "What raises StaleError?")
    assert "instantiations of struct Shop.StaleError lib/shop.ex:1: 1\nlib/shop.ex\n  Shop.save 8 " in answer
    assert "test/" not in answer


@pytest.mark.parametrize("asked", ["does anything rescue StaleError?", "who catches Shop.StaleError"])
async def test_what_catches_an_exception_is_listed_alone(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "in lines that catch it: 1 of 3\nlib/shop.ex\n  Shop.try_save 14 " in answer


@pytest.mark.parametrize(
    "asked", ["Does the renderer interface have methods nobody calls?", "unused methods of the renderer interface"]
)
async def test_a_method_that_is_only_implemented_has_no_use(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "unused methods in renderer: 1 candidate" in answer and "  writeString 5\n" in answer
    assert "flush" not in answer and "close" not in answer


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "where do we use the telemetry dependency?",
            ("imported by no file, but named in code of 1 file", "lib/shop.ex:7: :tele"),
        ),
        ("what code depends on Jason", ("imported by no file, but named in code of 1 file", "lib/shop.ex:8: raise")),
        ("who uses the jason package", ("named in code of 1 file",)),
        ("what uses mint_web_socket?", ("named in code of 1 file", "lib/client.ex:2: def open")),
        ("what uses activesupport", ("named in code of 1 file", "app/store.rb:4: ActiveSupport::")),
        ("what uses active_model", ("no file under its own name; it is not known under which other name",)),
        ("what uses decimal", ("no file under its own name; it is not known under which other name (commands,",)),
    ],
)
async def test_code_that_names_a_package_without_an_import_uses_it(
    atlas: Atlas, asked: str, parts: tuple[str, ...]
) -> None:
    answer = await said(atlas, asked)
    assert all(part in answer for part in parts), answer


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "kept")
    code = "def write(row, options):\n    return options.get({name!r})\n"
    repository.commit("Begin the store", {"store.py": code.format(name="mode")})
    repository.commit("Choose what a write to a fixed field does", {"store.py": code.format(name="on_fixed_write")})
    test = "class Row:\n    on_fixed_write = 'raise'\n\n\ndef test_row():\n    assert Row.on_fixed_write\n"
    repository.commit("Accept on_fixed_write for all rows", {"tests/test_store.py": test})
    repository.commit("Introduce a view of the renderer", {"view.py": "def view():\n    return 1\n"})
    repository.commit(
        "fix: pendingErase in plainRenderer (#12)",
        {"view.py": "def view():\n    pendingErase = 1\n    return pendingErase\n"},
    )
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_a_name_that_only_a_test_defines_came_with_the_code_that_writes_it(kept: Atlas) -> None:
    answer = await said(kept, "When did on_fixed_write come in and who wrote it?")
    assert "`on_fixed_write` in store.py:2 was added: " in answer
    assert "Choose what a write to a fixed field does" in answer.partition("\ncommits:")[0]


async def test_a_name_as_code_writes_it_chooses_the_commit(kept: Atlas) -> None:
    answer = await said(kept, "what commit introduced pendingErase in the renderer and when?")
    assert "fix: pendingErase in plainRenderer" in answer and "Introduce a view" not in answer
