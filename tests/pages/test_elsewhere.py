"""Shift and Parallel ask where only on a machine of a cluster, and pass it on as chosen."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import regression
from ensemble.cluster import slurm as cluster
from ensemble.cluster import slurm_commands
from ensemble.errors import ConfigError
from ensemble.jobs.placement import Placement, read_placement
from ensemble.regression.regression_job import REGRESSION_STORE
from ensemble.ui.devices import placement_control, schedulers

SINFO = "long*|up|infinite|idle|3|0/12/0/12|64000|(null)|gpu:0|"
ASKED = {"partition": "long", "account": "", "time": 30, "gpus": 0, "cpus": 0, "memory": 0}


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Without Slurm, and asked anew; its ensemble.toml may say something."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLURM_CONF", raising=False)
    monkeypatch.setattr(slurm_commands, "ANSWER_CACHE_SECONDS", 0.0)
    slurm_commands.clear_slurm_cache()
    schedulers.invalidate_scheduler_snapshots()
    yield tmp_path
    slurm_commands.clear_slurm_cache()
    schedulers.invalidate_scheduler_snapshots()


@pytest.fixture
def partitions(working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of Slurm's that know a partition, and what ensemble.toml asks of it."""
    for name in cluster.SLURM_PROGRAMS:
        said = SINFO if name == "sinfo" else ""
        (working_folder / name).write_text(f"#!/bin/sh\ncat <<'E'\n{said}\nE\n")
        (working_folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{working_folder}:{os.environ['PATH']}")
    (working_folder / "ensemble.toml").write_text("[slurm]\ntime = 30\n")


def drawn(page: Callable[[], None]) -> AppTest:
    app = AppTest.from_function(page, default_timeout=240).run()
    assert not app.exception
    return app


def solving() -> None:
    from ensemble.ui.parallel import launch

    launch.show_regression_controls()
    launch.show_regression_launch_button()


def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The jobs whose workers would be started."""
    jobs: list[Any] = []
    monkeypatch.setattr(REGRESSION_STORE, "start_worker", jobs.append)
    return jobs


def test_nobody_is_asked_where_there_is_no_cluster() -> None:
    app = drawn(solving)
    assert "Where" not in [one.label for one in app.selectbox]


@pytest.mark.usefixtures("partitions")
def test_a_regression_is_launched_where_that_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = started(monkeypatch)
    app = drawn(solving)
    [choice] = [one for one in app.selectbox if one.label == "Where"]
    assert list(choice.options) == ["This machine", "Slurm · long"]
    choice.set_value("slurm:long").run()
    assert not app.exception
    button = app.button(key="solve_launch")
    assert button.label.endswith("with and without pmap on Slurm · long")
    button.click().run()
    [solve] = regression.list_regressions()
    assert [one.id for one in jobs] == [solve.id]
    assert read_placement(solve.path) == Placement("slurm", ASKED)


@pytest.mark.usefixtures("partitions")
@pytest.mark.parametrize(
    ("states", "choice", "title"),
    [
        (("inact", "up"), "slurm:two", "Slurm · two"),
        (("up", "drain"), "slurm:one", "Slurm · one"),
        (("down", "inact"), "slurm:", "Slurm · default partition"),
    ],
)
def test_a_partition_that_starts_no_task_is_not_to_be_chosen(
    working_folder: Path, states: tuple[str, str], choice: str, title: str
) -> None:
    rows = "\n".join(
        f"{name}|{state}|infinite|idle|3|0/12/0/12|64000|(null)|gpu:0|"
        for name, state in zip(("one*", "two"), states, strict=True)
    )
    (working_folder / "sinfo").write_text(f"#!/bin/sh\ncat <<'E'\n{rows}\nE\n")
    app = drawn(solving)
    [where] = [one for one in app.selectbox if one.label == "Where"]
    assert list(where.options) == ["This machine", title]
    where.set_value(choice).run()
    assert app.button(key="solve_launch").label.endswith(f"with and without pmap on {title}")


def test_a_place_is_as_it_was_or_as_ensemble_toml_says(working_folder: Path) -> None:
    before = Placement("slurm", {"partition": "long", "time": 7})
    assert placement_control.build_placement("") is None
    assert placement_control.build_placement("", before) is None
    assert placement_control.build_placement("slurm:long", before) == before
    other = placement_control.build_placement("slurm:short", before)
    assert other is not None
    assert (other.settings["partition"], other.settings["time"]) == ("short", 60)
    (working_folder / "ensemble.toml").write_text("[slurm]\ntime = 0\n")
    with pytest.raises(ConfigError, match=r"table \[slurm\]"):
        placement_control.build_placement("slurm:short")
