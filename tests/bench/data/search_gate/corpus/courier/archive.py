import gzip
import shutil
from pathlib import Path

KEEP_DAYS = 90


def compress_old_tours(folder, today):
    for path in Path(folder).glob("*.json"):
        if today - path.stat().st_mtime > KEEP_DAYS * 86400:
            with path.open("rb") as source, gzip.open(f"{path}.gz", "wb") as target:
                shutil.copyfileobj(source, target)
            path.unlink()


def restore_tour(path):
    with gzip.open(path, "rt") as source:
        return source.read()
