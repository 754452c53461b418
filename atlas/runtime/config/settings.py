"""The settings: every section with its defaults, bounds and help texts, and `Settings`, which holds all of them.

Values only; `load.py` reads them from files and variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from atlas.core.ids import project_name
from atlas.runtime.config.addresses import is_loopback, masked
from atlas.runtime.config.declare import IgnoredSetting, setting
from atlas.runtime.config.knowledge import (
    ChatSettings,
    KnowledgeSettings,
    LanguageModelSettings,
    MemorySettings,
    PacksSettings,
    PapersSettings,
)
from atlas.runtime.config.search import QualitySettings, SearchSettings

UNIX_SOCKET = "unix://"
"""Prefix of an address that is the path of a Unix socket, absolute or relative to the project root."""


TEI_URL = "http://127.0.0.1:8080"
"""Address of the embedding server in docker-compose.yml."""

BOLT_SCHEMES = ("bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://")
"""Schemes of a Bolt server's address: `+s` is encrypted, `+ssc` is encrypted without verifying the certificate."""

_SECRET = "***"


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """`[project]`."""

    name: str = setting("", 'Name of the project in uids and answers; "" = the name of its folder.', shared=True)


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """`[scope]`: which files are indexed."""

    include: tuple[str, ...] = setting(
        (), "Globs relative to the project root; if given, only matching files are indexed.", shared=True
    )
    exclude: tuple[str, ...] = setting(
        (), "Globs of files to leave out, in addition to .gitignore and .atlasignore.", shared=True
    )
    max_file_bytes: int = setting(1_048_576, "Larger files are skipped.", 1024, 104_857_600, shared=True)
    git_rules: bool = setting(True, "Obey .gitignore, .git/info/exclude and nested ignore files.", shared=True)
    include_generated: bool = setting(False, "Index files whose header marks them as generated.", shared=True)
    plain_text: bool = setting(
        True, "Index configuration, markup and languages without a grammar as windows of lines.", shared=True
    )


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """`[languages]`: languages of the user, in addition to those that ship with Code Atlas."""

    folders: tuple[str, ...] = setting(
        (), "Folders with a folder per language, each with a language.toml; on equal names the last one wins."
    )


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """`[store]`: where the index is stored."""

    url: str = setting(
        "", f'Address of a Bolt server: {", ".join(BOLT_SCHEMES)}; "" = a file in the data folder.', secret=True
    )
    database: str = setting("", 'Database on the server; "" = its default database.')
    user: str = setting("", 'User on the server; "" = no authentication.')
    password: str = setting("", "Password on the server; from the environment only: ATLAS_STORE_PASSWORD.", key=True)
    ca_file: str = setting("", 'PEM file of trusted certificate authorities; "" = those of the system.')
    connect_seconds: int = setting(5, "Time limit for connecting.", 1, 300)
    read_seconds: int = setting(30, "Time limit for a query.", 1, 3600)
    write_seconds: int = setting(300, "Time limit for a write transaction.", 1, 86_400)


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """`[embedder]`: what computes vectors."""

    provider: str = setting(
        "static",
        'What computes vectors: "static" (in this process), "none", or a server: "tei", "openai", "litellm".',
        choices=("static", "none", "tei", "openai", "litellm"),
    )
    prose: str = setting(
        "auto",
        'What computes vectors of notes: "static" (in this process), "none"; "auto" = "none" only if provider is.',
        choices=("auto", "static", "none"),
    )
    url: str = setting("", f'Address of the server; "" = {TEI_URL} for "tei".', secret=True)
    api_key: str = setting("", "Key of the server; from the environment only: ATLAS_EMBEDDER_API_KEY.", key=True)
    model: str = setting("", 'Model to request from the server; "" = the model of a TEI server.')
    dimensions: int = setting(0, "Dimensions of a vector; 0 = the model's default.", 0, 16_384)
    query_prefix: str = setting("auto", 'Prefix of a query; "auto" = the one the model was trained with.')
    document_prefix: str = setting("auto", 'Prefix of a document; "auto" = the one the model was trained with.')
    batch: int = setting(32, "Texts per request; a TEI server's own limit also applies.", 1, 2048)
    concurrency: int = setting(4, "Concurrent requests.", 1, 64)
    timeout_seconds: int = setting(30, "Time limit for a request.", 1, 600)
    cache: str = setting(
        "auto",
        'Cache vectors by content: "on", "off"; "auto" = for models slower than a cache lookup.',
        choices=("auto", "on", "off"),
    )
    cache_mb: int = setting(256, "Size of the cache; least recently used vectors are evicted first.", 1, 100_000)

    @property
    def embeds_prose(self) -> bool:
        """Whether notes get vectors."""
        return self.prose == "static" or (self.prose == "auto" and self.provider != "none")

    @property
    def embeds(self) -> bool:
        """Whether anything gets vectors."""
        return self.provider != "none" or self.embeds_prose

    def in_process(self) -> EmbedderSettings:
        """Return the settings that make the vectors that need no server."""
        prose = "static" if self.embeds_prose else "none"
        return replace(self, provider="none", prose=prose) if self.provider in SERVERS else self


