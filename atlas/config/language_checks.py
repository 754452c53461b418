"""What settings must say of the folders with languages of the user; their content is checked when they are loaded."""

from __future__ import annotations

from atlas.config.settings import Settings
from atlas.errors import ConfigError


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
