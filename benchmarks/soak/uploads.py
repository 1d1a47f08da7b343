"""Uploads of every kind: each is read, or refused in one sentence, in bounded time and memory."""

import json
import queue
import random
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

from benchmarks.soak import upload_files
from benchmarks.soak.place import Place, python
from benchmarks.soak.rows import Row, expect, say

# Seconds on a loaded machine; bytes above the file's, as `pictures.files.decoding` promises and
# what the search for ink takes on top.
MOST_SECONDS, MOST_BYTES = 20.0, 900 * 1000**2
GIVE_UP_SECONDS, START_SECONDS = 60.0, 120.0
MOST_WORDS = 300  # characters of a refusal


def uploads(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many files, handed to what the screen Classify calls.

    Args:
      place: where.
      rng: draws the files.
      count: how many.
    """
    row, read, most = Row("uploads", every=25), 0, (0.0, 0)
    with place.part("uploads") as runs:
        run = shutil.copytree(place.undisturbed, runs / "digits-0101-000001")
        file, reader = place.folder / "upload", Reader(run.name)
        for _ in range(count):
            kind, content = upload_files.upload(rng)
            file.write_bytes(content)
            with row.attempt(f"{kind}, {len(content):,} bytes,"):
                figures = reader.read(file)
                if figures is None:
                    reader = Reader(run.name)
                expect(figures, f"no answer in {GIVE_UP_SECONDS:g} s, or the process is gone")
                read += not figures["refused"]
                most = max(most[0], figures["seconds"]), max(most[1], figures["bytes"])
                check(figures)
        reader.close()
    say(f"uploads: {read} were read; one took {most[0]:.1f} s at most, one {most[1] / 1e6:.0f} MB")
    return [row]


def check(figures: dict[str, Any]) -> None:
    """A loss unless a picture was read, or refused in a sentence, within the bounds."""
    words = figures["refused"]
    expect(not figures["raised"], figures["raised"])
    if words:
        is_sentence = "\n" not in words and words.endswith(".") and "Traceback" not in words
        expect(is_sentence and len(words) < MOST_WORDS, f"no sentence: {words!r}")
    expect(figures["seconds"] < MOST_SECONDS, f"it took {figures['seconds']:.1f} s")
    expect(figures["bytes"] < MOST_BYTES, f"it took {figures['bytes'] / 1e6:.0f} MB")


class Reader:
    """A process that reads pictures with a run's members, and may be lost.

    Args:
      run_id: the run.
    """

    def __init__(self, run_id: str) -> None:
        self._child = python("-m", "benchmarks.soak.reader", run_id, stdin=subprocess.PIPE)
        self._said: queue.Queue[str] = queue.Queue()
        self._first = True
        # What it has to complain about must not fill the pipe.
        listeners = (self._listen, self._child.stderr.read)
        self._threads = [threading.Thread(target=listener, daemon=True) for listener in listeners]
        for thread in self._threads:
            thread.start()

    def read(self, file: Path) -> dict[str, Any] | None:
        """What came of a file; None where nothing came, and this one is of no more use."""
        patience = START_SECONDS if self._first else GIVE_UP_SECONDS
        self._first = False
        try:
            self._child.stdin.write(f"{file}\n")
            self._child.stdin.flush()
            line = self._said.get(timeout=patience)
        except (OSError, queue.Empty):
            line = ""
        if not line:
            self.close()
            return None
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self._child.kill()
        for thread in self._threads:
            thread.join()
        with self._child:  # Closes its pipes.
            pass

    def _listen(self) -> None:
        for line in self._child.stdout:
            self._said.put(line)
        self._said.put("")
