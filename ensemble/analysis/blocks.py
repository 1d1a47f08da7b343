"""Examples a block at a time, so that what is computed of them needs little memory at once."""

from collections.abc import Iterator

_CACHE_BLOCK_SIZE = 1 << 16  # numbers that a processor's cache holds: what each row gives is the same
SUM_BLOCK_SIZE = 1 << 23  # 64 MB of doubles: of ten classes a sum over all examples is taken in one


def iterate_blocks(examples: int, numbers: int, most: int = _CACHE_BLOCK_SIZE) -> Iterator[slice]:
    """Rising slices that together are all examples.

    Args:
      examples: N.
      numbers: how many each example has.
      most: how many a slice has, unless a single example has more.
    """
    rows = max(1, most // max(1, numbers))
    for start in range(0, examples, rows):
        yield slice(start, min(start + rows, examples))
