"""The processor, as the machine describes it: its name, and if it multiplies bfloat16."""

import functools
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
# The instructions that multiply bfloat16: Intel's two, Arm's as Linux and as macOS call it.
FAST_BFLOAT16 = ("amx_bf16", "avx512_bf16", "bf16", "feat_bf16")
_MATRIX_UNITS = "amx_bf16"
ARM_ON_MACOS = "hw.optional.arm.FEAT_BF16"


@dataclass(frozen=True)
class Processor:
    """What is known of it.

    Attributes:
      name: as the maker writes it.
      fast_bfloat16: whether it multiplies bfloat16 itself. One that does not has to emulate it:
        what bfloat16 rounds is rounded, and multiplied in float32.
      matrix_units: whether it does so by units for whole matrices, which are quicker by far than
        anything that has to be done to save multiplications.
    """

    name: str
    fast_bfloat16: bool
    matrix_units: bool = False


@functools.lru_cache(maxsize=1)
def detect_processor() -> Processor:
    """That of this machine; looked at once a process."""
    name, flags = _read_macos_processor() if platform.system() == "Darwin" else parse_cpuinfo(_read_cpuinfo_file())
    name = name or platform.processor() or platform.machine()
    fast = not flags.isdisjoint(FAST_BFLOAT16)
    return Processor(name, fast_bfloat16=fast, matrix_units=_MATRIX_UNITS in flags)


def parse_cpuinfo(text: str) -> tuple[str, frozenset[str]]:
    """The processor's name ("" where it has none) and flags, from Linux's /proc/cpuinfo.

    Only flags that every core has count: work may land on any of them.
    """
    names: list[str] = []
    flags: list[frozenset[str]] = []
    for line in text.splitlines():
        field, _, value = line.partition(":")
        if field.strip() == "model name":
            names.append(value.strip())
        elif field.strip() in ("flags", "Features"):
            flags.append(frozenset(value.split()))
    return names[0] if names else "", frozenset.intersection(*flags) if flags else frozenset()


def _read_cpuinfo_file() -> str:
    try:
        return CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _read_macos_processor() -> tuple[str, frozenset[str]]:
    has = _read_sysctl(ARM_ON_MACOS) == "1"
    return _read_sysctl("machdep.cpu.brand_string"), frozenset({"feat_bf16"} if has else ())


def _read_sysctl(name: str) -> str:
    """One of the kernel's words; "" if it does not know it."""
    command = ["/usr/sbin/sysctl", "-n", name]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
