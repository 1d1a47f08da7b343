"""The view Shift of figures that are known beforehand."""

import numpy as np
import pytest

from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.figures.palette import LIGHT
from ensemble.runs import Run
from ensemble.shift import StressResults
from ensemble.shift import results as shift_results
from ensemble.shift.corruptions import CORRUPTION_KINDS
from tests.pages.ensembles import trained
from tests.pages.stressed import measured, values
from tests.views.summaries import find_table, read_sentences, summarize


@pytest.fixture
def run() -> Run:
    return trained(name="mine")


@pytest.fixture
def results(run: Run) -> StressResults:
    return measured(run)


def test_the_figure_and_its_sentence_hold_what_was_measured(run: Run, results: StressResults) -> None:
    curve = results.list_corruption_steps("noise")
    figure = summarize(run, "shift", kind="noise").figures[0]
    chart = figure.draw(LIGHT)
    lines = {(one.yaxis, one.legendgroup): one for one in chart.data}
    assert len(lines) == 3 * (3 + 1) + 1, "epistemic uncertainty is the ensemble's alone"
    for axis, name in (("y", "accuracy"), ("y2", "nll"), ("y3", "ece")):
        assert list(lines[axis, "ensemble"].y) == [one[f"ensemble_{name}"] for one in curve]
        for m in range(3):
            drawn = lines[axis, f"member {m + 1}"]
            assert list(drawn.y) == [one[f"member_{name}"][m] for one in curve]
            assert drawn.line.width < lines[axis, "ensemble"].line.width
    assert list(lines["y4", "ensemble"].y) == [one["mean_epistemic"] for one in curve]
    assert f"At σ 0.6 the ensemble's accuracy is **{100 * curve[-1]['ensemble_accuracy']:.1f} %**" in figure.explanation
    assert chart.layout.xaxis3.title.text == CORRUPTION_KINDS["noise"].measure


def test_out_of_distribution_images_are_told_apart_by_entropy(run: Run, results: StressResults) -> None:
    one = results.ood[1]
    summary = summarize(run, "shift", outside="scrambled")
    figure = summary.figures[-1]
    assert f"in {100 * one['measures']['entropy']['auroc']:.1f} of 100 cases" in figure.explanation
    mean = np.mean([member["auroc"] for member in one["members"]])
    table = find_table(summary, "AUROC")
    assert table["AUROC"].tolist() == [
        f"{auroc:.3f}" for auroc in [mean, *(one["measures"][name]["auroc"] for name in EXAMPLE_MEASURES)]
    ]
    for trace in figure.draw(LIGHT).data:
        assert values(trace.y).sum() == pytest.approx(100)
    shift_results.ood_scores_path(run.path, "scrambled").write_bytes(b"no archive")
    assert "scores of these images were deleted" in read_sentences(summarize(run, "shift", outside="scrambled"))


def test_accuracy_is_estimated_without_labels(run: Run, results: StressResults) -> None:
    figure = summarize(run, "shift").figures[1]
    assert "On the digits as they are, all estimates are within" in figure.explanation
    assert figure.draw(LIGHT).data[0].name == "right as often as estimated"


def test_one_member_has_no_disagreement_and_no_mean() -> None:
    run = trained(members=1)
    measured(run)
    summary = summarize(run, "shift")
    assert "the one member's accuracy" in summary.to_text()
    assert "mean member" not in summary.to_text()
    assert {one.name for one in summary.figures[0].draw(LIGHT).data} == {"the one member"}
    assert len(summary.figures[-1].draw(LIGHT).data) == 2
