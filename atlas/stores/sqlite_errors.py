"""The one place where SQLite's exceptions become errors of `atlas.errors`."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from atlas.errors import QueryError, StoreError, Unavailable, WriterBusy

REBUILD = "rebuild it: atlas index --full"


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Raise `WriterBusy` for a busy database and `StoreError` for every other failure of SQLite or damaged content.

    Text that cannot be written as UTF-8 raises `QueryError`.
    """
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise WriterBusy(f"the index is busy: {error}", "try again in a moment") from error
    except UnicodeEncodeError as error:
        raise QueryError("the text holds characters that are not valid Unicode", "send valid UTF-8") from error
    except apsw.InterruptError as error:
        raise Unavailable("the index was closed while it was read", "try again") from error
    except apsw.FullError as error:
        raise StoreError(
            f"no space left to write the index at {path}", "free disk space and run: atlas index"
        ) from error
    except (apsw.NotADBError, apsw.CorruptError, zlib.error, struct.error, UnicodeDecodeError) as error:
        raise StoreError(f"the index at {path} is damaged: {error}", REBUILD) from error
    except apsw.ReadOnlyError as error:
        raise StoreError(
            f"the index at {path} cannot be written: {error}", "check the permissions of its folder"
        ) from error
    except (apsw.CantOpenError, apsw.IOError, apsw.PermissionsError, apsw.AuthError) as error:
        raise StoreError(
            f"the index at {path} cannot be read or written: {error}", "check its folder and disk"
        ) from error
    except apsw.Error as error:
        raise StoreError(f"the index at {path} failed: {error}", REBUILD) from error
    except OSError as error:
        raise StoreError(f"the index at {path} failed: {error}", "check its folder and disk") from error
