"""Removing a dataset of a person's own."""

import os
import secrets
import shutil

from ensemble.datasets.own import entries
from ensemble.errors import StorageError
from ensemble.storage.refusals import remedy, why


def remove(name: str) -> None:
    """Remove it: out of sight in one move, so that no reader meets half of it."""
    folder = entries.folder() / name
    hidden = folder.with_name(f".removed-{secrets.token_hex(4)}")
    if not entries.NAME.fullmatch(name) or not os.path.lexists(folder):
        return
    try:
        folder.rename(hidden)
        shutil.rmtree(hidden)
    except OSError as error:
        raise StorageError(f"{name} cannot be removed ({why(error)}): {remedy(error)}.") from error
