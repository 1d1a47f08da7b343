"""What a run on the CPU finds."""

from pathlib import Path

import psutil
import pytest

from ensemble.machine import machine_info
from ensemble.machine.jax_settings import count_cpu_cores
from ensemble.machine.machine_info import read_machine_info
from ensemble.machine.processor import FAST_BFLOAT16


def test_this_machine_is_known() -> None:
    here = read_machine_info()
    assert here.processor
    assert here.cores == count_cpu_cores()
    assert 0 < here.memory_bytes <= psutil.virtual_memory().total
    if (cpuinfo := Path("/proc/cpuinfo")).exists():
        words = cpuinfo.read_text().split()
        assert here.fast_bfloat16 == any(words.count(flag) for flag in FAST_BFLOAT16)


def test_a_container_has_as_much_memory_as_it_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / name for name in ("limit", "none", "missing")]
    files[0].write_text("1000000\n")
    files[1].write_text("max\n")
    monkeypatch.setattr(machine_info, "MEMORY_LIMIT_FILES", files)
    assert machine_info.read_memory_limits() == [1_000_000]
    machine_info.read_machine_info.cache_clear()
    try:
        assert machine_info.read_machine_info().memory_bytes == 1_000_000
    finally:
        machine_info.read_machine_info.cache_clear()
