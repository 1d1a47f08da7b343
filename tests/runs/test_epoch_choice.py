"""The epoch that a run is shown by while it trains, and once it has ended."""

from dataclasses import replace

import pytest

from ensemble import runs
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.epoch_choice import read_reported_metrics
from tests.pages.ensembles import trained


def chosen_second_of_three(state: str) -> Run:
    """A run whose second epoch is the best on its validation images."""
    run = trained(members=2, epochs=4, done=3, validation=0.1, state=state, working=state == "training")
    status = replace(
        run.status,
        best_on="validation",
        best_epoch=2,
        best_ensemble_test_accuracy=0.25,
        best_ensemble_test_nll=1.5,
        best_member_test_accuracy=[0.125, 0.25],
    )
    write_status(run.path, status)
    return runs.find_run(run.id)


def test_a_run_under_way_reports_its_last_epoch() -> None:
    run = chosen_second_of_three("training")
    assert run.active
    reported = read_reported_metrics(run)
    assert (reported.epoch, reported.accuracy) == (3, run.status.ensemble_test_accuracy)
    assert reported.member_accuracies == tuple(run.status.member_test_accuracy)


@pytest.mark.parametrize("state", ["finished", "stopped"])
def test_a_run_that_has_ended_reports_the_epoch_chosen_on_validation(state: str) -> None:
    reported = read_reported_metrics(chosen_second_of_three(state))
    assert (reported.epoch, reported.accuracy, reported.nll) == (2, 0.25, 1.5)
    assert reported.member_accuracies == (0.125, 0.25)
