"""Which value was best: each member's loss over its value, and the sentence that says it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.analysis.best_value import BestValue, best_value
from ensemble.errors import EnsembleError
from ensemble.figures.palette import Palette
from ensemble.runs.final_losses import FinalLosses, final_losses
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import loaders, theme
from ensemble.ui.train import history
from ensemble.views.loss_by_value import plot_losses
from ensemble.wording import escaping
from ensemble.wording.run_names import called
from ensemble.wording.runs import varied
from ensemble.wording.verdicts import best_value as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

Seen = tuple[int, int]


def show(run: runs.Run, rows: list[dict[str, Any]], above: DeltaGenerator) -> None:
    """The answer, the picture and what the answer rests on; nothing where all members are alike.

    Args:
      run: whose members.
      rows: lines of its history.
      above: where the answer stands; the picture stands here.
    """
    found = varied.of(run.config)
    several = [name for name, values in found.items() if len(set(values)) > 1]
    if not several or run.config.members < 2:
        return
    setting = several[0]
    if len(several) > 1:
        setting = st.segmented_control(
            "Loss over",
            several,
            default=varied.main(found),
            required=True,
            key="best_value_of",
            format_func=varied.TITLES.__getitem__,
        )
    try:
        ended = history.latest(rows)
        losses = of_epoch(run, ended) if ended else final_losses(run.id, rows)
    except EnsembleError as error:
        st.caption(escaping.markdown(error))
        return
    if losses is not None and losses.members:
        answer(run, setting, losses, above)


def of_epoch(run: runs.Run, ended: dict[str, Any]) -> FinalLosses | None:
    """The losses after an epoch, read once: from its line in the history, and its predictions."""
    what = "validation" if "validation_loss" in ended else "predictions"
    seen = loaders.version(run.path / what / f"epoch-{ended['epoch']:04d}.npz")
    return _losses(run.id, ended["epoch"], seen, run.remaining(ended["epoch"]), ended)


# Small: a number an image and member; at most 64 members on 10,000 images, 5 MB.
@st.cache_resource(max_entries=4, show_spinner=False)
def _losses(
    run_id: str, epoch: int, seen: Seen, members: tuple[int, ...], _ended: dict[str, Any]
) -> FinalLosses | None:
    return final_losses(run_id, [_ended])


@st.cache_resource(max_entries=16, show_spinner=False)
def _best(
    run_id: str, epoch: int, values: tuple[float, ...], on: str, _each: NDArray[np.float64]
) -> BestValue:
    return best_value(values, _each)


# Drawn once for each epoch and look: a run that trains is looked at every second.
@st.cache_resource(max_entries=8, show_spinner=False)
def _draw(
    place: tuple[Any, ...], palette: Palette, _draw: "Callable[[Palette], go.Figure]"
) -> "go.Figure":
    return _draw(palette)


def answer(run: runs.Run, setting: str, losses: FinalLosses, above: DeltaGenerator) -> None:
    """The sentence, and once an epoch has ended the picture."""
    found = varied.of(run.config)
    values = found[setting]
    if losses.each is None:
        own = tuple(values[m] for m in losses.members)
        above.caption(
            escaping.markdown(words.lowest(own, losses.loss.tolist(), setting, losses.on))
        )
        if not losses.epoch:  # A picture that changes every second would only flicker.
            return
        best = None
    else:
        own = tuple(values[m] for m in losses.members)
        best = _best(run.id, losses.epoch, own, losses.on, losses.each)
        above.markdown(f"##### {escaping.markdown(words.headline(best, setting, not run.active))}")
    figure = plot_losses(run, losses, setting, best)
    place = (run.id, called(run), losses.epoch, losses.on, setting, losses.members, best is None)
    pictures.show(
        _draw(place, theme.palette(), figure.draw),
        key=figure.key,
        of=run,
        name=f"{run.id}-{figure.file}",
        title=figure.title,
        alt=figure.alt,
        table=figure.table,
        sees=escaping.markdown(figure.sees),
    )
