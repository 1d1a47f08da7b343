"""Parquet files are read by a child: whatever it dies of, the reader gets a sentence."""

import base64
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensemble
from ensemble.datasets.own.sources.encoded import parquet_pictures
from ensemble.datasets.own.sources.encoded.parquet_pictures import PictureShard
from ensemble.errors import DataError, EnsembleError
from ensemble.exchange.data_tables import read_data_table
from ensemble.exchange.file_task import is_numeric_file
from ensemble.exchange.numeric_files import read_numeric_file
from ensemble.files import table_process
from ensemble.files.table_process import LargeColumnError, TableProcess
from ensemble.storage.arrays.damaged_file import DamagedFileError

# Two columns and rows, with one byte of the footer changed: Arrow 26 aborts the process that asks
# for the metadata of a column.
ABORTING = base64.b64decode(
    "UEFSMRUAFSwVLCwVBBUAFQYVBhwAAAACAAAABAEAAAAAAADwPwAAAAAAAABAFQAVLBUsLBUEFQAVBhUGHAAAAAIAAAAEAQ"
    "AAAAAAAAAAAQAAAAAAAAAVBBk8NQAYBnNjaGVtYRUEABUKIwIYAWEAFQQlAhgBeQAWBBkcGSwmABwVChklBgAZGAFhFQAW"
    "BBZSFlImCEkcFQAVABUCADwpBhkmAAQAAAAmABwVBBklBgAZGAF5FQAWBBZSFlImWkkcFQAVABUCADwpBhkmAAQAAAAWpA"
    "EWBCYIFqQBACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZLBwAABwAAACxAAAAUEFSMQ=="
)
READERS: dict[str, Callable[[Path], Any]] = {
    "table": read_data_table,
    "numbers": read_numeric_file,
    "predictions": ensemble.Predictions.from_files,
    "pictures": PictureShard,
}


def write_text_bomb(path: Path, rows: int, letters: int) -> None:
    """Write a small file whose rows all have one long text, as a dictionary and run lengths."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["x" * letters])
    numbers = {name: np.arange(rows) % 7.0 for name in ("mean", "target")}
    columns = {**numbers, "std": np.ones(rows), "note": text}
    pq.write_table(pa.table(columns), path, store_schema=False, row_group_size=rows)
    assert path.stat().st_size < 2**20 < rows * letters


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_aborts_its_reader_is_refused_in_a_sentence(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.parquet"
    path.write_bytes(ABORTING)
    with pytest.raises(EnsembleError, match=r"damaged\.parquet: it is damaged, .* Save it again\."):
        READERS[reader](path)
    assert not is_numeric_file(path)


@pytest.mark.parametrize("reader", ["table", "numbers"])
def test_one_text_in_every_row_is_refused_before_it_is_written_out(reader: str, tmp_path: Path) -> None:
    write_text_bomb(tmp_path / "bomb.parquet", 200_000, 60_000)
    before = pa.total_allocated_bytes()
    with pytest.raises(EnsembleError, match=r"“note” unpacks to more than its rows can hold"):
        READERS[reader](tmp_path / "bomb.parquet")
    assert pa.total_allocated_bytes() - before < 2**24


def test_a_picture_in_every_row_is_refused_and_its_file_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_pictures, "MAX_GROUP_BYTES", 2**24)
    rows = 2000
    picture = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(rows, np.int32)), pa.array([os.urandom(2**15)], pa.binary())
    )
    table = pa.table({"image": picture, "label": np.arange(rows) % 2})
    path = tmp_path / "bomb.parquet"
    pq.write_table(table, path, store_schema=False, row_group_size=rows // 2)
    process = TableProcess()
    pictures = PictureShard(path, process).list_pictures()
    with pytest.raises(DataError, match="save it with smaller ones"):
        pictures[0].read_bytes()
    path.unlink()  # the other row group would need it
    with pytest.raises(DataError, match="save it with smaller ones"):
        pictures[-1].read_bytes()


def test_a_child_that_was_killed_is_replaced_and_ends_with_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3]}), path)
    others = find_children()  # of readers that are still to be collected
    with TableProcess() as process:
        assert process.read_layout(path).rows == 3
        (child,) = find_children() - others
        os.kill(child.pid, signal.SIGKILL)
        child.wait(60)
        (batch,) = process.read_batches(path, ["a"])
        assert batch.column(0).to_pylist() == [1, 2, 3]
        assert len(find_children() - others) == 1
        # Whoever stops in the middle leaves no half answer behind.
        next(iter(process.read_batches(path, ["a"], batch_rows=1)))
        assert [len(each) for each in process.read_batches(path, ["a"], batch_rows=2)] == [2, 1]
    assert find_children() <= others


def test_a_file_that_is_gone_is_an_error_of_the_system(tmp_path: Path) -> None:
    with TableProcess() as process, pytest.raises(FileNotFoundError):
        process.read_layout(tmp_path / "gone.parquet")


def find_children() -> set[psutil.Process]:
    """Return the children of this process that read Parquet files."""
    program = "table_process_main.py"
    found = set()
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # it has just ended
            if any(program in word for word in child.cmdline()):
                found.add(child)
    return found


def test_a_file_that_takes_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    others = find_children()
    monkeypatch.setattr(table_process, "TIMEOUT_S", 0.0)  # a process does not start in no time
    with TableProcess() as process, pytest.raises(DamagedFileError, match="could not be read within"):
        process.read_layout(path)
    assert find_children() <= others


def test_columns_are_measured_by_what_their_rows_need(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = [str(number % 3) * 1000 for number in range(300)]
    pq.write_table(pa.table({"text": texts, "list": [[0.0] * 400] * 300}), path)
    with TableProcess() as process:
        for column, most in (("text", 1000), ("list", 3300)):
            rows = sum(len(each) for each in process.read_batches(path, [column], most_cell=most))
            assert rows == 300
            with pytest.raises(LargeColumnError) as caught:
                list(process.read_batches(path, [column], most_cell=most // 2))
            assert caught.value.column == column
        (cut,) = process.read_batches(path, ["text"], most_cell=9, cut=["text"], cut_at=2)
        assert cut.column(0).to_pylist() == [text[:2] for text in texts]
