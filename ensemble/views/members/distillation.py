"""Against its teacher: what a student loses, what it saves, and what one network cannot say."""

from typing import Any

import pandas as pd

from ensemble.analysis.members.non_inferiority import NonInferiority
from ensemble.errors import EnsembleError
from ensemble.planning.distillation import (
    JudgedRun,
    OodComparison,
    TeacherComparison,
    compare_with_teacher,
    judge_losses,
)
from ensemble.runs.teacher import has_teacher
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.how_many_members import MARGIN_VALUES, format_committee_loss, format_loss_with_metric, offer_margins
from ensemble.views.parts import ChoiceRow, Paragraph, Table, View
from ensemble.views.registry import BETTER, RegisteredView
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs.networks import format_flops
from ensemble.wording.verdicts.ensemble_gain import format_signed

_ROW_NAMES = "figure"


def describe_teacher_verdict(accuracy: NonInferiority, nll: NonInferiority) -> str:
    both = (accuracy, nll)
    if lost := [each for each in both if each.outcome == "loses"]:
        return f"It loses more than {_name_margins(lost)} against its teacher."
    if all(each.outcome == "kept" for each in both):
        return f"It loses less than {_name_margins(both)} against its teacher."
    kept = [each for each in both if each.outcome == "kept"]
    open_ = [each for each in both if each.outcome != "kept"]
    if kept:
        return f"It loses less than {_name_margins(kept)}; whether less than {_name_margins(open_)} is open."
    return f"Not shown whether it loses less than {_name_margins(both, ' or ')}."


def _name_margins(figures: Any, word: str = " and ") -> str:
    return word.join(format_loss_with_metric(each.margin, each.metric) for each in figures)


def describe_loss_evidence(loss: NonInferiority, noun: str) -> str:
    name = "Accuracy" if loss.metric == "accuracy" else "NLL"
    sentence = f"{name}: {_format_figure_change(loss)}, 95 %"
    margin = format_committee_loss(loss.margin, loss.metric)
    if loss.outcome == "kept":
        return f"{sentence}: within the {margin} accepted."
    if loss.outcome == "loses":
        return f"{sentence}: worse by more than the {margin} accepted."
    if loss.examples is None:
        return f"{sentence}: too near the {margin} accepted to say."
    return (
        f"{sentence}: whether that is within the {margin} accepted is open. If nothing is really "
        f"lost, it takes about {formats.format_significant(loss.examples, 2)} "
        f"{pluralize_noun(noun)} to show it; there are {loss.n:,}."
    )


def _format_figure_change(loss: NonInferiority) -> str:
    """The student's less the teacher's, with its interval: "−1.2 points (−2.5 to +0.1)"."""
    if loss.metric == "accuracy":
        unit, ends = "points", [-100 * end for end in (loss.loss, loss.high, loss.low)]
    else:
        unit, ends = "nats", [loss.loss, loss.low, loss.high]
    value, low, high = map(format_signed, ends)
    return f"{value} {unit} ({low} to {high})"


def describe_verdict_basis(comparison: TeacherComparison, noun: str) -> str:
    epochs = " and ".join(
        f"the {who} after epoch {judged.epoch} ({_describe_epoch_basis(judged)})"
        for who, judged in (("student", comparison.student), ("teacher", comparison.teacher))
    )
    return (
        f"On the same {formats.format_count(comparison.gain.n, f'test {noun}')}, {epochs}. "
        "Both claims together are wrong at most 5 % of the time. They are of these two trained runs: "
        "another seed of either may come out otherwise, and what is not shown is not shown to be equal."
    )


def _describe_epoch_basis(judged: JudgedRun) -> str:
    return "chosen on its validation images" if judged.on_validation else "not chosen by any figure"


