"""The script of an array, whose tasks are started as schedulers start them.

The schedulers themselves are not here: a stand-in for each reads the script as its manual says, and
starts the script's own tasks as processes.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ensemble import runs
from ensemble.cli.kubernetes import format_config_options
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs.placement import read_placement
from ensemble.runs.groups.group import list_run_groups
from tests.runs.pods import CONFIG
from tests.workers import PATIENCE_SECONDS, wait_until

RUN = "digits-array"
THREE = replace(CONFIG, members=6, groups=3)
Task = subprocess.Popen[str]


def call(place: str, *words: str) -> Result:
    return CliRunner().invoke(main, ["manifest", "--for", place, *words], catch_exceptions=False)


def print_script(*words: str, config: EnsembleConfig = THREE) -> str:
    options = format_config_options(config)
    done = call("array", "--run-id", RUN, *options, *words)
    assert done.exit_code == 0, done.output
    return done.stdout


def list_directives(script: str, word: str) -> list[str]:
    """The directives of a script; a scheduler reads no more of them behind the first command."""
    head = script.partition("\nif ")[0]
    assert word not in script[len(head) :]
    return re.findall(rf"^{word} (.*)$", head, re.M)


def read_description(script: str) -> list[str]:
    """The lines that the script's comment says condor_submit takes."""
    return re.findall(r"^#     (\w+.*)$", script, re.M)


def start_pbs_tasks(script: str, job: int, folder: Path) -> list[Task]:
    (span,) = [line for line in list_directives(script, "#PBS") if line.startswith("-J ")] or [""]
    first, last = map(int, re.fullmatch(r"-J (\d+)-(\d+)", span).groups()) if span else (0, 0)
    named = [{"PBS_ARRAY_INDEX": str(index), "PBS_JOBID": f"{job}[{index}].head"} for index in range(first, last + 1)]
    if not span:
        named = [{"PBS_JOBID": f"{job}.head"}]
    return [start_copy(script, {**one, "PBS_O_WORKDIR": str(folder)}, folder) for one in named]


def start_lsf_tasks(script: str, job: int, folder: Path) -> list[Task]:
    (name,) = [line for line in list_directives(script, "#BSUB") if line.startswith("-J ")]
    first, last = map(int, re.fullmatch(r'-J "[\w-]+\[(\d+)-(\d+)\]"', name).groups())
    return [
        start_copy(script, {"LSB_JOBINDEX": str(index), "LSB_JOBID": str(job), "LS_SUBCWD": str(folder)}, folder)
        for index in range(first, last + 1)
    ]


def start_grid_engine_tasks(script: str, job: int, folder: Path) -> list[Task]:
    ((first, last),) = re.findall(r"^#   Grid Engine  qsub -cwd -t (\d+)-(\d+) FILE$", script, re.M)
    indices = range(int(first), int(last) + 1)
    return [start_copy(script, {"SGE_TASK_ID": str(index), "JOB_ID": str(job)}, folder) for index in indices]


def start_copy(script: str, named: dict[str, str], folder: Path) -> Task:
    """A task whose script lies in the scheduler's own folder, where schedulers copy it."""
    spool = folder / "-".join(["spool", *re.findall(r"\w+", " ".join(list(named.values())[:2]))])
    spool.write_text(script)
    return start_task(["bash", str(spool)], {**os.environ, **named}, folder)


def start_condor_tasks(script: str, job: int, folder: Path) -> list[Task]:
    given = dict(line.split(" = ") for line in read_description(script) if " = " in line)
    (count,) = re.findall(r"^#     queue (\d+)$", script, re.M)
    (folder / "FILE").write_text(script)
    kept = {name: os.environ[name] for name in ("PATH", "JAX_COMPILATION_CACHE_DIR") if name in os.environ}
    tasks = []
    for process in range(int(count)):
        words = given["arguments"].replace("$(Process)", str(process)).replace("$(Cluster)", str(job))
        tasks.append(start_task([given["executable"], *words.split()], kept, folder))
    return tasks


