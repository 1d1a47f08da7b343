"""The threshold of "not a digit": how it was set, what it turns away, and how strict it is."""

from typing import TYPE_CHECKING

import streamlit as st

from ensemble import datasets
from ensemble.figures.rejection import alt, figure, shares, table
from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats
from ensemble.wording import images as images_words
from ensemble.wording import marks as marks_words

if TYPE_CHECKING:  # it draws in JAX
    from ensemble.recognition.rejection_threshold import Gate

CHOICES = (1, 2, 3, 5, 10)  # per cent

SCORE = (
    "A score says how strange a mark is to the members: how rare it is among held-out real "
    "ones. The threshold is the score that this share of them exceeds. Each dot is an image: blue "
    "where it is treated rightly, orange where a real one is turned away or a stranger let through."
)


def show(shown: Shown) -> None:
    """The control, what it comes to, the scores behind it, and a row for each kind."""
    noun = images_words.noun(shown.names)
    control(shown, noun)
    with st.spinner(f"Showing {noun}s and strangers to the members, once", show_time=True):
        gate = shown.classifier.gate(shown.refuse)
    known = datasets.info(shown.run.config.dataset).title
    title = f"Turned away or let through · {shown.source}"
    pictures.show(
        figure(gate, shown.digit.score, known, title, theme.palette()),
        key="classify_gate", name=f"{shown.stem}-threshold", title="Scores and threshold",
        alt=alt(gate, known), table=lambda: table(gate, known, shown.digit.score),
        sees=sentence(gate, noun), help=SCORE,
    )  # fmt: skip
    st.dataframe(shares(gate, known, noun), hide_index=True, key="classify_gate_table",
                 width="content")  # fmt: skip
    st.caption(marks_words.threshold_set_on(gate, known))


def control(shown: Shown, noun: str) -> None:
    """How many real digits may be turned away; what it says stands in the address."""
    now = round(100 * shown.refuse)
    options = {str(one): formats.percent(one / 100, figures=2) for one in sorted({*CHOICES, now})}
    address.choose(
        address.REFUSE, f"Real {noun}s that may be turned away", options,
        str(address.REFUSE.default),
        help="The fewer real ones are turned away, the more strangers pass for one.",
    )  # fmt: skip


def sentence(gate: "Gate", noun: str) -> str:
    """What the gate keeps, how well that is read, and what it turns away."""
    kept = formats.percent(gate.kept, gate.judged)
    said = f"It lets **{kept}** of other real {noun}s through"
    if gate.kept:
        right = "all" if gate.accuracy == 1 else formats.percent(gate.accuracy, gate.judged)
        said += f" and reads {right} of these right"
    if not gate.strangers:
        return f"{said}."
    low, high = (bound(one.share for one in gate.strangers) for bound in (min, max))
    turned = formats.percent(low, 500)
    if turned != formats.percent(high, 500):
        turned = f"{turned} to {formats.percent(high, 500)}"
    kinds = "the strangers" if len(gate.strangers) == 1 else "each kind of strangers"
    return f"{said}; of {kinds} it turns away **{turned}**."
