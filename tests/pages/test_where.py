"""Where the next run is trained or searched: asked where there is a cluster, passed on as said."""

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from ensemble import runs, sweeps
from ensemble.cli.program import main
from ensemble.cluster import slurm as cluster
from ensemble.cluster import slurm_commands
from ensemble.jobs.placement import Placement, read_placement
from ensemble.jobs.status import write_status
from ensemble.runs.groups.tasks import TaskStatus
from ensemble.runs.store import RUN_STORE
from ensemble.sweeps.settings import STORAGE_VARIABLE
from ensemble.sweeps.store import SWEEP_STORE
from ensemble.ui.devices import probe, schedulers
from ensemble.ui.shared import loaders, settings
from tests.pages.grouped import SLURM, in_groups
from tests.pages.sweeps_screen import tuned

Train = Callable[..., AppTest]
SINFO = (  # as Slurm 22.05 prints them, without the spaces
    "long*|up|infinite|idle|3|0/12/0/12|64000|(null)|gpu:0|",
    "long*|up|infinite|allocated|7|28/0/0/28|64000|(null)|gpu:0|",
    "short|up|30:00|idle|2|0/8/0/8|32000|gpu:a100:2|gpu:a100:0|",
)
SQUEUE = "{0}_0|RUNNING|node2|None|{0}"
WAITS = "{0}_1|PENDING||Resources|{0}"


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(slurm_commands, "ANSWER_CACHE_SECONDS", 0.0)
    monkeypatch.delenv("SLURM_CONF", raising=False)
    loaders.forget_runs()
    yield
    schedulers.invalidate_scheduler_snapshots()
    slurm_commands.clear_slurm_cache()


