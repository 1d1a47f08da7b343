"""The command that opens the dashboard."""

import os
from pathlib import Path

import click

from ensemble.access.server_access import SHARE_VARIABLE
from ensemble.cli.server_port import check_server_port
from ensemble.errors import StorageError
from ensemble.machine.python_command import build_python_command, build_python_environment
from ensemble.storage.folders import cache_folder, home_folder

_ALL_ADDRESSES_OPTION = ("--server.address=0.0.0.0",)
PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


@click.command(name="app", context_settings={"ignore_unknown_options": True})
@click.option("--share", is_flag=True, help="Let others in after they sign in: docs/serving.md.")
@click.argument("options", metavar="[STREAMLIT OPTIONS]...", nargs=-1, type=click.UNPROCESSED)
def run_app_command(share: bool, options: tuple[str, ...]) -> None:
    """Open the dashboard in the browser: --server.port 8600 and the like go to Streamlit.

    With --share it is served to others, on all of this machine's addresses unless --server.address
    names one. That takes a provider that they sign in with, under [auth] in
    .streamlit/secrets.toml, and ENSEMBLE_ALLOW, which says who may come in; or ENSEMBLE_OPEN=1
    where a proxy in front guards it.

    Runs are kept in `runs/` of the folder that it is started in, or in ENSEMBLE_RUNS.
    """
    try:
        os.getcwd()  # without which Streamlit does not start
    except FileNotFoundError as error:
        raise StorageError(
            "The folder that this was started in no longer exists: change to another, then start it again."
        ) from error
    if share:
        os.environ[SHARE_VARIABLE] = "1"
        options = (*build_server_options(options), *options)
    check_server_port(options)
    command = build_python_command("run", str(_find_app_script()), *options, module="streamlit")
    # In this process's place: Ctrl-C and a manager of processes reach Streamlit itself.
    os.execve(command[0], command, build_app_environment())


def build_server_options(options: tuple[str, ...]) -> tuple[str, ...]:
    """Streamlit's options for a server that others come to, but for those that were given."""
    has_address = any(option.partition("=")[0] == "--server.address" for option in options)
    address = () if has_address or os.environ.get("STREAMLIT_SERVER_ADDRESS") else _ALL_ADDRESSES_OPTION
    return (*address, "--server.headless=true")


def _find_app_script() -> Path:
    """What Streamlit runs, with pages and settings beside it: the package's own, or a clone's."""
    installed = PACKAGE_FOLDER / "app" / "app.py"
    return installed if installed.is_file() else PACKAGE_FOLDER.parent / "app.py"


def build_app_environment() -> dict[str, str]:
    """This process's, so that the server and its workers import this package and no other."""
    environment = build_python_environment(os.environ)
    if home_folder() is None:  # Streamlit does not start without one.
        own = str(cache_folder())
        environment |= {"HOME": own, "XDG_CACHE_HOME": own}
    return environment
