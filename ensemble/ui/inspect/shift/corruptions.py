"""Shift: what becomes of the ensemble on images that are not like those it learnt from.

The members have to be asked anew, which takes minutes: a job does it, and this view starts
and stops the job, shows how far it is, and what it has found so far.
"""

from collections.abc import Sequence
from statistics import fmean

import streamlit as st

from ensemble import shift
from ensemble.figures.inspect.shift import Figures, alt, amount, figure, table
from ensemble.shift import Results
from ensemble.shift.corruptions import Kind, kinds
from ensemble.ui.inspect.shift import job, ood
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared.guard import guarded
from ensemble.wording import formats
from ensemble.wording.formats import plural
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
    title = f"{kind.title} · {called(shown.run)} · {job.place(results)}"
    pictures.show(
        figure(curve, kind, n, title, theme.palette()), key="shift", name=f"{shown.run.id}-{name}",
        title=f"{kind.title}, and every other corruption", alt=alt(curve, kind, n),
        table=lambda: table([results.curve(one) for one in every]),
        sees=sentence(curve, kind, n, shown.noun),
    )  # fmt: skip


def sentence(curve: Sequence[Figures], kind: Kind, n: int, noun: str) -> str:
    """What becomes of accuracy and uncertainty, from the images as they are to the worst."""
    clean, worst = curve[0], curve[-1]
    many = len(clean["member_accuracy"]) > 1
    who = "the ensemble's" if many else "the one member's"
    before = (
        f"from {formats.percent(clean['ensemble_accuracy'], n)} on the {plural(noun)} as they are"
    )
    said = f"At {amount(kind, worst['amount'])} {who} accuracy is "
    said += f"**{formats.percent(worst['ensemble_accuracy'], n)}**, "
    nll = f"Its NLL is {nats(worst['ensemble_nll'])}"
    if not many:
        return f"{said}{before}. {nll}, from {nats(clean['ensemble_nll'])}."
    gain = (worst["ensemble_accuracy"] - fmean(worst["member_accuracy"])) * n
    said += f"{formats.digits(gain, noun)} over the mean member's, {before}. "
    said += f"{nll}, the mean member's {nats(fmean(worst['member_nll']))}. "
    return said + notices(clean["mean_information"], worst["mean_information"])


def notices(clean: float, worst: float) -> str:
    """Whether the members disagree more where they are more often wrong."""
    figures = f"mutual information goes from {nats(clean)} to {nats(worst)} nats"
    if worst >= 1.5 * clean:
        return f"The members notice: {figures}, so they disagree more."
    if worst > clean:
        return f"The members hardly notice: {figures}."
    return f"The members do not notice: {figures}, so they disagree no more than before."


def nats(value: float) -> str:
    """A figure in nats, to three significant figures."""
    return formats.significant(value)
