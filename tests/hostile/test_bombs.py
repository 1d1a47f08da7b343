"""Files that ask for much memory or time: each entry point reads or refuses them, within 60 s and 1 GB."""

from pathlib import Path

import pytest

from tests.conftest import variant
from tests.hostile.bombs import BOMBS
from tests.hostile.entry_points import read_files

# Of each kind some that are written quickly.
SAMPLE = (
    *("length.safetensors", "digits.csv", "columns_within_the_limit.csv", "text.parquet", "ratio.npz"),
    *("shape.npy", "lying.mat", "zeros.png", "overlapping.zip", "nested.html"),
)


@pytest.mark.parametrize("names", [SAMPLE, *(variant((name,)) for name in BOMBS if name not in SAMPLE)], ids="-".join)
def test_every_entry_point_reads_a_bomb_or_refuses_it_in_a_sentence(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        BOMBS[name](tmp_path / name)
    readings = read_files([tmp_path / name for name in names])
    assert {reading.file for reading in readings} == set(names)
    assert [(reading.file, reading.entry, reading.fault) for reading in readings if reading.fault] == []
