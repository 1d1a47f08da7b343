"""All runs as a table: how each stands, what it reached, what it is worth over its members."""

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

import pandas as pd

from ensemble import runs
from ensemble.datasets import registry
from ensemble.jobs.queue import QueuedJob, in_order, place_of
from ensemble.runs.annotations.notes import read_note
from ensemble.ui.predictions import downloads
from ensemble.ui.shared import settings
from ensemble.wording import escaping, formats
from ensemble.wording import groups as groups_words
from ensemble.wording import jobs as jobs_words
from ensemble.wording.run_names import called
from ensemble.wording.verdicts import chance, chosen

NOTE_SHOWN = 60


def table(shown: Sequence[runs.Run]) -> pd.DataFrame:
    """One row for each of the runs `shown`, in their order; shares in percent."""
    line = in_order()
    return pd.DataFrame([row(run, line) for run in shown], columns=list(COLUMNS))


# What a run reached stands before what it was set to: a phone shows the first four.
COLUMNS = ("name", "state", "best", "gain", "done", "last", "mean", "time", "data", "settings",
           "made", "note", "id", "size")  # fmt: skip


def row(run: runs.Run, line: Sequence[QueuedJob]) -> dict[str, Any]:
    """One run's figures."""
    status = run.status
    last, best = status.ensemble_test_accuracy, status.best_ensemble_test_accuracy
    members = [share for share in status.member_test_accuracy if share is not None]
    mean = fmean(members) if members else None
    gain = (last - mean) * run.data.test_size if len(members) > 1 and last and mean else None
    return {
        "name": called(run),
        "state": chance.in_a_word(run),
        "best": percentage(best),
        "last": percentage(last),
        "mean": percentage(mean) if len(members) > 1 else None,
        "done": done(run, line),
        "gain": None if gain is None else formats.nearest(gain),
        "time": formats.duration(status.seconds) if status.seconds else "–",
        "data": run.data.title,
        "settings": settings.summary(run.config),
        "made": datetime.fromtimestamp(status.created),
        "note": first_line(read_note(run)),
        "id": run.id,
        "size": run.data.test_size,
    }


def percentage(share: float | None) -> float | None:
    """A share in [0, 1] in percent."""
    return None if share is None else 100 * share


def first_line(note: str) -> str:
    """The beginning of a note."""
    line = note.split("\n", 1)[0]
    return line if len(line) <= NOTE_SHOWN else line[: NOTE_SHOWN - 1] + "…"


def done(run: runs.Run, line: Sequence[QueuedJob]) -> str:
    """How far a run is: "40 %", "3 of 10" epochs, or of one that waits "2 before it", "next".

    Of one of which not all groups are at work also that: "40 %, 2 of 4 groups".
    """
    status = run.status
    if run.state == "queued" and (place := groups_words.placed(run)):
        return f"in {groups_words.queue(place)}"
    if run.state == "queued":
        before = jobs_words.place([job for job in line if place_of(job) < place_of(run)])
        return before.removeprefix("queued, ")
    if run.state == "training" and status.steps:
        share = formats.progress(status.step / status.steps)
        return ", ".join(filter(None, (share, groups_words.at_work(run))))
    return f"{status.epoch:,} of {status.epochs:,}"


def answer(every: Sequence[runs.Run]) -> str:
    """How many runs there are, and how many of them are going on."""
    going = [
        f"{count:,} {state}" for state in runs.ACTIVE[::-1]
        if (count := sum(run.state == state for run in every))
    ]  # fmt: skip
    return ", ".join([formats.count(len(every), "run"), *going])


