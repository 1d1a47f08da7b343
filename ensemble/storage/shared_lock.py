"""A lock between hosts, also on a disk that shows the locks of one host to no other.

The system's own lock keeps the processes of a host apart, and ends with whoever has it. Between
hosts a file beside it does, which only one of them can make. One that a killed process left is
removed: by its own host at once, by another once it has stood unchanged for `_EXPIRY_SECONDS` of
that one's clock. Whoever slept so long has lost the lock, and is told so.
"""

import contextlib
import json
import os
import secrets
import socket
import time
from pathlib import Path

from ensemble.storage.file_lock import NO_LINKS, HeldLock, try_lock

_EXPIRY_SECONDS = 60.0
_MAX_CLAIM_BYTES = 4096


class SharedLock:
    """The right to something that several hosts share, for one holder at a time.

    Args:
      path: the file that processes of this host lock; another beside it is for other hosts.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._claim = path, path.with_name(f"{path.name}.claim")
        self._held: HeldLock | None = None
        self._mine = b""
        self._confirmed = 0.0  # When the claim was last known to be this process's.
        # Another host's claim as it was seen, and since when.
        self._seen: tuple[bytes, int] | None = None
        self._since = 0.0

    def try_acquire(self) -> bool:
        """Take the lock; whether that could be done, now.

        Raises:
          OSError: the files cannot be written, or their disk knows no locks.
        """
        held = try_lock(self._path)
        if held is None:
            return False
        try:
            if self._make_claim() or (self._remove_dead_claim() and self._make_claim()):
                self._held = held
                return True
        except BaseException:
            held.__exit__()
            raise
        held.__exit__()
        return False

    def release(self) -> None:
        """Let go of the lock; nothing is done without it."""
        if held := self._held:
            self._held = None
            try:
                if self.confirm():
                    self._claim.unlink(missing_ok=True)
            finally:
                held.__exit__()

    def confirm(self) -> bool:
        """Whether no other host took the lock, as it may where this process slept."""
        if time.monotonic() - self._confirmed < _EXPIRY_SECONDS / 2:
            return True
        return self.refresh()

    def refresh(self) -> bool:
        """Let other hosts see that the lock is held still; whether it is."""
        try:
            if self._read_claim() != self._mine:
                return False
            os.utime(self._claim)
        except OSError:  # Whoever cannot look now is asked again before the next word.
            return True
        self._confirmed = time.monotonic()
        return True

    def _make_claim(self) -> bool:
        who = {"host": socket.gethostname(), "pid": os.getpid(), "token": secrets.token_hex(8)}
        self._mine = json.dumps(who).encode()
        try:
            descriptor = os.open(self._claim, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS, 0o600)
        except FileExistsError:
            return False
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(self._mine)
        except BaseException:  # A full disk, say: an empty one would keep others waiting.
            self._claim.unlink(missing_ok=True)
            raise
        self._confirmed, self._seen = time.monotonic(), None
        return True

    def _remove_dead_claim(self) -> bool:
        """Remove a claim whose holder is there no more; whether none stands in the way."""
        try:
            seen = self._read_claim(), self._claim.stat().st_mtime_ns
        except FileNotFoundError:
            return True
        if seen != self._seen:
            self._seen, self._since = seen, time.monotonic()
        # One of this host would have the lock of this host, which is ours.
        left_here = _read_host(seen[0]) == socket.gethostname()
        if not left_here and time.monotonic() - self._since < _EXPIRY_SECONDS:
            return False
        aside = self._claim.with_name(f".{self._claim.name}.{secrets.token_hex(6)}.part")
        try:
            self._claim.rename(aside)
        except FileNotFoundError:
            return True
        try:
            if aside.read_bytes() == seen[0]:
                return True
            # Another host was quicker, and made its own: it is put back.
            with contextlib.suppress(FileExistsError):
                os.link(aside, self._claim)
            return False
        finally:
            aside.unlink(missing_ok=True)

    def _read_claim(self) -> bytes:
        descriptor = os.open(self._claim, os.O_RDONLY | NO_LINKS)
        try:
            return os.read(descriptor, _MAX_CLAIM_BYTES)
        finally:
            os.close(descriptor)


def _read_host(claim: bytes) -> str | None:
    try:
        return str(json.loads(claim)["host"])
    except (ValueError, LookupError, TypeError):
        return None