def _describe_teacher(comparison: TeacherComparison) -> str:
    config, teacher = comparison.student.run.training_config, comparison.teacher
    assert config is not None
    who = (
        f"Taught by “{format_run_name(teacher.run)}” ({teacher.run.id}), "
        f"{formats.format_count(teacher.members, 'member')}"
    )
    if comparison.labels_alone:
        return f"{who}, in name alone: with α = 1 it learnt from the labels and nothing else."
    return (
        f"{who} after epoch {teacher.epoch}: temperature "
        f"{formats.format_plain_number(config.distil_temperature)}, weight of the labels α "
        f"{formats.format_plain_number(config.distil_alpha)}."
    )


def describe_ece_change(comparison: TeacherComparison) -> str:
    """The student's calibration error beside its teacher's."""
    ece = comparison.ece
    values = (
        f"ECE {formats.format_significant(ece.ensemble)} against "
        f"{formats.format_significant(ece.members)} of the teacher (difference "
        f"{format_signed(ece.low)} to {format_signed(ece.high)}, 95 %)"
    )
    shown = {
        1: "it is shown to be better calibrated",
        -1: "it is shown to be worse calibrated",
        0: "no difference is shown",
    }
    return f"Calibration: {values}: {shown[ece.ece_sign]}."


def describe_ood_change(comparison: TeacherComparison) -> str:
    """How well each tells out-of-distribution images; "" where both were not measured."""
    if not comparison.ood:
        return "How well each tells images of no class is not known: measure both under Shift for that."
    parts = [
        f"{each.title} {each.student:.3f} against {each.teacher:.3f}{_format_auroc_word(each)}"
        for each in comparison.ood
    ]
    basis = (
        "The intervals (95 %, DeLong) are of the same images, each set for itself."
        if all(each.difference for each in comparison.ood)
        else "Where there is no interval, they were not tested against each other: measure both "
        "under Shift again for that."
    )
    figures = "; ".join(parts)
    return f"Images of no class, AUROC of the entropy beside the teacher's: {figures}. {basis}"


def _format_auroc_word(ood: OodComparison) -> str:
    """Which is higher, with the interval of the difference; "" where it was not tested."""
    if ood.difference is None:
        return ""
    word = "not shown to differ"
    if ood.difference.high < 0:
        word = "lower"
    elif ood.difference.low > 0:
        word = "higher"
    return f", {_format_auroc_change(ood)}, {word}"


def _format_auroc_change(ood: OodComparison) -> str:
    """The difference and its interval; "" where it was not tested."""
    if ood.difference is None:
        return ""
    change, low, high = (
        f"{value:+.3f}".replace("-", "−")
        for value in (ood.student - ood.teacher, ood.difference.low, ood.difference.high)
    )
    return f"{change} ({low} to {high})"


def describe_missing_disagreement(comparison: TeacherComparison, noun: str) -> str:
    n, disputed = comparison.gain.n, comparison.disputed
    teacher = (
        f"the teacher's {comparison.teacher.members} members do not all agree on {disputed:,} of "
        f"{formats.format_count(n, f'test {noun}')}"
    )
    if comparison.teacher.members == 1:
        teacher = "its teacher had one member as well"
    if comparison.student.members == 1:
        return (
            f"Disagreement cannot be had from one network: {teacher}, and the student has no votes "
            "and no epistemic uncertainty to say so."
        )
    return (
        f"Its members learnt from one teacher: how far they disagree is another thing than how far "
        f"the teacher's do ({teacher})."
    )


def describe_saving(comparison: TeacherComparison) -> str:
    student, teacher = comparison.student, comparison.teacher
    networks = f"{formats.format_count(student.members, 'network')} in place of {teacher.members:,}"
    if not (student.flops and teacher.flops and student.parameters and teacher.parameters):
        return f"A prediction takes {networks}; what a network of your own takes is not reckoned."
    return (
        f"A prediction takes {networks}: {student.parameters:,} parameters against "
        f"{teacher.parameters:,}, and {format_flops(student.flops)} an image against "
        f"{format_flops(teacher.flops)} "
        f"({formats.format_percent(student.flops / teacher.flops, figures=2)})."
    )


