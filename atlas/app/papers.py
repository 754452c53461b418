"""Composition of papers: settings -> library, service, index and the notes about papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from atlas.adapters.opening.embedder import make_prose_embedder
from atlas.adapters.opening.models import make_language_model
from atlas.core.errors import AtlasError
from atlas.runtime.config.load import personal_settings
from atlas.runtime.process.data_folder import papers_index
from atlas.runtime.process.installation_key import papers_folder

if TYPE_CHECKING:
    from atlas.core.paper_source import CitationSource, PaperLinks
    from atlas.papers.desk import PaperNote, PapersDesk
    from atlas.runtime.config.load import Settings


def make_papers_desk(settings: Settings) -> PapersDesk:
    """Return the verbs over the user's library. Opens and sends nothing yet."""
    from atlas.adapters.paper_services.arxiv import ArxivSource
    from atlas.papers.desk import PapersDesk
    from atlas.papers.finder import PaperFinder
    from atlas.papers.index import PaperIndex
    from atlas.papers.library import PaperLibrary
    from atlas.papers.references import References

    chosen, folder = settings.papers, _folder(settings)
    source = ArxivSource(chosen.url, folder, chosen.pause_ms / 1000, chosen.retries, float(chosen.timeout_seconds))
    finder = PaperFinder(PaperLibrary(folder), source, chosen.days)
    references = References(folder, _citation_source(settings, folder))
    index = PaperIndex(make_prose_embedder(settings), papers_index(folder))
    model = make_language_model(settings)
    return PapersDesk(finder, index, references, lambda paper: _notes_on(settings, paper), model)


def read_zotero(settings: Settings, collection: str, url: str = "") -> str:
    """Return the library of the Zotero that runs here, or one of its collections, as CSL-JSON.

    Raises Unavailable if it does not run, ConfigError if it refuses, NotFound for an unknown collection.
    """
    import json

    from atlas.adapters.paper_services.zotero import LOCAL, ZoteroLibrary

    library = ZoteroLibrary(_folder(settings), float(settings.papers.timeout_seconds), url or LOCAL)
    try:
        return json.dumps(library.items(collection))
    finally:
        library.close()


def make_paper_links(settings: Settings) -> PaperLinks:
    """Return what the user's stored papers say about one another. Reads nothing yet, and asks no service."""
    from atlas.papers.library import PaperLibrary
    from atlas.papers.links import StoredLinks
    from atlas.papers.references import References
    from atlas.papers.stored_citations import StoredCitations

    folder = _folder(settings)
    return StoredLinks(StoredCitations(PaperLibrary(folder), References(folder, None)))


def _folder(settings: Settings) -> Path:
    chosen = settings.papers.folder
    return Path(chosen).expanduser() if chosen else papers_folder()


def _citation_source(settings: Settings, folder: Path) -> CitationSource | None:
    """Return the configured citation service, None without one."""
    chosen = settings.papers
    if not chosen.citations_url:
        return None
    if chosen.citations_format == "openalex":
        from atlas.adapters.paper_services.openalex import OpenAlex as Service
    else:
        from atlas.adapters.paper_services.semantic_scholar import SemanticScholar as Service

    return Service(
        chosen.citations_url,
        chosen.citations_api_key,
        folder,
        float(chosen.timeout_seconds),
        chosen.citations_pause_ms / 1000,
    )


def _notes_on(settings: Settings, paper: str) -> list[PaperNote]:
    """Return the notes, of the project and of the user, whose source is a paper."""
    from atlas.knowledge.notes.folder import KnowledgeFolder
    from atlas.knowledge.notes.listing import notes
    from atlas.papers.desk import MAX_NOTES, PaperNote
    from atlas.papers.wanted import is_source

    found: list[PaperNote] = []
    for one in (settings, *([personal_settings(settings)] if settings.knowledge.personal else ())):
        try:
            folder = KnowledgeFolder(one.root, one.knowledge.folder, one.data_dir)
            for note in notes(folder, text=paper):
                if is_source(note.note.source, paper):
                    found.append(PaperNote(note.note.id, note.path, note.text))
                if len(found) >= MAX_NOTES:
                    return found
        except AtlasError:  # `atlas notes doctor` says what is wrong with the folder
            continue
    return found