def best(every: Sequence[runs.Run]) -> str:
    """The best run on each dataset, and on what it was chosen.

    "Digits 97.8 % (my run) · MNIST 99.12 % (another); chosen on the test images: …"
    """
    said: dict[str, list[str]] = {}
    # What was imported says nothing of how it came: it is no rival of what was trained here.
    trained = [run for run in every if run.trained]
    for dataset in registry.names():
        if found := best_on(trained, dataset):
            run, on = found
            share = formats.percent(run.status.best_ensemble_test_accuracy, run.data.test_size)
            name = escaping.markdown(called(run))
            title = escaping.markdown(run.data.title)
            said.setdefault(on, []).append(f"{title} {share} ({name})")
    return ". ".join(f"{' · '.join(each)}; {chosen.how(on)}" for on, each in said.items())


def best_on(every: Sequence[runs.Run], dataset: str) -> tuple[runs.Run, str] | None:
    """The best run on one dataset, and what it was chosen on: "validation" or "test".

    By the validation NLL where all of them have one, by the test accuracy otherwise.
    """
    found = [run for run in every if run.config.dataset == dataset
             and (share := run.status.best_ensemble_test_accuracy) is not None
             and not chance.is_chance(share, run.data)]  # fmt: skip
    if not found:
        return None
    if all(run.status.best_ensemble_validation_nll is not None for run in found):
        return min(
            found, key=lambda run: run.status.best_ensemble_validation_nll or 0.0
        ), "validation"
    return max(found, key=lambda run: run.status.best_ensemble_test_accuracy or 0.0), "test"


def matching(
    every: Sequence[runs.Run],
    text: str = "",
    states: Sequence[str] = (),
    datasets: Sequence[str] = (),
) -> list[runs.Run]:
    """The runs that hold every word of `text` in name, id, settings or note, of these kinds.

    Args:
      every: runs to look through.
      text: words, in any case; "" for all.
      states: only these states; none of them for all.
      datasets: only these datasets; none of them for all.
    """
    words = text.casefold().split()
    return [
        run for run in every
        if (not states or run.state in states)
        and (not datasets or run.config.dataset in datasets)
        and (not words or all(word in spoken(run) for word in words))
    ]  # fmt: skip


def spoken(run: runs.Run) -> str:
    """All the words by which a run can be found."""
    said = (called(run), run.id, run.state, settings.summary(run.config), read_note(run))
    network = run.trained.network if run.trained else ""
    return " ".join([*said, run.config.dataset, run.data.title, network]).casefold()


def styled(frame: pd.DataFrame) -> "pd.io.formats.style.Styler":
    """The table with its figures as everywhere: "97.8 %", "+18"; the cells sort as numbers."""
    style = downloads.on_screen(frame)
    for size, rows in frame.groupby("size").groups.items():
        style = style.format(
            lambda share, n=int(str(size)): formats.percent(share / 100, n), na_rep="–",
            subset=(rows, ["best", "last", "mean"]),
        )  # fmt: skip
    return style.format(signed, na_rep="–", subset=["gain"])


def signed(gain: float) -> str:
    """A gain in images: "+18", "−1", "±0"."""
    return formats.digits(gain, "").strip().removesuffix(" s")


def export(shown: Sequence[runs.Run]) -> pd.DataFrame:
    """The runs with every setting and figure, as a program wants them: shares in [0, 1]."""
    return pd.DataFrame([exported(run) for run in shown])


def exported(run: runs.Run) -> dict[str, Any]:
    """One run: what it is, what it reached, what it was asked."""
    status = run.status
    members = [share for share in status.member_test_accuracy if share is not None]
    made = datetime.fromtimestamp(status.created, UTC).isoformat(timespec="seconds")
    return {
        "id": run.id, "name": run.name, "state": run.state, "made": made,
        "epoch": status.epoch, "seconds": status.seconds,
        "best_ensemble_test_accuracy": status.best_ensemble_test_accuracy,
        "best_epoch": status.best_epoch, "best_on": status.best_on,
        "last_ensemble_test_accuracy": status.ensemble_test_accuracy,
        "last_ensemble_test_nll": status.ensemble_test_nll,
        "last_mean_member_test_accuracy": fmean(members) if members else None,
        **run.config.as_dict(), "note": read_note(run),
    }  # fmt: skip
