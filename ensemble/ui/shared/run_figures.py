"""What a run has reached, in figures: the answer that stands before any picture."""

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.datasets.registry import Entry
from ensemble.ui.train import history
from ensemble.wording import formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.formats import plural
from ensemble.wording.runs import groups as groups_words
from ensemble.wording.runs import training as training_words
from ensemble.wording.runs import varied
from ensemble.wording.verdicts import chance, chosen


def show(run: runs.Run, rows: list[dict[str, Any]]) -> None:
    """The accuracy with its interval, the gain over the mean member, and the time."""
    info = run.data
    last = history.latest(rows)
    with st.container(horizontal=True, gap="medium", key="answer"):
        if last:
            accuracy(last, info)
            if run.config.members > 1:
                gain(last, info)
        elif run.active:
            st.metric(
                label(run.config.members, info),
                "–",
                width="content",
                help="Stands here after the first epoch.",
            )
        time_taken(run)
    if said := training_words.pace(run):
        st.caption(said)
    if last:
        best(run, last)


def label(members: int, info: Entry) -> str:
    """What the accuracy is of, and on what."""
    who = "Ensemble" if members > 1 else "Accuracy"
    return f"{who} on {formats.count(info.test_size, f'test {info.noun}')}"


def accuracy(last: dict[str, Any], info: Entry) -> None:
    """The ensemble's accuracy on the test images."""
    share = last.get("ensemble_test_accuracy")
    value = formats.percent(share, info.test_size)
    margin = formats.plus_minus(share, info.test_size) if share is not None else ""
    st.metric(
        label(len(last["test_accuracy"]), info),
        f"{value} {margin}",
        width="content",
        help="The members' probabilities are averaged, and the likeliest class counts. Beside it "
        "the 95 % Wilson interval: ± half of it, or both ends where it is not symmetric.",
    )


def gain(last: dict[str, Any], info: Entry) -> None:
    """How many more test images the ensemble gets right than its mean member."""
    shares = [share for share in last["test_accuracy"] if share is not None]
    if not shares or last.get("ensemble_test_accuracy") is None:
        return
    more = (last["ensemble_test_accuracy"] - fmean(shares)) * info.test_size
    spread, word = pstdev(shares) * info.test_size, info.noun
    st.metric(
        "Over the mean member",
        formats.digits(more, word),
        width="content",
        help=f"The members themselves differ by ± {spread:.0f} {plural(word)} (standard "
        "deviation).",
    )


def time_taken(run: runs.Run) -> None:
    """The time left while it trains, else the time it took; in a cluster's queue apart."""
    status = run.status
    if waited := groups_words.seconds_in_queue(run):
        st.metric(
            "In the queue",
            formats.duration(waited),
            width="content",
            help="Waited for a first place on the cluster. It is no part of the training time.",
        )
    if run.state == "training":
        st.metric(
            "Time left",
            formats.duration(jobs_words.seconds_left(status)),
            width="content",
            help="Stands here once its rate is steady.",
        )
    elif not run.active and status.seconds:
        st.metric("Trained for", formats.duration(status.seconds), width="content")


def best(run: runs.Run, last: dict[str, Any]) -> None:
    """The best epoch, where an earlier one was better than the last, and than guessing."""
    status = run.status
    share, reached = status.best_ensemble_test_accuracy, last.get("ensemble_test_accuracy")
    if chance.is_chance(share, run.data):
        return
    by_test = bool(share and reached and share > reached)
    by_validation = share is not None and status.best_epoch != last["epoch"]
    if by_validation if status.best_on == "validation" else by_test:
        said = formats.percent(share, run.data.test_size)
        st.caption(
            f"Best: {said} after epoch {status.best_epoch}, kept as a checkpoint; "
            f"{chosen.how(status.best_on)}."
        )


def member_table(
    rows: list[dict[str, Any]], info: Entry, values: Mapping[str, Sequence[float]] | None = None
) -> dict[str, list[str]]:
    """Columns of the members' latest figures, the ensemble first; {} before the first epoch.

    Args:
      rows: lines of the run's history.
      info: its dataset.
      values: the members' values of each setting that differs.
    """
    if not (last := history.latest(rows)):
        return {}
    whole = last.get("ensemble_test_accuracy")
    shares, losses = last["test_accuracy"], last["test_loss"]
    gaps = [
        None if share is None or whole is None else (share - whole) * info.test_size
        for share in shares
    ]
    many = len(shares) > 1
    held = last.get("validation_loss")  # only where the run holds training images out
    first = {
        "member": "ensemble",
        "test accuracy": formats.percent(whole, info.test_size),
        "test NLL": formats.significant(last.get("ensemble_test_nll")),
        "validation NLL": formats.significant(last.get("ensemble_validation_nll")),
        "train NLL": formats.significant(last.get("ensemble_train_nll")),
        "gap to the ensemble": "",
    }
    each = {
        "member": [f"member {m + 1}" for m in range(len(shares))],
        "test accuracy": [formats.percent(share, info.test_size) for share in shares],
        "test NLL": [formats.significant(loss) for loss in losses],
        **({"validation NLL": [formats.significant(loss) for loss in held]} if held else {}),
        "train NLL": [formats.significant(loss) for loss in last["train_loss"]],
        "gap to the ensemble": [
            "–" if gap is None else formats.digits(gap, info.noun) for gap in gaps
        ],
    }
    own = {varied.TITLES[name]: varied.texts(found) for name, found in (values or {}).items()}
    each = {"member": each.pop("member"), **own, **each}
    first |= dict.fromkeys(own, "")
    return {name: [first[name], *column] if many else column for name, column in each.items()}
