"""What LiteLLM finds when it is imported: it reads the environment once, at its import."""

from __future__ import annotations

import importlib
import os
from types import SimpleNamespace

import pytest

from atlas.process.litellm_library import load_litellm


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
