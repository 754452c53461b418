"""Checks between settings: whether stores, servers and language folders are described completely, and worker tiers.

Raises ConfigError without showing a secret. `load.py` refuses server settings from a repository's own file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from atlas.core.errors import ConfigError
from atlas.runtime.config.addresses import masked
from atlas.runtime.config.settings import BOLT_SCHEMES, SERVERS, TEI_URL, Settings

LEADER_TIERS = ("graph", "ast")
"""Tiers that share a project's tree, manifest and linker, and therefore run in one process."""

TIERS = (*LEADER_TIERS, "embed")

_BOLT_HINT = 'It must look like "bolt://host:7687". Supported schemes: ' + ", ".join(BOLT_SCHEMES)


def check_store(settings: Settings) -> None:
    """Raise ConfigError if the description of the store server is incomplete."""
    store = settings.store
    if not store.url:
        return
    _check_store_url(settings)
    if store.password and not store.user:
        raise ConfigError("store.user is missing: whose password is it?", "Set ATLAS_STORE_USER, for example to neo4j.")
    if store.ca_file:
        _check_certificate(settings)


def check_embedder(settings: Settings) -> None:
    """Raise ConfigError if the description of the embedding server or of the sentence transformer is incomplete."""
    _check_quality(settings)
    chosen = settings.embedder
    if chosen.provider not in SERVERS:
        return
    if settings.embedder_url:
        looks = 'It must look like "http://host:port" or "https://host/v1".'
        hints = (looks, "Put the key into the environment variable ATLAS_EMBEDDER_API_KEY.")
        _check_address(settings, "embedder.url", settings.embedder_url, "a server", hints)
    if chosen.provider == "openai" and not chosen.url:
        raise ConfigError(
            "embedder.url is missing: which server is it?",
            "Set ATLAS_EMBEDDER_URL, for example to http://127.0.0.1:11434/v1 or https://api.openai.com/v1.",
        )
    if chosen.provider != "tei" and not chosen.model:
        hint = "Set ATLAS_EMBEDDER_MODEL to a name that the server knows."
        raise ConfigError(f'embedder.model is missing: provider "{chosen.provider}" needs one', hint)
    if chosen.provider == "tei" and chosen.api_key and not chosen.url:
        raise ConfigError(
            "embedder.url is missing: which server is the key for?",
            f"Set ATLAS_EMBEDDER_URL, for example to {TEI_URL}: a key is sent only to a server that was named.",
        )


def check_published(settings: Settings) -> None:
    """Raise ConfigError unless the source of published indexes is a folder or a server that can be believed."""
    source, origin = settings.published.source, settings.origin("published.source")
    if "://" in source:
        looks = 'It must look like "https://host:8767", or be the path of a folder.'
        hint = "Put the token into the environment variable ATLAS_PUBLISHED_TOKEN."
        _check_address(settings, "published.source", source, "a server", (looks, hint))
        if settings.published_unencrypted and not settings.published.signer:
            raise ConfigError(
                f"{origin}: published.source is asked unencrypted: anybody on the way could change the index",
                "Use https://, or name the key of who signs the indexes: published.signer.",
            )
    elif source and not Path(source).expanduser().is_absolute():
        raise ConfigError(f"{origin}: published.source must be an absolute path: {source}", 'Or a path with "~/".')


def check_worker(all_settings: Sequence[Settings], tiers: Sequence[str]) -> None:
    """Raise ConfigError unless a worker process can run these tiers."""
    if unknown := [tier for tier in tiers if tier not in TIERS]:
        raise ConfigError(f"no tier is called {unknown[0]!r}", f"The tiers are {', '.join(TIERS)}.")
    if len({tier in tiers for tier in LEADER_TIERS}) == 2 or not tiers:
        raise ConfigError(
            "the tiers graph and ast share the tree, the manifest and the linker of a project",
            "Give both or neither: --tiers graph,ast,embed, --tiers graph,ast or --tiers embed.",
        )
    first = all_settings[0]
    if not first.store.url:
        raise ConfigError(
            "a worker needs a store on a server: the embedded one is a file that one process writes",
            "Set ATLAS_STORE_URL (and ATLAS_BUS_URL), or run: atlas daemon start",
        )
    if not first.bus.url:
        raise ConfigError("a worker needs a bus on a server that all hosts reach", "Set ATLAS_BUS_URL.")
    if "embed" in tiers and not first.embedder.embeds:
        raise ConfigError('there is nothing to embed with: embedder.provider is "none"', "Give --tiers graph,ast.")


def with_index_at(settings: Settings, place: str, here: Path) -> Settings:
    """Return the settings with the index at `place`: a server's address, or a folder relative to `here`.

    User, password and limits stay those of `settings`. Raises ConfigError for an invalid address.
    """
    origins = {**settings.origins, "store.url": "command line", "data_dir": "--data-dir"}
    if "://" in place:
        ca_file = settings.store.ca_file if "+s://" in place else ""
        changed = replace(settings, store=replace(settings.store, url=place, ca_file=ca_file), origins=origins)
        check_store(changed)
        return changed
    folder = (here / Path(place).expanduser()).resolve()
    return replace(settings, store=replace(settings.store, url=""), data_dir=folder, origins=origins)


def _check_store_url(settings: Settings) -> None:
    url, hint = settings.store.url, "Set ATLAS_STORE_USER and ATLAS_STORE_PASSWORD instead."

    def is_bolt(parts: SplitResult) -> bool:
        return url.startswith(BOLT_SCHEMES) and not parts.path

    _check_address(settings, "store.url", url, "a Bolt server", (_BOLT_HINT, hint), is_bolt)


def _is_web(parts: SplitResult) -> bool:
    return parts.scheme in ("http", "https")


