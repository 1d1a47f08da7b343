"""What races have found: images times members per second, by competitor and number of members."""

import contextlib
import statistics
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from ensemble.errors import ConfigError
from ensemble.jobs.folders import machine_folder
from ensemble.race.settings import COMPETITORS, RaceConfig
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import Count, MetricValue, NumberRange, Seconds, Time, parse_dataclass

SCHEMA = 2  # 1 was measured where bfloat16 was emulated in another, slower way.
Rate = Annotated[float, NumberRange(1e-6, 1e15)]  # img·member/s: of nobody who raced is it 0
MIN_LEAD = 1.02  # of the rival's speed: less is no lead, but chance

# Relative: how far a member's loss may lie from the HOWTO's after the same few steps. bfloat16
# keeps 8 bits of a factor, an error of up to 0.4 % in each.
TOLERANCES = {"float32": 1e-3, "one_by_one": 1e-3, "bfloat16": 0.05}


@dataclass(frozen=True)
class Race:
    """One race.

    Attributes:
      created: when it ended, unix seconds.
      seconds: how long it took.
      host: the machine's name.
      processor: its processor's name.
      cores: processor cores.
      memory_bytes: all of its memory.
      fast_bfloat16: whether the processor multiplies bfloat16 itself.
      platform: "cpu", "gpu" or "tpu".
      devices: how many this engine had.
      device_kind: what JAX calls them.
      packages: their versions.
      settings: of the race, as `RaceConfig.as_dict` has them.
      rates: for each competitor and M the img·member/s, median over the rounds.
      differences: for each competitor but the HOWTO, the largest relative difference of a loss
        from the HOWTO's after the same steps.
      absent: a sentence on why, for each competitor that did not race to the end.
      on: the cluster that gave it a share of that machine: "slurm"; "" where it had all of it.
    """

    created: Time
    seconds: Seconds
    host: str
    processor: str
    cores: Count
    memory_bytes: Count
    fast_bfloat16: bool
    platform: str
    devices: Count
    device_kind: str
    packages: dict[str, str]
    settings: dict[str, Any]
    rates: dict[str, dict[int, Rate]]
    differences: dict[str, MetricValue]
    absent: dict[str, str]
    on: str = ""

    def agrees_with_howto(self, competitor: str) -> bool:
        """Whether its losses equal the HOWTO's within tolerance, so that its speed counts."""
        limit = TOLERANCES.get(competitor)
        return limit is None or self.differences.get(competitor, 0.0) <= limit

    def compute_speed_ratios(self, competitor: str, rival: str) -> dict[int, float]:
        """Its speed over the rival's, for each M that both raced with."""
        own_rates, rival_rates = self.rates.get(competitor, {}), self.rates.get(rival, {})
        return {members: own_rates[members] / rival_rates[members] for members in own_rates if members in rival_rates}

    def find_lead(self, competitor: str, rival: str) -> int | None:
        """The M from which on it is faster than the rival; None if there is none."""
        ratios = self.compute_speed_ratios(competitor, rival)
        ahead = None
        for members in sorted(ratios, reverse=True):
            if ratios[members] < MIN_LEAD:
                break
            ahead = members
        return ahead

    @property
    def bfloat16_gain(self) -> float | None:
        """How many times as fast as float32 bfloat16 is, median over M; None where not raced."""
        ratios = self.compute_speed_ratios("bfloat16", "float32")
        return statistics.median(ratios.values()) if ratios and self.agrees_with_howto("bfloat16") else None

    def find_rate(self, precision: str, members: int) -> float | None:
        """This engine's img·member/s for so many members: of the nearest M up to it, else of more.

        None where that precision was not raced.
        """
        rates = self.rates.get(precision, {})
        fewer = [raced for raced in rates if raced <= members]
        return rates[max(fewer) if fewer else min(rates)] if rates else None


def write_race(race: Race) -> Path:
    """Write a race into a file of its own, whose path is returned; OSError where it cannot."""
    folder = machine_folder()
    folder.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(race.created))
    path = folder / f"race-{stamp}.json"
    write_json(path, {"schema": SCHEMA, **asdict(race)})
    return path


def read_race(name: str) -> Race:
    """The race in the file of this name; OSError or ValueError where it cannot be read."""
    return _parse_race(read_json(machine_folder() / Path(name).name))


def read_races() -> list[Race]:
    """Every race that can be read, newest last."""
    races = []
    for path in machine_folder().glob("race-*.json"):
        with contextlib.suppress(OSError, ValueError, ConfigError):
            races.append(_parse_race(read_json(path)))
    return sorted(races, key=lambda race: race.created)


def _parse_race(record: dict[str, Any]) -> Race:
    if record.get("schema") != SCHEMA:
        raise ValueError("it was written by another version")
    race = parse_dataclass(Race, record)
    if not {*race.differences, *race.absent} <= set(COMPETITORS):
        raise ValueError("somebody raced who is not known")
    if not all(race.rates.values()) or any(0 in speeds for speeds in race.rates.values()):
        raise ValueError("somebody raced with no members")
    # In the order in which they are always named; a later version may know more of them.
    rates = {name: race.rates[name] for name in COMPETITORS if name in race.rates}
    return replace(race, rates=rates, settings=RaceConfig.from_disk(race.settings).as_dict())
