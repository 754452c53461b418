"""Composition of the check whether files are newer than the index."""

from __future__ import annotations

from functools import partial

from atlas.app.main import current_scope, own_rules_digest
from atlas.code.index.project.tree_check import CheckedTree, TreeCheck
from atlas.code.index.project.tree_snapshot import FILE
from atlas.parsing import language_files_state, load_languages
from atlas.runtime.config.load import Settings


def make_tree_check(settings: Settings) -> TreeCheck:
    """Return a check of the project's tree, which keeps the scanned tree in the data folder for the next session."""
    # other hosts may write an index on a server
    snapshot = None if settings.store.url else settings.data_dir / FILE.format(project=settings.project_name)
    return TreeCheck(
        CheckedTree(
            project=settings.project_name,
            root=settings.root,
            languages=partial(load_languages, settings.language_folders, settings.knowledge.folder),
            scope=partial(current_scope, settings),
            languages_state=partial(language_files_state, settings.language_folders, settings.knowledge.folder),
            snapshot=snapshot,
            rules_file=settings.index.detectors,
            rules=partial(own_rules_digest, settings),
        )
    )
