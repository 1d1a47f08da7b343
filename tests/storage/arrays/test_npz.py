"""Files of arrays: what was written comes back, and whatever else is in one is one error."""

import errno
import hashlib
import io
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ensemble.storage.arrays import npz
from ensemble.storage.arrays.array_digest import digest_named_arrays
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BoundedReader, ExpectedArray
from ensemble.storage.arrays.npz import Arrays, read_arrays, write_arrays
from tests.storage.arrays import hostile
from tests.storage.arrays.archives import bomb, entries, npy, packed

REPO = Path(__file__).resolve().parents[3]
RNG = np.random.default_rng(0)
TREE = {
    "Conv_0/kernel": RNG.normal(size=(2, 3, 3, 1, 4)).astype(np.float32),
    "Conv_0/bias": np.zeros((2, 4), np.float32),
    "Dense_0/kernel": RNG.normal(size=(2, 50, 10)).astype(np.float32),
}
EXPECTED = {name: ExpectedArray(array.shape) for name, array in TREE.items()}
KINDS = {
    "whole": np.int64(-7),
    "none": np.zeros((0, 3), np.float32),
    "said": np.array(["é", "no"]),
    "right": np.array([True, False]),
    "turned": np.arange(6.0).reshape(2, 3).T,
}
BOMBED = """
import resource, sys
from pathlib import Path
from ensemble.storage.arrays.npz import read_arrays
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
read_arrays(Path(sys.argv[1]), {"probabilities": ExpectedArray((2, 3))})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for bomb in sys.argv[2:]:
    for expected in ({"probabilities": ExpectedArray((2, 3))}, None):
        try:
            read_arrays(Path(bomb), expected, 10**6)
        except DamagedFileError:
            print("damaged")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def written(path: Path, arrays: Arrays, compressed: bool = False) -> bytes:
    write_arrays(path, arrays, compressed=compressed)
    return path.read_bytes()


@pytest.mark.parametrize("compressed", [False, True])
def test_what_is_written_comes_back_and_any_tool_reads_it(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "a.npz"
    arrays = {**TREE, **{name: np.asarray(one) for name, one in KINDS.items()}}
    written(path, arrays, compressed)
    found = read_arrays(path, None, 10**6, need_checksum=True)
    with np.load(path, allow_pickle=False) as file:
        others = {name: file[name] for name in file.files}
    for read in (found, others):
        assert list(read) == list(arrays)
        for name, array in arrays.items():
            assert (read[name].dtype, read[name].shape) == (array.dtype, array.shape)
            np.testing.assert_array_equal(read[name], array)


def test_the_archive_says_the_digest_of_all_that_it_holds(tmp_path: Path) -> None:
    content = written(tmp_path / "a.npz", TREE)
    digest = hashlib.sha256()
    for name, array in TREE.items():
        digest.update(f"{name}\0<f4\0{array.shape}\0".encode() + array.tobytes())
    assert content.endswith(b"sha256:" + digest.hexdigest().encode())
    assert digest_named_arrays(TREE.items()) == digest.hexdigest()


def test_an_earlier_versions_file_is_read_on_its_crc(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    turned = {"x": np.asfortranarray(RNG.normal(size=(3, 4)).astype(np.float32))}
    for save in (np.savez, np.savez_compressed):
        save(path, **turned)
        found = read_arrays(path, {"x": ExpectedArray((3, "N"))}, 1000)
        np.testing.assert_array_equal(found["x"], turned["x"])
        with pytest.raises(DamagedFileError, match="no checksum"):
            read_arrays(path, None, 1000, need_checksum=True)


def test_hundreds_of_bad_files_are_refused_or_read_as_they_were(tmp_path: Path, draws: Callable[[int], int]) -> None:
    path, count = tmp_path / "a.npz", draws(5000)
    originals = {kind: written(path, TREE, kind == "deflated") for kind in ("stored", "deflated")}
    found = hostile.attack(lambda one: read_arrays(one, EXPECTED), originals, tmp_path, count)
    outcomes = dict(hostile.kinds(found))
    assert set(outcomes) == {"DamagedFileError", "same"}, found
    assert outcomes["DamagedFileError"] > 0.8 * count


def test_of_files_that_may_hold_anything_none_is_an_exception_of_another_kind(tmp_path: Path) -> None:
    originals = {"any": written(tmp_path / "a.npz", TREE)}
    found = hostile.attack(lambda one: read_arrays(one, None, 10**5), originals, tmp_path, 500, 1)
    assert {outcome for _, outcome in found} <= {"DamagedFileError", "same", "other"}
    others = {harm for harm, outcome in found if outcome == "other"}
    assert others <= hostile.CRAFTED, "a damaged file was read as other numbers"


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"y": np.zeros((2, 3), np.float32)}, "other names"),
        ({"x": np.zeros((2, 3), np.float32), "y": np.zeros(1)}, "other names"),
        ({"x": np.zeros((2, 3))}, "x is not float32"),
        ({"x": np.zeros((2, 3), ">f4")}, "x is not float32"),
        ({"x": np.zeros((3, 3), np.float32)}, r"x has shape \(3, 3\), not \(2, 3\)"),
        ({"x": np.zeros((1,) * 9, np.float32)}, r"x has shape of 9 axes, not \(2, K\)"),
        ({"x": np.zeros((2, 900), np.float32)}, "longer|more than it can"),
    ],
)
def test_arrays_that_are_right_and_not_what_is_expected_are_refused(tmp_path: Path, arrays: Arrays, why: str) -> None:
    written(tmp_path / "a.npz", arrays)
    with pytest.raises(DamagedFileError, match=why):
        read_arrays(tmp_path / "a.npz", {"x": ExpectedArray((2, "K"))}, 100)


def test_free_axes_of_one_letter_have_one_length(tmp_path: Path) -> None:
    expected = {"x": ExpectedArray(("K",)), "y": ExpectedArray(("M", "K"))}
    for longer in (0, 1):
        arrays = {"x": np.zeros(5, np.float32), "y": np.zeros((2, 5 + longer), np.float32)}
        written(tmp_path / "a.npz", arrays)
        if not longer:
            assert read_arrays(tmp_path / "a.npz", expected, 100)["y"].shape == (2, 5)
    with pytest.raises(DamagedFileError, match=r"y has shape \(2, 6\), not \(2, 5\)"):
        read_arrays(tmp_path / "a.npz", expected, 100)


def test_the_checksum_notices_what_the_crc_cannot(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    content = written(path, TREE)
    comment = content[-71:]
    files = entries(content)
    other = {**files, "Conv_0/bias.npy": files["Conv_0/bias.npy"][:-1] + b"\1"}
    for made, kept in ((files, comment), (files, b"")):
        again = packed(made)
        path.write_bytes(again[:-2] + len(kept).to_bytes(2, "little") + kept)
        assert hostile.alike(read_arrays(path, EXPECTED), TREE)
    for kept in (comment, comment[:-1], b"sha255" + comment[6:], comment + b" "):
        path.write_bytes(packed(other)[:-2] + len(kept).to_bytes(2, "little") + kept)
        with pytest.raises(DamagedFileError, match="checksum"):
            read_arrays(path, EXPECTED)
    path.write_bytes(packed(files)[:-2] + b"\0\0" + comment)  # its length is lost: no earlier file
    with pytest.raises(DamagedFileError):
        read_arrays(path, EXPECTED)


def test_what_cannot_be_read_is_not_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(FileNotFoundError):
        read_arrays(path, EXPECTED)
    written(path, TREE)

    def fails(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def too_little(*_: object) -> None:
        raise MemoryError

    for owner, name, action in ((BoundedReader, "read", fails), (np, "empty", too_little)):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, action)
            with pytest.raises(OSError, match=r"Input/output|memory"):
                read_arrays(path, EXPECTED)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(DamagedFileError, match="not a file"):
            read_arrays(tmp_path / name, EXPECTED)


def test_a_bomb_takes_no_memory_of_its_own(tmp_path: Path) -> None:
    right = {"probabilities": np.zeros((2, 3), np.float32)}
    written(tmp_path / "right.npz", right)
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }"
    honest, modest = (npy(header % shape, b"") for shape in ("536870912,", "2, 3"))
    bombs = {
        "honest": bomb(2**31, 2**31 + len(honest), honest),
        "modest": bomb(2**31, 24 + len(modest), modest),
        "vast": bomb(2**31, 2**32 - 2, honest),
    }
    for name, content in bombs.items():
        (tmp_path / name).write_bytes(content)
    with (tmp_path / "long").open("wb") as file:  # 8 GB of nothing, and an archive's end
        file.seek(2**33)
        file.write((tmp_path / "right.npz").read_bytes())
    paths = [str(tmp_path / name) for name in ("right.npz", *bombs, "long")]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BOMBED, *paths], cwd=REPO, capture_output=True, text=True, check=True
    )
    *said, megabytes = done.stdout.split()
    assert said == ["damaged"] * 8
    assert int(megabytes) < 16


def test_neither_writing_nor_reading_takes_twice_the_memory(tmp_path: Path) -> None:
    arrays = {str(number): np.zeros(2**20, np.float32) for number in range(4)}
    tracemalloc.start()
    try:
        written_peak = peak_of(lambda: write_arrays(tmp_path / "a.npz", arrays))
        read_peak = peak_of(lambda: read_arrays(tmp_path / "a.npz", None, 2**24))
    finally:
        tracemalloc.stop()
    assert written_peak < 2**20
    assert read_peak < 2**24 + 2**20


def test_random_numbers_are_read_though_compression_lengthens_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npz, "_MAX_ZIP_OVERHEAD", 1000)  # else only an array of 400 MB or more exceeds it
    numbers = RNG.integers(0, 256, 2**23, np.uint8)
    content = written(tmp_path / "a.npz", {"numbers": numbers}, compressed=True)
    assert len(content) > numbers.nbytes + 1000
    found = read_arrays(tmp_path / "a.npz", {"numbers": ExpectedArray(numbers.shape, np.uint8)})
    np.testing.assert_array_equal(found["numbers"], numbers)


def peak_of(action: object) -> int:
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    action()  # type: ignore[operator]
    return tracemalloc.get_traced_memory()[1] - before


def test_an_archive_in_memory_is_right_for_numpy_too(tmp_path: Path) -> None:
    with np.load(io.BytesIO(written(tmp_path / "a.npz", TREE, True))) as file:
        assert file.zip.testzip() is None
