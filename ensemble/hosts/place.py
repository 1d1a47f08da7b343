"""Which of how many processes this one is, and where they meet: the environment says so.

Under Slurm `srun` does (a bare batch script is one process, whatever it was given), elsewhere three
variables, or what JAX knows of Open MPI, Kubernetes and TPU slices.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ensemble.errors import ConfigError

ASKED = "ENSEMBLE_DISTRIBUTED"
ADDRESS, COUNT, INDEX = "JAX_COORDINATOR_ADDRESS", "ENSEMBLE_NUM_PROCESSES", "ENSEMBLE_PROCESS_ID"
STARTED_SO = "srun --ntasks-per-node=1 --kill-on-bad-exit=1 python -m ensemble train --distributed"
HOW = (
    f"Start it once a host, under Slurm by `{STARTED_SO} …`; elsewhere name the first host and a "
    f"free port in {ADDRESS} (node1:7000), and in {COUNT} and {INDEX} how many processes there are "
    "and which this is, from 0."
)
# Above those that systems give to connections, as JAX itself chooses its port under Slurm.
FIRST_PORT, PORTS = 61440, 4096


@dataclass(frozen=True)
class Place:
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


def find_place(environ: Mapping[str, str] = os.environ) -> Place:
    """What the environment says.

    Raises:
      ConfigError: it says nothing, or what cannot be.
    """
    if COUNT in environ or INDEX in environ:
        return _stated(environ)
    if "SLURM_JOB_ID" in environ:
        return _of_slurm(environ)
    if place := _found_by_jax():
        return place
    raise ConfigError(f"Nothing says which of how many processes this is. {HOW}")


def _stated(environ: Mapping[str, str]) -> Place:
    host, _, port = environ.get(ADDRESS, "").rpartition(":")
    count, index = environ.get(COUNT, ""), environ.get(INDEX, "")
    if not (host and port.isdecimal() and count.isdecimal() and index.isdecimal()):
        raise ConfigError(
            f"{ADDRESS}, {COUNT} and {INDEX} have to be given together (host:port, and two whole "
            "numbers), or none of them."
        )
    if not int(index) < int(count) or not 0 < int(port) < 2**16:
        raise ConfigError(
            f"{INDEX} is {index} of {COUNT} {count}, at port {port}: the numbers go from 0 to one "
            "less than there are processes, ports from 1 to 65535."
        )
    return Place(host.strip("[]"), int(port), int(count), int(index))


def _of_slurm(environ: Mapping[str, str]) -> Place:
    names = ("SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID")
    nodes, count, index = (environ.get(name, "") for name in names)
    if not (nodes and count.isdecimal() and index.isdecimal()):
        raise ConfigError(f"This is a Slurm job, but no step of one. {HOW}")
    job, step = environ["SLURM_JOB_ID"], environ.get("SLURM_STEP_ID", "0")
    spread = sum(int(word) for word in (job, step) if word.isdecimal())
    shared = environ.get("SLURM_STEP_TASKS_PER_NODE", "1").split("(")[0].split(",")[0]
    local = environ.get("SLURM_LOCALID", "")
    # Several processes of one host share its accelerators; one alone has them all.
    mine = (int(local),) if shared != "1" and local.isdecimal() else None
    return Place(
        first_node(nodes),
        FIRST_PORT + spread % PORTS,
        int(count),
        int(index),
        f"{job}.{step}",
        mine,
    )


def first_node(nodes: str) -> str:
    """The first of a list of Slurm's: "node[001-015],big" begins with node001."""
    head, bracket, tail = nodes.partition("[")
    if "," in head or not bracket:
        return head.split(",")[0]
    return head + tail.replace("-", ",").replace("]", ",").split(",")[0]


def _found_by_jax() -> Place | None:
    """What JAX knows of other clusters; None where it knows nothing."""
    from jax._src.clusters import ClusterEnv

    try:
        found = ClusterEnv.auto_detect_unset_distributed_params(None, None, None, None, None, 60)
    except Exception:  # half a set of some scheduler's variables
        return None
    address, count, index, devices = found
    if address is None or count is None or index is None:
        return None
    host, _, port = address.rpartition(":")
    return Place(host, int(port), count, index, devices=None if devices is None else tuple(devices))
