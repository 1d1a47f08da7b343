"""Training speeds that `ensemble bench` measured, stored in the data folder; no JAX in here."""

import contextlib
import hashlib
import json
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from ensemble.config import PRECISIONS, EnsembleConfig
from ensemble.machine.machine_info import read_machine_info
from ensemble.machine.package_versions import read_package_versions
from ensemble.machine.run_estimate import HOWTO_FLOPS, HOWTO_NETWORK, PastRun
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.folders import data_folder
from ensemble.storage.records.field_checks import Count, NumberRange, Time, parse_dataclass

Rate = Annotated[float, NumberRange(1e-6, 1e15)]  # img·member/s
_RACE_SCHEMA = 2  # of the files that `ensemble race` wrote up to version 1.0


@dataclass(frozen=True)
class BenchResult:
    """One measurement of the training speed.

    Attributes:
      created: when it ended, unix seconds.
      host: name of the machine.
      processor: name of its processor.
      cores: processor cores.
      fast_bfloat16: whether the processor multiplies bfloat16 itself.
      platform: "cpu", "gpu" or "tpu".
      devices: number of devices it trained on.
      packages: their versions.
      dataset: name of the dataset.
      members: number of networks, M.
      batch_size: images per step.
      network: name of the network.
      width: its width; 0 is the network's own.
      work: operations of a forward pass for one image.
      rates: img·member/s by precision.
    """

    created: Time
    host: str
    processor: str
    cores: Count
    fast_bfloat16: bool
    platform: str
    devices: Count
    packages: dict[str, str]
    dataset: str
    members: Count
    batch_size: Count
    network: str
    width: Count
    work: Rate
    rates: dict[str, Rate]

    @property
    def bfloat16_gain(self) -> float | None:
        """Speed in bfloat16 relative to float32; None unless both were measured."""
        if not set(PRECISIONS) <= set(self.rates):
            return None
        return self.rates["bfloat16"] / self.rates["float32"]


def create_bench_result(
    config: EnsembleConfig, rates: dict[str, float], *, platform: str, devices: int, work: float
) -> BenchResult:
    """Return the result of a measurement that ended now on this machine.

    Args:
      config: what was trained.
      rates: img·member/s by precision.
      platform: "cpu", "gpu" or "tpu".
      devices: number of devices it trained on.
      work: operations of a forward pass for one image.
    """
    here = read_machine_info()
    return BenchResult(
        created=time.time(),
        host=socket.gethostname(),
        processor=here.processor,
        cores=here.cores,
        fast_bfloat16=here.fast_bfloat16,
        platform=platform,
        devices=devices,
        packages=read_package_versions(),
        dataset=config.dataset,
        members=config.members,
        batch_size=config.batch_size,
        network=str(config.network),
        width=config.width,
        work=work,
        rates=rates,
    )


def machine_folder() -> Path:
    """Return the folder of everything that was measured about this machine."""
    return data_folder() / "machine"


def write_bench_result(result: BenchResult) -> Path:
    """Store a result in place of the last one with as many devices and members of the same host.

    Raises:
      OSError: it cannot be written.
    """
    folder = machine_folder()
    folder.mkdir(parents=True, exist_ok=True)
    replaced = json.dumps([result.host, result.devices, result.members])
    path = folder / f"bench-{hashlib.sha256(replaced.encode()).hexdigest()[:16]}.json"
    write_json(path, asdict(result))
    return path


def read_bench_results(host: str) -> list[BenchResult]:
    """Return all readable results of one machine, newest last; races of earlier versions count too."""
    results: list[BenchResult] = []
    for pattern, parse in (("bench-*.json", _parse_bench), ("race-*.json", _parse_race)):
        for path in machine_folder().glob(pattern):
            with contextlib.suppress(OSError, ValueError):
                results += parse(read_json(path))
    # Several machines may share a data folder.
    return sorted((result for result in results if result.host == host), key=lambda result: result.created)


def find_bench_speed(results: list[BenchResult], precision: str, members: int, devices: int) -> PastRun | None:
    """Return the measured speed with the nearest number of members up to `members`, else of more.

    Args:
      results: of this machine, newest last.
      precision: of the products.
      members: number of networks to train.
      devices: number of devices to train on.
    """
    by_members = {
        result.members: result for result in results if result.devices == devices and precision in result.rates
    }
    if not by_members:
        return None
    fewer = [measured for measured in by_members if measured <= members]
    found = by_members[max(fewer) if fewer else min(by_members)]
    return PastRun(
        devices=devices,
        rate=found.rates[precision],
        host=found.host,
        precision=precision,
        work=found.work,
        network=(found.network, found.width),
    )


def _parse_bench(record: dict[str, Any]) -> list[BenchResult]:
    return [parse_dataclass(BenchResult, record)]


def _parse_race(record: dict[str, Any]) -> list[BenchResult]:
    """Return the speeds of this engine in a file of `ensemble race`, one result per number of members."""
    if record.get("schema") != _RACE_SCHEMA or record.get("on"):  # "on": a task's share of a machine
        raise ValueError("it was measured in another way")
    network, width = HOWTO_NETWORK
    settings, rates = record.get("settings"), record.get("rates")
    if not isinstance(settings, dict) or not isinstance(rates, dict):
        raise ValueError("it is not the file of a race")
    speeds = {name: rates[name] for name in PRECISIONS if isinstance(rates.get(name), dict)}
    return [
        parse_dataclass(
            BenchResult,
            {
                **record,
                **settings,
                "members": int(members),
                "network": network,
                "width": width,
                "work": HOWTO_FLOPS,
                "rates": {name: speeds[name][members] for name in speeds if members in speeds[name]},
            },
        )
        for members in sorted({members for by_members in speeds.values() for members in by_members}, key=int)
    ]
