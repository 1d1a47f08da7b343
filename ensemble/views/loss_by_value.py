"""Members that differ in a setting: each one's loss over its value, and which was best."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.analysis.best_value import BestValue, estimate_best_value
from ensemble.analysis.inference.crossed_means import OVER_IMAGES
from ensemble.config import MAX_MEMBERS
from ensemble.errors import EnsembleError
from ensemble.figures import chart_style, palette
from ensemble.figures.palette import Palette
from ensemble.runs import Run
from ensemble.runs.final_losses import FinalLosses, load_final_losses
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs import member_settings
from ensemble.wording.verdicts import chance_level

if TYPE_CHECKING:
    import plotly.graph_objects as go


_SETTING_PLURALS = {"learning_rate": "rates", "momentum": "momenta", "weight_decay": "weight decays"}
SETTING_NAMES = {"learning_rate": "Rate", "momentum": "Momentum", "weight_decay": "Weight decay"}
_LOSS_NAMES = {"validation": "validation NLL", "test": "test NLL", "training": "training loss"}
_MAX_NAMED_VALUES = 2  # values that are named one by one
_MEMBERS_TO_COMPARE = 3  # for each value, from which on seeds can be told from values
_SELECTION_NOTES = {
    "validation": "Chosen on the validation images, not on the test images.",
    "test": "Chosen on the test images: expect less on new ones. Hold images out with validation.",
    "training": "Chosen by the training loss, which says little about new images.",
}


def describe_best_value(best: BestValue, setting: str, over: bool = True) -> str:
    """The best range in a sentence: one claim.

    Args:
      setting: which differs, one of `member_values.VARIABLE_SETTINGS`.
      over: whether the run has ended: else it is so only so far.
    """
    claim = _describe_best_range(best, setting)
    return claim if over else f"So far {claim[0].lower()}{claim[1:]}"


def _describe_best_range(best_value: BestValue, setting: str) -> str:
    tried_values, best = _format_tried_values(best_value), best_value.best
    name = SETTING_NAMES[setting].lower()
    if len(best_value.values) == 1:
        return f"Only {name} {tried_values[0]} is left: nothing to compare it with."
    of_members = best_value.over == OVER_IMAGES
    if (best_value.first, best_value.last) == (0, len(best_value.values) - 1):
        subject = formats.format_finding_subject(best_value.n, "image")
        if of_members:
            return f"{subject} no member to be worse than the best, that at {name} {tried_values[best]}."
        return f"{subject} no {name} to be worse than the best, {tried_values[best]}."
    others = best_value.other_candidates
    beside = _format_other_values([tried_values[at] for at in others])
    if best_value.first == best_value.last:
        are = "is" if len(others) == 1 else "are"
        if of_members:
            that = "that" if len(others) == 1 else "those"
            rest = (
                f"{that} at {beside} {are} not shown to be worse"
                if beside
                else f"{'the other' if len(best_value.values) == 2 else 'all others'} did worse"
            )
            return f"The member at {name} {tried_values[best]} did best; {rest}."
        rest = f"{beside} {are} not shown to be worse" if beside else "every other is worse by more than noise"
        return f"{SETTING_NAMES[setting]} {tried_values[best]} is best; {rest}."
    low, high = tried_values[best_value.first], tried_values[best_value.last]
    link = "and" if best_value.last == best_value.first + 1 else "to"
    so = f"; so {'is' if len(others) == 1 else 'are'} {beside}" if beside else ""
    plural = _SETTING_PLURALS[setting]
    who = f"The members at {plural}" if of_members else plural.capitalize()
    which = "the best, at" if of_members else "the best,"
    return f"{who} {low} {link} {high} are within the noise of {which} {tried_values[best]}{so}."


def _format_other_values(values: list[str]) -> str:
    if len(values) > _MAX_NAMED_VALUES:
        return f"{len(values):,} others"
    return chance_level.join_items(values) if values else ""


def describe_best_value_evidence(
    best_value: BestValue, setting: str, on: str, epoch: int, tried: Sequence[float] = ()
) -> str:
    """The figures that the headline rests on, and what they leave open.

    Args:
      on: "validation" or "test".
      tried: all values, also of members that were set aside; () where none was.
    """
    tried_values, best = _format_tried_values(best_value), best_value.best
    sentences = [
        f"Lowest {_LOSS_NAMES[on]} after epoch {epoch:,}: "
        f"{formats.format_significant(best_value.loss[best])} at "
        f"{member_settings.SETTING_TITLES[setting]} {tried_values[best]}."
    ]
    if best_value.pair_count:
        seeds = "" if best_value.over == OVER_IMAGES else ", over the seeds of its members"
        sentences.append(
            f"Each other value is compared with it on the same {formats.format_count(best_value.n, 'image')}{seeds} "
            f"(paired, 5 %, adjusted for {formats.format_count(best_value.pair_count, 'pair')} of values)."
        )
        if best_value.over == OVER_IMAGES:
            sentences.append(recommend_more_members(len(best_value.values), setting))
        elif best_value.members.min() == 1:
            sentences.append("Some values have one member: started from another seed it may do better or worse.")
    return " ".join([*sentences, _SELECTION_NOTES[on], recommend_next_values(best_value, tried)]).rstrip()


def recommend_more_members(values: int, setting: str) -> str:
    plural = _SETTING_PLURALS[setting]
    text = f"One member for each: other seeds may order the {plural} differently."
    if values * _MEMBERS_TO_COMPARE > MAX_MEMBERS:
        return text
    return (
        f"{text} To compare the {plural} themselves, train {_MEMBERS_TO_COMPARE} members for each "
        f"({values * _MEMBERS_TO_COMPARE} members)."
    )


def recommend_next_values(best_value: BestValue, tried: Sequence[float] = ()) -> str:
    """What to try next where the best stands at an end of what was tried; else "".

    Args:
      tried: as `describe_best_value_evidence`.
    """
    ends = {"smallest": (0, "below"), "largest": (len(best_value.values) - 1, "above")}
    end = next((name for name, (at, _) in ends.items() if at == best_value.best), "")
    if len(best_value.values) < 3 or not end:
        return ""
    best = float(best_value.values[best_value.best])
    lost = [value for value in tried if (value < best if end == "smallest" else value > best)]
    if not lost:
        return f"The best is the {end} that was tried: try {ends[end][1]}."
    near = max(lost) if end == "smallest" else min(lost)
    low, high = member_settings.format_distinct_values(sorted([best, near]))
    at = low if near < best else high
    return f"At {at} the loss was no longer a number: try between {low} and {high}."


def describe_lowest_loss(values: Sequence[float], losses: Sequence[float], setting: str, on: str) -> str:
    """Where there are means alone: which is lowest, and that no more can be said.

    Args:
      losses: of each, in nats.
      on: "validation", "test" or "training".
    """
    best = min(range(len(losses)), key=losses.__getitem__)
    return (
        f"So far {SETTING_NAMES[setting].lower()} "
        f"{member_settings.format_distinct_values(values)[best]} has the lowest {_LOSS_NAMES[on]}, "
        f"{formats.format_significant(losses[best])}; whether that is noise is known after the "
        "first epoch whose predictions are kept."
    )


def _format_tried_values(best: BestValue) -> list[str]:
    return member_settings.format_distinct_values(best.values.tolist())


LOG_AXIS_RATIO = 5  # times the lowest loss: from there on the axis of losses is a log axis as well
_BEST_RANGE_LABEL = "within the noise of the best"
_AXIS_PADDING = 0.06  # of the axis on either side


@dataclass(frozen=True)
class LossPoints:
    """What is drawn of M members.

    Attributes:
      setting: which setting it is, one of `member_values.VARIABLE_SETTINGS`.
      values: (M,), what each member has of it.
      losses: (M,), in nats; None of members that were set aside.
      names: (M,), what the members are called.
      loss: what the losses are: "validation NLL".
      best_range: the least and the largest value that are within the noise of the best; None where
        that is not known.
      divergence_steps: of members that were set aside, by number from 0, the step at which they
        were.
    """

    setting: str
    values: Sequence[float]
    losses: Sequence[float | None]
    names: Sequence[str]
    loss: str
    best_range: tuple[float, float] | None
    divergence_steps: Mapping[int, int]

    @property
    def is_log_axis(self) -> bool:
        return member_settings.is_log_scaled(self.values)


def _collect_loss_points(run: Run, setting: str, losses: FinalLosses, best: BestValue | None) -> LossPoints:
    """What is drawn of a run whose members differ in this setting.

    Args:
      best: which value was best by them; None where that is not known.
    """
    varied_settings, each = (
        member_settings.collect_varied_settings(run.config),
        dict(zip(losses.members, losses.loss.tolist(), strict=True)),
    )
    values = varied_settings[setting]
    return LossPoints(
        setting=setting,
        values=values,
        losses=[each.get(m) for m in range(len(values))],
        names=member_settings.list_member_names(varied_settings, len(values)),
        loss=_LOSS_NAMES[losses.split],
        best_range=best.equivalent_range if best else None,
        divergence_steps=run.status.set_aside,
    )


def plot_loss_by_value(points: LossPoints, title: str, palette: Palette) -> "go.Figure":
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    traces = [_build_mean_loss_line(points, palette), _build_member_loss_dots(points, palette)]
    if points.divergence_steps:
        traces.append(_build_diverged_crosses(points, palette))
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    if points.best_range:
        _add_best_range(chart, points, palette)
    chart.update_layout(**chart_style.build_chart_layout(title, 380, palette))
    log = ", log axis" if points.is_log_axis else ""
    chart.update_xaxes(
        title=f"{member_settings.SETTING_TITLES[points.setting]}{log}",
        fixedrange=True,
        type="log" if points.is_log_axis else "linear",
        **_build_value_ticks(points),
    )
    losses = [loss for loss in points.losses if loss is not None]
    far = bool(losses) and min(losses) > 0 and max(losses) > LOG_AXIS_RATIO * min(losses)
    chart.update_yaxes(
        title=f"{points.loss} (nats{', log axis' if far else ''})",
        fixedrange=True,
        type="log" if far else "linear",
        automargin=True,
        **(chart_style.build_log_ticks(losses) if far else {}),
    )
    return chart


def _build_value_ticks(points: LossPoints) -> dict[str, Any]:
    """The marks of the axis of values: of a few members the values themselves."""
    if len(set(points.values)) > chart_style.MAX_TITLE_LETTERS // 4:
        return chart_style.build_log_ticks(points.values) if points.is_log_axis else {}
    labels = dict(zip(points.values, member_settings.format_distinct_values(points.values), strict=True))
    return {"tickvals": list(labels), "ticktext": list(labels.values())}


def _build_mean_loss_line(points: LossPoints, palette: Palette) -> dict[str, Any]:
    at: dict[float, list[float]] = {}
    for value, loss in zip(points.values, points.losses, strict=True):
        if loss is not None:
            at.setdefault(value, []).append(loss)
    xs = sorted(at)
    return {
        "x": xs,
        "y": [sum(at[x]) / len(at[x]) for x in xs],
        "mode": "lines",
        "name": "mean",
        "line": {"color": palette.ink, "width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _build_member_loss_dots(points: LossPoints, ground: Palette) -> dict[str, Any]:
    hues = palette.assign_ramp_colors(points.values, points.is_log_axis)
    kept = [m for m, loss in enumerate(points.losses) if loss is not None]
    return {
        "x": [points.values[m] for m in kept],
        "y": [points.losses[m] for m in kept],
        "mode": "markers",
        "name": "a member each",
        "hoverinfo": "text",
        "cliponaxis": False,
        "hovertext": [
            f"{points.names[m]}<br>{points.loss} {formats.format_significant(points.losses[m])}" for m in kept
        ],
        "marker": {"size": 11, "color": [hues[m] for m in kept], "line": {"color": ground.ground, "width": 1}},
    }


def _build_diverged_crosses(points: LossPoints, palette: Palette) -> dict[str, Any]:
    """A cross above the others for each member that was set aside: it has no loss."""
    losses = [loss for loss in points.losses if loss is not None]
    top = max(losses, default=1.0)
    away = sorted(points.divergence_steps)
    return {
        "x": [points.values[m] for m in away],
        "y": [top] * len(away),
        "mode": "markers",
        "name": "set aside: no loss any more",
        "hoverinfo": "text",
        "cliponaxis": False,
        "hovertext": [f"{points.names[m]}<br>set aside at step {points.divergence_steps[m]:,}" for m in away],
        "marker": {"size": 11, "symbol": "x", "color": palette.ink},
    }


def _add_best_range(chart: "go.Figure", points: LossPoints, palette: Palette) -> None:
    low, high = points.best_range or (0.0, 0.0)
    if points.is_log_axis:
        room = (max(points.values) / min(points.values)) ** (_AXIS_PADDING / 3)
        low, high = low / room, high * room
    else:
        room = (max(points.values) - min(points.values)) * _AXIS_PADDING / 3
        low, high = low - room, high + room
    chart.add_vrect(x0=low, x1=high, line_width=0, fillcolor=palette.primary, opacity=0.2, layer="below", name="range")
    # A shape stands on a log axis by its values, a text by their logarithms.
    at = math.log10(low) if points.is_log_axis else low
    chart.add_annotation(
        x=at,
        y=1,
        yref="paper",
        text=_BEST_RANGE_LABEL,
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        font={"color": palette.ink, "size": 12},
    )


def describe_loss_by_value_chart(points: LossPoints) -> str:
    member_losses = [(loss, m) for m, loss in enumerate(points.losses) if loss is not None]
    what = f"{points.loss} of each member over its {member_settings.SETTING_TITLES[points.setting]}"
    if not member_losses:
        return f"{what}: every member was set aside"
    lowest, m = min(member_losses)
    sentence = f"{what}; lowest {formats.format_significant(lowest)}, {points.names[m]}"
    if points.divergence_steps:
        sentence += f"; {formats.format_count(len(points.divergence_steps), 'member')} set aside"
    return sentence


def tabulate_loss_by_value(points: LossPoints) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "member": range(1, len(points.values) + 1),
            points.setting: list(points.values),
            points.loss.replace(" ", "_"): list(points.losses),
            "set_aside_at_step": [points.divergence_steps.get(m) for m in range(len(points.values))],
        }
    )


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
    yield Paragraph(describe_best_value(best[main], main, not run.active), "answer")
    titles = {name: member_settings.SETTING_TITLES[name].capitalize() for name in settings}
    choice = Choice("setting", "Loss over", titles, main)
    yield Figures(choice, lambda name: build_losses_figure(run, losses, name, best[name]))


def _find_best_member_value(values: tuple[float, ...], losses: FinalLosses) -> BestValue:
    assert losses.per_image_loss is not None
    return estimate_best_value(tuple(values[m] for m in losses.members), losses.per_image_loss, losses.groups)


def build_losses_figure(run: Run, losses: FinalLosses, setting: str, best: BestValue | None) -> Figure:
    """A dot a member; where the best value is known, with those within the noise of it."""
    points = _collect_loss_points(run, setting, losses, best)
    title = f"Loss by {member_settings.SETTING_TITLES[setting]} · {format_run_name(run)} · epoch {losses.epoch}"
    return Figure(
        label=member_settings.SETTING_TITLES[setting].capitalize(),
        alt=describe_loss_by_value_chart(points),
        explanation=describe_best_value_evidence(best, setting, losses.split, losses.epoch, points.values)
        if best
        else "",
        draw=lambda palette: plot_loss_by_value(points, title, palette),
        key="loss_by_value",
        file="loss-by-value",
        title="Loss by value",
        table=lambda: tabulate_loss_by_value(points),
        of_epoch=False,
    )


VIEW = RegisteredView(
    "loss_by_value",
    "Loss by value",
    "Loss of each member over a setting that differs between members",
    build_loss_by_value,
    place=20,
    page_break=False,
    applies=lambda epoch: read_member_losses(epoch.run) is not None,
)
