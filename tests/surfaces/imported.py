"""Imports and loads what most commands of `atlas` need, for the process that commands are forked from (`forked.py`)."""

import contextlib
import gc
import importlib
import pkgutil
from pathlib import Path

import atlas
from atlas.code.index import detectors
from atlas.parsing import Cl100kCounter, load_languages, search_terms

PARTS = ("answers", "app", "cli", "code", "core", "languages", "parsing", "runtime", "adapters.stores.sqlite")

for _part in PARTS:
    _folder = Path(atlas.__file__).parent.joinpath(*_part.split("."))
    for _module in pkgutil.walk_packages([str(_folder)], f"atlas.{_part}."):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(_module.name)
# forks share languages and tokens as well: nothing writes to them, and loading them starts no threads
load_languages(detectors=[*detectors.built_in(), *detectors.installed()])
load_languages()
search_terms()
Cl100kCounter().count("")
gc.freeze()
