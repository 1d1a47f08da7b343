"""Steps two to five: averages, two kinds of doubt, what others would say, and what to do."""

import streamlit as st

from ensemble.analysis.members import uncertainty as uncertainties
from ensemble.analysis.members.gain import gain_over_mean_member
from ensemble.analysis.quality.quality import measure_qualities
from ensemble.figures import probability_bars
from ensemble.figures.inspect import probability_path, selective
from ensemble.figures.inspect import uncertainty as uncertainty_figure
from ensemble.figures.inspect.uncertainty import UNCERTAINTY_GLOSS
from ensemble.ui.frame import plain_words
from ensemble.ui.render import read_view_choice
from ensemble.ui.shared import address, theme
from ensemble.ui.why import image_history
from ensemble.ui.why.selected_image import (
    SelectedImage,
    show_image_beside,
    show_related_link,
    show_step_sentence,
)
from ensemble.views.answer import describe_answer_headline
from ensemble.views.selective import (
    ERROR_RATE_CHOICE,
    ERROR_RATES,
    find_error_thresholds,
    has_too_few_images,
)
from ensemble.wording import disagreement_steps, escaping
from ensemble.wording.verdicts import ensemble_gain as inspect_words
from ensemble.wording.verdicts import selective as selective_words

OVER_LABELS = {"epochs": "Over the epochs", "members": "As members join"}


def format_image_title(opened: SelectedImage, what: str) -> str:
    """What stands over a picture, so that a saved one says what it shows."""
    shown = opened.shared_epoch
    return f"{what} · {shown.noun} {opened.number} · {shown.source}"


def show_average_step(opened: SelectedImage) -> None:
    """Each member's probabilities beside their average, and why these are averaged."""
    shown, number = opened.shared_epoch, opened.number
    made, names = shown.predictions, shown.class_names
    show_step_sentence(disagreement_steps.describe_averaging(made, number, names))
    with show_image_beside(opened):
        heading = format_image_title(opened, "Probabilities")
        st.plotly_chart(
            probability_bars.plot_probability_bars(
                made, number, names, heading, theme.get_page_palette()
            ),
            key="why_bars",
            alt=probability_bars.describe_probability_chart(made, number, names),
            config=probability_bars.build_chart_toolbar(f"{shown.file_stem}-{shown.noun}-{number}"),
        )
        st.caption(
            disagreement_steps.explain_averaging(
                shown.measure(measure_qualities), shown.n, opened.uses_plain_words
            )
        )
        show_related_link(opened, "inspect", "Other ways of combining", (address.VIEW, "combining"))


def show_uncertainty_step(opened: SelectedImage) -> None:
    """Where the image stands among all, by what is unclear in it and what is disputed."""
    shown, number = opened.shared_epoch, opened.number
    made, measures = shown.predictions, shown.measure(uncertainties.measure_uncertainty)
    show_step_sentence(
        disagreement_steps.describe_uncertainty_rank(made, measures, number, shown.noun)
    )
    with show_image_beside(opened):
        if shown.members == 1:
            st.info(
                f"Of one member there is only its own doubt. Two or more tell what is unclear "
                f"in the {shown.noun} from what they had too few like it to learn.",
                icon=":material/person:",
            )
            return
        palette = theme.get_page_palette()
        chart = uncertainty_figure.plot_uncertainty_scatter(
            made,
            measures,
            uncertainty_figure.select_drawn_images(made, measures),
            shown.class_names,
            shown.noun,
            format_image_title(opened, "Uncertainty"),
            palette,
        )
        uncertainty_figure.mark_image_uncertainty(chart, measures, number, shown.noun, palette)
        st.plotly_chart(
            chart,
            key="why_uncertainty",
            config={"displayModeBar": False},
            alt=f"Aleatoric and epistemic of every {shown.noun}, this one ringed",
        )
        st.caption(
            disagreement_steps.describe_uncertainty_parts(
                measures, number, opened.uses_plain_words
            ),
            help=UNCERTAINTY_GLOSS,
        )
        show_related_link(
            opened, "inspect", "Every image by its doubt", (address.VIEW, "uncertainty")
        )


