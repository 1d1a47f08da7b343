"""Inspect: whether the ensemble is better than a member, how sure it is, and if it may be."""

import streamlit as st

from ensemble import runs
from ensemble.ui.inspect import answer as inspect_answer
from ensemble.ui.inspect import images
from ensemble.ui.inspect import views as inspect_views
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import epoch_panel
from ensemble.ui.predictions.epoch_panel import Chosen
from ensemble.ui.shared import entry, loaders, run_panel
from ensemble.ui.shared.tab import tab


def main() -> None:
    run_panel.about_a_run(of_run, no_runs, compact=True)


def no_runs() -> None:
    """The first visit: the same of a run that was recorded."""
    # Here, for a page with a run of one's own does without.
    from ensemble.ui.train.example import band, opened, recording

    band.show("See what an ensemble knows, and what it does not")
    look(opened.inspected(), tab.inspected != recording.ID)


def of_run(run: runs.Run) -> None:
    """The answer, the views and the one that is chosen, or why there is none yet."""
    first = entry.just_opened() or tab.inspected != run.id
    chosen = epoch_panel.choose(run, "The answer stands")
    if not chosen:
        return
    version = loaders.version(run.path / "predictions" / f"epoch-{chosen.epoch:04d}.npz")
    dataset = loaders.test_set(run)
    shown = SharedEpoch(run, chosen.epoch, chosen.epochs, chosen.made, dataset, version)
    look(shown, first, chosen)


def look(shown: SharedEpoch, first: bool, chosen: Chosen | None = None) -> None:
    """The answer, the views and the one that is chosen.

    Args:
      shown: the run's epoch.
      first: whether nothing of this run stands on the screen yet.
      chosen: the epoch of a run that may go on; None of one that was recorded.
    """
    with st.container(gap="xxsmall", key="inspect"):
        places = inspect_answer.show(shown)
        if chosen:
            epoch_panel.watch(shown.run, chosen)
        # With another epoch the picture comes first; at first these must not push it down.
        if first:
            inspect_answer.fill(shown, places)
        view = inspect_views.choose(shown.noun)
        images.begin()
        with st.container(key="view"):
            inspect_views.show(view, shown)
    images.end(shown)
    if not first:
        inspect_answer.fill(shown, places)
    inspect_answer.finish(shown, places)
    tab.inspected = shown.run.id


entry.draw("inspect", main)
