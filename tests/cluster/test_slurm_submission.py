"""Tasks on a real Slurm: each command runs, is told to stop, and goes on where it can."""

import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from ensemble.cluster import (
    QueueEntry,
    SlurmConfig,
    cancel_slurm_tasks,
    check_slurm_config,
    list_slurm_tasks,
    slurm_commands,
    submit_slurm_tasks,
)
from ensemble.cluster.slurm_submission import build_submitit_parameters, hide_slurm_environment, read_submitted_id
from ensemble.errors import ConfigError
from tests.cluster.test_slurm import commands_that, rows

CONFIG = SlurmConfig(time=5, cpus=1, setup=("export SET='up here'",))
# A worker in small: works until it is told to stop, which takes it a while; where it worked
# before, it has little left to do.
WORKER = """
import os, pathlib, signal, sys, time

file = pathlib.Path(sys.argv[1])
before = file.exists()

def say(word):
    with file.open("a") as lines:
        given = [os.environ.get(one) for one in ("ASKED", "SET", "SLURM_CPUS_PER_TASK")]
        print(word, os.environ["SLURMD_NODENAME"], *given, sep="|", file=lines)

def stop(number, frame):
    time.sleep(0.5)
    say("checkpoint")
    sys.exit(130)

signal.signal(signal.SIGTERM, stop)
say("began")
assert not sys.stdin.read()
time.sleep(0.1 if before else float(sys.argv[2]))
say("ended")
print("It", "said", "so", file=sys.stderr)
"""
PROGRAM = (sys.executable, "-c", WORKER)


def start(tmp_path: Path, *names: str, seconds: float = 100) -> list[str]:
    """Tasks that work for so long, each writing into a file of its name."""
    words = [[str(tmp_path / name), str(seconds)] for name in names]
    logs = [tmp_path / f"{name}.log" for name in names]
    return submit_slurm_tasks(words, tmp_path / "tasks", CONFIG, "a run", {"ASKED": "yes"}, program=PROGRAM, logs=logs)


def said(tmp_path: Path, name: str = "a") -> list[str]:
    """The words that a task has written, in their order."""
    file = tmp_path / name
    return [line.split("|")[0] for line in file.read_text().splitlines()] if file.exists() else []


def state(task: str) -> str:
    found = list_slurm_tasks().get(task)
    assert found, "Slurm forgot it"
    return found.state


def test_an_array_of_three_commands_each_runs_with_what_it_was_given(slurm, tmp_path) -> None:
    ids = start(tmp_path, "a", "b", "c", seconds=0.5)
    number = ids[0].partition("_")[0]
    assert ids == [f"{number}_{index}" for index in range(3)]
    slurm.wait(lambda: all(state(one) == "ended" for one in ids))
    lines = [line.split("|") for name in "abc" for line in (tmp_path / name).read_text().split("\n")]
    assert [one[0] for one in lines] == ["began", "ended", ""] * 3
    assert {tuple(one[2:]) for one in lines if one[1:]} == {("yes", "up here", "1")}
    assert {one[1] for one in lines if one[1:]} <= set(slurm.nodes)
    assert stat.S_IMODE((tmp_path / "tasks").stat().st_mode) == 0o700
    assert {(tmp_path / f"{name}.log").read_text() for name in "abc"} == {"It said so\n"}
    logs = sorted(path.name for path in (tmp_path / "tasks").glob("*_0_log.out"))
    assert logs == [f"{one}_0_log.out" for one in ids]


def test_a_task_that_slurm_wants_to_end_stops_is_waited_for_and_goes_on(slurm, tmp_path) -> None:
    (task,) = start(tmp_path, "a")
    slurm.wait(lambda: said(tmp_path) == ["began"])
    slurm.run("scancel", "--signal=USR2", task)
    slurm.wait(lambda: state(task) == "waiting")
    assert said(tmp_path) == ["began", "checkpoint"]
    slurm.start_now(task)
    slurm.wait(lambda: state(task) == "ended")
    assert said(tmp_path) == ["began", "checkpoint", "began", "ended"]


