"""A real Slurm of a few nodes on this machine, or the reason why there can be none."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).with_name("minislurm.sh")
PACKAGES = ("slurmctld", "slurmd", "munge", "slurm-client")
NODES, CPUS = 3, 2
PORTS = NODES + 1


class MiniSlurm:
    """Three nodes of two CPUs each; commands find it by SLURM_CONF.

    Args:
      folder: everything that belongs to it.
      cables: whether each node has a network of its own, whose cable can be cut.

    Attributes:
      folder: as given.
      nodes: the nodes' names.
      inside: what commands begin with that are to reach it.
    """

    def __init__(self, folder: Path, cables: bool = False) -> None:
        self.mode = "netns" if cables else "plain"
        place = f"--net={folder}/ns/ctl", f"--mount={folder}/ns/ctl.mnt", "--wd=."
        self.inside = ("nsenter", *place, "--") if cables else ()
        self.folder, self.nodes = folder, tuple(f"node{k}" for k in range(1, NODES + 1))
        self.conf = folder / "slurm.conf"

    def start(self) -> None:
        """Start it and wait until all nodes are idle: a second or two."""
        self._script("start", str(self.folder), seconds=60)

    def stop(self) -> None:
        """End everything that it started."""
        self._script("stop", str(self.folder), seconds=60)

    def run(self, *command: str, seconds: float = 20) -> str:
        """What one of its commands prints."""
        environment = {**os.environ, "SLURM_CONF": str(self.conf)}
        command = (*self.inside, *command)
        ended = subprocess.run(command, env=environment, timeout=seconds, check=True, text=True, capture_output=True)
        return ended.stdout

    def kill_node(self, name: str, told: bool = False) -> None:
        """The power of a node fails, with all that works on it.

        Slurm misses it after a quarter of a minute, or at once where it is `told`, as by whoever
        looks after the machines: what it then does with the node's tasks is the same.
        """
        self._script("kill-node", name.removeprefix("node"), str(self.folder))
        if told:
            self.run("scontrol", "update", f"nodename={name}", "state=down", "reason=power")

    def start_node(self, name: str) -> None:
        """A node that was killed comes back, and is idle within some seconds."""
        self._script("start-node", name.removeprefix("node"), str(self.folder))
        self.wait(lambda: "idle" in self.run("sinfo", "-h", "-n", name, "-o", "%t"))

    def cut(self, name: str) -> None:
        """Cut a node's cable: it goes on with its work, and hears and says nothing."""
        self._script("cut", name.removeprefix("node"), str(self.folder))

    def start_now(self, task: str) -> None:
        """Start a task that was requeued, for which Slurm waits two minutes otherwise."""
        self.wait(lambda: "PENDING" in self.run("squeue", "-h", "-j", task, "-o", "%T"))
        # Within the same second its node takes it for the one that was revoked.
        time.sleep(1.5)
        self.run("scontrol", "update", f"jobid={task}", "StartTime=now")

    @contextmanager
    def running(self) -> Iterator["MiniSlurm"]:
        """It, started within this; nothing of it is left afterwards."""
        self.folder.mkdir()
        try:
            self.start()
            yield self
        finally:
            self.stop()
            shutil.rmtree(self.folder.parent)

    def wait(self, condition: Callable[[], object], seconds: float = 60) -> None:
        """Until the condition holds; AssertionError where it does not in so many seconds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"not within {seconds} s\n{self.run('squeue')}"
            time.sleep(0.1)

    def _script(self, *words: str, seconds: float = 20) -> None:
        environment = {
            **os.environ,
            "MODE": self.mode,
            "NODES": str(NODES),
            "CPUS": str(CPUS),
            "SLURMD_TIMEOUT": "5",
            "BASE_PORT": str(free_ports()) if words[0] == "start" else "0",
        }
        said = self.folder.with_suffix(".said")
        with said.open("wb") as file:  # What it starts keeps its output open.
            ended = subprocess.run(
                [str(SCRIPT), *words],
                env=environment,
                timeout=seconds,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        assert ended.returncode == 0, said.read_text()


def free_ports() -> int:
    """The first of `PORTS` numbers in a row that nobody listens on.

    Two processes of pytest-xdist look in different places: both may start one at the same time.
    """
    which = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for first in range(17_200 + 4_000 * which % 12_000, 30_000, 100):
        try:
            for port in range(first, first + PORTS):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise OSError("no free ports")


def missing() -> str:
    """Why no Slurm can be started here; "" where one can. Installs Debian's, as root."""
    if not hasattr(os, "geteuid") or os.geteuid():
        return "only root can start a Slurm with several nodes on one machine"
    allowed = subprocess.run(["unshare", "-m", "-u", "true"], capture_output=True, timeout=240)
    if allowed.returncode:
        return f"no namespaces may be made here: {allowed.stderr.decode().strip()}"
    needed = ("slurmctld", "slurmd", "munged", "sinfo", "sbatch")
    found = [shutil.which(one, path=f"{os.environ['PATH']}:/usr/sbin") for one in needed]
    return "" if all(found) else installed()


def installed() -> str:
    """Install Debian's packages; why that failed, or ""."""
    if not shutil.which("apt-get"):
        return "Slurm is not here, and neither is apt-get to install it"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Whoever comes second waits until the first has installed them.
    command = ["apt-get", "install", "-y", "-q", "-o", "DPkg::Lock::Timeout=150", "--no-install-recommends", *PACKAGES]
    try:
        ended = subprocess.run(command, env=environment, timeout=180, capture_output=True, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "Slurm could not be installed within three minutes"
    said = ended.stderr.decode().strip().splitlines() or [""]
    return f"Slurm could not be installed: {said[-1]}" if ended.returncode else ""


def new_folder() -> Path:
    """A folder for one, with a short path: a socket's may have 107 letters.

    That of the tests' own files is too long where pytest-xdist has begun one within another.
    """
    short = os.environ.get("PYTEST_DEBUG_TEMPROOT") or None
    return Path(tempfile.mkdtemp(prefix="slurm-", dir=short)) / "s"
