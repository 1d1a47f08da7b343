"""A forked process of `ensemble` is what one of its own would be."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.machine.python_command import build_python_command
from tests import fork_server
from tests.conftest import variant
from tests.runs.test_workers import assert_same_bits
from tests.workers import PATIENCE_SECONDS, wait_for_end

DEVICES = ("-m", "ensemble", "devices", "--json")


@pytest.fixture(params=["forked", variant("on its own")])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(fork_server.SWITCH, str(int(request.param == "forked")))
    return request.param


@pytest.mark.usefixtures("way")
def test_jax_has_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (3, 5):
        monkeypatch.setenv("JAX_NUM_CPU_DEVICES", str(count))
        done = subprocess.run([sys.executable, *DEVICES], capture_output=True, text=True)
        assert len(json.loads(done.stdout)["devices"]) == count, done.stderr


def test_it_is_a_child_with_its_own_session_folder_streams_and_status(way: str, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    command = build_python_command("not-a-command", module="ensemble")
    with log.open("wb") as file:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file, cwd=tmp_path, start_new_session=True
        )
    started = psutil.Process(child.pid)
    assert started.ppid() == os.getpid()
    if way == "forked":
        assert "fork_server.py" in " ".join(started.cmdline())
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert os.getsid(child.pid) == child.pid
    printed, _ = child.communicate()
    assert (printed, child.returncode) == (b"", 2)
    assert "No such command 'not-a-command'" in log.read_text()


def test_it_works_in_its_folder(tmp_path: Path) -> None:
    command = build_python_command(module="ensemble.jobs.warm_worker_main")  # which waits for its input to end
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=tmp_path) as child:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while psutil.Process(child.pid).cwd() != str(tmp_path):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        child.stdin.close()
    assert child.returncode == 0


@pytest.mark.usefixtures("way")
def test_it_is_killed_as_any_other() -> None:
    with subprocess.Popen([sys.executable, *DEVICES], stdout=subprocess.PIPE) as child:
        child.kill()
    assert child.returncode == -9


@pytest.mark.usefixtures("two_devices_a_worker", "no_worker_left")
def test_members_have_the_same_bits_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EnsembleConfig(network="mlp", members=2, epochs=1, batch_size=128)
    trained = []
    for switch in ("0", "1"):
        monkeypatch.setenv(fork_server.SWITCH, switch)
        trained.append(wait_for_end(runs.launch_run(config)))
        assert trained[-1].state == "finished", trained[-1].message
    assert_same_bits(*trained)
