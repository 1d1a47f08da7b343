"""The commands of the documents as they are run: what a page assumes, made small and real.

A page is worked through in a folder of its own, with its own home, runs and data, line by line of
its blocks for a shell. Nothing of a command is changed but what the tables here say: words that
stand for what a reader has (`RUN`, `FILE`) and sizes (`--epochs 1`, a small network). Servers get a
free port.
"""

import contextlib
import itertools
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner

from ensemble.cli.program import main
from tests.conftest import find_mnist_files
from tests.documents import REPO, SHELL
from tests.site import documented_files
from tests.site.documented_jobs import JobMaterials

PATIENCE_SECONDS = 240

# Commands that are not run here, by how they begin, each with the reason.
NOT_RUN = {
    r"docker ": "needs Docker, which tests/deploy asks for the image where it can be had",
    r"ENSEMBLE_\w+=\S+ .*docker ": "needs Docker",
    r"kubectl ": "needs a cluster of Kubernetes: tests/cli/test_manifest.py reads what is applied",
    r"qsub ": "needs PBS: tests/cli/test_array_script.py runs the script by a stand-in",
    r"ensemble .*--on slurm": "needs Slurm: tests/cluster runs it where Slurm can be had",
    r"ensemble train --resume RUN --memory": "a run of Slurm's: tests/cluster",
    r"systemctl ": "needs root",
    r"install ": "needs root",
    r"python3 -m venv /opt": "needs root and a package index: scripts/package --install does it",
    r"git tag ": "a release's own",
    r"scripts/run": "never ends: tests/browser opens the app by it",
    r"scripts/(test|lint)": "runs this test, or before it",
    r"(PYTHONS=\S+ \S+ )?scripts/(versions|docs|demo|package)": "minutes: before a release",
    r"python -m benchmarks\.scale": "takes an hour: tests/test_scaling.py runs its parts",
}

# Which job a RUN, OTHER, THIRD, NEWRUN or ID is, in the order in which they stand in a command; the
# last one again for what comes after it. The first row that fits a page and its command holds.
JOBS_OF_COMMANDS: list[tuple[str, tuple[str, ...]]] = [
    (r".* ensemble train --resume RUN --on here", ("stopped again",)),
    (r".* ensemble train --resume ", ("stopped",)),
    (r".* ensemble runs stop ", ("queued",)),
    (r".* ensemble compare RUN RUN ", ("digits", "other", "digits")),
    (r"docs/labelling.md ensemble compare RUN\.\.\.", ("leaves + leaves again", "leaves")),
    (r".* ensemble sweep --resume ", ("stopped sweep",)),
    (r".* ensemble sweep ", ("sweep",)),
    (r".* ensemble data compare ", ("mended", "leaves")),
    (r".* ensemble label next attic", ("leaves",)),
    (r".* ensemble label learn --resume", ("stopped learning",)),
    (r".* ensemble label ", ("learning",)),
    (r"docs/screens/parallel.md ensemble report", ("regression",)),
    (r"docs/screens/numbers.md ensemble inspect", ("numbers",)),
    (r".* ", ("digits", "other", "third")),
]
JOB_WORD = re.compile(r"\[?(RUN|OTHER|THIRD|NEWRUN|ID)(?:\.\.\.)?\]?")

# Other words that stand for something, by the command.
WORDS: list[tuple[str, dict[str, str]]] = [
    (r"ensemble train ", {"FILE": "houses.csv", "COLUMN": "price"}),
    (r"ensemble numbers ", {"FILE": "heights.npz"}),
    (r"ensemble label next ", {"FILE": "predictions.npz"}),
    (r"ensemble import ", {"FILE...": "ensemble.npz"}),
    (r"ensemble predict ", {"IMAGE...": "number.jpg"}),
    (r"ensemble network ", {"package.module:Factory": "my_networks:Leaves"}),
    (r"ensemble data (add|remove) ", {"NAME": "petals", "SOURCE": "~/pictures/leaves"}),
    (r"ensemble data ", {"NAME": "leaves", "NEWNAME": "leaves_mended"}),
    (r"ensemble runs ", {"TAG": "rates"}),
]

# What a block takes as exported by one before.
EXPORTED: list[tuple[str, dict[str, str]]] = [
    (r"ensemble app .*--server.baseUrlPath", {"ENSEMBLE_ALLOW": "ann@example.org=admin"})
]

