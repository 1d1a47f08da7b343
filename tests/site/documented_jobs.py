"""The jobs that commands of the documents name, by what kind they are: made once, then copied."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from ensemble import regression, runs, sweeps
from ensemble.acquisition import learning_job, learning_worker
from ensemble.acquisition.learning_job import LearningConfig
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.storage.folders import data_folder
from ensemble.sweeps import SweepConfig
from ensemble.sweeps.worker import work_on_sweep
from tests.conftest import find_mnist_files
from tests.site import documented_files

SMALL = EnsembleConfig(network="mlp", members=2, epochs=2)
SEARCHED = replace(SMALL, epochs=1, validation=0.1)
LEARNING = LearningConfig(
    first=10, step=5, rounds=1, seeds=2, candidates=60, base=replace(SMALL, epochs=1, batch_size=8)
)
LINKED_BYTES = 2**20  # what is larger is not changed by anybody


def run_words(*words: str) -> str:
    """What a command prints; it has to end well."""
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, f"{words}\n{done.output[-2000:]}"
    return done.stdout


def train_run(*words: str) -> str:
    """The id of a run that the command line has trained."""
    run_words("train", "--network", "mlp", *words)
    return runs.list_runs()[0].id


def make_stopped_run() -> str:
    """A run that stopped after its first epoch."""
    run = runs.create_run(replace(SMALL, epochs=6))
    runs.execute_run(
        run.id, lambda status: (run.path / "stop").touch() if status.epoch == 1 else None, synchronous=True
    )
    assert runs.find_run(run.id).state == "stopped"
    return run.id


def make_stopped_learning() -> str:
    """An experiment that stopped after its first training."""
    made = learning_job.create_learning(LEARNING)
    learning_worker.execute_learning(made.id, lambda status: (made.path / "stop").touch() if status.done == 1 else None)
    return made.id


def make_learning() -> str:
    """An experiment that has ended."""
    return learning_worker.execute_learning(learning_job.create_learning(LEARNING).id).id


def make_sweep() -> str:
    """A sweep of four trials."""
    words = ["--space", "learning_rate=0.05..0.3:log", "--network", "mlp", "--members", "2"]
    run_words("sweep", *words, "--epochs", "1", "--trials", "4", "--sampler", "random")
    return sweeps.list_sweeps()[0].id


def make_stopped_sweep() -> str:
    """A sweep that was stopped at its first trial."""
    config = SweepConfig(space="momentum=0.8,0.9", trials=2, sampler="random", base=SEARCHED)
    made = sweeps.create_sweep(config)
    work_on_sweep(made.id, lambda status: (made.path / "stop").touch())
    assert sweeps.find_sweep(made.id).state == "stopped"
    return made.id


def make_regression() -> str:
    """A logistic regression with and without pmap."""
    run_words("lbfgs", "--samples", "400", "--features", "20", "--iterations", "2")
    return regression.list_regressions()[0].id


def make_numeric_run() -> str:
    """A run that predicts the price of a house."""
    words = ["--table", "houses.csv", "--target", "price", "--epochs", "2", "--members", "3"]
    documented_files.write_missing_files(["train", "houses.csv"])
    said = run_words("train", "--task", "regression", *words)
    return str(json.loads(said.splitlines()[-1])["run_id"])


def make_dataset() -> str:
    """The dataset `leaves`, as the pages add it."""
    run_words("data", "add", "leaves", "~/pictures/leaves", "--size", "64", "--noun", "leaf")
    return "leaves"


def make_mended_run() -> str:
    """A run on `leaves_2`, which has labels mended."""
    documented_files.decide_about_labels("leaves")
    Path("mended.csv").write_text(run_words("data", "decisions", "leaves"), "utf-8")
    run_words("data", "relabel", "leaves", "mended.csv")
    return train_run("--dataset", "leaves_2", "--epochs", "1", "--members", "2")


def copy_mnist_files() -> str:
    """MNIST's four files, where the program looks for them."""
    folder = find_mnist_files()
    assert folder
    there = data_folder() / "downloads" / "manual"
    there.mkdir(parents=True)
    for path in folder.glob("*.gz"):
        shutil.copy(path, there)
    return "mnist"


