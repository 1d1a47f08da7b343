"""What a run says of time: how long so far, how fast, and a countdown that does not jump.

The countdown is pure: it is told how long things took and what time it is, and asks no clock. On
the recorded clock of a steady machine what it shows is always within a factor of 1.5 of what was
left; where others slow the machine down on the way, for three quarters of the time.
"""

import math
import time
from typing import Any, Protocol

# What a test image costs, of a training image: it needs no backward pass.
TEST_COST = 0.4

# Nothing is shown before so many seconds of steps were seen in so many calls, after the first:
# that one still warms up. By then the rate is steady, and a run that has less left is over soon.
_MIN_MEASURED_SECONDS, _MIN_MEASURED_CALLS = 2.0, 3
# The rate is that of the last 20 seconds or so. Where others slow the machine down to a half,
# nothing could have told: what is shown is right again within a minute.
_RATE_WINDOW_SECONDS = 20.0
# What is shown moves towards a new estimate within a quarter of the time left, in these bounds.
_DRIFT_SECONDS, _DRIFT_SHARE = (2.0, 30.0), 0.25


class Countdown:
    """Learns from each call how fast a run is, and says how long it will still take.

    Args:
      closing: what the end of an epoch (its test, what is written then) costs until one has
        been seen, in steps of training.
    """

    def __init__(self, closing: float) -> None:
        self._closing, self._closed = closing, 0
        self._calls = -1  # the first does not count
        self._seen = self._steps = self._seconds = 0.0
        self._shown: tuple[float, float] | None = None  # (seconds left, as of when)

    def record_steps(self, steps: int, seconds: float) -> None:
        """Note a call of so many steps; the first of a process is no measure of the next."""
        self._calls += 1
        if self._calls < 1 or steps < 1:
            return
        self._seen += seconds
        kept = math.exp(-seconds / _RATE_WINDOW_SECONDS)
        self._steps = kept * self._steps + steps
        self._seconds = kept * self._seconds + seconds

    def record_epoch_end(self, seconds: float) -> None:
        """Note the end of an epoch: its test but for compiling, and what was written.

        Counted in steps: on a machine that others slow down, it takes longer as they do.
        """
        if rate := self.steps_per_second:
            closing_steps, self._closed = seconds * rate, self._closed + 1
            self._closing = 0.5 * (self._closing + closing_steps) if self._closed > 1 else closing_steps

    @property
    def steps_per_second(self) -> float | None:
        """How fast it trains now; None before there is a call to go by."""
        return self._steps / self._seconds if self._seconds > 0 else None

    def estimate_seconds_left(self, steps: int, epochs: int, now: float) -> float | None:
        """Seconds until so many steps and ends of epochs are done; None if that is not known.

        Args:
          steps: that are still to come.
          epochs: that are still to be closed.
          now: seconds on a clock that is not set, to go by between two questions.
        """
        rate = self.steps_per_second
        if rate is None or self._seen < _MIN_MEASURED_SECONDS or self._calls < _MIN_MEASURED_CALLS:
            return None
        estimate = (steps + epochs * self._closing) / rate
        if self._shown is not None:
            last_estimate, when = self._shown
            expected = last_estimate - (now - when)
            low, high = _DRIFT_SECONDS
            patience = min(max(_DRIFT_SHARE * estimate, low), high)
            estimate += (expected - estimate) * math.exp(-(now - when) / patience)
        self._shown = max(estimate, 0.0), now
        return self._shown[0]


class _TimedSettings(Protocol):
    """What of a run's settings its times depend on."""

    @property
    def members(self) -> int:
        """M."""

    @property
    def epochs(self) -> int:
        """How many it trains."""

    @property
    def batch_size(self) -> int:
        """Images, or rows, in one step."""


class TrainingClock:
    """The times in a run's status and history, in seconds; compiling is counted apart.

    Of runs that are trained side by side each is told its share of the seconds that pass, so that
    together they come to these, and its speed is what the machine does; the time left is all of it.

    Args:
      config: the run's settings.
      steps_per_epoch: S.
      test_images: how many images each epoch is tested on.
      compiled: seconds of compiling, in the stretches of training before this one.
    """

    def __init__(self, config: _TimedSettings, steps_per_epoch: int, test_images: int, compiled: float = 0.0) -> None:
        self._images = config.batch_size * config.members  # of a step
        self._epochs, self._steps = config.epochs, config.epochs * steps_per_epoch
        self._countdown = Countdown(closing=TEST_COST * test_images / config.batch_size)
        self._compiled, self._sharing = compiled, 1
        self.record_epoch_end = self._countdown.record_epoch_end

    def record_compile_time(self, seconds: float) -> None:
        """Note so many seconds of compiling."""
        self._compiled += seconds

    def record_steps(self, steps: int, seconds: float, sharing: int = 1) -> None:
        """Note a call of so many steps, which as many runs shared; see `Countdown.record_steps`."""
        self._sharing = sharing
        self._countdown.record_steps(steps, seconds)

    def summarize_now(self, seconds: float) -> dict[str, Any]:
        """The time so far, and the speed now: images times members a second."""
        rate = self._countdown.steps_per_second
        speed = None if rate is None else rate * self._images * self._sharing
        return self._build_speed_fields(seconds, speed)

    def summarize_progress(self, seconds: float, step: int, evaluated: int) -> dict[str, Any]:
        """`summarize_now`, the compiling, and the time left after so many steps and epochs."""
        left = self._countdown.estimate_seconds_left(self._steps - step, self._epochs - evaluated, time.monotonic())
        left = None if left is None else round(left, 1)
        return {**self.summarize_now(seconds), **self._build_compile_fields(), "seconds_left": left}

    def summarize_total(self, seconds: float, step: int) -> dict[str, Any]:
        """The time of all stretches together, and the speed over all of it."""
        speed = step * self._images / seconds if seconds > 0 else None
        return {**self._build_speed_fields(seconds, speed), **self._build_compile_fields()}

    def _build_speed_fields(self, seconds: float, speed: float | None) -> dict[str, Any]:
        rounded = None if speed is None else round(speed, 1)
        return {"seconds": round(seconds, 3), "img_member_per_s": rounded}

    def _build_compile_fields(self) -> dict[str, Any]:
        return {"compile_seconds": round(self._compiled, 3)}