# Sizes: what replaces an option's value, or is added where the command does not say it.
SIZES: list[tuple[str, dict[str, str]]] = [
    (r"train .*--task regression", {"--epochs": "2", "--members": "2"}),
    (r"train --resume", {}),
    (r"train .*--cycles", {"--network": "mlp", "--epochs": "5", "--members": "2"}),
    (r"train ", {"--network": "mlp", "--epochs": "1", "--members": "2"}),
    (r"sweep --(list|resume|enlarge)|sweep RUN", {"--trials": "1"}),
    (r"sweep ", {"--network": "mlp", "--epochs": "1", "--members": "2", "--trials": "2"}),
    (r"budget ", {"--network": "mlp", "--epochs": "1", "--members": "2", "--seeds": "2", "--batch-size": "2048"}),
    (r"distil ", {"--epochs": "1"}),
    (r"stress ", {"--limit": "40"}),
    (r"lbfgs .*--dataset", {"--iterations": "2"}),
    (r"lbfgs ", {"--iterations": "2", "--samples": "400", "--features": "20"}),
    (r"bench ", {"--seconds": "0.2", "--members": "2"}),
    (
        r"label learn --dataset",
        {"--epochs": "1", "--members": "2", "--rounds": "1", "--seeds": "2", "--candidates": "80"},
    ),
]
# Never added, only made smaller where a command says them.
ONLY_REPLACED = {"sweep --(list|resume|enlarge)|sweep RUN"}
SMALLER_VALUES = {"members=2..8": "members=2..3", "network=cnn,mlp": "network=logistic,mlp"}
KEPT_NETWORKS = re.compile(r".*:")  # one's own is what the command is about


@dataclass(frozen=True)
class DocumentedCommand:
    """A line of a block for a shell.

    Attributes:
      page: where it stands, from the top of the repository.
      line: the command, without a comment.
      output: the file that the comment says its output is put in; "" for none.
      block: which block of the page it stands in, from 0: each is a shell of its own.
    """

    page: str
    line: str
    output: str
    block: int = 0

    @property
    def reason_not_run(self) -> str:
        """Why it is not run here; "" where it is."""
        if re.search(r"\bmnist\b", self.line) and not find_mnist_files():
            return "needs MNIST's four files in shared/data/mnist"
        if self.line.startswith("curl ") and not shutil.which("curl"):
            return "needs curl"
        return next((said for start, said in NOT_RUN.items() if re.match(start, self.line)), "")


def list_page_commands(page: Path) -> list[DocumentedCommand]:
    """The commands of a page, in their order."""
    name = page.relative_to(REPO).as_posix()
    found = []
    for block, text in enumerate(SHELL.findall(page.read_text("utf-8"))):
        for line in text.splitlines():
            words, *comment = re.split(r"(?:^| )#", line, maxsplit=1)
            output = re.search(r"> ([\w.]+)$", "".join(comment))
            if words.strip():
                file = output[1] if output else ""
                found.append(DocumentedCommand(name, words.strip(), file, block))
    return found


def shorten_command(words: list[str]) -> list[str]:
    """A command of the program with sizes that take a moment, by the table above."""
    line = " ".join(words)
    words = [SMALLER_VALUES.get(word, word) for word in words]
    for start, sizes in SIZES:
        if not re.match(start, line + " "):
            continue
        for option, value in sizes.items():
            if option in words:
                at = words.index(option) + 1
                if not KEPT_NETWORKS.match(words[at]):
                    words[at] = value
            elif start not in ONLY_REPLACED and f"{option.removeprefix('--')}=" not in line:
                words += [option, value]
        break
    return words


