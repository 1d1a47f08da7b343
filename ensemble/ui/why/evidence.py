"""Steps two to five: averages, two kinds of doubt, what others would say, and what to do."""

import streamlit as st

from ensemble.analysis.members import uncertainty as uncertainties
from ensemble.analysis.members.gain import gain_over_mean
from ensemble.analysis.quality.summary import qualities
from ensemble.figures import bars
from ensemble.figures.inspect import along, selective
from ensemble.figures.inspect import uncertainty as uncertainty_figure
from ensemble.figures.inspect.uncertainty import GLOSS
from ensemble.ui.frame import plain_words
from ensemble.ui.render import read_choice
from ensemble.ui.shared import address, theme
from ensemble.ui.why import epochs
from ensemble.ui.why.opened import Opened, beside, link, sentence
from ensemble.views.answer import state_headline
from ensemble.views.selective import RATE, RATES, find_thresholds, is_too_small
from ensemble.wording import escaping, why
from ensemble.wording.verdicts import inspect as inspect_words
from ensemble.wording.verdicts import selective as selective_words

OVER = {"epochs": "Over the epochs", "members": "As members join"}


def title(opened: Opened, what: str) -> str:
    """What stands over a picture, so that a saved one says what it shows."""
    shown = opened.shown
    return f"{what} · {shown.noun} {opened.number} · {shown.source}"


def average(opened: Opened) -> None:
    """Each member's probabilities beside their average, and why these are averaged."""
    shown, number = opened.shown, opened.number
    made, names = shown.predictions, shown.class_names
    sentence(why.average(made, number, names))
    with beside(opened):
        heading = title(opened, "Probabilities")
        st.plotly_chart(
            bars.figure(made, number, names, heading, theme.palette()),
            key="why_bars",
            alt=bars.alt(made, number, names),
            config=bars.config(f"{shown.file_stem}-{shown.noun}-{number}"),
        )
        st.caption(why.why_average(shown.measure(qualities), shown.n, opened.plain))
        link(opened, "inspect", "Other ways of combining", (address.VIEW, "combining"))


def uncertainty(opened: Opened) -> None:
    """Where the image stands among all, by what is unclear in it and what is disputed."""
    shown, number = opened.shown, opened.number
    made, measures = shown.predictions, shown.measure(uncertainties.uncertainty)
    sentence(why.standing(made, measures, number, shown.noun))
    with beside(opened):
        if shown.members == 1:
            st.info(
                f"Of one member there is only its own doubt. Two or more tell what is unclear "
                f"in the {shown.noun} from what they had too few like it to learn.",
                icon=":material/person:",
            )
            return
        palette = theme.palette()
        chart = uncertainty_figure.figure(
            made,
            measures,
            uncertainty_figure.points(made, measures),
            shown.class_names,
            shown.noun,
            title(opened, "Uncertainty"),
            palette,
        )
        uncertainty_figure.point_out(chart, measures, number, shown.noun, palette)
        st.plotly_chart(
            chart,
            key="why_uncertainty",
            config={"displayModeBar": False},
            alt=f"Aleatoric and epistemic of every {shown.noun}, this one ringed",
        )
        st.caption(why.parts(measures, number, opened.plain), help=GLOSS)
        link(opened, "inspect", "Every image by its doubt", (address.VIEW, "uncertainty"))


def others(opened: Opened) -> None:
    """The image over the epochs and with fewer members; what the ensemble gains on all images."""
    shown = opened.shown
    place = st.container()
    with beside(opened):
        over = address.choose(
            address.OVER, "What changes", OVER, "epochs", label_visibility="collapsed"
        )
        what = "epoch" if over == "epochs" else "member"
        if what == "epoch":
            found = epochs.over(opened)
            said = why.over_epochs(found.said, found.at.tolist(), shown.class_names)
        else:
            found = along.over_members(shown.predictions, opened.number)
            said = why.over_members(found.said, shown.class_names)
        heading = title(opened, OVER[over])
        st.plotly_chart(
            along.figure(found, what, shown.class_names, heading, theme.palette()),
            key=f"why_{over}",
            config={"displayModeBar": False},
            alt=said,
        )
        if shown.members > 1:
            st.caption(
                "Bold: the ensemble. Thin, in the members' colours: how probable each "
                f"finds what it is, {escaping.markdown(opened.label)}."
            )
        gained(opened)
        link(opened, "inspect", "How many members are enough", (address.VIEW, "committee"))
    with place:
        sentence(said)


def gained(opened: Opened) -> None:
    """What the ensemble is better by than its mean member, on all test images."""
    shown = opened.shown
    if shown.members == 1:
        st.caption(state_headline(shown))
        return
    gain = shown.measure(gain_over_mean)
    st.caption(
        f"On all {shown.n:,}: {state_headline(shown)} "
        + plain_words.reworded(inspect_words.evidence(shown.predictions, gain, shown.noun))
    )


def passed_on(opened: Opened) -> None:
    """Whether the ensemble should answer the image, and the ways on."""
    shown = opened.shown
    made, number = shown.predictions, opened.number
    if is_too_small(shown):
        sentence(f"Too few test images to find a threshold: look at this {shown.noun} yourself.")
        beside(opened)
        onwards(opened)
        return
    rate = RATES[read_choice(RATE)]
    found = shown.measure(find_thresholds, rate, fitted=True)[0]
    sentence(why.passed_on(found, float(made.confidence[number]), shown.noun))
    with beside(opened):
        ensemble, members = shown.measure(selective.curves)
        chart = selective.figure(
            ensemble, members, rate, found, title(opened, "Risk by coverage"), theme.palette()
        )
        selective.point_out(chart, made, number, shown.noun)
        st.plotly_chart(
            chart,
            key="why_selective",
            config={"displayModeBar": False},
            alt=selective.alt(ensemble, shown.n),
        )
        who = "the ensemble" if shown.members > 1 else "the one member"
        st.caption(selective_words.answer(found, rate, who, shown.noun))
        onwards(opened)


def onwards(opened: Opened) -> None:
    """The ways on: the threshold, and an image of one's own."""
    noun = escaping.markdown(opened.shown.noun)
    link(opened, "inspect", "Choose how many mistakes you accept", (address.VIEW, "selective"))
    if opened.shown.run.trained:
        link(
            opened,
            "classify",
            f"Try {noun}s of your own" if noun == "digit" else "Try a picture of your own",
        )
