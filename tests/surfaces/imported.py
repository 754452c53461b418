"""Imports what most commands of `atlas` need, for the process that commands are forked from (`forked.py`)."""

import contextlib
import gc
import importlib
import pkgutil
from pathlib import Path

import atlas

PARTS = ("answers", "app", "cli", "code", "core", "languages", "parsing", "runtime", "adapters.stores.sqlite")

for _part in PARTS:
    _folder = Path(atlas.__file__).parent.joinpath(*_part.split("."))
    for _module in pkgutil.walk_packages([str(_folder)], f"atlas.{_part}."):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(_module.name)
gc.freeze()
