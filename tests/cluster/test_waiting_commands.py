"""Tasks that were submitted by an earlier version and wait in Slurm's queue: they load and run.

One of them asked for two nodes (`train --distributed`): it now trains on the first of them.

`waiting_commands.json` has what submitit wrote down of four of them, at commit 34c1de0d with
submitit 1.5.4 and cloudpickle 3.1.3, in base64: `DelayedSubmission(Command(...))`. Each notes in
a file `ran` of the folder that it is started in what it was given.
"""

import base64
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from ensemble.cluster import SlurmConfig, list_slurm_tasks, submit_slurm_tasks

FILE = Path(__file__).with_name("waiting_commands.json")
ROOT = str(Path(__file__).resolve().parents[2])
PICKLES = {use: base64.b64decode(text) for use, text in json.loads(FILE.read_text()).items()}
RAN = {
    "group": "work-group digits-1125-090000:2 /shared/runs ",
    "sweep": "work-sweep sweep-1125-090000 /shared/runs sweep:sweep-1125-090000",
    "single": "work-stress digits-1125-090000 /shared/runs stress:digits-1125-090000",
    "nodes": "work-group digits-1125-090000:1 /shared/runs ",
}


@pytest.mark.parametrize(("use", "log"), [("group", True), ("sweep", False), ("single", False), ("nodes", True)])
def test_a_command_that_waits_runs_as_the_task_begins_it(use: str, log: bool, tmp_path: Path) -> None:
    (tmp_path / "7_submitted.pkl").write_bytes(PICKLES[use])
    ended = subprocess.run(
        [sys.executable, "-m", "submitit.core._submit", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": ROOT, "SUBMITIT_EXECUTOR": "local", "SUBMITIT_LOCAL_JOB_ID": "7"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "ran").read_text() == RAN[use] + "\n"
    assert pickle.loads((tmp_path / "7_0_result.pkl").read_bytes()) == ("success", 0)
    assert ("printed" in ended.stdout) is not log
    assert (tmp_path / "log.txt").exists() is log


def test_commands_that_wait_in_a_real_queue_run_on_its_nodes(
    slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder, config = tmp_path / "tasks", SlurmConfig(time=5, cpus=1)
    slurm.run("scontrol", "update", "partitionname=main", "state=down")
    try:
        submitted = submit_slurm_tasks([["none"]] * len(PICKLES), folder, config, "a run", {})
        ids = dict(zip(PICKLES, submitted, strict=True))
        for use, task in ids.items():
            (folder / f"{task}_submitted.pkl").write_bytes(PICKLES[use])
    finally:
        slurm.run("scontrol", "update", "partitionname=main", "state=up")
    slurm.wait(lambda: all(list_slurm_tasks()[task].state == "ended" for task in ids.values()))
    ran = (tmp_path / "ran").read_text().splitlines()
    assert sorted(ran) == sorted(RAN.values())
    assert (tmp_path / "log.txt").read_text().count("printed") == 2
    said = [(folder / f"{task}_0_log.out").read_text() for task in ids.values()]
    assert all("The command ended with status 0." in one for one in said), said
