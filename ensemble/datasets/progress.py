"""What a preparation says while it works."""

import time
from collections.abc import Callable

from ensemble.datasets.sources import RemoteFile

Progress = Callable[[float | None, str], None]
SECONDS_BETWEEN = 0.1


class Teller:
    """Turns bytes of single files into a fraction of the whole, now and then.

    Args:
      progress: called as progress(fraction in [0, 1] or None, message), or None to be silent.
      total: bytes of all files together.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress = progress
        self.total = total
        self.before = 0  # bytes of the files that are done
        self.told = -SECONDS_BETWEEN

    def say(self, fraction: float | None, message: str) -> None:
        """Passes a message on at once."""
        self.told = time.monotonic()
        if self.progress:
            self.progress(fraction, message)

    def fetching(self, file: RemoteFile, done: int, attempt: int) -> None:
        """`done` bytes of `file` have come: told when it begins, then ten times a second."""
        if not done or time.monotonic() - self.told >= SECONDS_BETWEEN:
            again = f" (attempt {attempt})" if attempt > 1 else ""
            fraction = min((self.before + done) / self.total, 1.0)
            self.say(fraction, f"Fetching {file.name}, {amount(done, file.size)}{again}")

    def finished(self, file: RemoteFile) -> None:
        """`file` is here as a whole."""
        self.before += file.size


def amount(done: int, size: int) -> str:
    """So many bytes of so many: "3.2 of 9.9 MB", "12 of 29 kB"."""
    if size < 1e6:
        return f"{done / 1e3:.0f} of {size / 1e3:.0f} kB"
    return f"{done / 1e6:.1f} of {size / 1e6:.1f} MB"
