"""Steps two to five: averages, two kinds of doubt, what others would say, and what to do."""

import streamlit as st

from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.members.gain import gain_over_mean_member
from ensemble.analysis.quality.quality import measure_qualities
from ensemble.figures import probability_bars
from ensemble.ui.frame import plain_words
from ensemble.ui.render import read_view_choice
from ensemble.ui.shared import address, theme
from ensemble.ui.why import image_history
from ensemble.ui.why.selected_image import SelectedImage, show_image_beside, show_related_link, show_step_sentence
from ensemble.views import probability_path, selective
from ensemble.views import selective as selective_words
from ensemble.views import uncertainty as uncertainty_figure
from ensemble.views.answer import describe_answer_headline
from ensemble.views.selective import ERROR_RATE_CHOICE, ERROR_RATES, find_error_thresholds, has_too_few_images
from ensemble.views.uncertainty import UNCERTAINTY_GLOSS
from ensemble.wording import disagreement_steps, escaping
from ensemble.wording.verdicts import ensemble_gain as inspect_words

_OVER_LABELS = {"epochs": "Over the epochs", "members": "As members join"}


def _format_image_title(selected: SelectedImage, what: str) -> str:
    """What stands over a picture, so that a saved one says what it shows."""
    shared_epoch = selected.shared_epoch
    return f"{what} · {shared_epoch.noun} {selected.number} · {shared_epoch.source}"


def show_average_step(selected: SelectedImage) -> None:
    shared_epoch, number = selected.shared_epoch, selected.number
    predictions, names = shared_epoch.predictions, shared_epoch.class_names
    show_step_sentence(disagreement_steps.describe_averaging(predictions, number, names))
    with show_image_beside(selected):
        heading = _format_image_title(selected, "Probabilities")
        st.plotly_chart(
            probability_bars.plot_probability_bars(predictions, number, names, heading, theme.get_page_palette()),
            key="why_bars",
            alt=probability_bars.describe_probability_chart(predictions, number, names),
            config=probability_bars.build_chart_toolbar(f"{shared_epoch.file_stem}-{shared_epoch.noun}-{number}"),
        )
        st.caption(
            disagreement_steps.explain_averaging(
                shared_epoch.measure(measure_qualities), shared_epoch.n, selected.uses_plain_words
            )
        )
        show_related_link(selected, "inspect", "Other ways of combining", (address.VIEW, "combining"))


def show_uncertainty_step(selected: SelectedImage) -> None:
    shared_epoch, number = selected.shared_epoch, selected.number
    predictions, measures = (
        shared_epoch.predictions,
        shared_epoch.measure(compute_measures, uncertainty_figure.UNCERTAINTY_PARTS),
    )
    show_step_sentence(disagreement_steps.describe_uncertainty_rank(predictions, measures, number, shared_epoch.noun))
    with show_image_beside(selected):
        if shared_epoch.members == 1:
            st.info(
                f"Of one member there is only its own doubt. Two or more tell what is unclear "
                f"in the {shared_epoch.noun} from what they had too few like it to learn.",
                icon=":material/person:",
            )
            return
        palette = theme.get_page_palette()
        chart = uncertainty_figure.plot_uncertainty_scatter(
            predictions,
            measures,
            drawn=uncertainty_figure.select_drawn_images(predictions, measures),
            names=shared_epoch.class_names,
            noun=shared_epoch.noun,
            title=_format_image_title(selected, "Uncertainty"),
            palette=palette,
        )
        uncertainty_figure.mark_image_uncertainty(chart, measures, number, shared_epoch.noun, palette)
        st.plotly_chart(
            chart,
            key="why_uncertainty",
            config={"displayModeBar": False},
            alt=f"Aleatoric and epistemic of every {shared_epoch.noun}, this one ringed",
        )
        st.caption(
            disagreement_steps.describe_uncertainty_parts(measures, number, selected.uses_plain_words),
            help=UNCERTAINTY_GLOSS,
        )
        show_related_link(selected, "inspect", "Every image by its doubt", (address.VIEW, "uncertainty"))