def show_others_step(opened: SelectedImage) -> None:
    """The image over the epochs and with fewer members; what the ensemble gains on all images."""
    shown = opened.shared_epoch
    place = st.container()
    with show_image_beside(opened):
        over = address.select_address_option(
            address.OVER, "What changes", OVER_LABELS, "epochs", label_visibility="collapsed"
        )
        what = "epoch" if over == "epochs" else "member"
        if what == "epoch":
            found = image_history.load_image_history(opened)
            said = disagreement_steps.describe_answers_over_epochs(
                found.predicted_classes, found.positions.tolist(), shown.class_names
            )
        else:
            found = probability_path.trace_over_members(shown.predictions, opened.number)
            said = disagreement_steps.describe_answers_over_members(
                found.predicted_classes, shown.class_names
            )
        heading = format_image_title(opened, OVER_LABELS[over])
        st.plotly_chart(
            probability_path.plot_probability_path(
                found, what, shown.class_names, heading, theme.get_page_palette()
            ),
            key=f"why_{over}",
            config={"displayModeBar": False},
            alt=said,
        )
        if shown.members > 1:
            st.caption(
                "Bold: the ensemble. Thin, in the members' colours: how probable each "
                f"finds what it is, {escaping.escape_markdown(opened.label)}."
            )
        show_ensemble_gain(opened)
        show_related_link(
            opened, "inspect", "How many members are enough", (address.VIEW, "committee")
        )
    with place:
        show_step_sentence(said)


def show_ensemble_gain(opened: SelectedImage) -> None:
    """What the ensemble is better by than its mean member, on all test images."""
    shown = opened.shared_epoch
    if shown.members == 1:
        st.caption(describe_answer_headline(shown))
        return
    gain = shown.measure(gain_over_mean_member)
    st.caption(
        f"On all {shown.n:,}: {describe_answer_headline(shown)} "
        + plain_words.apply_plain_wording(
            inspect_words.describe_gain_evidence(shown.predictions, gain, shown.noun)
        )
    )


def show_decision_step(opened: SelectedImage) -> None:
    """Whether the ensemble should answer the image, and the ways on."""
    shown = opened.shared_epoch
    made, number = shown.predictions, opened.number
    if has_too_few_images(shown):
        show_step_sentence(
            f"Too few test images to find a threshold: look at this {shown.noun} yourself."
        )
        show_image_beside(opened)
        show_next_links(opened)
        return
    rate = ERROR_RATES[read_view_choice(ERROR_RATE_CHOICE)]
    found = shown.measure(find_error_thresholds, rate, fitted=True)[0]
    show_step_sentence(
        disagreement_steps.describe_deferral(found, float(made.confidence[number]), shown.noun)
    )
    with show_image_beside(opened):
        ensemble, members = shown.measure(selective.compute_risk_coverage_curves)
        chart = selective.plot_risk_coverage(
            ensemble,
            members,
            rate,
            found,
            format_image_title(opened, "Risk by coverage"),
            theme.get_page_palette(),
        )
        selective.mark_image_coverage(chart, made, number, shown.noun)
        st.plotly_chart(
            chart,
            key="why_selective",
            config={"displayModeBar": False},
            alt=selective.describe_risk_coverage_chart(ensemble, shown.n),
        )
        who = "the ensemble" if shown.members > 1 else "the one member"
        st.caption(selective_words.describe_selective_answer(found, rate, who, shown.noun))
        show_next_links(opened)


def show_next_links(opened: SelectedImage) -> None:
    """The ways on: the threshold, and an image of one's own."""
    noun = escaping.escape_markdown(opened.shared_epoch.noun)
    show_related_link(
        opened, "inspect", "Choose how many mistakes you accept", (address.VIEW, "selective")
    )
    if opened.shared_epoch.run.training_config:
        show_related_link(
            opened,
            "classify",
            f"Try {noun}s of your own" if noun == "digit" else "Try a picture of your own",
        )
