"""What a sweep has found so far: its best settings, what they came to, and on which images."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from ensemble import runs, sweeps
from ensemble.comparison.settings import in_words
from ensemble.datasets.split import held_out
from ensemble.errors import RunError
from ensemble.figures.comparison.trials import SHORT, say
from ensemble.sweeps import Sweep, Trial
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words

STATES = {
    "complete": "complete",
    "running": "running",
    "pruned": "pruned (ended early)",
    "failed": "failed",
}
OPTIMISTIC = (
    "The best of several looks better than it is on the images that it was chosen on: chance helps "
    "the winner. The test images had no part in the choice."
)


def params(trial: Trial) -> str:
    """A trial's settings: "rate 0.0316, momentum 0.9"."""
    return ", ".join(in_words(name, value) for name, value in trial.params.items())


def show(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """The best settings in a sentence, what they came to, and how the trials ended."""
    best = sweeps.best(sweep, list(trials)) if trials else None
    if best is None:
        st.markdown("#### No trial has come to its end yet")
    else:
        st.markdown(f"#### {verdict(sweep, trials, best)}")
    with st.container(horizontal=True, gap="medium", key="tune_answer"):
        if best:
            values(sweep, trials, best)
            tested(best)
        times(sweep)
    said = counts(sweep, trials)
    if best and sweep.config.goals != ("seconds",):
        said += f" {optimistic(sweep, trials)}"
    st.caption(escaping.markdown(said))


def verdict(sweep: Sweep, trials: Sequence[Trial], best: Trial) -> str:
    """The best settings in a line."""
    so_far = " so far" if sweep.active else ""
    named = escaping.markdown(f"{params(best)} (trial {best.number + 1})")
    if len(sweep.config.goals) == 1:
        return f"Best{so_far}: {named}"
    front = formats.count(len(sweeps.pareto(sweep, list(trials))), "trial")
    return f"{front} on the Pareto front{so_far}; by {SHORT[sweep.config.goals[0]]}: {named}"


def values(sweep: Sweep, trials: Sequence[Trial], best: Trial) -> None:
    """What it was chosen by."""
    complete = sum(one.state == "complete" for one in trials)
    for place, (goal, value) in enumerate(zip(sweep.config.goals, best.values, strict=True)):
        label = SHORT[goal][0].upper() + SHORT[goal][1:]
        if not place:
            label += f", best of {complete:,}"
        st.metric(
            label, say(goal, value), width="content", help=OPTIMISTIC if goal != "seconds" else None
        )


def tested(best: Trial) -> None:
    """What its ensemble makes of the test images, at the epoch that was chosen."""
    if (run := run_of(best)) is None or run.trained is None:
        return
    share, size = run.status.best_ensemble_test_accuracy, run.data.test_size
    if share is None:
        return
    label = f"Its ensemble on {formats.count(size, f'test {run.data.noun}')}"
    st.metric(
        label,
        f"{formats.percent(share, size)} {formats.plus_minus(share, size)}",
        width="content",
        help="Accuracy with its 95 % Wilson interval, after the epoch that "
        "the validation images chose.",
    )


def run_of(trial: Trial) -> runs.Run | None:
    """The run of a trial; None where there is none to be read."""
    try:
        return runs.find(trial.run_id) if trial.run_id else None
    except RunError:
        return None


def times(sweep: Sweep) -> None:
    """The time left while it searches, else the time it took."""
    status = sweep.status
    if sweep.state == "searching":
        left = jobs_words.seconds_left(status)
        st.metric(
            "Time left",
            "–" if left is None else formats.duration(max(0.0, left)),
            width="content",
            help="Known once the first trial has ended.",
        )
    elif status.started and not sweep.active:
        st.metric(
            "Searched for", formats.duration(status.updated - status.started), width="content"
        )


def counts(sweep: Sweep, trials: Sequence[Trial]) -> str:
    """How the trials stand, in words: "6 complete, 2 pruned, 1 failed, 3 to come"."""
    found = Counter(one.state for one in trials)
    begun = [one for one in trials if one.run_id or one.state != "waiting"]
    cut = sum(one.state == "waiting" for one in begun)
    said = [f"{found[state]:,} {word}" for state, word in STATES.items() if found[state]]
    said += [f"{cut:,} cut off and to go on"] if cut else []
    if (left := sweep.config.wanted - len(begun)) > 0:
        said.append(f"{left:,} to come")
    return f"Of {formats.count(sweep.config.wanted, 'trial')}: {', '.join(said)}."


def optimistic(sweep: Sweep, trials: Sequence[Trial]) -> str:
    """That the best of several is chosen with luck, and on how many images."""
    info = sweep.config.base
    complete = sum(one.state == "complete" for one in trials)
    images = "validation images"
    run = next(filter(None, map(run_of, trials)), None)
    if run:
        aside = held_out(run.data.train_size, info.validation)
        images = formats.count(aside, f"validation {run.data.noun}")
    return (
        f"The best of {formats.count(complete, 'trial')} on {images} is optimistic; the test "
        "figure had no part in the choice."
    )
