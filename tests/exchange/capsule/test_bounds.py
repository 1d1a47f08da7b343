"""How much of a report is taken: memory, lines, bytes of all its runs; and no more than that."""

import json
import time
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ensemble import runs
from ensemble.errors import PredictionsError
from ensemble.exchange import capsule
from ensemble.exchange.capsule import packing
from ensemble.exchange.checks import limits
from tests.exchange.capsule.pages import taken, uploaded, with_parts, written
from tests.pages.ensembles import trained


@pytest.fixture
def page(tmp_path: Path) -> str:
    return written(tmp_path, trained(members=2)).read_text("utf-8")


def refused(text: str) -> str:
    with pytest.raises(PredictionsError) as raised:
        capsule.read_report_capsules(uploaded(text))
    return str(raised.value)


@pytest.mark.parametrize("codec", packing.CODECS)
def test_unpacking_takes_no_more_memory_than_is_asked_for(codec: str) -> None:
    array = np.full((2, 100_000, 10), 0.1, np.float32)
    packed = memoryview(packing.pack_array(array, codec))
    tracemalloc.start()
    packing.unpack_array(packed, codec, "float32", array.shape)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < packing.PEAK_MEMORY_FACTOR * array.nbytes + 2**20


def test_what_fits_into_memory_only_once_it_is_unpacked_is_refused(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    largest = 2 * 500 * 10 * 4  # bytes of the predictions: it fits once, and not twice
    free = SimpleNamespace(available=1.8 * largest / limits.MAX_MEMORY_SHARE)
    monkeypatch.setattr(limits.psutil, "virtual_memory", lambda: free)
    assert "of memory" in refused(page)


def test_a_history_of_millions_of_lines_is_refused_before_one_is_read(page: str) -> None:
    rows = b'{"kind":"x","step":1}\n' * 400_000
    text = with_parts(page, lambda name, content: rows if name == "history" else content)
    began = time.process_time()
    assert "more lines than any" in refused(text)
    assert time.process_time() - began < 3


def test_an_epoch_that_the_run_cannot_have_had_is_no_line_of_its_history(page: str) -> None:
    figures = {"train_loss": [1.0, 1.0], "test_loss": [1.0, 1.0], "test_accuracy": [0.5, 0.5]}
    lines = [{"kind": "epoch", "step": 10, "epoch": epoch, **figures} for epoch in (0, 1, 1, 2, 9)]
    rows = "".join(json.dumps(line) + "\n" for line in lines).encode()
    run = taken(with_parts(page, lambda name, content: rows if name == "history" else content))
    assert [line["epoch"] for line in runs.read_history(run.id)] == [1, 2]


def test_what_may_be_taken_of_an_upload_is_for_all_runs_in_it_together(tmp_path: Path) -> None:
    made = [trained(members=2, epochs=1) for _ in range(3)]
    size = 2 * 500 * 10 * 4 + 500 * 4  # bytes of a run's predictions and labels
    files = [written(tmp_path, *made[:2]), written(tmp_path, made[2], name="b.html")]
    assert len(capsule.read_report_capsules(files, 3 * size)) == 3
    with pytest.raises(PredictionsError, match=r"b\.html: unpacked, it takes"):
        capsule.read_report_capsules(files, 3 * size - 1)
    with pytest.raises(PredictionsError, match=r"a\.html: unpacked, it takes"):
        capsule.read_report_capsules(files[0], 2 * size - 1)
