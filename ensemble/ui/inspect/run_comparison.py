"""Compare: this run against another on the same test images, digit by digit."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from ensemble import architectures, runs
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.comparison.image_identity import have_same_images
from ensemble.comparison.run_measures import select_compared_epoch
from ensemble.comparison.seed_groups import SeedComparison, compare_seed_groups
from ensemble.errors import EnsembleError
from ensemble.ui.inspect import images
from ensemble.ui.inspect.all_runs_comparison import measure_gain_over_run, show_comparison_with_all
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import controls, loader
from ensemble.ui.shared import address, guard, loaders, seed_launch, settings, theme, widget_state
from ensemble.ui.shared import figure_panel as pictures
from ensemble.views import run_comparison
from ensemble.views.run_comparison import (
    MAX_CLASSES,
    count_wins_by_class,
    find_won_and_lost,
    plot_wins_by_class,
    tabulate_won_and_lost,
)
from ensemble.wording import escaping, formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.run_names import format_run_name, format_unique_run_name
from ensemble.wording.verdicts.ensemble_gain import describe_compared_digits_caution

_DETAIL_LABELS = {"won": "Won", "lost": "Lost", "settings": "Settings that differ", "all": "Against all runs"}
_OFFERED_SEEDS = (seed_launch.SEEDS_PER_SETTING, 5)  # of which it is said what they would show


def show_run_comparison(shared: SharedEpoch) -> None:
    comparable_runs = find_comparable_runs(shared.run)
    if not comparable_runs:
        _show_no_comparable_run(shared)
        return
    other, epoch = _select_other_run(shared.run, comparable_runs)
    try:
        other_predictions = loader.load_test_predictions(other, epoch)
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    gain_over_run = measure_gain_over_run(shared, other, epoch)
    other_name, noun = escaping.escape_markdown(format_run_name(other)), shared.noun
    seeds = _compare_over_seeds(shared, other, epoch)
    if seeds and seeds.has_same_settings:
        other_name = f"with seed {runs.require_training_config(other).seed}"
    claim = run_comparison.describe_run_comparison(gain_over_run, other_name, noun, seeds)
    st.markdown(f"##### {claim}")
    sentences = (
        run_comparison.describe_seed_evidence(seeds, noun),
        run_comparison.describe_comparison_evidence(gain_over_run, noun),
        describe_compared_digits_caution([shared.run.config.dataset]),
        run_comparison.describe_pair_choice(len(comparable_runs)),
    )
    st.caption(" ".join(filter(None, sentences)))
    if seeds and not seeds.has_same_settings:
        _show_seed_offer(seeds)
    _show_won_lost_chart(shared, other_predictions, other, epoch)
    _show_comparison_details(shared, other_predictions, other, comparable_runs)


def _compare_over_seeds(shared: SharedEpoch, other: runs.Run, epoch: int) -> SeedComparison | None:
    """What runs of both settings show, after the epochs that are shown.

    None where one of the two cannot be read, or is shown after another epoch than the one at which
    runs are compared: nothing would be known of other seeds there.
    """
    try:
        shown = (shared.run, shared.epoch), (other, epoch)
        if any(select_compared_epoch(run)[0] != its_epoch for run, its_epoch in shown):
            return None
        return compare_seed_groups(shared.run, other, loaders.list_cached_runs())
    except EnsembleError:
        return None


def _show_seed_offer(seeds: SeedComparison) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="compare_seeds"):
        seed_launch.show_seed_launch((seeds.runs[0], seeds.other_runs[0]), "compare_train_seeds")
        if min(len(seeds.runs), len(seeds.other_runs)) < seed_launch.SEEDS_PER_SETTING:
            chance = run_comparison.describe_seed_power(seeds, _OFFERED_SEEDS)
            st.caption(chance, width="content")


def find_comparable_runs(run: runs.Run) -> list[runs.Run]:
    return [
        other
        for other in loaders.list_cached_runs()
        if other.id != run.id and have_same_images(run, other) and runs.list_prediction_epochs(other.id)
    ]


def _show_no_comparable_run(shared: SharedEpoch) -> None:
    """There is no other run to compare with: say so, and the next step."""
    title, same = (escaping.escape_markdown(shared.run.data.title), formats.format_count(shared.n, shared.noun))
    if shared.run.training_config is None:
        st.info(
            f"There is no other run on the same {escaping.escape_markdown(same)} in the same order. "
            "Import another model's predictions of them, and they can be compared here; "
            "`ensemble export` writes the test images of a run that was trained here.",
            icon=":material/compare_arrows:",
        )
        st.page_link("pages/runs.py", label="Import another", icon=":material/arrow_forward:")
        return
    st.info(
        f"There is no other run on {title} with predictions. Train a second one, with other "
        "settings or another seed, or import what another model says of the images that "
        "`ensemble export` writes, and it can be compared here.",
        icon=":material/compare_arrows:",
    )
    st.page_link(
        "pages/train.py",
        label="Train another",
        icon=":material/arrow_forward:",
        query_params=address.RUN.build_query(shared.run.id),
    )


def _select_other_run(run: runs.Run, other_runs: Sequence[runs.Run]) -> tuple[runs.Run, int]:
    """Controls for the other run and its epoch; what they say stands in the address."""
    wanted = address.WITH.read()
    names = {other.id: f"{format_unique_run_name(other)} · {other.state}" for other in other_runs}
    chosen = wanted if wanted in names else other_runs[0].id
    if wanted and wanted != chosen:
        why = "That is this same run" if wanted == run.id else "That run cannot be compared"
        st.caption(f"{why}; here it is compared with another.")
    address.WITH.set_value(chosen)
    other = next(candidate for candidate in other_runs if candidate.id == chosen)
    epochs = runs.list_prediction_epochs(other.id)
    address_epoch = address.WITH_EPOCH.read()
    usual = runs.select_default_epoch(other, epochs)
    epoch = address_epoch if address_epoch in epochs and address_epoch is not None else usual
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        address.show_address_widget(
            f"compare_with_{controls.hash_options(names.values())}",
            chosen,
            lambda key: widget_state.draw_widget(
                st.selectbox,
                "Compare with",
                list(names),
                format_func=names.__getitem__,
                key=key,
                width=420,
                on_change=_update_other_run_address,
                args=(key,),
                help="Runs on the same test images.",
            ),
        )
        if len(epochs) > 1:
            address.show_address_widget(
                f"compare_epoch_{controls.hash_options(epochs)}",
                epoch,
                lambda key: widget_state.draw_widget(
                    st.select_slider,
                    "Its epoch",
                    epochs,
                    key=key,
                    width=260,
                    on_change=_update_other_run_epoch,
                    args=(key, usual),
                ),
            )
        st.page_link(
            "pages/compare.py",
            label="Compare more than two",
            width="content",
            icon=":material/arrow_forward:",
            query_params=address.RUNS.build_query((run.id, other.id)),
        )
    return other, epoch


def _update_other_run_address(key: str) -> None:
    """Callback: another run to compare with, at its usual epoch."""
    address.WITH.set_value(widget_state.get_widget_value(key))
    address.WITH_EPOCH.set_value(None)


def _update_other_run_epoch(key: str, usual: int) -> None:
    """Callback: another epoch of the other run."""
    address.WITH_EPOCH.set_value(widget_state.get_widget_value(key), usual)


def _show_won_lost_chart(
    shared: SharedEpoch, other_predictions: EnsemblePredictions, other: runs.Run, epoch: int
) -> None:
    won, lost = find_won_and_lost(shared.predictions, other_predictions)
    counts = count_wins_by_class(shared.predictions.labels, won, lost, len(shared.class_names))
    title = f"Right in only one run · {shared.source}, against {format_run_name(other)} · epoch {epoch}"
    pictures.show_figure_panel(
        plot_wins_by_class(counts, shared.class_names, shared.noun, title, theme.get_page_palette()),
        key="compare",
        job=shared.run,
        epoch=shared.epoch,
        name=f"{shared.file_stem}-against-{other.id}-epoch-{epoch}",
        title="Right in only one run, by class",
        alt=f"Of each class, {pluralize_noun(shared.noun)} that only one of the two runs "
        f"gets right: {len(won):,} won, {len(lost):,} lost",
        table=lambda: tabulate_won_and_lost(shared.predictions, other_predictions, shared.class_names),
        sees=f"By what it is: {pluralize_noun(shared.noun)} that only this run gets right "
        "(won, blue, up) and that only the other does (lost, orange, "
        f"down).{_describe_omitted_classes(len(shared.class_names))}",
    )


def _describe_omitted_classes(classes: int) -> str:
    if classes <= MAX_CLASSES:
        return ""
    return f" Of {classes:,} classes the {MAX_CLASSES} with the most of both."


def _show_comparison_details(
    shared: SharedEpoch, other_predictions: EnsemblePredictions, other: runs.Run, other_runs: Sequence[runs.Run]
) -> None:
    won, lost = find_won_and_lost(shared.predictions, other_predictions)
    name = address.select_address_option(
        address.SIDE, "Show", _DETAIL_LABELS, "won", width="content", label_visibility="collapsed"
    )
    if name == "settings":
        _show_differing_settings(shared.run, other)
        return
    if name == "all":
        show_comparison_with_all(shared, other_runs)
        return
    numbers = won if name == "won" else lost
    who = "this run" if name == "won" else escaping.escape_markdown(format_run_name(other))
    if not len(numbers):
        st.caption(f"There is no {shared.noun} that only {who} gets right.")
        return
    st.caption(
        f"{formats.format_count(len(numbers), shared.noun)} that only {who} gets right, this run's surest first."
    )
    images.show_image_page(
        shared,
        numbers,
        key=f"compare_{name}",
        under=lambda number: _list_other_answer(other_predictions, number, shared.class_names),
    )


def _list_other_answer(other_predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> list[str]:
    sure = formats.format_probability(other_predictions.confidence[number])
    return [f"other {names[other_predictions.said[number]]}", sure]


def _show_differing_settings(run: runs.Run, other: runs.Run) -> None:
    frame = _tabulate_differing_settings(run, other)
    if frame.empty:
        st.caption("Both runs have the same settings.")
    else:
        st.dataframe(frame, hide_index=True, key="compare_settings", width="content")


def _tabulate_differing_settings(run: runs.Run, other: runs.Run) -> pd.DataFrame:
    """One row for each setting that differs: its name, and the value in either run."""
    first, second = run.config.as_dict(), other.config.as_dict()
    return pd.DataFrame(
        [
            {
                "setting": settings.format_setting_title(name),
                "this run": _format_compared_setting(name, first[name]),
                "the other": _format_compared_setting(name, second[name]),
            }
            for name in first
            if first[name] != second[name]
        ]
    )


def _format_compared_setting(name: str, setting: Any) -> str:
    if name == "network":
        return architectures.format_network_title(setting)
    if isinstance(setting, bool):
        return "yes" if setting else "no"
    return setting if isinstance(setting, str) else settings.format_slider_value(setting)
