"""About how long a run will take, from the runs before it, and how much memory."""

from dataclasses import dataclass

from ensemble.config import EnsembleConfig
from ensemble.config.batch_sharing import count_devices_per_member
from ensemble.datasets import find_dataset_info
from ensemble.datasets.registry import find_dataset_entry
from ensemble.machine.jax_settings import count_cpu_devices
from ensemble.machine.machine_info import read_machine_info
from ensemble.machine.network_cost import NetworkCost, compute_network_cost
from ensemble.machine.resident_images import read_resident_limit
from ensemble.optimizers import OPTIMIZERS

HOWTO_FLOPS = 9_287_680.0  # operations of the HOWTO's network for one of its images
HOWTO_NETWORK = ("cnn", 0)
# Without any run to go by: what one accelerator and one processor core manage of such, roughly.
_ROUGH_RATE = {"cpu": 3_500.0, "gpu": 1_000_000.0, "tpu": 300_000.0}
# On a CPU stock convolutions do a third as many operations a second as this network's own and as
# dense layers do, and the smallest network does not more images than this on a core.
_FAST_CPU_NETWORKS, _STOCK_CONVOLUTION_SHARE, _MAX_CPU_RATE = (("cnn", "mlp", "logistic"), 0.33, 200_000.0)
STARTUP_SECONDS = 8.0  # process, imports, compiling


@dataclass(frozen=True)
class PastRun:
    """The speed of an earlier run, or of a measurement by `ensemble bench`.

    Attributes:
      devices: how many devices it ran on.
      rate: its images times members per second.
      host: the machine it ran on.
      precision: of its products.
      work: what training on one of its images took, as in `estimate_training_time`.
      network: which it trained, and how wide.
    """

    devices: int
    rate: float
    host: str
    precision: str = "float32"
    work: float = HOWTO_FLOPS
    network: tuple[str, int] = HOWTO_NETWORK


@dataclass(frozen=True)
class _TimeEstimate:
    """Seconds a run will take, and where that comes from: "runs", "bench" or "guess"."""

    seconds: float
    source: str


