"""This machine, without starting JAX: its processor, cores, memory, and if bfloat16 is fast."""

import functools
from dataclasses import dataclass

import psutil

from ensemble.machine.jax_settings import count_cpu_cores
from ensemble.machine.processor import detect_processor


@dataclass(frozen=True)
class MachineInfo:
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
def read_machine_info() -> MachineInfo:
    """The machine that this process runs on; looked at once a process."""
    return MachineInfo(
        processor=detect_processor().name,
        cores=count_cpu_cores(),
        memory_bytes=psutil.virtual_memory().total,
        fast_bfloat16=detect_processor().fast_bfloat16,
    )
