"""How a machine trains members fastest: in one process, or in several that share them out.

One process gives each core a device (`engine.layout`), and its devices wait for each other about
once a second. Groups, a process a core, never wait, but each imports and compiles for itself.
"""

from ensemble.config import EnsembleConfig
from ensemble.machine.jax_settings import count_cpu_cores, is_cpu_only
from ensemble.machine.run_estimate import HOWTO_FLOPS, estimate_rough_rate

# `BENCHMARK_LOG=1 python -m benchmarks.training.arrangements` prints them: processor seconds until
# the first step, programs compiled before: 2.9 with four members, 2.8 with two; with nothing
# compiled 9.9 and 9.6. Of one process's some are on each core, a group's are all on its own: at
# most half of them is what a group adds to the wait.
_GROUP_START_SECONDS = 5.0
# Two pinned processes against one with two devices: with two members each as fast, with four each
# 5 % faster (`python -m benchmarks.training.arrangements`, medians of five undisturbed turns).
_GROUP_GAIN, _MIN_MEMBERS_PER_GROUP = 0.05, 4
_MAX_GROUPS = 32


def compute_best_group_count(members: int, cores: int, seconds: float) -> int:
    """In how many groups this many cores train members fastest: 1, or one a core.

    Groups of fewer than four members gain nothing. Where cores do not divide the members one
    process is faster, which shares the odd ones out.
    """
    if not 1 < cores <= _MAX_GROUPS or members < _MIN_MEMBERS_PER_GROUP * cores or members % cores:
        return 1
    return cores if seconds * _GROUP_GAIN > _GROUP_START_SECONDS else 1


def choose_group_count(config: EnsembleConfig, train_size: int) -> int:
    """In how many groups this machine trains these members fastest.

    One where there is an accelerator, where the run says how many devices it wants, and where
    members differ: only in one program is one that diverges set aside.

    Args:
      config: the run to be.
      train_size: how many images it learns from.
    """
    if not is_cpu_only() or config.devices or config.vary:
        return 1
    cores = count_cpu_cores()
    images = float(config.epochs * train_size * config.members)
    return compute_best_group_count(
        config.members, cores, images / (estimate_rough_rate(config, "cpu", HOWTO_FLOPS) * cores)
    )
