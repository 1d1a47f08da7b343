"""What is read may be anything: a sentence comes of it, never a wait or a flood."""

import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from ensemble.errors import RunError
from ensemble.storage.atomic_files import read_json
from ensemble.storage.plain_files import read_limited_bytes, read_text_beginning
from ensemble.storage.records.json_lines import read_lines


def holding(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def sparse(path: Path) -> None:
    """300 MB of nothing, which take no room."""
    path.touch()
    os.truncate(path, 300_000_000)


@pytest.mark.parametrize(
    "make",
    [
        holding(b""),
        holding(b"[]"),
        holding(b"nul"),
        holding(b'{"a": NaN}'),
        holding(b'{"a": -Infinity}'),
        holding(b'{"a": ' + b"9" * 5000 + b"}"),
        holding(b'{"a":' * 100_000),
        holding(b"[" * 100_000),
        holding(b"\xff\xfe{\x00"),
        holding(b'{"a": "\xff"}'),
        sparse,
        Path.mkdir,
        os.mkfifo,
        lambda path: path.symlink_to(path),
        lambda path: path.symlink_to("/dev/zero"),
    ],
)
def test_what_is_no_small_object_is_an_error_that_every_reader_knows(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    make(path := tmp_path / "status.json")
    tracemalloc.start()
    began = time.monotonic()
    with pytest.raises((OSError, ValueError)):
        read_json(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.monotonic() - began < 5
    assert most < 2**24


def test_only_so_many_bytes_are_read(tmp_path: Path) -> None:
    (path := tmp_path / "name.txt").write_text("abcdé")
    assert read_limited_bytes(path, 6) == "abcdé".encode()
    with pytest.raises(ValueError, match=r"name\.txt has more than 5 bytes"):
        read_limited_bytes(path, 5)
    assert read_text_beginning(path, 4) == "abcd"
    assert read_text_beginning(path, 5) == "abcd�"


def test_a_history_that_is_no_file_is_said_in_a_sentence(tmp_path: Path) -> None:
    for make in (Path.mkdir, os.mkfifo):
        (folder := tmp_path / make.__name__).mkdir()
        make(folder / "history.jsonl")
        with pytest.raises(RunError, match=rf"The history of the run “{folder.name}” cannot be"):
            read_lines(folder / "history.jsonl")
