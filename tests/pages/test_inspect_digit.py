"""The view One digit: any digit, any corruption, and every member's answer at each amount."""

from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from ensemble import datasets, runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.runs import Run
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.ui.inspect.shift.corruption_answers import list_corruption_amounts as places
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import value, widget
from tests.pages.stressed import checkpointed, figure, opened, said, values


@pytest.fixture(scope="module")
def of_this_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run that most tests read: its members are opened and compiled once."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        checkpointed(trained(network="logistic"), more=4)
    return folder


@pytest.fixture
def run(of_this_file: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """That run: three members, with a checkpoint four steps after epoch 2."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(of_this_file))
    return runs.list_runs()[0]


@pytest.mark.parametrize("kind", CORRUPTION_KINDS)
def test_the_slider_goes_from_none_to_the_strongest_step_and_finer(kind: str) -> None:
    amounts = places(CORRUPTION_KINDS[kind])
    assert CORRUPTION_KINDS[kind].neutral_amount in amounts
    assert set(CORRUPTION_KINDS[kind].amounts) <= {*amounts}
    assert len(set(np.sign(np.diff(amounts)))) == 1
    assert len({f"{value:g}" for value in amounts}) == len(amounts) <= 64


def test_it_begins_with_the_digit_that_splits_the_members_most(run: Run) -> None:
    made = evaluate_predictions(probabilities("digits", 3, 2, 4.0), datasets.load_dataset("digits").test_labels)
    at = opened(run, "digit", amount=17)  # not one of the amounts
    number = int(np.argmax(made.epistemic))
    assert widget(at, "select_slider", "stress_amount_rotation").value == "0"
    assert widget(at, "number_input", "stress_number").value == number
    assert at.get("image")[0].proto.imgs[0].alt.startswith(f"Test digit {number}, a")


def test_every_line_is_what_the_members_say_of_the_corrupted_digit(run: Run) -> None:
    at = opened(run, "digit", number=7, kind="rotation", amount=45)
    images = datasets.load_dataset("digits").test_images[7, ..., 0].astype(float)
    turned = np.stack(
        [
            ndimage.rotate(images, angle, reshape=False, order=1, mode="grid-constant")
            for angle in places(CORRUPTION_KINDS["rotation"])
        ]
    )
    answers = runs.open_members(run.id).predict_probabilities(np.rint(turned).clip(0, 255).astype(np.uint8)[..., None])
    label = int(datasets.load_dataset("digits").test_labels[7])
    chart = figure(at, "stress_digit")
    lines = [one for one in chart["data"] if one["type"] == "scatter"]
    for m in range(3):
        np.testing.assert_allclose(values(lines[m]["y"]), answers[m, :, label], atol=1e-4)
    mean = answers.mean(0, dtype=float)
    np.testing.assert_allclose(values(lines[3]["y"]), mean[:, label], atol=1e-4)
    total = -(mean * np.log(mean)).sum(-1)
    within = -(answers * np.log(answers)).sum(-1).mean(0)
    np.testing.assert_allclose(values(lines[4]["y"]), total, atol=1e-3)
    np.testing.assert_allclose(values(lines[5]["y"]), total - within, atol=1e-3)
    cells = next(one for one in chart["data"] if one["type"] == "heatmap")
    assert cells["y"] == ["ensemble", "member 1", "member 2", "member 3"]
    votes = np.vstack([mean.argmax(-1), answers.argmax(-1)])
    assert cells["text"] == [[str(vote) for vote in row] for row in votes]
    assert cells["z"]
    here = places(CORRUPTION_KINDS["rotation"]).index(45)
    mark = "✓ Right" if votes[0, here] == label else "✗ Wrong"
    assert f"**{mark} at 45°.** The ensemble says {votes[0, here]} with" in said(at)
    assert "Members at epoch 2 and 4 steps" in said(at)
    assert "of them the members' disagreement" in said(at)
    marks = [one["x0"] for one in chart["layout"]["shapes"]]
    assert marks == [45, 45, 42.5]


def test_moves_stand_in_the_address_and_another_kind_begins_with_none(run: Run) -> None:
    at = opened(run, "digit", number=3)
    widget(at, "select_slider", "stress_amount_rotation").set_value("-30").run()
    assert value(at, "amount") == "-30"
    assert "rotation −30°" in at.get("image")[0].proto.imgs[0].alt
    widget(at, "button", "stress_next").click().run()
    assert (value(at, "number"), value(at, "amount")) == ("4", "-30")
    widget(at, "number_input", "stress_number").set_value(499).run()
    assert widget(at, "button", "stress_next").disabled
    widget(at, "button_group", "address_kind").set_value("contrast").run()
    assert [value(at, name) for name in ("number", "kind", "amount")] == ["499", "contrast", None]
    assert widget(at, "select_slider", "stress_amount_contrast").value == "1"
    assert "Right at 1." in said(at) or "Wrong at 1." in said(at)


def test_one_member_has_no_disagreement() -> None:
    at = opened(checkpointed(trained(network="logistic", members=1)), "digit", kind="blur")
    assert "Members at epoch 2." in said(at)
    assert "disagreement" not in said(at)


def test_without_a_checkpoint_it_says_what_it_waits_for() -> None:
    at = opened(trained(), "digit")
    assert "no checkpoint of them is there yet" in at.info[0].value