def start_loop_tasks(script: str, job: int, folder: Path) -> list[Task]:
    ((first, last),) = re.findall(r"for i in \{(\d+)\.\.(\d+)\}; do bash FILE \$i \$now & done; wait$", script, re.M)
    (folder / "FILE").write_text(script)
    return [start_loop_task(index, job, folder) for index in range(int(first), int(last) + 1)]


def start_loop_task(index: int, job: int, folder: Path) -> Task:
    return start_task(["bash", "FILE", str(index), str(job)], dict(os.environ), folder)


def start_task(words: list[str], environment: dict[str, str], folder: Path) -> Task:
    return subprocess.Popen(
        words,
        env=environment,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


STARTS = {
    "pbs": start_pbs_tasks,
    "lsf": start_lsf_tasks,
    "grid engine": start_grid_engine_tasks,
    "htcondor": start_condor_tasks,
    "loop": start_loop_tasks,
}


def end_tasks(tasks: list[Task]) -> list[int]:
    said = [task.communicate(timeout=PATIENCE_SECONDS)[0] for task in tasks]
    assert "Traceback" not in "".join(said), said
    return [task.returncode for task in tasks]


def wait_until_groups_train() -> None:
    """Wait until each group of the run has begun."""
    end = time.monotonic() + PATIENCE_SECONDS
    while RUN not in [run.id for run in runs.list_runs()]:
        assert time.monotonic() < end
        time.sleep(0.02)
    wait_until(runs.find_run(RUN), lambda run: all(group.status.step > 0 for group in list_run_groups(run)))


@pytest.fixture
def started() -> Iterator[list[Task]]:
    """Tasks, of which none outlives the test."""
    tasks: list[Task] = []
    yield tasks
    for task in tasks:
        if task.poll() is None:
            os.killpg(task.pid, signal.SIGKILL)
            task.communicate()


def assert_same_bits_as_one_process(config: EnsembleConfig) -> None:
    """Assert that the run predicts what one process does that trains as many members per device."""
    alone = replace(config, groups=1, devices=config.groups)
    environment = {**os.environ, "JAX_NUM_CPU_DEVICES": str(config.groups)}
    words = [sys.executable, "-m", "ensemble", "train", *format_config_options(alone)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    other = json.loads(done.stdout.splitlines()[-1])["run_id"]
    there, here = (runs.read_run_predictions(run_id, config.epochs) for run_id in (RUN, other))
    np.testing.assert_array_equal(there, here)


@pytest.mark.parametrize("place", STARTS)
def test_each_task_runs_the_command_and_knows_which_group_is_its_own(
    place: str, started: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs of O'Neil's \"$HOME\""  # Folders of any name.
    monkeypatch.setenv("ENSEMBLE_RUNS", str(folder))
    witness = tmp_path / "python"  # in Python's place
    witness.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$JOB_COMPLETION_INDEX" "$ENSEMBLE_SUBMISSION" "$ENSEMBLE_RUNS" "$PWD" "$*"\n'
    )
    witness.chmod(0o700)
    script = print_script()
    assert sys.executable in script
    started += STARTS[place](script.replace(sys.executable, str(witness)), 77, tmp_path)
    said = [task.communicate(timeout=PATIENCE_SECONDS)[0].splitlines() for task in started]
    assert [task.returncode for task in started] == [0, 0, 0]
    assert [lines[:4] for lines in said] == [[str(one), "77", str(folder), str(tmp_path)] for one in range(3)]
    assert all(f" work-pod --for array {RUN} " in lines[4] for lines in said)


@pytest.mark.long
@pytest.mark.usefixtures("no_worker_left")
@pytest.mark.parametrize("killed", [0, 1])
def test_a_task_that_is_killed_and_started_again_changes_no_bit(
    killed: int, started: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs of O'Neil's \"$HOME\""))
    tasks = start_loop_tasks(print_script(), 77, tmp_path)
    started += tasks
    wait_until_groups_train()
    os.killpg(tasks[killed].pid, signal.SIGKILL)
    tasks[killed].communicate()
    tasks[killed] = start_loop_task(killed, 77, tmp_path)
    started.append(tasks[killed])
    assert end_tasks(tasks) == [0, 0, 0]
    run = runs.find_run(RUN)
    assert run.state == "finished"
    placement = read_placement(run.path)
    assert placement is not None
    assert placement.on == "array"
    assert_same_bits_as_one_process(THREE)


@pytest.mark.long
@pytest.mark.usefixtures("no_worker_left")
def test_tasks_that_are_told_to_end_continue_when_the_script_is_submitted_again(
    started: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    script = print_script(config=CONFIG)
    started += start_pbs_tasks(script, 77, tmp_path)
    wait_until_groups_train()
    for task in started:  # At the end of its time, all processes of a task.
        os.killpg(task.pid, signal.SIGTERM)
    assert end_tasks(started) == [75, 75]
    with pytest.raises(RunError, match="trained by the scheduler and cannot be resumed here: submit its script again"):
        runs.requeue_run(RUN)
    again = start_pbs_tasks(script, 78, tmp_path)
    started += again
    assert end_tasks(again) == [0, 0]
    assert_same_bits_as_one_process(CONFIG)


def test_the_script_asks_for_what_was_chosen() -> None:
    script = print_script("--cpus=6", "--memory=9", "--gpus=1", "--name=trial", "--time=90", "--queue=long")
    pbs = list_directives(script, "#PBS")
    assert {"-N trial", "-J 0-2", "-l select=1:ncpus=6:mem=9gb:ngpus=1", "-l walltime=01:30:00", "-q long"} <= set(pbs)
    lsf = list_directives(script, "#BSUB")
    assert {'-J "trial[1-3]"', "-n 6", "-M 9GB", '-gpu "num=1"', "-W 90", "-q long"} <= set(lsf)
    asked = {"request_cpus = 6", "request_memory = 9GB", "request_gpus = 1", "queue 3"}
    assert asked <= set(read_description(script))
    single = print_script(config=replace(CONFIG, groups=1))
    assert "-J" not in "".join(list_directives(single, "#PBS"))


@pytest.mark.parametrize("words", [[], ["0"]])
def test_a_task_without_index_or_number_says_what_is_missing(words: list[str]) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PBS_", "LSB_", "SGE_"))}
    done = subprocess.run(
        ["bash", "-s", *words], input=print_script(), text=True, env=kept, capture_output=True, timeout=PATIENCE_SECONDS
    )
    assert done.returncode != 0
    assert "call bash FILE INDEX NUMBER" in done.stderr


@pytest.mark.parametrize("place", ["pbs", "lsf", "htcondor"])
def test_a_run_of_an_earlier_version_names_its_scheduler(place: str) -> None:
    run = runs.create_run(CONFIG)
    (run.path / "placement.json").write_text(json.dumps({"on": place, "settings": {}}))
    with pytest.raises(RunError, match=r"is trained by \w+ and cannot be resumed here: submit its script again"):
        runs.requeue_run(run.id)
    shown = CliRunner().invoke(main, ["runs", "show", run.id], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output


@pytest.mark.parametrize(
    ("place", "words", "said"),
    [
        ("array", ("--image=a",), "--image does not go with --for array"),
        ("kubernetes", (), "Missing option '--name'."),
        ("kubernetes", ("--queue=a",), "--queue does not go with --for kubernetes"),
        ("array", ("--name=a\n#PBS -q b",), "letters, digits and hyphens"),
        ("array", ("--queue=a b",), "a name of letters"),
        ("array", ("--time=1",), "2<=x<=525600"),
        ("array", ("--groups=0",), "give the number"),
        ("pbs", (), "'kubernetes', 'array'"),
    ],
)
def test_a_bad_value_is_refused_in_a_sentence(place: str, words: tuple[str, ...], said: str) -> None:
    done = call(place, *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("words", [["--task", "regression"], ["--table", "houses.csv", "--target", "price"]])
def test_a_regression_is_refused_with_what_to_do_instead(words: list[str]) -> None:
    done = CliRunner().invoke(main, ["manifest", "--for", "array", *words])
    assert done.exit_code == 2
    assert "use `ensemble train --task regression --on slurm`" in done.output
    assert CliRunner().invoke(main, ["manifest", "--for", "array", "--task", "classification"]).exit_code == 0