@pytest.fixture
def commands_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Puts commands of Slurm's that print these lines before all others."""

    def made(sinfo: str, squeue: str = "") -> None:
        for name in cluster.SLURM_PROGRAMS:
            said = squeue if name == "squeue" else sinfo
            (tmp_path / name).write_text(f"#!/bin/sh\ncat <<'E'\n{said}\nE\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        schedulers.invalidate_scheduler_snapshots()
        slurm_commands.clear_slurm_cache()

    return made


def boxes(at: AppTest) -> set[str | None]:
    return {one.key for one in at.selectbox}


def reasons(at: AppTest) -> str:
    return "\n".join(one.value for one in at.caption)


def test_without_slurm_nothing_new_is_shown_and_the_groups_are_described(
    train: Train, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    schedulers.invalidate_scheduler_snapshots()
    at = train()
    assert "where" not in boxes(at)
    at.session_state["more"] = True
    at.run()
    assert not [one.key for one in at.number_input if str(one.key).startswith("slurm_")]
    groups = at.select_slider(key=settings.format_setting_key("groups"))
    assert groups.options[0] == "as is fastest"
    groups.set_value(2).run()
    assert "in 2 groups, each with a process and cores of its own" in reasons(at)


def test_a_page_does_not_wait_for_a_slurm_that_hangs(
    monkeypatch: pytest.MonkeyPatch, commands_of: Callable[..., None], tmp_path: Path
) -> None:
    commands_of("")
    (tmp_path / "sinfo").write_text("#!/bin/sh\necho asked >> $0.log\nexec sleep 3\n")
    monkeypatch.setattr(slurm_commands, "COMMAND_TIMEOUT_SECONDS", 1.5)
    before = time.monotonic()
    for _ in range(20):
        schedulers.read_scheduler_snapshot()
    assert time.monotonic() - before < 3 * schedulers.PATIENCE_SECONDS
    while not (found := schedulers.read_scheduler_snapshot()).problem:
        assert time.monotonic() - before < 10
    assert "Slurm does not answer" in found.problem
    assert (tmp_path / "sinfo.log").read_text().count("asked") == 1


def test_a_partition_is_chosen_with_what_is_free_and_what_is_asked_goes_with_the_run(
    train: Train, commands_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands_of("\n".join(SINFO))
    monkeypatch.chdir(tmp_path)
    Path("ensemble.toml").write_text("[slurm]\nnodes = 1\n")  # of an earlier version
    started: list[runs.Run] = []
    monkeypatch.setattr(RUN_STORE, "start_worker", started.append)
    at = train()
    where = at.selectbox(key="where")
    assert where.options == ["This machine", "Slurm · long", "Slurm · short"]
    where.set_value("slurm:long").run()
    assert "3 of 10 nodes free, 12 of 40 CPUs" in reasons(at)
    at.select_slider(key=settings.format_setting_key("groups")).set_value(2).run()
    at.number_input(key="slurm_time").set_value(90).run()
    assert at.button(key="launch").label == "Launch 4 members in 2 tasks on Slurm"
    assert "Each task trains 2 members. After 1 h 30 min it stops with a checkpoint" in reasons(at)
    at.button(key="launch").click().run()
    [run] = started
    placed = read_placement(run.path)
    assert isinstance(placed, Placement)
    assert placed.on == "slurm"
    assert placed.settings["partition"] == "long"
    assert placed.settings["time"] == 90
    assert "nodes" not in placed.settings
    assert run.training_config is not None
    assert run.training_config.groups == 2


def test_a_stopped_run_goes_on_with_what_else_is_asked_for_there_or_here(
    train: Train, commands_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands_of("\n".join(SINFO))
    started: list[runs.Run] = []
    monkeypatch.setattr(RUN_STORE, "start_worker", started.append)
    asked = Placement("slurm", {"partition": "long", "memory": 2, "time": 30})
    run = in_groups({1: "stopped", 2: "stopped"}, state="stopped", placement=asked)
    prefix = f"resume_{run.id}_"
    at = train(run=run.id)
    assert at.number_input(key=f"{prefix}slurm_memory").value == 2
    at.number_input(key=f"{prefix}slurm_memory").set_value(3).run()
    at.button(key="resume_there").click().run()
    assert [one.id for one in started] == [run.id]
    placed = read_placement(run.path)
    assert isinstance(placed, Placement)
    wanted = {"partition": "long", "memory": 3, "time": 30}
    assert {name: placed.settings[name] for name in wanted} == wanted
    write_status(run.path, replace(runs.find_run(run.id).status, state="stopped"))
    loaders.forget_runs()
    at = train(run=run.id)
    at.number_input(key=f"{prefix}slurm_memory").set_value(4_000).run()
    at.button(key="resume_there").click().run()
    assert "No node of long has more than" in " ".join(one.value for one in at.error)
    at.selectbox(key=f"{prefix}where").set_value("").run()
    at.button(key="resume_there").click().run()
    assert len(started) == 2
    assert read_placement(run.path) is None


def test_a_sweep_is_launched_where_that_was_chosen(
    commands_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands_of("\n".join(SINFO))
    monkeypatch.chdir(tmp_path)
    Path("ensemble.toml").write_text("[slurm]\ntime = 20\n")
    monkeypatch.setenv(STORAGE_VARIABLE, "journal")
    started: list[sweeps.Sweep] = []
    monkeypatch.setattr(SWEEP_STORE, "start_worker", started.append)
    at = tuned()
    at.selectbox(key="tune_where").set_value("slurm:short").run()
    button = at.button(key="tune_launch")
    assert button.label == "Launch 12 trials in 1 task on Slurm · short"
    button.click().run()
    assert not at.exception
    [sweep] = started
    placed = read_placement(sweep.path)
    assert placed is not None
    assert (placed.on, placed.settings["partition"]) == ("slurm", "short")
    assert placed.settings["time"] == 20


def test_what_does_not_fit_is_said_beside_launch(train: Train, commands_of: Callable[..., None]) -> None:
    commands_of("\n".join(SINFO))
    at = train()
    at.selectbox(key="where").set_value("slurm:short").run()
    assert at.button(key="launch").disabled
    assert "The partition short gives a task 30 minutes at most: ask for no more" in reasons(at)
    at.number_input(key="slurm_time").set_value(30).run()
    assert not at.button(key="launch").disabled
    at.select_slider(key=settings.format_setting_key("groups")).set_value(3).run()
    assert at.button(key="launch").disabled
    assert "a group has at least 2 of the 4 members: choose at most 2, or more" in reasons(at)


def test_devices_lists_partitions_and_the_tasks_of_runs_that_are_here(
    train: Train, commands_of: Callable[..., None]
) -> None:
    run = in_groups(
        {1: "training", 2: "queued"},
        {1: TaskStatus("running", "7_0", "node2"), 2: TaskStatus("waiting", "7_1")},
        placement=SLURM,
    )
    of_another = "9|RUNNING|node1|None|something else"
    commands_of("\n".join(SINFO), "\n".join((SQUEUE, WAITS)).format(run.id) + f"\n{of_another}")
    at = train()
    at.switch_page("pages/devices.py").run()
    assert not at.exception
    partitions, tasks = (one.value for one in at.dataframe)
    assert list(partitions["partition"]) == ["long (default)", "short"]
    assert list(partitions["nodes free"]) == ["3 of 10", "2 of 2"]
    assert list(partitions["GPUs free"]) == ["none", "4 of 4"]
    assert list(partitions["time limit"]) == ["none", "30 min"]
    assert list(tasks["state"]) == ["running", "queued: no node is free"]
    assert list(tasks["node"]) == ["node2", ""]


def test_devices_on_the_command_line_has_slurm_too_where_there_is_one(
    commands_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def answer() -> dict[str, Any]:
        result = CliRunner().invoke(main, ["devices", "--json"], catch_exceptions=False)
        return dict(json.loads(result.output))

    commands_of("\n".join(SINFO), SQUEUE.format("digits-1"))
    found = answer()
    assert probe.parse_device_inventory(found).platform == "cpu", "what reads it goes on reading it"
    assert [one["free_nodes"] for one in found["slurm"]["partitions"]] == [3, 2]
    assert [one["id"] for one in found["slurm"]["tasks"]] == ["digits-1_0"]
    said = CliRunner().invoke(main, ["devices"], catch_exceptions=False).output
    assert "slurm long: 3 of 10 nodes free" in said
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    slurm_commands.clear_slurm_cache()
    assert "slurm" not in answer()
