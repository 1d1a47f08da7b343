"""How the C library keeps a process's free memory: in few heaps, which its threads share.

glibc gives threads heaps of their own, up to eight a core, and what is freed in one is not used by
another: a server that draws each page in a new thread holds the most that each heap ever held.
"""

import ctypes
import os
import sys

ARENAS = 2  # heaps; with one, threads would wait for each other
_M_ARENA_MAX = -8  # from glibc's malloc.h
# Where the user says how many, and the word of it that does.
ARENA_VARIABLES = {"MALLOC_ARENA_MAX": "", "GLIBC_TUNABLES": "glibc.malloc.arena"}


def share_memory_arenas() -> bool:
    """Have threads that start from now on share few heaps; whether the C library took it.

    Only glibc keeps heaps for each thread; a number of the user's own, in the environment, stands.
    """
    if not sys.platform.startswith("linux"):
        return False
    if any(name in os.environ and word in os.environ[name] for name, word in ARENA_VARIABLES.items()):
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS))
    except (OSError, AttributeError):  # another C library
        return False
