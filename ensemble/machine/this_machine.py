"""This machine, without starting JAX: its processor, cores, memory, and if bfloat16 is fast."""

import functools
from dataclasses import dataclass

import psutil

from ensemble.machine.jax_settings import cpu_cores
from ensemble.machine.processor import processor


@dataclass(frozen=True)
class Machine:
    """What a run on the CPU finds.

    Attributes:
      processor: its name, as the maker writes it.
      cores: processor cores that this process may use.
      memory_bytes: all of the machine's memory.
      fast_bfloat16: whether the processor multiplies bfloat16 itself; one that does not
        emulates it, which is a little slower than float32.
    """

    processor: str
    cores: int
    memory_bytes: int
    fast_bfloat16: bool


@functools.lru_cache(maxsize=1)
def machine() -> Machine:
    """The machine that this process runs on; looked at once a process."""
    return Machine(
        processor=processor().name,
        cores=cpu_cores(),
        memory_bytes=psutil.virtual_memory().total,
        fast_bfloat16=processor().fast_bfloat16,
    )
