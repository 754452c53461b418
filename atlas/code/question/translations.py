"""Which documents are translations, by their path: `docs/zh/guide.md`, `README.ja.md`, `README_CN.md`. Pure."""

from __future__ import annotations

import re

_CODES = (
    "ar|bg|bn|ca|cs|da|de|el|es|fa|fi|fr|he|hi|hr|hu|hy|id|it|ja|jp|ka|kk|ko|kr|lt|lv|ms|my|nb|nl|no|pl|pt|ro|ru|sk|sl|sr"
    "|sv|th|tr|tw|ua|uk|ur|uz|vi|vn|zh|cn"
)
"""Codes of languages (ISO 639-1) that documents are translated to, and of countries in use for them; not English."""
_REGION = r"(?:[-_](?:hans|hant|[a-z]{2}|419))?"
_FOLDER = re.compile(rf"(?:^|/)(?:{_CODES}){_REGION}/", re.IGNORECASE)
_TITLED = r"(?:readme|changelog|contributing|install|code_of_conduct)[-_]"
_FILE = re.compile(rf"(?:\.|(?:^|/){_TITLED})(?:{_CODES}){_REGION}\.(?:md|mdx|markdown|rst|txt|adoc)$", re.IGNORECASE)
_PLACES = re.compile(r"(?:^|/)(?:docs?|documentation|i18n|locales?|translations?|content|site|website)/", re.IGNORECASE)


def is_translation(path: str) -> bool:
    """Return whether a document's name, or a folder below one of documents, names a language other than English."""
    return bool(_FILE.search(path)) or bool(_FOLDER.search(path) and _PLACES.search(path))
