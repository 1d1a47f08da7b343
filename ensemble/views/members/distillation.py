"""Against its teacher: what a student loses, what it saves, and what one network cannot say."""

from ensemble.budget.distillation import compare_with_teacher, judge_losses
from ensemble.errors import EnsembleError
from ensemble.runs.teacher import has_teacher
from ensemble.views.committee import MARGIN_VALUES, offer_margins
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import ChoiceRow, Paragraph, Table, View
from ensemble.wording.verdicts import distillation as words

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
    yield Paragraph(words.describe_teacher_verdict(accuracy, nll), "answer")
    for sentence in (
        words.describe_loss_evidence(accuracy, epoch.noun),
        words.describe_loss_evidence(nll, epoch.noun),
        words.describe_saving(comparison),
        words.describe_verdict_basis(comparison, epoch.noun),
    ):
        yield Paragraph(sentence, "evidence")
    yield Table(
        "The student and its teacher",
        words.tabulate_teacher_comparison(comparison, accuracy, nll),
        key="distillation_table",
    )
    for sentence in (
        words.describe_teacher(comparison),
        words.describe_ece_change(comparison),
        words.describe_ood_change(comparison),
        words.describe_missing_disagreement(comparison, epoch.noun),
        words.describe_shared_validation(comparison),
    ):
        if sentence:
            yield Paragraph(sentence, "text")
