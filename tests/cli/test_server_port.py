"""A port that is taken: the next that is free is named, before Streamlit is started."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ensemble.cli.server_port import check_server_port, find_port_error, read_server_option
from ensemble.errors import ConfigError


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("form", ["--server.port={}", "--server.port {}"])
def test_a_taken_port_is_refused_with_the_next_free_one(taken: int, form: str) -> None:
    options = ("--server.address=127.0.0.1", *form.format(taken).split())
    with pytest.raises(ConfigError) as refused:
        check_server_port(options)
    assert f"Port {taken} is taken" in str(refused.value)
    free = int(str(refused.value).rpartition(" ")[2].rstrip("."))
    assert taken < free
    assert find_port_error("127.0.0.1", free) is None


def test_the_command_line_goes_before_the_environment_and_that_before_the_file(
    taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("STREAMLIT_SERVER_PORT", raising=False)
    assert read_server_option("port", ()) is None
    check_server_port(())
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text("[server]\nport = 1234\n")
    assert read_server_option("port", ()) == 1234
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", str(taken))
    with pytest.raises(ConfigError, match=f"Port {taken} is taken"):
        check_server_port(())
    assert read_server_option("port", ("--server.port", "5")) == "5"
    (tmp_path / ".streamlit" / "config.toml").write_text("[server")
    monkeypatch.delenv("STREAMLIT_SERVER_PORT")
    assert read_server_option("port", ()) is None
