"""The processor as it describes itself."""

import platform
from pathlib import Path

import pytest

from ensemble.machine import processor as module
from ensemble.machine.processor import ARM_ON_MACOS, FAST_BFLOAT16, Processor, detect_processor, parse_cpuinfo

INTEL = """processor\t: 0
model name\t: Intel(R) Xeon(R) Platinum 8488C
flags\t\t: fpu avx512_bf16 {more}

processor\t: 1
model name\t: Intel(R) Xeon(R) Platinum 8488C
flags\t\t: fpu {more}
"""
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd bf16\n"


@pytest.mark.parametrize(
    ("text", "name", "fast"),
    [
        (INTEL.format(more="amx_bf16"), "Intel(R) Xeon(R) Platinum 8488C", True),
        (INTEL.format(more="avx2"), "Intel(R) Xeon(R) Platinum 8488C", False),
        (ARM, "", True),
        ("", "", False),
    ],
    ids=["every core", "one core only", "arm", "nothing to read"],
)
def test_bfloat16_is_fast_where_every_core_has_it(text: str, name: str, fast: bool) -> None:
    found, flags = parse_cpuinfo(text)
    assert (found, not flags.isdisjoint(FAST_BFLOAT16)) == (name, fast)


def looked_at(cpuinfo: Path, monkeypatch: pytest.MonkeyPatch) -> Processor:
    """This machine's processor, were it Linux with that file, looked at anew."""
    monkeypatch.setattr(module, "CPUINFO", cpuinfo)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    return detect_processor.__wrapped__()


@pytest.mark.parametrize(
    ("flag", "fast", "matrices"), [("amx_bf16", True, True), ("avx512_bf16", True, False), ("avx2", False, False)]
)
def test_on_linux_it_is_what_the_kernel_says(
    flag: str, fast: bool, matrices: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = INTEL.format(more=flag)
    (tmp_path / "cpuinfo").write_text(text + text.replace("8488C", "the slow cores"))
    found = looked_at(tmp_path / "cpuinfo", monkeypatch)
    assert found == Processor("Intel(R) Xeon(R) Platinum 8488C", fast, matrices)


def test_where_the_kernel_says_nothing_python_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = looked_at(tmp_path / "missing", monkeypatch)
    assert found == Processor(platform.processor() or platform.machine(), False)
    assert found.name


@pytest.mark.parametrize(("word", "fast"), [("1", True), ("0", False), ("", False)])
def test_on_macos_it_is_asked_word_by_word(word: str, fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"machdep.cpu.brand_string": "Apple M2", ARM_ON_MACOS: word}
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(module, "_read_sysctl", words.__getitem__)
    assert detect_processor.__wrapped__() == Processor("Apple M2", fast)


def test_a_word_that_the_kernel_does_not_know_is_empty() -> None:
    assert module._read_sysctl("no.such.word.at.all") == ""
