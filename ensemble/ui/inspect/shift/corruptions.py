"""Shift: what becomes of the ensemble on images that are not like those it learnt from.

The members have to be asked anew, which takes minutes: a job does it, and this view starts
and stops the job, shows how far it is, and what it has found so far.
"""

import streamlit as st

from ensemble import shift
from ensemble.figures.inspect.shift import alt, figure, place, sentence, table
from ensemble.shift import Results
from ensemble.shift.corruptions import kinds
from ensemble.ui.inspect.shift import job, ood
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared.guard import guarded
from ensemble.wording.run_names import called

SECONDS_BETWEEN = 1.0


def show(shown: Inspected) -> None:
    """Draw the view; while the job works, again every second."""
    active = shift.read_stress(shown.run.id).active
    st.fragment(watched, run_every=SECONDS_BETWEEN if active else None)(shown, active)


def watched(shown: Inspected, was_active: bool) -> None:
    """The body of `show`: what changes while the job works."""
    with guarded():
        stress = shift.read_stress(shown.run.id)
        if stress.active != was_active:
            st.rerun()
        job.show(shown, stress)
        results = stress.results
        if results and results.clean:
            shifted(shown, results)
            ood.show(shown, results)


def shifted(shown: Inspected, results: Results) -> None:
    """One kind of corruption: the sentence and the picture."""
    every = kinds((results.side, results.side))
    titles = {name: kind.title for name, kind in every.items()}
    name = address.choose(address.KIND, "Corruption", titles, next(iter(every)))
    kind, curve = every[name], results.curve(name)
    if len(curve) < 2:
        st.caption(f"{kind.title} has not been measured yet.")
        return
    n = results.images
    title = f"{kind.title} · {called(shown.run)} · {place(results)}"
    pictures.show(
        figure(curve, kind, n, title, theme.palette()), key="shift", of=shown.run,
        name=f"{shown.run.id}-{name}",
        title=f"{kind.title}, and every other corruption", alt=alt(curve, kind, n),
        table=lambda: table([results.curve(one) for one in every]),
        sees=sentence(curve, kind, n, shown.noun),
    )  # fmt: skip
