"""`ensemble serve`: what it refuses."""

import errno
import re
import socket

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble.cli.program import main
from ensemble.runs import Run


def refuse(*words: str) -> str:
    """What is said where nothing is served."""
    done = CliRunner().invoke(main, ["serve", *words])
    assert done.exit_code in (1, 2), done.output
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_a_taken_port_is_said_with_one_that_is_free(served_run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refuse(served_run.id, "--port", str(port))
    found = re.fullmatch(rf"Error: Port {port} is taken by another program: use --port (\d+)\.", said)
    assert found
    assert int(found[1]) > port


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "no such name"], "This machine cannot listen on no such name"),
        (["--host", "192.0.2.1", "--port", "0"], "This machine cannot listen on 192.0.2.1"),
        (["--members", "4"], "There is no member 4: choose from 1 to 3."),
        (["--members", "0"], "There is no member 0: choose from 1 to 3."),
        (["--members", "1,1"], "each once"),
        (["--members", ","], "at least one member"),
        (["--members", "nobody"], "There is no member 'nobody'"),
        (["--epoch", "1"], "epoch"),
        (["--token-file", "/nowhere"], "The token cannot be read from /nowhere"),
        (["--port", "70000"], "70000"),
    ],
)
def test_what_cannot_be_served_is_said(served_run: Run, words: list[str], said: str) -> None:
    if "--port" not in words:
        words = [*words, "--port", "0"]
    assert said in refuse(served_run.id, *words)


def test_a_run_without_members_and_one_that_is_not_there_are_refused() -> None:
    imported = ensemble.import_predictions(np.full((2, 20, 3), 1 / 3), np.arange(20) % 3, name="theirs")
    assert imported.id in refuse(imported.id)
    assert "There is no run “nobody”" in refuse("nobody")


def test_a_system_port_is_said(served_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_place(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse_place)
    assert "kept for the system: choose one from 1,024" in refuse(served_run.id, "--port", "80")
