"""Errors that mean one thing: memory ran out."""

import errno
import re

# What XLA and the C++ library call it; JAX raises both as its own RuntimeError. Orbax says
# RESOURCE_EXHAUSTED of a full disk as well, without these words.
_MEMORY_WORDS = re.compile(r"RESOURCE_EXHAUSTED: .*(memory|alloc)|Out of memory|std::bad_alloc", re.S)


def is_memory_error(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on the machine or on an accelerator."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and bool(_MEMORY_WORDS.search(str(error)))
    )
