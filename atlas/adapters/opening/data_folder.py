"""The data folder of a project as its settings name it."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError
from atlas.runtime.config.load import is_trusted
from atlas.runtime.process.data_folder import make_folder, move_legacy_folder

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings


def prepare_data_folder(settings: Settings) -> None:
    """Create the data folder or check the existing one; moves a folder from an earlier location if it is authentic.

    Raises ConfigError for a folder that this installation did not create, and for one that is not writable.
    """
    folder, root = settings.data_dir, settings.root
    if not os.access(root, os.R_OK | os.X_OK):
        raise ConfigError(f"{root} cannot be read.", "Check the permissions of the folder and of those above it.")
    try:
        if settings.origin("data_dir") == "default":
            move_legacy_folder(settings.root, folder)
        make_folder(folder, settings.root, trust=is_trusted())
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        hint = "Check its permissions, or choose another folder with --data-dir."
        raise ConfigError(f"cannot write to the data folder {folder}: {error.strerror}", hint) from error