def show_others_step(selected: SelectedImage) -> None:
    """The image over the epochs and with fewer members; what the ensemble gains on all images."""
    shared_epoch = selected.shared_epoch
    place = st.container()
    with show_image_beside(selected):
        over = address.select_address_option(
            address.OVER, "What changes", _OVER_LABELS, "epochs", label_visibility="collapsed"
        )
        what = "epoch" if over == "epochs" else "member"
        if what == "epoch":
            trace = image_history.load_image_history(selected)
            sentence = disagreement_steps.describe_answers_over_epochs(
                trace.predicted_classes, trace.positions.tolist(), shared_epoch.class_names
            )
        else:
            trace = probability_path.trace_over_members(shared_epoch.predictions, selected.number)
            sentence = disagreement_steps.describe_answers_over_members(
                trace.predicted_classes, shared_epoch.class_names
            )
        heading = _format_image_title(selected, _OVER_LABELS[over])
        st.plotly_chart(
            probability_path.plot_probability_path(
                trace, what, shared_epoch.class_names, heading, theme.get_page_palette()
            ),
            key=f"why_{over}",
            config={"displayModeBar": False},
            alt=sentence,
        )
        if shared_epoch.members > 1:
            st.caption(
                "Bold: the ensemble. Thin, in the members' colours: how probable each "
                f"finds what it is, {escaping.escape_markdown(selected.label)}."
            )
        _show_ensemble_gain(selected)
        show_related_link(selected, "inspect", "How many members are enough", (address.VIEW, "members"))
    with place:
        show_step_sentence(sentence)


def _show_ensemble_gain(selected: SelectedImage) -> None:
    shared_epoch = selected.shared_epoch
    if shared_epoch.members == 1:
        st.caption(describe_answer_headline(shared_epoch))
        return
    gain = shared_epoch.measure(gain_over_mean_member)
    st.caption(
        f"On all {shared_epoch.n:,}: {describe_answer_headline(shared_epoch)} "
        + plain_words.apply_plain_wording(
            inspect_words.describe_gain_evidence(shared_epoch.predictions, gain, shared_epoch.noun)
        )
    )


def show_decision_step(selected: SelectedImage) -> None:
    shared_epoch = selected.shared_epoch
    predictions, number = shared_epoch.predictions, selected.number
    if has_too_few_images(shared_epoch):
        show_step_sentence(f"Too few test images to find a threshold: look at this {shared_epoch.noun} yourself.")
        show_image_beside(selected)
        _show_next_links(selected)
        return
    rate = ERROR_RATES[read_view_choice(ERROR_RATE_CHOICE)]
    threshold = shared_epoch.measure(find_error_thresholds, rate, fitted=True)[0]
    show_step_sentence(
        disagreement_steps.describe_deferral(threshold, float(predictions.confidence[number]), shared_epoch.noun)
    )
    with show_image_beside(selected):
        ensemble, members = shared_epoch.measure(selective.compute_risk_coverage_curves)
        chart = selective.plot_risk_coverage(
            ensemble,
            members,
            rate=rate,
            threshold=threshold,
            title=_format_image_title(selected, "Risk by coverage"),
            palette=theme.get_page_palette(),
        )
        selective.mark_image_coverage(chart, predictions, number, shared_epoch.noun)
        st.plotly_chart(
            chart,
            key="why_selective",
            config={"displayModeBar": False},
            alt=selective.describe_risk_coverage_chart(ensemble, shared_epoch.n),
        )
        who = "the ensemble" if shared_epoch.members > 1 else "the one member"
        st.caption(selective_words.describe_selective_answer(threshold, rate, who, shared_epoch.noun))
        _show_next_links(selected)


def _show_next_links(selected: SelectedImage) -> None:
    """The ways on: the threshold, and an image of one's own."""
    noun = escaping.escape_markdown(selected.shared_epoch.noun)
    show_related_link(selected, "inspect", "Choose how many mistakes you accept", (address.VIEW, "selective"))
    if selected.shared_epoch.run.training_config:
        show_related_link(
            selected, "classify", f"Try {noun}s of your own" if noun == "digit" else "Try a picture of your own"
        )
