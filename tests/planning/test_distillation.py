"""A student beside its teacher: what is lost, what is saved, and what is said of it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ensemble import runs
from ensemble.analysis.members.gain import PairedGain, compute_gain
from ensemble.analysis.members.non_inferiority import NonInferiority, judge_non_inferiority
from ensemble.analysis.quality.ood import AurocDifference
from ensemble.cli.program import main
from ensemble.errors import ConfigError, RunError
from ensemble.planning.distillation import OodComparison, TeacherComparison, compare_with_teacher, judge_losses
from ensemble.report.single_run import build_run_content
from ensemble.runs.history import write_predictions
from ensemble.runs.teacher import TeacherRecord, build_student_config, write_teacher_record
from ensemble.shift.results import ood_scores_path
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.members import distillation as words
from ensemble.views.registry import find_view
from ensemble.views.summary import summarize_view
from tests.comparison.drawn import finished, imported, labels
from tests.pages.stressed import OOD, measured

SMALL = {"network": "logistic", "batch_size": 256, "devices": 1}


def taught(skill: float = 3.0, members: int = 1, teacher_skill: float = 3.0) -> runs.Run:
    """A finished run that names a finished teacher of three members."""
    teacher = finished({"members": 3}, skill=teacher_skill, draw=1)
    config = build_student_config(teacher, members=members)
    changes = {name: value for name, value in config.as_dict().items() if name != "epochs"}
    return finished(changes, skill=skill, draw=2)


def compare(student: runs.Run) -> TeacherComparison:
    epoch = evaluate_epoch(student)
    return compare_with_teacher(student, epoch.epoch, epoch.measure)


def call(*said: str) -> Result:
    return CliRunner().invoke(main, list(said), catch_exceptions=False)


def gain(**changes: float) -> PairedGain:
    usual: dict[str, Any] = {
        "n": 1000,
        "digits": -1.0,
        "digits_low": -3.0,
        "digits_high": 1.0,
        "nll": -0.001,
        "nll_low": -0.002,
        "nll_high": 0.0,
        "won": 2,
        "lost": 3,
        "p": 1.0,
        "nll_p": 0.5,
    }
    return PairedGain(**{**usual, **changes})


@pytest.mark.parametrize(
    ("metric", "margin", "outcome"),
    [
        ("accuracy", 0.004, "kept"),  # loses 0.1 points, at most 0.3
        ("accuracy", 0.002, "undecided"),
        ("nll", 0.0021, "kept"),
        ("nll", 0.001, "undecided"),
    ],
)
def test_less_is_lost_where_the_whole_interval_is_within_the_margin(metric: str, margin: float, outcome: str) -> None:
    judged = judge_non_inferiority(gain(), metric, margin)
    assert judged.outcome == outcome
    assert judged.examples is None or judged.examples > judged.n


def test_more_is_lost_where_the_whole_interval_is_beyond_it() -> None:
    lost = judge_non_inferiority(gain(digits=-50, digits_low=-70, digits_high=-30), "accuracy", 0.01)
    assert (lost.outcome, lost.loss, lost.low, lost.high) == ("loses", 0.05, 0.03, 0.07)


@pytest.mark.parametrize(("metric", "margin"), [("ece", 0.1), ("nll", 0.0), ("nll", np.inf)])
def test_there_is_no_margin_of_nothing(metric: str, margin: float) -> None:
    with pytest.raises(ValueError, match="choose accuracy or nll, above 0"):
        judge_non_inferiority(gain(), metric, margin)


def test_a_student_at_the_margin_is_passed_at_most_as_often_as_is_promised(draws: Callable[[int], int]) -> None:
    """By simulation: its loss is the margin, so that “kept” is wrong."""
    rng, n, margin, kept, count = np.random.default_rng(0), 2000, 0.01, 0, draws(1000)
    truth = np.zeros(n, int)
    for _ in range(count):
        differs = rng.random(n) < 0.05
        ours_right = rng.random(n) < 0.4  # of those that differ: a loss of 0.2 · 0.05
        probabilities = [
            np.where(right[:, None], [0.9, 0.1], [0.2, 0.8])
            for right in (~differs | ours_right, ~differs | ~ours_right)
        ]
        found = compute_gain(probabilities[0], probabilities[1], truth)
        kept += judge_non_inferiority(found, "accuracy", margin).outcome == "kept"
    assert kept <= 0.025 * count + 3 * (0.025 * count) ** 0.5


def test_a_student_is_held_against_its_teacher_on_the_same_images() -> None:
    student = taught(skill=2.0)
    found = compare(student)
    teacher = runs.find_run(student.config.teacher)  # type: ignore[union-attr]
    own, other = (runs.read_run_predictions(run.id, 2).astype(float).mean(0) for run in (student, teacher))
    right, other_right = (each.argmax(-1) == labels() for each in (own, other))
    assert found.student.accuracy == pytest.approx(right.mean())
    assert found.teacher.accuracy == pytest.approx(other_right.mean())
    assert found.gain.digits == right.sum() - other_right.sum()
    nll = [-np.log(each[np.arange(500), labels()]).mean() for each in (own, other)]
    assert found.gain.nll == pytest.approx(nll[1] - nll[0], rel=1e-5)
    votes = runs.read_run_predictions(teacher.id, 2).argmax(-1)
    assert found.disputed == (votes != votes[0]).any(0).sum()
    assert (found.student.members, found.teacher.members) == (1, 3)
    # The HOWTO's network, three times and once.
    assert (found.student.parameters, found.teacher.parameters) == (824_458, 3 * 824_458)
    assert found.teacher.flops == 3 * (found.student.flops or 0)


def test_the_epoch_that_taught_is_the_one_it_is_held_against() -> None:
    student = taught()
    record = TeacherRecord(student.config.teacher, "", 1, 3, "last", 4.0)  # type: ignore[union-attr]
    assert compare(student).teacher.epoch == 2
    write_teacher_record(student.path, record)
    assert compare(student).teacher.epoch == 1


def test_a_worse_student_is_told_in_a_view_and_a_report_and_as_json() -> None:
    student = taught(skill=1.0)
    summary = summarize_view(find_view("distillation"), evaluate_epoch(student))
    assert summary.answer == ("It loses more than 0.1 points of accuracy and 0.005 nats of NLL against its teacher.")
    text = summary.to_text()
    for part in (
        "worse by more than the 0.1 points accepted",
        "On the same 500 test digits",
        "another seed of either may come out otherwise",
        "what is not shown is not shown to be equal",
        "Disagreement cannot be had from one network",
        "1 network in place of 3",
        "Taught by “3 members",
        "temperature 4, weight of the labels α 0.1",
        "measure both under Shift",
    ):
        assert part in text
    sections = {section.title for section in build_run_content(student).sections}
    assert "Against its teacher" in sections
    assert f"taught by {student.config.teacher}" in build_run_content(student).subtitle  # type: ignore[union-attr]
    found = json.loads(call("inspect", student.id, "distillation", "--json").stdout)
    assert found["answer"] == summary.answer
    rows = {row[0]: row[1:] for row in found["tables"][0]["rows"]}
    assert rows["networks"][:2] == ["1", "3"]
    assert set(rows) >= {"test accuracy", "test NLL", "ECE", "parameters", "operations an image"}


@pytest.mark.parametrize("skill", [1.0, 4.5])
def test_the_table_has_the_student_before_its_teacher_and_the_difference_with_its_sign(skill: float) -> None:
    found = compare(taught(skill=skill))
    losses = [judge_non_inferiority(found.gain, metric, 0.01) for metric in ("accuracy", "nll")]
    table = words.tabulate_teacher_comparison(found, *losses).iloc[:, 1:].to_numpy().tolist()
    for row, scale in zip(table[:3], (100, 1, 1), strict=True):
        student, teacher, text = (cell.removesuffix(" %").replace("\N{MINUS SIGN}", "-") for cell in row)
        difference = re.match(r"(\S+)(?: points| nats)? \((\S+) to (\S+)\)", text)
        assert difference
        change, low, high = map(float, difference.groups())
        assert change == pytest.approx(float(student) - float(teacher), abs=0.06 * scale**0.5)
        assert low <= change <= high
    assert float(table[0][0].removesuffix(" %")) == pytest.approx(100 * found.student.accuracy, abs=0.06)
    assert float(table[1][0]) == pytest.approx(found.student.nll, rel=0.01)
    assert float(table[1][1]) == pytest.approx(found.teacher.nll, rel=0.01)
    assert [table[3][0], table[3][1]] == ["1", "3"]


def test_wider_margins_are_chosen_as_in_every_view() -> None:
    student = taught(skill=1.0)
    words_chosen = ("--choose", "margin=5", "--choose", "nll_margin=0.1", "--json")
    found = json.loads(call("inspect", student.id, "distillation", *words_chosen).stdout)
    assert found["choices"]["margin"]["value"] == "5"
    assert "5 points" in found["answer"]


def test_a_run_without_a_teacher_has_no_such_section() -> None:
    run = finished()
    summary = summarize_view(find_view("distillation"), evaluate_epoch(run))
    assert not summary.available
    assert "no teacher" in summary.answer
    assert "Against its teacher" not in {one.title for one in build_run_content(run).sections}
    with pytest.raises(RunError, match="has no teacher: it learnt from labels alone"):
        compare(run)
    with pytest.raises(RunError, match="has no teacher"):
        compare(imported())


def test_a_teacher_that_is_gone_is_still_named() -> None:
    student = taught()
    teacher = student.config.teacher  # type: ignore[union-attr]
    runs.delete_run(teacher)
    summary = summarize_view(find_view("distillation"), evaluate_epoch(student))
    assert not summary.available
    assert summary.answer == (f"The teacher “{teacher}” is not here any more: what was lost against it cannot be told.")
    assert f"taught by {teacher}" in build_run_content(student).subtitle


def test_damaged_predictions_of_a_teacher_are_said_to_be() -> None:
    student = taught()
    teacher = runs.find_run(student.config.teacher)  # type: ignore[union-attr]
    write_predictions(teacher.path, 2, np.full((3, 400, 10), 0.1, np.float32))
    with pytest.raises(RunError):
        compare(student)


@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        (("kept", "kept"), "It loses less than 0.1 points of accuracy and 0.005 nats of NLL"),
        (("kept", "undecided"), "less than 0.1 points of accuracy; whether less than 0.005 nats"),
        (("undecided", "undecided"), "Not shown whether it loses less than 0.1 points"),
        (("kept", "loses"), "It loses more than 0.005 nats of NLL against its teacher."),
    ],
)
def test_what_is_open_is_said_to_be_open(outcomes: tuple[str, str], sentence: str) -> None:
    ends = {"kept": (-1, 0.5), "undecided": (0.5, 1.5), "loses": (1.5, 2)}
    losses = [
        NonInferiority(metric, margin, 500, 0.0, *(margin * end for end in ends[outcome]))
        for (metric, margin), outcome in zip((("accuracy", 0.001), ("nll", 0.005)), outcomes, strict=True)
    ]
    said = words.describe_teacher_verdict(*losses)
    assert sentence in said
    assert len(said) <= 110
    assert "same" not in said


@pytest.mark.parametrize(
    ("low", "high", "word"), [(-0.05, -0.02, "lower"), (-0.05, 0.01, "not shown to differ"), (0.01, 0.02, "higher")]
)
def test_images_of_no_class_are_tested_against_each_other(low: float, high: float, word: str) -> None:
    difference = AurocDifference(0.912, 0.95, low, high)
    told = OodComparison("Fashion-MNIST", 500, 0.912, 0.95, difference)
    found = replace(compare(taught()), ood=(told,))
    change = f"−0.038 ({low:+.3f} to {high:+.3f})".replace("-", "−")
    assert words.describe_ood_change(found) == (
        "Images of no class, AUROC of the entropy beside the teacher's: Fashion-MNIST 0.912 "
        f"against 0.950, {change}, {word}. The intervals (95 %, DeLong) are of the same images, "
        "each set for itself."
    )
    rows = words.tabulate_teacher_comparison(found, *judge_losses(found)).to_numpy().tolist()
    assert ["AUROC, Fashion-MNIST", "0.912", "0.950", change] in rows


def test_without_the_scores_of_each_image_nothing_is_tested() -> None:
    found = replace(compare(taught()), ood=(OodComparison("Fashion-MNIST", 500, 0.912, 0.95),))
    assert "Fashion-MNIST 0.912 against 0.950. Where there is no interval, they were not" in (
        words.describe_ood_change(found)
    )


def test_the_scores_that_both_kept_are_compared_image_by_image() -> None:
    student = taught()
    teacher = runs.find_run(runs.require_training_config(student).teacher)
    every = [
        measured(run, runs.select_default_epoch(run, runs.list_prediction_epochs(run.id))) for run in (student, teacher)
    ]
    found = compare(student).ood
    assert [each.title for each in found] == list(OOD.values())
    for number, each in enumerate(found):
        assert each.difference
        figures = [results.ood[number]["measures"]["entropy"]["auroc"] for results in every]
        assert [each.difference.first, each.difference.second] == pytest.approx(figures)
        assert each.difference.low <= each.student - each.teacher <= each.difference.high
    ood_scores_path(teacher.path, next(iter(OOD))).unlink()
    assert [each.difference is None for each in compare(student).ood] == [True, False]


def test_several_students_are_not_said_to_disagree_as_the_teacher_does() -> None:
    said = words.describe_missing_disagreement(compare(taught(members=2)), "digit")
    assert said.startswith("Its members learnt from one teacher")


def test_validation_images_that_the_teacher_has_learnt_are_a_caution() -> None:
    same, other = compare(taught()), replace(compare(taught()), same_validation=False)
    assert words.describe_shared_validation(same) == ""
    assert "look easier than new ones" in words.describe_shared_validation(other)


@pytest.mark.parametrize(
    ("changes", "same"),
    [({}, True), ({"seed": 1}, False), ({"validation": 0.2}, False), ({"validation": 0.0}, None)],
    ids=["same", "seed", "share", "none"],
)
def test_validation_images_are_shared_when_both_seed_and_share_are(changes: dict[str, Any], same: bool | None) -> None:
    teacher = finished({"members": 3, "validation": 0.1}, draw=1)
    student = finished({"members": 1, "validation": 0.1, "teacher": teacher.id, **changes}, draw=2)
    assert compare(student).same_validation is same


def test_the_command_trains_a_student_and_says_what_it_loses() -> None:
    trained = call("train", "--members", "3", "--epochs", "2", *_as_options(SMALL))
    teacher = json.loads(trained.stdout.splitlines()[-1])["run_id"]
    done = call("distil", teacher, "--temperature", "2", "--alpha", "0.5", "--tag", "small")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[-1])
    student = runs.find_run(found["run_id"])
    config = runs.require_training_config(student)
    assert (config.teacher, config.distil_temperature, config.distil_alpha) == (teacher, 2.0, 0.5)
    assert (config.members, config.network, student.tags) == (1, "logistic", ("small",))
    against = found["against_teacher"]
    assert against["teacher"]["run_id"] == found["teacher"] == teacher
    assert against["student"]["run_id"] == student.id
    assert against["verdict"] in done.stderr
    assert against["student"]["parameters"] * 3 == against["teacher"]["parameters"]
    inspected = json.loads(call("inspect", student.id, "distillation", "--json").stdout)
    assert inspected["answer"] == against["verdict"]


def _as_options(settings: dict[str, Any]) -> list[str]:
    return [word for name, value in settings.items() for word in ("--" + name.replace("_", "-"), str(value))]


def test_what_cannot_be_distilled_is_refused_before_anything_is_made() -> None:
    other, drawn = imported(), finished({"members": 2})
    before = len(runs.list_runs())
    assert "trained elsewhere" in call("distil", other.id).output
    assert "keeps no parameters" in call("distil", drawn.id).output
    assert "There is no run" in call("distil", "digits-0-0").output
    refused = call("distil", drawn.id, "--network", "logistic", "--width", "8")
    assert refused.exit_code == ConfigError.exit_code
    assert "has no width to set" in refused.output
    assert len(runs.list_runs()) == before
