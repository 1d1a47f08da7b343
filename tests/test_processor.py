"""The processor as it describes itself."""

import pytest

from ensemble.processor import FAST_BFLOAT16, read_cpuinfo

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
    found, flags = read_cpuinfo(text)
    assert (found, not flags.isdisjoint(FAST_BFLOAT16)) == (name, fast)
