"""Inspect: whether the ensemble is better than a member, how sure it is, and if it may be."""

import streamlit as st

from ensemble import runs
from ensemble.ui.inspect import answer as inspect_answer
from ensemble.ui.inspect import images
from ensemble.ui.inspect import views as inspect_views
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import epoch_panel, waiting
from ensemble.ui.shared import entry, loaders, run_panel
from ensemble.ui.shared.tab import tab


def main() -> None:
    run_panel.about_a_run(of_run, no_runs, compact=True)


def no_runs() -> None:
    """The first visit."""
    waiting.no_runs(
        "See what an ensemble knows, and what it does not",
        "Whether it beats its members, where they disagree, how sure it is and how many "
        "members would do: all of it stands here once a first run has finished an epoch.",
    )


def of_run(run: runs.Run) -> None:
    """The answer, the views and the one that is chosen, or why there is none yet."""
    first = entry.just_opened() or tab.inspected != run.id
    chosen = epoch_panel.choose(run, "The answer stands")
    if not chosen:
        return
    shown = Inspected(
        run, chosen.epoch, chosen.epochs, chosen.made, loaders.test_set(run),
        run.data.noun,
        loaders.version(run.path / "predictions" / f"epoch-{chosen.epoch:04d}.npz"),
    )  # fmt: skip
    with st.container(gap="xxsmall", key="inspect"):
        places = inspect_answer.show(shown)
        epoch_panel.watch(run, chosen)
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
    tab.inspected = run.id


entry.draw("inspect", main)