@dataclass(frozen=True, slots=True)
class McpSettings:
    """`[mcp]`: what agents may do, and limits of the HTTP server."""

    allow_index: bool = setting(True, "Offer agents the `index` tool, and index newer files before an answer.")
    index_on_demand: bool = setting(
        True, "Index a project without an index at the first question; for agents in the background."
    )
    start_daemon: bool = setting(
        True, "Start the project's daemon with the first session over stdio; it serves all. Stop: atlas daemon stop."
    )
    toolsets: tuple[str, ...] = setting(
        ("code",), "Toolsets that agents see: code, query (only questions about code), claims, memory, packs."
    )
    host: str = setting("127.0.0.1", "Address that `--transport http` listens on.")
    port: int = setting(8765, "Port for HTTP; 0 = any free port.", 0, 65_535)
    max_body_bytes: int = setting(1_048_576, "Larger HTTP requests are rejected with 413.", 1024, 67_108_864)
    request_seconds: int = setting(300, "HTTP requests that take longer end with 504.", 1, 86_400)
    max_concurrent: int = setting(8, "HTTP requests processed at the same time.", 1, 1000)
    max_starting: int = setting(
        0, "Of these, in their first 0.25 s; 0 = 2, or no limit when index or embedder is a server.", 0, 1000
    )
    max_waiting: int = setting(256, "HTTP requests that wait; beyond it they are rejected with 503.", 0, 10_000)
    max_per_client: int = setting(128, "Requests of one address; beyond it 429; 0 = no limit.", 0, 10_000)
    tracing: str = setting(
        "", 'Where spans of calls are sent: "otlp" = a collector of OpenTelemetry; "" = nowhere.', choices=("", "otlp")
    )
    workers: int = setting(1, "HTTP server processes, each with these limits; 0 = one per core.", 0, 256)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """`[index]`: resources that indexing may use."""

    threads: int = setting(0, "Threads for scanning, parsing and embedding; 0 = one per core.", 0, 256)
    seed: bool = setting(
        True, "Make the first index of a work tree or clone from the nearest index of the same repository."
    )
    parse_timeout_ms: int = setting(1000, "CPU time limit for parsing one file.", 50, 60_000)
    detectors: str = setting(
        ".atlas/detectors.toml", 'The project\'s own rules for routes and events (data only); "" = none.'
    )


