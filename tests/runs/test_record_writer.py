"""What is recorded is written in order, by a thread: what a kill leaves, training goes on from."""

import errno
import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs import Run
from ensemble.runs.training import record_writer, run_recorder
from ensemble.runs.training.host_snapshot import copy_unless_owned
from ensemble.runs.training.record_writer import RecordWriter

CONFIG = EnsembleConfig(network="logistic", members=2, epochs=3, batch_size=512, validation=0.1, seed=5)
TIMES = ("seconds", "img_member_per_s", "seconds_left", "compile_seconds")


@pytest.fixture
def writer() -> RecordWriter:
    return RecordWriter(in_background=True)


def test_entries_are_written_in_order_and_drain_waits_for_them(writer: RecordWriter) -> None:
    written, began, go_on = list[int](), threading.Event(), threading.Event()

    def write_first() -> None:
        began.set()
        go_on.wait()
        written.append(0)

    writer.submit(write_first)
    for number in range(1, 20):
        writer.submit(lambda number=number: written.append(number))
    assert began.wait(60)
    assert written == [], "who records waits for nothing"
    go_on.set()
    writer.drain()
    assert written == list(range(20))
    writer.close()
    assert writer._thread is not None
    assert not writer._thread.is_alive()


def test_nothing_is_written_after_what_failed_and_who_records_is_told(writer: RecordWriter) -> None:
    written, go_on = list[int](), threading.Event()

    def fail() -> None:
        go_on.wait()
        raise OSError(errno.ENOSPC, "No space left on device")

    writer.submit(fail)
    writer.submit(lambda: written.append(1))
    go_on.set()
    with pytest.raises(OSError, match="No space left"):
        writer.drain()
    with pytest.raises(OSError, match="No space left"):
        writer.submit(lambda: written.append(2))
    writer.close()
    assert written == []


def test_what_failed_last_and_nobody_was_told_of_is_in_the_log(
    writer: RecordWriter, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, "Input/output error")

    writer.submit(fail)
    writer.close()
    assert "Input/output error" in capsys.readouterr().err


@pytest.mark.parametrize("bound", ["entries", "bytes"])
def test_who_records_waits_where_the_disk_falls_behind(
    writer: RecordWriter, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(record_writer, "MAX_ENTRIES", 2 if bound == "entries" else 64)
    monkeypatch.setattr(record_writer, "MAX_PENDING_BYTES", 100)
    go_on, began, submitted, written = (threading.Event(), threading.Event(), list[int](), list[int]())

    def write_first() -> None:
        began.set()
        go_on.wait()

    writer.submit(write_first, size=40)
    assert began.wait(60)

    def submit_more() -> None:
        for number in range(3):
            writer.submit(lambda number=number: written.append(number), size=30)
            submitted.append(number)

    recorder = threading.Thread(target=submit_more)
    recorder.start()
    while len(submitted) < 2:
        recorder.join(0.01)
    recorder.join(0.2)
    assert submitted == [0, 1], "the third waits: two entries, or 40 + 2 × 30 bytes, are there"
    go_on.set()
    recorder.join(60)
    writer.submit(lambda: written.append(3), size=101)
    assert written == [0, 1, 2, 3], "what is larger than all that may wait is written at once"
    writer.close()


def test_of_several_statuses_that_wait_the_last_is_written() -> None:
    writer, go_on, began = RecordWriter(in_background=True), threading.Event(), threading.Event()
    later = list[bool]()

    def write_first() -> None:
        began.set()
        go_on.wait()

    writer.submit(write_first)
    assert began.wait(60)
    for _ in range(3):
        writer.submit(lambda: later.append(writer.has_later_status), is_status=True)
        writer.submit(lambda: None)
    go_on.set()
    writer.drain()
    assert later == [True, True, False]
    writer.close()


def test_memory_of_a_device_is_copied_and_other_is_not() -> None:
    whole = np.arange(6.0)
    assert copy_unless_owned(whole[1:]).base is whole
    borrowed = np.frombuffer(bytearray(whole.tobytes()))[1:]
    copied = copy_unless_owned(borrowed)
    assert copied.flags.owndata
    np.testing.assert_array_equal(copied, borrowed)


def read_lines(run: Run) -> list[dict[str, object]]:
    """The history without what time it took."""
    lines = [json.loads(row) for row in (run.path / "history.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in TIMES} for line in lines]


def read_epochs(run: Run) -> list[dict[str, object]]:
    return [line for line in read_lines(run) if line["kind"] == "epoch"]


def read_arrays(run: Run) -> dict[str, bytes]:
    folders = ("predictions", "validation", "parameters")
    files = [path for folder in folders for path in sorted((run.path / folder).iterdir())]
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in files}


def test_killed_before_any_entry_it_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    run = runs.create_run(CONFIG)
    left = list[Path]()

    def submit_and_copy(writer: RecordWriter, written: Callable[[], None], *args: int, **kwargs: bool) -> None:
        """What lies there before each entry is what a kill at that moment leaves."""

        def copy_and_write() -> None:
            left.append(tmp_path / f"left-{len(left)}" / run.id)
            shutil.copytree(run.path, left[-1])
            written()

        submit(writer, copy_and_write, *args, **kwargs)

    submit = RecordWriter.submit
    with monkeypatch.context() as patch:
        patch.setattr(RecordWriter, "submit", submit_and_copy)
        whole = runs.execute_run(run.id)
    assert whole.state == "finished"
    assert len(left) > 20
    expected, arrays, statuses = read_epochs(whole), read_arrays(whole), set[str]()
    chosen = left if request.config.getoption("--all") else left[::6]
    for folder in chosen:
        monkeypatch.setenv("ENSEMBLE_RUNS", str(folder.parent))
        statuses.add(runs.find_run(run.id).state)
        again = runs.execute_run(runs.requeue_run(run.id).id)
        assert (again.state, folder.parent.name) == ("finished", folder.parent.name)
        assert read_epochs(again) == expected
        assert read_arrays(again) == arrays
    assert "failed" in statuses, "they were found as a kill leaves them"


def test_a_disk_that_fails_ends_the_run_with_the_reason_and_it_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    whole = runs.execute_run(runs.create_run(CONFIG).id)
    run, write = runs.create_run(CONFIG), run_recorder.write_parameters

    def write_arrays(folder: Path, epoch: int, *args: object) -> None:
        if epoch == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(folder))
        write(folder, epoch, *args)

    with monkeypatch.context() as patch:
        patch.setattr(run_recorder, "write_parameters", write_arrays)
        run = runs.execute_run(run.id)
    assert run.state == "failed"
    assert "Could not write to the disk" in run.message
    assert len(read_epochs(run)) == 1, "nothing is written after what could not be"
    run = runs.execute_run(runs.requeue_run(run.id).id)
    assert run.state == "finished"
    assert read_epochs(run) == read_epochs(whole)
    assert read_arrays(run) == read_arrays(whole)
