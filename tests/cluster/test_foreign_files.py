"""Files that others made, of a run or beside it: none is executed, or cancels what is mine."""

import json
import subprocess
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.cluster import SlurmConfig, slurm_commands
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, RunError
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.placement import Placement, create_scheduler_backend, read_placement
from ensemble.machine.python_command import build_python_command
from ensemble.runs.groups.group import create_group_folders, list_run_groups
from ensemble.runs.groups.task_placement import create_group_tasks
from ensemble.runs.groups.tasks import read_group_tasks
from tests.cluster.test_slurm import commands_that
from tests.jobs.working_folder import hostile_folder

HERE = Placement("slurm", SlurmConfig(partition="gpu").as_dict())


@pytest.fixture
def run() -> runs.Run:
    """A run that is placed on Slurm."""
    made = runs.create_run(EnsembleConfig(groups=2), HERE)
    create_group_folders(made)
    return made


def test_tasks_of_others_that_a_run_names_are_not_cancelled(
    run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = f'echo "$(basename "$0") $*" >>{tmp_path}/called\n'
    said += "echo '7_0|PENDING||Resources|thesis'\necho '7_1|RUNNING|node1|None|thesis'"
    monkeypatch.setattr(slurm_commands, "ANSWER_CACHE_SECONDS", 0.0)
    monkeypatch.setenv("PATH", commands_that(tmp_path, said))
    slurm_commands.clear_slurm_cache()
    named = {"1": {"state": "running", "id": "7_0"}, "2": {"state": "running", "id": "7_1"}}
    (run.path / "groups" / "tasks.json").write_text(json.dumps(named))
    tasks = create_group_tasks(run)
    for _ in range(3):
        found = tasks.poll_tasks()
    tasks.cancel_waiting()
    for group in list_run_groups(run):
        tasks.kill_task(group)
    assert {task.state for task in found.values()} == {"ended"}
    assert "scancel" not in (tmp_path / "called").read_text()


ODD_TASKS = [
    "[]",
    "{}",
    "nul",
    '{"x": {"state": "running"}}',
    '{"1": 5}',
    '{"1": {"state": "flying"}}',
    '{"1": {"state": "running", "id": 7}}',
    "[" * 100_000,
    '{"1": {"state": "running", "id": "--user=root"}}',
]


@pytest.mark.parametrize("text", ODD_TASKS)
def test_odd_words_of_tasks_are_no_tasks_or_harmless_ones(text: str, run) -> None:
    (run.path / "groups" / "tasks.json").write_text(text)
    read_group_tasks(run.path)
    create_group_tasks(run)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("partition", "a b"),
        ("partition", "main\n#SBATCH --wrap=x"),
        ("partition", "$(touch x)"),
        ("account", "-x"),
        ("account", "a;b"),
        ("time", "1; touch x"),
        ("time", True),
        ("gpus", -1),
        ("memory", 1.5),
        ("cpus", [1]),
        ("partition", 7),
    ],
)
def test_a_placement_that_is_no_setting_of_slurms_is_refused(name: str, value, run) -> None:
    file = run.path / "placement.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps({**values, "settings": {**values["settings"], name: value}}))
    with pytest.raises((ConfigError, RunError), match=name):
        create_group_tasks(run)


def test_lines_of_shell_code_in_a_runs_folder_are_not_taken(run) -> None:
    file = run.path / "placement.json"
    values = json.loads(file.read_text())
    values["settings"]["setup"] = ["touch /tmp/never"]
    file.write_text(json.dumps(values))
    placement = read_placement(run.path)
    assert placement is not None
    assert create_scheduler_backend(placement, run.path).config.setup == ()


@pytest.mark.parametrize("text", ["[]", '{"on": "moon"}', '{"on": 7}', '{"on": "slurm", "settings": 1}'])
def test_a_placement_that_cannot_be_told_is_said_with_what_to_do(text: str, run) -> None:
    (run.path / "placement.json").write_text(text)
    with pytest.raises(RunError, match=r"placement\.json back, or remove it to train here"):
        create_group_tasks(runs.find_run(run.id))


@pytest.mark.usefixtures("slurm")
def test_tasks_of_slurm_do_not_import_what_lies_where_they_were_submitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "1")
    settings = ("--members=4", "--network=logistic", "--epochs=1", "--batch-size=512")
    place = ("--groups=2", "--on=slurm", "--time=5", "--cpus=1")
    with hostile_folder(tmp_path, monkeypatch):
        # What submits is this program's own process, and Slurm passes PYTHONPATH on.
        environment = {**build_worker_environment(), "SBATCH_EXPORT": "ALL,PYTHONPATH=:"}
        ended = subprocess.run(
            build_python_command("train", *settings, *place),
            env=environment,
            timeout=120,
            capture_output=True,
            text=True,
        )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1])["state"] == "finished"
