"""The answer: is the ensemble better than a member, by how much, how surely; and all figures."""

from ensemble.analysis.inference.crossed_means import RunVariance
from ensemble.analysis.members.ece_gain import estimate_ece_gain
from ensemble.analysis.members.gain import find_best_member, gain_over_mean_member
from ensemble.analysis.members.member_variance import estimate_member_variances
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.metrics import METRICS
from ensemble.analysis.quality.quality import measure_qualities
from ensemble.comparison.seed_groups import estimate_seed_variance
from ensemble.comparison.seed_spread import measure_seed_spread
from ensemble.runs.validation_predictions import are_members_chosen
from ensemble.views.evaluated_epoch import EvaluatedEpoch, describe_shown_epoch
from ensemble.views.member_faults import list_epoch_member_faults
from ensemble.views.parts import Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording.verdicts import chance_level, selection_basis
from ensemble.wording.verdicts import ensemble_gain as words

_MIN_JACKKNIFE_MEMBERS = 4  # of fewer a spread says little
_MAX_JACKKNIFE_NUMBERS = 50_000_000  # probabilities, of more it would take seconds
_MAX_OPEN_MEMBERS = 16  # members, from which on their figures stand behind a fold
_METRIC_GLOSSES = " ".join(f"{metric.term}: {metric.gloss}" for metric in METRICS if metric.name != "accuracy")


def build_answer(epoch: EvaluatedEpoch, glosses: str = _METRIC_GLOSSES) -> View:
    """The verdict with its evidence, and all figures; below them what they are."""
    faults = list_epoch_member_faults(epoch)
    for claim, evidence in faults:
        yield Paragraph(claim, "answer")
        yield Paragraph(evidence, "evidence")
    if at_chance := chance_level.describe_chance_level(epoch.run):
        # Beside a member that is named already: the cause, and what to try.
        yield Paragraph(at_chance, "evidence" if faults else "answer")
    yield Paragraph(describe_answer_headline(epoch), "answer")
    for sentence in list_answer_evidence(epoch):
        yield Paragraph(sentence, "evidence")
    yield Table(
        f"Figures on {formats.format_count(epoch.n, f'test {epoch.noun}')}, after epoch {epoch.epoch}",
        words.tabulate_formatted_metrics(epoch.measure(measure_qualities)),
        epoch.members > _MAX_OPEN_MEMBERS,
        glosses,
        "inspect_figures",
    )


def describe_answer_headline(epoch: EvaluatedEpoch) -> str:
    if epoch.members == 1:
        return words.describe_single_member(epoch.predictions, epoch.noun)
    return words.describe_ensemble_gain(epoch.predictions, epoch.measure(gain_over_mean_member), epoch.noun)


def list_answer_evidence(epoch: EvaluatedEpoch) -> list[str]:
    """What the verdict rests on: what got worse, the best member, and for what intervals hold."""
    predictions, noun = epoch.predictions, epoch.noun
    sentences = []
    if epoch.members > 1:
        right = epoch.measure(_count_best_member_right, fitted=True)
        sentences += [
            words.describe_gain_evidence(predictions, epoch.measure(gain_over_mean_member), noun),
            words.describe_calibration_loss(epoch.measure(estimate_ece_gain), epoch.members),
            words.describe_best_member(predictions, right, noun, "validation" if epoch.fit else "test"),
        ]
    spread = measure_seed_spread(epoch.run, epoch.list_runs())
    sentences += [
        describe_shown_epoch(epoch.run, epoch.epoch, epoch.epochs),
        describe_left_out_images(epoch),
        selection_basis.CHOSEN_MEMBERS_SENTENCE if are_members_chosen(epoch.run) else "",
        words.describe_interval_scope(
            spread.accuracies,
            spread.nlls,
            epoch.n,
            # Other seeds tell it better, where there are any.
            _estimate_member_spread(epoch) if len(spread.accuracies) < 2 else None,
        ),
        words.describe_image_dependence(
            epoch.dataset.test_groups.named, epoch.dataset.test_groups.copies, epoch.n, noun
        ),
        words.describe_training_copies(epoch.dataset.training_copies, epoch.n, noun),
        words.describe_digit_blocks(epoch.run.config.dataset, predictions.right),
        words.describe_training_variance(estimate_seed_variance(epoch.run, epoch.list_runs()), epoch.n, noun),
    ]
    return [sentence for sentence in sentences if sentence]


def describe_left_out_images(epoch: EvaluatedEpoch) -> str:
    """That members of a run with folds have seen less than others; "" without any."""
    config = epoch.run.training_config
    return words.describe_folds(config.folds, epoch.noun) if config and config.folds else ""


def _estimate_member_spread(epoch: EvaluatedEpoch) -> words.MemberSpread | None:
    """What the members tell of other ensembles of the kind; None of too few of them."""
    large = epoch.predictions.probabilities.size > _MAX_JACKKNIFE_NUMBERS
    if epoch.members < _MIN_JACKKNIFE_MEMBERS or large:
        return None
    variances = epoch.measure(_estimate_spread_over_members)
    if not variances["accuracy"].variance:  # Too few images for a member more or less to tip one.
        return None
    config = epoch.run.training_config
    return words.MemberSpread(
        variances["accuracy"].variance ** 0.5,
        variances["nll"].variance ** 0.5,
        config is not None and not config.has_member_batches,
    )


def _estimate_spread_over_members(predictions: EnsemblePredictions) -> dict[str, RunVariance]:
    return estimate_member_variances(predictions.probabilities, predictions.labels)


def _count_best_member_right(predictions: EnsemblePredictions, fit: EnsemblePredictions | None = None) -> int:
    """How many test images the best member gets right: the best of those held out, or of these."""
    member, _ = find_best_member(fit or predictions)
    return int((predictions.votes[member] == predictions.labels).sum())


VIEW = RegisteredView(
    "answer",
    "Result",
    "Whether the ensemble is better than one member, and by how much",
    build_answer,
    place=10,
    page_break=False,
)