def test_a_task_whose_node_dies_begins_anew_on_another(slurm, tmp_path) -> None:
    (task,) = start(tmp_path, "a")
    slurm.wait(lambda: said(tmp_path) == ["began"])
    node = list_slurm_tasks()[task].nodes
    slurm.kill_node(node)
    try:
        slurm.wait(lambda: state(task) == "waiting")
        slurm.start_now(task)
        slurm.wait(lambda: state(task) == "ended")
    finally:
        slurm.start_node(node)
    assert said(tmp_path) == ["began", "began", "ended"]
    nodes = [line.split("|")[1] for line in (tmp_path / "a").read_text().splitlines()]
    assert nodes[0] == node
    assert node not in nodes[1:]


def test_cancelled_tasks_stop_with_a_checkpoint_and_do_not_come_back(slurm, tmp_path) -> None:
    ids = start(tmp_path, "a", "b")
    slurm.wait(lambda: [said(tmp_path, name) for name in "ab"] == [["began"]] * 2)
    cancel_slurm_tasks([*ids, "999999", "; rm"])
    slurm.wait(lambda: all(state(one) == "ended" for one in ids))
    assert [said(tmp_path, name) for name in "ab"] == [["began", "checkpoint"]] * 2
    assert "PENDING" not in slurm.run("squeue", "-h", "-o", "%T")
    cancel_slurm_tasks(ids)


def test_a_task_waits_for_a_reason_and_one_is_named_where_it_works(slurm, tmp_path) -> None:
    ids = start(tmp_path, *map(str, range(7)))
    slurm.wait(lambda: state(ids[0]) == "running" and (tmp_path / "5").exists())
    tasks = list_slurm_tasks()
    assert tasks[ids[0]] == QueueEntry(ids[0], "running", "", tasks[ids[0]].nodes, "a run")
    assert tasks[ids[0]].nodes in slurm.nodes
    assert tasks[ids[6]] == QueueEntry(ids[6], "waiting", "no node is free", "", "a run")


@pytest.mark.parametrize(("minutes", "seconds"), [(2, 30), (5, 75), (7, 105), (8, 120), (9, 120), (600, 120)])
def test_a_task_is_warned_a_quarter_of_its_time_before_its_end_but_two_minutes_at_most(
    minutes: int, seconds: int
) -> None:
    parameters = build_submitit_parameters(SlurmConfig(time=minutes), "a run", ())
    assert parameters["signal_delay_s"] == seconds
    assert parameters["additional_parameters"] == {"requeue": True}


def test_of_slurm_only_that_is_asked_for_which_is_set() -> None:
    usual = build_submitit_parameters(SlurmConfig(time=30), "a run", ())
    assert not {"partition", "account", "gpus_per_node", "mem", "cpus_per_task"} & set(usual)
    assert usual["srun_args"] == ["--input=none"]
    config = SlurmConfig(partition="long", account="us", time=30, gpus=2, memory=16, cpus=3)
    asked = build_submitit_parameters(config, "a run", ("module load one",))
    wanted = {
        "partition": "long",
        "account": "us",
        "gpus_per_node": 2,
        "mem": "16GB",
        "cpus_per_task": 3,
        "time": 30,
        "nodes": 1,
        "job_name": "a run",
    }
    assert wanted.items() <= asked.items()
    assert asked["srun_args"] == ["--input=none", "--cpus-per-task=3"]
    assert asked["setup"][0] == "module load one"


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, ""),
        ({"partition": "long", "time": 9_000}, ""),
        ({"time": 30}, ""),
        ({"time": 31}, "The partition short gives a task 30 minutes at most"),
        ({"partition": "short,long", "time": 9_000}, ""),
        ({"partition": "long,gone"}, "no partition gone: choose one of short, long"),
    ],
)
def test_what_no_partition_gives_is_said_before_anything_is_submitted(monkeypatch, tmp_path, asked, why) -> None:
    lines = (
        "short*|up|30:00|idle|2|0/8/0/8|32000|(null)|gpu:0|",
        "long|up|infinite|idle|3|0/12/0/12|64000|(null)|gpu:0|",
    )
    monkeypatch.setenv("PATH", commands_that(tmp_path, rows(*lines)))
    slurm_commands.clear_slurm_cache()
    config = SlurmConfig(**{"time": 5, **asked})
    if not why:
        check_slurm_config(config)
        return
    with pytest.raises(ConfigError, match=why):
        check_slurm_config(config)