@dataclass
class PageWalk:
    """One page on its way: a folder that stands for a reader's machine, and what runs there."""

    folder: Path
    materials: JobMaterials
    page: Path
    patch: pytest.MonkeyPatch
    servers: list[tuple[str, subprocess.Popen[str]]] = field(default_factory=list)
    port: str = ""
    exported: set[str] = field(default_factory=set)
    block: int = 0

    def make_folders(self) -> None:
        """Make its home, and what the page itself has a reader write."""
        self.patch.setenv("HOME", str(self.folder / "home"))
        self.patch.setenv("ENSEMBLE_RUNS", str(self.folder / "runs"))
        self.patch.setenv("ENSEMBLE_DATA", str(self.folder / "data"))
        work = self.folder / "work"
        work.mkdir(parents=True)
        self.patch.chdir(work)
        self.patch.syspath_prepend(str(work))
        documented_files.write_pictures(self.folder / "home" / "pictures")
        documented_files.write_page_files(self.page, work)

    def run_command(self, command: DocumentedCommand) -> None:
        """Run one command; its exit status has to be 0.

        Raises:
          AssertionError: it is not.
        """
        words = shlex.split(command.line)
        if command.block != self.block:
            self.open_shell(command)
        if words[0] == "export":
            self.export_variables([word.split("=", 1) for word in words[1:]])
        elif words[0] == "cd":
            self.patch.chdir(words[1])
        elif words[0] == "ensemble":
            self.run_program(command, self.fill_in_words(command, words[1:]))
        else:
            self.run_other_program(words)

    def open_shell(self, command: DocumentedCommand) -> None:
        """Forget what another block has exported, and export what the page takes as said."""
        self.block = command.block
        for name in self.exported:
            self.patch.delenv(name, raising=False)
        assumed = (said for start, said in EXPORTED if re.match(start, command.line))
        self.export_variables(list(next(assumed, {}).items()))

    def export_variables(self, variables: Iterable[Sequence[str]]) -> None:
        """Set variables for what follows in this block."""
        for name, value in variables:
            self.patch.setenv(name, value)
            self.exported.add(name)

    def fill_in_words(self, command: DocumentedCommand, words: list[str]) -> list[str]:
        """The words of a command of the program, with what they stand for; that is made as well."""
        kinds = next(kinds for start, kinds in JOBS_OF_COMMANDS if re.match(start, f"{command.page} {command.line} "))
        words = shorten_command(words)
        filled, seen = [], 0
        meanings: dict[str, str] = {}
        for start, meant in reversed(WORDS):
            if re.match(start, command.line):
                meanings |= meant
        for word in words:
            if JOB_WORD.fullmatch(word):
                several = kinds[min(seen, len(kinds) - 1)].split(" + ")
                filled += [self.provide_job(kind) for kind in several]
                seen += 1
            else:
                filled.append(os.path.expanduser(meanings.get(word, word)))
        for job in documented_files.list_needed_jobs(filled):
            self.provide_job(job)
        documented_files.write_missing_files(filled)
        return filled

    def provide_job(self, job: str) -> str:
        """The id of a job of this kind, which is there from now on."""
        return self.materials.provide_job(job, self.folder)

    def run_program(self, command: DocumentedCommand, words: list[str]) -> None:
        """Run a command of the program: in this process, unless it never ends."""
        if words[0] in ("serve", "app"):
            self.start_server(words)
            return
        documented_files.do_on_screens(words)
        done = CliRunner().invoke(main, words, catch_exceptions=False)
        said = f"{shlex.join(['ensemble', *words])}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert done.exit_code == 0, f"{command.line}\n{said}"
        if command.output:
            Path(command.output).write_text(done.stdout, "utf-8")

    def run_other_program(self, words: list[str]) -> None:
        """Run what is no command of the program."""
        words = [sys.executable if word == "python" else word for word in words]
        words = [word.replace("localhost:8700", f"localhost:{self.port}") for word in words]
        documented_files.write_missing_files([word.rpartition("@")[2] for word in words])
        if words[0] == "curl":
            words[1:1] = ["--fail", "--silent", "--show-error"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"

    def start_server(self, words: list[str]) -> None:
        """Start what answers until it is told to end, and wait for its first answer."""
        self.end_servers()
        with socket.socket() as probe:
            probe.bind(("localhost", 0))
            self.port = str(probe.getsockname()[1])
        health, host = "/health", "localhost"
        if words[0] == "app":
            words = [*words, "--server.port", self.port, "--server.headless", "true"]
            options = dict(itertools.pairwise(words))
            health = "/_stcore/health"
            if prefix := options.get("--server.baseUrlPath"):
                health = f"/{prefix}{health}"
            host = options.get("--server.allowedHosts", host)
        elif "--port" in words:
            words[words.index("--port") + 1] = self.port
        else:
            words = [*words, "--port", self.port]
        server = subprocess.Popen(
            [sys.executable, "-m", "ensemble", *words],
            env={**os.environ, "PYTHONPATH": str(REPO)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.servers.append((shlex.join(words), server))
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_answering(f"http://localhost:{self.port}{health}", host):
            if server.poll() is not None:
                self.servers.pop()
                raise AssertionError(f"{shlex.join(words)}\n{server.communicate()[0]}")
            assert time.monotonic() < end, f"{shlex.join(words)} does not answer"
            time.sleep(0.05)

    def end_servers(self) -> None:
        """End what still answers, as a service does; `serve` says that its exit status is 0."""
        while self.servers:
            line, server = self.servers.pop()
            server.terminate()
            said, _ = server.communicate(timeout=60)
            well = (0,) if line.startswith("serve") else (0, -signal.SIGTERM)
            assert server.returncode in well, f"{line}: {server.returncode}\n{said}"


def is_answering(url: str, host: str) -> bool:
    """Whether somebody answers there to this name, a refusal for want of a token included."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Host": host}), timeout=5):
            return True
    except urllib.error.HTTPError as error:
        return error.code == 401
    except OSError:
        return False


@contextlib.contextmanager
def walk_page(page: Path, folder: Path, materials: JobMaterials) -> Iterator[PageWalk]:
    """A page's walk, in a folder of its own, until its servers have ended."""
    with pytest.MonkeyPatch.context() as patch:
        walk = PageWalk(folder, materials, page, patch)
        walk.make_folders()
        try:
            yield walk
            walk.end_servers()
        finally:
            for _, server in walk.servers:
                server.kill()
                server.wait()
