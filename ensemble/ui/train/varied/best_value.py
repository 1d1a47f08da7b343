"""Which value was best: each member's loss over its value, and the sentence that says it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.analysis.best_value import BestValue, estimate_best_value
from ensemble.errors import EnsembleError
from ensemble.figures.palette import Palette
from ensemble.runs.final_losses import FinalLosses, load_final_losses
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import loaders, theme, widget_state
from ensemble.ui.train import history
from ensemble.views import loss_by_value as words
from ensemble.views.loss_by_value import build_losses_figure
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs import member_settings

if TYPE_CHECKING:
    import plotly.graph_objects as go

FileVersion = tuple[int, int]


def show_best_value(run: runs.Run, rows: list[dict[str, Any]], above: DeltaGenerator) -> None:
    """The answer, the picture and what the answer rests on; nothing where all members are alike.

    Args:
      above: where the answer stands; the picture stands here.
    """
    varied_settings = member_settings.collect_varied_settings(run.config)
    several = [name for name, values in varied_settings.items() if len(set(values)) > 1]
    if not several or run.config.members < 2:
        return
    setting = several[0]
    if len(several) > 1:
        setting = widget_state.draw_widget(
            st.segmented_control,
            "Loss over",
            several,
            default=member_settings.select_main_setting(varied_settings),
            required=True,
            key="best_value_of",
            format_func=member_settings.SETTING_TITLES.__getitem__,
        )
    try:
        ended = history.find_reported_epoch_row(run, rows)
        losses = _load_epoch_losses(run, ended) if ended else load_final_losses(run.id, rows)
    except EnsembleError as error:
        st.caption(escaping.escape_markdown(error))
        return
    if losses is not None and losses.members:
        _show_best_value_figure(run, setting, losses, above)


def _load_epoch_losses(run: runs.Run, ended: dict[str, Any]) -> FinalLosses | None:
    """The losses after an epoch, read once: from its line in the history, and its predictions."""
    what = "validation" if "validation_loss" in ended else "predictions"
    file_version = loaders.get_file_version(run.path / what / f"epoch-{ended['epoch']:04d}.npz")
    return _load_cached_losses(run.id, ended["epoch"], file_version, run.remaining_members(ended["epoch"]), ended)


# Small: a number an image and member; at most 64 members on 10,000 images, 5 MB.
@st.cache_resource(max_entries=4, show_spinner=False)
def _load_cached_losses(
    run_id: str, epoch: int, version: FileVersion, members: tuple[int, ...], _ended: dict[str, Any]
) -> FinalLosses | None:
    return load_final_losses(run_id, [_ended])


@st.cache_resource(max_entries=16, show_spinner=False)
def _compute_cached_best_value(
    run_id: str, epoch: int, values: tuple[float, ...], on: str, _losses: FinalLosses
) -> BestValue:
    assert _losses.per_image_loss is not None
    return estimate_best_value(values, _losses.per_image_loss, _losses.groups)


# Drawn once for each epoch and look: a run that trains is looked at every second.
@st.cache_resource(max_entries=8, show_spinner=False)
def _draw_cached_figure(
    place: tuple[Any, ...], palette: Palette, _draw: "Callable[[Palette], go.Figure]"
) -> "go.Figure":
    return _draw(palette)


def _show_best_value_figure(run: runs.Run, setting: str, losses: FinalLosses, above: DeltaGenerator) -> None:
    varied_settings = member_settings.collect_varied_settings(run.config)
    values = varied_settings[setting]
    if losses.per_image_loss is None:
        own = tuple(values[m] for m in losses.members)
        above.caption(
            escaping.escape_markdown(words.describe_lowest_loss(own, losses.loss.tolist(), setting, losses.split))
        )
        if not losses.epoch:  # A picture that changes every second would only flicker.
            return
        best = None
    else:
        own = tuple(values[m] for m in losses.members)
        best = _compute_cached_best_value(run.id, losses.epoch, own, losses.split, losses)
        above.markdown(f"#### {escaping.escape_markdown(words.describe_best_value(best, setting, not run.active))}")
    figure = build_losses_figure(run, losses, setting, best)
    place = (run.id, format_run_name(run), losses.epoch, losses.split, setting, losses.members, best is None)
    pictures.show_figure_panel(
        _draw_cached_figure(place, theme.get_page_palette(), figure.draw),
        key=figure.key,
        job=run,
        name=f"{run.id}-{figure.file}",
        title=figure.title,
        alt=figure.alt,
        table=figure.table,
        sees=escaping.escape_markdown(figure.explanation),
    )
