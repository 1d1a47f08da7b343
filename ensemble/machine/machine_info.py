"""This machine, without starting JAX: its processor, cores, memory, and if bfloat16 is fast."""

import contextlib
import functools
from dataclasses import dataclass
from pathlib import Path

import psutil

from ensemble.machine.jax_settings import count_cpu_cores
from ensemble.machine.processor import detect_processor

# Where Linux says how much memory the processes of a container may use together.
MEMORY_LIMIT_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@dataclass(frozen=True)
class _MachineInfo:
    """What a run on the CPU finds.

    Attributes:
      processor: its name, as the maker writes it.
      cores: processor cores that this process may use.
      memory_bytes: the machine's memory, or as much of it as a container may use.
      fast_bfloat16: whether the processor multiplies bfloat16 itself; one that does not
        emulates it, which is a little slower than float32.
    """

    processor: str
    cores: int
    memory_bytes: int
    fast_bfloat16: bool


@functools.lru_cache(maxsize=1)
def read_machine_info() -> _MachineInfo:
    """The machine that this process runs on; looked at once a process."""
    return _MachineInfo(
        processor=detect_processor().name,
        cores=count_cpu_cores(),
        memory_bytes=min([psutil.virtual_memory().total, *read_memory_limits()]),
        fast_bfloat16=detect_processor().fast_bfloat16,
    )


def read_memory_limits() -> list[int]:
    """The limits that a container sets to memory here, in bytes; a word for none is left out."""
    limits = []
    for file in MEMORY_LIMIT_FILES:
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(file.read_text("ascii")))
    return limits
