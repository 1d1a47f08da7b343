"""The package as others install it: built, put into an environment of its own, and opened.

No file of this clone is within its reach, but its dependencies are those of the tests; before a
release `scripts/package --install` names an environment that has nothing but what it requires.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

import ensemble
from tests.browser.conftest import App
from tests.browser.serving import REPO, Server, serving
from tests.browser.test_train import CHART, PATIENCE, set_up
from tests.browser.traffic import Traffic

INSTALLED_VARIABLE = "ENSEMBLE_INSTALLED"  # a folder with the wheel, and in venv where it is
SCREENS = sorted(path.stem for path in (REPO / "pages").glob("*.py"))
SETTINGS = tomllib.loads((REPO / ".streamlit" / "config.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Installed:
    """An environment that has the package.

    `working` is a folder to work in, where what another clone might leave lies in the way.
    """

    wheel: Path
    programs: Path
    packages: Path
    working: Path

    def python(self, *words: str) -> str:
        """What its Python prints."""
        command = [str(self.programs / "python"), *words]
        return subprocess.check_output(command, cwd=self.packages.parent, text=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    working = folder / "working"
    (working / "ensemble").mkdir(parents=True)
    (working / "ensemble" / "__init__.py").write_text("raise ImportError('not this one')")
    if given := os.environ.get(INSTALLED_VARIABLE):
        return find_installed(Path(given), working)
    build = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run([sys.executable, *build], cwd=REPO, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    pip = ["-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, *pip], cwd=folder, check=True, capture_output=True)
    found = find_installed(folder, working)
    # Behind its own packages: all that it depends on, which takes minutes to install.
    (found.packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return found


def find_installed(folder: Path, working: Path) -> Installed:
    """What a folder has: the wheel, and in `venv` the environment that it was put into."""
    (wheel,) = folder.glob("*.whl")
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    return Installed(wheel, folder / "venv" / "bin", packages, working)


@pytest.fixture
def opened(
    installed: Installed, tmp_path: Path, page: Page, traffic: Traffic, monkeypatch: pytest.MonkeyPatch
) -> Iterator[App]:
    """Its dashboard, opened by `ensemble app` from a folder that has nothing to do with it."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    command = [str(installed.programs / "ensemble"), "app"]
    with serving(tmp_path, command, installed.working) as server:
        yield App(page, server, traffic)


def test_every_file_of_the_package_is_installed(installed: Installed) -> None:
    listed = subprocess.run(["git", "ls-files", "ensemble"], cwd=REPO, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("git does not say what belongs to the package")
    wanted = {name for name in listed.stdout.splitlines() if (REPO / name).exists()}
    with zipfile.ZipFile(installed.wheel) as wheel:
        assert wanted - set(wheel.namelist()) == set()


def test_it_is_the_installed_package_that_runs(installed: Installed) -> None:
    where = installed.python("-c", "import ensemble; print(ensemble.__file__)").strip()
    assert where == str(installed.packages / "ensemble" / "__init__.py")
    said = subprocess.check_output([installed.programs / "ensemble", "--version"], text=True)
    assert said == f"ensemble, version {ensemble.__version__}\n"
    assert installed.python("-m", "ensemble", "data", "list").startswith("digits")


def test_its_dashboard_trains_from_any_folder(opened: App) -> None:
    set_up(opened, members="2", epochs="1")
    opened.page.locator(".st-key-launch button").click()
    opened.page.wait_for_url(re.compile(r"run=digits-"))
    expect(opened.page.locator(f"{CHART} path").first).to_be_attached(timeout=PATIENCE)
    expect(opened.page.get_by_text("Finished").first).to_be_visible(timeout=PATIENCE)
    (run,) = opened.server.runs.glob("digits-*")
    assert (run / "parameters" / "epoch-0001.npz").is_file()


@pytest.mark.long
def test_every_page_of_it_opens_without_and_with_a_run(installed: Installed, opened: App) -> None:
    for screen in SCREENS:
        opened.open(screen)
        expect(opened.page.get_by_test_id("stMainBlockContainer")).not_to_be_empty()
    words = ["train", "--network", "logistic", "--members", "2", "--epochs", "1"]
    printed = subprocess.run(
        [installed.programs / "ensemble", *words],
        cwd=installed.working,
        env={**os.environ, "ENSEMBLE_RUNS": str(opened.server.runs)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    run = json.loads(printed.splitlines()[-1])["run_id"]
    for screen in SCREENS:
        opened.open(screen, run=run)
        expect(opened.page.get_by_test_id("stMainBlockContainer")).not_to_be_empty()
    assert (opened.server.runs / run / "history.jsonl").is_file()


def test_its_server_has_the_settings_of_this_project(opened: App) -> None:
    opened.open("train")
    assert addresses(opened.server) <= {"127.0.0.1", "::1"}
    light = SETTINGS["theme"]["light"]["primaryColor"]
    button = opened.page.locator(".st-key-first_launch button")  # A first visit's main one.
    drawn = button.evaluate("element => getComputedStyle(element).backgroundColor")
    assert [int(part) for part in re.findall(r"\d+", drawn)] == list(bytes.fromhex(light[1:]))


def addresses(server: Server) -> set[str]:
    """Where a server listens."""
    found = psutil.Process(server.process.pid).net_connections("inet")
    return {one.laddr.ip for one in found if one.status == psutil.CONN_LISTEN}
