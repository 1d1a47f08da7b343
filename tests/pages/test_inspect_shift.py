"""The view Shift: the job's button and progress, the curves, the out-of-distribution images."""

import json
import re
import socket
import time
from dataclasses import replace

import pytest

from ensemble import shift
from ensemble.figures.palette import LIGHT
from ensemble.jobs.status import write_status
from ensemble.shift import results as shift_results
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.shift.results import stress_folder
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import value, widget
from tests.pages.stressed import checkpointed, figure, measured, no_job_left, opened, said
from tests.views.summaries import summarize
from tests.workers import at_work_here

__all__ = ["no_job_left"]


def test_without_a_checkpoint_it_says_what_it_waits_for() -> None:
    at = opened(trained(), "shift")
    assert "no checkpoint of them is there yet" in at.info[0].value
    assert not [one for one in at.button if one.key == "stress_start"]


@pytest.mark.long
@pytest.mark.usefixtures("no_job_left")
def test_the_button_says_what_it_does_and_starts_it_and_stop_stops_it() -> None:
    run = checkpointed(trained(network="logistic", img_member_per_s=1000.0))
    at = opened(run, "shift")
    assert "all 500 test digits, in 30 steps" in said(at)
    # 33 sets of 500 images for 3 members at 0.4 of the cost of training, and the start.
    assert widget(at, "button", "stress_start").label == ("Measure 3 members under shift, about 30 s")
    widget(at, "button", "stress_start").click().run()
    assert shift.read_stress(run.id).active
    assert not [one for one in at.button if one.key == "stress_start"]
    widget(at, "button", "stress_stop").click().run()
    end = time.monotonic() + 240
    while (stress := shift.read_stress(run.id)).active:
        assert time.monotonic() < end, "no stop in a minute"
        time.sleep(0.05)
    assert stress.state == "stopped"


def test_what_was_measured_is_shown_and_what_is_missing_can_be_measured() -> None:
    run = checkpointed(trained(network="logistic"))
    results = measured(run)
    at = opened(run, "shift", kind="noise", outside="scrambled")
    assert not [one for one in at.button if one.key == "stress_start"]
    assert "all 500 test digits, with the members of the run's last checkpoint" in said(at)
    assert "To show them Fashion-MNIST or Kuzushiji-MNIST too" in said(at)
    summary = summarize(run, "shift", kind="noise", outside="scrambled")
    for one in summary.figures:
        assert one.explanation in said(at)
        assert figure(at, one.key)["data"] == json.loads(one.draw(LIGHT).to_json())["data"]
    widget(at, "button_group", "address_outside").set_value("noise").run()
    assert value(at, "outside") is None, "the first needs no word in the address"
    assert summarize(run, "shift").figures[-1].explanation in said(at)
    shift_results.write_stress_results(run.path, replace(results, ood=results.ood[:1]))
    assert widget(at.run(), "button", "stress_start").label == "Show the members Scrambled Digits too"
    older = [
        {name: value for name, value in step.items() if not name.startswith("accuracy_")}
        for step in (results.clean or {}, *results.steps)
    ]
    shift_results.write_stress_results(run.path, replace(results, clean=older[0], steps=older[1:]))
    at.run()
    assert "Run the stress test again to see this" in said(at)
    assert widget(at, "button", "stress_start").label.startswith("Measure again, to see")
    assert figure(at, "shift")


def test_progress_shows_what_is_done_and_how_long_is_left() -> None:
    run = checkpointed(trained(network="logistic"))
    results = measured(run, kinds=1, state="measuring", message="Shift 1 px", progress=0.25, seconds_left=83.0)
    status = shift.read_stress(run.id).status
    assert status
    folder = stress_folder(run.path)
    write_status(folder, replace(status, **at_work_here(folder)))
    at = opened(run, "shift", kind="blur")
    shown = at.get("progress")[0].proto.text  # 83 seconds were left, less what has passed since
    assert re.fullmatch(r"Shift 1 px · 7 of 33 done · 1 min (\d|1\d|2[0-3]) s left", shown)
    assert "Blur has not been measured yet." in said(at)
    widget(at, "button_group", "address_kind").set_value("rotation").run()
    chart = figure(at, "shift")
    assert chart["data"][3]["x"] == list(CORRUPTION_KINDS["rotation"].amounts)
    assert len(results.steps) == 6


def test_a_run_that_went_on_has_figures_of_an_earlier_epoch_and_can_be_measured_anew() -> None:
    run = checkpointed(trained(network="logistic"), epoch=2)
    measured(run, epoch=1)
    at = opened(run, "shift")
    assert "Measured at epoch 1" in said(at)
    assert "the run has continued since" in said(at)
    assert widget(at, "button", "stress_start").label.startswith("Measure 3 members")


def test_one_that_died_says_so_and_goes_on() -> None:
    run = checkpointed(trained(network="logistic"))
    measured(run, kinds=2, state="measuring", pid=2**22 + 1, host=socket.gethostname())
    at = opened(run, "shift", errors=1)
    assert "start it again to continue" in at.error[0].value
    assert widget(at, "button", "stress_start").label == "Go on (13 of 33 done)"
