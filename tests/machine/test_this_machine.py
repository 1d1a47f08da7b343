"""What a run on the CPU finds."""

from pathlib import Path

import psutil

from ensemble.machine.jax_settings import cpu_cores
from ensemble.machine.processor import FAST_BFLOAT16
from ensemble.machine.this_machine import machine


def test_this_machine_is_known() -> None:
    here = machine()
    assert here.processor
    assert (here.cores, here.memory_bytes) == (cpu_cores(), psutil.virtual_memory().total)
    if (cpuinfo := Path("/proc/cpuinfo")).exists():
        words = cpuinfo.read_text().split()
        assert here.fast_bfloat16 == any(words.count(flag) for flag in FAST_BFLOAT16)