def describe_shared_validation(comparison: TeacherComparison) -> str:
    """That the teacher has learnt images that the student holds out; "" where it has not."""
    if comparison.same_validation is not False or comparison.labels_alone:
        return ""
    return (
        "The teacher held out other images, or none: it has learnt some of those that the student "
        "chooses its epoch by, which look easier than new ones."
    )


def tabulate_teacher_comparison(
    comparison: TeacherComparison, accuracy: NonInferiority, nll: NonInferiority
) -> pd.DataFrame:
    """A row a figure: the student's, the teacher's, and the difference with its interval."""
    student, teacher, ece, n = (comparison.student, comparison.teacher, comparison.ece, comparison.gain.n)
    rows = [
        (
            "test accuracy",
            formats.format_percent(student.accuracy, n),
            formats.format_percent(teacher.accuracy, n),
            _format_figure_change(accuracy),
        ),
        (
            "test NLL",
            formats.format_significant(student.nll),
            formats.format_significant(teacher.nll),
            _format_figure_change(nll),
        ),
        (
            "ECE",
            formats.format_significant(ece.ensemble),
            formats.format_significant(ece.members),
            f"{format_signed(ece.ensemble - ece.members)} ({format_signed(ece.low)} to {format_signed(ece.high)})",
        ),
        *(
            (f"AUROC, {each.title}", f"{each.student:.3f}", f"{each.teacher:.3f}", _format_auroc_change(each))
            for each in comparison.ood
        ),
        ("networks", f"{student.members:,}", f"{teacher.members:,}", ""),
    ]
    if student.flops and teacher.flops:
        rows += [
            ("parameters", f"{student.parameters:,}", f"{teacher.parameters:,}", ""),
            ("operations an image", format_flops(student.flops), format_flops(teacher.flops), ""),
        ]
    columns = [_ROW_NAMES, "student", "teacher", "student − teacher (95 %)"]
    return pd.DataFrame(rows, columns=columns)


_NO_TEACHER = "This run had no teacher: it learnt from labels alone."


def build_distillation(epoch: EvaluatedEpoch) -> View:
    if not has_teacher(epoch.run):
        yield Paragraph(_NO_TEACHER, "unavailable", icon=":material/school:")
        return
    try:
        comparison = compare_with_teacher(epoch.run, epoch.epoch, epoch.measure)
    except EnsembleError as error:
        yield Paragraph(str(error), "unavailable", icon=":material/school:")
        return
    accuracy_word, nll_word = yield ChoiceRow((offer_margins("accuracy"), offer_margins("nll")))
    margins = {"accuracy": MARGIN_VALUES["accuracy"][accuracy_word], "nll": MARGIN_VALUES["nll"][nll_word]}
    accuracy, nll = judge_losses(comparison, margins)
    yield Paragraph(describe_teacher_verdict(accuracy, nll), "answer")
    for sentence in (
        describe_loss_evidence(accuracy, epoch.noun),
        describe_loss_evidence(nll, epoch.noun),
        describe_saving(comparison),
        describe_verdict_basis(comparison, epoch.noun),
    ):
        yield Paragraph(sentence, "evidence")
    yield Table(
        "The student and its teacher", tabulate_teacher_comparison(comparison, accuracy, nll), key="distillation_table"
    )
    for sentence in (
        _describe_teacher(comparison),
        describe_ece_change(comparison),
        describe_ood_change(comparison),
        describe_missing_disagreement(comparison, epoch.noun),
        describe_shared_validation(comparison),
    ):
        if sentence:
            yield Paragraph(sentence, "text")


VIEW = RegisteredView(
    "distillation",
    "Against its teacher",
    "Comparison of a student with its teacher ensemble",
    build_distillation,
    place=150,
    question=BETTER,
    page_break=False,
    applies=lambda epoch: has_teacher(epoch.run),
)
