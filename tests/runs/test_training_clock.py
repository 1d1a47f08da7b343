"""What a run says of time: the whole run's speed, and a countdown that can be believed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble.config import EnsembleConfig
from ensemble.jobs.status import StatusWriter
from ensemble.runs import create_run
from ensemble.runs.status import read_run_status
from ensemble.runs.training.clock import TEST_COST, Countdown, TrainingClock

# Of two real runs of four members on a busy machine, ten epochs of digits and two of MNIST: every
# compiled call with its kind (t: training, e: the test), steps, beginning and seconds. The second
# was slowed down to a half on the way, by others.
CLOCKS: dict[str, Any] = json.loads((Path(__file__).parent / "clocks.json").read_text())


@dataclass(frozen=True)
class Shown:
    """What the countdown showed of a run: when, seconds left, and how many there were (P,)."""

    when: np.ndarray
    said: np.ndarray
    truth: np.ndarray

    @property
    def off(self) -> np.ndarray:
        """By what factor each was off; the last two seconds are a matter of rounding."""
        off = np.maximum(self.said, 0.1) / np.maximum(self.truth, 0.1)
        return np.where(self.truth > 2, np.maximum(off, 1 / off), 1.0)

    @property
    def jumps(self) -> np.ndarray:
        """How far each is from the one before less the time between, as a share of that."""
        gone = np.diff(self.when)
        return np.abs(self.said[1:] - (self.said[:-1] - gone)) / np.maximum(self.said[:-1], 3)


def replayed(name: str) -> Shown:
    """What a countdown shows that is told a recorded run's calls."""
    run = CLOCKS[name]
    countdown = Countdown(TEST_COST * run["test_images"] / run["batch_size"])
    calls, done, closed, found = run["calls"], 0, 0, []
    for (kind, steps, began, seconds), after in zip(calls, [*calls[1:], None], strict=True):
        now = began + seconds
        if kind == "t":
            countdown.record_steps(steps, seconds)
            done += steps
        else:  # The end of an epoch lasts until the next begins.
            now, closed = after[2] if after else run["end"], closed + 1
            countdown.record_epoch_end(now - began)
        left = countdown.estimate_seconds_left(run["steps"] - done, run["epochs"] - closed, now)
        if left is not None:
            found.append((now, left, run["end"] - now))
    return Shown(*np.array(found).T)


def test_the_time_left_is_within_a_factor_of_one_and_a_half_once_it_is_shown() -> None:
    shown = replayed("steady")
    assert shown.off.max() < 1.5
    assert shown.truth[0] > 0.7 * CLOCKS["steady"]["end"]


def test_on_a_machine_that_slows_down_it_comes_back_to_the_truth() -> None:
    shown = replayed("slowed")
    share = np.diff(shown.when) @ (shown.off[:-1] < 1.5) / (shown.when[-1] - shown.when[0])
    assert share > 0.8
    assert shown.off[shown.truth < 60].max() < 1.5


@pytest.mark.parametrize("name", CLOCKS)
def test_the_time_left_does_not_jump_nor_saw_at_the_ends_of_epochs(name: str) -> None:
    shown = replayed(name)
    assert shown.jumps.max() < 0.1
    rises = np.maximum(np.diff(shown.said), 0)
    assert rises.sum() < 0.1 * shown.said[0]


def test_at_a_steady_rate_the_countdown_is_exact() -> None:
    countdown = Countdown(closing=5.0)
    found = []
    for step in range(100):
        countdown.record_steps(1, 0.5)
        found.append(countdown.estimate_seconds_left(99 - step, 2, 0.5 * step))
    assert found[:4] == [None] * 4, "not before two seconds were seen"
    np.testing.assert_allclose(found[4:], [0.5 * (99 - step) + 5 for step in range(4, 100)])


def test_the_whole_runs_speed_is_its_images_over_its_seconds_not_that_of_the_last_calls() -> None:
    clock = TrainingClock(EnsembleConfig(members=3, batch_size=10), 50, 100, compiled=4.0)
    clock.record_compile_time(1.5)
    for seconds in (9.0, 1.0, 1.0, 8.0, 9.0):
        clock.record_steps(10, seconds)
    whole = clock.summarize_total(28.0, 50)
    assert (whole["seconds"], whole["img_member_per_s"]) == (28.0, round(50 * 10 * 3 / 28, 1))
    assert whole["compile_seconds"] == 5.5
    assert TrainingClock(EnsembleConfig(), 50, 100).summarize_total(0.0, 0)["img_member_per_s"] is None


def test_a_heartbeat_does_not_turn_the_countdown_back(monkeypatch: pytest.MonkeyPatch) -> None:
    run = create_run(EnsembleConfig())
    with StatusWriter(run.status_file, run.status) as writer:
        clock = 100.0
        monkeypatch.setattr("ensemble.jobs.status.time.monotonic", lambda: clock)
        writer.update(seconds_left=60.0)
        clock += 8.0
        writer.update()  # as the heart beats, in a long test
        seen = read_run_status(run.path).seconds_left
        clock += 99.0
        writer.update()
        assert (seen, read_run_status(run.path).seconds_left) == (52.0, 0.0)
        writer.update(seconds_left=None)
    assert read_run_status(run.path).seconds_left is None


def test_runs_that_share_the_seconds_are_each_as_fast_as_the_machine() -> None:
    clock = TrainingClock(EnsembleConfig(members=3, batch_size=10), 50, 100)
    for _ in range(3):
        clock.record_steps(10, 4.0, sharing=4)
    told = clock.summarize_now(3.0)  # its share of the twelve seconds that have passed
    assert told["img_member_per_s"] == pytest.approx(4 * 10 * 10 * 3 / 4.0, rel=1e-3)
    assert clock.summarize_total(3.0, 30)["img_member_per_s"] == pytest.approx(told["img_member_per_s"])
