"""A .npy file as a memory map: what it says of itself is checked before it is believed."""

from pathlib import Path

import numpy as np
import pytest

from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray, map_npy
from tests.storage.arrays.archives import npy
from tests.storage.arrays.hostile import HEADERS

X = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
EXPECTED = ExpectedArray((7, 3))


@pytest.mark.parametrize("array", [X, np.asfortranarray(X)], ids=["rows", "columns"])
def test_what_numpy_writes_is_mapped_and_not_read(tmp_path: Path, array: object) -> None:
    np.save(tmp_path / "x.npy", np.asanyarray(array))
    found = map_npy(tmp_path / "x.npy", EXPECTED)
    np.testing.assert_array_equal(found, X)
    rows = found if found.flags.c_contiguous else found.T
    assert isinstance(rows, np.memmap)
    assert not found.flags.writeable


@pytest.mark.parametrize("size", [1, 2**12, 2**20])
def test_a_large_header_is_read_only_where_numpy_might_have_written_it(tmp_path: Path, size: int) -> None:
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (7, 3), }" + " " * size
    (tmp_path / "x.npy").write_bytes(npy(header, X.tobytes(), (2, 0)))
    if size == 1:
        np.testing.assert_array_equal(map_npy(tmp_path / "x.npy", EXPECTED), X)
    else:
        with pytest.raises(DamagedFileError, match="too long"):
            map_npy(tmp_path / "x.npy", EXPECTED)


def test_a_file_that_is_not_just_that_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, X)
    whole = path.read_bytes()
    wrong = [whole[:length] for length in range(len(whole))]
    wrong += [whole + b"\0", b"PK\3\4" + whole, whole.replace(b"(7, 3)", b"(3, 7)")]
    wrong += [npy(header, X.tobytes(), version) for header in HEADERS for version in ((1, 0), (2, 0), (3, 0), (4, 0))]
    for content in wrong:
        path.write_bytes(content)
        with pytest.raises(DamagedFileError):
            map_npy(path, EXPECTED)
    with pytest.raises(FileNotFoundError):
        map_npy(tmp_path / "none.npy", EXPECTED)
