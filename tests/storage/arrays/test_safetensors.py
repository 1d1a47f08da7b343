"""Safetensors: read as the format says; what is amiss is told before anything is allocated."""

import json
from pathlib import Path

import numpy as np
import pytest

from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.safetensors import read_safetensors, write_safetensors

MOST_BYTES = 10_000
Entries = dict[str, tuple[str, list[int], bytes]]


def write(path: Path, entries: Entries, changes: dict[str, object] | None = None) -> Path:
    """A file as the format describes it, by its own few lines."""
    header: dict[str, object] = {"__metadata__": {"format": "np"}}
    body = b""
    for name, (dtype, shape, content) in entries.items():
        places = [len(body), len(body) + len(content)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": places}
        body += content
    header |= changes or {}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path


def test_arrays_of_each_type_are_read_as_they_were_written(tmp_path: Path) -> None:
    single = np.arange(6, dtype=np.float32).reshape(2, 3) / 7
    arrays: dict[str, np.ndarray] = {
        "F32": single,
        "F64": single.astype(np.float64),
        "F16": single.astype(np.float16),
        "I64": np.array([-3, 2**40]),
        "BOOL": np.array(True),
        "U8": np.zeros((0, 4), np.uint8),
    }
    entries: Entries = {f"of.{kind}": (kind, list(array.shape), array.tobytes()) for kind, array in arrays.items()}
    # bfloat16 is the upper half of a float32: 1.5 and −2 in two bytes each.
    entries["of.BF16"] = ("BF16", [2], b"\xc0\x3f\x00\xc0")
    read = read_safetensors(write(tmp_path / "a.safetensors", entries), MOST_BYTES)
    assert set(read) == set(entries)
    for kind, array in arrays.items():
        np.testing.assert_array_equal(read[f"of.{kind}"], array)
        assert read[f"of.{kind}"].dtype == array.dtype
    np.testing.assert_array_equal(read["of.BF16"], [1.5, -2.0])


ONE: Entries = {"a": ("F32", [2], bytes(8))}


@pytest.mark.parametrize(
    "changes",
    [
        {"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}},
        {"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}},
        {"a": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2]}},
        {"a": {"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]}},
        {"a": [1]},
        {"b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
    ],
)
def test_what_a_header_claims_is_compared_with_the_file(changes: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(DamagedFileError):
        read_safetensors(write(tmp_path / "a.safetensors", ONE, changes), MOST_BYTES)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x02",
        (2**60).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (2).to_bytes(8, "little") + b"{x",
        (2).to_bytes(8, "little") + b"{}" + bytes(20_000),
        b"PK\x03\x04 of another format",
    ],
)
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(DamagedFileError):
        read_safetensors(path, MOST_BYTES)


def test_more_than_can_be_used_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(DamagedFileError, match="more than can be used"):
        read_safetensors(write(tmp_path / "a.safetensors", ONE), 7)


@pytest.mark.parametrize("letters", range(8))
def test_arrays_begin_at_a_multiple_of_eight_bytes(letters: int, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    write_safetensors(path, {"a": np.arange(3.0)}, {"of": "x" * letters})
    header = int.from_bytes(path.read_bytes()[:8], "little")
    assert header % 8 == 0
    assert path.stat().st_size == 8 + header + 24
    np.testing.assert_array_equal(read_safetensors(path, MOST_BYTES)["a"], [0, 1, 2])
