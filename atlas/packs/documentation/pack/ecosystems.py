"""Package ecosystems: by scheme of a source, by ending of an archive, and the scheme that fetches their packages."""

from __future__ import annotations

BY_SCHEME = {"pypi": "python", "installed": "python", "npm": "npm", "crate": "rust"}
BY_ENDING = {"whl": "python", "crate": "rust", "tgz": "npm"}
SCHEMES = {"python": "pypi", "npm": "npm", "rust": "crate"}