def _check_address(
    settings: Settings,
    key: str,
    url: str,
    server: str,
    hints: tuple[str, str],
    is_wanted: Callable[[SplitResult], bool] = _is_web,
) -> None:
    """Raise ConfigError for a setting that is not the address of a server, or that holds a user or password.

    `hints` say what an address looks like, and where a password goes.
    """
    origin = settings.origin(key)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not is_wanted(parts) or not host or parts.query or parts.fragment or "\\" in url:
        raise ConfigError(f"{origin}: {key} is not the address of {server}: {masked(url)}", hints[0])
    if parts.username is not None or parts.password is not None:
        raise ConfigError(f"{origin}: {key} must not hold a user or password: {masked(url)}", hints[1])


def _check_certificate(settings: Settings) -> None:
    store, origin = settings.store, settings.origin("store.ca_file")
    if "+s://" not in store.url:
        raise ConfigError(
            f"{origin}: store.ca_file applies only to bolt+s:// and neo4j+s://, not for {masked(store.url)}",
            "Use a scheme with +s, or remove the file.",
        )
    path = settings.root / store.ca_file
    if not path.is_file():
        raise ConfigError(f"{origin}: store.ca_file is not a file: {path}", "Name a PEM file.")


def check_languages(settings: Settings) -> None:
    """Raise ConfigError for a folder of languages that is not absolute or not there."""
    origin = settings.origin("languages.folders")
    for written, folder in zip(settings.languages.folders, settings.language_folders, strict=True):
        if not folder.is_absolute():
            raise ConfigError(
                f"{origin}: languages.folders must hold absolute paths, not {written!r}", 'A path may begin with "~/".'
            )
        if not folder.is_dir():
            raise ConfigError(
                f"{origin}: languages.folders: no such folder: {written}",
                "Give the folder that holds one folder per language, each with a language.toml.",
            )


def check_packs(settings: Settings) -> None:
    """Raise ConfigError for an invalid address of a reranking server, or a model without an absolute path."""
    _check_model(settings, "packs.reranker_model", settings.packs.reranker_model, "packs.reranker_url")
    _check_model_server(settings, "packs.reranker_url", settings.packs.reranker_url, "ATLAS_PACKS_RERANKER_API_KEY")


def _check_quality(settings: Settings) -> None:
    """Raise ConfigError for an invalid address of a sentence transformer, or a model without an absolute path."""
    chosen = settings.quality
    _check_model(settings, "quality.model", chosen.model, "quality.url")
    _check_model_server(settings, "quality.url", chosen.url, "ATLAS_QUALITY_API_KEY")
    if chosen.is_on and settings.embedder.provider == "none":
        origin = settings.origin("quality.model" if chosen.model else "quality.url")
        raise ConfigError(
            f'{origin}: a sentence transformer needs vectors of the fast model, but embedder.provider is "none"',
            'Set embedder.provider = "static".',
        )


def _check_model(settings: Settings, key: str, model: str, server: str) -> None:
    """Raise ConfigError for a folder of a model that is not absolute, or that a server excludes.

    A folder that is not there is no error: everything else works without the model, and its use says what is missing.
    """
    if not model:
        return
    origin, section = settings.origin(key), server.partition(".")[0]
    if getattr(getattr(settings, section), server.partition(".")[2]):
        raise ConfigError(f"{origin}: {key} and {server} exclude each other", "Set one of them.")
    if not Path(model).expanduser().is_absolute():
        raise ConfigError(f"{origin}: {key} must be an absolute path, not {model!r}", 'It may begin with "~/".')


def _check_model_server(settings: Settings, key: str, url: str, key_variable: str) -> None:
    """Raise ConfigError for an invalid address of a server with a model, or one that holds a password."""
    hint = f"Put a key into the environment variable {key_variable}."
    if url:
        _check_address(settings, key, url, "a server", ('It must look like "http://127.0.0.1:8081".', hint))


def check_papers(settings: Settings) -> None:
    """Raise ConfigError for an invalid address of the paper service, or a folder that is not absolute."""
    _check_service(settings, "url", "https://export.arxiv.org/api/query", "arXiv needs none.")
    if settings.papers.citations_url:
        hint = "Put a key into the environment variable ATLAS_PAPERS_CITATIONS_API_KEY."
        _check_service(settings, "citations_url", "https://api.semanticscholar.org/graph/v1", hint)
    folder = settings.papers.folder
    if folder and not Path(folder).expanduser().is_absolute():
        origin = settings.origin("papers.folder")
        raise ConfigError(
            f"{origin}: papers.folder must be an absolute path, not {folder!r}", 'It may begin with "~/".'
        )


def _check_service(settings: Settings, name: str, example: str, without_password: str) -> None:
    """Raise ConfigError for a setting of `[papers]` that is not the address of a service."""
    url, hints = str(getattr(settings.papers, name)), (f'It must look like "{example}".', without_password)

    def is_service(parts: SplitResult) -> bool:
        return _is_web(parts) and "{" not in url

    _check_address(settings, f"papers.{name}", url, "a service", hints, is_service)


def check_knowledge(settings: Settings) -> None:
    """Raise ConfigError for a folder of notes outside of the project, or one of git or of this program."""
    folder = settings.knowledge.folder
    parts = folder.split("/")
    if "\\" in folder or ":" in folder or any(part in ("", ".", "..") for part in parts):
        problem = "must be a folder inside the project"
    elif any(part.startswith(".") for part in parts[:-1]) or parts[-1].lower() in (".git", ".atlas"):
        problem = "must not be in a hidden folder, nor be .git or .atlas"
    else:
        return
    origin = settings.origin("knowledge.folder")
    raise ConfigError(f"{origin}: knowledge.folder {problem}: {folder!r}", 'For example: folder = ".knowledge"')