@dataclass(frozen=True, slots=True)
class PublishedSettings:
    """`[published]`: indexes of commits that others have made."""

    source: str = setting(
        "",
        "Where first indexes come from, and where `atlas index --publish` puts them: a folder, or the address of a "
        'server that runs `atlas published serve`; "" = nowhere.',
        secret=True,
    )
    token: str = setting("", "Token of that server; from the environment only: ATLAS_PUBLISHED_TOKEN.", key=True)
    signer: str = setting("", 'Only indexes with this signature: a trusted key\'s name, or a public key; "" = any.')


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """`[cache]`: how long the data folders in the user's cache stay; any of them can be made again."""

    prune: bool = setting(True, "Remove data folders beyond these limits when another project is indexed first.")
    max_days: int = setting(90, "Data folders that nothing has used for so long are removed; 0 = no limit.", 0, 36_500)
    max_mb: int = setting(
        20_000, "Above this size of all together, the least recently used are removed; 0 = no limit.", 0, 100_000_000
    )


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """`[workspace]`: projects that answer together."""

    members: tuple[str, ...] = setting(
        (), "Absolute roots of projects that answer together; NAME=ROOT for one of several workspaces."
    )


@dataclass(frozen=True, slots=True)
class BusSettings:
    """`[bus]`: where the daemon's streams are stored."""

    url: str = setting(
        "", '"valkey://host:port/db", "valkeys://" (TLS) or "unix:///path"; "" = start a server.', secret=True
    )
    prefix: str = setting("", "Prefix of all key names, for a server shared with other programs.")
    max_attempts: int = setting(5, "Deliveries of an event before it becomes a dead letter.", 1, 100)
    redeliver_seconds: int = setting(60, "Events of a dead worker are delivered again after this.", 1, 3600)
    capacity: int = setting(
        100_000, "Events per stream; beyond it the whole project is scanned instead.", 100, 10_000_000
    )


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """`[pipeline]`: how the tiers form batches. A batch ends at its window or size, or when events pause."""

    graph_window_ms: int = setting(500, "Tier 1 collects changed files for at most this long.", 0, 60_000)
    ast_window_ms: int = setting(3000, "Tier 2 collects dirty files for at most this long.", 0, 60_000)
    embed_window_ms: int = setting(15_000, "Tier 3 collects changed symbols for at most this long.", 0, 600_000)
    graph_batch: int = setting(2000, "Maximum files per batch of tier 1.", 1, 100_000)
    ast_batch: int = setting(2000, "Maximum files per batch of tier 2.", 1, 100_000)
    embed_batch: int = setting(256, "Maximum symbols per batch of tier 3.", 1, 10_000)
    body_threshold: int = setting(5, "Percent of a body's words that must change for a new vector at once.", 0, 100)


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """`[daemon]`: the process that keeps the index up to date."""

    reconcile_seconds: int = setting(300, "Interval for comparing the whole tree with the index.", 1, 86_400)
    poll_seconds: int = setting(2, "Interval for scanning a tree that cannot be watched.", 1, 3600)
    memory_mb: int = setting(600, "Limit of the daemon's resident memory.", 100, 1_000_000)
    idle_seconds: int = setting(
        1800, "A daemon that a session has started ends this long after the last one.", 1, 604_800
    )
    rest_seconds: int = setting(
        600, "Without a change and a question for this long, a daemon lets its memory go; 0 = never.", 0, 604_800
    )
    lease_seconds: int = setting(10, "On a shared store: a silent project leader is replaced after this.", 2, 600)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a project, with the origin of each value.

    `root` and `data_dir` are absolute, resolved paths. `origins` maps "section.key" and "data_dir" to "<file>:<line>",
    "env <NAME>" or a flag.
    """

    root: Path
    data_dir: Path
    project: ProjectSettings = field(default_factory=ProjectSettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    languages: LanguageSettings = field(default_factory=LanguageSettings)
    knowledge: KnowledgeSettings = field(default_factory=KnowledgeSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    language_model: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    packs: PacksSettings = field(default_factory=PacksSettings)
    papers: PapersSettings = field(default_factory=PapersSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    quality: QualitySettings = field(default_factory=QualitySettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    published: PublishedSettings = field(default_factory=PublishedSettings)
    cache: CacheSettings = field(default_factory=CacheSettings)
    workspace: WorkspaceSettings = field(default_factory=WorkspaceSettings)
    bus: BusSettings = field(default_factory=BusSettings)
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    ignored: tuple[IgnoredSetting, ...] = ()
    """Parts of the project's own file that are not obeyed."""

    def origin(self, key: str) -> str:
        """Return the origin of the value of "section.key"; "default" when it was not set."""
        return self.origins.get(key, "default")

    @property
    def project_name(self) -> str:
        """The configured name, or that of the root folder."""
        return self.project.name or project_name(self.root)

    @property
    def language_folders(self) -> tuple[Path, ...]:
        """Folders with languages of the user."""
        return tuple(Path(folder).expanduser() for folder in self.languages.folders)

    @property
    def store_place(self) -> str:
        """Where the index is, for messages: a server's address without secrets, or the data folder."""
        return masked(self.store.url) or str(self.data_dir)

    @property
    def shared(self) -> bool:
        """Whether processes on other hosts may share the store and the bus."""
        return bool(self.store.url and self.bus.url)

    @property
    def asks_servers(self) -> bool:
        """Whether a query mostly waits for servers (store or embedder) instead of computing."""
        return bool(self.store.url) or self.embedder.provider in SERVERS

    @property
    def bus_address(self) -> str:
        """Address of the bus server: a URL, or the absolute path of a Unix socket; "" = the daemon starts its own."""
        url = self.bus.url
        if url.startswith(UNIX_SOCKET):
            return str(self.root / url.removeprefix(UNIX_SOCKET))
        return url

    @property
    def embedder_url(self) -> str:
        """Address of the embedding server without a trailing "/"; "" = no server, or LiteLLM chooses it."""
        chosen = self.embedder
        if chosen.provider not in SERVERS:
            return ""
        return (chosen.url or (TEI_URL if chosen.provider == "tei" else "")).rstrip("/")

    @property
    def embedder_unencrypted(self) -> bool:
        """Whether code is sent to another machine unencrypted."""
        return _is_unencrypted(self.embedder_url)

    @property
    def quality_unencrypted(self) -> bool:
        """The same for the server of the sentence transformer."""
        return _is_unencrypted(self.quality.url)

    @property
    def published_unencrypted(self) -> bool:
        """The same for the server of published indexes."""
        return _is_unencrypted(self.published.source)

    def entries(self) -> Iterator[tuple[str, object, str]]:
        """Yield ("section.key", value, origin) of every setting in declaration order; passwords are masked."""
        for section, kind in SECTIONS.items():
            for spec in fields(kind):
                key, value = f"{section}.{spec.name}", getattr(getattr(self, section), spec.name)
                yield key, _shown(value, spec.metadata), self.origin(key)


def _is_unencrypted(url: str) -> bool:
    return url.lower().startswith("http:") and not is_loopback(urlsplit(url).hostname or "")


SECTIONS: dict[str, type[Any]] = {
    "project": ProjectSettings,
    "scope": ScopeSettings,
    "search": SearchSettings,
    "languages": LanguageSettings,
    "knowledge": KnowledgeSettings,
    "memory": MemorySettings,
    "language_model": LanguageModelSettings,
    "chat": ChatSettings,
    "packs": PacksSettings,
    "papers": PapersSettings,
    "store": StoreSettings,
    "embedder": EmbedderSettings,
    "quality": QualitySettings,
    "mcp": McpSettings,
    "index": IndexSettings,
    "published": PublishedSettings,
    "cache": CacheSettings,
    "workspace": WorkspaceSettings,
    "bus": BusSettings,
    "pipeline": PipelineSettings,
    "daemon": DaemonSettings,
}


SERVERS = ("tei", "openai", "litellm")
"""Values of embedder.provider that send code to a server."""


def _shown(value: object, metadata: Mapping[str, Any]) -> object:
    if metadata["key"]:
        return _SECRET if value else value
    return masked(str(value)) if metadata["secret"] else value
