"""What a run on the CPU finds."""

from pathlib import Path

import psutil

from ensemble.machine.jax_settings import count_cpu_cores
from ensemble.machine.machine_info import read_machine_info
from ensemble.machine.processor import FAST_BFLOAT16


def test_this_machine_is_known() -> None:
    here = read_machine_info()
    assert here.processor
    assert (here.cores, here.memory_bytes) == (count_cpu_cores(), psutil.virtual_memory().total)
    if (cpuinfo := Path("/proc/cpuinfo")).exists():
        words = cpuinfo.read_text().split()
        assert here.fast_bfloat16 == any(words.count(flag) for flag in FAST_BFLOAT16)
