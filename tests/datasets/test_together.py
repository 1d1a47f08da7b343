"""Several preparing at once, and one that is killed."""

import errno
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import filelock
import numpy as np
import pytest

from ensemble.datasets import store
from ensemble.datasets.preparation import prepare_dataset_files
from ensemble.datasets.transfer import TransferSettings

REPO = Path(__file__).resolve().parents[2]
IMAGES = "train-images-idx3-ubyte.gz"
PREPARE = """
import json, sys
from pathlib import Path
from ensemble import datasets
from ensemble.datasets import store
from ensemble.datasets.preparation import prepare_dataset_files
from ensemble.datasets.registry import DatasetEntry
from ensemble.datasets.download_manifest import DownloadManifest, RemoteFile
folder, url, text, diary = sys.argv[1:]
entry, recipe = json.loads(text)
recipe = DownloadManifest(recipe["version"], tuple(RemoteFile(**file) for file in recipe["files"]))
with open(diary, "w") as out:
    tell = lambda fraction, message: print(message, file=out, flush=True)
    entry, transfer = DatasetEntry(**entry), datasets.TransferSettings(base_url=url)
    prepare_dataset_files(entry, recipe, Path(folder), tell, transfer)
    images = store.read_prepared_dataset(Path(folder), entry).train_images
    print(int(images.sum()), file=out)
"""


def start(folder, server, tiny, diary) -> "subprocess.Popen[bytes]":
    arguments = [str(folder), server.base_url, tiny.as_json(), str(diary)]
    return subprocess.Popen([sys.executable, "-W", "error", "-c", PREPARE, *arguments], cwd=REPO)


def wait_for(condition, seconds=30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_of_two_processes_one_fetches_and_both_get_it(server, tiny, transfer, folder, tmp_path):
    server.moods[IMAGES].append("hold")
    diaries = [tmp_path / "first", tmp_path / "second"]
    processes = [start(folder, server, tiny, diary) for diary in diaries]
    texts = lambda: [diary.read_text() if diary.exists() else "" for diary in diaries]  # noqa: E731
    wait_for(lambda: any("Waiting for another process" in text for text in texts()))
    server.let_go.set()
    assert [process.wait(30) for process in processes] == [0, 0]
    total = str(int(tiny.arrays[IMAGES].sum()))
    assert [text.split()[-1] for text in texts()] == [total, total]
    assert sum("Preparing MNIST" in text for text in texts()) == 1
    assert server.asked == dict.fromkeys(tiny.files, 1)


def test_what_a_killed_process_left_is_cleared_and_made_again(server, tiny, transfer, folder, tmp_path):
    server.moods[IMAGES].append("stall")  # the next request is served well
    process = start(folder, server, tiny, tmp_path / "diary")
    wait_for(lambda: list(folder.rglob("*.part")) and not server.moods[IMAGES])
    process.kill()
    process.wait(30)
    assert list(folder.rglob("*.part"))
    assert not store.is_prepared_dataset_intact(folder, tiny.entry)
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert not list(folder.rglob("*.part"))
    labels = store.read_prepared_dataset(folder, tiny.entry).train_labels
    np.testing.assert_array_equal(labels, tiny.arrays["train-labels-idx1-ubyte.gz"])


def test_without_locks_several_at_once_do_no_harm(server, tiny, transfer, folder, monkeypatch):
    def no_locks(*arguments, **options):  # as on some network disks
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(filelock, "lock_descriptor", no_locks)
    for name in tiny.files:
        server.moods[name].extend(["cut", "wrong"])
    patient = TransferSettings(base_url=server.base_url, attempts=4, pause_seconds=0.01)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(prepare_dataset_files, tiny.entry, tiny.recipe, folder, None, patient) for _ in range(4)]
        for job in jobs:
            job.result()
    assert store.is_prepared_dataset_intact(folder, tiny.entry)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == sorted(
        [*tiny.files, "mnist.json", "mnist.npy"]
    )


def test_threads_of_one_process_wait_for_each_other(server, tiny, transfer, folder):
    pytest.importorskip("fcntl")
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(prepare_dataset_files, tiny.entry, tiny.recipe, folder, None, transfer) for _ in range(4)]
        for job in jobs:
            job.result()
    assert server.asked == dict.fromkeys(tiny.files, 1)
    assert json.loads(store.prepared_note_path(folder, "mnist").read_text())["format"] == store.FORMAT
