"""Files read in several threads, a few hundred ahead, in order."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from itertools import chain
from typing import TypeVar

Read = TypeVar("Read")
Found = TypeVar("Found")

BATCH = 256  # pictures that are read ahead
CHUNK = 4  # of them that a thread takes at once: to hand each over by itself takes as long as it


def map_files(
    function: Callable[[Read], Found], files: Sequence[Read], pool: Executor, first: int = BATCH
) -> Iterator[Found]:
    """The function of each file, in order.

    Args:
      function: called in the threads of the pool.
      files: or what else the function takes.
      pool: what reads several at once.
      first: how many are read before the first result is given, at most.
    """

    def read_chunk(chunk: Sequence[Read]) -> list[Found]:
        return [function(file) for file in chunk]

    start, size = 0, first
    while start < len(files):
        end = min(start + size, len(files))
        chunks = [files[place : min(place + CHUNK, end)] for place in range(start, end, CHUNK)]
        yield from chain.from_iterable(pool.map(read_chunk, chunks))
        start, size = end, BATCH


def count_decoder_threads() -> int:
    """How many pictures are decoded at once."""
    return min(8, os.cpu_count() or 1)
