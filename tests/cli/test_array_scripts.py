"""Scripts of arrays for PBS, LSF and HTCondor, whose tasks are started as those start them.

The schedulers themselves are not here: what stands in for each reads the script as its manual says,
and starts the script's own tasks as processes.
"""

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
SHORT = replace(CONFIG, epochs=2)
Task = subprocess.Popen[str]


def call(place: str, *words: str) -> Result:
    return CliRunner().invoke(main, ["manifest", "--for", place, *words], catch_exceptions=False)


def print_script(place: str, *words: str, config: EnsembleConfig = SHORT) -> str:
    options = format_config_options(config)
    done = call(place, "--run-id", RUN, *options, *words)
    assert done.exit_code == 0, done.output
    return done.stdout


def list_directives(script: str, word: str) -> list[str]:
    """The directives of a script; a scheduler reads no more of them behind the first command."""
    head = script.partition("\ncd ")[0]
    assert word not in script[len(head) :]
    return re.findall(rf"^{word} (.*)$", head, re.M)


def start_pbs_tasks(script: str, job: int, folder: Path) -> list[Task]:
    (span,) = [line for line in list_directives(script, "#PBS") if line.startswith("-J ")] or [""]
    first, last = map(int, re.fullmatch(r"-J (\d+)-(\d+)", span).groups()) if span else (0, 0)
    named = [{"PBS_ARRAY_INDEX": str(index), "PBS_JOBID": f"{job}[{index}].head"} for index in range(first, last + 1)]
    if not span:
        named = [{"PBS_JOBID": f"{job}.head"}]
    return [start_script(script, {**one, "PBS_O_WORKDIR": str(folder)}, folder) for one in named]


def start_lsf_tasks(script: str, job: int, folder: Path) -> list[Task]:
    (name,) = [line for line in list_directives(script, "#BSUB") if line.startswith("-J ")]
    first, last = map(int, re.fullmatch(r'-J "[\w-]+\[(\d+)-(\d+)\]"', name).groups())
    return [
        start_script(script, {"LSB_JOBINDEX": str(index), "LSB_JOBID": str(job), "LS_SUBCWD": str(folder)}, folder)
        for index in range(first, last + 1)
    ]


def start_script(script: str, named: dict[str, str], folder: Path) -> Task:
    """A task whose script lies in the scheduler's own folder, as PBS and LSF copy it."""
    spool = folder / f"spool-{named.get('PBS_JOBID', '')}{named.get('LSB_JOBINDEX', '')}"
    spool.write_text(script)
    return start_task(["bash", str(spool)], {**os.environ, **named}, folder)


def start_condor_tasks(script: str, job: int, folder: Path) -> list[Task]:
    given = dict(re.findall(r"^(\w+) = (.*)$", script, re.M))
    (count,) = re.findall(r"^queue (\d+)$", script, re.M)

    def read_words(text: str, process: int) -> list[str]:
        """The words of HTCondor's new syntax: in double quotes, single quotes hold a word."""
        inside = re.fullmatch(r'"(.*)"', text)
        assert inside, text
        for macro, value in (("Process", process), ("Cluster", job), ("DOLLAR", "$")):
            text = inside[1] if macro == "Process" else text
            text = text.replace(f"$({macro})", str(value))
        words = re.findall(r"((?:[^\s']|'(?:[^']|'')*')+)", text.replace('""', '"'))
        return [re.sub(r"'((?:[^']|'')*)'", lambda part: part[1].replace("''", "'"), word) for word in words]

    tasks = []
    for process in range(int(count)):
        named = dict(word.split("=", 1) for word in read_words(given["environment"], process))
        words = [given["executable"], *read_words(given["arguments"], process)]
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        cached = {"JAX_COMPILATION_CACHE_DIR": os.environ["JAX_COMPILATION_CACHE_DIR"]}
        tasks.append(start_task(words, {**kept, **cached, **named}, folder))
    return tasks


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


STARTS = {"pbs": start_pbs_tasks, "lsf": start_lsf_tasks, "htcondor": start_condor_tasks}


def end_tasks(tasks: list[Task]) -> list[int]:
    said = [task.communicate(timeout=PATIENCE_SECONDS)[0] for task in tasks]
    assert "Traceback" not in "".join(said), said
    return [task.returncode for task in tasks]


@pytest.fixture
def started() -> Iterator[list[Task]]:
    """Tasks, of which none outlives the test."""
    tasks: list[Task] = []
    yield tasks
    for task in tasks:
        if task.poll() is None:
            os.killpg(task.pid, signal.SIGKILL)
            task.communicate()


def train_alone(config: EnsembleConfig) -> np.ndarray:
    """What a run comes to in one process of this machine, as many members on a device."""
    run = runs.execute_run(runs.create_run(replace(config, groups=1, devices=2)).id)
    return runs.read_run_predictions(run.id, config.epochs)


