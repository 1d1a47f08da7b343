"""The answer on top of Inspect: is the ensemble better than a member, by how much, how surely."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble.analysis.members.gain import gain_over_mean_member
from ensemble.analysis.members.subsets import MAX_MEMBERS_EXACT
from ensemble.analysis.quality.quality import EnsembleQualities, measure_qualities
from ensemble.ui.frame.plain_words import apply_plain_wording, choose_term_heading, is_plain_wording_on
from ensemble.ui.inspect.metrics import METRIC_HELP, describe_ece_metric, show_inspect_metrics
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import controls, downloads
from ensemble.ui.render import read_view_choice
from ensemble.ui.shared.tab import tab
from ensemble.views import how_many_members as committee_words
from ensemble.views.answer import describe_answer_headline, list_answer_evidence
from ensemble.views.how_many_members import KEEP_CHOICE, MARGIN_VALUES, SHARES, decide_enough_members, offer_margins
from ensemble.views.member_faults import list_broken_members, list_epoch_member_faults
from ensemble.wording import formats
from ensemble.wording.escaping import escape_markdown
from ensemble.wording.terms import format_term_help
from ensemble.wording.verdicts import ensemble_gain as inspect_words

_INTERVAL_COLUMNS = ("accuracy low", "accuracy high")
_INTERVAL_HELP = {"from": "The lower end of the 95 % Wilson interval of the accuracy.", "to": "The upper end of it."}
_COMMITTEE_HINT = "See *How many members?* for how many are enough."
_JUDGING_NOTE = "Judging how many members are enough …"


@dataclass(frozen=True)
class _AnswerPlaces:
    """Where on the screen comes what is drawn later.

    Attributes:
      enough_members: how many members are enough: see `complete_inspect_answer`.
      details: all figures and what they hold for, folded away.
      metrics: the row of figures.
    """

    enough_members: DeltaGenerator
    details: DeltaGenerator
    metrics: DeltaGenerator


def show_inspect_answer(shared: SharedEpoch) -> _AnswerPlaces:
    """Draw both verdicts and a line of evidence; returns the places of what comes later."""
    for claim, evidence in list_epoch_member_faults(shared):
        text = f"**{escape_markdown(claim)}**  \n{apply_plain_wording(escape_markdown(evidence))}"
        st.warning(text, icon=":material/person_alert:")
    st.markdown(f"#### {describe_answer_headline(shared)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(gap="xxsmall", key="verdicts"):
            place = st.empty()
            # Its end is remembered, so that it does not come and go with each press.
            rest = (
                tab.sufficient_member_texts.get(_build_verdict_key(shared), _JUDGING_NOTE)
                if _can_count_committees(shared)
                else ""
            )
            if shared.members > MAX_MEMBERS_EXACT:
                rest = _COMMITTEE_HINT
            with place:
                st.markdown(rest)
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                if shared.members > 1:
                    gained = shared.measure(gain_over_mean_member)
                    gain_evidence = inspect_words.summarize_gain_evidence(shared.predictions, gained, shared.noun)
                    st.caption(apply_plain_wording(gain_evidence), width="content")
                behind = st.popover("Figures", type="tertiary", key="behind")
        controls.show_predictions_epoch_slider(shared.epochs, shared.epoch, shared.run)
    with behind:
        metrics = st.container(horizontal=True, gap="medium", key="figures")
        inner = st.container(key="behind_figures")
    return _AnswerPlaces(place, inner, metrics)


def _build_answer_key(shared: SharedEpoch) -> tuple[Any, ...]:
    return shared.run.id, shared.epoch, shared.version


def _build_verdict_key(shared: SharedEpoch) -> tuple[Any, ...]:
    """What the end of the sentence is of: also of the margin that is accepted, and of whom."""
    return *_build_answer_key(shared), *_read_accepted_margin()


def _read_accepted_margin() -> tuple[float, float]:
    margin, share = read_view_choice(offer_margins("accuracy")), read_view_choice(KEEP_CHOICE)
    return MARGIN_VALUES["accuracy"][margin], SHARES[share]


def _can_count_committees(shared: SharedEpoch) -> bool:
    return 1 < shared.members <= MAX_MEMBERS_EXACT


def complete_inspect_answer(shared: SharedEpoch, places: _AnswerPlaces) -> None:
    """Complete the answer with how many members are enough: after all else is drawn."""
    if not _can_count_committees(shared):
        return
    sufficient_size = decide_enough_members(shared, "accuracy", *_read_accepted_margin())
    rest = committee_words.describe_enough_members(
        sufficient_size, shared.noun, may_keep_all=not list_broken_members(shared)
    )
    tab.sufficient_member_texts = {_build_verdict_key(shared): rest}
    with places.enough_members:
        st.markdown(rest)


def show_answer_metrics(shared: SharedEpoch, places: _AnswerPlaces) -> None:
    with places.metrics:
        show_inspect_metrics(shared)
    with places.details:
        _show_answer_details(shared)


def _show_answer_details(shared: SharedEpoch) -> None:
    st.caption("\n\n".join(map(apply_plain_wording, list_answer_evidence(shared))))
    _show_quality_table(shared, shared.measure(measure_qualities))


def _show_quality_table(shared: SharedEpoch, qualities: EnsembleQualities) -> None:
    """Every figure of the ensemble, the average member and each member; and as a file."""
    columns = {
        name: st.column_config.NumberColumn(
            choose_term_heading(name),
            help=format_term_help(name, text, is_plain_wording_on()),
            format=_select_column_format(name, shared.n),
            width="small",
        )
        for name, text in (METRIC_HELP | {"ECE": describe_ece_metric(shared)} | _INTERVAL_HELP).items()
    }
    st.dataframe(
        _tabulate_qualities(qualities),
        column_config=columns,
        hide_index=True,
        key="inspect_figures",
        height=min(38 * (shared.members + 3), 300),
    )
    st.download_button(
        "Figures (CSV)",
        lambda: downloads.encode_table_csv(inspect_words.tabulate_exact_metrics(qualities)),
        f"{shared.file_stem}-quality.csv",
        "text/csv",
        icon=":material/table:",
        key="inspect_figures_csv",
        on_click="ignore",
    )


def _select_column_format(name: str, n: int) -> str:
    return formats.build_percent_format(n) if name in {"accuracy", *_INTERVAL_HELP} else "%.4f"


def _tabulate_qualities(qualities: EnsembleQualities) -> pd.DataFrame:
    """The figures to look at: percentages of accuracy and both ends of its interval."""
    exact = inspect_words.tabulate_exact_metrics(qualities).rename(
        columns=dict(zip(_INTERVAL_COLUMNS, _INTERVAL_HELP, strict=True))
    )
    exact[["accuracy", *_INTERVAL_HELP]] *= 100
    return exact