def test_a_cluster_without_a_default_partition_is_to_be_told_which(monkeypatch, tmp_path) -> None:
    line = "long|up|infinite|idle|3|0/12/0/12|64000|(null)|gpu:0|"
    monkeypatch.setenv("PATH", commands_that(tmp_path, rows(line)))
    slurm_commands.clear_slurm_cache()
    with pytest.raises(ConfigError, match="no default partition: choose one of long"):
        check_slurm_config(SlurmConfig())


def test_a_task_that_surrounds_this_process_is_hidden_and_put_back(monkeypatch) -> None:
    monkeypatch.setenv("SLURM_CONF", "here")
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "1")
    before = dict(os.environ)
    with hide_slurm_environment():
        assert [name for name in os.environ if name.startswith("SLURM_")] == ["SLURM_CONF"]
    assert dict(os.environ) == before


def test_a_partition_that_is_not_there_is_said_and_nothing_is_left(slurm, tmp_path) -> None:
    asked = SlurmConfig(partition="gpu")
    with pytest.raises(ConfigError) as refused:
        submit_slurm_tasks([["runs"]], tmp_path / "tasks", asked, "a run", {})
    assert str(refused.value) == "This cluster has no partition gpu: choose one of main."
    assert not (tmp_path / "tasks").exists()


def test_options_win_over_variables_of_sbatch_and_what_is_left_to_these_is_said(
    slurm, tmp_path, monkeypatch, capsys
) -> None:
    asked = {
        "SBATCH_PARTITION": "short",
        "SBATCH_TIMELIMIT": "3",
        "SBATCH_JOB_NAME": "another",
        "SBATCH_SIGNAL": "USR1@10",
        "SBATCH_MEM_PER_NODE": "100",
        "SBATCH_COMMENT": "for the site",
    }
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    config = SlurmConfig(partition="main", time=5, memory=1, cpus=1)
    words = [[str(tmp_path / "a"), "100"]]
    (task,) = submit_slurm_tasks(words, tmp_path / "tasks", config, "a run", {}, program=PROGRAM)
    line = slurm.run("squeue", "-h", "-j", task, "-o", "%P|%l|%m|%j").strip()
    assert line == "main|5:00|1G|a run"
    said = capsys.readouterr().err
    assert said == "From the environment Slurm also takes SBATCH_COMMENT=for the site.\n"
    assert all(os.environ[name] == value for name, value in asked.items())


def test_features_resources_and_quality_of_service_are_asked_for_as_slurm_takes_them() -> None:
    config = SlurmConfig(constraint="[a100|v100]&ib*2", gres="gpu:a100:2,lscratch:10", qos="long")
    asked = build_submitit_parameters(config, "a run", ())
    assert asked["constraint"] == "[a100|v100]&ib*2"
    assert (asked["gres"], asked["qos"]) == ("gpu:a100:2,lscratch:10", "long")
    for wrong in ({"constraint": "a; rm"}, {"gres": "$(x)"}, {"qos": "-x"}, {"gres": "a\nb"}):
        with pytest.raises(ConfigError, match="it has to be"):
            SlurmConfig(**wrong)


@pytest.mark.parametrize(
    ("printed", "task"),
    [
        ("Submitted batch job 17\n", "17"),
        ("Submitted batch job 17 on cluster long\n", "17"),
        ("15786755\n", "15786755"),
        (b"17;long\n", "17"),
        ("Welcome to the cluster.\nYou have 3 jobs.\n 17 \n", "17"),
    ],
)
def test_the_id_is_read_of_what_sbatch_or_a_wrapper_of_it_prints(printed, task) -> None:
    assert read_submitted_id(printed) == task


def test_a_site_whose_sbatch_prints_the_bare_id_takes_arrays_and_single_tasks(slurm, tmp_path, monkeypatch) -> None:
    wrapper = tmp_path / "bin" / "sbatch"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("sbatch")} --parsable "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    (single,) = start(tmp_path, "a")
    first, second = start(tmp_path, "b", "c")
    assert single.isdigit()
    assert (first, second) == (f"{int(single) + 1}_0", f"{int(single) + 1}_1")
    slurm.wait(lambda: said(tmp_path, "c") == ["began"])
