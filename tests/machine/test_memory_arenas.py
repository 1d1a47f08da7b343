"""A server's threads share the C library's heaps, unless its user asked for a number of them."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from ensemble.machine.memory_arenas import ARENA_VARIABLES, ARENAS

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps heaps for each thread")
# Threads that allocate at once, beside each other; then the heaps that the C library describes.
COUNT_HEAPS = """
import ctypes, sys, threading
from ensemble.machine.memory_arenas import share_memory_arenas

took = share_memory_arenas() if sys.argv[1] == "share" else None
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
meeting = threading.Barrier(8)

def allocate():
    meeting.wait()
    libc.malloc(1000)
    meeting.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, stream)
libc.fclose(stream)
print(took)
"""


def count_heaps(tmp_path: Path, what: str, **environment: str) -> tuple[str, int]:
    """What `share_memory_arenas` answers, and the heaps of a process with eight threads."""
    kept = {name: value for name, value in os.environ.items() if name not in ARENA_VARIABLES}
    described = tmp_path / "heaps.xml"
    done = subprocess.run(
        [sys.executable, "-c", COUNT_HEAPS, what, str(described)],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), described.read_text().count("<heap nr=")


def test_threads_share_few_heaps(tmp_path: Path) -> None:
    took, heaps = count_heaps(tmp_path, "share")
    assert took == "True"
    assert heaps <= ARENAS
    assert count_heaps(tmp_path, "leave")[1] > ARENAS


@pytest.mark.parametrize(
    "setting", [{"MALLOC_ARENA_MAX": "6"}, {"GLIBC_TUNABLES": "glibc.malloc.arena_max=6"}], ids=["variable", "tunable"]
)
def test_a_users_own_number_stands(tmp_path: Path, setting: dict[str, str]) -> None:
    took, heaps = count_heaps(tmp_path, "share", **setting)
    assert took == "False"
    assert ARENAS < heaps <= 6


def test_another_tunable_says_nothing_of_heaps(tmp_path: Path) -> None:
    took, heaps = count_heaps(tmp_path, "share", GLIBC_TUNABLES="glibc.malloc.tcache_count=7")
    assert took == "True"
    assert heaps <= ARENAS
