"""Stories as people meet them: what every face says is true, complete, and names what to do.

Of broken members and of doubles see test_member_faults.py.
"""

import re
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

import ensemble
from ensemble import runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.report import render_report
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import ViewSummary, summarize_view
from tests.analysis.members.test_broken_members import members
from tests.comparison.drawn import finished
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.pages.stressed import measured
from tests.report.pages import Page


def summary(run: runs.Run, view: str) -> ViewSummary:
    return summarize_view(VIEWS[view], evaluate_epoch(run))


def screen(run: runs.Run, page: str = "inspect", **words: Any) -> str:
    """All that stands on a page, without Markdown."""
    at = opened(run, page, **words)
    assert not at.exception
    elements = (*at.markdown, *at.caption, *at.info, *at.warning)
    return "\n".join(str(one.value) for one in elements).replace("**", "").replace("\\", "")


def assert_reported(run: runs.Run, *views: str) -> None:
    """The views' answers and evidence stand in the report."""
    report = Page(render_report([run])).said
    for found in (summary(run, view) for view in views):
        for sentence in (found.answer, *found.evidence):
            assert " ".join(sentence.split()) in report


def test_miscalibrated_and_accurate() -> None:
    probabilities, labels, _ = members(4, n=2000, own=0.3)
    sharp = softmax(6 * np.log(probabilities + 1e-30), axis=-1).astype(np.float32)
    sharp /= sharp.sum(-1, keepdims=True)
    run = runs.find_run(ensemble.import_predictions(sharp, labels).id)
    found = summary(run, "calibration")
    judged = evaluate_predictions(sharp, labels)
    says, right = judged.confidence.mean(), judged.right.mean()
    assert right > 0.94
    assert found.answer == (f"Surer than it should be: {100 * says:.2f} % sure on average, {100 * right:.2f} % right.")
    # What to do, and on which images it was seen to help.
    advice = next(p.text for p in found.paragraphs if "temperature" in p.text)
    assert advice.startswith("Making it less sure (temperature ")
    assert "not shown" not in advice
    assert any("judged on the other 1,000" in sentence for sentence in found.evidence)
    assert_reported(run, "calibration")
    # How sure it is changes nothing of what it gets right: nobody says that it does.
    assert "sure" not in summary(run, "answer").answer


@pytest.mark.long
def test_forty_images() -> None:
    probabilities, labels, _ = members(4)
    run = runs.find_run(ensemble.import_predictions(probabilities[:, :40], labels[:40]).id)
    assert summary(run, "answer").answer == ("These 40 examples show no gain in accuracy over the average member.")
    assert "anything from a loss of " in summary(run, "answer").evidence[0]
    assert summary(run, "members").answer.startswith("Keep")
    calibration = summary(run, "calibration")
    assert calibration.answer.startswith("These 40 examples show no difference")
    assert "Fewer than 50 test examples: too few to say" in " ".join(
        paragraph.text for paragraph in calibration.paragraphs
    )
    classes = summary(run, "confusion")
    assert classes.answer.startswith("No class is shown to be right less often")
    assert "of several equal classes chance always makes one the lowest" in classes.evidence[0]
    # Lists and thresholds tell how little they rest on.
    lists = summary(run, "conformal").answer
    assert ("hold the right class" in lists and " to 99." in lists) or "too few" in lists
    selective = summary(run, "selective").answer
    assert "too few answers" in selective
    assert "more than the 0.5 %" not in selective
    assert_reported(run, "answer", "calibration", "confusion")


def test_seeds_only() -> None:
    made = [finished({"seed": seed}, skill=1.5 + seed, draw=seed) for seed in range(2)]
    text = screen(made[1], view="compare", **{"with": made[0].id})
    assert "Same settings, another seed: this run gets " in text
    assert "Only the seed differs, so neither setting is better" in text
    assert "Of these two" not in text
    table = screen(made[1], "compare", runs=",".join(run.id for run in made))
    assert "better settings" not in table
    evidence = " ".join(summary(made[1], "answer").evidence)
    assert "2 runs that differ in the seed alone get" in evidence
    assert "jackknife" not in evidence
    assert "differ in the seed alone" in Page(render_report(made)).said
    train = screen(made[1], "train")
    assert "settings are better" not in train


@pytest.mark.long
def test_shifted() -> None:
    run = trained(members=3, sure=4.0)
    before = summary(run, "shift")
    assert not before.available
    assert "has not been measured under shift" in before.answer
    measured(run)
    found = summary(run, "shift")
    assert found.available
    text = screen(run, view="shift")
    for sentence in (found.answer,):
        assert " ".join(sentence.split()) in " ".join(text.split())
        assert " ".join(sentence.split()) in Page(render_report([run])).said
    assert any(character.isdigit() for character in found.answer)


def test_a_run_of_few_or_miscalibrated_images_claims_nothing_elsewhere() -> None:
    probabilities, labels, _ = members(4, n=40)
    run = runs.find_run(ensemble.import_predictions(probabilities, labels).id)
    for page in ("train", "runs"):
        # The glossary says of every measure which way is better.
        text = screen(run, page).lower().replace("lower is better.", "").replace("better?", "")
        assert "better" not in text


def test_labels_that_were_changed() -> None:
    probabilities, labels, _ = members(4, n=2000, own=0.3)
    rng, classes = np.random.default_rng(3), probabilities.shape[-1]
    changed = rng.random(len(labels)) < 0.03
    wrong = np.where(changed, (labels + rng.integers(1, classes, len(labels))) % classes, labels)
    run = runs.find_run(ensemble.import_predictions(probabilities, wrong).id)
    found = summary(run, "labels")
    [least] = map(int, re.findall(r"^At least (\d+) of the labels", found.answer))
    [about] = map(int, re.findall(r"class alone, about (\d+) labels", found.evidence[0]))
    assert 0.6 * changed.sum() <= least <= changed.sum()
    assert about == pytest.approx(changed.sum(), rel=0.1)
    assert_reported(run, "labels")
    [images] = found.images
    assert changed[images.numbers[:20]].sum() >= 18
    asked = ensemble.open_run(run.id).view("labels")
    assert asked.answer == found.answer
    numbers = found.tables[1].numbers
    assert numbers is not None
    table = numbers()
    assert list(table.columns) == ["number", "label", "suggested", "doubt", "averaged", "lowest", "votes", "members"]
    assert len(table) == len(labels)
    assert table["doubt"].is_monotonic_decreasing
