"""What a preparation says while it works."""

import time
from collections.abc import Callable

from ensemble.datasets.download_manifest import RemoteFile

Progress = Callable[[float | None, str], None]
REPORT_INTERVAL_S = 0.1


class FetchProgress:
    """Turns bytes of single files into a fraction of the whole, now and then.

    Args:
      progress: called as progress(fraction in [0, 1] or None, message), or None to be silent.
      total: bytes of all files together.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress = progress
        self.total = total
        self.completed_bytes = 0  # bytes of the files that are done
        self.last_report_time = -REPORT_INTERVAL_S

    def report_message(self, fraction: float | None, message: str) -> None:
        """Passes a message on at once."""
        self.last_report_time = time.monotonic()
        if self.progress:
            self.progress(fraction, message)

    def report_bytes(self, file: RemoteFile, done: int, attempt: int) -> None:
        """`done` bytes of `file` have come: told when it begins, then ten times a second."""
        if not done or time.monotonic() - self.last_report_time >= REPORT_INTERVAL_S:
            again = f" (attempt {attempt})" if attempt > 1 else ""
            fraction = min((self.completed_bytes + done) / self.total, 1.0)
            self.report_message(fraction, f"Fetching {file.name}, {_format_byte_progress(done, file.size)}{again}")

    def finish_file(self, file: RemoteFile) -> None:
        """`file` is here as a whole."""
        self.completed_bytes += file.size


def _format_byte_progress(done: int, size: int) -> str:
    """So many bytes of so many: "3.2 of 9.9 MB", "12 of 29 kB"."""
    if size < 1e6:
        return f"{done / 1e3:.0f} of {size / 1e3:.0f} kB"
    return f"{done / 1e6:.1f} of {size / 1e6:.1f} MB"
