"""Which embedding servers may be named where: a repository's file never decides to whom code is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.config import load_settings
from atlas.errors import ConfigError
from atlas.settings import Settings


def load(root: Path, text: str = "", **variables: str) -> Settings:
    (root / "atlas.toml").write_text(text)
    environment = {f"ATLAS_EMBEDDER_{name.upper()}": value for name, value in variables.items()}
    return load_settings(str(root), environment=environment, start=root)


@pytest.mark.parametrize("url", ["http://localhost:8080", "http://127.0.0.1:9/v1/", "https://[::1]:8080"])
def test_a_repository_may_name_a_server_on_this_machine(tmp_path: Path, url: str) -> None:
    settings = load(tmp_path, f"[embedder]\nprovider = 'openai'\nmodel = 'm'\nurl = '{url}'\n")
    assert settings.embedder_url == url.rstrip("/")
    assert not settings.embedder_unencrypted


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "http://0.0.0.0:8080",
        "http://192.168.1.1:8080",
        "http://2130706433:8080",
        "//example.org",
    ],
)
def test_a_repository_cannot_name_a_server_elsewhere_but_the_user_can(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"atlas\.toml:3: embedder\.url is "):
        load(tmp_path, f"[embedder]\nprovider = 'tei'\nurl = '{url}'\n")
    if url.startswith("http"):
        settings = load(tmp_path, "[embedder]\nprovider = 'tei'\n", url=url)
        assert settings.embedder_url == url
        assert settings.embedder_unencrypted == url.startswith("http:")


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
    with pytest.raises(ConfigError, match=r"embedder\.url is no address"):
        load(tmp_path, provider="tei", url=url)


def test_passwords_belong_into_the_key_and_the_key_into_the_environment(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, provider="tei", url="http://me:hunter2@127.0.0.1")
    assert "must not hold a user" in caught.value.message
    assert "hunter2" not in str(caught.value.message) + caught.value.hint
    for provider in ("tei", "static"):
        with pytest.raises(ConfigError) as caught:
            load(tmp_path, f"[embedder]\nprovider = '{provider}'\napi_key = 'hunter2'\n")
        assert "atlas.toml:3: embedder.api_key must not be in a file" in caught.value.message
        assert "hunter2" not in caught.value.message + caught.value.hint
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "[embedder]\napi_key = ['hunter2']\n")
    assert "hunter2" not in caught.value.message
    settings = load(tmp_path, provider="tei", api_key="hunter2")
    assert settings.embedder.api_key == "hunter2"
    shown = {key: value for key, value, _ in settings.entries()}
    assert shown["embedder.api_key"] == "***"
    assert "hunter2" not in repr(settings)


def test_litellm_is_chosen_by_the_user_and_so_is_its_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"atlas\.toml:2: embedder\.provider decides"):
        load(tmp_path, "[embedder]\nprovider = 'litellm'\nmodel = 'openai/x'\n")
    with pytest.raises(ConfigError, match=r"atlas\.toml:2: embedder\.model decides"):
        load(tmp_path, "[embedder]\nmodel = 'bedrock/x'\n", provider="litellm")
    assert load(tmp_path, provider="litellm", model="openai/x").embedder.model == "openai/x"


def test_what_a_provider_needs_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="url is missing"):
        load(tmp_path, provider="openai", model="m")
    with pytest.raises(ConfigError, match="model is missing"):
        load(tmp_path, provider="openai", url="http://127.0.0.1:1/v1")
    assert load(tmp_path, provider="tei").embedder_url == "http://127.0.0.1:8080"
