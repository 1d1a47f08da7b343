"""About how long a run will take, from the runs before it."""

from dataclasses import dataclass

from ensemble.config import EnsembleConfig

# Without any run to go by: what one accelerator and one processor core manage, roughly.
ROUGH_RATE = {"cpu": 3_500.0, "gpu": 300_000.0, "tpu": 300_000.0}
USUAL = "cnn 28×28×1"
USUAL_FLOPS = 9_287_680  # of one image's forward pass in it, whose speed this is
STARTUP_SECONDS = 8.0  # process, imports, compiling


@dataclass(frozen=True)
class Past:
    """What an earlier run tells.

    Attributes:
      devices: how many devices it ran on.
      rate: its images times members per second.
      host: the machine it ran on.
      precision: of its products.
      network: what learnt, as `network_key` has it.
    """

    devices: int
    rate: float
    host: str
    precision: str = "float32"
    network: str = USUAL


@dataclass(frozen=True)
class Estimate:
    """Seconds a run will take, and who says so: "runs", "race", or nobody: "guess"."""

    seconds: float
    told_by: str


def estimate(
    config: EnsembleConfig,
    train_size: int,
    *,
    platform: str,
    devices: int,
    cores: int,
    host: str,
    past: list[Past],
    raced: float | None = None,
    network: str = USUAL,
    flops: int = USUAL_FLOPS,
) -> Estimate:
    """How long `config` will take.

    Args:
      config: the run to be.
      train_size: how many training images its dataset has.
      platform: "cpu", "gpu" or "tpu".
      devices: how many devices it will run on.
      cores: processor cores, which is what devices of a "cpu" share.
      host: this machine.
      past: earlier runs, newest first; only those on as many devices of this machine, in the
        same precision, of the same network, count.
      raced: the HOWTO's network's speed as the last race on these devices found it; it counts
        where no run does.
      network: what is to learn, as `network_key` has it.
      flops: of one image's forward pass, which a guess goes by.
    """
    alike = (devices, host, config.precision, network)
    rates = [
        run.rate for run in past if (run.devices, run.host, run.precision, run.network) == alike
    ][:3]
    raced = raced if network == USUAL else None
    shared = cores if platform == "cpu" else devices
    rough = ROUGH_RATE.get(platform, 3_500.0) * shared * USUAL_FLOPS / max(flops, 1)
    rate = sorted(rates)[len(rates) // 2] if rates else raced or rough
    steps = max(1, train_size // config.batch_size)
    images = config.epochs * steps * config.batch_size * config.members
    told_by = "runs" if rates else "race" if raced else "guess"
    return Estimate(STARTUP_SECONDS + images / rate, told_by)


def network_key(config: EnsembleConfig, image_shape: tuple[int, int, int]) -> str:
    """What tells speeds of different networks apart: "cnn 28×28×1", "mlp 30 8×8×3"."""
    width = f"{config.width} " if config.width else ""
    return f"{config.network} {width}{'×'.join(map(str, image_shape))}"


def members_per_device(members: int, devices: int) -> str:
    """How members are spread, in words: "2 members each", "2 or 1 members each"."""
    fewer, more = members // devices, -(-members // devices)
    if devices == 1:
        return "one after another" if members > 1 else "alone"
    if fewer == more:
        return f"{more} {'member' if more == 1 else 'members'} each"
    return f"up to {more} {'member' if more == 1 else 'members'} each"
