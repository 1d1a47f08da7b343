"""The race itself: competitors take turns at the machine, a slice each, and are compared.

Interleaved, so that whatever else the machine does falls on all of them. This process does
nothing meanwhile, and never starts JAX.
"""

import socket
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import is_cpu_only
from ensemble.machine.machine_info import read_machine_info
from ensemble.machine.package_versions import read_package_versions
from ensemble.race.competitor_process import CompetitorLostError, CompetitorProcess, RaceStoppedError
from ensemble.race.results import TOLERANCES, Race, write_race
from ensemble.race.settings import COMPETITORS, RaceConfig
from ensemble.race.status import RaceStatus

EMULATED_NOTE = "This processor has no bfloat16 units and would emulate it: left out."
COMPETITOR_TITLES = {
    "float32": "this engine in float32",
    "bfloat16": "this engine in bfloat16",
    "howto": "the HOWTO's loop",
    "one_by_one": "one member after another",
}
# Of starting four processes and compiling, before there is anything to go by.
START_SECONDS = 30.0
SLICE_OVERHEAD = 1.4  # what finding the number of steps, and steps that last long, add to it
INFINITE_DIFFERENCE = 1e9  # a relative difference as good as infinite, that JSON can hold

Losses = dict[tuple[str, int], np.ndarray]


class RaceRunner:
    """Does one race and writes what it finds.

    Args:
      config: the race.
      status: the writer of its status.json.
      stop: whether the race is to stop; called several times a second.
      report: called with each new status.
      on: the cluster whose task this is; "" on the user's own machine.
    """

    def __init__(
        self,
        config: RaceConfig,
        status: StatusWriter[RaceStatus],
        stop: Callable[[], bool],
        report: Callable[[RaceStatus], None],
        on: str = "",
    ) -> None:
        self._config, self._status, self._stop, self._report = config, status, stop, report
        self._cluster = on
        self._absent: dict[str, str] = {}
        self._losses: Losses = {}
        self._rates: dict[tuple[str, int], list[float]] = {}
        self._on: dict[str, Any] = {}
        self._began = time.monotonic()

    def run(self) -> Outcome:
        """Start the competitors, let all compile, time them in turns, and write the race."""
        if is_cpu_only() and not read_machine_info().fast_bfloat16 and not self._config.emulated:
            self._absent["bfloat16"] = EMULATED_NOTE
        names = [name for name in COMPETITORS if name not in self._absent]
        try:
            with ExitStack() as stack:
                every = [stack.enter_context(CompetitorProcess(name, self._config, self._stop)) for name in names]
                self._start_competitors(every)
                self._take_turns(every)
        except RaceStoppedError:
            return Outcome("stopped", "Stopped. What earlier races found is kept.")
        if not self._rates:
            return Outcome("failed", " ".join(self._absent.values()))
        race = self._build_race()
        self._status.update(race=write_race(race).name)
        wrong = [COMPETITOR_TITLES[name] for name in TOLERANCES if not race.agrees_with_howto(name)]
        sentence = f"Not the HOWTO's results, and not compared: {', '.join(wrong)}." if wrong else ""
        return Outcome("finished", sentence)

    def _start_competitors(self, every: list[CompetitorProcess]) -> None:
        """Have all compile at once, for each number of members; nothing is timed yet."""
        for place, members in enumerate(self._config.members):
            waiting = sum(estimate_race_seconds(self._config).values()) - (time.monotonic() - self._began)
            self._report_progress(
                f"Starting and compiling: {members} of {self._config.members[-1]} members.",
                0.3 * place / len(self._config.members),
                max(waiting, estimate_race_seconds(self._config)["racing"]),
            )
            competitors = [racer for racer in every if self._send_request(racer, begin=members)]
            for competitor in competitors:
                if answer := self._receive_answer(competitor):
                    self._record_losses(competitor.name, members, answer)

    def _record_losses(self, name: str, members: int, answer: dict[str, Any]) -> None:
        if "absent" in answer:
            return  # It has raced with fewer members, and does so.
        self._losses[name, members] = np.array(answer["losses"])
        if name == "float32":
            self._on = answer

    def _take_turns(self, every: list[CompetitorProcess]) -> None:
        """Time slices: by round, by number of members, one competitor after the other."""
        turns = [
            (number, members, racer)
            for number in range(self._config.rounds)
            for members in self._config.members
            for racer in rotate_competitors(every, number)
            if (racer.name, members) in self._losses
        ]
        began = time.monotonic()
        for done, (number, members, competitor) in enumerate(turns):
            left = (time.monotonic() - began) / done * (len(turns) - done) if done else None
            self._report_progress(
                f"Round {number + 1} of {self._config.rounds}, {members} "
                f"member{'s' if members > 1 else ''}: {COMPETITOR_TITLES[competitor.name]}.",
                0.3 + 0.7 * done / len(turns),
                estimate_race_seconds(self._config)["racing"] if left is None else left,
            )
            if not self._send_request(competitor, race=members, seconds=self._config.slice_seconds):
                continue
            if answer := self._receive_answer(competitor):
                self._rates.setdefault((competitor.name, members), []).append(answer["rate"])

    def _send_request(self, competitor: CompetitorProcess, **request: Any) -> bool:
        """Send a request; False where the process is gone, for good: the others go on."""
        if competitor.name in self._absent:
            return False
        try:
            competitor.send_request(**request)
        except CompetitorLostError as error:
            self._absent[competitor.name] = str(error)
        return competitor.name not in self._absent

    def _receive_answer(self, competitor: CompetitorProcess) -> dict[str, Any] | None:
        try:
            return competitor.receive_answer()
        except CompetitorLostError as error:
            self._absent[competitor.name] = str(error)
            return None

    def _report_progress(self, message: str, progress: float, left: float) -> None:
        if self._stop():
            raise RaceStoppedError
        self._status.update(state="racing", message=message, progress=round(progress, 4), seconds_left=round(left, 1))
        self._report(self._status.status)

    def _build_race(self) -> Race:
        here = read_machine_info()
        rates: dict[str, dict[int, float]] = {}
        for (name, members), slice_rates in self._rates.items():
            rates.setdefault(name, {})[members] = round(statistics.median(slice_rates), 1)
        return Race(
            created=time.time(),
            seconds=round(time.monotonic() - self._began, 1),
            host=socket.gethostname(),
            on=self._cluster,
            processor=here.processor,
            cores=here.cores,
            memory_bytes=here.memory_bytes,
            fast_bfloat16=here.fast_bfloat16,
            platform=self._on.get("platform", ""),
            devices=self._on.get("devices", 0),
            device_kind=self._on.get("kind", ""),
            packages=read_package_versions(),
            settings=self._config.as_dict(),
            rates=rates,
            differences=compute_loss_differences(self._losses),
            absent=self._absent,
        )


