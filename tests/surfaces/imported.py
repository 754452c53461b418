"""Imports and loads what most commands of `atlas` need, for the process that commands are forked from (`forked.py`)."""

import contextlib
import gc
import importlib
import pkgutil
from pathlib import Path

import atlas
from atlas.code.index import detectors
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.parse_question import route
from atlas.parsing import Cl100kCounter, load_languages, search_terms, split_words
from tests.kept_models import KEPT_MODELS

PARTS = ("answers", "app", "cli", "code", "core", "languages", "parsing", "runtime", "adapters.stores.sqlite")

for _part in PARTS:
    _folder = Path(atlas.__file__).parent.joinpath(*_part.split("."))
    for _module in pkgutil.walk_packages([str(_folder)], f"atlas.{_part}."):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(_module.name)
# forks share what is loaded and compiled once as well: nothing writes to it, and loading it starts no threads
load_languages(detectors=[*detectors.built_in(), *detectors.installed()])
load_languages()
route("which functions call what decides?", split_words, language_terms(map(LanguageRow._make, search_terms())))
Cl100kCounter().count("")
for _model in KEPT_MODELS:
    _ = _model.code_encoder() or _model.prose_encoder()
gc.freeze()
