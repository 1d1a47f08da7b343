"""The view Shift: the job's button and progress, the curves, the out-of-distribution images."""

import re
import socket
import time
from dataclasses import replace

import numpy as np
import pytest

from ensemble import shift
from ensemble.jobs.status import write_status
from ensemble.shift import results as shift_results
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.shift.status import stress_folder
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import value, widget
from tests.pages.stressed import checkpointed, figure, measured, no_job_left, opened, said, values
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


def test_what_an_earlier_version_measured_is_shown_and_can_be_measured_again() -> None:
    run = checkpointed(trained())
    results = measured(run)
    at = opened(run, "shift")
    assert "On the digits as they are, all estimates are within" in said(at)
    assert figure(at, "estimates")["data"][0]["name"] == "right as often as estimated"
    assert not [one for one in at.button if one.key == "stress_start"]
    older = [
        {name: value for name, value in step.items() if not name.startswith("accuracy_")}
        for step in (results.clean or {}, *results.steps)
    ]
    shift_results.write_stress_results(run.path, replace(results, clean=older[0], steps=older[1:]))
    at = opened(run, "shift")
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


def test_the_picture_and_the_sentence_hold_the_measured_figures() -> None:
    run = checkpointed(trained(network="logistic", name="mine"))
    curve = measured(run).list_corruption_steps("noise")
    at = opened(run, "shift", kind="noise")
    assert not [one for one in at.button if one.key == "stress_start"]
    chart = figure(at, "shift")
    lines = {(one["yaxis"], one["legendgroup"]): one for one in chart["data"]}
    assert len(lines) == 3 * (3 + 1) + 1, "mutual information is the ensemble's alone"
    for axis, name in (("y", "accuracy"), ("y2", "nll"), ("y3", "ece")):
        assert lines[axis, "ensemble"]["y"] == [one[f"ensemble_{name}"] for one in curve]
        for m in range(3):
            drawn = lines[axis, f"member {m + 1}"]
            assert drawn["y"] == [one[f"member_{name}"][m] for one in curve]
            assert drawn["line"]["width"] < lines[axis, "ensemble"]["line"]["width"]
    assert lines["y4", "ensemble"]["y"] == [one["mean_information"] for one in curve]
    share = 100 * curve[-1]["ensemble_accuracy"]
    assert f"At σ 0.6 the ensemble's accuracy is **{share:.1f} %**" in said(at)
    assert "all 500 test digits, with the members of the run's last checkpoint" in said(at)
    assert chart["layout"]["xaxis3"]["title"]["text"] == CORRUPTION_KINDS["noise"].measure


def test_contrast_falls_from_left_to_right() -> None:
    run = checkpointed(trained(network="logistic"))
    measured(run)
    layout = figure(opened(run, "shift", kind="contrast"), "shift")["layout"]
    assert layout["xaxis"]["autorange"] == "reversed"
    other = figure(opened(run, "shift", kind="blur"), "shift")["layout"]
    assert other["xaxis"].get("autorange") != "reversed"


def test_out_of_distribution_images_are_told_apart_by_entropy() -> None:
    run = checkpointed(trained(network="logistic"))
    results = measured(run)
    at = opened(run, "shift", outside="scrambled")
    one = results.ood[1]
    assert f"in {100 * one['ensemble']['auroc']:.1f} of 100 cases" in said(at)
    table = next(one.value for one in at.dataframe if "AUROC" in one.value)
    mean = np.mean([member["auroc"] for member in one["members"]])
    assert table["AUROC"].tolist()[:2] == [f"{mean:.3f}", f"{one['ensemble']['auroc']:.3f}"]
    for trace in figure(at, "ood")["data"]:
        assert values(trace["y"]).sum() == pytest.approx(100)
    widget(at, "button_group", "address_outside").set_value("noise").run()
    assert value(at, "outside") is None, "the first needs no word in the address"
    shift_results.ood_scores_path(run.path, "noise").write_bytes(b"no archive")
    assert "scores of these images were deleted" in said(opened(run, "shift"))


def test_a_dataset_fetched_since_can_be_shown_too() -> None:
    run = checkpointed(trained(network="logistic"))
    results = measured(run)
    assert "To show them Fashion-MNIST or Kuzushiji-MNIST too" in said(opened(run, "shift"))
    shift_results.write_stress_results(run.path, replace(results, ood=results.ood[:1]))
    at = opened(run, "shift")
    label = widget(at, "button", "stress_start").label
    assert label == "Show the members Scrambled Digits too"


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
    assert "continue from there" in at.error[0].value
    assert widget(at, "button", "stress_start").label == "Go on (13 of 33 done)"


def test_one_member_has_no_disagreement_and_no_mean() -> None:
    run = checkpointed(trained(network="logistic", members=1))
    measured(run)
    at = opened(run, "shift")
    assert "the one member's accuracy" in said(at)
    assert "mean member" not in said(at)
    names = {one["name"] for one in figure(at, "shift")["data"]}
    assert names == {"the one member"}
    assert len(figure(at, "ood")["data"]) == 2