def estimate_training_time(
    config: EnsembleConfig,
    train_size: int,
    *,
    platform: str,
    devices: int,
    cores: int,
    host: str,
    past: list[PastRun],
    bench: PastRun | None = None,
    work: float = HOWTO_FLOPS,
) -> _TimeEstimate:
    """How long `config` will take.

    Args:
      config: the run to be.
      train_size: how many training images its dataset has.
      platform: "cpu", "gpu" or "tpu".
      devices: how many devices it will run on.
      cores: processor cores, which is what devices of a "cpu" share.
      host: this machine.
      past: earlier runs, newest first; only those on as many devices of this machine, in the
        same precision and of the same network, count.
      bench: the speed that `ensemble bench` measured; it counts under the same conditions, if no
        run does.
      work: operations of a forward pass for one image. Runs with as much work count first, then
        any, their speed brought to this work.
    """
    alike = (devices, host, config.precision, (str(config.network), config.width))

    def is_comparable(run: PastRun) -> bool:
        return (run.devices, run.host, run.precision, run.network) == alike

    comparable_runs = [run for run in past if is_comparable(run)]
    same = [run for run in comparable_runs if run.work == work] or comparable_runs
    rates = [run.rate * run.work / work for run in same][:3]
    source = "runs"
    if not rates and bench and is_comparable(bench):
        rates, source = [bench.rate * bench.work / work], "bench"
    elif not rates:
        rates = [estimate_rough_rate(config, platform, work) * (cores if platform == "cpu" else devices)]
        source = "guess"
    rate = sorted(rates)[len(rates) // 2]
    steps = max(1, train_size // config.batch_size)
    images = config.epochs * steps * config.batch_size * config.members
    return _TimeEstimate(STARTUP_SECONDS + images / rate, source)


def estimate_rough_rate(config: EnsembleConfig, platform: str, work: float) -> float:
    """Images times members a second on one accelerator or one core, with no run to go by."""
    rate = _ROUGH_RATE.get(platform, _ROUGH_RATE["cpu"]) * HOWTO_FLOPS / work
    if platform != "cpu":
        return rate
    return min(rate * (1.0 if config.network in _FAST_CPU_NETWORKS else _STOCK_CONVOLUTION_SHARE), _MAX_CPU_RATE)


def describe_members_per_device(members: int, devices: int, parts: int = 1) -> str:
    """How members are spread, in words: "2 members each", "up to 2 members each".

    Args:
      members: M.
      devices: that there are.
      parts: of each batch.
    """
    shared = count_devices_per_member(members, devices, parts)
    if shared > 1:
        return f"each batch shared by {shared} devices"
    devices = min(devices, members)
    fewer, more = members // devices, -(-members // devices)
    if devices == 1:
        return "one after another" if members > 1 else "alone"
    if fewer == more:
        return f"{more} {'member' if more == 1 else 'members'} each"
    return f"up to {more} {'member' if more == 1 else 'members'} each"


# As `python -m benchmarks.training.memory` measured them on a CPU.
_BASE_BYTES = 450e6  # Python, JAX, and what they compile
_STATE_COPIES = 4.5  # of each member at once: at work, before and after a step, going to the disk
_ACTIVATION_SHARES = {"cnn": 0.5}  # what a step holds for each number that a layer gives
_DEFAULT_ACTIVATION_SHARE = 4.0
_EVALUATION_BLOCK_SIZE = 256  # images that are judged at once
_STREAM_BYTES = 2**28  # of images that are read as they are needed: those at work, and the next


def estimate_memory_bytes(config: EnsembleConfig, cost: NetworkCost, data_bytes: int, devices: int) -> float:
    """About how many bytes a run holds at most on a CPU.

    Members carry their parameters, what the optimizer remembers of each, and running statistics;
    each device holds the dataset, or the images of the next steps where that is too large, and
    what its member's layers give for one batch.

    Args:
      config: the run to be.
      cost: what one of its members takes.
      data_bytes: of its dataset's images and labels.
      devices: how many it runs on.
    """
    of_each = 4 + OPTIMIZERS[config.optimizer].state_bytes
    state = of_each * cost.parameters + 4 * cost.running_statistics
    shared = count_devices_per_member(config.members, devices, config.batch_parts)
    at_work = min(config.members * shared, devices)
    held = _ACTIVATION_SHARES.get(config.network, _DEFAULT_ACTIVATION_SHARE)
    step = 4 * held * cost.outputs * max(config.batch_size, _EVALUATION_BLOCK_SIZE / 2)
    resident = data_bytes <= read_resident_limit(devices)
    data = devices * (data_bytes if resident else _STREAM_BYTES)
    kept = _STATE_COPIES * config.members * state + (at_work - min(config.members, devices)) * state
    if config.batch_parts > 1:  # A gradient of each, before and after it is handed over.
        kept += at_work * 2 * config.batch_parts * 4 * cost.parameters
    return _BASE_BYTES + kept + data + at_work * step


def find_memory_excess(config: EnsembleConfig, own_cost: NetworkCost | None) -> tuple[float, float] | None:
    """What a run takes and what there is, where the processor's memory does not hold it.

    Args:
      config: of the run.
      own_cost: what a member takes, where its network is one's own.

    Returns:
      Bytes that it takes at most, and bytes of the machine; None where it fits, or where that
      cannot be told beforehand.
    """
    present = count_cpu_devices()  # None where there may be accelerators, whose memory counts
    info = find_dataset_info(config.dataset)
    cost = own_cost or compute_network_cost(config.network, info.image_shape, len(info.class_names), config.width)
    if present is None or cost is None:
        return None
    devices = min(config.devices or present, present)
    data_bytes = find_dataset_entry(config.dataset).nbytes_prepared
    needed = estimate_memory_bytes(config, cost, data_bytes, devices)
    memory = read_machine_info().memory_bytes
    return (needed, memory) if needed > memory else None
