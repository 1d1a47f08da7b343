"""Members that differ in a setting: each one's loss over its value, and which was best."""

from ensemble.analysis.best_value import BestValue, best_value
from ensemble.errors import EnsembleError
from ensemble.figures.inspect import loss_by_value as figures
from ensemble.runs import Run
from ensemble.runs.final_losses import FinalLosses, final_losses
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, View
from ensemble.wording.run_names import called
from ensemble.wording.runs import varied
from ensemble.wording.verdicts import best_value as words


def read_losses(run: Run) -> FinalLosses | None:
    """Each member's loss after the last epoch; None where members are alike or there are none."""
    if not varied.main(varied.of(run.config)):
        return None
    try:
        losses = final_losses(run.id)
    except EnsembleError:
        return None
    return losses if losses is not None and losses.each is not None else None


def build_loss_by_value(epoch: EvaluatedEpoch) -> View:
    """The best value of the setting that differs, and a dot a member over each such setting."""
    run = epoch.run
    losses, values = read_losses(run), varied.of(run.config)
    main = varied.main(values)
    if losses is None or not main:
        yield Paragraph("All members of this run have the same settings.", "unavailable")
        return
    settings = [main, *(name for name in values if name != main and len(set(values[name])) > 1)]
    best = {name: find_best(values[name], losses) for name in settings}
    yield Paragraph(words.headline(best[main], main, not run.active), "answer")
    titles = {name: varied.TITLES[name].capitalize() for name in settings}
    choice = Choice("setting", "Loss over", titles, main)
    yield Figures(choice, lambda name: plot_losses(run, losses, name, best[name]))


def find_best(values: tuple[float, ...], losses: FinalLosses) -> BestValue:
    """Which of the values was best, of those that members went on with."""
    assert losses.each is not None
    return best_value(tuple(values[m] for m in losses.members), losses.each)


def plot_losses(run: Run, losses: FinalLosses, setting: str, best: BestValue | None) -> Figure:
    """A dot a member; where the best value is known, with those within the noise of it."""
    points = figures.points_of(run, setting, losses, best)
    title = f"Loss by {varied.TITLES[setting]} · {called(run)} · epoch {losses.epoch}"
    return Figure(
        label=varied.TITLES[setting].capitalize(),
        alt=figures.alt(points),
        sees=words.evidence(best, setting, losses.on, losses.epoch, points.values) if best else "",
        draw=lambda palette: figures.figure(points, title, palette),
        key="loss_by_value",
        file="loss-by-value",
        title="Loss by value",
        table=lambda: figures.table(points),
        of_epoch=False,
    )