@pytest.mark.parametrize("place", STARTS)
def test_each_task_runs_the_command_and_knows_which_group_is_its_own(
    place: str, started: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs of O'Neil's \"$HOME\""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(folder))
    witness = tmp_path / "python"  # in Python's place
    witness.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$JOB_COMPLETION_INDEX" "$ENSEMBLE_SUBMISSION" "$ENSEMBLE_RUNS" "$*"\n'
    )
    witness.chmod(0o700)
    script = print_script(place)
    assert sys.executable in script
    started += STARTS[place](script.replace(sys.executable, str(witness)), 77, tmp_path)
    said = [task.communicate(timeout=PATIENCE_SECONDS)[0].splitlines() for task in started]
    assert [task.returncode for task in started] == [0, 0]
    assert [lines[:3] for lines in said] == [[str(one), "77", str(folder)] for one in range(2)]
    assert all(f" work-pod --for {place} {RUN} " in lines[3] for lines in said)


@pytest.mark.long
@pytest.mark.usefixtures("no_worker_left")
@pytest.mark.parametrize("place", STARTS)
def test_the_tasks_of_an_array_come_to_the_bits_of_one_process(
    place: str, started: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Folders of any name.
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs of O'Neil's \"$HOME\""))
    script = print_script(place)
    started += STARTS[place](script, 77, tmp_path)
    assert end_tasks(started) == [0, 0]
    run = runs.find_run(RUN)
    assert run.state == "finished"
    placement = read_placement(run.path)
    assert placement is not None
    assert placement.on == place
    found = runs.read_run_predictions(RUN, SHORT.epochs)
    np.testing.assert_array_equal(found, train_alone(SHORT))


@pytest.mark.long
@pytest.mark.usefixtures("no_worker_left")
@pytest.mark.parametrize("place", ["pbs"])
def test_tasks_that_are_told_to_end_go_on_when_the_script_is_submitted_again(
    place: str, started: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    script = print_script(place, config=CONFIG)
    started += STARTS[place](script, 77, tmp_path)
    end = time.monotonic() + PATIENCE_SECONDS
    while RUN not in [run.id for run in runs.list_runs()]:
        assert time.monotonic() < end
        time.sleep(0.02)
    wait_until(runs.find_run(RUN), lambda run: all(group.status.step > 0 for group in list_run_groups(run)))
    for task in started:  # At the end of its time, all processes of a task.
        os.killpg(task.pid, signal.SIGTERM)
    assert end_tasks(started) == [75, 75]
    with pytest.raises(RunError, match="resumed here: submit its script again"):
        runs.requeue_run(RUN)
    again = STARTS[place](script, 78, tmp_path)
    started += again
    assert end_tasks(again) == [0, 0]
    found = runs.read_run_predictions(RUN, CONFIG.epochs)
    np.testing.assert_array_equal(found, train_alone(CONFIG))


def test_what_is_asked_for_stands_in_the_script() -> None:
    words = ("--cpus=6", "--memory=9", "--gpus=1", "--name=trial")
    timed = (*words, "--time=90", "--queue=long")
    pbs = list_directives(print_script("pbs", *timed), "#PBS")
    assert {"-N trial", "-J 0-1", "-l select=1:ncpus=6:mem=9gb:ngpus=1", "-l walltime=01:30:00", "-q long"} <= set(pbs)
    lsf = list_directives(print_script("lsf", *timed), "#BSUB")
    assert {'-J "trial[1-2]"', "-n 6", "-M 9GB", '-gpu "num=1"', "-W 90", "-q long"} <= set(lsf)
    condor = print_script("htcondor", *words).splitlines()
    asked = {"request_cpus = 6", "request_memory = 9GB", "request_gpus = 1", "queue 2"}
    assert asked <= set(condor)
    assert "-J" not in "".join(list_directives(print_script("pbs", config=replace(SHORT, groups=1)), "#PBS"))


@pytest.mark.parametrize("place", ["pbs", "lsf"])
def test_a_script_is_one_that_bash_reads(place: str) -> None:
    script = print_script(place)
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


@pytest.mark.parametrize(
    ("place", "words", "said"),
    [
        ("pbs", ("--image=a",), "--image does not go with --for pbs"),
        ("kubernetes", (), "Missing option '--name'."),
        ("kubernetes", ("--queue=a",), "--queue does not go with --for kubernetes"),
        ("htcondor", ("--queue=a",), "--queue does not go with --for htcondor"),
        ("pbs", ("--name=a\n#PBS -q b",), "letters, digits and hyphens"),
        ("pbs", ("--queue=a b",), "a name of letters"),
        ("lsf", ("--time=1",), "2<=x<=525600"),
        ("lsf", ("--groups=0",), "give the number"),
    ],
)
def test_a_bad_value_is_refused_in_a_sentence(place: str, words: tuple[str, ...], said: str) -> None:
    done = call(place, *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""
