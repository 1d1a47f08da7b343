"""What lies in the working folder is not imported by the processes that are started there."""

import ast
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble import architectures, runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import warm_worker
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.network_probe import NetworkProbe
from ensemble.machine.python_command import build_python_command
from ensemble.race.competitor_process import CompetitorLostError, CompetitorProcess
from ensemble.race.settings import RaceConfig
from ensemble.regression import regression_samples
from ensemble.regression.settings import LbfgsConfig
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
NAMES = ("random", "queue", "types", "ensemble", "numpy", "sklearn")


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with modules that leave a mark when they are imported, and a network."""
    folder, marks = tmp_path / "here", tmp_path / "marks"
    folder.mkdir()
    marks.mkdir()
    for name in NAMES:
        code = f"open({str(marks / name)!r}, 'w').close()\nraise ImportError('the wrong {name}')\n"
        (folder / f"{name}.py").write_text(code)
    (folder / "my_leaves.py").write_text(LEAVES)
    monkeypatch.chdir(folder)
    # An empty entry means the working folder, and stands there after PYTHONPATH=$PYTHONPATH:….
    monkeypatch.setenv("PYTHONPATH", ":")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv(architectures.NETWORKS_VARIABLE, NETWORK)
    yield folder
    assert [one.name for one in marks.iterdir()] == []


@pytest.mark.usefixtures("hostile", "two_devices_a_worker")
def test_a_run_in_groups_trains_a_network_of_that_folder(config: EnsembleConfig) -> None:
    run = runs.launch_run(replace(config, members=4, groups=2, epochs=1, network=NETWORK))
    ended = wait_for_end(run)
    assert ended.state == "finished", (run.path / "log.txt").read_text()


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


# Its command is that of all processes, as the last test of this file holds.
@pytest.mark.variant
@pytest.mark.usefixtures("hostile")
def test_a_competitor_of_a_race_answers() -> None:
    with CompetitorProcess("float32", RaceConfig(), lambda: False) as process:
        process.send_request(unknown=0)
        with pytest.raises(
            CompetitorLostError
        ):  # It has begun, and does not know what it was asked.
            process.receive_answer()


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
    # Samples are drawn, and XLA's flags tried, by a few lines of code.
    assert starts == {
        "machine/jax_environment.py",
        "machine/python_command.py",
        "regression/regression_samples.py",
    }
