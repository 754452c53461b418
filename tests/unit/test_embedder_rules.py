"""Which embedding servers may be named where: a repository's file never decides to whom code is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.code.tools.state.health_checks import quality_check
from atlas.core.errors import ConfigError
from atlas.core.project_state import ProjectStats
from atlas.runtime.config.load import load_settings
from atlas.runtime.config.settings import Settings


def load(root: Path, text: str = "", **variables: str) -> Settings:
    (root / "atlas.toml").write_text(text)
    environment = {f"ATLAS_EMBEDDER_{name.upper()}": value for name, value in variables.items()}
    return load_settings(str(root), environment=environment, start=root)


@pytest.mark.parametrize("url", ["http://localhost:8080", "http://127.0.0.1:9/v1/", "https://[::1]:8080"])
def test_no_project_names_a_server_but_the_user_may(tmp_path: Path, url: str) -> None:
    named = f"[embedder]\nurl = '{url}'\n"
    assert load(tmp_path, named).ignored[0].why == "atlas.toml:2: embedder.url cannot be set by a project's file"
    with pytest.raises(ConfigError, match=r"embedder\.url is missing"):
        load(tmp_path, named, provider="openai", model="m", api_key="hunter2")
    settings = load(tmp_path, provider="openai", model="m", url=url)
    assert settings.embedder_url == url.rstrip("/")
    assert not settings.embedder_unencrypted
    assert load(tmp_path, provider="tei", url="http://192.168.1.1:8080").embedder_unencrypted


@pytest.mark.parametrize(
    "url",
    [
        "ftp://localhost",
        "localhost:8080",
        "http://",
        "http://localhost:x",
        "http://localhost/?k=1",
        "http://a\\\\@localhost",
    ],
)
def test_an_address_that_is_none_is_refused_wherever_it_is(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"embedder\.url is not the address"):
        load(tmp_path, provider="tei", url=url)


def test_passwords_belong_into_the_key_and_the_key_into_the_environment(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, provider="tei", url="http://me:hunter2@127.0.0.1")
    assert "must not hold a user" in caught.value.message
    assert "hunter2" not in str(caught.value.message) + caught.value.hint
    for provider in ("tei", "static"):
        settings = load(tmp_path, f"[embedder]\nprovider = '{provider}'\napi_key = 'hunter2'\n")
        assert settings.ignored[0].why == "atlas.toml:3: embedder.api_key cannot be set by a project's file"
        assert "create a new one" in settings.ignored[0].hint
        assert "hunter2" not in repr(settings)
        assert (settings.embedder.provider, settings.embedder.api_key) == ("static", "")
    settings = load(tmp_path, "[embedder]\napi_key = ['hunter2']\n")
    assert settings.ignored
    assert "hunter2" not in repr(settings)
    with pytest.raises(ConfigError, match="which server is the key for"):
        load(tmp_path, provider="tei", api_key="hunter2")
    settings = load(tmp_path, provider="tei", api_key="hunter2", url="http://127.0.0.1:8080")
    assert settings.embedder.api_key == "hunter2"
    shown = {key: value for key, value, _ in settings.entries()}
    assert shown["embedder.api_key"] == "***"
    assert "hunter2" not in repr(settings)


def test_litellm_is_chosen_by_the_user_and_so_is_its_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"embedder\.model is missing"):
        load(tmp_path, "[embedder]\nmodel = 'bedrock/x'\n", provider="litellm")
    assert load(tmp_path, provider="litellm", model="openai/x").embedder.model == "openai/x"


def test_what_a_provider_needs_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="url is missing"):
        load(tmp_path, provider="openai", model="m")
    with pytest.raises(ConfigError, match="model is missing"):
        load(tmp_path, provider="openai", url="http://127.0.0.1:1/v1")
    assert load(tmp_path, provider="tei").embedder_url == "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    ("url", "is_unencrypted"),
    [
        ("http://10.0.0.7:8080", True),
        ("HTTP://models.example", True),
        ("https://models.example", False),
        ("http://127.0.0.1:8080", False),
        ("", False),
    ],
)
def test_health_warns_of_code_that_goes_to_a_sentence_transformer_unencrypted(
    tmp_path: Path, url: str, is_unencrypted: bool
) -> None:
    environment = {"ATLAS_QUALITY_URL": url}
    settings = load_settings(str(tmp_path), environment=environment, start=tmp_path)
    assert settings.quality_unencrypted == is_unencrypted
    counts = ProjectStats("shop", "", 1, "", 1, {}, {}, {}, 0, 0, 3, 3, {}, 0, 0, quality_chunks=3, quality_vectors=3)
    check = quality_check(counts, url, "atlas index --quality", unencrypted=settings.quality_unencrypted)
    assert check.state == ("warning" if is_unencrypted else "ok")
