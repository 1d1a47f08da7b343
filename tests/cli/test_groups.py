"""The command line on runs in groups: what each does, where, and what is waited for."""

import json
from dataclasses import replace
from typing import Any

from click.testing import CliRunner

from ensemble.cli.program import main
from ensemble.runs.groups.tasks import TaskStatus
from ensemble.wording.runs.training import describe_training_progress
from tests.pages.ensembles import trained
from tests.pages.grouped import SLURM, in_groups


def shown(run_id: str) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["runs", "show", run_id])
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.output))


def test_runs_show_has_each_group_with_its_task_and_the_place() -> None:
    run = in_groups(
        {1: "training", 2: "queued"},
        {1: TaskStatus("running", "7_0", "node2"), 2: TaskStatus("waiting", "7_1", "", "no node is free")},
        placement=SLURM,
        told={1: {"epoch": 2, "step": 27}},
    )
    found = shown(run.id)
    assert found["placement"] == {"on": "slurm", "settings": {"partition": "long"}}
    [first, second] = found["groups"]
    host = first.pop("host")
    assert host
    assert first == {
        "number": 1,
        "members": [1, 4],
        "state": "training",
        "message": "",
        "epoch": 2,
        "step": 27,
        "task": {"state": "running", "id": "7_0", "node": "node2", "reason": "", "word": ""},
        "log": "groups/1/log.txt",
    }
    assert second["members"] == [5, 8]
    assert second["task"]["reason"] == "no node is free"


def test_runs_show_of_a_run_without_groups_names_none() -> None:
    found = shown(trained(members=2).id)
    assert found["groups"] == []
    assert found["placement"] is None


def test_the_line_of_progress_says_what_groups_wait_for() -> None:
    status = in_groups({1: "training", 2: "queued"}).status
    said = "1 of 2 groups waits for Slurm (no node is free)."
    assert describe_training_progress(replace(status, message=said)).endswith(
        " · 1 of 2 groups waits for Slurm (no node is free)"
    )
    assert said not in describe_training_progress(replace(status, state="stopped", message=said))


def test_runs_show_has_the_command_that_makes_the_run_again_and_how_to_cite_it() -> None:
    run = trained(members=2)
    found = shown(run.id)
    assert found["command"].startswith("ensemble train --members 2")
    assert run.id in found["citation"]
    assert found["bibtex"].startswith(f"@software{{{run.id},")
