"""The service of systemd, deploy/ensemble.service, and how the app is started behind nginx."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
UNIT = REPO / "deploy" / "ensemble.service"
SITE = REPO / "deploy" / "nginx.conf"
# On systemd's own scale, where 10 is a service that may do all; a web server has 9 as it comes.
MOST_EXPOSED = 2.5


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The unit with a program that is there on every machine."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed: on Debian, apt-get install systemd")
    unit = tmp_path / UNIT.name
    text = UNIT.read_text("utf-8")
    assert "ExecStart=/opt/ensemble/bin/ensemble app --share\n" in text
    unit.write_text(text.replace("/opt/ensemble/bin/ensemble", "/bin/true"))
    return unit


def analyze(*words: str) -> str:
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_systemd_understands_every_line_of_it(installed: Path) -> None:
    said = analyze("verify", "--man=no", str(installed))
    assert installed.name not in said, said


def test_behind_nginx_it_is_started_so_that_it_asks_who_comes() -> None:
    """Listening on this machine alone it asks nobody, and a proxy lets everybody through."""
    commands = re.findall(r"^# +(ensemble app .*)$", SITE.read_text("utf-8"), re.M)
    told = (REPO / "docs" / "serving.md").read_text("utf-8")
    assert [f"{one}\n" in told for one in commands] == [True]
    assert "--share" in commands[0].split()


def test_little_of_the_machine_is_open_to_it(installed: Path) -> None:
    said = analyze("security", "--offline=true", "--no-pager", str(installed))
    exposed = re.search(r"exposure level for \S+ ([\d.]+)", said)
    assert exposed
    assert float(exposed.group(1)) <= MOST_EXPOSED


def test_what_training_needs_is_left_open_and_runs_are_told_to_stop() -> None:
    lines = UNIT.read_text("utf-8").splitlines()
    settings = [line for line in lines if re.match(r"[A-Z]\w+=", line)]
    names = [line.partition("=")[0] for line in settings]
    for kept_open in ("MemoryDenyWriteExecute", "PrivateDevices", "ProcSubset", "PrivateNetwork"):
        assert kept_open not in names
    # To all of the service's processes, and with time for a checkpoint before they are killed.
    assert "KillMode=control-group" in settings
    assert "TimeoutStopSec=90" in settings
    assert "StateDirectory=ensemble" in settings
    (runs,) = re.findall(r"ENSEMBLE_RUNS=(\S+)", "\n".join(settings))
    assert Path(runs).parent == Path("/var/lib/ensemble")
