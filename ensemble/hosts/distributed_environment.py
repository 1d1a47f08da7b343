"""Which of how many processes this one is, and where they meet: the environment says so.

Under Slurm `srun` does (a bare batch script is one process, whatever it was given), elsewhere three
variables, or what JAX knows of Open MPI, Kubernetes and TPU slices.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ensemble.errors import ConfigError

DISTRIBUTED_VARIABLE = "ENSEMBLE_DISTRIBUTED"
ADDRESS_VARIABLE, COUNT_VARIABLE, INDEX_VARIABLE = (
    "JAX_COORDINATOR_ADDRESS",
    "ENSEMBLE_NUM_PROCESSES",
    "ENSEMBLE_PROCESS_ID",
)
START_COMMAND = "srun --ntasks-per-node=1 --kill-on-bad-exit=1 ensemble train --distributed"
START_INSTRUCTIONS = (
    f"Start it once on each host, under Slurm with `{START_COMMAND} …`; elsewhere set "
    f"{ADDRESS_VARIABLE} to the first host and a free port (node1:7000), {COUNT_VARIABLE} to "
    f"the number of processes and {INDEX_VARIABLE} to the number of this one, from 0."
)
# Above those that systems give to connections, as JAX itself chooses its port under Slurm.
FIRST_PORT, PORT_COUNT = 61440, 4096


@dataclass(frozen=True)
class DistributedEnvironment:
    """A process's place among those of one program.

    Attributes:
      host, port: where the first of them listens.
      count: how many there are.
      index: which this is, from 0.
      key: what tells this program's processes from those of others.
      devices: the numbers of this host's accelerators that are this process's; None for all.
    """

    host: str
    port: int
    count: int
    index: int
    key: str = ""
    devices: tuple[int, ...] | None = None


def detect_distributed_environment(environ: Mapping[str, str] = os.environ) -> DistributedEnvironment:
    """What the environment says.

    Raises:
      ConfigError: it says nothing, or what cannot be.
    """
    if COUNT_VARIABLE in environ or INDEX_VARIABLE in environ:
        return _parse_own_variables(environ)
    if "SLURM_JOB_ID" in environ:
        return _parse_slurm_variables(environ)
    if place := _detect_by_jax():
        return place
    raise ConfigError(f"The number of processes, and which of them this is, are not set. {START_INSTRUCTIONS}")


def _parse_own_variables(environ: Mapping[str, str]) -> DistributedEnvironment:
    host, _, port = environ.get(ADDRESS_VARIABLE, "").rpartition(":")
    count, index = environ.get(COUNT_VARIABLE, ""), environ.get(INDEX_VARIABLE, "")
    if not (host and port.isdecimal() and count.isdecimal() and index.isdecimal()):
        raise ConfigError(
            f"{ADDRESS_VARIABLE}, {COUNT_VARIABLE} and {INDEX_VARIABLE} have to be given together "
            "(host:port, and two whole numbers), or none of them."
        )
    if not int(index) < int(count) or not 0 < int(port) < 2**16:
        raise ConfigError(
            f"{INDEX_VARIABLE} is {index} of {COUNT_VARIABLE} {count}, at port {port}: the numbers "
            "go from 0 to one less than there are processes, ports from 1 to 65535."
        )
    return DistributedEnvironment(host.strip("[]"), int(port), int(count), int(index))


def _parse_slurm_variables(environ: Mapping[str, str]) -> DistributedEnvironment:
    names = ("SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID")
    nodes, count, index = (environ.get(name, "") for name in names)
    if not (nodes and count.isdecimal() and index.isdecimal()):
        raise ConfigError(f"This is a Slurm job, but not a step of one. {START_INSTRUCTIONS}")
    job, step = environ["SLURM_JOB_ID"], environ.get("SLURM_STEP_ID", "0")
    spread = sum(int(word) for word in (job, step) if word.isdecimal())
    shared = environ.get("SLURM_STEP_TASKS_PER_NODE", "1").split("(")[0].split(",")[0]
    local = environ.get("SLURM_LOCALID", "")
    # Several processes of one host share its accelerators; one alone has them all.
    mine = (int(local),) if shared != "1" and local.isdecimal() else None
    return DistributedEnvironment(
        parse_first_node(nodes), FIRST_PORT + spread % PORT_COUNT, int(count), int(index), f"{job}.{step}", mine
    )


def parse_first_node(nodes: str) -> str:
    """The first of a list of Slurm's: "node[001-015],big" begins with node001."""
    head, bracket, tail = nodes.partition("[")
    if "," in head or not bracket:
        return head.split(",")[0]
    return head + tail.replace("-", ",").replace("]", ",").split(",")[0]


def _detect_by_jax() -> DistributedEnvironment | None:
    """What JAX knows of other clusters; None if it knows nothing."""
    from jax._src.clusters import ClusterEnv

    try:
        parameters = ClusterEnv.auto_detect_unset_distributed_params(None, None, None, None, None, 60)
    except Exception:  # half a set of some scheduler's variables
        return None
    address, count, index, devices = parameters
    if address is None or count is None or index is None:
        return None
    host, _, port = address.rpartition(":")
    return DistributedEnvironment(host, int(port), count, index, devices=None if devices is None else tuple(devices))
