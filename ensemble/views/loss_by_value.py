"""Members that differ in a setting: each one's loss over its value, and which was best."""

from ensemble.analysis.best_value import BestValue, estimate_best_value
from ensemble.errors import EnsembleError
from ensemble.figures.inspect import loss_by_value as figures
from ensemble.runs import Run
from ensemble.runs.final_losses import FinalLosses, load_final_losses
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, View
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs import member_settings
from ensemble.wording.verdicts import best_value as words


def read_member_losses(run: Run) -> FinalLosses | None:
    """Each member's loss after the last epoch; None where members are alike or there are none."""
    if not member_settings.select_main_setting(member_settings.collect_varied_settings(run.config)):
        return None
    try:
        losses = load_final_losses(run.id)
    except EnsembleError:
        return None
    return losses if losses is not None and losses.per_image_loss is not None else None


def build_loss_by_value(epoch: EvaluatedEpoch) -> View:
    run = epoch.run
    losses, values = read_member_losses(run), member_settings.collect_varied_settings(run.config)
    main = member_settings.select_main_setting(values)
    if losses is None or not main:
        yield Paragraph("All members of this run have the same settings.", "unavailable")
        return
    settings = [main, *(name for name in values if name != main and len(set(values[name])) > 1)]
    best = {name: _find_best_member_value(values[name], losses) for name in settings}
    yield Paragraph(words.describe_best_value(best[main], main, not run.active), "answer")
    titles = {name: member_settings.SETTING_TITLES[name].capitalize() for name in settings}
    choice = Choice("setting", "Loss over", titles, main)
    yield Figures(choice, lambda name: build_losses_figure(run, losses, name, best[name]))


def _find_best_member_value(values: tuple[float, ...], losses: FinalLosses) -> BestValue:
    assert losses.per_image_loss is not None
    return estimate_best_value(tuple(values[m] for m in losses.members), losses.per_image_loss, losses.groups)


def build_losses_figure(run: Run, losses: FinalLosses, setting: str, best: BestValue | None) -> Figure:
    """A dot a member; where the best value is known, with those within the noise of it."""
    points = figures.collect_loss_points(run, setting, losses, best)
    title = f"Loss by {member_settings.SETTING_TITLES[setting]} · {format_run_name(run)} · epoch {losses.epoch}"
    return Figure(
        label=member_settings.SETTING_TITLES[setting].capitalize(),
        alt=figures.describe_loss_by_value_chart(points),
        explanation=words.describe_best_value_evidence(best, setting, losses.split, losses.epoch, points.values)
        if best
        else "",
        draw=lambda palette: figures.plot_loss_by_value(points, title, palette),
        key="loss_by_value",
        file="loss-by-value",
        title="Loss by value",
        table=lambda: figures.tabulate_loss_by_value(points),
        of_epoch=False,
    )