def rotate_competitors(every: list[CompetitorProcess], by: int) -> list[CompetitorProcess]:
    """The competitors in the order of round `by`, so that none always follows the same one."""
    start = by % len(every) if every else 0
    return every[start:] + every[:start]


def estimate_race_seconds(config: RaceConfig) -> dict[str, float]:
    """About how many seconds `beginning` and `racing` take, before anything is timed."""
    return {"beginning": START_SECONDS, "racing": SLICE_OVERHEAD * config.slices * config.slice_seconds}


def compute_loss_differences(losses: Losses) -> dict[str, float]:
    """For each competitor the largest relative difference of a loss from the HOWTO's.

    A member's numbers do not depend on how many others there are, so that the HOWTO's loop
    with the most members it could have is the reference for all; members beyond it are not
    compared.

    Args:
      losses: (S, M) by competitor and number of members.
    """
    most = max((members for name, members in losses if name == "howto"), default=0)
    if not most:
        return {}
    truth = losses["howto", most]
    differences: dict[str, float] = {}
    for (name, members), competitor_losses in losses.items():
        if name != "howto":
            both = min(members, most)
            off = float(np.abs(competitor_losses[:, :both] / truth[:, :both] - 1).max())
            # A loss that is no number agrees with nothing.
            off = off if np.isfinite(off) else INFINITE_DIFFERENCE
            differences[name] = float(f"{max(differences.get(name, 0.0), off):.2g}")
    return differences
