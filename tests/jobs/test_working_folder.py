"""What lies in the working folder is not imported by the processes that are started there."""

import ast
import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ensemble import architectures, regression, runs, sweeps
from ensemble.acquisition.learning_job import LEARNING, LearningConfig, find_learning, launch_learning
from ensemble.cli.app import build_app_environment
from ensemble.config import EnsembleConfig
from ensemble.jobs import dataset_fetch, warm_worker
from ensemble.jobs.dataset_fetch import FETCH
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import GROUP, SWEEP, TRAINING, JobKind, list_job_kinds
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.network_probe import NetworkProbe
from ensemble.jobs.uploads import dataset_upload
from ensemble.jobs.uploads.dataset_upload import UPLOAD
from ensemble.jobs.uploads.upload_request import UploadRequest
from ensemble.machine import jax_environment
from ensemble.machine.python_command import build_python_command
from ensemble.recognition.calibration_job import CALIBRATION, read_calibration_job, start_calibration
from ensemble.regression import regression_samples
from ensemble.regression.regression_job import REGRESSION, LbfgsConfig
from ensemble.runs.groups.group import list_run_groups
from ensemble.shift.stress_job import STRESS, read_stress_job, start_stress
from ensemble.sweeps.settings import SweepConfig
from ensemble.ui.devices import probe
from tests.conftest import variant
from tests.jobs.working_folder import hostile_folder
from tests.runs.pods import ended, pod
from tests.workers import PATIENCE_SECONDS, wait_for_end

REPO = Path(__file__).resolve().parents[2]
NETWORK = "my_leaves:Leaves"
LEAVES = """
from flax import linen as nn

class Leaves(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.classes)(x.reshape(len(x), -1))
"""
PICTURES = ("PNG", "JPEG", "WEBP", "BMP", "TIFF")
SMALL = EnsembleConfig(network="logistic", members=2, epochs=1, batch_size=512)


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder of wrong modules, and a network of a person's own."""
    with hostile_folder(tmp_path, monkeypatch) as folder:
        (folder / "my_leaves.py").write_text(LEAVES)
        monkeypatch.setenv(architectures.NETWORKS_VARIABLE, NETWORK)
        yield folder


