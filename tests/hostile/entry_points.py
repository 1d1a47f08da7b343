"""Every function that reads a file from outside, and a program that reads files by each of them.

It runs as a process of its own, so that a file that kills its reader, or asks for all memory, is
reported as the fault that it is: `read_files` starts it, and one line of JSON comes back for each
reading.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).parents[2]
MOST_SECONDS, MOST_BYTES = 60.0, 2**30  # of processor time, as other tests run beside it
_PATIENCE_SECONDS = 900.0
_ADDRESS_SPACE = 10 * 2**30  # so that a fault is a MemoryError, and not the end of the machine
_LONGEST_SENTENCE, _FEW_FILES = 1200, 100


@dataclass(frozen=True)
class Reading:
    """How one file was read by one entry point.

    Attributes:
      file: its name.
      entry: of `list_entry_points`.
      seconds: of processor time that it took.
      peak: bytes of the largest process at most, until then.
      said: the sentence of a refusal; "" if the file was read.
      fault: what is wrong with that; "" for nothing.
    """

    file: str
    entry: str
    seconds: float
    peak: int
    said: str
    fault: str


def read_files(files: Sequence[Path], entries: Sequence[str] = ()) -> list[Reading]:
    """Read files by entry points in a process of its own; if it dies, the last reading reports that."""
    command = [sys.executable, "-m", "tests.hostile.entry_points", ",".join(entries), *map(str, files)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        Path(folder, "runs").mkdir()
        environment = {**os.environ, "ENSEMBLE_DATA": f"{folder}/data", "ENSEMBLE_RUNS": f"{folder}/runs"}
        environment |= {"TMPDIR": folder, "OPENBLAS_NUM_THREADS": "1"}
        found = subprocess.run(
            command, cwd=REPO, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, check=False
        )
        readings = [Reading(**json.loads(line)) for line in found.stdout.splitlines()]
        if found.returncode:
            errors.seek(0)
            fault = f"died with {found.returncode} after this: {errors.read()[-300:]}"
            last = readings[-1] if readings else Reading("", "", 0.0, 0, "", "")
            readings.append(Reading(last.file, last.entry, 0.0, 0, "", fault))
    return readings


def list_entry_points() -> dict[str, Callable[[Path], object]]:
    """Functions of a file: of a table, a picture, an archive or arrays."""
    from ensemble import datasets, exchange
    from ensemble.datasets.decisions.decision_table import read_label_changes
    from ensemble.datasets.own import dataset_builder, source_lookup
    from ensemble.datasets.own.pools import label_pool
    from ensemble.datasets.own.request import DatasetNaming, PreparationSettings
    from ensemble.datasets.own.sources.folders.picture_table import read_picture_table
    from ensemble.exchange import capsule
    from ensemble.exchange.data_tables import read_data_table
    from ensemble.exchange.file_task import is_numeric_file
    from ensemble.exchange.numeric_files import read_numeric_file
    from ensemble.files.table import read_table_file
    from ensemble.jobs.uploads import upload_preview, upload_request
    from ensemble.pictures.files import decoding
    from ensemble.pictures.files.picture import open_picture

    how, digits = PreparationSettings(max_unreadable=0.9), datasets.load_dataset("digits")

    def add_dataset(path: Path) -> None:
        folder, _ = dataset_builder.stage_custom_dataset(
            source_lookup.open_picture_source(str(path)), how, DatasetNaming("mine")
        )
        shutil.rmtree(folder)

    def add_folder(path: Path) -> None:
        """Add the file as one of a folder's, next to a class of others."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "b"):
                Path(folder, name).mkdir()
                os.link(path, Path(folder, name, path.name))
            os.link(path, Path(folder, "labels" + path.suffix))
            add_dataset(Path(folder))

    def upload(path: Path) -> None:
        """As `execute_upload` in the process that reads an upload."""
        request = upload_request.UploadRequest(path.name)
        name = request.stem + request.suffix
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, upload_request.SOURCE_FOLDER).mkdir()
            shutil.copy(path, Path(folder, upload_request.SOURCE_FOLDER, name))

            def ignore_progress(share: float | None, message: str) -> None:
                return

            source = upload_request.unpack_upload(Path(folder), request, ignore_progress)
            upload_preview.prepare_preview(source, Path(folder), how, ignore_progress)

    def upload_pool(path: Path) -> None:
        with label_pool.open_temporary_pool(path, digits):
            return

    def upload_pool_folder(path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.link(path, Path(folder, path.name))
            upload_pool(Path(folder))

    def open_upload(path: Path) -> None:
        if path.stat().st_size <= decoding.MAX_BYTES + 1:  # the page takes no more
            open_picture(path.read_bytes())

    def read_report(path: Path) -> None:
        with path.open("rb") as file:
            capsule.read_report_capsules(file)

    return {
        "predictions": lambda path: exchange.read_prediction_files([path]),
        "numbers": read_numeric_file,
        "is numbers": is_numeric_file,
        "table": read_data_table,
        "decisions": lambda path: read_label_changes(path, digits),
        "picture table": read_picture_table,
        "cells": lambda path: list(read_table_file(path).iterate_rows()),
        "dataset": add_dataset,
        "dataset folder": add_folder,
        "upload": upload,
        "pool": upload_pool,
        "pool folder": upload_pool_folder,
        "picture": open_upload,
        "report": read_report,
    }


def _read_by_entry_points(files: Sequence[Path], names: Sequence[str]) -> Iterator[Reading]:
    from ensemble.files.table_process import borrow_table_process

    entries, peak = list_entry_points(), _measure_peak()
    assert peak < MOST_BYTES / 2
    for path in files:
        for name in names or entries:
            begun, begun_at = _measure_seconds(), time.monotonic()
            said, fault = _read_once(path, entries[name])
            if len(files) < _FEW_FILES:
                with borrow_table_process() as process:
                    process.end()  # a child's memory and time count once it has ended
            seconds = _measure_seconds() - begun
            if seconds > MOST_SECONDS or time.monotonic() - begun_at > _PATIENCE_SECONDS:
                fault = fault or f"took {seconds:.0f} s"
            before, peak = peak, _measure_peak()
            if peak > max(before, MOST_BYTES):
                fault = fault or f"took {peak / 1e6:,.0f} MB"
            yield Reading(path.name, name, seconds, peak, said, fault)


def _read_once(path: Path, read: Callable[[Path], object]) -> tuple[str, str]:
    """The sentence of a refusal, and what is wrong with it."""
    from ensemble.errors import EnsembleError

    try:
        read(path)
    except EnsembleError as error:
        said = str(error)
        is_sentence = said.strip() and len(said) < _LONGEST_SENTENCE and "Traceback" not in said
        return said, "" if is_sentence else f"no sentence: {said[:200]!r}, {len(said):,} letters"
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "", f"{type(error).__name__} in {place.filename}, {place.name}: {str(error)[:200]}"
    return "", ""


def _measure_seconds() -> float:
    """Processor time of this process and of children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _measure_peak() -> int:
    """Bytes of the largest process: this one, or a child that has ended."""
    # getrusage counts what the process took that started this one: Linux keeps it over exec.
    (own,) = (
        line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return 1024 * max(int(own), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    chosen = [name for name in sys.argv[1].split(",") if name]
    for reading in _read_by_entry_points([Path(name) for name in sys.argv[2:]], chosen):
        print(json.dumps(vars(reading)), flush=True)
