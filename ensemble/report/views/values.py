"""Members that differ in a setting: each one's loss over its value, and which was best."""

from collections.abc import Iterator

from ensemble.analysis.best_value import BestValue, best_value
from ensemble.errors import EnsembleError
from ensemble.figures.inspect import loss_by_value
from ensemble.report.contents import Picture, Pictures, Said, Section
from ensemble.runs import Run
from ensemble.runs.final_losses import FinalLosses, final_losses
from ensemble.wording.run_names import called
from ensemble.wording.runs import varied
from ensemble.wording.verdicts import best_value as words

Judged = tuple[str, BestValue]  # a setting, and which of its values was best


def sections(run: Run) -> Iterator[Section]:
    """Loss by value; none where all members are alike, or their losses are not to be had."""
    found = varied.of(run.config)
    first = varied.main(found)
    if not first:
        return
    try:
        losses = final_losses(run.id)
    except EnsembleError:
        return
    if losses is None or losses.each is None:
        return
    several = [first, *(name for name in found if name != first and len(set(found[name])) > 1)]
    judged = [(name, best_of(found[name], losses)) for name in several]
    yield Section("Loss by value", [
        Said(words.headline(judged[0][1], first, not run.active), "answer"),
        Pictures("Loss over", [picture(run, losses, one) for one in judged]),
    ])  # fmt: skip


def best_of(values: tuple[float, ...], losses: FinalLosses) -> BestValue:
    """Which of the values was best, of those that members went on with."""
    assert losses.each is not None
    return best_value(tuple(values[m] for m in losses.members), losses.each)


def picture(run: Run, losses: FinalLosses, judged: Judged) -> Picture:
    """A dot a member, with the values that are within the noise of the best."""
    setting, best = judged
    points = loss_by_value.points_of(run, setting, losses, best)
    title = f"Loss by {varied.TITLES[setting]} · {called(run)} · epoch {losses.epoch}"
    return Picture(
        varied.TITLES[setting].capitalize(), loss_by_value.alt(points),
        words.evidence(best, setting, losses.on, losses.epoch, points.values),
        lambda palette: loss_by_value.figure(points, title, palette),
    )  # fmt: skip
