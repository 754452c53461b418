"""What LiteLLM finds when it is imported: it reads the environment once, at its import."""

from __future__ import annotations

import importlib
import os
import warnings
from types import SimpleNamespace

import pytest
from pydantic import TypeAdapter
from typing_extensions import ReadOnly, TypedDict

from atlas.runtime.process.litellm_library import load_litellm


class One(TypedDict):
    name: ReadOnly[str]


class Several(TypedDict):
    name: ReadOnly[str]
    size: ReadOnly[int]


def test_the_import_uses_no_network_and_changes_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def imported(name: str) -> SimpleNamespace:
        assert name == "litellm"
        seen.append(os.environ.get("LITELLM_LOCAL_MODEL_COST_MAP"))
        os.environ["TIKTOKEN_CACHE_DIR"] = "/elsewhere"
        return SimpleNamespace()

    monkeypatch.setattr(importlib, "import_module", imported)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "")
    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP")
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    library = load_litellm()
    assert seen == ["True"], "else it fetches a list of prices"
    assert library.telemetry is False
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


def test_the_remark_of_pydantic_about_types_of_litellm_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def imported(name: str) -> SimpleNamespace:
        return SimpleNamespace()

    monkeypatch.setattr(importlib, "import_module", imported)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_litellm()
        adapters = [TypeAdapter(kind) for kind in (One, Several)]
    assert adapters[0].validate_python({"name": "a"}) == {"name": "a"}