def wait_for_job(find: Callable[[], Job | None]) -> Job:
    """The job once its worker has ended."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (job := find()) is None or job.active:
        assert time.monotonic() < end
        time.sleep(0.05)
    return job


def train_here() -> Job:
    return wait_for_end(runs.launch_run(SMALL))


def train_group() -> Job:
    run = wait_for_end(runs.launch_run(replace(SMALL, members=4, groups=2)))
    assert run.state == "finished", run.message
    return list_run_groups(run)[1]


def measure_shift() -> Job:
    run = runs.execute_run(runs.create_run(SMALL).id)
    start_stress(run.id, limit=20)
    return wait_for_job(lambda: read_stress_job(run))


def solve() -> Job:
    config = LbfgsConfig(samples=100, features=8, classes=2, iterations=2, sweep=False)
    job = regression.launch_regression(config)
    return wait_for_job(lambda: regression.find_regression(job.id))


def fetch() -> Job:
    dataset_fetch.start_fetch("digits")
    return wait_for_job(lambda: dataset_fetch.read_fetch_job("digits"))


def read_upload() -> Job:
    file, images = io.BytesIO(), np.random.default_rng(0).integers(0, 256, (20, 12, 12), np.uint8)
    with zipfile.ZipFile(file, "w") as archive:
        for number, image in enumerate(images):
            Image.fromarray(image).save(picture := io.BytesIO(), kind := PICTURES[number % 5])
            archive.writestr(f"{'ab'[number // 10]}/{number}.{kind}", picture.getvalue())
    file.seek(0)
    job = dataset_upload.receive_upload(file, UploadRequest("mine.zip", test_share=0.3))
    return wait_for_job(lambda: dataset_upload.read_upload_job(job.id))


def search() -> Job:
    config = SweepConfig(space="momentum=0.8,0.9", sampler="grid", base=replace(SMALL, validation=0.1))
    sweep = sweeps.launch_sweep(config)
    return wait_for_job(lambda: sweeps.find_sweep(sweep.id))


def calibrate() -> Job:
    run = runs.execute_run(runs.create_run(SMALL).id)
    start_calibration(run.id, 1)
    return wait_for_job(read_calibration_job)


def compare_labels() -> Job:
    config = LearningConfig(first=10, step=5, rounds=1, seeds=2, candidates=40, base=replace(SMALL, batch_size=8))
    job = launch_learning(config)
    return wait_for_job(lambda: find_learning(job.id))


WORK: dict[JobKind, Callable[[], Job]] = {
    TRAINING: train_here,
    GROUP: train_group,
    STRESS: measure_shift,
    REGRESSION: solve,
    FETCH: fetch,
    UPLOAD: read_upload,
    SWEEP: search,
    CALIBRATION: calibrate,
    LEARNING: compare_labels,
}


# One that trains, one that has no JAX, and one that opens pictures; the others are started alike.
ALWAYS = (TRAINING, FETCH, UPLOAD)


def test_every_kind_of_job_is_here() -> None:
    assert set(WORK) == {kind for kind in list_job_kinds() if kind.work_entry}


@pytest.mark.usefixtures("hostile", "two_devices_a_worker", "no_worker_left")
@pytest.mark.parametrize(
    "kind", [kind if kind in ALWAYS else variant(kind) for kind in WORK], ids=lambda kind: kind.name
)
def test_a_job_is_done(kind: JobKind) -> None:
    job = WORK[kind]()
    log = job.path / "log.txt"
    assert job.state in ("finished", "done"), (job.message, log.exists() and log.read_text())


@pytest.mark.long
@pytest.mark.usefixtures("hostile", "two_devices_a_worker")
def test_a_run_in_groups_trains_a_network_of_that_folder(config: EnsembleConfig) -> None:
    run = runs.launch_run(replace(config, members=4, groups=2, epochs=1, network=NETWORK))
    ended = wait_for_end(run)
    assert ended.state == "finished", (run.path / "log.txt").read_text()


@pytest.mark.long
@pytest.mark.usefixtures("hostile")
def test_a_network_of_that_folder_is_asked_what_it_is() -> None:
    question, end = NetworkProbe(NETWORK, "digits"), time.monotonic() + PATIENCE_SECONDS
    while question.result.is_pending and time.monotonic() < end:
        time.sleep(0.05)
    assert question.result.problem == ""
    assert question.result.cost is not None
    assert question.result.cost.parameters == 784 * 10 + 10


@pytest.mark.usefixtures("hostile")
def test_samples_are_drawn() -> None:
    config = LbfgsConfig(samples=100, features=8, classes=2)
    assert regression_samples.load_regression_samples(config).x.shape == (100, 8)


@pytest.mark.usefixtures("hostile")
def test_the_warm_worker_gets_ready() -> None:
    with warm_worker.start_warm_worker(build_worker_environment()) as child:
        child.communicate(timeout=PATIENCE_SECONDS)  # It ends once it has imported everything.
    assert child.returncode == 0


@pytest.mark.long
@pytest.mark.usefixtures("hostile", "two_devices_a_worker")
def test_a_run_that_a_script_of_another_folder_starts(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        f"import sys\nsys.path.append({str(REPO)!r})\nimport ensemble\n"
        "config = ensemble.Config(network='logistic', members=2, epochs=1, batch_size=512)\n"
        "print(ensemble.train(config, progress=False).state)\n"
    )
    # A script's own folder comes first, not the one that it is started in.
    environment = {**os.environ, "PYTHONPATH": ""}
    words = [sys.executable, str(script)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["finished"], done.stderr


@pytest.mark.variant
@pytest.mark.usefixtures("hostile", "two_devices_a_worker", "no_worker_left")
def test_pods_train_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    # As the manifest has it: `python -P -m ensemble` in a container, where nothing was typed.
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert ended(pod(0), pod(1)) == [0, 0]


@pytest.mark.long
@pytest.mark.usefixtures("hostile")
def test_devices_are_asked_for(tmp_path: Path) -> None:
    question, end = probe.DeviceProbe(tmp_path, probe.COMMAND), time.monotonic() + PATIENCE_SECONDS
    while question.is_pending and time.monotonic() < end:
        time.sleep(0.05)
    assert question.failed == ""
    assert question.inventory is not None


@pytest.mark.usefixtures("hostile")
def test_flags_of_xla_are_tried() -> None:
    jax_environment.find_flags_problem.cache_clear()
    assert "xla_of_nobody" in jax_environment.find_flags_problem("--xla_of_nobody=1")


@pytest.mark.usefixtures("hostile")
def test_the_app_is_served() -> None:
    # Its command stays in the server's place, with this environment.
    command = build_python_command("app", "--server.port=0", "--server.headless=true")
    with subprocess.Popen(command, env=build_app_environment(), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        line = next((line for line in server.stdout if "http" in line), "")
        server.send_signal(signal.SIGTERM)
        rest = server.stdout.read()
    assert "http://" in line, rest


def test_a_clone_that_is_the_working_folder_is_not_looked_in_either(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hostile / "ensemble.py").unlink()
    (hostile / "ensemble").symlink_to(REPO / "ensemble")
    monkeypatch.setenv("PYTHONPATH", "")
    command = build_python_command("data", "list")
    done = subprocess.run(command, env=build_worker_environment(), capture_output=True, text=True)
    assert done.stdout.startswith("digits"), done.stderr


def test_all_processes_are_started_by_that_one_command() -> None:
    starts = {
        file.relative_to(REPO / "ensemble").as_posix()
        for file in (REPO / "ensemble").rglob("*.py")
        if "executable" in (source := file.read_text("utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr == "executable"
    }
    # Samples are drawn, and XLA's flags tried, by a few lines of code; a folder that classifies is
    # tried by its own script, with -I, and Parquet is read by a script with -I.
    assert starts == {
        "export/predict_folder.py",
        "machine/jax_environment.py",
        "machine/python_command.py",
        "regression/regression_samples.py",
        "files/table_process.py",
    }
