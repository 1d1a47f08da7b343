"""Files read in several threads, some ahead, in order."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import TypeVar

Read = TypeVar("Read")
Found = TypeVar("Found")

_MAX_AHEAD = 256  # files that are read ahead
_MAX_AHEAD_BYTES = 2**22  # of their pixels: what has left the caches costs as much as decoding it
_CHUNK = 4  # of them that a thread takes at once: to hand each over by itself takes as long as it


def map_files(
    function: Callable[[Read], Found], files: Sequence[Read], pool: Executor, ahead: int = _MAX_AHEAD
) -> Iterator[Found]:
    """The function of each file, in order.

    Args:
      function: called in the threads of the pool.
      files: or what else the function takes.
      pool: what reads several at once.
      ahead: how many are read beyond the one whose result is given, at most.
    """

    def read_chunk(chunk: Sequence[Read]) -> list[Found]:
        return [function(file) for file in chunk]

    waiting = deque[Future[list[Found]]]()
    try:
        for start in range(0, len(files), _CHUNK):
            waiting.append(pool.submit(read_chunk, files[start : start + _CHUNK]))
            if len(waiting) * _CHUNK >= ahead:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        for future in waiting:  # Nobody asks for them any more.
            future.cancel()


def count_decoder_threads() -> int:
    return min(8, os.cpu_count() or 1)


def count_pictures_ahead(size: int = _MAX_AHEAD_BYTES) -> int:
    """How many pictures of so many bytes each are decoded ahead, so that all threads have some."""
    return max(2 * _CHUNK * count_decoder_threads(), min(_MAX_AHEAD, _MAX_AHEAD_BYTES // size))
