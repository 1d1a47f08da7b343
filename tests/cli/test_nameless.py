"""A user id without a name and without a home, as containers have them: it trains all the same."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ensemble.jobs.launch import build_worker_environment
from ensemble.machine.python_command import build_python_command

USER = 54321
REPO = Path(__file__).resolve().parents[2]
WORDS = (
    "train",
    "--dataset",
    "digits",
    "--members",
    "2",
    "--epochs",
    "1",
    "--batch-size",
    "128",
    "--network",
    "logistic",
)


def as_nobody_known(*words: str) -> list[str]:
    """A command as a user whose id has no name, who may read all there is, as root's Python."""
    may_read = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *may_read, *words]


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder that is all that this user has."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can be another user, with util-linux's setpriv")
    if (tried := subprocess.run(as_nobody_known("true"), capture_output=True)).returncode:
        pytest.skip(f"setpriv may not: {tried.stderr.decode()}")
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, USER, USER)
    return folder


def environment(theirs: Path, **more: str) -> dict[str, str]:
    """That of a container: no home, no name, nothing said but where runs are kept."""
    ours = {"HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "ENSEMBLE_DATA"}
    given = {name: value for name, value in build_worker_environment().items() if name not in ours}
    return given | {"TMPDIR": str(theirs), "ENSEMBLE_RUNS": str(theirs / "runs"), **more}


@pytest.mark.long
@pytest.mark.usefixtures("two_devices_a_worker")
def test_a_user_id_without_a_name_trains(theirs: Path) -> None:
    done = subprocess.run(
        as_nobody_known(*build_python_command(*WORDS)),
        env=environment(theirs),
        cwd=theirs,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["state"] == "finished"
    own = theirs / f"ensemble-{USER}"
    assert (own / "training.lock").stat().st_uid == USER
    assert own.stat().st_mode & 0o777 == 0o700


def test_with_the_root_folder_for_a_home_as_docker_says_it_has_its_turn_and_its_caches(theirs: Path) -> None:
    code = (
        "import os; from ensemble.cli.app import build_app_environment\n"
        "from ensemble.jobs.slots import acquire_slots\n"
        "from ensemble.machine.jax_settings import prepare_jax\n"
        "assert acquire_slots(1); prepare_jax()\n"
        "print(os.environ['JAX_COMPILATION_CACHE_DIR'], build_app_environment()['HOME'])\n"
        "print(os.environ['JAX_COMPILATION_CACHE_MAX_SIZE'])"
    )
    given = environment(theirs, HOME="/", PYTHONPATH=str(REPO))
    for one in ("DIR", "MAX_SIZE"):
        given.pop(f"JAX_COMPILATION_CACHE_{one}", None)
    done = subprocess.run(
        as_nobody_known(sys.executable, "-c", code), env=given, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    own = theirs / f"ensemble-{USER}"
    assert done.stdout.split() == [str(own / "ensemble" / "compiled"), str(own), "-1"]
