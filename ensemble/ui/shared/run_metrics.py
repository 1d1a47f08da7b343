"""What a run has reached, in figures: the answer that stands before any picture."""

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.datasets.registry import DatasetEntry
from ensemble.ui.train import history
from ensemble.wording import formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.runs import groups as groups_words
from ensemble.wording.runs import member_settings
from ensemble.wording.runs import training as training_words
from ensemble.wording.verdicts.ensemble_gain import describe_digits_caution


def show_run_metrics(run: runs.Run, rows: list[dict[str, Any]]) -> None:
    info = run.data
    last = history.find_latest_epoch_row(rows)
    reported = history.find_reported_epoch_row(run, rows)
    with st.container(horizontal=True, gap="medium", key="answer"):
        if reported:
            show_test_accuracy_metric(reported, info)
            if run.config.members > 1:
                show_mean_gain_metric(reported, info)
        elif run.active:
            st.metric(
                _format_accuracy_label(run.config.members, info),
                "–",
                width="content",
                help="Appears after the first epoch.",
            )
        _show_time_metric(run)
    if last and reported and (best := training_words.describe_best_epoch(run, reported, last)):
        st.caption(best)


def _format_accuracy_label(members: int, info: DatasetEntry) -> str:
    who = "Ensemble" if members > 1 else "Accuracy"
    return f"{who} on {formats.format_count(info.test_size, f'test {info.noun}')}"


def show_test_accuracy_metric(last: dict[str, Any], info: DatasetEntry) -> None:
    share = last.get("ensemble_test_accuracy")
    value = formats.format_percent(share, info.test_size)
    margin = formats.format_wilson_interval(share, info.test_size) if share is not None else ""
    st.metric(
        _format_accuracy_label(len(last["test_accuracy"]), info),
        f"{value} {margin}",
        width="content",
        help="The members' probabilities are averaged, and the likeliest class counts. Beside it "
        "the 95 % Wilson interval: ± half of it, or both ends where it is lopsided. "
        f"{describe_digits_caution(info.name)}".rstrip(),
    )


def show_mean_gain_metric(last: dict[str, Any], info: DatasetEntry) -> None:
    """How many more test images the ensemble gets right than its mean member."""
    shares = [share for share in last["test_accuracy"] if share is not None]
    if not shares or last.get("ensemble_test_accuracy") is None:
        return
    more = (last["ensemble_test_accuracy"] - fmean(shares)) * info.test_size
    spread, word = pstdev(shares) * info.test_size, info.noun
    st.metric(
        "Over the average member",
        formats.format_image_difference(more, word),
        width="content",
        help=f"The members themselves differ by ± {spread:.0f} {pluralize_noun(word)} (standard deviation).",
    )


def _show_time_metric(run: runs.Run) -> None:
    """The time left while it trains, else the time it took; in a cluster's queue apart."""
    status = run.status
    if waited := groups_words.compute_queue_seconds(run):
        st.metric(
            "In the queue",
            formats.format_duration(waited),
            width="content",
            help="Time in the cluster's queue before it started; not part of the training time.",
        )
    if run.state == "training":
        st.metric(
            "Time left",
            formats.format_duration(jobs_words.count_down_seconds_left(status)),
            width="content",
            help="Appears once its rate is steady.",
        )
    elif not run.active and status.seconds:
        st.metric(
            "Trained for",
            formats.format_duration(status.seconds),
            width="content",
            help=training_words.describe_training_speed(run) or None,
        )


def tabulate_member_metrics(
    last: dict[str, Any] | None, info: DatasetEntry, values: Mapping[str, Sequence[float]] | None = None
) -> dict[str, list[str]]:
    """Columns of the members' figures after an epoch, the ensemble first; {} before the first."""
    if not last:
        return {}
    whole = last.get("ensemble_test_accuracy")
    shares, losses = last["test_accuracy"], last["test_loss"]
    gaps = [None if share is None or whole is None else (share - whole) * info.test_size for share in shares]
    many = len(shares) > 1
    held = last.get("validation_loss")  # only where the run holds training images out
    first = {
        "member": "ensemble",
        "test accuracy": formats.format_percent(whole, info.test_size),
        "test NLL": formats.format_significant(last.get("ensemble_test_nll")),
        "validation NLL": formats.format_significant(last.get("ensemble_validation_nll")),
        "train NLL": formats.format_significant(last.get("ensemble_train_nll")),
        "gap to the ensemble": "",
    }
    each = {
        "member": [f"member {m + 1}" for m in range(len(shares))],
        "test accuracy": [formats.format_percent(share, info.test_size) for share in shares],
        "test NLL": [formats.format_significant(loss) for loss in losses],
        **({"validation NLL": [formats.format_significant(loss) for loss in held]} if held else {}),
        "train NLL": [formats.format_significant(loss) for loss in last["train_loss"]],
        "gap to the ensemble": [
            "–" if gap is None else formats.format_image_difference(gap, info.noun) for gap in gaps
        ],
    }
    own = {
        member_settings.SETTING_TITLES[name]: member_settings.format_distinct_values(member_values)
        for name, member_values in (values or {}).items()
    }
    each = {"member": each.pop("member"), **own, **each}
    first |= dict.fromkeys(own, "")
    return {name: [first[name], *column] if many else column for name, column in each.items()}
