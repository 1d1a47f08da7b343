"""The answer: is the ensemble better than a member, by how much, how surely; and all figures."""

from ensemble.analysis.members.ece_gain import ece_gain
from ensemble.analysis.members.gain import best_member, gain_over_mean
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.metrics import METRICS
from ensemble.analysis.quality.summary import qualities
from ensemble.comparison.seeds import seeds
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording.verdicts import chance, chosen
from ensemble.wording.verdicts import inspect as words

MANY = 16  # members, from which on their figures stand behind a fold
GLOSSES = " ".join(
    f"{metric.term}: {metric.gloss}" for metric in METRICS if metric.name != "accuracy"
)


def build_answer(epoch: EvaluatedEpoch, glosses: str = GLOSSES) -> View:
    """The verdict with its evidence, and all figures; below them what they are."""
    if at_chance := chance.verdict(epoch.run):
        yield Paragraph(at_chance, "answer")
    yield Paragraph(state_headline(epoch), "answer")
    for sentence in list_evidence(epoch):
        yield Paragraph(sentence, "evidence")
    yield Table(
        f"Figures on {formats.count(epoch.n, f'test {epoch.noun}')}, after epoch {epoch.epoch}",
        words.figures(epoch.measure(qualities)),
        epoch.members > MANY,
        glosses,
        "inspect_figures",
    )


def state_headline(epoch: EvaluatedEpoch) -> str:
    """The ensemble against a member drawn at random."""
    if epoch.members == 1:
        return words.alone(epoch.predictions, epoch.noun)
    return words.headline(epoch.predictions, epoch.measure(gain_over_mean), epoch.noun)


def list_evidence(epoch: EvaluatedEpoch) -> list[str]:
    """What the verdict rests on: what got worse, the best member, and for what intervals hold."""
    predictions, noun = epoch.predictions, epoch.noun
    sentences = []
    if epoch.members > 1:
        right = epoch.measure(count_right_of_best, fitted=True)
        sentences += [
            words.evidence(predictions, epoch.measure(gain_over_mean), noun),
            words.calibration_gain(epoch.measure(ece_gain), epoch.members),
            words.best_alone(predictions, right, noun, "validation" if epoch.fit else "test"),
        ]
    spread = seeds(epoch.run, epoch.list_runs())
    sentences += [
        chosen.epoch(epoch.epoch, epoch.epochs[-1]),
        words.scope(spread.accuracies, spread.nlls, epoch.n),
    ]
    return [sentence for sentence in sentences if sentence]


def count_right_of_best(predictions: Predictions, fit: Predictions | None = None) -> int:
    """How many test images the best member gets right: the best of those held out, or of these."""
    member, _ = best_member(fit or predictions)
    return int((predictions.votes[member] == predictions.labels).sum())