def prepare_mnist() -> str:
    """MNIST, ready to be trained on."""
    run_words("data", "prepare", "mnist")
    return "mnist"


@dataclass(frozen=True)
class JobMaker:
    """How one kind is made.

    Attributes:
      make: makes it in the folders that the environment names; gives its id.
      needs: kinds that have to be there before.
    """

    make: Callable[[], str]
    needs: tuple[str, ...] = ()


JOBS: dict[str, JobMaker] = {
    "digits": JobMaker(
        lambda: train_run(*("--members", "5", "--epochs", "15", "--validation", "0.1", "--tag", "rates"))
    ),
    "other": JobMaker(
        lambda: train_run(
            *("--members", "3", "--epochs", "3", "--validation", "0.1"), *("--learning-rate", "0.05", "--tag", "rates")
        )
    ),
    "third": JobMaker(lambda: train_run("--members", "2", "--epochs", "2", "--seed", "1")),
    "cyclic": JobMaker(
        lambda: train_run(
            *("--members", "3", "--epochs", "4", "--schedule", "cyclic", "--cycles", "2"), *("--swa-epochs", "2")
        )
    ),
    "stopped": JobMaker(make_stopped_run),
    "stopped again": JobMaker(make_stopped_run),
    "queued": JobMaker(lambda: runs.create_run(SMALL).id),
    "numbers": JobMaker(make_numeric_run),
    "leaves dataset": JobMaker(make_dataset),
    "leaves": JobMaker(
        lambda: train_run("--dataset", "leaves", "--epochs", "1", "--members", "2"), ("leaves dataset",)
    ),
    "leaves again": JobMaker(
        lambda: train_run("--dataset", "leaves", "--epochs", "1", "--members", "2", "--seed", "1"), ("leaves dataset",)
    ),
    "mended": JobMaker(make_mended_run, ("leaves dataset",)),
    "sweep": JobMaker(make_sweep),
    "stopped sweep": JobMaker(make_stopped_sweep),
    "learning": JobMaker(make_learning),
    "stopped learning": JobMaker(make_stopped_learning),
    "regression": JobMaker(make_regression),
    "mnist files": JobMaker(copy_mnist_files),
    "mnist": JobMaker(prepare_mnist, ("mnist files",)),
}


@dataclass
class JobMaterials:
    """What has been made so far, in one folder, with what belongs to each kind.

    Attributes:
      folder: with `runs`, `data` and `home`, as a page's own.
      ids: by kind.
      files: by kind, from the folder.
    """

    folder: Path
    ids: dict[str, str] = field(default_factory=dict)
    files: dict[str, list[Path]] = field(default_factory=dict)

    def provide_job(self, kind: str, folder: Path) -> str:
        """Have a job of this kind in a page's folder, with what it needs; its id."""
        if kind not in self.ids:
            self.make_job(kind)
        for needed in JOBS[kind].needs:
            self.provide_job(needed, folder)
        found = self.ids[kind]
        targets = {path: folder / path.relative_to(self.folder) for path in self.files[kind]}
        # What a command before has changed is left as it is; what one has deleted is there again.
        if not any(found in target.parts and target.exists() for target in targets.values()):
            for path, target in targets.items():
                if not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (os.link if path.stat().st_size > LINKED_BYTES else shutil.copy2)(path, target)
        return found

    def make_job(self, kind: str) -> None:
        """Make a job of this kind and see what files came of it."""
        for needed in JOBS[kind].needs:
            if needed not in self.ids:
                self.make_job(needed)
        if not (home := self.folder / "home").exists():
            documented_files.write_pictures(home / "pictures")
        before = set(self.list_files())
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(home))
            patch.setenv("ENSEMBLE_RUNS", str(self.folder / "runs"))
            patch.setenv("ENSEMBLE_DATA", str(self.folder / "data"))
            patch.chdir(home)
            self.ids[kind] = JOBS[kind].make()
        self.files[kind] = [path for path in self.list_files() if path not in before]

    def list_files(self) -> list[Path]:
        """Every file of runs and data."""
        found = (path for name in ("runs", "data") for path in (self.folder / name).rglob("*"))
        return [path for path in found if path.is_file()]
