"""Screens that read where a run trained open one of an earlier version's `train --distributed`."""

import pytest

from ensemble.jobs.placement import write_placement
from ensemble.storage.atomic_files import write_json
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.runs.test_distributed_runs import TWO_NODES


@pytest.mark.parametrize("page", ["train", "runs", "devices", "inspect"])
def test_a_screen_opens_it(page: str) -> None:
    run = trained(members=2, epochs=1)
    devices = {"platform": "cpu", "devices": [{"id": 0, "kind": "cpu"}], "cores": 2, "used": 2, "members_per_device": 1}
    write_json(run.path / "devices.json", {**devices, "processes": 2, "used_here": 1})
    write_placement(run.path, TWO_NODES)
    at = opened(run, page, view="shift")
    assert [error.value for error in at.error] == []
    assert run.id in at.query_params["run"]
